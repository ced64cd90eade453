//! The read-only commands that agents run most: which flags of theirs are harmless, and which operands are paths.
//!
//! Only what is listed counts. Left out on purpose: whatever writes, runs a program, reads a list of files from a
//! file, follows symlinks while it descends, or never ends (`tail -f`).

use super::line::{Known, Operands, PLAIN};
use super::special;
use crate::permission::commands::names::{Index, Names, index};

/// Diff of directories follows symlinks in them.
const DIFF: Known = Known {
    names: &["diff"],
    flags: DIFF_FLAGS,
    values: "CUW",
    long: &[DIFF_LONG],
    long_values: &["width label"],
    numeric: true,
    files_only: true,
    operands: Operands::Read(special::two),
    ..PLAIN
};
const DIFF_FLAGS: &str = "abBcdeiEnNpqstTuwyZ";
const DIFF_LONG: &str = "brief report-identical-files unified context side-by-side ignore-case ignore-all-space \
                         ignore-space-change ignore-blank-lines text color minimal suppress-common-lines new-file \
                         strip-trailing-cr";

/// With `--no-dereference` it follows none, in directories beneath neither.
pub(super) const DIFF_OF_TREES: Known = Known {
    flags: "abBcdeiEnNpqrstTuwyZ",
    long: &[DIFF_LONG, "recursive no-dereference"],
    recursive: Some('*'),
    files_only: false,
    ..DIFF
};

/// coreutils 9.1, 17.1; to nowhere but the standard output.
pub(super) const TEE: Known = Known {
    flags: "aip",
    long: &["append ignore-interrupts output-error"],
    operands: Operands::Read(special::nowhere),
    ..PLAIN
};

/// coreutils 9.1, 12.3. Rights are not chosen. (`touch` is left out: it changes times, which build tools go by.)
pub(super) const MKDIR: Known = Known { flags: "pv", long: &["parents verbose"], ..PLAIN };

/// glibc locale(1): no operand names a file. Left out: `-m`, which unpacks each table of characters with the gzip of `PATH`.
pub(super) const LOCALE: Known = Known {
    flags: "ack",
    long: &["all-locales category-name keyword-name"],
    operands: Operands::Text,
    ..PLAIN
};

