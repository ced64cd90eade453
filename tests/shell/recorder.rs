//! What the kernel was asked for, out of the words of `strace`: which programs started, which files a shell opened.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::driver::{MARK, PAUSE};

/// The calls that are recorded, in the words of `strace -e`.
pub(crate) const CALLS: &str =
    "trace=?execve,?execveat,?open,?creat,?openat,?openat2,?clone,?clone3,?fork,?vfork";

/// What one program of a batch did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Every program that started, but for the bash that ran the text.
    pub(crate) ran: Vec<Ran>,
    /// Every file that a shell opened for a redirection.
    pub(crate) opened: Vec<Opened>,
    /// Every file that another program opened to write, where it lies.
    pub(crate) written: Vec<String>,
}

/// A program that started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) path: String,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<String>,
    /// The program that the process ran before, or that made the process.
    pub(crate) parent: String,
}

/// A file that a shell opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opened {
    /// As the shell asked for it, and where it lies.
    pub(crate) path: String,
    pub(crate) real: String,
    pub(crate) writes: bool,
}

impl Ran {
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// The program's name and what it got behind its own.
    pub(crate) fn words(&self) -> Vec<String> {
        let name = std::iter::once(self.name().to_owned());
        name.chain(self.arguments.iter().skip(1).cloned()).collect()
    }
}

/// Reads a record. The last program counts only when the record goes on behind it.
pub(crate) fn read(trace: &Path, programs: usize) -> Vec<Outcome> {
    let mut reading = Reading::default();
    let Ok(file) = std::fs::File::open(trace) else { return Vec::new() };
    for line in BufReader::new(file).lines() {
        reading.line(&line.unwrap());
    }
    reading.done.truncate(programs);
    reading.done
}

#[derive(Default)]
struct Reading {
    done: Vec<Outcome>,
    /// The outcome of the program that runs.
    current: Option<Outcome>,
    /// The bash that runs the text has started.
    rooted: bool,
    /// The name of the program that each process runs.
    images: HashMap<u32, String>,
    /// The calls of the program that runs, and where the one is that a process has only begun.
    calls: Vec<(u32, String)>,
    begun: HashMap<u32, usize>,
}

impl Reading {
    fn line(&mut self, line: &str) {
        let Some((pid, text)) = line.split_once(' ') else { return };
        let Ok(pid) = pid.parse::<u32>() else { return };
        let text = text.trim_start();
        if let Some((_, mark)) = text.split_once(MARK) {
            self.settle();
            self.done.extend(self.current.take());
            self.current = (!mark.starts_with(PAUSE)).then(Outcome::default);
        } else if let Some(begun) = text.strip_suffix(" <unfinished ...>") {
            self.begun.insert(pid, self.calls.len());
            self.calls.push((pid, begun.to_owned()));
        } else if let Some((_, rest)) =
            text.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>"))
        {
            if let Some((_, begun)) = self.begun.remove(&pid).and_then(|at| self.calls.get_mut(at)) {
                begun.push_str(rest);
            }
        } else if self.current.is_some() {
            self.calls.push((pid, text.to_owned()));
        }
    }

    /// Goes through the calls of a program in the order in which they began: a child may do much before the call
    /// that made it has ended.
    fn settle(&mut self) {
        self.begun.clear();
        self.images.clear();
        self.rooted = false;
        for (pid, text) in std::mem::take(&mut self.calls) {
            self.call(pid, &text);
        }
    }

    fn call(&mut self, pid: u32, text: &str) {
        let Some((name, rest)) = text.split_once('(') else { return };
        let Some((arguments, result)) = rest.rsplit_once(" = ") else { return };
        let result = result.split(' ').next().unwrap_or_default();
        // A descriptor has its file behind it.
        let (result, file) = result.split_once('<').unwrap_or((result, ""));
        let result: i64 = result.parse().unwrap_or(-1);
        match name {
            "execve" | "execveat" if result == 0 => self.started(pid, arguments),
            "clone" | "clone3" | "fork" | "vfork" => {
                if let (Ok(child), Some(image)) = (u32::try_from(result), self.images.get(&pid).cloned()) {
                    self.images.insert(child, image);
                }
            }
            "open" | "creat" | "openat" | "openat2" if result >= 0 => {
                self.opened(pid, name, arguments, file.trim_end_matches('>'));
            }
            _ => {}
        }
    }

