//! Makes bash programs after its grammar, from plain to odd.

use crate::carriers;
use crate::random::Random;
use crate::sandbox::{FAILS, STAND_INS};
use crate::spelling;
use crate::tools;

/// Makes one program.
pub(crate) fn program(random: &mut Random) -> String {
    let spice = random.pick(&[0, 0, 1, 3, 8, 25]);
    let mut maker = Maker { random, spice, out: String::new(), documents: Vec::new(), room: 24 };
    if maker.random.chance(25) {
        return maker.apart(|maker| if maker.random.chance(30) { maker.command(0) } else { maker.simple(0) });
    }
    let lines = 1 + maker.random.below(3);
    for line in 0..lines {
        if line > 0 {
            maker.end_line();
        }
        maker.list(0);
        if maker.odd() {
            maker.out += " # it's a `comment` $(";
        }
    }
    if !maker.documents.is_empty() || maker.random.chance(10) {
        maker.end_line();
    }
    maker.out
}

struct Maker<'r> {
    random: &'r mut Random,
    /// In how many of 100 cases something unusual is written.
    spice: usize,
    out: String,
    /// Here-documents that begin at the next end of a line.
    documents: Vec<Document>,
    /// Commands that may still be made.
    room: usize,
}

struct Document {
    end: String,
    body: String,
}

