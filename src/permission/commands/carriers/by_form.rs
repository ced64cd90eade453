//! Words of a program that are run, or name what is run, by a form of their own: no option of a table says so.

use super::Carried;
use crate::permission::commands::first_words;

/// Programs for which [`runs`] says something.
const NAMES: &[&str] = &[
    "pandoc", "sbt", "mvn", "rustc", "cargo", "tox", "go", "nvcc", "ghc", "dmd", "ldc", "ldc2", "ldmd2",
    "javac", "javadoc", "jar", "jlink", "kotlinc", "scalac", "groovyc",
];

/// Compilers hand words on: GCC 12 manual, 3.14 and 3.15; clang's manual, "Target-independent compilation options".
const COMPILERS: &[&str] = &["gcc", "g++", "cc", "c++", "cpp", "c89", "c99", "gfortran", "clang", "clang++"];

/// Letters of options that run their value behind one subcommand alone: hg(1), hgext extdiff.
const OF_SUBCOMMAND: &[(&str, &str, char)] = &[
    ("hg", "bisect", 'c'),
    ("hg", "extdiff", 'p'),
    ("hg", "merge resolve rebase backout graft update", 't'),
];

/// Whether words of the program may be run by their form.
pub(super) fn names(name: &str) -> bool {
    NAMES.contains(&name)
        || COMPILERS.contains(&name)
        || OF_SUBCOMMAND.iter().any(|(program, ..)| *program == name)
}

/// What the word has the program run, as far as it is told.
pub(super) fn runs<'w>(name: &str, word: &'w str) -> Option<&'w str> {
    let value = || word.split_once('=').map_or(word, |(_, value)| value);
    let runs = match name {
        // pandoc(1): a reader, writer or filter in Lua.
        "pandoc" => word.contains(".lua"),
        // scala-sbt.org, "Command line reference".
        "sbt" if word.contains('!') => return word.split_once('!').map(|(_, command)| command),
        "sbt" => word.starts_with("eval"),
        // mojohaus.org, "exec-maven-plugin"; maven.apache.org, "surefire", "compiler", "Core extensions".
        "mvn" => {
            let property = word.strip_prefix("-D").or(word.strip_prefix("--define=")).unwrap_or(word);
            let name = property.split('=').next().unwrap_or_default();
            name.starts_with("exec.")
                || name.contains("executable")
                || matches!(name, "jvm" | "maven.ext.class.path")
        }
        // The rustc book, "Codegen Options": `-C linker=x`, `-Clinker=x`.
        "rustc" | "cargo" => {
            let option = word.strip_prefix("--codegen=").unwrap_or(word).trim_start_matches('-');
            let option = option.strip_prefix(['C', 'Z']).unwrap_or(option);
            ["linker=", "link-arg", "dlltool=", "codegen-backend=", "llvm-plugins="]
                .iter()
                .any(|begin| option.starts_with(begin))
        }
        // tox.wiki, "CLI interface": `-x testenv.commands=…`.
        "tox" => {
            let setting = word.strip_prefix("--override=").or(word.strip_prefix("-x")).unwrap_or(word);
            setting.contains('=')
                && ["testenv", "tox.", "env."].iter().any(|begin| setting.starts_with(begin))
        }
        // `go tool link -help`: `-ldflags=-extld=x`, `-ldflags '-extldflags …'`.
        "go" => names_linker_of_go(word),
        // docs.nvidia.com, "NVCC Command Options": `-Xcompiler=-fPIC,-Wall`, and the same as two words, for the compiler.
        "nvcc" => {
            let handed = word.strip_prefix("-Xcompiler=").or(word.strip_prefix("--compiler-options="));
            handed.unwrap_or(word).split([',', ' ']).any(|part| super::by_option::runs_something("gcc", part))
        }
        // downloads.haskell.org, "Flag reference": programs in the place of GHC's own, and words for them.
        "ghc" => {
            word.starts_with("-pgm")
                || word.starts_with("-opt") && !matches!(word, "-optl-static" | "-optl-pthread" | "-optc-O2")
        }
        // dlang.org, "Compiler Usage": words for the linker.
        "dmd" | "ldc" | "ldc2" | "ldmd2" => word
            .strip_prefix("-L")
            .is_some_and(|part| hands_on("ld", &format!("-Wl,{}", part.trim_start_matches('=')))),
        // javac(1), kotlinlang.org, docs.scala-lang.org: words for Java, and plug-ins.
        "javac" | "javadoc" | "jar" | "jlink" | "kotlinc" | "scalac" | "groovyc" => {
            ["-J", "-Xplugin:"].iter().any(|begin| word.starts_with(begin))
        }
        _ => COMPILERS.contains(&name) && hands_on(name, word),
    };
    runs.then(value)
}

