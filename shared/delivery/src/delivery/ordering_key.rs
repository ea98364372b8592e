//! Ordering keys: the unfinished deliveries to a subscription about one entity, in the order in which the
//! entity changed.
//!
//! A delivery's position is written in the transaction that makes the delivery, and deleted in the
//! one that ends it. Only the first in its ordering key is attempted; the next goes on when it has ended,
//! however it ended. So a ordering key is held up for as long as one delivery's schedule takes, at most.
//!
//! - *A crash between the end and the message to the next*: the next is due in the table, and the
//!   sweep brings it.
//! - *A message twice, or for one that is not the first*: it finds another before it, and waits.
//! - *A position without a delivery*, which time-to-live may have deleted alone, is deleted by the
//!   delivery behind it.

use core_types::event::Event;
use core_types::id::{DeliveryId, SubscriptionId};
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::{Condition, Query, Write};

use super::{Delivery, DeliveryStatus, RETENTION};
use crate::subscription::{Ordering, Subscription};

/// Positions without a delivery that one look deletes.
const MOST_STALE: usize = 10;

/// Where a delivery stands among those about the same entity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderingKey {
    /// The id of the entity that its deliveries are about.
    pub entity_id: String,
    /// Sorts as the entity changed: [`Event::order`].
    pub order: String,
}

impl OrderingKey {
    /// Where a delivery of this event stands; none when its subscription wants no order.
    pub fn of(event: &Event, subscription: &Subscription) -> Option<Self> {
        let ordering_key = Self { entity_id: event.entity_id.clone(), order: event.order() };
        (subscription.ordering == Ordering::Entity).then_some(ordering_key)
    }
}

/// A position in a ordering key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OrderingPosition {
    /// The subscription that takes the event.
    pub subscription_id: SubscriptionId,
    /// Whose position it is.
    pub delivery_id: DeliveryId,
    /// Which ordering key, and where in it.
    #[serde(rename = "lane")]
    pub ordering_key: OrderingKey,
    /// When the delivery was made.
    pub created_at: Timestamp,
    /// Always 1: it is written whole, and never replaced under its version.
    pub version: u64,
}

impl Item for OrderingPosition {
    const KIND: &'static str = "delivery_place";
    fn key(&self) -> Key {
        key::ordering_position(
            &self.subscription_id,
            &self.ordering_key.entity_id,
            &self.ordering_key.order,
        )
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.created_at.plus(RETENTION))
    }
}

impl Delivery {
    /// The delivery's position in its ordering key.
    pub fn ordering_position(&self) -> Option<OrderingPosition> {
        self.ordering_key.clone().map(|ordering_key| OrderingPosition {
            subscription_id: self.subscription_id.clone(),
            delivery_id: self.id.clone(),
            ordering_key,
            created_at: self.created_at,
            version: 1,
        })
    }

    /// Adds that the delivery takes its position, if it has one.
    pub fn enter_ordering_key(&self, write: Write) -> Write {
        write.also(self.ordering_position(), |write, position| write.put(&position))
    }

    /// Adds that the delivery leaves its position, if it has ended.
    pub fn leave_ordering_key(&self, write: Write) -> Write {
        let position = self.ordering_position().filter(|_| self.status.is_final());
        write.also(position, |write, position| write.delete(&position.key()))
    }
}

fn ordering_key_of(subscription: &SubscriptionId, ordering_key: &OrderingKey) -> Query {
    Query::partition(key::ordering_key(subscription, &ordering_key.entity_id))
}

/// The delivery that this one waits for: the first in its ordering key, if that is another one.
///
/// # Errors
/// 503 when the table cannot be reached; `version_conflict`: look again.
pub async fn head_before(
    services: &Services,
    delivery: &Delivery,
) -> Result<Option<Delivery>, Problem> {
    let Some(ordering_key) = &delivery.ordering_key else { return Ok(None) };
    for _ in 0..MOST_STALE {
        let first = services
            .table
            .all::<OrderingPosition>(&ordering_key_of(&delivery.subscription_id, ordering_key), 1)
            .await?;
        let first =
            first.into_iter().find(|position| position.ordering_key.order < ordering_key.order);
        let Some(position) = first else { return Ok(None) };
        let head = services.table.get::<Delivery>(&key::delivery(&position.delivery_id)).await?;
        match head.filter(|head| !head.status.is_final()) {
            Some(head) => return Ok(Some(head)),
            None => forget(services, &position).await?,
        }
    }
    Err(Problem::unavailable("places without deliveries"))
}

/// Deletes a position whose delivery has ended or is gone, and has not begun again meanwhile.
async fn forget(services: &Services, position: &OrderingPosition) -> Result<(), Problem> {
    let is_over = "attribute_not_exists(PK) OR NOT #status IN (:pending, :delivering, :retrying)";
    let is_over = Condition::new(is_over)
        .name("#status", "status")
        .value(":pending", DeliveryStatus::Pending)
        .value(":delivering", DeliveryStatus::Delivering)
        .value(":retrying", DeliveryStatus::Retrying);
    let delivery = key::delivery(&position.delivery_id);
    let write = services.table.write().check(&delivery, is_over, Code::VersionConflict);
    write.delete(&position.key()).commit().await
}

/// Queues the first that waits in the ordering key that `ended` stood in. A message that is not sent is no
/// loss: the delivery is due.
pub async fn wake_next(services: &Services, ended: &Delivery) {
    if let Err(problem) = wake(services, ended).await {
        tracing::warn!(cause = %problem, delivery = ended.id.as_str(), "next of the ordering key not queued");
    }
}

async fn wake(services: &Services, ended: &Delivery) -> Result<(), Problem> {
    let Some(ordering_key) = ended.ordering_key.as_ref().filter(|_| ended.status.is_final()) else {
        return Ok(());
    };
    let first = services
        .table
        .all::<OrderingPosition>(&ordering_key_of(&ended.subscription_id, ordering_key), 1)
        .await?;
    let Some(position) = first.first() else { return Ok(()) };
    let Some(next) = services.table.get::<Delivery>(&key::delivery(&position.delivery_id)).await?
    else {
        return Ok(());
    };
    match next.delay(services.clock.now()) {
        Some(delay) => services.queue(super::QUEUE).send(&[(next.message(), delay)]).await,
        None => Ok(()),
    }
}
