//! Commands that take from a file which files they write and what into them: their words do not say what they do, and the
//! file may be another one by the next time. Programs that run the workspace's code (`make`, `pip install -r`) are told apart
//! by their kind.

use super::super::lexical::file_name;
use super::super::shell::scan::{Begins, Segment};
use super::carriers;
use super::kind::{base_name, git_subcommand};
use super::named_elsewhere;
use super::names::Names;

/// Whatever their words: patches, archives and packages, what undoes an encoding, lists of addresses. Sources: patch(1),
/// quilt(1), unzip(1), cpio(1), pax(1), unrar(1), unar(1), uudecode(1), lha(1), cabextract(1), dpkg(1), dpkg-deb(1), rpm(8),
/// arj(1), aria2c(1), gpg(1) (`--use-embedded-filename`), gpgtar(1), dpkg-source(1).
static ALWAYS: Names = Names::of(&[
    "patch gpatch quilt unzip bsdunzip cpio bsdcpio gcpio pax unrar rar unar lha cabextract uudecode unsquashfs",
    "dpkg dpkg-deb rpm alien arj zoo unace unalz unshield gcab p7zip aria2c unp atool aunpack dtrx patool munpack uudeview",
    "ripmime gpg gpg2 gpgtar gpg-zip dpkg-source ouch dar zpaq lrzuntar asar innoextract msiextract tnef borg restic tarsnap",
]);
/// Where a word is a path, its package is a file: apt-get(8), dnf(8), zypper(8), apk(8), pacman(8).
static BY_PATH: Names = Names::of(&["apt apt-get aptitude dnf dnf5 yum zypper apk pacman snap flatpak"]);
/// Archivers that unpack where a letter or an option says so: tar(1), jar(1), ar(1).
static BY_LETTER: Names = Names::of(&["tar gtar gnutar bsdtar star jar ar ptar"]);
/// Those with a command for it: 7z(1).
static BY_COMMAND: Names = Names::of(&["7z 7za 7zr 7zz 7zzs"]);
/// Subcommands: git-apply(1), git-am(1), git-quiltimport(1); hg(1), svn(1).
const BY_SUBCOMMAND: &[(&str, &[&str])] = &[
    ("git", &["apply", "am", "quiltimport", "fast-import"]),
    ("hg", &["import", "patch", "unbundle", "qimport", "transplant"]),
    ("svn", &["patch"]),
    ("gem", &["unpack"]),
];
/// Options that name a file of addresses, or of further options, which say where to write: curl(1), wget(1), aria2c(1).
const BY_OPTION: &[(&str, char, &[&str])] = &[
    ("curl", 'K', &["config", "url"]),
    ("wget", 'i', &["input-file", "input-metalink", "config"]),
    ("wget2", 'i', &["input-file", "config"]),
    ("yt-dlp", 'a', &["batch-file", "config-locations"]),
];

/// Whether a file says what the command writes.
pub(in crate::permission) fn is_told_by_file(words: &[String]) -> bool {
    // A program that no table knows may run its words, and a shell among them a text, which is not looked into.
    let carried = carriers::carried(words);
    let further = (1..words.len().saturating_sub(1)).filter(|_| carried.guessed);
    !carried.guessed_scripts.is_empty()
        || std::iter::once(0).chain(further).any(|at| program_is_told(&words[at..]))
}

fn program_is_told(words: &[String]) -> bool {
    let Some(program) = words.first() else { return false };
    let spelt = file_name(program);
    // `tar-1.34` is `tar`, `7z` no version of a `z`; `gcc-ar` and `llvm-ar` are archivers like `ar`.
    let of_makers = spelt.rsplit_once('-').map_or(spelt, |(_, name)| name);
    [spelt, base_name(spelt), of_makers].iter().any(|name| tells(name, &words[1..]))
        || named_elsewhere::reads_names(&Segment::runs(words, Begins::First))
}

fn tells(program: &str, words: &[String]) -> bool {
    let mut words = words.iter().map(String::as_str);
    if ALWAYS.has(program) || BY_PATH.has(program) && words.clone().any(is_package) {
        return true;
    }
    if BY_LETTER.has(program) {
        return words.clone().next().is_some_and(|first| has_letter(first.trim_start_matches('-'), 'x'))
            || words.any(|word| has_option(word, 'x', &["extract", "get"]));
    }
    if BY_COMMAND.has(program) {
        return words.any(|word| matches!(word, "x" | "e"));
    }
    if let Some((_, subcommands)) = BY_SUBCOMMAND.iter().find(|(name, _)| *name == program) {
        let sub = if program == "git" { git_subcommand(&mut words) } else { None };
        // Mercurial takes beginnings of its commands.
        let begins = |word: &str| {
            program == "hg" && word.len() > 1 && subcommands.iter().any(|name| name.starts_with(word))
        };
        return match sub {
            Some(sub) if !sub.starts_with('-') => subcommands.contains(&sub),
            // Behind options that may take a value.
            _ => words.any(|word| subcommands.contains(&word) || begins(word)),
        };
    }
    let row = BY_OPTION.iter().find(|(name, ..)| *name == program);
    row.is_some_and(|(_, letter, longs)| words.any(|word| has_option(word, *letter, longs)))
}

