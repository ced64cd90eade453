//! Programs that run the value of one of their options, whatever else they do.

use super::{Carried, by_form};
use crate::permission::commands::names::{Index, Names, Options as Row, index};
use crate::permission::commands::{compilers, kind};

const TABLE: &[Row] = &[
    // tar 1.34 manual, 3.4.2: `--checkpoint-action=exec=…`; `-I`, `-F`; 6.3: the list of `-T` may hold options.
    Row {
        names: "tar bsdtar gtar",
        long: "to-command checkpoint-action use-compress-program info-script new-volume-script rsh-command rmt-command \
               files-from",
        short: "IFT",
    },
    // binutils 2.40, nm(1), ar(1): a library that they load.
    Row { names: "nm ar ranlib strip", long: "plugin", short: "" },
    // dpkg(1); gpg(1) 2.2.
    Row { names: "dpkg", long: "pre-invoke post-invoke status-logger", short: "" },
    Row {
        names: "gpg gpg2",
        long: "photo-viewer exec-path agent-program dirmngr-program keyboxd-program options homedir",
        short: "",
    },
    // ack(1), ag(1), bat(1), delta(1), cloc(1), fzf(1): a pager, or what shows and fetches files.
    Row { names: "ack ag bat batcat delta", long: "pager", short: "" },
    Row { names: "cloc", long: "extract-with vcs config", short: "" },
    Row { names: "fzf", long: "preview bind with-shell listen", short: "" },
    // hg(1): any setting, hooks and aliases too; svn(1); helm(1).
    Row { names: "hg", long: "config ssh remotecmd tool program command", short: "e" },
    Row { names: "svn", long: "config-option config-dir diff-cmd diff3-cmd editor-cmd", short: "" },
    Row { names: "helm", long: "post-renderer", short: "" },
    // rsync(1) 3.2, scp(1).
    Row { names: "rsync", long: "rsh rsync-path", short: "e" },
    // coreutils 9.1: 7.1 sort, 11.2 install, 5.4 split.
    Row { names: "sort", long: "compress-program", short: "" },
    Row { names: "install", long: "strip-program", short: "" },
    Row { names: "split", long: "filter", short: "" },
    // ripgrep 14, rg(1).
    Row { names: "rg", long: "pre hostname-bin", short: "" },
    // zip(1) 3.0.
    Row { names: "zip", long: "unzip-command", short: "T" },
    // curl(1): a file of options, a library; wget(1): commands of its own start-up file, and a program that asks.
    Row { names: "curl", long: "config engine", short: "K" },
    Row { names: "wget", long: "execute config use-askpass", short: "e" },
    // GNU make 4.3 manual, 9.8: another makefile, or text of one.
    Row { names: "make gmake", long: "file makefile eval include-dir directory", short: "fCIE" },
    Row { names: "just", long: "justfile shell command chooser", short: "fc" },
    // The Cargo book, `--config`; cargo-watch(1); tauri.app, "tauri build": another cargo.
    Row { names: "cargo", long: "config shell exec cmd runner", short: "s" },
    // npm-exec(1), npm config.
    Row {
        names: "npm npx pnpm yarn",
        long: "call script-shell node-options shell-mode git editor viewer browser shell",
        short: "c",
    },
    // nix-shell(1), nix3-run(1).
    Row { names: "nix-shell", long: "run command", short: "" },
    // cmake(1), ctest(1).
    Row { names: "ctest", long: "script", short: "S" },
    // GCC 12 manual, 3.2; `go help build`, `go help vet`.
    Row { names: "gcc g++ cc c++ clang clang++", long: "", short: "" },
    // pandoc(1), apt-get(8): settings of apt name hooks.
    Row { names: "pandoc", long: "filter lua-filter defaults pdf-engine", short: "FLd" },
    Row {
        names: "apt apt-get apt-cache apt-mark apt-config apt-cdrom apt-ftparchive apt-key apt-sortpkgs \
                apt-extracttemplates aptitude",
        long: "option config-file",
        short: "oc",
    },
    // docker(1).
    Row { names: "docker podman", long: "entrypoint health-cmd", short: "" },
    // rpm(8): a filter, macros, which may hold a command; docs.aws.amazon.com: what a machine or container is to run.
    Row { names: "rpm", long: "pipe eval define macros rcfile load", short: "DE" },
    Row { names: "aws", long: "command parameters overrides container-overrides user-data", short: "" },
    // patch(1) hands scripts of ed to ed.
    Row { names: "patch", long: "ed", short: "e" },
    // prove(1), dpkg-buildpackage(1), tcpdump(8), rustdoc(1): what runs tests, gets root, packs a capture.
    Row { names: "prove", long: "exec", short: "e" },
    Row {
        names: "dpkg-buildpackage debuild",
        long: "root-command check-command sign-command hook-",
        short: "rp",
    },
    Row { names: "tcpdump", long: "", short: "z" },
    Row { names: "rustdoc", long: "test-runtool test-builder runtool", short: "C" },
    // ssh-keygen(1): libraries that it loads.
    Row { names: "ssh-keygen", long: "", short: "Dw" },
    // pip.pypa.io, "Global Options": pip runs itself anew with that interpreter; "pip config".
    Row { names: "pip", long: "python editor", short: "" },
    // mypy(1): it is asked where its packages are.
    Row { names: "mypy", long: "python-executable", short: "" },
    // rake(1): Ruby; hexdocs.pm, "mix run": Elixir.
    Row { names: "rake", long: "execute execute-print execute-continue", short: "epE" },
    Row { names: "mix", long: "eval", short: "e" },
    // bazel.build, "Commands and Options"; ansible(1); ziglang.org, "zig test".
    Row {
        names: "bazel bazelisk",
        long: "run_under workspace_status_command bazelrc server_javabase host_javabase",
        short: "",
    },
    Row { names: "ansible", long: "args", short: "a" },
    Row { names: "zig", long: "test-cmd", short: "" },
    // xxd, tee and their like have none.
];