const TABLE: &[Known] = &[
    // coreutils 9.1, 10.1.
    Known {
        names: &["ls"],
        flags: "aAbBcCdfFghGiklmnNopqQrRsStuUvxX1Z",
        values: "Iw",
        long: &[
            "all almost-all human-readable size reverse directory classify color inode full-time recursive \
               group-directories-first numeric-uid-gid no-group",
        ],
        long_values: &["sort time time-style format ignore block-size width"],
        recursive: Some('R'),
        targets: special::targets_of_ls,
        operands: Operands::PathsOrHere,
        ..PLAIN
    },
    // 19.1.
    Known { names: &["pwd"], flags: "LP", operands: Operands::None, ..PLAIN },
    // 3.1 to 3.4.
    Known {
        names: &["cat"],
        flags: "AbeEnstTuv",
        long: &["number number-nonblank show-all show-ends show-tabs show-nonprinting squeeze-blank"],
        ..PLAIN
    },
    Known { names: &["tac"], ..PLAIN },
    Known { names: &["nl"], flags: "p", values: "bdfhilnsvw", ..PLAIN },
    Known { names: &["od"], flags: "abcdfiloxv", values: "AjNtS", attached: "w", ..PLAIN },
    // 3.6.
    Known { names: &["base64", "base32"], flags: "di", values: "w", operands: Operands::Paths(1), ..PLAIN },
    // 4.1, 4.2.
    Known { names: &["fmt"], flags: "cstu", values: "w", numeric: true, ..PLAIN },
    Known { names: &["fold"], flags: "bs", values: "w", numeric: true, ..PLAIN },
    // 5.1, 5.2.
    Known {
        names: &["head"],
        flags: "qvz",
        values: "nc",
        long: &["quiet silent verbose"],
        long_values: &["lines bytes"],
        numeric: true,
        ..PLAIN
    },
    Known {
        names: &["tail"],
        flags: "qvz",
        values: "nc",
        long: &["quiet silent verbose"],
        long_values: &["lines bytes"],
        numeric: true,
        // `-cf` follows, as `tail +1f` does.
        takes: |_, value| !value.ends_with('f'),
        operands: Operands::Read(special::tail),
        ..PLAIN
    },
    // 6.1, 6.4 to 6.6.
    Known { names: &["wc"], flags: "clmLw", long: &["bytes chars lines words max-line-length"], ..PLAIN },
    Known { names: &["sha256sum", "sha1sum", "sha512sum", "md5sum", "b2sum", "cksum"], flags: "bt", ..PLAIN },
    Known { names: &["sum"], flags: "rs", ..PLAIN },
    // 7.1, 7.3 to 7.5; `-T` and `--compress-program` are left out.
    Known {
        names: &["sort"],
        flags: "bdfgiMhnRrVcCmsuz",
        values: "kt",
        long: &["numeric-sort reverse unique human-numeric-sort version-sort ignore-case stable check \
               general-numeric-sort ignore-leading-blanks"],
        long_values: &["key field-separator"],
        ..PLAIN
    },
    Known {
        names: &["uniq"],
        flags: "cdDiuz",
        values: "fsw",
        long: &["count repeated unique ignore-case"],
        long_values: &["skip-fields skip-chars check-chars"],
        operands: Operands::Paths(1),
        ..PLAIN
    },
    Known { names: &["comm"], flags: "123z", long: &["total"], operands: Operands::Paths(2), ..PLAIN },
    Known { names: &["tsort"], operands: Operands::Paths(1), ..PLAIN },
    // 8.1 to 8.3.
    Known {
        names: &["cut"],
        flags: "nsz",
        values: "bcdf",
        long: &["complement only-delimited"],
        long_values: &["bytes characters delimiter fields output-delimiter"],
        ..PLAIN
    },
    Known {
        names: &["paste"],
        flags: "sz",
        values: "d",
        long: &["serial"],
        long_values: &["delimiters"],
        ..PLAIN
    },
    Known { names: &["join"], flags: "iz", values: "a12ejotv", operands: Operands::Paths(2), ..PLAIN },
    // 9.1 to 9.3.
    Known {
        names: &["tr"],
        flags: "cCdst",
        long: &["delete squeeze-repeats complement"],
        operands: Operands::Text,
        ..PLAIN
    },
    Known { names: &["expand", "unexpand"], flags: "ai", values: "t", ..PLAIN },
    // 12.4, 14.1 to 14.3.
    Known { names: &["readlink", "realpath"], flags: "efmqsz", ..PLAIN },
    Known {
        names: &["du"],
        flags: "0abchkmsSx",
        values: "dt",
        long: &["all bytes summarize human-readable total apparent-size"],
        long_values: &["max-depth threshold block-size exclude"],
        recursive: Some('*'),
        operands: Operands::PathsOrHere,
        ..PLAIN
    },
    Known {
        names: &["df"],
        flags: "ahHiklPT",
        long: &["human-readable inodes total"],
        operands: Operands::PathsOrHere,
        ..PLAIN
    },
    Known {
        names: &["stat"],
        flags: "fLt",
        values: "c",
        long: &["terse dereference"],
        long_values: &["format printf"],
        ..PLAIN
    },
    // 15.1, 16.1, 16.2, 18.1, 18.2.
    Known { names: &["echo"], operands: Operands::Text, ..PLAIN },
    Known {
        names: &["true", "false", ":", "whoami", "arch", "tty", "logname"],
        operands: Operands::None,
        ..PLAIN
    },
    Known { names: &["nproc"], long: &["all"], operands: Operands::None, ..PLAIN },
    Known { names: &["basename", "dirname"], flags: "az", values: "s", operands: Operands::Text, ..PLAIN },
    // 19.2, 20.1 to 21.6, 25.1, 26.2.
    Known { names: &["printenv"], flags: "0", stops: true, operands: Operands::Text, ..PLAIN },
    Known { names: &["env", "hostname", "groups", "jobs", "times"], operands: Operands::None, ..PLAIN },
    Known { names: &["uname"], flags: "asnrvmpio", operands: Operands::None, ..PLAIN },
    Known { names: &["id"], flags: "ugGnr", operands: Operands::None, ..PLAIN },
    Known {
        names: &["date"],
        flags: "uR",
        attached: "I",
        values: "d",
        long: &["utc iso-8601 rfc-3339 universal"],
        long_values: &["date"],
        // It can name the file of a time zone.
        takes: |_, value| !value.contains("TZ="),
        operands: Operands::Read(special::date_format),
        ..PLAIN
    },
    Known { names: &["sleep"], operands: Operands::Text, ..PLAIN },
    Known { names: &["seq"], flags: "w", values: "fs", operands: Operands::Text, ..PLAIN },
    // 7.2, 20.5, 20.6, 26.1 and numfmt's; `-o` and `--random-source` of shuf, and files of who, are left out.
    Known { names: &["shuf"], flags: "ez", values: "ni", ..PLAIN },
    Known { names: &["users", "who"], operands: Operands::None, ..PLAIN },
    Known { names: &["factor"], operands: Operands::Text, ..PLAIN },
    Known {
        names: &["numfmt"],
        values: "d",
        long: &["header"],
        long_values: &["from to from-unit to-unit field format padding round suffix"],
        operands: Operands::Text,
        ..PLAIN
    },
    // debianutils which(1).
    Known { names: &["which"], flags: "a", operands: Operands::Read(special::programs), ..PLAIN },
    // util-linux 2.38: rev(1), hexdump(1) (without `-e` and `-f`, formats of its own), column(1).
    Known { names: &["rev"], ..PLAIN },
    Known { names: &["hexdump", "hd"], flags: "bcCdovx", values: "ns", ..PLAIN },
    Known {
        names: &["column"],
        flags: "tx",
        values: "csoNHRTW",
        long: &["table"],
        long_values: &["separator output-separator columns"],
        ..PLAIN
    },
    // procps free(1), uptime(1).
    Known { names: &["uptime"], flags: "ps", long: &["pretty since"], operands: Operands::None, ..PLAIN },
    Known { names: &["free"], flags: "bkmghtwl", operands: Operands::None, ..PLAIN },
    // procps 4.0 pgrep(1); `-F` (reads a file) is left out.
    Known {
        names: &["pgrep"],
        flags: "acfilnovwx",
        values: "dgGPstuUO",
        long: &["count full ignore-case list-name list-full newest oldest inverse exact"],
        long_values: &["delimiter group parent session terminal euid uid older"],
        operands: Operands::Text,
        ..PLAIN
    },
    // iproute2 6.1 ss(8); `-D` (writes a file), `-F` (reads one), `-K` (ends connections), `-r` (asks a name server) and `-E`
    // (never ends) are left out.
    Known {
        names: &["ss"],
        flags: "Hnlaoempitux46wOsh",
        long: &["numeric listening all processes tcp udp unix ipv4 ipv6 summary no-header oneline extended"],
        operands: Operands::Read(special::sockets),
        ..PLAIN
    },
    // file(1) 5.44; `-m`, `-C`, `-z` and `-f` are left out.
    Known { names: &["file"], flags: "bihkLN0", long: &["brief mime mime-type mime-encoding"], ..PLAIN },
    // binutils 2.40 strings(1): `@file`, wherever it stands, is a file with more words of the line.
    Known {
        names: &["strings"],
        flags: "af",
        values: "nte",
        numeric: true,
        takes: |_, value| !value.starts_with('@'),
        operands: Operands::Read(special::no_response_files),
        ..PLAIN
    },
    // xxd(1): a second operand would be written, and so does `-r`. Options end at the first operand; of `-ps` and
    // `-px` it takes the first letter and forgets the others. Of letters behind an option with a value it makes another
    // spelling (`-cols`, `-seek`) whose value is the next word.
    Known {
        names: &["xxd"],
        flags: "abCeiuEp",
        values: "cglos",
        long: &["plain ps"],
        stops: true,
        alone: true,
        takes: |_, value| special::is_number(value),
        operands: Operands::Paths(1),
        ..PLAIN
    },
    // diffutils 3.8: cmp(1), diff(1).
    Known {
        names: &["cmp"],
        flags: "bls",
        values: "n",
        long: &["silent quiet verbose"],
        operands: Operands::Paths(2),
        ..PLAIN
    },
    DIFF,
    // grep 3.8; `-f`, `-R` and `-d` are left out.
    Known {
        names: &["grep", "egrep", "fgrep"],
        flags: "EFGPiynwxvcLloqshHrIZzabUT",
        values: "eABCm",
        long: &[
            "extended-regexp fixed-strings perl-regexp ignore-case line-number word-regexp line-regexp invert-match count \
               files-with-matches files-without-match only-matching quiet no-messages with-filename no-filename \
               color colour null text byte-offset recursive",
        ],
        long_values: &[
            "regexp include exclude exclude-dir max-count context after-context before-context binary-files",
        ],
        numeric: true,
        recursive: Some('r'),
        operands: Operands::Pattern(false),
        ..PLAIN
    },
    // ripgrep 14: rg(1). `--pre`, `--hostname-bin`, `-z`, `-L`, `-f` and `--ignore-file` are left out, and `--no-config`:
    // Bash gives it settings under which it prints no lines of ignore files.
    Known {
        names: &["rg"],
        flags: "FilcnNoqsSvwxUHI0aPub.p",
        values: "egtTABCmMdrjE",
        long: &[
            "fixed-strings ignore-case files-with-matches files-without-match count count-matches line-number no-line-number \
               only-matching quiet case-sensitive smart-case invert-match word-regexp line-regexp multiline \
               multiline-dotall with-filename no-filename hidden no-ignore no-heading heading json column trim \
               vimgrep pcre2 null text stats no-messages files pretty byte-offset crlf passthru include-zero \
               glob-case-insensitive one-file-system unrestricted no-ignore-vcs no-ignore-parent no-ignore-dot \
               line-buffered max-columns-preview type-list",
        ],
        long_values: &[
            "regexp glob iglob type type-not after-context before-context context max-count max-columns \
                      max-depth sort sortr color replace max-filesize threads encoding type-add",
        ],
        recursive: Some('*'),
        operands: Operands::Read(special::ripgrep),
        ..PLAIN
    },
    Known {
        names: &["sed"],
        flags: "nErsuz",
        values: "e",
        long: &["quiet silent regexp-extended null-data separate unbuffered"],
        long_values: &["expression"],
        operands: Operands::Read(special::sed),
        ..PLAIN
    },
    // POSIX awk; gawk(1) 5.2, mawk(1).
    Known {
        names: &["awk", "gawk", "mawk"],
        stops: true,
        values: "Fv",
        operands: Operands::Read(special::awk),
        ..PLAIN
    },
    // jq 1.6 manual, "Invoking jq"; `-f`, `-L` and what reads other files are left out.
    Known {
        names: &["jq"],
        flags: "ceCMnrRsSaj",
        long: &[
            "compact-output exit-status color-output monochrome-output null-input raw-output raw-input slurp \
               sort-keys ascii-output join-output tab",
        ],
        long_values: &["indent"],
        operands: Operands::Read(special::jq),
        ..PLAIN
    },
    // tree(1) 2.1; `-o`, `-R` (which writes with `-o`), `-l` (which follows symlinks) and `--fromfile` are left out.
    Known {
        names: &["tree"],
        flags: "adfFisghpuDNqQrtcvUnCASJX",
        values: "LIP",
        apart: true,
        long: &["noreport dirsfirst gitignore prune du si inodes device"],
        long_values: &["filelimit charset"],
        recursive: Some('*'),
        targets: special::targets_of_tree,
        operands: Operands::PathsOrHere,
        ..PLAIN
    },
    // bash 5.2 manual, 4.1 and 4.2; options end at the first operand. `cd` decides where what follows counts from.
    Known {
        names: &["cd"],
        flags: "LP",
        stops: true,
        operands: Operands::Read(special::one_directory),
        ..PLAIN
    },
    Known { names: &["type"], flags: "apPtf", operands: Operands::Read(special::programs), ..PLAIN },
    Known { names: &["umask"], flags: "pS", operands: Operands::None, ..PLAIN },
    Known { names: &["ulimit"], flags: "aHSbcdefiklmnpqrstuvxPRT", operands: Operands::None, ..PLAIN },
    Known { names: &["exit"], operands: Operands::Read(special::status), ..PLAIN },
];

