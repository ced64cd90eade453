//! Whether the settings of a repository name nothing that git would run, read or look into.
//!
//! Source: git 2.47, git-config(1), "Syntax" and "Variables".

/// The longest text that is looked at, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// Sections with the keys that are plain in them; `*`: all keys, for sections that only speak of names.
const PLAIN: &[(&str, &str)] = &[
    (
        "core",
        "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol \
         safecrlf quotepath untrackedcache preloadindex abbrev longpaths protecthfs protectntfs commitgraph compression \
         loosecompression bigfilethreshold trustctime checkstat whitespace commentchar hidedotfiles sparsecheckout \
         sparsecheckoutcone multipackindex",
    ),
    ("extensions", "objectformat refstorage worktreeconfig noop"),
    ("user", "name email signingkey useconfigonly"),
    ("author", "name email"),
    ("committer", "name email"),
    ("init", "defaultbranch"),
    ("commit", "gpgsign verbose status cleanup"),
    ("tag", "gpgsign forcesignannotated"),
    // Not `sort`, here and above: by `signature` it runs the program that checks one.
    ("branch", "autosetupmerge autosetuprebase"),
    ("pull", "rebase ff twohead octopus"),
    ("push", "default autosetupremote followtags"),
    ("fetch", "prune prunetags parallel writecommitgraph"),
    ("merge", "conflictstyle ff stat renames log"),
    ("rebase", "autosquash autostash updaterefs stat missingcommitscheck"),
    ("rerere", "enabled autoupdate"),
    ("color", "ui branch diff status interactive log"),
    ("column", "ui status branch tag"),
    ("advice", "*"),
    ("alias", "*"),
    (
        "diff",
        "renames renamelimit algorithm colormoved context interhunkcontext mnemonicprefix noprefix wserrorhighlight",
    ),
    ("log", "date decorate abbrevcommit follow mailmap"),
    ("status", "short branch showuntrackedfiles showstash renames relativepaths aheadbehind"),
    ("stash", "showpatch showstat showincludeuntracked"),
    ("gc", "auto autodetach pruneexpire reflogexpire reflogexpireunreachable autopacklimit"),
    ("maintenance", "auto strategy"),
    ("pack", "threads window depth windowmemory usebitmaps"),
    ("index", "version threads skiphash"),
    ("feature", "manyfiles"),
    ("receive", "denycurrentbranch denynonfastforwards"),
    ("checkout", "defaultremote guess"),
    ("help", "autocorrect"),
    ("lfs", "repositoryformatversion"),
];

/// The same for sections that have a name of their own (`[remote "origin"]`).
const PLAIN_NAMED: &[(&str, &str)] = &[
    (
        "remote",
        "url pushurl fetch push tagopt prune prunetags mirror skipdefaultupdate skipfetchall gh-resolved followremotehead",
    ),
    (
        "branch",
        "remote merge rebase pushremote description gh-merge-base github-pr-owner-number vscode-merge-base \
         vscode-merge-base-source",
    ),
    ("color", "*"),
];

/// Whether `text` (a repository's `config` or `config.worktree`) has only settings of a list: no include, filter,
/// driver, pager, hook, monitor, signature program, submodule, other work tree or fetching on demand. A line that is
/// not understood is not plain.
pub(crate) fn config_is_plain(text: &str) -> bool {
    let is_plain = |setting: Setting<'_>| {
        // In newer versions of git a place may stand in it.
        let is_format = setting.key != "refstorage" || matches!(setting.value, Some("files" | "reftable"));
        is_format && setting.section.keys.split_ascii_whitespace().any(|key| key == "*" || key == setting.key)
    };
    text.len() <= MAX_BYTES && settings(text).all(|setting| setting.is_some_and(is_plain))
}

