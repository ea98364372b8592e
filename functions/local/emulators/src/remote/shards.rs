//! Which shards of a stream a process reads: each begins where its parent ends, and those that can be read are shared
//! evenly among the processes.

use std::collections::{BTreeMap, BTreeSet};

/// A shard of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shard {
    pub(super) id: String,
    /// The shard whose records come before.
    pub(super) parent: Option<String>,
    /// Whether no more records will come.
    pub(super) is_closed: bool,
}

/// Who reads a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reader {
    Nobody,
    ThisProcess,
    Other(String),
}

/// The shards that can be read now: those that were not read to their end, while their parents were.
pub(super) fn readable<'a>(shards: &'a [Shard], ended: &BTreeSet<String>) -> Vec<&'a Shard> {
    let exists: BTreeSet<&str> = shards.iter().map(|shard| shard.id.as_str()).collect();
    let is_over = |parent: &String| ended.contains(parent) || !exists.contains(parent.as_str());
    let can_begin =
        |shard: &&Shard| !ended.contains(&shard.id) && shard.parent.as_ref().is_none_or(is_over);
    shards.iter().filter(can_begin).collect()
}

/// The shards that this process takes, of those that can be read: its share of those that nobody reads; if there are
/// none and it has less than its share, one of the process that has most.
pub(super) fn to_take<'a>(readers: &'a BTreeMap<String, Reader>) -> Vec<&'a str> {
    let mut held: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let (mut free, mut own) = (Vec::new(), 0_usize);
    for (shard, reader) in readers {
        match reader {
            Reader::Nobody => free.push(shard.as_str()),
            Reader::ThisProcess => own = own.saturating_add(1),
            Reader::Other(name) => held.entry(name).or_default().push(shard),
        }
    }
    let share = readers.len().div_ceil(held.len().saturating_add(1));
    let wanted = share.saturating_sub(own);
    if !free.is_empty() {
        free.truncate(wanted);
        return free;
    }
    let most = held.values().max_by_key(|shards| shards.len());
    let is_uneven = |shards: &&Vec<&str>| shards.len() > own.saturating_add(1);
    let stolen = most.filter(is_uneven).and_then(|shards: &Vec<&'a str>| shards.first());
    stolen.into_iter().copied().filter(|_| wanted > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(id: &str, parent: Option<&str>) -> Shard {
        Shard { id: id.to_owned(), parent: parent.map(str::to_owned), is_closed: false }
    }

    #[test]
    fn a_shard_is_read_after_its_parent() {
        let shards = [shard("a", Some("gone")), shard("b", Some("a")), shard("c", None)];
        let ids = |ended: &[&str]| {
            let ended = ended.iter().map(|id| (*id).to_owned()).collect();
            let found = readable(&shards, &ended).into_iter().map(|shard| shard.id.clone());
            found.collect::<Vec<_>>()
        };
        assert_eq!(ids(&[]), ["a", "c"]);
        assert_eq!(ids(&["a"]), ["b", "c"]);
    }

    #[test]
    fn processes_share_the_shards_evenly() {
        let taken = |readers: &[&str]| {
            let reader = |name: &&str| match *name {
                "-" => Reader::Nobody,
                "me" => Reader::ThisProcess,
                other => Reader::Other(other.to_owned()),
            };
            let numbered = (0..).map(|number: usize| number.to_string());
            let readers = numbered.zip(readers.iter().map(reader)).collect();
            to_take(&readers).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(taken(&["-", "-"]), ["0", "1"], "alone");
        assert_eq!(taken(&["x", "-", "-", "-"]), ["1", "2"], "half of them");
        assert_eq!(taken(&["x", "me", "me", "-"]), Vec::<String>::new(), "the other's share");
        assert_eq!(taken(&["x", "x", "x", "x"]), ["0"], "one at a time");
        assert_eq!(taken(&["x", "x", "x", "me"]), ["0"]);
        assert_eq!(taken(&["x"]), Vec::<String>::new(), "one shard has one reader");
        assert_eq!(taken(&["x", "x", "me"]), Vec::<String>::new(), "as even as it can be");
    }
}