/// Options with one dash in front of a whole name.
const ONE_DASH: &[(&str, &str)] = &[
    // `go help build`, `go tool link -help`.
    ("go", "exec toolexec vettool overlay modfile extld extar gccgoflags"),
    // docs.jj-vcs.dev, "CLI reference": spelt in full, as `--to` is no `--tool`.
    ("jj", "tool config config-toml config-file"),
    // scala-sbt.org, "sbt runner": another Java, another sbt.
    ("sbt", "java-home sbt-jar sbt-launch-dir"),
    // openssl(1): libraries that it loads, and settings that name some.
    ("openssl", "engine engine_impl provider provider-path config pre post"),
    // docs.nvidia.com, "NVCC Command Options": more words, another compiler, the program that was made.
    ("nvcc", "options-file optf compiler-bindir ccbin run run-args"),
    // GCC 12 manual, 3.14 to 3.16: `--prefix` is `-B`.
    (
        "gcc g++ cc c++ cpp c89 c99 gfortran gdc",
        "wrapper fplugin iplugindir specs B prefix Xlinker Xassembler Xpreprocessor",
    ),
    // clang's manual, "Configuration files", and `clang --help-hidden`: toolchains are directories with programs.
    (
        "clang clang++ emcc em++",
        "wrapper fplugin fpass-plugin specs Xclang load B prefix ld-path Xlinker Xassembler Xpreprocessor config \
         config-system-dir config-user-dir ccc-install-dir gcc-toolchain gcc-install-dir cuda-path rocm-path em-config",
    ),
    // dlang.org, "Compiler Usage"; `ldc2 -help-hidden`: settings that name a compiler.
    ("dmd ldc ldc2 ldmd2", "run conf Xcc gcc linker plugin"),
    // `swiftc -help-hidden`.
    (
        "swiftc",
        "load-plugin-library load-plugin-executable plugin-path external-plugin-path tools-directory use-ld ld-path \
         interpret Xfrontend Xlinker Xclang-linker Xcc",
    ),
    // downloads.haskell.org, "Flag reference"; javac(1), javadoc(1); kotlinlang.org, docs.scala-lang.org, groovy-lang.org.
    ("ghc", "e interactive fplugin ghci-script"),
    ("javac javadoc", "processor processorpath processor-path processor-module-path doclet docletpath"),
    ("kotlinc", "e expression script Xplugin"),
    ("scalac", "e i toolcp Xplugin Xpluginsdir"),
    ("groovyc", "configscript"),
];