/// What the table has of a program.
pub(super) fn entry(program: &str) -> Option<&'static Known> {
    static ROWS: Index<Known> = Index::new(|| index(TABLE, |known| known.names.iter().copied()));
    ROWS.get(program).copied()
}

/// Programs whose version may be asked for. Left out: whatever is often a proxy that obeys a file of the
/// workspace to find the program that it stands for (`go.mod`, `package.json`, `.ruby-version`, …): pip, npm, yarn, pnpm,
/// ruby; go and java, which write files of their own; gdb, which runs `~/.gdbearlyinit` first; curl, wget and sqlite3, which
/// obey `~/.curlrc` and its like before; and those of [`super::proxies`].
pub(super) static VERSIONED: Names = Names::of(&[
    "git gcc g++ cc c++ clang clang++ make cmake ninja bash tar gzip docker podman ssh jq rg fd",
    "tree find sed grep awk gawk ls cat head tail wc sort diff file xxd openssl pkg-config ld as strace tmux",
]);

/// Programs that `--help` alone makes print their options, and nothing else (seen under a tracer).
pub(super) static HELPFUL: Names = Names::of(&[
    "ls cat tac nl od base64 base32 fmt fold head tail wc sha256sum sha1sum sha512sum md5sum cksum sort uniq comm tsort",
    "cut paste join tr expand unexpand readlink realpath du df stat whoami arch tty logname nproc basename dirname",
    "printenv groups uname id date sleep seq rev hexdump column uptime free file strings cmp diff grep egrep fgrep rg sed",
    "jq tree find cp mv rm mkdir touch rmdir ln chmod tee mktemp gcc tar gzip make",
]);

/// Programs that read no file of their user's home but protected ones (seen under a tracer), whatever they are run for.
pub(super) static READING_NO_HOME: Names = Names::of(&[
    "ls pwd cat tac nl od base64 base32 fmt fold head tail wc sha256sum sha1sum sha512sum md5sum b2sum cksum",
    "sort uniq comm tsort cut paste join tr expand unexpand readlink realpath du df stat echo printf test [ true false",
    ": whoami arch tty logname nproc basename dirname printenv env hostname groups jobs times uname id date sleep",
    "seq which rev uptime free pgrep ss strings xxd cmp diff grep egrep fgrep rg sed awk gawk mawk tree find xargs",
    "cd set type command umask ulimit exit locale tee mkdir rmdir touch cp mv rm ln chmod mktemp",
    "git tar gzip gunzip zcat gcc g++ cc c++ make sh bash dash ld as ps expr sum time timeout nice shuf factor numfmt",
]);
