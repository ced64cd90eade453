//! Words of compilers and linkers that lead out of the workspace. They write and read by many options, of the parts that
//! they run, too: no word may, but what [`Part`] has.

use super::leading_out::strays;
use super::names::Names;

/// Where headers and libraries are found, and text that is no path of a file, for one of those that read the words.
struct Part {
    /// Options with their value in the same word.
    joined: &'static [&'static str],
    /// Those whose value may be the next word as well.
    separate: &'static [&'static str],
    /// Names of options that have a value behind `=`.
    equals: &'static [&'static str],
    /// Options without a value: behind any other one an option may be its value.
    alone: &'static [&'static str],
}

/// GCC 12 manual, 3.2, 3.13, 3.16, 3.17 and 3.18; clang's manual.
const DRIVER: Part = Part {
    joined: &["-I", "-L", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-isysroot"],
    separate: &["-I", "-L", "-D", "-U", "-isystem", "-iquote", "-idirafter", "-isysroot", "--sysroot"],
    equals: &["--sysroot", "-fdebug-prefix-map", "-ffile-prefix-map", "-fmacro-prefix-map"],
    alone: &[
        "-c",
        "-E",
        "-S",
        "-P",
        "-M",
        "-MM",
        "-MD",
        "-MMD",
        "-MP",
        "-w",
        "-v",
        "-s",
        "-g",
        "-g3",
        "-ggdb",
        "-pg",
        "-O",
        "-O0",
        "-O1",
        "-O2",
        "-O3",
        "-Os",
        "-Og",
        "-Oz",
        "-Ofast",
        "-W",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wpedantic",
        "-pedantic",
        "-ansi",
        "-pipe",
        "-shared",
        "-static",
        "-pie",
        "-pthread",
        "-nostdinc",
        "-nostdlib",
        "-fPIC",
        "-fpic",
        "-fPIE",
        "-fpie",
        "-m32",
        "-m64",
    ],
};

/// nvcc, swiftc and gdc have those two in common with it.
const FIND: Part = Part { joined: &["-I", "-L"], separate: &["-I", "-L"], equals: &[], ..DRIVER };

/// downloads.haskell.org, "GHC User's Guide", "Flag reference".
const GHC: Part = Part { joined: &["-I", "-L", "-D", "-U"], separate: &[], equals: &[], alone: &[] };

/// ld(1), binutils 2.40.
const LINKER: Part = Part {
    joined: &["-L", "-I"],
    separate: &[
        "-L",
        "-I",
        "-rpath",
        "--rpath",
        "-rpath-link",
        "--rpath-link",
        "-dynamic-linker",
        "--dynamic-linker",
    ],
    equals: &["-rpath", "--rpath", "-rpath-link", "--rpath-link", "-dynamic-linker", "--dynamic-linker"],
    alone: &[
        "--as-needed",
        "--no-as-needed",
        "--start-group",
        "--end-group",
        "--whole-archive",
        "--no-whole-archive",
        "--gc-sections",
        "--export-dynamic",
        "--build-id",
        "-Bstatic",
        "-Bdynamic",
        "-shared",
        "-pie",
        "-static",
        "-s",
        "--enable-new-dtags",
        "--disable-new-dtags",
        "--no-undefined",
    ],
};

/// as(1): its `-L` and `-D` have no value.
const ASSEMBLER: Part = Part { joined: &["-I"], separate: &["-I"], equals: &[], alone: &[] };

/// cpp(1).
const PREPROCESSOR: Part = Part { joined: &["-I", "-D", "-U"], separate: &[], equals: &[], alone: &[] };

/// To the rest of them such options mean something else, or have another form.
const OTHER: Part = Part { joined: &[], separate: &[], equals: &[], alone: &[] };

static DRIVERS: Names =
    Names::of(&["gcc g++ cc c++ cpp c89 c99 gfortran clang clang++ emcc em++ gcc-ar gcc-nm gcc-ranlib"]);

static LINKERS: Names = Names::of(&["ld ld.bfd ld.gold gold lld ld.lld ld.mold mold"]);

static OTHERS: Names =
    Names::of(&["as nvcc swiftc gdc ghc clang-cl javac kotlinc scalac groovyc dmd ldc ldc2 ldmd2"]);

/// Whether the program opens what its words name and runs no code of the workspace: these, and those of Rust.
pub(in crate::permission) fn opens_named(name: &str) -> bool {
    has(name) || matches!(name, "rustc" | "rustdoc")
}

/// Whether it is one of them.
pub(super) fn has(name: &str) -> bool {
    part(name).is_some()
}

fn part(name: &str) -> Option<&'static Part> {
    match name {
        _ if DRIVERS.has(name) => Some(&DRIVER),
        _ if LINKERS.has(name) => Some(&LINKER),
        "as" => Some(&ASSEMBLER),
        "nvcc" | "swiftc" | "gdc" => Some(&FIND),
        "ghc" => Some(&GHC),
        _ => OTHERS.has(name).then_some(&OTHER),
    }
}