/// Compilers, linkers and their like that take `@file` for more words of their line, whatever those are: binutils 2.40,
/// GCC 12 manual, 3.2; clang's and lld's manuals; the rustc book, "Command-line Arguments"; javac(1), kotlinlang.org,
/// docs.scala-lang.org, groovy-lang.org; swift.org, downloads.haskell.org, dlang.org, "Compiler Usage"; NVIDIA's nvcc.
static TAKE_FILES: Names = Names::of(&[
    "nm ar ranlib strip objdump objcopy readelf size strings addr2line c++filt elfedit windres dlltool gprof ld ld.bfd",
    "ld.gold gold as gcc g++ cc c++ cpp c89 c99 gfortran gcc-ar gcc-nm gcc-ranlib clang clang++ clang-cl lld ld.lld",
    "ld64.lld lld-link wasm-ld mold ld.mold llvm-ar llvm-nm llvm-ranlib llvm-objcopy llvm-objdump llvm-strip llc opt",
    "emcc em++ rustc rustdoc clippy-driver javac javadoc jar jlink jpackage kotlinc kotlin scalac groovyc swiftc ghc dmd",
    "ldc2 ldmd2 gdc nvcc csc vbc fsc msbuild dotnet tsc",
]);

/// The same of what checks, formats and tests: docs.pytest.org, "Read arguments from file"; mypy.readthedocs.io, "The
/// mypy command line"; pylint.readthedocs.io; docs.astral.sh/ruff; clang.llvm.org/extra, clang-tidy.
static ALSO_TAKE_FILES: Names =
    Names::of(&["pytest py.test mypy dmypy pylint ruff clang-tidy clang-format clang-check"]);

/// Whether a word of the program stands for more words, which a file holds.
pub(super) fn takes_words_of_a_file(name: &str, words: &[String]) -> bool {
    let begins = |word: &String| word.starts_with('@');
    match name {
        // `cargo rustc -- @file` is one of rustc's; what `run` starts is the workspace's program.
        "cargo" | "dotnet" => {
            let (own, handed) = words.split_at(words.iter().position(|w| w == "--").unwrap_or(words.len()));
            let runs = own.iter().skip(1).any(|word| matches!(word.as_str(), "run" | "r"));
            name == "dotnet" && own.iter().skip(1).any(begins) || !runs && handed.iter().any(begins)
        }
        // `go tool compile @file`, `go tool link @file`: cmd/internal/objabi.
        "go" => words.iter().any(|word| word == "tool") && words.iter().any(begins),
        _ => (TAKE_FILES.has(name) || ALSO_TAKE_FILES.has(name)) && words.iter().skip(1).any(begins),
    }
}

fn row(name: &str) -> Option<&'static Row> {
    static ROWS: Index<Row> = Index::new(|| index(TABLE, |row| row.names.split(' ')));
    ROWS.get(name).copied()
}

fn one_dash(name: &str) -> Option<&'static str> {
    ONE_DASH.iter().find(|(programs, _)| programs.split(' ').any(|n| n == name)).map(|(_, options)| *options)
}

/// Whether options of the program run something.
pub(super) fn names(name: &str) -> bool {
    row(name).is_some() || one_dash(name).is_some() || TAKE_FILES.has(name) || by_form::names(name)
}

/// Whether the word may be an option by which the program runs something: then no star stands for it.
pub(in crate::permission::commands) fn runs_something(name: &str, word: &str) -> bool {
    if one_dash(name).is_some_and(|names| is_one_of(word, names)) || by_form::runs(name, word).is_some() {
        return true;
    }
    let Some(row) = row(name) else { return false };
    let long = long_name(name, word).is_some_and(|long| {
        let option = long.split('=').next().unwrap_or_default();
        !option.is_empty() && row.long.split_ascii_whitespace().any(|known| known.starts_with(option))
    });
    let cluster = word.strip_prefix('-').filter(|cluster| !cluster.starts_with('-'));
    long || cluster.is_some_and(|cluster| cluster.contains(|c| row.short.contains(c)))
}

