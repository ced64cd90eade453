//! The terminal as a screen: taken over as a whole, given back whatever happens, keys read as they come.

use std::io::{self, Stdout, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event};
use crossterm::terminal::{self, EnterAlternateScreen, LeaveAlternateScreen};
use crossterm::{cursor, execute};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use tokio::sync::mpsc;

use super::exact::{self, Exact};

/// How often the reader of keys looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(100);
/// How long leaving waits for the reader of keys.
const READER_GRACE: Duration = Duration::from_millis(500);
/// Keys that may wait to be taken; the reader waits at more, and the terminal keeps them.
const KEYS: usize = 64;

/// What the terminal tells.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) event: Event,
    /// Others came with it, as they do when text is pasted.
    pub(super) together: bool,
}

/// The terminal while it is ours; dropping it gives it back.
#[derive(Debug)]
pub(super) struct Screen {
    terminal: Terminal<Exact<CrosstermBackend<Stdout>>>,
    events: mpsc::Receiver<io::Result<Told>>,
    stop: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Screen {
    /// Takes the terminal over.
    pub(super) fn enter() -> io::Result<Self> {
        give_back_on_panic();
        let entered = take_over();
        let started = entered.and_then(|()| {
            let terminal = Terminal::new(Exact(CrosstermBackend::new(io::stdout())))?;
            let (sender, events) = mpsc::channel(KEYS);
            let stop = Arc::new(AtomicBool::new(false));
            let stopped = Arc::clone(&stop);
            let reader = std::thread::Builder::new().name("keys".into());
            let reader = reader.spawn(move || read_keys(&sender, &stopped))?;
            Ok(Self { terminal, events, stop, reader: Some(reader) })
        });
        if started.is_err() {
            give_back();
        }
        started
    }

    /// Draws a frame.
    pub(super) fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let whole = |frame: &mut Frame<'_>| {
            render(frame);
            exact::redraw(frame.buffer_mut());
        };
        self.terminal.draw(whole).map(drop)
    }

    /// Forgets what stands on the terminal, so that the next frame is drawn whole. (`Terminal::clear` asks where the cursor is
    /// first, and not every terminal answers.)
    pub(super) fn clear(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }

    /// The next that the terminal tells; an error when it is gone.
    pub(super) async fn next(&mut self) -> io::Result<Told> {
        self.events.recv().await.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A reader that waits for room would wait for ever.
        self.events.close();
        // One that reads a terminal which has gone away may never come back: it ends with the program.
        let until = Instant::now() + READER_GRACE;
        while self.reader.as_ref().is_some_and(|reader| !reader.is_finished()) && Instant::now() < until {
            std::thread::sleep(LOOK / 10);
        }
        give_back();
    }
}

fn take_over() -> io::Result<()> {
    terminal::enable_raw_mode()?;
    execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)
}

/// What cannot be given back (the terminal is gone) is nobody's any more.
fn give_back() {
    let _ = execute!(io::stdout(), cursor::Show, DisableBracketedPaste, LeaveAlternateScreen);
    let _ = terminal::disable_raw_mode();
    let _ = io::stdout().flush();
}

/// A panic's message must not be written into the screen that is left then.
fn give_back_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        give_back();
        before(info);
    }));
}

fn read_keys(sender: &mpsc::Sender<io::Result<Told>>, stop: &AtomicBool) {
    let mut together = false;
    while !stop.load(Ordering::Relaxed) {
        match event::poll(LOOK) {
            Ok(false) => {
                together = false;
                continue;
            }
            Ok(true) => {}
            Err(error) => {
                let _ = sender.blocking_send(Err(error));
                return;
            }
        }
        let told = event::read().and_then(|event| {
            if matches!(event, Event::Resize(..)) {
                wake_who_waits_for_keys();
            }
            let more = event::poll(Duration::ZERO)?;
            let told = Told { event, together: together || more };
            together = more;
            Ok(told)
        });
        let failed = told.is_err();
        if sender.blocking_send(told).is_err() || failed {
            return;
        }
    }
}

/// crossterm 0.29 waits for the signal of a new size and for keys by an edge-triggered poll and, told of both, takes the
/// signal alone: the key would be seen with the next one. Linux wakes whoever waits for a terminal when its modes are set, to
/// the same ones, too (drivers/tty/n_tty.c, n_tty_set_termios).
fn wake_who_waits_for_keys() {
    let terminal = io::stdin();
    // Where the terminal is gone, reading it tells.
    let _ = tcgetattr(&terminal).and_then(|modes| tcsetattr(&terminal, OptionalActions::Now, &modes));
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read as _;
    use std::process::Stdio;

    use rustix::fs::{Mode, OFlags};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{LocalModes, tcgetattr};

    use super::*;

    const NAME: &str = "cli::watch::terminal::tests::a_panic_gives_the_terminal_back_before_it_speaks";

    /// Runs itself on a terminal of its own, where it takes the screen and panics.
    #[test]
    fn a_panic_gives_the_terminal_back_before_it_speaks() {
        if std::env::var_os("PANIC_ON_A_SCREEN").is_some() {
            let mut screen = Screen::enter().unwrap();
            // On a terminal that answers nothing.
            screen.clear().unwrap();
            panic!("the end of it");
        }
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let terminal =
            rustix::fs::open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let side = || Stdio::from(terminal.try_clone().unwrap());
        #[expect(clippy::disallowed_methods, reason = "the test is its own program, with a terminal")]
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", NAME, "--nocapture"]).env("PANIC_ON_A_SCREEN", "1");
        let mut child = command.stdin(side()).stdout(side()).stderr(side()).spawn().unwrap();
        drop(command);
        assert!(!child.wait().unwrap().success());
        let modes = tcgetattr(&terminal).unwrap().local_modes;
        assert!(modes.contains(LocalModes::ICANON | LocalModes::ECHO), "{modes:?}");
        drop(terminal);
        let (mut said, mut buffer) = (Vec::new(), [0; 4096]);
        let mut master = File::from(master);
        // The end of a terminal that nobody has open is an error.
        while let Ok(read @ 1..) = master.read(&mut buffer) {
            said.extend_from_slice(&buffer[..read]);
        }
        let said = String::from_utf8_lossy(&said);
        let [entered, left, spoke] = ["\u{1b}[?1049h", "\u{1b}[?1049l", "the end of it"]
            .map(|part| said.find(part).unwrap_or_default());
        assert!(0 < entered && entered < left && left < spoke, "{said:?}");
    }
}
