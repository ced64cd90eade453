//! Tables of programs: what each does with its arguments. Names are separated by white space.
//!
//! Options come from the manuals of the programs.

use super::names::Names;

/// Programs that run their arguments or their input, or can be made to. What the builtins of bash do stands in a
/// table of its own.
pub(super) static CARRIERS: Names = Names::of(&[
    // Programs whose arguments are a command.
    "env sudo doas su runuser sg newgrp dpkg-architecture setpriv capsh pkexec xargs parallel timeout nice ionice chrt taskset",
    "nohup setsid setarch linux32 linux64 stdbuf unbuffer watch flock script unshare nsenter chroot",
    "fakeroot bwrap firejail prlimit numactl systemd-run start-stop-daemon run-parts",
    "dbus-run-session cgexec strace ltrace gdb lldb perf valgrind rlwrap expect tmux screen at batch",
    "crontab entr watchexec fd fdfind direnv nix-shell nix npx bunx uvx pipx ssh sshpass socat nc",
    "ncat busybox toybox cross-env multitime hyperfine chpst softlimit cpulimit choom chronic ts mispipe pee",
    "msgexec msgfilter ifne dtach systemd-inhibit concurrently nodemon kcov",
    "ssh-agent dbus-launch editor sensible-editor pager sensible-pager vimdiff rvim",
    "sponge xvfb-run faketime proxychains torsocks ld.so ld-linux-x86-64.so ld-linux-aarch64.so",
    "ld-linux.so rsync scp sftp git-shell",
    // Programs whose arguments are a program text, and editors and pagers with a shell in them.
    "awk gawk mawk nawk m4 dc ed ex vi vim view nvim emacs emacsclient nano less more man info tclsh",
    "wish osascript sqlite3 psql mysql",
]);

/// Interpreters: their first argument is a script, or an option with code behind it.
pub(super) static INTERPRETERS: Names = Names::of(&[
    "sh bash dash zsh ksh mksh fish ash csh tcsh rbash pwsh python pypy perl ruby node nodejs php",
    "lua luajit rscript julia guile elixir erl escript groovy scala swift ocaml racket java tsx",
    "ts-node jshell ipython ipython3 sbcl ghci irb iex raku nu elvish xonsh bash-static",
]);

/// Programs that obey files of the workspace.
pub(super) static RUNS_WORKSPACE: Names = Names::of(&[
    "git gh hg jj svn cargo rustc rustup npm pnpm yarn bun deno make gmake cmake ninja meson bazel",
    "buck2 just task pytest tox nox pip uv poetry pipenv hatch ruff mypy pre-commit rake bundle gem",
    "rspec gradle gradlew mvn ant sbt go dotnet mix rebar cabal stack dune zig jest vitest tsc",
    "eslint prettier vite webpack composer phpunit ctest gcc g++ cc c++ clang clang++ cpp c89 c99 gfortran prove",
    "rustdoc dpkg-buildpackage debuild docker podman buildah",
    "docker-compose terraform ansible ansible-playbook helm kubectl vagrant nextest trunk nx lerna rush turbo",
]);

/// Programs whose arguments are never run, so that a denied name among them is only text.
pub(super) static INERT: Names = Names::of(&[
    "cat head tail wc ls pwd stat file du df echo mkdir rmdir touch cp mv ln rm chmod grep egrep",
    "fgrep cut tr uniq nl tac basename dirname realpath readlink true false cd diff cmp sleep date",
    "which whoami id uname",
]);

/// Subcommands of git whose arguments are never run.
pub(super) static INERT_GIT: Names = Names::of(&["add commit status diff log show branch tag mv rm blame"]);

/// Programs of `INERT` that change what they name, or where what follows happens.
pub(super) static WRITERS: Names = Names::of(&["mkdir rmdir touch cp mv ln rm chmod cd uniq"]);

/// Subcommands of git that a star may stand for, together with what follows them.
pub(super) static PLAIN_GIT: Names = Names::of(&[
    "add am apply blame branch checkout cherry-pick clean commit describe diff fetch log",
    "ls-files merge merge-base mv pull push rebase reflog remote reset restore rev-list rev-parse revert rm",
    "shortlog show stash status switch tag version worktree",
]);

