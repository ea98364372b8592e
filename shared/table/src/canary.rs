//! The canary: one store with a fixed id, on which operators run failover drills and load tests; and the
//! fault that is injected into it.
//!
//! Faults are injected in the adapters: in table writes, message sends, posts to receivers, and the
//! publishing of events. Each adapter tells from the ids in hand whether the canary is concerned, and only
//! then reads the fault, which is one item. So other stores pay no read and cannot meet the fault. The fault
//! has an expiry that every reader checks: it ends even if nobody is left to end it.

use serde::{Deserialize, Serialize};

use crate::Table;
use crate::item::{Attributes, Item, Key};
use primitives::clock::Timestamp;

/// The canary store's id.
pub const STORE: &str = "sto_0000000000007000800000000000ca0a";
/// The part of a message that identifies a delivery of the canary's.
pub const IN_MESSAGE: &str = "\"store_id\":\"sto_0000000000007000800000000000ca0a\"";

primitives::string_enum! {
    /// The part of the service that fails for the canary.
    FaultKind {
        /// Table writes are rejected as if throttled.
        TableThrottled = "table_throttled",
        /// Messages are not accepted by their queue.
        QueueUnavailable = "queue_unavailable",
        /// The receiver of deliveries accepts no connection.
        ReceiverDown = "receiver_down",
        /// Events are not published.
        RelayStall = "relay_stall",
    }
}

/// An injected fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The kind of failure.
    pub kind: FaultKind,
    /// The time at which the fault ends, even if nobody ends it.
    pub expires_at: Timestamp,
}

/// The exclusive hold on the canary, and the fault injected into it. It is one item, so only one drill or
/// load test holds the canary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "canary_hold", key = Self::place())]
pub struct CanaryHold {
    /// The id of the drill or load test.
    pub run_id: String,
    /// The present fault.
    pub fault: Option<Fault>,
    /// When the hold ends at the latest.
    pub held_until: Timestamp,
    /// Counts writes.
    pub version: u64,
}

impl CanaryHold {
    /// The key of the hold.
    pub fn place() -> Key {
        Key::new("FLT#CANARY", "A")
    }

    /// Whether this fault is injected at `now`.
    pub fn injects(&self, kind: FaultKind, now: Timestamp) -> bool {
        self.fault.is_some_and(|fault| fault.kind == kind && now < fault.expires_at)
    }
}

/// Whether a partition belongs to the canary.
pub fn is_partition(partition: &str) -> bool {
    partition.contains(STORE)
}

/// Whether an item belongs to the canary, by its key or by its list.
pub fn is_item(attributes: &Attributes) -> bool {
    let is = |name| {
        attributes.get(name).and_then(|key| key.as_s().ok()).is_some_and(|key| is_partition(key))
    };
    is("PK") || is("GSI5PK")
}

impl Table {
    /// Whether this fault is injected now. Called for the canary's data alone. A fault that cannot be read is
    /// not injected: a drill never worsens an outage.
    pub async fn injects(&self, kind: FaultKind) -> bool {
        match self.get::<CanaryHold>(&CanaryHold::place()).await {
            Ok(held) => held.is_some_and(|held| held.injects(kind, self.clock.now())),
            Err(problem) => {
                tracing::warn!(
                    cause = %problem,
                    "fault state of the canary unreadable; no fault is injected"
                );
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
        let held_until = NOW.plus(primitives::clock::HOUR);
        let hold = CanaryHold { run_id: "drl".into(), fault: Some(fault), held_until, version: 1 };
        assert!(hold.injects(FaultKind::ReceiverDown, NOW.minus(MILLI)));
        assert!(!hold.injects(FaultKind::ReceiverDown, NOW));
        assert!(!hold.injects(FaultKind::RelayStall, NOW.minus(MILLI)));
        let over = CanaryHold { fault: None, ..hold };
        assert!(!over.injects(FaultKind::ReceiverDown, NOW.minus(MILLI)));
    }

    #[test]
    fn items_of_the_canary_are_recognized_by_key() {
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
        assert!(primitives::id::is_well_formed("sto_", STORE));
    }
}
