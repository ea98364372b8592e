//! Long work in steps: each message of the queue stands for one bounded step, which sends the message of
//! the next step until the work has ended.
//!
//! The progress is stored in the work's item, under the item's version: of two messages for one step, one
//! takes the step and the other does nothing. The item carries a due mark, by which the sweep sends the
//! message again if one is lost.

use std::time::Duration;

use core_types::id::{
    CartId, CustomerId, DrillId, ExportId, ImportId, LoadTestId, RedactionId, ReplayId, StoreId,
};
use core_types::key;
use serde::{Deserialize, Serialize};
use services::Services;
use services::queue::QueueName;
use table::item::Key;

/// Steps of long work.
pub const QUEUE: QueueName = QueueName("RUNNER_QUEUE_URL");

/// The message for the next step of some long work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RunMessage {
    /// A step of a replay.
    Replay {
        /// The replay.
        id: ReplayId,
    },
    /// A step of a failover drill.
    Drill {
        /// The drill.
        id: DrillId,
    },
    /// A step of a load test.
    LoadTest {
        /// The load test.
        id: LoadTestId,
    },
    /// A step of an import.
    Import {
        /// The import.
        id: ImportId,
    },
    /// A step of an export.
    Export {
        /// The export.
        id: ExportId,
    },
    /// A step of a redaction.
    Redaction {
        /// The redaction.
        id: RedactionId,
    },
    /// A step of the merge of two customers.
    Merge {
        /// The store.
        store_id: StoreId,
        /// The customer who remains.
        customer_id: CustomerId,
        /// The customer whose account is deleted.
        source_id: CustomerId,
    },
    /// A step that assigns a guest's orders to a customer.
    GuestOrders {
        /// The store.
        store_id: StoreId,
        /// The customer.
        customer_id: CustomerId,
        /// The identifier of the guest's address in keys.
        guest: String,
    },
    /// A cart that may have been left.
    Cart {
        /// The store.
        store_id: StoreId,
        /// The cart.
        id: CartId,
    },
}

impl RunMessage {
    /// The message for the work at this key; none when the key is of no such work.
    pub fn of(key: &Key) -> Option<Self> {
        let named = |prefix| key.pk.strip_prefix(prefix);
        let replay = || ReplayId::parse(named(key::REPLAYS)?).map(|id| Self::Replay { id });
        let drill = || DrillId::parse(named(key::DRILLS)?).map(|id| Self::Drill { id });
        let test = || LoadTestId::parse(named(key::LOAD_TESTS)?).map(|id| Self::LoadTest { id });
        let import = || ImportId::parse(named(key::IMPORTS)?).map(|id| Self::Import { id });
        let export = || ExportId::parse(named(key::EXPORTS)?).map(|id| Self::Export { id });
        let redaction =
            || RedactionId::parse(named(key::REDACTIONS)?).map(|id| Self::Redaction { id });
        let of_customer = || {
            let (store, customer) = named("STO#")?.split_once("#CUS#")?;
            let (store_id, customer_id) = (StoreId::parse(store)?, CustomerId::parse(customer)?);
            if let Some(guest) = key.sk.strip_prefix(key::GUEST_ORDERS) {
                let guest = guest.to_owned();
                return Some(Self::GuestOrders { store_id, customer_id, guest });
            }
            let source_id = CustomerId::parse(key.sk.strip_prefix(key::MERGES)?)?;
            Some(Self::Merge { store_id, customer_id, source_id })
        };
        let cart = || {
            let (store, cart) = named("STO#")?.split_once(key::CARTS)?;
            Some(Self::Cart { store_id: StoreId::parse(store)?, id: CartId::parse(cart)? })
        };
        let of_store =
            || import().or_else(export).or_else(redaction).or_else(of_customer).or_else(cart);
        replay().or_else(drill).or_else(test).or_else(of_store)
    }

    /// The key of the work's item.
    pub fn key(&self) -> Key {
        match self {
            Self::Replay { id } => key::replay(id),
            Self::Drill { id } => key::drill(id),
            Self::LoadTest { id } => key::load_test(id),
            Self::Import { id } => key::import(id),
            Self::Export { id } => key::export(id),
            Self::Redaction { id } => key::redaction(id),
            Self::Merge { store_id, customer_id, source_id } => {
                key::merge(store_id, customer_id, source_id)
            }
            Self::GuestOrders { store_id, customer_id, guest } => {
                key::guest_orders(store_id, customer_id, guest)
            }
            Self::Cart { store_id, id } => key::cart(store_id, id),
        }
    }

    /// Sends the message. A failure is only logged: the work is due, and the sweep sends it again.
    pub async fn send(self, services: &Services, delay: Duration) {
        let message = (self, delay);
        if let Err(problem) = services.queue(QUEUE).send(std::slice::from_ref(&message)).await {
            tracing::warn!(
                cause = %problem, step = ?message.0,
                "message of a step not queued; the sweep queues it"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_derived_from_the_key_of_its_work() {
        let id = ReplayId::derive(&["one"]);
        let message = RunMessage::of(&key::replay(&id)).unwrap();
        let text = serde_json::to_string(&message).unwrap();
        assert_eq!(text, format!(r#"{{"kind":"replay","id":"{id}"}}"#));
        assert_eq!(serde_json::from_str::<RunMessage>(&text).unwrap(), message);
        let id = DrillId::derive(&["one"]);
        assert_eq!(RunMessage::of(&key::drill(&id)), Some(RunMessage::Drill { id }));
        let id = LoadTestId::derive(&["one"]);
        assert_eq!(RunMessage::of(&key::load_test(&id)), Some(RunMessage::LoadTest { id }));
        let (store_id, customer_id) = (StoreId::derive(&["one"]), CustomerId::derive(&["one"]));
        let guests = key::guest_orders(&store_id, &customer_id, "af");
        let guest = "af".to_owned();
        let expected = RunMessage::GuestOrders { store_id, customer_id, guest };
        assert_eq!(RunMessage::of(&guests), Some(expected));
        assert_eq!(RunMessage::of(&Key::new(guests.pk, "A")), None);
        let (store_id, customer_id) = (StoreId::derive(&["one"]), CustomerId::derive(&["one"]));
        let source_id = CustomerId::derive(&["two"]);
        let merge = key::merge(&store_id, &customer_id, &source_id);
        let expected = RunMessage::Merge { store_id, customer_id, source_id };
        assert_eq!(RunMessage::of(&merge), Some(expected));
        let (store_id, id) = (StoreId::derive(&["one"]), CartId::derive(&["one"]));
        let cart = key::cart(&store_id, &id);
        assert_eq!(RunMessage::of(&cart), Some(RunMessage::Cart { store_id, id }));
        assert_eq!(RunMessage::of(&Key::new("MAI#x", "A")), None);
    }
}