fn is_package(word: &str) -> bool {
    word.contains('/')
        || [".deb", ".rpm", ".apk", ".zst", ".snap", ".flatpak"].iter().any(|ending| word.ends_with(ending))
}

/// Whether the word is the option, alone or among letters; long ones can be shortened.
fn has_option(word: &str, letter: char, longs: &[&str]) -> bool {
    match word.strip_prefix('-') {
        Some(long) if long.starts_with('-') => {
            let name = long[1..].split('=').next().unwrap_or_default();
            !name.is_empty() && longs.iter().any(|long| long.starts_with(name))
        }
        Some(cluster) => has_letter(cluster, letter),
        None => false,
    }
}

fn has_letter(cluster: &str, letter: char) -> bool {
    cluster.split(['/', '=', ',']).next().unwrap_or_default().contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_tells_to_write_is_known_by_program_and_option() {
        let text = ["memusage", "sh", "-c", "tar xf a.tar"].map(str::to_owned);
        assert!(is_told_by_file(&text) && !is_told_by_file(&["frob", "-m", "tar xf a"].map(str::to_owned)));
        for (command, want) in [
            ("patch -p1 -i x.diff", true),
            ("patch f x.diff", true),
            ("/usr/bin/patch -p1", true),
            ("git apply x.diff", true),
            ("git -C sub --no-pager apply x.diff", true),
            ("git am x.mbox", true),
            ("git -c a.b=c apply x.diff", true),
            ("ptar xf a.tar", true),
            ("gem unpack a.gem", true),
            ("gem list", false),
            ("gpg --batch --use-embedded-filename x.gpg", true),
            ("git commit -m am", false),
            ("git push origin apply", false),
            ("hg import x.diff", true),
            ("hg im x.diff", true),
            ("gunzip -N a.gz", true),
            ("gzip -dN a.gz", true),
            ("gunzip -k a.gz", false),
            ("dtrx a.tar", true),
            ("snap install ./a.snap", true),
            ("hg commit -m x", false),
            ("tar xf a.tar", true),
            ("tar -zxf a.tar", true),
            ("tar -f a.tar -x", true),
            ("tar --file a.tar --extract", true),
            ("tar --get -f a.tar", true),
            ("tar czf a.tgz x", false),
            ("tar -cf a.tar --exclude=x .", false),
            ("tar tf a.tar", false),
            ("jar xf a.jar", true),
            ("unzip a.zip", true),
            ("zip -r a.zip x", false),
            ("cpio -idF a", true),
            ("7z x a.7z", true),
            ("7z a a.7z x.txt", false),
            ("wget -i f", true),
            ("wget -qi f", true),
            ("wget --input-file=f", true),
            ("wget --inp f", true),
            ("wget -O x http://h/i", false),
            ("curl -sK f", true),
            ("curl --config f", true),
            ("curl -sSfLo x http://h/K", false),
            ("aria2c -i f", true),
            ("wget2 -i f", true),
            ("wget --input-metalink=f", true),
            ("curl -O --url @f", true),
            ("dpkg-deb -x a.deb d", true),
            ("dpkg -i a.deb", true),
            ("apt-get install ./a.deb", true),
            ("apt-get install a.deb", true),
            ("apt-get install curl", false),
            ("tar-1.34 xf a.tar", true),
            ("llvm-ar x a.a", true),
            ("gcc-ar rcs a.a b.o", false),
            ("memusage tar xf a.tar", true),
            ("memusage nice patch -p1", true),
            ("memusage tar tf a.tar", false),
            ("frob patch", false),
            ("ls patch -p1", false),
            ("patch-2.7 -p1", true),
            ("7zzs x a.7z", true),
            ("xz --files=l", true),
            ("zstd -d --filelist l", true),
            ("git rm --pathspec-from-file=l", true),
            ("sort --files0-from=l", true),
            ("kubectl apply -f x.yml", false),
            ("pip install -r requirements.txt", false),
            ("make install", false),
            ("cp a b", false),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(is_told_by_file(&words), want, "{command}");
        }
    }
}
