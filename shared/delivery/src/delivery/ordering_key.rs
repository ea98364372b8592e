//! Ordering keys: the unfinished deliveries to a subscription about one entity, in the order of the
//! entity's changes.
//!
//! A delivery's position is written in the transaction that creates the delivery, and deleted in the one
//! that ends it. Only the first delivery of an ordering key is attempted; the next follows when it has
//! ended, with any outcome. So a delivery delays its successors for as long as its own schedule takes, at
//! most.
//!
//! - *A crash between the end and the message to the next*: the next is due in the table, and the sweep
//!   queues it.
//! - *A repeated message, or one for a delivery that is not the first*: the worker finds another before
//!   it, and the delivery waits.
//! - *A position without a delivery*, which time-to-live may have deleted first, is deleted by the
//!   delivery behind it.

use core_types::event::Event;
use core_types::id::{DeliveryId, SubscriptionId};
use core_types::key;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Item;
use table::{Condition, Query, Write};

use super::{Delivery, DeliveryStatus, RETENTION};
use crate::subscription::{Ordering, Subscription};

/// The most positions without a delivery that one call deletes.
const MAX_STALE: usize = 10;

/// The ordering key of a delivery, and its order among the deliveries of that key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderingKey {
    /// The id of the entity that the events are about.
    pub entity_id: String,
    /// Sorts by the entity's changes: [`Event::order`].
    pub order: String,
}

impl OrderingKey {
    /// The ordering key of a delivery of this event; none when its subscription wants no order.
    pub fn of(event: &Event, subscription: &Subscription) -> Option<Self> {
        let ordering_key = Self { entity_id: event.entity_id.clone(), order: event.order() };
        (subscription.ordering == Ordering::Entity).then_some(ordering_key)
    }
}

/// A delivery's position in its ordering key.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "delivery_place")]
#[item(key = key::ordering_position( &self.subscription_id, &self.ordering_key.entity_id, &self.ordering_key.order, ))]
#[item(forget_at = Some(self.created_at.plus(RETENTION)))]
pub struct OrderingPosition {
    /// The subscription that receives the event.
    pub subscription_id: SubscriptionId,
    /// The delivery at this position.
    pub delivery_id: DeliveryId,
    /// The ordering key, and the order in it.
    #[serde(rename = "lane")]
    pub ordering_key: OrderingKey,
    /// When the delivery was created.
    pub created_at: Timestamp,
    /// Always 1: the item is written whole, and never replaced by version.
    pub version: u64,
}

impl Delivery {
    /// The delivery's position in its ordering key; none without an ordering key.
    pub fn ordering_position(&self) -> Option<OrderingPosition> {
        self.ordering_key.clone().map(|ordering_key| OrderingPosition {
            subscription_id: self.subscription_id.clone(),
            delivery_id: self.id.clone(),
            ordering_key,
            created_at: self.created_at,
            version: 1,
        })
    }

    /// Adds the write of the delivery's position, if it has an ordering key.
    pub fn enter_ordering_key(&self, write: Write) -> Write {
        write.when_some(self.ordering_position(), |write, position| write.put(&position))
    }

    /// Adds the deletion of the delivery's position, if the delivery has ended.
    pub fn leave_ordering_key(&self, write: Write) -> Write {
        let position = self.ordering_position().filter(|_| self.status.is_final());
        write.when_some(position, |write, position| write.delete(&position.key()))
    }
}

fn ordering_key_of(subscription: &SubscriptionId, ordering_key: &OrderingKey) -> Query {
    Query::partition(key::ordering_key(subscription, &ordering_key.entity_id))
}

/// The delivery that this one waits for: the first in its ordering key, if that is another one.
///
/// # Errors
/// 503 when the table cannot be reached, or after ten positions without a delivery; `version_conflict`
/// when a position's delivery has started again meanwhile: read again.
pub async fn head_before(
    services: &Services,
    delivery: &Delivery,
) -> Result<Option<Delivery>, Problem> {
    let Some(ordering_key) = &delivery.ordering_key else { return Ok(None) };
    for _ in 0..MAX_STALE {
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
    Err(Problem::unavailable(format!("{MAX_STALE} positions of an ordering key have no delivery")))
}

/// Deletes a position whose delivery has ended or is deleted. The condition fails if it has started again
/// meanwhile.
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

/// Queues the next delivery of the ordering key of `ended`, if `ended` has ended. A lost message is no
/// loss: the delivery is due.
pub async fn wake_next(services: &Services, ended: &Delivery) {
    if let Err(problem) = wake(services, ended).await {
        tracing::warn!(
            cause = %problem, delivery = ended.id.as_str(),
            "next delivery of the ordering key not queued; the sweep queues it"
        );
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
