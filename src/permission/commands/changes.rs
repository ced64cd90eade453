//! What programs change by the paths that they are given: what they write, move, link or remove.
//!
//! Sources: coreutils 9.1; util-linux rename(1); moreutils sponge(1); tar(1); unzip(1); cpio(1); 7z(1); patch(1); sed(1);
//! perlrun(1); find(1); git(1); rsync(1).

use foldhash::HashSet;

use super::super::lexical::{between_blanks, file_name};
use super::super::shell::leaves_tree;
use super::super::shell::scan::{Role, Segment};
use super::copies::{self, Copy};
use super::kind::{self, base_name};
use super::names::{Names, has_option};
use super::programs;

/// What is changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(in crate::permission) enum Changed {
    /// What is called so, with all that lies beneath it.
    Named(String),
    /// What lies beneath the directory.
    Beneath(String),
    /// What lies in the working tree.
    Tree,
    /// What copies get to be.
    Copies(Copy),
    /// What no word says.
    Untold,
}

/// Each word may be a path that they change.
static WRITE: Names = Names::of(&[
    "rm rmdir unlink shred srm wipe trash trash-put trash-rm gio rename prename file-rename mmv tee truncate sponge",
    "fallocate patch ed ex dos2unix unix2dos link exch split csplit scp vi vim nvim nano script",
]);
/// What these change, depends on more than their name.
static OTHERS: Names = Names::of(&[
    "sed gsed perl ruby dd find tar gtar bsdtar zip git hg svn jj fossil darcs curl wget aria2c uniq xxd",
]);
/// What they unpack lands where an option says, or in the working directory.
static UNPACK: Names =
    Names::of(&["unzip 7z 7za 7zr 7zz cpio unrar ar jar unar bsdcpio pax unshar uudecode"]);
/// Most of these programs that are looked at in one text; where there are more, what they change is not told.
const MAX_PROGRAMS: usize = 64;

/// What the commands of a text may change, and whether those are several. `substitutes`: what the text has a command print
/// may be a word of another one.
pub(in crate::permission) fn of(segments: &[Segment], substitutes: bool) -> (HashSet<Changed>, bool) {
    let runs = |segment: &&Segment| segment.role() == Role::Runs && !segment.repeats();
    let feeds = |word: &str| matches!(file_name(word), "xargs" | "parallel" | "rush");
    // What is put behind the words then, none of them says.
    let put = substitutes || segments.iter().filter(runs).flat_map(Segment::words).any(feeds);
    let put = put.then_some("{}");
    let mut changed = HashSet::default();
    let (mut programs, mut changers) = (MAX_PROGRAMS, HashSet::default());
    for segment in segments.iter().filter(runs) {
        let before = changed.len();
        for at in segment.starts() {
            let mut words = between_blanks(&segment.text()[at..]).filter(|word| !word.is_empty());
            let Some(name) = words.next().map(base_name).filter(|name| is_listed(name)) else { continue };
            let Some(left) = programs.checked_sub(1) else {
                changed.insert(Changed::Untold);
                return (changed, true);
            };
            programs = left;
            changed.extend(of_program(name, &words.chain(put).collect::<Vec<_>>()));
        }
        if !kind::only_reads(segment.words()) {
            changed.extend(outputs(&segment.words().collect::<Vec<_>>()));
        }
        if changed.len() > before {
            changers.insert(segment.text());
            // A quoted word is one path.
            changed.extend(segment.spaced().map(|word| Changed::Named(word.to_owned())));
        }
    }
    for target in segments.iter().filter(|segment| segment.role() == Role::Target) {
        changers.insert(target.text());
        changed.insert(Changed::Named(target.text().to_owned()));
    }
    (changed, changers.len() > 1)
}

fn is_listed(name: &str) -> bool {
    OTHERS.has(name)
        || WRITE.has(name)
        || UNPACK.has(name)
        || programs::UNPACKERS.has(name)
        || copies::copies(name)
}

