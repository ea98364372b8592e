//! What the parts of one request read together: a page that is made of several calls reads an item once.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use primitives::context::Context;
use primitives::problem::Problem;
use tokio::sync::OnceCell;

type Cells = HashMap<(TypeId, String), Arc<dyn Any + Send + Sync>>;

/// The reads of a request so far, by type and name. Cheap to clone. As an extension of a request, it is found in that
/// request's context.
#[derive(Debug, Clone, Default)]
pub struct SharedReads(Arc<Mutex<Cells>>);

impl SharedReads {
    /// Reads a value, or returns what another part of the current request has read, or is reading, by this name. Without
    /// other parts it is read.
    ///
    /// # Errors
    /// Those of `read`, of which the next part tries again.
    pub async fn get_or_read<T: Clone + Send + Sync + 'static>(
        name: &str,
        read: impl Future<Output = Result<T, Problem>>,
    ) -> Result<T, Problem> {
        match Context::current().and_then(|context| context.get::<Self>()) {
            Some(shared) => shared.cell::<T>(name).get_or_try_init(|| read).await.cloned(),
            None => read.await,
        }
    }

    /// Whether the current request has parts.
    pub fn has_parts() -> bool {
        Context::current().is_some_and(|context| context.get::<Self>().is_some())
    }

    fn cell<T: Send + Sync + 'static>(&self, name: &str) -> Arc<OnceCell<T>> {
        let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let empty = || -> Arc<dyn Any + Send + Sync> { Arc::new(OnceCell::<T>::new()) };
        let cell = cells.entry((TypeId::of::<T>(), name.to_owned())).or_insert_with(empty);
        Arc::clone(cell).downcast().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use http::HeaderMap;
    use primitives::clock::Timestamp;

    use super::*;

    fn context() -> Arc<Context> {
        Context::new(&HeaderMap::new(), "/", Timestamp::from_millis(0))
    }

    #[tokio::test]
    async fn parts_of_a_request_read_once() {
        let (reads, shared) = (AtomicU32::new(0), SharedReads::default());
        let part = || {
            let context = context();
            context.insert(shared.clone());
            let reads = &reads;
            context.scope(SharedReads::get_or_read("a", async move {
                tokio::task::yield_now().await;
                Ok::<u32, Problem>(reads.fetch_add(1, Ordering::Relaxed))
            }))
        };
        let (first, second) = tokio::join!(part(), part());
        assert_eq!((first.unwrap(), second.unwrap(), part().await.unwrap()), (0, 0, 0));
        let alone = context().scope(SharedReads::get_or_read("a", async { Ok::<u32, Problem>(9) }));
        assert_eq!(alone.await.unwrap(), 9, "another request");
    }
}
