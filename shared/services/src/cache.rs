//! The in-process cache: values for many public reads, which may be a few seconds old. It never holds a
//! value that authorization depends on.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use primitives::clock::Timestamp;

/// The most values; if all of them are fresh, the whole cache is cleared (our choice).
const MAX_ENTRIES: usize = 1_000;

type Entries = HashMap<(TypeId, String), (Timestamp, Arc<dyn Any + Send + Sync>)>;

/// A small store of values by type and name.
#[derive(Debug, Default)]
pub struct Cache(Mutex<Entries>);

impl Cache {
    /// The value of this name, unless it is too old.
    pub fn get<T: Any + Send + Sync>(&self, name: &str, now: Timestamp) -> Option<Arc<T>> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (until, value) = entries.get(&(TypeId::of::<T>(), name.to_owned()))?;
        (now < *until).then(|| Arc::clone(value).downcast().ok())?
    }

    /// Stores a value for `life`.
    pub fn insert<T: Any + Send + Sync>(
        &self,
        name: &str,
        value: Arc<T>,
        now: Timestamp,
        life: Duration,
    ) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= MAX_ENTRIES {
            entries.retain(|_, (until, _)| now < *until);
        }
        if entries.len() >= MAX_ENTRIES {
            entries.clear();
        }
        entries.insert((TypeId::of::<T>(), name.to_owned()), (now.plus(life), value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cached_by_type_and_name_until_they_expire() {
        let (cache, now, life) =
            (Cache::default(), Timestamp::from_millis(0), Duration::from_secs(5));
        cache.insert("a", Arc::new(1_u32), now, life);
        cache.insert("a", Arc::new("text"), now, life);
        assert_eq!(
            cache.get::<u32>("a", now.plus(life).minus(Duration::from_millis(1))).as_deref(),
            Some(&1)
        );
        assert_eq!(cache.get::<&str>("a", now).as_deref(), Some(&"text"));
        assert_eq!(cache.get::<u32>("b", now), None);
        assert_eq!(cache.get::<u32>("a", now.plus(life)), None);
    }

    #[test]
    fn it_never_grows_beyond_its_bound() {
        let (cache, now) = (Cache::default(), Timestamp::from_millis(0));
        for number in 0..MAX_ENTRIES + 5 {
            cache.insert(&number.to_string(), Arc::new(number), now, Duration::from_secs(5));
        }
        assert_eq!(cache.0.lock().unwrap().len(), 5);
    }
}