/// What one program changes that gets these words.
fn of_program(name: &str, words: &[&str]) -> Vec<Changed> {
    let has = |letters: &str, longs: &[&str]| words.iter().any(|word| has_option(word, letters, longs));
    let mut changed = Vec::new();
    match name {
        "sed" | "gsed" if has("i", &["in-place"]) => changed.extend(named(words)),
        "perl" | "ruby" if has("i", &[]) => changed.extend(named(words)),
        "dd" => changed.extend(named(words.iter().filter_map(|word| word.strip_prefix("of=")))),
        "find"
            if words
                .iter()
                .any(|word| *word == "-delete" || word.starts_with("-fprint") || *word == "-fls") =>
        {
            changed.extend(named(words));
            if words.first().is_none_or(|word| word.starts_with('-')) {
                changed.extend(beneath(&[], &[]));
            }
        }
        "tar" | "gtar" | "bsdtar" => of_tar(words, &mut changed),
        "zip" if has("m", &["move"]) => changed.extend(named(words)),
        "zip" => changed.extend(named(words).take(1)),
        "git" if kind::git_subcommand(&mut words.iter().copied()) == Some("rm") => {
            changed.push(Changed::Tree);
        }
        "git" if !leaves_tree(words.iter().copied()) => changed.push(Changed::Tree),
        "hg" | "svn" | "jj" | "fossil" | "darcs" => changed.push(Changed::Tree),
        // They can take the name from the URL.
        "curl" if !has("OJ", &["remote-name", "remote-name-all", "remote-header-name"]) => {}
        "curl" | "wget" | "aria2c" => {
            let urls = words.iter().filter(|word| word.contains("://"));
            changed.extend(named(urls.map(|url| file_name(url)).filter(|name| !name.is_empty())));
        }
        // What they only list or print.
        "unzip" if has("lpvtZ", &[]) => {}
        "7z" | "7za" | "7zr" | "7zz" if matches!(words.first(), Some(&("l" | "t"))) => {}
        "ar" | "jar" if words.first().is_some_and(|word| word.contains('t') && !word.contains('x')) => {}
        // What they are given second, they write.
        "uniq" | "xxd" if named(words).nth(1).is_some() => changed.extend(named(words).skip(1)),
        "patch" => {
            changed.extend(named(words));
            changed.extend(beneath(words, &["-d", "--directory"]));
        }
        _ if copies::copies(name) => of_copy(name, words, &mut changed),
        // The same letters are flags to some of them.
        _ if UNPACK.has(name) => {
            changed.push(Changed::Beneath(".".to_owned()));
            changed.extend(beneath(words, &["-C", "-d", "-D", "-o"]));
        }
        _ if !OTHERS.has(name) => changed.extend(named(words)),
        _ => {}
    }
    changed
}

/// The words that are no options.
fn named<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> impl Iterator<Item = Changed> {
    let named = words.into_iter().map(|word| word.as_ref().to_owned());
    named.filter(|word| !word.starts_with('-')).map(Changed::Named)
}

/// What copies make, and what they take from where it was: a second name of a file is a way to change it, too.
fn of_copy(name: &str, words: &[&str], changed: &mut Vec<Changed>) {
    let command: Vec<String> = std::iter::once(&name).chain(words).map(|word| (*word).to_owned()).collect();
    let Some(copy) = copies::of(&command) else { return };
    let has = |letters: &str, longs: &[&str]| words.iter().any(|word| has_option(word, letters, longs));
    let takes = match name {
        "mv" => true,
        "ln" => !has("s", &["symbolic"]),
        "rsync" => has("", &["remove-source-files"]),
        _ => has("l", &["link"]),
    };
    if takes {
        changed.extend(copy.sources.iter().cloned().map(Changed::Named));
    }
    if name == "rsync" && has("", &["delete", "del"]) {
        changed.push(Changed::Beneath(copy.target.clone()));
    }
    // `ln` and `cp -l` put whole trees nowhere; what cp and mv take for a directory, they may put whole.
    changed.push(Changed::Copies(Copy { recursive: copy.recursive || name == "mv", ..copy }));
}

