//! Commands that open files whose names stand in a file, come through their input or are put together by a program.

use super::super::shell::scan::{Role, Segment};
use super::kind::base_name;
use super::names::Names;
use super::read_only::known_use;
use super::urls;

/// Programs that open nothing which they are given by name (their manuals).
static OPEN_NOTHING: Names = Names::of(&[
    "echo printf true false : test [ [[ exit return break continue shift kill wait sleep basename dirname seq expr",
    "export declare local readonly unset let read for in case select esac fi done date trap set",
]);
/// Programs that get names through their input: cpio(1), pax(1), afio(1), shar(1), rename(1).
/// And those that include files which a file names: soelim(1), groff(1).
static BY_INPUT: Names =
    Names::of(&["cpio bsdcpio pax afio shar rename prename file-rename soelim groff troff nroff ditroff"]);

/// Programs that read a text which can include files from their input, where they are told so by one of [`INPUT`]: gcc(1),
/// clang(1), rustc(1) (`include_str!`), as(1), ld(1) (a script), nasm(1), yasm(1), tcc(1), dtc(1), pandoc(1), and TeX's.
static INCLUDE_BY_INPUT: Names = Names::of(&[
    "cpp gcc g++ cc c++ c89 c99 clang clang++ gfortran tcc rustc as ld gold lld nasm yasm dtc pandoc rst2html",
    "asciidoctor asciidoc tex etex latex pdftex pdflatex xetex xelatex luatex lualatex",
]);

/// Those of them that do so where they are given no file as well, and the letters of their options with a value.
const WITHOUT_FILE: &[(&str, &str)] = &[
    ("cpp", "oIDUxA"),
    ("as", "oI"),
    ("dtc", "oIObViHpSaRd"),
    ("pandoc", "ftrwoMVH"),
    ("tex", ""),
    ("etex", ""),
    ("latex", ""),
    ("pdftex", ""),
    ("pdflatex", ""),
    ("xetex", ""),
    ("xelatex", ""),
    ("luatex", ""),
    ("lualatex", ""),
];