impl Maker<'_> {
    fn odd(&mut self) -> bool {
        self.random.chance(self.spice)
    }

    fn say(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn gap(&mut self) {
        let blank = spelling::blank(self.random, self.spice);
        self.say(blank);
    }

    fn end_line(&mut self) {
        let end = if self.random.chance(self.spice / 4) { "\r\n" } else { "\n" };
        self.say(end);
        for document in std::mem::take(&mut self.documents) {
            self.out += &document.body;
            self.out += &document.end;
            self.out.push('\n');
        }
    }

    /// What `make` writes, as a text of its own in which every here-document has ended.
    fn apart(&mut self, make: impl FnOnce(&mut Self)) -> String {
        let out = std::mem::take(&mut self.out);
        let documents = std::mem::take(&mut self.documents);
        make(self);
        if !self.documents.is_empty() {
            self.end_line();
        }
        self.documents = documents;
        std::mem::replace(&mut self.out, out)
    }

    fn list(&mut self, depth: usize) {
        let commands = 1 + self.random.below(if depth == 0 { 3 } else { 2 });
        for number in 0..commands {
            if number > 0 {
                self.separator();
            }
            self.pipeline(depth);
        }
        if self.odd() {
            let end = self.random.pick(&[";", "&", " ;", " &"]);
            self.say(end);
        }
    }

    fn separator(&mut self) {
        match self.random.below(12) {
            0..=2 => self.say(" && "),
            3 | 4 => self.say("; "),
            5 => self.say(" || "),
            6 => self.say(" & "),
            7 => self.end_line(),
            8 if self.spice > 0 => self.say("&&"),
            9 if self.spice > 0 => {
                self.say("&&");
                self.end_line();
            }
            10 if self.odd() => self.say(" &\\\n& "),
            _ => self.say(";"),
        }
    }

    fn pipeline(&mut self, depth: usize) {
        if self.odd() {
            let front = self.random.pick(&["! ", "time ", "time -p ", "! ! ", "time ! ", "!\t", "time -- "]);
            self.say(front);
        }
        self.command(depth);
        while self.random.chance(14) {
            let pipe = if self.odd() { self.random.pick(&["|&", "|", " |\n", "|\\\n"]) } else { " | " };
            self.say(pipe);
            self.command(depth);
        }
    }

    fn command(&mut self, depth: usize) {
        if self.random.chance(7) {
            let tool = tools::call(self.random);
            self.say(&tool);
            return;
        }
        if self.room == 0 || depth > 4 {
            self.say("p1");
            return;
        }
        self.room -= 1;
        let kind = self.random.below(100);
        if kind < 62 || (self.spice == 0 && kind < 75) {
            self.simple(depth);
        } else if kind < 78 {
            let words = self.apart(Self::bare);
            let text = self.apart(|maker| maker.list(depth + 1));
            let carrier = carriers::carried(self.random, &words, &text);
            self.say(&carrier);
        } else {
            self.compound(depth);
            if self.random.chance(10) {
                self.redirection(depth);
            }
        }
    }

    /// A name and plain arguments.
    fn bare(&mut self) {
        self.name();
        for _ in 0..self.random.below(3) {
            self.say(" ");
            let word = spelling::plain(self.random);
            self.say(&word);
        }
    }

    fn name(&mut self) {
        let name = if self.random.chance(8) { FAILS } else { self.random.pick(STAND_INS) };
        let name = if self.random.chance(30) { self.random.pick(&["p1", "p2", "rm"]) } else { name };
        let text = match self.random.below(100) {
            0..=2 => format!("/bin/{name}"),
            3 => format!("/usr/bin/{name}"),
            4 => format!("/usr/../bin/./{name}"),
            5 => "sub/p1".to_owned(),
            6 if self.spice > 0 => format!("{{{name},a}}"),
            7 if self.spice > 0 => format!("v={name}; $v"),
            8 if self.spice > 0 => "p?".to_owned(),
            9..=14 if self.spice > 0 => spelling::spelt(name, self.random),
            15..=18 => {
                self.random.pick(&["echo", "printf", ":", "true", "test", "cat", "head", "cd"]).to_owned()
            }
            _ if self.odd() => spelling::spelt(name, self.random),
            _ => name.to_owned(),
        };
        self.say(&text);
    }

    fn word(&mut self, depth: usize) {
        if self.odd() || self.random.chance(self.spice.min(5)) {
            let inner = self.apart(|maker| maker.command(depth + 1));
            let word = spelling::expanding(self.random, &inner);
            self.say(&word);
        } else if self.odd() {
            let word = spelling::spelt("abc", self.random);
            self.say(&word);
        } else {
            let word = spelling::plain(self.random);
            self.say(&word);
        }
    }

    fn simple(&mut self, depth: usize) {
        while self.odd() {
            self.assignment(depth);
            self.say(" ");
        }
        if self.odd() {
            self.redirection(depth);
            self.say(" ");
        }
        self.name();
        for _ in 0..self.random.below(4) {
            self.gap();
            if self.random.chance(7) {
                self.redirection(depth);
            } else {
                self.word(depth);
            }
        }
    }

    fn assignment(&mut self, depth: usize) {
        let front = self.random.pick(&[
            "A=",
            "x=",
            "x+=",
            "a[0]=",
            "a[1+1]+=",
            "PATH=./sub",
            "PATH=sub:",
            "LD_PRELOAD=",
            "IFS=",
            "BASH_ENV=",
            "a=(",
        ]);
        self.say(front);
        match front {
            "PATH=./sub" => {}
            "a=(" => {
                self.word(depth);
                self.say(" b)");
            }
            _ => self.word(depth),
        }
    }

    fn redirection(&mut self, depth: usize) {
        match self.random.below(24) {
            0 | 1 => self.document(depth),
            2 => {
                self.say("<<< ");
                self.word(depth);
            }
            3 | 4 => self.say(
                ["2>&1", ">&2", "2>/dev/null", "</dev/null", "&>/dev/null", "3>&1", "<&-", "3<&0-"]
                    [depth % 8],
            ),
            5 => {
                self.say("< ");
                self.say("in");
            }
            _ => {
                let operator = self.random.pick(&[
                    ">", ">>", ">|", "&>", "&>>", "<>", ">&", "2>", "2>>", "{fd}>", "> ", ">> ", "10>",
                    "1<>", ">&\t", "<",
                ]);
                self.say(operator);
                let target =
                    self.random.pick(&["out", "out.txt", "sub/out", "./out", "/tmp/out", "-rf", "1x", "a"]);
                let target =
                    if self.odd() { spelling::spelt(target, self.random) } else { target.to_owned() };
                self.say(&target);
            }
        }
    }

    fn document(&mut self, depth: usize) {
        let end = self.random.pick(&["E", "EOF", "E", "end of", "E'F", "é", "-"]);
        let quoted = self.random.chance(40) || end.contains([' ', '\'']);
        let dash = self.random.chance(20);
        let written = match self.random.below(3) {
            _ if !quoted => end.to_owned(),
            0 if !end.contains('\'') => format!("'{end}'"),
            1 if !end.contains('\'') => format!("\\{}", end.replace(' ', "\\ ")),
            _ => format!("\"{end}\""),
        };
        self.say(if dash { "<<-" } else { "<<" });
        if self.random.chance(30) {
            self.say(" ");
        }
        self.say(&written);
        let tabs = if dash { "\t" } else { "" };
        let mut body = String::new();
        for _ in 0..self.random.below(3) {
            let inner = self.apart(|maker| maker.command(depth + 2)).replace('\n', ";");
            let line = match self.random.below(6) {
                0 => format!("$({inner})"),
                1 => format!("`{inner}`"),
                2 => format!("${{x:-$({inner})}}"),
                3 => format!("\\$({inner}) \\"),
                4 => "it's \"half".to_owned(),
                _ => inner,
            };
            body.extend([tabs, &line, "\n"]);
        }
        self.documents.push(Document { end: format!("{tabs}{end}"), body });
    }

    fn compound(&mut self, depth: usize) {
        let deeper = depth + 1;
        let inner = self.apart(|maker| maker.list(deeper));
        let other = self.apart(|maker| maker.list(deeper));
        let inner = inner.trim_end_matches([';', '&', ' ']).to_owned();
        let other = other.trim_end_matches([';', '&', ' ']).to_owned();
        let end = if self.odd() || inner.ends_with('\n') || inner.contains('#') { "\n" } else { "; " };
        let text = match self.random.below(36) {
            0 | 1 => format!("{{ {inner}{end}}}"),
            2 | 3 => format!("({inner}\n)"),
            4 => format!("( {inner}{end})"),
            5 | 6 => format!("if {inner}{end}then {other}\nfi"),
            7 => format!("if {FAILS}; then p3; elif {inner}\nthen {other}\nelse p2; fi"),
            8 => format!("while {inner}{end}do {other}\nbreak; done"),
            9 => format!("until {inner}\ndo {other}\nbreak; done"),
            10 => format!("for x in a b; do {inner}{end}done"),
            11 => format!("for x in $({inner}\n) rm; do $x; {other}\ndone"),
            12 => format!("for x; do {inner}\ndone; {other}"),
            13 => format!("for ((i=0; i<2; i++)); do {inner}\ndone"),
            14 => format!("for ((i=$({inner}\n)0; i<1; i++)) {{ {other}\n}}"),
            15 => format!("case a in a) {inner};; *) {other}\nesac"),
            16 => format!("case $({inner}\n) in (x|\"\") {other};& b) p3;;& *) p2; esac"),
            17 => format!("select x in a; do {inner}\nbreak; done <in"),
            18 => format!("[[ -n $({inner}\n) || a == b ]]"),
            19 => format!("[[ a =~ ^(a|b)$ && -v a[$({inner}\n)] ]] && p2"),
            20 => format!("(( x = $({inner}\n)1 ))"),
            21 => format!("(( a[$({inner}\n)0] )) || p1"),
            22 => format!("f() {{ {inner}\n}}; f a"),
            23 => format!("function ls {{ {inner}\n}}; ls x"),
            24 => format!("function f() ( {inner}\n); f"),
            25 => format!("p1() {{ {inner}\n}}\np1 a; command p1 b"),
            26 => format!("shopt -s expand_aliases\nalias ls={}\nls x", carriers::quoted(&inner)),
            27 => format!("coproc {{ {inner}\n}}; {other}"),
            28 => format!("coproc N ( {inner}\n)"),
            29 => format!("test -v 'a[$({})]'", inner.replace('\'', "")),
            30 => format!("printf -v 'a[$({})0]' x", inner.replace('\'', "")),
            31 => format!("declare -i x='a[$({})0]'", inner.replace('\'', "")),
            32 => format!("x='$({})'; : ${{x@P}} $((x))", inner.replace('\'', "")),
            33 | 34 => self.message(&inner),
            _ => self.state(&inner, &other),
        };
        self.say(&text);
    }

    /// A word that is a quoted here-document, as agents write messages, with lines that look like its end.
    fn message(&mut self, inner: &str) -> String {
        let end = self.random.pick(&["E", "EOF"]);
        let written = self.random.pick(&["'", "\""]);
        let inner = inner.replace('\n', "; ");
        let mut body = String::new();
        for _ in 0..=self.random.below(3) {
            let begins = self.random.pick(&["", "", "a ", end, end, "\t", " ", "("]);
            let goes_on = self.random.pick(&["", " ", "<in ", ">out ", ";", "(", ")", " ) ", "x"]);
            let ends = self.random.pick(&["", " ')'", " \\)", " # )", ")", " (:)", "'", "\"", "`"]);
            body.extend([begins, goes_on, &inner, ends, "\n"]);
        }
        let dash = self.random.pick(&["", "", "", "-"]);
        format!("p1 -m \"$(cat <<{dash}{written}{end}{written}\n{body}{end}\n)\"")
    }

    /// Settings of the shell that change what later words mean.
    fn state(&mut self, inner: &str, other: &str) -> String {
        match self.random.below(14) {
            0 => format!("set -- rm a; \"$@\"; {inner}"),
            1 => format!("hash -p sub/p1 p1; p1; {inner}"),
            2 => format!("export PATH=sub:$PATH; {inner}"),
            3 => format!("enable -n echo; echo a; {inner}"),
            4 => format!("set -o posix; {inner}"),
            5 => format!("set -k; p1 A=b; {inner}"),
            6 => format!("IFS=,; x=rm,a; $x; {inner}"),
            7 => format!("shopt -s extglob; {inner}\np1 @(a|b)"),
            8 => format!("cd sub; {inner}"),
            9 => format!("command_not_found_handle() {{ {inner}\n}}; nosuch x; {other}"),
            10 => format!("readonly x=$({inner}\n); export y=`p1`"),
            11 => format!("let 'a[$({})0]=1'", inner.replace('\'', "")),
            12 => format!("exec >out; {inner}"),
            _ => format!("read x <<< rm; $x a; {inner}"),
        }
    }
}
