//! The helper that forks: a small, single-threaded process between the server and the keepers.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::IoSliceMut;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{Pid, Signal, WaitOptions};

use super::kernel::{self, Forked};
use super::wire::{MAX_DESCRIPTORS, RUN, STOP, StartStep};
use super::{keeper, tree};

/// The hidden first argument that makes the binary a spawner.
pub const ARGUMENT: &str = "__spawner";

/// Descriptor 0 is the socket to the server. Ends, with every tree, when the server closes it.
pub fn main() -> ! {
    kernel::leave(match serve() {
        Ok(()) => 0,
        Err(_) => 1,
    })
}

fn serve() -> std::io::Result<()> {
    let socket = kernel::take_first_descriptor()?;
    let null = std::fs::File::open("/dev/null")?;
    kernel::place(std::os::fd::AsFd::as_fd(&null), 0)?;
    drop(null);
    // Away from the server's terminal: its interrupts are for the server.
    let _ = rustix::process::setsid();
    // Should a keeper be killed, its orphans come here.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    kernel::reset_signal_actions();
    // The server says when to leave; SIGTERM to the whole service must not come before that.
    let signals = [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP];
    kernel::block_signals(&signals);
    let mut spawner = Spawner { signals: Some(kernel::signal_descriptor(&signals)?), ..Spawner::default() };
    let mut socket = Some(socket);
    loop {
        spawner.reap();
        if (socket.is_none() || spawner.stopping) && spawner.keepers.is_empty() && !spawner.orphans {
            return Ok(());
        }
        if wait_for_packet(socket.as_ref(), spawner.signals.as_ref()) && !spawner.take_packet(&mut socket) {
            socket = None;
        }
    }
}

/// Waits for a signal or a packet; true when there is a packet (or the end of the socket).
fn wait_for_packet(socket: Option<&OwnedFd>, signals: Option<&OwnedFd>) -> bool {
    let mut watched: Vec<PollFd<'_>> =
        signals.into_iter().chain(socket).map(|descriptor| PollFd::new(descriptor, PollFlags::IN)).collect();
    let _ = poll(&mut watched, None);
    let packet = socket.is_some() && watched.last().is_some_and(|fd| !fd.revents().is_empty());
    if let Some(signals) = signals {
        while kernel::next_signal(signals).is_some() {}
    }
    packet
}

#[derive(Default)]
struct Spawner {
    signals: Option<OwnedFd>,
    keepers: Vec<Pid>,
    /// Whether processes of a keeper that died before them may be here.
    orphans: bool,
    /// The server has asked for the end; the socket stays open until then, which tells it.
    stopping: bool,
}

impl Spawner {
    /// Handles one packet. False at the end of the socket.
    fn take_packet(&mut self, socket: &mut Option<OwnedFd>) -> bool {
        let Some(server) = socket.as_ref() else { return false };
        let mut kind = [0];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let mut parts = [IoSliceMut::new(&mut kind)];
        let received = match recvmsg(server, &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Ok(message) => message.bytes,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => return true,
            Err(_) => return false,
        };
        let mut descriptors = Vec::new();
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
        match (received, kind[0]) {
            (0, _) => return false,
            (_, RUN) if !self.stopping => self.start_keeper(socket, descriptors),
            (_, STOP) => {
                self.stopping = true;
                for keeper in &self.keepers {
                    tree::signal_one(*keeper, Signal::TERM);
                }
            }
            _ => {}
        }
        true
    }

    fn start_keeper(&mut self, socket: &mut Option<OwnedFd>, descriptors: Vec<OwnedFd>) {
        match kernel::fork() {
            Ok(Forked::Child) => {
                // Copies here would keep the server's socket open past the spawner.
                *socket = None;
                self.signals = None;
                keeper::run(descriptors)
            }
            Ok(Forked::Parent(keeper)) => self.keepers.push(keeper),
            Err(error) => {
                if let Some(control) = descriptors.get(1) {
                    keeper::send(control, &keeper::failed(StartStep::Fork, &error));
                }
            }
        }
    }

    fn reap(&mut self) {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if let Some(place) = self.keepers.iter().position(|keeper| *keeper == pid) {
                        self.keepers.swap_remove(place);
                        self.orphans |= status.exit_status() != Some(keeper::CLEAN);
                    }
                }
                Ok(None) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => {
                    self.orphans = false;
                    break;
                }
            }
        }
        if self.orphans {
            self.end_orphans();
        }
    }

    /// Kills every child that is no keeper, with all beneath. Each that ends brings its own children here,
    /// and a signal to go on.
    fn end_orphans(&mut self) {
        let children = tree::children(rustix::process::getpid());
        let orphans: Vec<_> =
            children.into_iter().filter(|child| !self.keepers.contains(&child.pid)).collect();
        self.orphans = !orphans.is_empty();
        for orphan in &orphans {
            tree::signal_all(&tree::descendants(orphan.pid), Signal::KILL);
        }
        tree::signal_all(&orphans, Signal::KILL);
    }
}
