//! Commands that open files whose names stand in a file or come through their input.

use super::super::shell::scan::{Role, Segment};
use super::kind::base_name;
use super::names::Names;

/// Programs that open nothing which they are given by name (their manuals).
static OPEN_NOTHING: Names = Names::of(&[
    "echo printf true false : test [ [[ exit return break continue shift kill wait sleep basename dirname seq expr",
    "export declare local readonly unset let read for in case select esac fi done date trap set",
]);
/// Programs that get names through their input: cpio(1), pax(1), afio(1), shar(1), rename(1).
/// And those that include files which a file names: soelim(1), groff(1).
static BY_INPUT: Names =
    Names::of(&["cpio bsdcpio pax afio shar rename prename file-rename soelim groff troff nroff ditroff"]);

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
        let program = base_name(segment.text()[at..].split(' ').next().unwrap_or_default());
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
}
