//! Work that its starter drives as long as it waits, and that goes on by itself after.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

/// A future that is polled in place, which spares the way to another thread and back; dropped
/// before its end it becomes a task, so that a client that goes away ends nothing.
pub(super) struct Detachable {
    tasks: TaskTracker,
    runtime: Handle,
    work: Option<BoxFuture<'static, ()>>,
}

impl Detachable {
    /// Must be called within a tokio runtime.
    pub(super) fn new(tasks: &TaskTracker, work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self { tasks: tasks.clone(), runtime: Handle::current(), work: Some(Box::pin(work)) }
    }
}

impl Future for Detachable {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(work) = &mut self.work else { return Poll::Ready(()) };
        let polled = work.as_mut().poll(context);
        if polled.is_ready() {
            self.work = None;
        }
        polled
    }
}

impl Drop for Detachable {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            self.tasks.spawn_on(work, &self.runtime);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn dropped_work_goes_on() {
        let tasks = TaskTracker::new();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let (told, heard) = tokio::sync::oneshot::channel::<()>();
        let mut work = Detachable::new(&tasks, async move {
            let _ = heard.await;
            let _ = sender.send(7);
        });
        assert!(futures_util::poll!(&mut work).is_pending());
        drop(work);
        told.send(()).unwrap();
        assert_eq!(receiver.await.unwrap(), 7);
    }
}
