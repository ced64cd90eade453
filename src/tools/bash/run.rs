//! Follows a command to its end: output out, time-out and cancel in.

use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use rustix::io::Errno;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;

use crate::process::artifact::ArtifactWriter;
use crate::process::output::{Collected, OutputCollector};
use crate::process::{Ended, LaunchError, RunningCommand, Tree};
use crate::telemetry::metrics::CommandMeter;
use crate::tools::ToolCtx;

/// Read at once at most.
const READ_BYTES: usize = 64 * 1024;
/// Read at most after the tree is gone: more than a pipe holds, so only a process outside can write that much.
const DRAIN_BYTES: usize = 2 * 1024 * 1024;
/// The name of the one stream that stdout and stderr share.
const STREAM: &str = "stdout";

/// Why a command was ended before it ended itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    TimedOut,
    Cancelled,
}

/// A command that has ended, with all of its output.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) collected: Collected,
    pub(super) ended: Ended,
    pub(super) stop: Option<Stop>,
    /// Whether the artifact has the output.
    pub(super) artifact: bool,
}

/// Runs until the tree is gone and its output is read.
pub(super) async fn to_its_end(
    running: RunningCommand,
    timeout: Duration,
    cancel: &CancellationToken,
    artifact: Option<ArtifactWriter>,
    ctx: &ToolCtx,
) -> Result<Finished, LaunchError> {
    let RunningCommand { mut output, tree, meter } = running;
    let gone = CancellationToken::new();
    let mut sinks = Sinks { collector: OutputCollector::default(), artifact, meter, ctx };
    let (end, ()) = tokio::join!(watch(tree, timeout, cancel, &gone), sinks.pump(&mut output, &gone));
    let (collected, artifact) = sinks.finish().await;
    let (ended, stop) = end?;
    Ok(Finished { collected, ended, stop, artifact })
}

/// Ends the tree when it is time to; `gone` is set in any case.
async fn watch(
    mut tree: Tree,
    timeout: Duration,
    cancel: &CancellationToken,
    gone: &CancellationToken,
) -> Result<(Ended, Option<Stop>), LaunchError> {
    let _gone = gone.clone().drop_guard();
    let stop = tokio::select! {
        ended = tree.wait() => return Ok((ended?, None)),
        () = cancel.cancelled() => Stop::Cancelled,
        () = tokio::time::sleep(timeout) => Stop::TimedOut,
    };
    tree.terminate();
    Ok((tree.wait().await?, Some(stop)))
}

struct Sinks<'a> {
    collector: OutputCollector,
    artifact: Option<ArtifactWriter>,
    meter: CommandMeter,
    ctx: &'a ToolCtx,
}

impl Sinks<'_> {
    /// Reads until the end of the output or, once the tree is gone, what is left in the pipe.
    async fn pump(&mut self, output: &mut pipe::Receiver, gone: &CancellationToken) {
        let mut buffer = BytesMut::with_capacity(READ_BYTES);
        loop {
            let due = self.collector.due_at();
            let wait = tokio::time::sleep_until(due.unwrap_or_else(Instant::now).into());
            buffer.reserve(READ_BYTES);
            tokio::select! {
                biased;
                () = gone.cancelled() => return self.drain(output).await,
                read = output.read_buf(&mut buffer) => match read {
                    Ok(0) | Err(_) => return,
                    Ok(_) => self.take(buffer.split().freeze()).await,
                },
                () = wait, if due.is_some() => {
                    let chunk = self.collector.chunk(Instant::now());
                    self.emit(chunk).await;
                }
            }
        }
    }

    async fn drain(&mut self, output: &mut pipe::Receiver) {
        let mut room = DRAIN_BYTES;
        let mut buffer = vec![0; READ_BYTES];
        while room > 0 {
            // Of the pipe itself: the runtime's own read finds nothing until it was told that there
            // is something, which may come after the news that the tree is gone.
            let length = match rustix::io::read(output.as_fd(), &mut buffer) {
                Ok(0) => return,
                Ok(length) => length,
                Err(Errno::INTR) => continue,
                Err(_) => return,
            };
            room = room.saturating_sub(length);
            self.take(Bytes::copy_from_slice(buffer.get(..length).unwrap_or_default())).await;
        }
    }

    async fn take(&mut self, bytes: Bytes) {
        self.meter.printed(bytes.len());
        let chunk = self.collector.push(&bytes, Instant::now());
        if let Some(artifact) = &mut self.artifact {
            artifact.write(bytes).await;
        }
        self.emit(chunk).await;
    }

    async fn emit(&self, chunk: Option<String>) {
        if let Some(chunk) = chunk {
            self.ctx.emit_tool_token(STREAM, chunk).await;
        }
    }

    async fn finish(mut self) -> (Collected, bool) {
        let (last, collected) = std::mem::take(&mut self.collector).finish();
        self.emit(last).await;
        let kept = match self.artifact {
            // A disk that is full costs the artifact, not the call.
            Some(artifact) => {
                let accepted = artifact.accepted();
                let kept = artifact.finish().await.unwrap_or(false);
                if kept {
                    self.meter.kept(accepted);
                }
                kept
            }
            None => false,
        };
        (collected, kept)
    }
}