    fn started(&mut self, pid: u32, text: &str) {
        let lists = Lexer::lists(text);
        let [path, arguments, environment] = lists.as_slice() else { return };
        let Some(path) = path.first() else { return };
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        let parent = self.images.insert(pid, name).unwrap_or_default();
        let Some(current) = &mut self.current else { return };
        if !std::mem::replace(&mut self.rooted, true) {
            return;
        }
        current.ran.push(Ran {
            path: path.clone(),
            arguments: arguments.clone(),
            environment: environment.clone(),
            parent,
        });
    }

    fn opened(&mut self, pid: u32, call: &str, text: &str, real: &str) {
        let lists = Lexer::lists(text);
        let Some(path) = lists.iter().flatten().next() else { return };
        let flags = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"];
        let writes = call == "creat" || flags.iter().any(|flag| text.contains(flag));
        let (Some(image), Some(current)) = (self.images.get(&pid), &mut self.current) else { return };
        if text.contains("O_DIRECTORY") || !is_redirection(path, writes) {
            return;
        }
        if matches!(image.as_str(), "bash" | "sh") {
            current.opened.push(Opened { path: path.clone(), real: real.to_owned(), writes });
        } else if writes {
            current.written.push(real.to_owned());
        }
    }
}

/// Not what the shell opens of itself: libraries, the file behind a here-document, the terminal.
fn is_redirection(path: &str, writes: bool) -> bool {
    let own = ["/tmp/sh-thd", "/dev/tty", "/dev/null", "/dev/fd/", "/dev/std", "/proc/self/fd/"];
    let read = ["/etc/", "/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/share/", "/proc/", "/sys/"];
    !(own.iter().any(|o| path.starts_with(o)) || !writes && read.iter().any(|r| path.starts_with(r)))
}

/// Reads the strings and lists of strings in the arguments of a call.
struct Lexer<'t> {
    bytes: std::iter::Peekable<std::str::Bytes<'t>>,
}

impl<'t> Lexer<'t> {
    /// Each string by itself is a list of one.
    fn lists(text: &'t str) -> Vec<Vec<String>> {
        let mut lexer = Self { bytes: text.bytes().peekable() };
        let mut lists: Vec<Vec<String>> = Vec::new();
        let mut within = false;
        while let Some(byte) = lexer.bytes.next() {
            match byte {
                b'[' => {
                    within = true;
                    lists.push(Vec::new());
                }
                b']' => within = false,
                b'"' => {
                    let string = lexer.string();
                    if !within {
                        lists.push(Vec::new());
                    }
                    if let Some(list) = lists.last_mut() {
                        list.push(string);
                    }
                }
                _ => {}
            }
        }
        lists
    }

    fn string(&mut self) -> String {
        let mut out = Vec::new();
        while let Some(byte) = self.bytes.next() {
            match byte {
                b'"' => break,
                b'\\' => out.push(self.escape()),
                _ => out.push(byte),
            }
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    fn escape(&mut self) -> u8 {
        match self.bytes.next() {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'v') => 0x0b,
            Some(b'f') => 0x0c,
            Some(b'x') => self.number(16, 2, 0),
            Some(digit @ b'0'..=b'7') => self.number(8, 2, u32::from(digit - b'0')),
            other => other.unwrap_or_default(),
        }
    }

    fn number(&mut self, radix: u32, most: usize, mut value: u32) -> u8 {
        for _ in 0..most {
            let Some(digit) = self.bytes.peek().and_then(|b| char::from(*b).to_digit(radix)) else { break };
            self.bytes.next();
            value = value * radix + digit;
        }
        u8::try_from(value & 0xff).unwrap_or_default()
    }
}
