//! Marks of suspended apps: they exist while operators have an app suspended, and one of them is read
//! with every token of the app.
//!
//! A single mark would make an app on many stores the hottest item of the table. So the mark is written
//! once per shard, all in the transaction that suspends, and each installation reads that of its own
//! shard. An absent mark, the common case, is as cheap to read.

use core_types::id::{AppId, InstallationId};
use core_types::key;
use serde::{Deserialize, Serialize};
use table::Write;
use table::item::{Item, Key};
use table::outbox::SHARDS;

/// The mark that an app is suspended, for the installations of one shard.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "app_stop", key = key::app_stop(&self.app_id, self.shard))]
pub struct Stop {
    /// The suspended app.
    pub app_id: AppId,
    /// The shard: a hex digit.
    pub shard: char,
    /// Always 1: the item is written whole, and never replaced by version.
    pub version: u64,
}

impl Stop {
    /// The key of the mark for this installation of the app.
    pub fn of(app: &AppId, installation: &InstallationId) -> Key {
        let last = installation.as_str().chars().last();
        key::app_stop(app, last.filter(|digit| SHARDS.contains(*digit)).unwrap_or('0'))
    }

    /// Writes the marks of an app; part of the transaction that suspends it.
    pub fn put(write: Write, app: &AppId) -> Write {
        SHARDS
            .chars()
            .fold(write, |write, shard| write.put(&Self { app_id: app.clone(), shard, version: 1 }))
    }

    /// Deletes the marks of an app; part of the transaction that resumes it.
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