/// Long options of programs that name a program to run or a file to write: never behind a star, nor shortened.
pub(super) const RISKY_LONG: &[(&str, &str)] = &[
    ("diff3", "diff-program"),
    ("sdiff", "diff-program output"),
    ("shuf", "output"),
    ("iconv", "output"),
    ("csplit", "prefix"),
    ("xmllint", "output shell"),
    ("xsltproc", "output writesubtree"),
    ("ar", "plugin"),
    ("gcc-ar", "plugin"),
    ("nm", "plugin"),
    ("gcc-nm", "plugin"),
    ("ranlib", "plugin"),
    ("gcc-ranlib", "plugin"),
    ("size", "plugin"),
    (
        "git",
        "exec exec-path upload-pack receive-pack ext-diff textconv open-files-in-pager output config \
     config-env template separate-git-dir git-dir work-tree extcmd paginate strategy gpg-sign edit \
     contents file interactive edit-todo unsafe-paths build-fake-ancestor pathspec-from-file no-index ignore-revs-file output-directory sign signed local-user \
     reedit-message",
    ),
    ("tar", OF_TAR),
    ("gtar", OF_TAR),
    ("bsdtar", OF_TAR),
    ("zip", "unzip-command"),
    ("split", "filter"),
    ("install", "strip-program"),
    (
        "curl",
        "config output output-dir remote-name trace trace-ascii cookie-jar dump-header libcurl etag-save hsts \
     alt-svc stderr",
    ),
    (
        "wget",
        "execute config use-askpass output-document input-file output-file append-output directory-prefix \
     save-cookies warc-file hsts-file rejected-log",
    ),
    ("cargo", "config"),
    ("make", "eval file makefile directory include-dir"),
    ("gmake", "eval file makefile directory include-dir"),
    ("npm", "script-shell node-options userconfig globalconfig call"),
    ("pnpm", "script-shell node-options config"),
    // A kubeconfig names programs that fetch credentials (kubernetes.io, "client-go credential plugins").
    ("kubectl", "kubeconfig kuberc"),
    ("helm", "kubeconfig"),
    ("pandoc", "filter lua-filter defaults output extract-media pdf-engine"),
    ("patch", "output reject-file ed directory get"),
    ("gpg", "output photo-viewer agent-program dirmngr-program keyboxd-program exec-path options homedir"),
    ("prove", "exec source formatter harness archive"),
    ("rustdoc", "test-runtool test-builder runtool output out-dir"),
    ("dpkg-buildpackage", "root-command check-command sign-command hook-"),
    ("debuild", "root-command check-command sign-command hook- preserve-envvar set-envvar"),
];

const OF_TAR: &str = "to-command checkpoint-action use-compress-program rsh-command rmt-command info-script \
     new-volume-script files-from absolute-names absolute-paths";

/// Short options of the same kind.
pub(super) const RISKY_SHORT: &[(&str, &str)] = &[
    ("git", "O"),
    ("tar", "IFTP"),
    ("gtar", "IFTP"),
    ("bsdtar", "IFTP"),
    ("zip", "T"),
    ("curl", "KoOcD"),
    ("wget", "eOioaP"),
    ("cargo", "Z"),
    ("make", "fCIE"),
    ("gmake", "fCIE"),
    ("cmake", "EP"),
    ("pandoc", "FLdo"),
    ("patch", "edgor"),
    ("gpg", "o"),
    ("prove", "eaPI"),
    ("rustdoc", "Co"),
    ("dpkg-buildpackage", "rpRj"),
    ("debuild", "rpRe"),
    ("tcpdump", "zw"),
    ("ssh-keygen", "Dw"),
    ("sdiff", "o"),
    ("shuf", "o"),
    ("iconv", "o"),
    ("csplit", "f"),
    ("as", "o"),
    ("xsltproc", "o"),
    ("dot", "oO"),
    ("flex", "o"),
    ("bison", "o"),
    ("7z", "o"),
    ("unzip", "d:"),
    ("pg_dump", "f"),
    ("mysqldump", "r"),
];

/// Short options of git's subcommands of the same kind: they name a file to read or write, a key, a strategy (which is a
/// program), or open an editor.
pub(super) const RISKY_GIT: &[(&str, &str)] = &[
    ("add", "e"),
    ("am", "S"),
    ("archive", "o"),
    ("blame", "S"),
    ("cherry-pick", "eSs"),
    ("clean", "x"),
    ("clone", "c"),
    ("commit", "FSect"),
    ("difftool", "x"),
    ("format-patch", "o"),
    ("grep", "f"),
    ("merge", "FSes"),
    ("notes", "Fc"),
    ("pull", "Ses"),
    ("rebase", "Ssix"),
    ("revert", "eSs"),
    ("tag", "Fesu"),
];

/// Options of the same kind where one dash stands before a whole name. (Those that run something stand in the table of
/// carriers.)
pub(super) const RISKY_NAMES: &[(&str, &str)] = &[
    ("ld", "plugin"),
    ("ld.bfd", "plugin"),
    ("ld.gold", "plugin"),
    ("gold", "plugin"),
    ("openssl", "out writerand keyout"),
    ("tsc", "outDir outFile declarationDir"),
    ("esbuild", "outfile outdir"),
];