/// A word, or a part of one, that one of those reads, and the number of the word.
type Token<'w> = (usize, &'w str);

/// Whether a star may not stand for one of the words, since it leads out: each word of which `spelled` says no is one
/// that the star stands for.
pub(super) fn swallowed(name: &str, words: &[String], depth: usize, spelled: impl Fn(usize) -> bool) -> bool {
    let Some(own) = part(name) else { return false };
    let numbered = || words.iter().map(String::as_str).enumerate().skip(1);
    let told: Vec<Token<'_>> = numbered().filter(|(_, word)| handed_on(word).is_none()).collect();
    let parts = [("Wl", &LINKER), ("Wa", &ASSEMBLER), ("Wp", &PREPROCESSOR)];
    let of_part = |(kind, part)| {
        let handed = numbered().filter_map(|(at, word)| handed_on(word).map(|(k, parts)| (at, k, parts)));
        let handed = handed.filter(|(_, k, _)| *k == kind);
        let tokens = handed.flat_map(|(at, _, parts)| parts.split(',').map(move |token| (at, token)));
        (part, tokens.collect::<Vec<_>>())
    };
    std::iter::once((own, told)).chain(parts.into_iter().map(of_part)).any(|(part, tokens)| {
        tokens
            .iter()
            .enumerate()
            .any(|(n, (at, token))| !spelled(*at) && !part.finds(&tokens, n) && strays(name, token, depth))
    })
}

/// `-Wl,-Map=/x`: for which of the parts that a driver runs, and what.
fn handed_on(word: &str) -> Option<(&str, &str)> {
    let (kind, parts) = word.strip_prefix('-')?.split_once(',')?;
    matches!(kind, "Wl" | "Wa" | "Wp").then_some((kind, parts))
}

