//! The canary: one store, of a fixed id, on which operators try what happens when something of the
//! service fails; and the fault that is injected for it.
//!
//! A fault lives in the adapters: in the write to the table, in the sending of a message, in the post to a
//! receiver, in the hand-out of events. Each of them knows by the ids that it holds anyway whether the
//! canary is concerned, and only then reads the fault, which is one item: whatever is another store's
//! costs no read, and cannot meet it. The fault says itself until when it lasts, and whoever reads it
//! looks at the time: it ends although nobody is left to end it.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::item::{Attributes, Item, Key};
use crate::table::Table;

/// The canary store's id.
pub const STORE: &str = "sto_0000000000007000800000000000ca0a";
/// How a message says that it is about a delivery of the canary's.
pub(crate) const IN_MESSAGE: &str = "\"store_id\":\"sto_0000000000007000800000000000ca0a\"";

crate::string_enum! {
    /// What is made to fail for the canary.
    FaultKind {
        /// Writes to the table are rejected, as those above its throughput are.
        TableThrottled = "table_throttled",
        /// Messages are not taken by their queue.
        QueueUnavailable = "queue_unavailable",
        /// The receiver of deliveries accepts no connection.
        ReceiverDown = "receiver_down",
        /// Events are not handed out.
        RelayStall = "relay_stall",
    }
}

/// A fault that is injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// What fails.
    pub kind: FaultKind,
    /// Until when, whoever is left to end it.
    pub expires_at: Timestamp,
}

/// Who has the canary, and what is made to fail for it. There is one of it: of two who want the canary one
/// gets it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryHold {
    /// The drill or the load test.
    pub run_id: String,
    /// What fails now.
    pub fault: Option<Fault>,
    /// Until when it is held at the longest.
    pub held_until: Timestamp,
    /// Counts writes.
    pub version: u64,
}

impl CanaryHold {
    /// Where it is.
    pub fn place() -> Key {
        Key::new("FLT#CANARY", "A")
    }

    /// Whether this fault is injected at `now`.
    pub fn injects(&self, kind: FaultKind, now: Timestamp) -> bool {
        self.fault.is_some_and(|fault| fault.kind == kind && now < fault.expires_at)
    }
}

impl Item for CanaryHold {
    const KIND: &'static str = "canary_hold";
    fn key(&self) -> Key {
        Self::place()
    }
    fn version(&self) -> u64 {
        self.version
    }
}

/// Whether a partition is the canary's.
pub(crate) fn is_partition(partition: &str) -> bool {
    partition.contains(STORE)
}

/// Whether an item is the canary's: by its key, or by the list that it is shown in.
pub(crate) fn is_item(attributes: &Attributes) -> bool {
    let is = |name| {
        attributes.get(name).and_then(|key| key.as_s().ok()).is_some_and(|key| is_partition(key))
    };
    is("PK") || is("GSI5PK")
}

impl Table {
    /// Whether this fault is injected now. It is asked on behalf of the canary alone. What cannot be read
    /// is not injected: a drill never makes an outage worse.
    pub async fn injects(&self, kind: FaultKind) -> bool {
        match self.get::<CanaryHold>(&CanaryHold::place()).await {
            Ok(held) => held.is_some_and(|held| held.injects(kind, self.clock.now())),
            Err(problem) => {
                tracing::warn!(cause = %problem, "whether a fault is injected cannot be read");
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
    const MILLI: std::time::Duration = std::time::Duration::from_millis(1);

    #[test]
    fn a_fault_ends_by_its_own_time_and_is_of_one_kind() {
        let fault = Fault { kind: FaultKind::ReceiverDown, expires_at: NOW };
        let held_until = NOW.plus(crate::clock::HOUR);
        let hold = CanaryHold { run_id: "drl".into(), fault: Some(fault), held_until, version: 1 };
        assert!(hold.injects(FaultKind::ReceiverDown, NOW.minus(MILLI)));
        assert!(!hold.injects(FaultKind::ReceiverDown, NOW));
        assert!(!hold.injects(FaultKind::RelayStall, NOW.minus(MILLI)));
        let over = CanaryHold { fault: None, ..hold };
        assert!(!over.injects(FaultKind::ReceiverDown, NOW.minus(MILLI)));
    }

    #[test]
    fn what_is_the_canarys_is_told_by_its_keys() {
        let other = "sto_0000000000007000800000000000ca0b";
        assert!(
            is_partition(&format!("STO#{STORE}#ORD#1")) && !is_partition(&format!("STO#{other}"))
        );
        let item = |name: &str, store: &str| {
            let key = AttributeValue::S(format!("STO#{store}#DLV#20261122"));
            let own = AttributeValue::S("DLV#dlv_1".to_owned());
            Attributes::from([("PK".to_owned(), own), (name.to_owned(), key)])
        };
        assert!(is_item(&item("GSI5PK", STORE)) && is_item(&item("PK", STORE)));
        assert!(!is_item(&item("GSI5PK", other)) && !is_item(&item("GSI3PK", STORE)));
        assert_eq!(IN_MESSAGE, format!("\"store_id\":\"{STORE}\""));
        assert!(crate::id::is_well_formed("sto_", STORE));
    }
}