/// Variables of makefiles that name a program, or another makefile: GNU make 4.3 manual, 10.3 and 5.7, GNU coding
/// standards, 7.2.3.
pub(super) static PROGRAM_VARIABLES: Names = Names::of(&[
    "MAKE MAKEFILES MAKEFLAGS AR AS LD NM CPP FC F77 M2C PC CO GET LEX YACC FLEX BISON LINT MAKEINFO TEX TEXI2DVI WEAVE",
    "CWEAVE TANGLE CTANGLE RM CP MV LN INSTALL MKDIR SED AWK GREP STRIP RANLIB OBJCOPY OBJDUMP PERL PYTHON PYTHON3 PIP",
    "PYTEST RUBY NODE NPM NPX YARN PNPM GO GOFMT CARGO RUSTC JAVA JAVAC DOCKER SUDO EDITOR PAGER BROWSER CURL WGET GIT TAR",
]);

/// Variables by which tools find the parts that they run, their settings or their libraries: GCC 12 manual, 3.21; rsync(1),
/// svn(1), cvs(1), less(1), hg(1), iconv(1), openssl-config(5), perlrun(1), bundle-config(1), pip, uv and .NET.
pub(super) static OBEYED_VARIABLES: Names = Names::of(&[
    "COMPILER_PATH GCC_EXEC_PREFIX RSYNC_RSH SVN_SSH CVS_RSH LESSOPEN LESSCLOSE HGRCPATH GCONV_PATH OPENSSL_CONF",
    "OPENSSL_MODULES OPENSSL_ENGINES PERLLIB BUNDLE_GEMFILE PIP_CONFIG_FILE UV_CONFIG_FILE DOTNET_STARTUP_HOOKS",
]);

/// How the names of other such variables end: `HOSTCC`, `CROSS_COMPILE`, `CMAKE_C_COMPILER`, `TEST_RUNNER`.
pub(super) const PROGRAM_ENDINGS: &str = "CC CXX COMPILE COMPILER LAUNCHER PROGRAM EXECUTABLE SHELL CMD COMMAND LINKER \
                                          RUNNER EMULATOR";

/// Programs beyond those of `INERT` that run none of their arguments.
pub(super) static RUN_NO_ARGUMENT: Names = Names::of(&[
    ": exit return shift break continue dirs pushd popd jobs fg bg kill times type umask ulimit disown suspend logout",
    "caller help jq yq tee dd truncate chown chgrp sha256sum sha1sum sha512sum md5sum cksum gzip gunzip zcat bzip2",
    "bunzip2 xz unxz zstd unzip zip zipinfo tar curl wget ps top pgrep pkill killall free uptime hostname lsof ss",
    "netstat ping dig host nslookup systemctl journalctl apt apt-get apt-cache apt-mark dpkg dpkg-query mktemp seq shuf",
    "paste join comm column fold fmt expand unexpand tsort yes printenv groups who w last getent nm objdump",
    "readelf strings base64 base32 openssl gpg xxd hexdump od patch shellcheck tree rsync split install sort rg",
    "csplit sync stty tty clear tput locale localedef iconv dos2unix unix2dos file ar ranlib strip size c++filt",
    "addr2line mkfifo mknod link unlink shred pandoc envsubst gettext ldconfig lscpu lsblk mount umount zgrep egrep",
    "fgrep rgrep ack ag bat batcat fzf delta cloc tokei scc exa eza lsd nl vdir dir logger",
    "python-config pkg-config pkgconf nproc arch aws createdb dropdb createuser dropuser pg_isready pg_dump pg_restore",
]);

/// Programs that write a file beside the one that they are given, without the ending of its compression.
pub(super) static UNPACKERS: Names = Names::of(&[
    "gunzip gzip uncompress bunzip2 bzip2 lbzip2 lbunzip2 pbzip2 pbunzip2 unxz xz unzstd zstd unlzma lzma pigz unpigz lz4 unlz4 brotli lzop lzip gpg",
]);

/// Directories whose programs count by their name.
pub(super) static SYSTEM_DIRECTORIES: Names = Names::of(&["/bin /usr/bin /usr/local/bin /sbin /usr/sbin"]);

/// Whether a short table of names has `word`.
pub(super) fn has(table: &[&str], word: &str) -> bool {
    table.iter().flat_map(|names| names.split_ascii_whitespace()).any(|name| name == word)
}

/// What a table says of `program`.
pub(super) fn row(table: &[(&str, &'static str)], program: &str) -> Option<&'static str> {
    table.iter().find(|(name, _)| *name == program).map(|(_, value)| *value)
}