/// How many bytes the names of objects have in a repository with these settings, which are plain. `None`: it is said in
/// a way that is not understood, or that git does not go by (gitrepository-layout(5): extensions count from version 1 on).
pub(crate) fn object_name_bytes(text: &str) -> Option<usize> {
    let (mut formats, mut versions) = (Vec::new(), Vec::new());
    for setting in settings(text) {
        let setting = setting?;
        match (setting.section.name.as_str(), setting.section.named, setting.key.as_str()) {
            ("extensions", false, "objectformat") => formats.push(setting.value),
            ("core", false, "repositoryformatversion") => versions.push(setting.value),
            _ => {}
        }
    }
    match (formats.as_slice(), versions.as_slice()) {
        ([], _) | ([Some("sha1")], [Some("1")]) => Some(20),
        ([Some("sha256")], [Some("1")]) => Some(32),
        _ => None,
    }
}

/// A setting in a text of git's.
struct Setting<'t> {
    section: Section,
    /// In small letters.
    key: String,
    /// As it is written; none where there is no `=`.
    value: Option<&'t str>,
}

/// The head of a section.
#[derive(Clone)]
struct Section {
    /// In small letters.
    name: String,
    /// There is a name behind that (`[remote "origin"]`).
    named: bool,
    /// The keys that are plain in it.
    keys: &'static str,
}

/// The settings in their order; none for a line that is not understood.
fn settings(text: &str) -> impl Iterator<Item = Option<Setting<'_>>> {
    let mut section = None;
    text.strip_prefix('\u{feff}').unwrap_or(text).split('\n').filter_map(move |line| {
        let line = line.strip_suffix('\r').unwrap_or(line).trim_matches([' ', '\t']);
        if line.chars().any(|c| c.is_control() && c != '\t') || line.ends_with('\\') {
            // A value that goes on in the next line could hide a section there.
            return Some(None);
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            return None;
        }
        if let Some(rest) = line.strip_prefix('[') {
            section = section_of(rest);
            return section.is_none().then_some(None);
        }
        let key = line.split(['=', ' ', '\t', '#', ';']).next().unwrap_or_default().to_ascii_lowercase();
        let valid = key.starts_with(|c: char| c.is_ascii_alphabetic())
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let value = line.split_once('=').map(|(_, value)| value.trim_matches([' ', '\t']));
        Some(section.clone().filter(|_| valid).map(|section| Setting { section, key, value }))
    })
}