fn of_tar(rest: &[&str], changed: &mut Vec<Changed>) {
    let cluster = |at: usize, word: &'_ str| at == 0 || word.starts_with('-') && !word.starts_with("--");
    let letter =
        |letter: char| rest.iter().enumerate().any(|(at, word)| cluster(at, word) && word.contains(letter));
    let long = |longs: &[&str]| rest.iter().any(|word| has_option(word, "", longs));
    // What stands behind a letter, attached or in the next word.
    let behind = |letter: char| {
        let clusters = rest.iter().enumerate().filter(move |(at, word)| cluster(*at, word));
        clusters.filter_map(move |(at, word)| {
            let (_, value) = word.split_once(letter)?;
            if value.is_empty() { rest.get(at + 1).copied() } else { Some(value) }
        })
    };
    if letter('x') || long(&["extract", "get"]) {
        changed.extend(beneath(rest, &["-C", "--directory"]));
        changed.extend(behind('C').map(|directory| Changed::Beneath(directory.to_owned())));
        if letter('P') || long(&["absolute-names", "absolute-paths"]) {
            changed.push(Changed::Untold);
        }
    }
    if long(&["remove-files"]) {
        changed.extend(named(rest));
    }
    changed.extend(named(behind('f')));
    // Letters of the old style share the words behind them.
    changed.extend(named(rest.first().filter(|first| !first.starts_with('-')).and_then(|_| rest.get(1))));
    for (at, word) in rest.iter().enumerate() {
        let file = word.strip_prefix("--file=");
        let next = || rest.get(at + 1).copied().filter(|_| *word == "--file");
        changed.extend(named(file.or_else(next)));
    }
}

/// Beneath the directories that these options name, or the working directory.
fn beneath(words: &[&str], options: &[&str]) -> Vec<Changed> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        for option in options {
            let Some(value) = word.strip_prefix(option) else { continue };
            let value = value.strip_prefix('=').unwrap_or(value);
            let value = if value.is_empty() { words.get(at + 1).copied().unwrap_or(".") } else { value };
            found.push(Changed::Beneath(value.to_owned()));
        }
    }
    if found.is_empty() {
        found.push(Changed::Beneath(".".to_owned()));
    }
    found
}