impl Part {
    /// Whether the token says where something is found, or is text.
    fn finds(&self, tokens: &[Token<'_>], n: usize) -> bool {
        let (at, token) = tokens[n];
        // A directory may be called so, too: `-o -I/../../x`.
        (self.is_whole(token) && (!token.contains("..") || self.is_option(tokens, n)))
            || n > 0
                && !token.starts_with(['-', '@'])
                && self.separate.contains(&tokens[n - 1].1)
                && tokens[n - 1].0 + 1 >= at
                && self.is_option(tokens, n - 1)
    }

    /// Whether it is one of the options with its value in the same word.
    fn is_whole(&self, token: &str) -> bool {
        // `nvcc -Xcompiler -Ia,-MF,/x`
        let joined =
            |option: &&str| token.len() > option.len() && token.starts_with(*option) && !token.contains(",-");
        let named = |(option, _): (&str, &str)| self.equals.contains(&option);
        self.joined.iter().any(joined) || token.split_once('=').is_some_and(named)
    }

    /// Whether the token is no value of the one before it.
    fn is_option(&self, tokens: &[Token<'_>], n: usize) -> bool {
        // These have more than one: clang's and ld64's.
        if tokens.iter().any(|(_, token)| token.starts_with("-se")) {
            return false;
        }
        let Some((_, before)) = n.checked_sub(1).map(|n| tokens[n]) else { return true };
        let library = before.len() > 2 && before.starts_with("-l");
        !before.starts_with('-')
            || before.contains('=') && !before.starts_with("-X")
            || library
            || self.alone.contains(&before)
            || before.starts_with("-W") && before.len() > 2
            || self.is_whole(before)
    }
}

/// Whether a variable of make holds options for a compiler, by its name, and plain ones alone, that name no program, no
/// plug-in and no place to write to: GCC 12 manual, 3.4 to 3.16.
pub(super) fn are_plain_flags(name: &str, value: &str) -> bool {
    const NAMES: &[&str] = &["CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "FFLAGS", "FCFLAGS"];
    let plain = |c: char| c.is_ascii_alphanumeric() || " _=./+-".contains(c);
    let name = name.trim_end_matches([':', '+', '?']);
    NAMES.iter().any(|end| name.ends_with(end))
        && value.chars().all(plain)
        && !value.contains("..")
        && value.split(' ').filter(|word| !word.is_empty()).all(is_plain_flag)
}

fn is_plain_flag(word: &str) -> bool {
    const ALONE: &[&str] =
        &["-g", "-w", "-s", "-pipe", "-pthread", "-static", "-shared", "-pie", "-pedantic", "-ansi"];
    const DEBUG: &[&str] = &["-g0", "-g1", "-g2", "-g3", "-ggdb", "-gdwarf", "-gsplit-dwarf", "-gz"];
    const CHOICES: &[&str] =
        &["-fsanitize", "-fvisibility", "-fuse-ld", "-flto", "-fstack-protector", "-fcf-protection"];
    let begins = |options: &[&str]| options.iter().any(|option| word.starts_with(option));
    let (option, value) = word.split_once('=').map_or((word, None), |(o, v)| (o, Some(v)));
    if begins(&["-I", "-L"]) {
        return word.len() > 2;
    }
    // A definition is text, but what a recipe does with it is not told.
    !word.contains('/')
        && (ALONE.contains(&word)
            || begins(DEBUG)
            || begins(&["-O", "-W", "-D", "-U", "-std="])
            || word.starts_with("-l") && value.is_none()
            || word.starts_with("-m") && option != "-mllvm"
            || word.starts_with("-f")
                && !word.contains("plugin")
                && (value.is_none() || CHOICES.contains(&option)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_told(command: &str) -> bool {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        swallowed(&words[0], &words, 0, |_| false)
    }

    #[test]
    fn each_part_has_options_of_its_own() {
        for command in [
            "gcc -c -Wa,-L,-al=/o a.c",
            "gcc -c -Wa,-D,-al=/o a.c",
            "gcc -c -Wa,-L,/o a.c",
            "gcc -c -Wa,-D/o a.c",
            "gcc -c -Wa,-U,/o a.c",
            "gcc -c -Wa,--sysroot,/o a.c",
            "gcc -c -Wa,-isystem,/o a.c",
            "gcc -c -Wa,-rpath,/o a.c",
            "gcc -E -Wp,-D,/etc/passwd a.c",
            "gcc -E -Wp,-rpath,/etc/passwd a.c",
            "gcc -dynamic-linker -o/o a.c",
            "gcc -E -P -w -x c -dynamic-linker /etc/passwd",
            "gcc -rpath /tmp a.c",
            "gcc -rpath=/tmp a.c",
            "gcc -shared a.c -Wl,-fdebug-prefix-map,-Map=/o",
            "gcc -shared a.c -Wl,-fdebug-prefix-map,-o/o",
            "gcc -shared a.c -Wl,-fdebug-prefix-map,/o",
            "gcc -shared a.c -Wl,-D,/o",
            "gcc -shared a.c -Wl,-isystem,/o",
            "gcc -fdebug-prefix-map /etc/passwd a.c",
            "gcc -I @/x a.c",
            "gcc -I -o/o a.c",
            "ld -fdebug-prefix-map -o/o -shared x.o",
            "ld -U /tmp/x",
            "ld -D/tmp/x",
            "ld -isystem /tmp/x",
            "ld -rpath/tmp/x a.o",
            "as -L /o a.s",
            "as -D/o a.s",
            "javac -D /x A.java",
            "clang-cl -L /Fo/o a.c",
            "ghc -I /x",
            "nvcc -Xcompiler -Ia,-MF,/o a.cu",
        ] {
            assert!(is_told(command), "{command}");
        }
        for command in [
            "gcc -c -Wa,-I,/usr/include -Wa,-I/opt/x a.s",
            "gcc -E -Wp,-I/usr/include -Wp,-D_FORTIFY_SOURCE=2 a.c",
            "gcc a.o -Wl,-rpath -Wl,/usr/lib -Wl,-rpath-link,/usr/lib -Wl,-dynamic-linker,/lib/ld.so",
            "gcc a.o -Wl,--as-needed,-rpath,/usr/lib -Wl,-L/usr/lib -Wl,-L,/opt/lib",
            "gcc -O2 -Wall -fPIC -I /usr/include -I/opt/x -D P=/usr -U X --sysroot=/r --sysroot /r a.c",
            "gcc -fmacro-prefix-map=/src=. -ffile-prefix-map=/src=. -fdebug-prefix-map=/src=. -c a.c",
            "gcc -o a -lm -L /usr/lib a.c -isystem /opt/a -iquote /b -idirafter /c -isysroot /d",
            "gcc -Wall -I../include a.c",
            "ld -L /usr/lib -rpath /usr/lib --rpath=/x -dynamic-linker /lib/ld.so -I/lib/ld.so a.o",
            "as -I /usr/include -I/usr/include a.s -o a.o",
            "swiftc -I /usr/include -L/usr/lib a.swift",
            "ghc -I/usr/include -L/usr/lib Main.hs",
        ] {
            assert!(!is_told(command), "{command}");
        }
    }

    #[test]
    fn what_is_the_value_of_another_option_finds_nothing() {
        for command in [
            "gcc -E -o -I /etc/passwd",
            "gcc -I -I /etc/passwd",
            "gcc -MF -L /etc/passwd",
            "gcc -o -I../../o a.c",
            "clang -Xarch_a=b -I /etc/passwd",
            "clang -segcreate a b -I /etc/passwd",
            "gcc a.c -Wl,-o,-L,/o",
            "gcc a.c -Wl,-o -Wl,-L,/o",
            "gcc a.c -Wl,-o -DX -Wl,-L,/o",
            "gcc a.c -Wl,-rpath b.c -Wl,/o",
            "ld -o -L /o",
        ] {
            assert!(is_told(command), "{command}");
        }
    }

    #[test]
    fn plain_flags_name_no_program_and_no_place_to_write_to() {
        for (variable, want) in [
            ("CFLAGS=-O2", true),
            ("CFLAGS=", true),
            (
                "EXTRA_CXXFLAGS+=-O2 -g -Wall -std=c++20 -fPIC -march=native -DX=1 -UY -fsanitize=address",
                true,
            ),
            ("LDFLAGS=-L/usr/lib -Llib -lm -static -fuse-ld=lld", true),
            ("CPPFLAGS=-I/usr/include -Iinclude", true),
            ("CFLAGS=-fplugin=./x.so", false),
            ("CFLAGS=-fpass-plugin=x.so", false),
            ("CFLAGS=-fuse-ld=./x", false),
            ("CFLAGS=-B.", false),
            ("CFLAGS=-wrapper x", false),
            ("CFLAGS=-specs=x", false),
            ("CFLAGS=-mllvm -load=x.so", false),
            ("CFLAGS=-o x", false),
            ("CFLAGS=-gcc-toolchain x", false),
            ("CFLAGS=-MF/x", false),
            ("CFLAGS=-fdump-tree-all=/x", false),
            ("CFLAGS=-fprofile-generate=x", false),
            ("CFLAGS=-I../x", false),
            ("CFLAGS=-DX=/etc", false),
            ("CFLAGS=x.c", false),
            ("CFLAGS=$(shell x)", false),
            ("CFLAGS=-O2;x", false),
            ("LDFLAGS=-Wl,-plugin,x", false),
            ("LDFLAGS=-loadx=y", false),
            ("MAKEFLAGS=-O2", false),
            ("GNUMAKEFLAGS=-g", false),
            (".SHELLFLAGS=-g", false),
            ("RUSTFLAGS=-g", false),
            ("GOFLAGS=-g", false),
        ] {
            let (name, value) = variable.split_once('=').unwrap_or_default();
            assert_eq!(are_plain_flags(name, value), want, "{variable}");
        }
    }
}