/// Names of a program's input.
const INPUT: &[&str] = &["-", "--", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Whether the program (`words`: those behind its name) reads a text from its input that may include files.
fn includes_by_input(program: &str, words: &[&str]) -> bool {
    if !INCLUDE_BY_INPUT.has(program) {
        return false;
    }
    if words.iter().any(|word| INPUT.contains(word)) {
        return true;
    }
    if matches!(words, ["--version" | "--help"]) {
        return false;
    }
    let Some((_, valued)) = WITHOUT_FILE.iter().find(|(name, _)| *name == program) else { return false };
    let is_value = |at: usize| {
        let before = at.checked_sub(1).map_or("", |before| words[before]);
        let letter =
            before.strip_prefix('-').is_some_and(|letter| letter.len() == 1 && valued.contains(letter));
        // gcc(1), "Preprocessor Options".
        letter || program == "cpp" && before.starts_with("-i") || matches!(before, "-MF" | "-MT" | "-MQ")
    };
    let mut operands = words.iter().enumerate().filter(|(_, word)| !word.starts_with('-'));
    !operands.any(|(at, word)| !is_value(at) && !word.contains('\\'))
}

/// Whether the command's program puts names of files together, for all that is known: one of awk's that does more than
/// print what is in the files that it is given.
pub(in crate::permission) fn computes_names(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    if !matches!(base_name(program), "awk" | "gawk" | "mawk" | "nawk" | "original-awk") {
        return false;
    }
    let posix: Vec<String> = std::iter::once("awk".to_owned()).chain(arguments.iter().cloned()).collect();
    known_use(&posix).is_none()
}

/// Options that name a file with names in it: the programs, the letter, how the long spelling begins. Long ones can be
/// shortened to what tells them apart.
const BY_OPTION: &[(&str, Option<char>, &str)] = &[
    // sort(1), wc(1), du(1)
    ("sort", None, "files0-from"),
    ("wc", None, "files0-from"),
    ("du", None, "files0-from"),
    // GNU tar(1), bsdtar(1): `-T` of both; `-I` is bsdtar's name for it
    ("tar", Some('T'), "files-from"),
    ("gtar", Some('T'), "files-from"),
    ("bsdtar", Some('T'), "files-from"),
    // xz(1), zstd(1)
    ("xz", None, "files"),
    ("unxz", None, "files"),
    ("xzcat", None, "files"),
    ("lzma", None, "files"),
    ("unlzma", None, "files"),
    ("lzcat", None, "files"),
    ("zstd", None, "filelist"),
    ("unzstd", None, "filelist"),
    ("zstdcat", None, "filelist"),
    // gzip(1): the name that is in the file.
    ("gunzip", Some('N'), "name"),
    ("gzip", Some('N'), "name"),
    ("pigz", Some('N'), "name"),
    ("unpigz", Some('N'), "name"),
    // rsync(1)
    ("rsync", None, "files-from"),
    // zip(1), 7z(1)
    ("zip", Some('@'), "names-stdin"),
    // file(1)
    ("file", Some('f'), "files-from"),
    // the sums of coreutils read what a list of sums names
    ("md5sum", Some('c'), "check"),
    ("sha1sum", Some('c'), "check"),
    ("sha224sum", Some('c'), "check"),
    ("sha256sum", Some('c'), "check"),
    ("sha384sum", Some('c'), "check"),
    ("sha512sum", Some('c'), "check"),
    ("b2sum", Some('c'), "check"),
    ("cksum", Some('c'), "check"),
    ("shasum", Some('c'), "check"),
    // gitglossary(7), pathspec: `--pathspec-from-file` of add, commit, checkout, reset, restore, rm, stash
    ("git", None, "pathspec-from-file"),
    // git-hash-object(1), git-update-index(1), git-checkout-index(1)
    ("git", None, "stdin"),
    // ctags(1), cscope(1)
    ("ctags", Some('L'), "filter"),
    ("cscope", Some('i'), "inputfile"),
    // wget(1), curl(1): local files too
    ("wget", Some('i'), "input-file"),
    ("curl", Some('K'), "config"),
    // ar(1): a script of the input; xmllint(1): entities and inclusions
    ("ar", Some('M'), "mri-script"),
    ("xmllint", None, "noent"),
    ("xmllint", None, "xinclude"),
    ("xmllint", None, "loaddtd"),
];

/// Whether a program that gets words which are not told may open them as files.
pub(in crate::permission) fn opens_what_it_gets(program: &str) -> bool {
    !OPEN_NOTHING.has(program)
}

/// Whether the segment may run a program that reads names of files from a file or its input.
pub(in crate::permission) fn reads_names(segment: &Segment) -> bool {
    if segment.role() != Role::Runs {
        return false;
    }
    // `@list` to programs that take one (7z, gcc, javac): what no file is likely to be called.
    let listed = segment.words().skip(1).any(|word| word.starts_with('@') && word.len() > 1);
    let mut rows = [false; BY_OPTION.len()];
    for at in segment.starts() {
        let mut words = segment.text()[at..].split(' ').filter(|word| !word.is_empty());
        let program = base_name(words.next().unwrap_or_default());
        if INCLUDE_BY_INPUT.has(program) || matches!(program, "curl" | "wget") {
            let words: Vec<&str> = words.collect();
            if includes_by_input(program, &words) || urls::untold(program, &words) {
                return true;
            }
        }
        if BY_INPUT.has(program) || listed && TAKE_LISTS.has(program) {
            return true;
        }
        rows.iter_mut().zip(BY_OPTION).for_each(|(found, (name, ..))| *found |= *name == program);
    }
    let mut found = BY_OPTION.iter().zip(rows).filter_map(|(row, found)| found.then_some(*row));
    found.any(|row| segment.words().any(|word| gives(word, row)))
}

/// Programs that take a file of arguments as `@FILE`: 7z(1), gcc(1), javac(1), ld(1), rar(1).
static TAKE_LISTS: Names = Names::of(&["7z 7za 7zr rar unrar gcc g++ cc c++ clang clang++ javac java ld ar"]);

fn gives(word: &str, (_, letter, long): (&str, Option<char>, &str)) -> bool {
    // Shorter beginnings are other options', or of no one.
    const LEAST: usize = 3;
    match word.strip_prefix('-') {
        Some(rest) if rest.starts_with('-') => {
            let name = rest[1..].split('=').next().unwrap_or_default();
            name.len() >= LEAST && (long.starts_with(name) || name.starts_with(long))
        }
        Some(cluster) => letter.is_some_and(|letter| cluster.contains(letter)),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::shell::scan::scan;
    use super::*;

    #[test]
    fn names_from_elsewhere_are_known_by_program_and_option() {
        for (command, want) in [
            ("sort --files0-from=n", true),
            ("sort --files0-from n", true),
            ("wc --files0=n", true),
            ("tar cf o -T n", true),
            ("tar -cfT o n", true),
            ("rsync --files-from=n a b", true),
            ("zip -q o.zip -@", true),
            ("cpio -o", true),
            ("sha256sum -c sums", true),
            ("git add --pathspec-from-file=n", true),
            ("git hash-object --stdin-paths", true),
            ("git hash-object --stdin", true),
            ("/usr/bin/du --files0-from -", true),
            ("curl -K c", true),
            ("xz -kc --files0=n", true),
            ("zstd -c --filelist n", true),
            ("soelim n", true),
            ("7z a x.7z @list", true),
            ("nice sort --files0-from=n", true),
            ("curl file:///a/{b,c}", true),
            ("wget -r http://h", true),
            ("ar -M", true),
            ("xmllint --noent -", true),
            ("cpp -P", true),
            ("cpp -I inc -", true),
            ("gcc -E -P -x c -", true),
            ("x86_64-linux-gnu-gcc-12 -E -", true),
            ("as -o o.o", true),
            ("as -o o.o --", true),
            ("ld -o a /dev/stdin", true),
            ("pdftex \\\\input", true),
            ("cpp -P a.c", false),
            ("as --version", false),
            ("cpp -include b.h a.c -o out", false),
            ("gcc -c a.c", false),
            ("as -o o.o a.s", false),
            ("pandoc -o a.html a.md", false),
            ("pdflatex paper.tex", false),
            ("ar rcs a.a b.o", false),
            ("curl -sO http://h/x", false),
            ("sort -u a", false),
            ("tar cf o a", false),
            ("npm install @types/node", false),
            ("sha256sum a", false),
            ("git add a", false),
            ("git commit -m '@a'", false),
            ("echo -T", false),
        ] {
            assert_eq!(scan(command).iter().any(reads_names), want, "{command}");
        }
    }

    #[test]
    fn programs_of_awk_put_names_together() {
        for (words, want) in [
            (&["awk", "{print $1}", "f"][..], false),
            (&["nawk", "-F:", "$3 > 5 {print}", "f"], false),
            (&["gawk", "-v", "n=1", "NR==n", "f"], false),
            (&["awk", "BEGIN{ARGV[1]=\".e\" \"nv\"} 1", "f"], true),
            (&["awk", "BEGIN{print 1 > (\"lock\" \"ed/f\")}"], true),
            (&["mawk", "{print >> \"out\"}", "f"], true),
            (&["awk", "-f", "p.awk", "f"], true),
            (&["gawk", "-i", "inplace", "1", "f"], true),
            (&["gawk", "--include=x", "1", "f"], true),
            (&["awk", "{while ((getline l < f) > 0) print l}", "f=.env"], true),
            (&["grep", "-f", "x"], false),
        ] {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            assert_eq!(computes_names(&words), want, "{words:?}");
        }
    }
}
