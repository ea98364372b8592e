//! A setting of a function, which the environment has or lacks.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Serialize, Serializer};

/// A setting, which dereferences to its value, and panics if the environment lacks it.
///
/// The caller of a function that uses a missing setting gets 500. With an empty value instead, nobody
/// would notice that an operator's address or a secret is missing.
pub struct RequiredSetting<T>(Arc<Inner<T>>);

struct Inner<T> {
    name: &'static str,
    value: Option<T>,
    used: AtomicBool,
}

impl<T> RequiredSetting<T> {
    /// The setting of this variable, if the environment has it.
    pub fn new(name: &'static str, value: Option<T>) -> Self {
        Self(Arc::new(Inner { name, value, used: AtomicBool::new(false) }))
    }

    /// The same setting, for a later use.
    #[must_use]
    pub fn share(&self) -> Self {
        Self(Arc::clone(&self.0))
    }

    /// The variable, if it was given and used.
    pub fn used(&self) -> Option<&'static str> {
        self.0.used.load(Ordering::Relaxed).then_some(self.0.name)
    }
}

impl<T> Deref for RequiredSetting<T> {
    type Target = T;

    fn deref(&self) -> &T {
        let Inner { name, value, used } = &*self.0;
        let Some(value) = value else {
            panic!(
                "{name} is used and not given: template.yaml has it not in this function's Environment"
            );
        };
        used.store(true, Ordering::Relaxed);
        value
    }
}

impl<T: Serialize> Serialize for RequiredSetting<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(serializer)
    }
}

impl<T: fmt::Display> fmt::Display for RequiredSetting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T> fmt::Debug for RequiredSetting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// A lookup of environment variables.
type Environment = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Settings whose variables are named by the code that uses them.
pub struct NamedSettings {
    given: Environment,
    known: Mutex<BTreeMap<&'static str, RequiredSetting<String>>>,
}

impl NamedSettings {
    /// The settings of an environment.
    pub fn new(given: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { given: Box::new(given), known: Mutex::default() }
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<&'static str, RequiredSetting<String>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The setting of this variable, the same one each time.
    pub fn get(&self, name: &'static str) -> RequiredSetting<String> {
        let read = || RequiredSetting::new(name, (self.given)(name));
        self.known().entry(name).or_insert_with(read).share()
    }

    /// The variables that were given and used.
    pub fn used(&self) -> Vec<&'static str> {
        self.known().values().filter_map(RequiredSetting::used).collect()
    }
}

impl fmt::Debug for NamedSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.known().keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_setting_is_read_and_a_missing_one_panics() {
        let given = RequiredSetting::new("A", Some("text".to_owned()));
        assert_eq!(given.used(), None);
        assert_eq!(given.share().len(), 4);
        assert_eq!((given.used(), given.to_string()), (Some("A"), "text".to_owned()));
        let empty: RequiredSetting<String> = RequiredSetting::new("B", None);
        let panic = std::panic::catch_unwind(move || empty.len()).unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        assert!(message.starts_with("B is used and not given"), "{message}");
    }

    #[test]
    fn a_named_setting_is_used_once_its_value_is() {
        let settings = NamedSettings::new(|name| Some(name.to_lowercase()));
        let url = settings.get("A");
        assert!(settings.used().is_empty());
        assert_eq!((url.as_str(), settings.used()), ("a", vec!["A"]));
    }
}
