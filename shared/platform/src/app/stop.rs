//! Marks that stop an app: they are there while operators have it suspended, and every token of it
//! is looked up together with one of them.
//!
//! An app that acts on many stores would make one item of its own the hottest of the table: the
//! mark is written once per shard, all in the transaction that suspends, and each installation looks
//! at its own shard. That there is none, which is the rule, is read as cheaply.

use core_types::id::{AppId, InstallationId};
use core_types::key;
use serde::{Deserialize, Serialize};
use table::Write;
use table::item::{Item, Key};
use table::outbox::SHARDS;

/// That an app is stopped, for the installations of one shard.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Stop {
    /// The app that is suspended.
    pub app_id: AppId,
    /// The shard: a hex digit.
    pub shard: char,
    /// Always 1: it is written whole, and never replaced under its version.
    pub version: u64,
}

impl Item for Stop {
    const KIND: &'static str = "app_stop";
    fn key(&self) -> Key {
        key::app_stop(&self.app_id, self.shard)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl Stop {
    /// Where the mark is that stops this installation of the app.
    pub fn of(app: &AppId, installation: &InstallationId) -> Key {
        let last = installation.as_str().chars().last();
        key::app_stop(app, last.filter(|digit| SHARDS.contains(*digit)).unwrap_or('0'))
    }

    /// Stops every installation of an app; part of the transaction that suspends it.
    pub fn put(write: Write, app: &AppId) -> Write {
        SHARDS
            .chars()
            .fold(write, |write, shard| write.put(&Self { app_id: app.clone(), shard, version: 1 }))
    }

    /// Resumes an app; part of the transaction that resumes it.
    pub fn lift(write: Write, app: &AppId) -> Write {
        SHARDS.chars().fold(write, |write, shard| write.delete(&key::app_stop(app, shard)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn installations_are_spread_over_every_mark() {
        let app = AppId::derive(&["a"]);
        let marks: BTreeSet<String> = (0..400)
            .map(|n| Stop::of(&app, &InstallationId::derive(&[&n.to_string()])).pk)
            .collect();
        let all: BTreeSet<String> =
            SHARDS.chars().map(|shard| key::app_stop(&app, shard).pk).collect();
        assert_eq!(marks, all);
    }
}