/// The section whose head begins here; a line has nothing behind its head.
fn section_of(rest: &str) -> Option<Section> {
    let (named, name, behind) = if let Some((name, quoted)) = rest.split_once('"') {
        // A name with escapes in it is read by git alone.
        let (subsection, behind) = quoted.split_once('"')?;
        if subsection.contains('\\') || !name.ends_with([' ', '\t']) {
            return None;
        }
        (true, name.trim_matches([' ', '\t']), behind.strip_prefix(']')?)
    } else {
        let (name, behind) = rest.split_once(']')?;
        (false, name, behind)
    };
    if !behind.trim_matches([' ', '\t']).is_empty() {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let table = if named { PLAIN_NAMED } else { PLAIN };
    let keys = table.iter().find(|(section, _)| *section == name).map_or("", |(_, keys)| *keys);
    Some(Section { name, named, keys })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_writes_by_itself_is_plain() {
        for text in [
            "",
            "# nothing\n; here\n",
            "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
            "[remote \"origin\"]\n\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
            "[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n",
            "[user]\n\tname = A \"B\" C # d\n\temail=a@b\r\n",
            "[alias]\n\tst = status\n\tx = !rm x\n",
            "[color \"status\"]\n\tadded = green\n",
            "[CORE]\n\tFileMode = true\n\tbare\n",
            "[extensions]\n\tworktreeConfig = true\n\trefStorage = reftable\n",
        ] {
            assert!(config_is_plain(text), "{text:?}");
        }
    }

    #[test]
    fn the_length_of_names_is_what_the_setting_says_and_nothing_else() {
        for (text, want) in [
            ("", Some(20)),
            ("# sha256\n", Some(20)),
            ("[remote \"sha256\"]\n\turl = sha256\n", Some(20)),
            ("[core]\nrepositoryformatversion = 1\n[extensions]\n\tobjectFormat = sha256\n", Some(32)),
            ("[core]\nrepositoryformatversion = 1\n[extensions]\n\tobjectformat=sha1 \r\n", Some(20)),
            ("[core]\nrepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha1 # sha256\n", None),
            ("[core]\nrepositoryformatversion = 1\n[extensions]\n\tobjectformat = \"sha256\"\n", None),
            ("[core]\nrepositoryformatversion = 1\n[extensions]\n\tobjectformat\n", None),
            (
                "[core]\nrepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n\tobjectformat = sha1\n",
                None,
            ),
            // What other sections say does not count.
            (
                "[core]\nrepositoryformatversion = 1\n[alias]\nobjectformat = sha256\n[lfs]\nrepositoryformatversion = 0\n",
                Some(20),
            ),
            (
                "[core]\nrepositoryformatversion = 1\n[color \"x\"]\nobjectformat = sha256\n[extensions]\nobjectformat = sha1\n",
                Some(20),
            ),
            ("[alias]\nrepositoryformatversion = 1\n[extensions]\nobjectformat = sha256\n", None),
            // Git goes by SHA-1 then.
            ("[extensions]\n\tobjectFormat = sha256\n", None),
            ("[core]\nrepositoryformatversion = 0\n[extensions]\n\tobjectFormat = sha256\n", None),
            (
                "[core]\nrepositoryformatversion = 1\nrepositoryformatversion = 0\n[extensions]\n\tobjectFormat = sha256\n",
                None,
            ),
        ] {
            assert_eq!(object_name_bytes(text), want, "{text:?}");
        }
    }

    #[test]
    fn everything_else_is_not() {
        for text in [
            "[include]\n\tpath = x\n",
            "[includeIf \"gitdir:/\"]\n\tpath = x\n",
            "[filter \"x\"]\n\tclean = x\n",
            "[branch]\n\tsort = signature\n",
            "[tag]\n\tsort = signature\n",
            "[diff \"x\"]\n\tcommand = x\n",
            "[diff \"x\"]\n\ttextconv = x\n",
            "[diff]\n\texternal = x\n",
            "[core]\n\tfsmonitor = x\n",
            "[extensions]\n\trefstorage = files:///x\n",
            "[core]\n\tfsMonitor = true\n",
            "[core]\n\thooksPath = x\n",
            "[core]\n\tpager = x\n",
            "[core]\n\teditor = x\n",
            "[core]\n\tsshCommand = x\n",
            "[core]\n\tworktree = /\n",
            "[core]\n\tattributesFile = x\n",
            "[core]\n\texcludesFile = x\n",
            "[core]\n\talternateRefsCommand = x\n",
            "[core] fsmonitor = x\n",
            "[core]fsmonitor=x",
            "[core]\n\tabbrev = 7 \\\n[x]\n",
            "[pager]\n\tlog = x\n",
            "[gpg]\n\tprogram = x\n",
            "[gpg \"ssh\"]\n\tprogram = x\n",
            "[log]\n\tshowSignature = true\n",
            "[format]\n\tpretty = %G?\n",
            "[pretty]\n\tx = %G?\n",
            "[credential]\n\thelper = x\n",
            "[interactive]\n\tdiffFilter = x\n",
            "[extensions]\n\tpartialClone = origin\n",
            "[remote \"origin\"]\n\tpromisor = true\n",
            "[remote \"origin\"]\n\tuploadpack = x\n",
            "[remote \"origin\"]\n\tvcs = x\n",
            "[submodule \"x\"]\n\turl = y\n",
            "[submodule]\n\trecurse = true\n",
            "[mailmap]\n\tfile = /etc/passwd\n",
            "[blame]\n\tignoreRevsFile = x\n",
            "[url \"ext::x\"]\n\tinsteadOf = y\n",
            "[core.x]\n\tbare = false\n",
            "[remote \"a\\\"b\"]\n\turl = x\n",
            "[remote\"a\"]\n\turl = x\n",
            "[core]\n\tbare = false\u{0}\n",
            "[core]\r\tbare = false\rfsmonitor = x\n",
            "bare = false\n",
            "[core\n",
            "[core]\n\t= x\n",
            "[core]\n\tfs_monitor = x\n",
        ] {
            assert!(!config_is_plain(text), "{text:?}");
        }
        assert!(!config_is_plain(&"#".repeat(MAX_BYTES + 1)));
    }
}