/// The name of a long option, with its value: npm-config(7) has them behind one dash as well.
pub(in crate::permission::commands) fn long_name<'w>(name: &str, word: &'w str) -> Option<&'w str> {
    let one_dash = || word.strip_prefix('-').filter(|long| long.len() > 1 && matches!(name, "npm" | "npx"));
    word.strip_prefix("--").or_else(one_dash)
}

/// Whether the word is one of these options, with one dash or two.
fn is_one_of(word: &str, names: &str) -> bool {
    let option = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    word.starts_with('-')
        && names.split_ascii_whitespace().any(|n| option == n || (n == "B" && option.starts_with('B')))
}

/// Adds what options of the program run.
pub(super) fn look(name: &str, words: &[String], out: &mut Carried) {
    out.untold |= takes_words_of_a_file(name, words);
    if let Some(names) = one_dash(name) {
        for (at, word) in words.iter().enumerate().skip(1) {
            if is_one_of(word, names) {
                let value = word.split_once('=').map(|(_, value)| value);
                runs(value, words.get(at + 1), out);
            }
        }
    }
    by_form::look(name, words, out);
    let Some(row) = row(name) else { return };
    for (at, word) in words.iter().enumerate().skip(1) {
        let next = words.get(at + 1);
        if let Some(long) = long_name(name, word) {
            let (option, value) = long.split_once('=').map_or((long, None), |(o, v)| (o, Some(v)));
            let given = value.or(next.map(String::as_str));
            let shortened = |known: &str| {
                option.len() > 1 && known.starts_with(option) && !is_place_of_a_makefile(name, known, given)
            };
            if row.long.split_ascii_whitespace().any(shortened) {
                runs(value, next, out);
            }
        } else if let Some(cluster) = word.strip_prefix('-').or_else(|| bare_cluster(name, at, word)) {
            let found = cluster.find(|c| row.short.contains(c)).map(|at| cluster.split_at(at));
            if let Some((letter, attached)) = found.map(|(_, rest)| rest.split_at(1))
                && let attached = Some(attached).filter(|a| !a.is_empty())
                && !is_place_of_a_makefile(name, letter, attached.or(next.map(String::as_str)))
            {
                runs(attached, next, out);
                // In a cluster the value may be the next word all the same.
                if let Some(text) = next {
                    out.script(text.as_str());
                }
            }
        } else if name.ends_with("make") && word.contains('=') {
            variable_of_make(word, out);
        }
    }
}

/// `make -C sub` and `make -f sub/x.mk` run what a makefile says, as `cd sub && make` does, `just -f x` what a justfile does;
/// no star stands for it. A makefile in the input is text of its own.
fn is_place_of_a_makefile(name: &str, option: &str, value: Option<&str>) -> bool {
    let options: &[&str] = match name {
        "make" | "gmake" => &["C", "directory", "f", "file", "makefile"],
        "just" => &["f", "justfile"],
        _ => &[],
    };
    options.contains(&option)
        && value.is_some_and(|value| {
            !value.starts_with(['-', '=']) && !value.contains("/dev/") && !value.contains("/proc/")
        })
}

/// `tar cIf prog …`: its first word is options even without a dash.
fn bare_cluster<'w>(name: &str, at: usize, word: &'w str) -> Option<&'w str> {
    (name.ends_with("tar") && at == 1).then_some(word)
}

fn runs(value: Option<&str>, next: Option<&String>, out: &mut Carried) {
    out.untold = true;
    if let Some(text) = value.or(next.map(String::as_str)) {
        // `--checkpoint-action=exec=command`, `-wrapper program,arguments`.
        out.script(text.strip_prefix("exec=").unwrap_or(text).replace(',', " "));
    }
}

/// A variable of make is code as soon as it holds more than plain words (GNU make 4.3 manual, 8.6 to 8.13), several of
/// them where it usually holds a program, and a program where it is the shell.
fn variable_of_make(word: &str, out: &mut Carried) {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    if compilers::are_plain_flags(name, value) {
        return;
    }
    let plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "_./,:+- ".contains(c));
    let several = value.contains(' ') && kind::names_a_program(name);
    if !plain || several || name.contains("SHELL") || name.contains("FLAGS") {
        out.untold = true;
        out.script(value);
    }
}
