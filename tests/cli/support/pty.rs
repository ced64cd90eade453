//! The program on a terminal of its own: keys in, a screen out.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::FAILSAFE;
use super::screen::Screen;

/// A program on a terminal.
pub(crate) struct Pty {
    child: Child,
    /// The other side of the terminal.
    master: File,
    /// Kept open, to look at the terminal's modes after the program is gone.
    terminal: Option<OwnedFd>,
    output: Receiver<Vec<u8>>,
    pub(crate) screen: Screen,
}

impl Pty {
    /// Starts it; the terminal is its controlling one, so that it is told of changes of its size.
    pub(crate) fn start(command: &Command, width: u16, height: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let terminal = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
        tcsetwinsize(&master, size(width, height)).unwrap();
        let mut wrapped = super::bare(std::path::Path::new("/"), "setsid");
        wrapped.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        wrapped
            .env("TERM", "xterm-256color")
            .arg("--ctty")
            .arg(command.get_program())
            .args(command.get_args());
        let side = || Stdio::from(terminal.try_clone().unwrap());
        let child = wrapped.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        let master = File::from(master);
        let mut reader = master.try_clone().unwrap();
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 65536];
            while let Ok(read @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        let screen = Screen::new(width.into(), height.into());
        Self { child, master, terminal: Some(terminal), output, screen }
    }

    pub(crate) fn pid(&self) -> rustix::process::Pid {
        rustix::process::Pid::from_child(&self.child)
    }

    /// Types.
    pub(crate) fn keys(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    /// The terminal has another size from now on.
    pub(crate) fn resize(&mut self, width: u16, height: u16) {
        self.screen.resize(width.into(), height.into());
        tcsetwinsize(&self.master, size(width, height)).unwrap();
    }

    /// Reads until the screen is as it should be.
    #[track_caller]
    pub(crate) fn until(&mut self, what: &str, mut seen: impl FnMut(&Screen) -> bool) {
        let deadline = Instant::now() + FAILSAFE;
        while !seen(&self.screen) {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.screen.feed(&bytes),
                Err(error) => panic!("{what}: {error}\n{}", self.screen.text()),
            }
        }
    }

    /// Reads until the text stands on the screen.
    #[track_caller]
    pub(crate) fn until_text(&mut self, text: &str) {
        self.until(text, |screen| screen.text().contains(text));
    }

    /// Presses a key that counts only once the screen has stood for a moment, until it is taken.
    #[track_caller]
    pub(crate) fn press_until(&mut self, key: &str, taken: &str) {
        let deadline = Instant::now() + FAILSAFE;
        loop {
            self.keys(key);
            let again = Instant::now() + Duration::from_millis(200);
            while let Ok(bytes) = self.output.recv_timeout(again.saturating_duration_since(Instant::now())) {
                self.screen.feed(&bytes);
            }
            if self.screen.text().contains(taken) {
                return;
            }
            assert!(Instant::now() < deadline, "{key} did nothing\n{}", self.screen.text());
        }
    }

    /// Waits for its end: how it ended, and whether the terminal's modes are as they were.
    #[track_caller]
    pub(crate) fn end(&mut self) -> (ExitStatus, bool) {
        let deadline = Instant::now() + FAILSAFE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < deadline, "it goes on\n{}", self.screen.text());
            // It may write to the end, and has to be read.
            while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(20)) {
                self.screen.feed(&bytes);
            }
        };
        let terminal = self.terminal.take().unwrap();
        let modes = tcgetattr(&terminal).unwrap().local_modes;
        // Once nobody has the terminal open, its output ends.
        drop(terminal);
        while let Ok(bytes) = self.output.recv_timeout(FAILSAFE) {
            self.screen.feed(&bytes);
        }
        (status, modes.contains(LocalModes::ICANON | LocalModes::ECHO))
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(width: u16, height: u16) -> Winsize {
    Winsize { ws_row: height, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 }
}