/// What options call the output, of whatever program: `-o`, also among other letters, and long ones that begin so.
fn outputs(words: &[&str]) -> Vec<Changed> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied();
        let value = match word.strip_prefix("--") {
            Some(long) if long.starts_with(['o', 'O']) => {
                long.split_once('=').map(|(_, value)| value).or(next)
            }
            Some(_) => None,
            None => word.strip_prefix('-').and_then(|letters| {
                let (_, value) = letters.split_once(['o', 'O'])?;
                // `-out`, `-of`
                let attached = Some(value).filter(|value| !matches!(*value, "" | "ut" | "f"));
                attached.or(next)
            }),
        };
        found.extend(value.map(|value| Changed::Named(value.to_owned())));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::super::shell::scan::scan;
    use super::*;

    /// In words: `=` before what is named, `/` behind what is beneath, `>` before what copies become.
    fn told(command: &str) -> String {
        let told = of(&scan(command), command.contains("$(")).0.into_iter().map(|changed| match changed {
            Changed::Named(path) => format!("={path}"),
            Changed::Beneath(path) => format!("{path}/"),
            Changed::Tree => "tree".to_owned(),
            Changed::Copies(copy) => {
                format!("{}{}>{}", copy.sources.join("+"), if copy.recursive { "/" } else { "" }, copy.target)
            }
            Changed::Untold => "?".to_owned(),
        });
        let mut told: Vec<String> = told.collect();
        told.sort();
        told.dedup();
        told.join(" ")
    }

    #[test]
    fn programs_tell_what_they_change() {
        for (command, want) in [
            ("tee -a b.sh < x", "=b.sh"),
            ("echo x | tee b.sh", "=b.sh"),
            ("truncate -s 0 b.sh", "=0 =b.sh"),
            ("dd if=x of=d/b.sh", "=d/b.sh"),
            ("rm -r d", "=d"),
            ("/bin/rm -r d", "=d"),
            ("cp x y d", "x+y>d"),
            ("cp -r x/. d", "x/./>d"),
            ("cp -l x d", "=x x>d"),
            ("mv d old", "=d d/>old"),
            ("install -t d x", "x>d"),
            ("ln -sfn evil lnk", "evil>lnk"),
            ("ln b.sh h", "=b.sh b.sh>h"),
            ("rsync -a --delete x/ d", "d/ x//>d"),
            ("rsync --remove-source-files b.sh h:", "=b.sh b.sh>h:"),
            ("tar xf x.tar -C d", "=x.tar d/"),
            ("tar -x --directory=d -f x.tar", "=x.tar d/"),
            ("tar xzf x.tgz", "./ =x.tgz"),
            ("tar xPf x.tar -C d", "=x.tar ? d/"),
            ("tar czf out.tgz d", "=out.tgz"),
            ("tar cf out.tar --remove-files d", "=cf =d =out.tar"),
            ("unzip x.zip", "./"),
            ("unzip x.zip -d d", "./ d/"),
            ("7z x a.7z -od", "./ =d d/"),
            ("unzip -o ../x.zip", "../x.zip/ ./ =../x.zip"),
            ("zip -q o.zip b.sh", "=o.zip"),
            ("zip -m o.zip b.sh", "=b.sh =o.zip"),
            ("gzip b.sh", "=b.sh"),
            ("sed -i s/a/b/ b.sh", "=b.sh =s/a/b/"),
            ("sed -n p b.sh", ""),
            ("perl -pi -e s/a/b/ b.sh", "=b.sh =s/a/b/"),
            ("patch -p1 -d d x.diff", "=d =x.diff d/"),
            ("find d -name b.sh -delete", "=b.sh =d"),
            ("find -name b.sh -delete", "./ =b.sh"),
            ("find d -exec rm {} +", "=+ ={}"),
            ("ls | xargs rm", "={}"),
            ("ls | xargs cp -t d", "{}>d"),
            ("git checkout x", "tree"),
            ("git -C sub stash", "tree"),
            ("git mv a b", "tree"),
            ("git rm -q a", "tree"),
            ("tar -cfd/s.sh evil", "=d/s.sh"),
            ("tar --create --file d/s.sh evil", "=d/s.sh"),
            ("curl -so d/s.sh http://h/x", "=d/s.sh"),
            ("curl -s http://h/x/", ""),
            ("unzip -p x.zip", ""),
            ("7z l x.7z", ""),
            ("jar tf x.jar", ""),
            ("git commit -m rm", ""),
            ("cp evil $(echo d/s.sh)", "evil>{}"),
            ("wget -qOd/s.sh http://h/x", "=d/s.sh =x"),
            ("sort -u --outp=d/s.sh x", "=d/s.sh"),
            ("uniq x d/s.sh", "=d/s.sh"),
            ("uniq x", ""),
            ("git add b.sh", ""),
            ("git status", ""),
            ("curl -sO http://h/b.sh", "=b.sh =http://h/b.sh"),
            ("curl -o b.sh http://h/x", "=b.sh"),
            ("gcc -ob.sh x.c", "=b.sh"),
            ("foo --output=b.sh", "=b.sh"),
            ("sort -o b.sh x", "=b.sh"),
            ("tee 'b c.sh'", "=b =b c.sh =c.sh"),
            ("for f in x; do cp $f d; done > b.sh", "$f>d =b.sh"),
            ("sudo cp x d", "x>d"),
            ("sh -c 'cp x d'", "=cp x d x>d"),
            ("cat b.sh", ""),
            ("grep -o x b.sh", ""),
            ("sh b.sh", ""),
            ("mkdir d", ""),
        ] {
            assert_eq!(told(command), want, "{command}");
        }
        let many: Vec<String> = (0..=MAX_PROGRAMS).map(|n| format!("rm f{n}")).collect();
        assert!(told(&many.join("; ")).contains('?') && !told(&many[1..].join("; ")).contains('?'));
    }
}
