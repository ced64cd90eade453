//! A bound on how much goes on at once, which may change while things go on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Places for so many at once; whoever waits for one is served in order. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Capacity(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    semaphore: Arc<Semaphore>,
    size: Mutex<Size>,
}

#[derive(Debug)]
struct Size {
    limit: usize,
    /// Places that were taken away while they were in use: they are not given back.
    owed: usize,
}

/// A place that is in use until this is dropped.
#[derive(Debug)]
pub struct Place {
    permit: Option<OwnedSemaphorePermit>,
    of: Arc<Inner>,
}

impl Capacity {
    /// Room for `limit` at once.
    pub fn new(limit: usize) -> Self {
        let semaphore = Arc::new(Semaphore::new(limit));
        Self(Arc::new(Inner { semaphore, size: Mutex::new(Size { limit, owed: 0 }) }))
    }

    /// Takes a place, unless all are in use.
    pub fn try_enter(&self) -> Option<Place> {
        let permit = Arc::clone(&self.0.semaphore).try_acquire_owned().ok()?;
        Some(Place { permit: Some(permit), of: Arc::clone(&self.0) })
    }

    /// Waits for a place.
    pub async fn enter(&self) -> Place {
        // The semaphore is never closed.
        let permit = Arc::clone(&self.0.semaphore).acquire_owned().await.ok();
        Place { permit, of: Arc::clone(&self.0) }
    }

    /// Waits until no place is in use.
    pub async fn emptied(&self) {
        let all = u32::try_from(self.0.size().limit).unwrap_or(u32::MAX);
        drop(self.0.semaphore.acquire_many(all).await);
    }

    /// How many places are in use, and how many there are; more are in use after a bound was lowered.
    pub fn load(&self) -> (usize, usize) {
        let size = self.0.size();
        let used = (size.limit + size.owed).saturating_sub(self.0.semaphore.available_permits());
        (used, size.limit)
    }

    /// Makes room for `limit` at once. What has a place keeps it, also beyond a smaller limit.
    pub fn resize(&self, limit: usize) {
        let mut size = self.0.size();
        if limit >= size.limit {
            let more = limit - size.limit;
            let unowed = more.min(size.owed);
            size.owed -= unowed;
            self.0.semaphore.add_permits(more - unowed);
        } else {
            let fewer = size.limit - limit;
            size.owed += fewer - self.0.semaphore.forget_permits(fewer);
        }
        size.limit = limit;
    }
}

impl Inner {
    fn size(&self) -> MutexGuard<'_, Size> {
        self.size.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut size = self.of.size();
        let Some(permit) = self.permit.take() else { return };
        if size.owed > 0 {
            size.owed -= 1;
            permit.forget();
        } else {
            // While the size is locked: a place on its way back would be owed in vain.
            drop(permit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(capacity: &Capacity) -> usize {
        let places: Vec<Place> = std::iter::from_fn(|| capacity.try_enter()).collect();
        places.len()
    }

    #[test]
    fn a_bound_moves_under_those_who_are_in() {
        let capacity = Capacity::new(3);
        let mut inside: Vec<Place> = std::iter::from_fn(|| capacity.try_enter()).collect();
        assert_eq!(inside.len(), 3);
        capacity.resize(1);
        assert_eq!(capacity.load(), (3, 1));
        inside.pop();
        assert_eq!(free(&capacity), 0, "two are still in");
        inside.pop();
        assert_eq!(free(&capacity), 0, "one is in, as many as may");
        capacity.resize(4);
        assert_eq!(free(&capacity), 3);
        drop(inside);
        assert_eq!(free(&capacity), 4);
    }

    #[test]
    fn what_is_owed_is_paid_by_growing() {
        let capacity = Capacity::new(2);
        let inside: Vec<Place> = std::iter::from_fn(|| capacity.try_enter()).collect();
        capacity.resize(1);
        capacity.resize(2);
        assert_eq!(free(&capacity), 0);
        drop(inside);
        assert_eq!(free(&capacity), 2);
    }

    #[tokio::test]
    async fn whoever_waits_gets_the_place_that_comes() {
        let capacity = Capacity::new(1);
        let first = capacity.enter().await;
        let waiting = tokio::spawn({
            let capacity = capacity.clone();
            async move { capacity.enter().await }
        });
        capacity.resize(2);
        let second = waiting.await.unwrap();
        drop((first, second));
        capacity.emptied().await;
    }
}
