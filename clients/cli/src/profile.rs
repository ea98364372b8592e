//! Profiles: which API and store commands act on, and the session they act with. One file in the platform's
//! configuration directory, which only its owner can read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use etcetera::{BaseStrategy, choose_base_strategy};
use jiff::{SignedDuration, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::secret::Secret;

/// The file in the directory.
const FILE: &str = "profiles.json";
/// A session's token is exchanged for a new one after so long, so that a copy of it is of no use for long. It is half
/// of the time after which an unused session ends (docs/conventions.md §6).
const REFRESH_AFTER: SignedDuration = SignedDuration::from_hours(6);

/// Where and as whom commands act.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    pub api: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<Store>,
    /// What `listen` signs with: the same after a restart, so that a receiver is configured once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing_secret: Option<Secret>,
}

/// A merchant's session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub email: String,
    pub token: Secret,
    /// When the token was issued, in RFC 3339.
    pub issued_at: String,
}

impl Session {
    /// Whether the token should be exchanged for a new one.
    pub fn is_due(&self, now: Timestamp) -> bool {
        let issued = self.issued_at.parse::<Timestamp>();
        issued.is_ok_and(|at| now.duration_since(at) > REFRESH_AFTER)
    }
}

/// A store that was chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Store {
    pub id: String,
    pub subdomain: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Profiles {
    #[serde(default)]
    profiles: BTreeMap<String, Profile>,
}

/// The directory with the profiles.
#[derive(Debug, Clone)]
pub struct Directory(PathBuf);

impl Directory {
    /// This directory, or the platform's own for `commerce`.
    pub fn open(named: Option<PathBuf>) -> Result<Self, Failure> {
        let own = || {
            let strategy = choose_base_strategy().ok()?;
            Some(strategy.config_dir().join("commerce"))
        };
        let none = || Failure::Local("There is no home directory: name one by --config-dir".into());
        named.or_else(own).map(Self).ok_or_else(none)
    }

    pub fn load(&self, name: &str) -> Result<Option<Profile>, Failure> {
        Ok(self.read::<Profiles>(FILE)?.profiles.remove(name))
    }

    /// Changes a profile, while no other process does.
    pub fn change(&self, name: &str, change: impl FnOnce(&mut Profile)) -> Result<(), Failure> {
        let _lock = self.lock()?;
        self.change_locked(name, change)
    }

    /// As [`Directory::change`], by whoever holds the lock.
    pub fn change_locked(
        &self,
        name: &str,
        change: impl FnOnce(&mut Profile),
    ) -> Result<(), Failure> {
        let mut all = self.read::<Profiles>(FILE)?;
        change(all.profiles.entry(name.to_owned()).or_default());
        self.write(FILE, &all)
    }

    /// Waits until no other process changes a profile, and keeps others waiting until the file is dropped.
    pub fn lock(&self) -> Result<File, Failure> {
        self.create()?;
        let path = self.0.join("profiles.lock");
        let fault = |cause| Failure::file(&path, &cause);
        let file = File::options().create(true).append(true).open(&path).map_err(fault)?;
        file.lock().map_err(fault)?;
        Ok(file)
    }

    /// Reads a document of the directory; the default one if there is none.
    pub fn read<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, Failure> {
        let path = self.0.join(name);
        match std::fs::read(&path) {
            // The content of the file is not part of the message.
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|_| {
                Failure::Local(format!("{} cannot be read: delete or repair it", path.display()))
            }),
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(T::default()),
            Err(cause) => Err(Failure::file(&path, &cause)),
        }
    }

    /// Replaces a document of the directory, for its owner's eyes alone (mode 0600).
    pub fn write<T: Serialize>(&self, name: &str, document: &T) -> Result<(), Failure> {
        self.create()?;
        let path = self.0.join(name);
        let text =
            serde_json::to_vec_pretty(document).map_err(|it| Failure::Local(it.to_string()))?;
        write_private(&path, &text)
    }

    fn create(&self) -> Result<(), Failure> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.0).map_err(|cause| Failure::file(&self.0, &cause))
    }
}

/// Replaces a file by one that its owner alone can read. Whoever reads it meanwhile sees the old or the new one.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let fault = |cause| Failure::file(path, &cause);
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    // A temporary file of this crate has mode 0600.
    let mut file =
        tempfile::NamedTempFile::new_in(directory.unwrap_or(Path::new("."))).map_err(fault)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(fault)?;
    file.persist(path).map_err(|fault| Failure::file(path, &fault.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_kept_with_its_store_and_read_by_its_owner_alone() {
        let place = tempfile::tempdir().expect("a directory");
        let directory = Directory::open(Some(place.path().join("deep"))).expect("a directory");
        let store = Store { id: "sto_1".into(), subdomain: "lamps".into() };
        directory.change("work", |profile| profile.store = Some(store.clone())).expect("saved");
        directory.change("home", |profile| profile.api = "http://x".into()).expect("saved");
        let work = directory.load("work").expect("read").expect("a profile");
        assert_eq!(work.store, Some(store));
        assert_eq!(directory.load("none").expect("read"), None);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &str| {
                let path = place.path().join(path);
                std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
            };
            assert_eq!((mode("deep"), mode("deep/profiles.json")), (0o700, 0o600));
        }
    }

    #[test]
    fn a_token_is_due_after_six_hours() {
        let session = Session {
            email: String::new(),
            token: Secret::from(String::new()),
            issued_at: "2026-01-01T00:00:00Z".into(),
        };
        let at = |text: &str| text.parse::<Timestamp>().expect("a time");
        assert!(!session.is_due(at("2026-01-01T05:59:00Z")));
        assert!(session.is_due(at("2026-01-01T06:01:00Z")));
    }
}