/// `-Wl,-plugin=x` for the linker, `-Wa,…` for the assembler, `-Wp,…` for the preprocessor: a plug-in, a file with more
/// words, a script.
fn hands_on(name: &str, word: &str) -> bool {
    let Some((kind, parts)) = word.split_once(',') else {
        return name.starts_with("clang") && names_linker(word);
    };
    matches!(kind, "-Wl" | "-Wa" | "-Wp")
        && parts.split(',').any(|part| {
            let option = part.trim_start_matches('-').split('=').next().unwrap_or_default();
            // ld(1) takes long names with one dash, and shortened.
            let plugin = option.len() > 1 && "plugin".starts_with(option) || option.starts_with("plugin");
            let script = part.starts_with("-T") || ["script", "default-script", "dT"].contains(&option);
            part.starts_with('@') || plugin || script || super::by_option::runs_something(name, part)
        })
}

/// `-extld`, `-extar` and `-extldflags`, but for the flag that is usual there.
fn names_linker_of_go(word: &str) -> bool {
    let is_static = |(before, flags): (&str, &str)| {
        !before.contains("-extld") && flags.trim_matches([' ', '=', '"', '\'']) == "-static"
    };
    (word.contains("-extld") && !word.split_once("-extldflags").is_some_and(is_static))
        || word.contains("-extar")
}

/// `-fuse-ld=./x`: clang takes a path there.
fn names_linker(word: &str) -> bool {
    word.strip_prefix("-fuse-ld=").is_some_and(|linker| linker.contains('/'))
}

/// Whether the word is a cluster of short options with one that the subcommand runs the value of.
pub(in crate::permission::commands) fn of_subcommand(name: &str, words: &[String], word: &str) -> bool {
    letter_of(name, words).is_some_and(|letter| {
        word.strip_prefix('-').is_some_and(|cluster| !cluster.starts_with('-') && cluster.contains(letter))
    })
}

/// The letter that runs something behind the subcommand, which may be shortened.
fn letter_of(name: &str, words: &[String]) -> Option<char> {
    let mut rows = OF_SUBCOMMAND.iter().filter(|(program, ..)| *program == name).peekable();
    rows.peek()?;
    let places = first_words::places(words);
    let is_it = |names: &str| {
        names
            .split(' ')
            .any(|full| places.iter().any(|at| !words[*at].is_empty() && full.starts_with(&words[*at])))
    };
    rows.find(|(_, names, _)| is_it(names)).map(|(.., letter)| *letter)
}

/// Adds what such words run.
pub(super) fn look(name: &str, words: &[String], out: &mut Carried) {
    let letter = letter_of(name, words);
    for (at, word) in words.iter().enumerate().skip(1) {
        if let Some(text) = runs(name, word) {
            out.untold = true;
            out.script(text);
        }
        let cluster = word.strip_prefix('-').filter(|cluster| !cluster.starts_with('-')).zip(letter);
        if let Some((_, attached)) = cluster.and_then(|(cluster, letter)| cluster.split_once(letter)) {
            out.untold = true;
            let next = words.get(at + 1).map(String::as_str);
            out.script(Some(attached).filter(|text| !text.is_empty()).or(next).unwrap_or_default());
        }
    }
}
