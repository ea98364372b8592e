//! One bucket: an item with one number, the *theoretical arrival time* (TAT), at which it would be full
//! again. A request of cost `c` moves it by `c * T` and is admitted while it stays within the burst. All
//! arithmetic is in the write's condition, so no number of parallel requests admits more than `capacity +
//! restore * t`. A process may take more than a request costs, and spends the rest without the table
//! ([`super::lease`]).

use std::sync::Arc;

use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};
use futures_util::FutureExt;
use futures_util::future::{join, join_all};

use super::lease::{LeaseDecision, Plan};
use super::leases::BucketLease;
use super::{Budgets, Tier};
use crate::caller::Identity;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::Problem;
use table::TableUse;
use table::item::{Attributes, Key};

/// The points of one identity, with their tier.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    key: Key,
    pub(super) tier: Tier,
}

/// The outcome of taking points from a bucket.
pub(super) enum Taken {
    /// The points were available; `available` are left.
    Admitted { available: u32, paid: Paid },
    /// The points are available in `wait` microseconds; `available` are now.
    Rejected { available: u32, wait: i64 },
}

/// The source of the points that were taken.
#[derive(Debug, Clone)]
pub(super) struct Paid {
    slot: Arc<BucketLease>,
    mark: i64,
}

impl Bucket {
    pub(super) fn of(identity: &Identity) -> Self {
        let tier = identity.tier;
        Self { key: Key::new(format!("RLB#{}#{}", tier.name(), identity.subject), "A"), tier }
    }

    /// The name, which is unique among buckets.
    pub(super) fn name(&self) -> &str {
        &self.key.pk
    }

    /// The points that this process last read in it; full if it has read none. It is a hint: other
    /// processes take points as well.
    pub(super) fn last_known(&self, budgets: &Budgets) -> u32 {
        let now = micros(budgets.services.clock.now());
        let slot = budgets.leases.find(self);
        slot.map_or(self.tier.capacity(), |slot| slot.lease().available(now))
    }

    /// The points in it, including those that this process holds.
    pub(super) async fn read(&self, budgets: &Budgets) -> Result<u32, Problem> {
        let answer = budgets
            .services
            .table
            .client()
            .get_item()
            .table_name(budgets.services.table.name())
            .set_key(Some(self.key.attributes()))
            .consistent_read(true)
            .send()
            .boxed()
            .await
            .map_err(|error| table::unavailable(&error))?;
        let tat = answer.item.as_ref().and_then(tat_of).unwrap_or(0);
        let now = micros(budgets.services.clock.now());
        Ok(budgets.leases.of(self, now).lease().available_with(now, Some(tat)))
    }

    /// Takes `cost` points, if this can be decided without the table.
    pub(super) fn take_held(&self, budgets: &Budgets, cost: u32) -> Option<Taken> {
        let now = micros(budgets.services.clock.now());
        let slot = budgets.leases.of(self, now);
        slot.take(now, self.tier.micros(cost))
    }

    /// Takes `cost` points, if they are available.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub(super) async fn take(&self, budgets: &Budgets, cost: u32) -> Result<Taken, Problem> {
        let now = || micros(budgets.services.clock.now());
        let (slot, amount) = (budgets.leases.of(self, now()), self.tier.micros(cost));
        if let Some(taken) = slot.take(now(), amount) {
            return Ok(taken);
        }
        let failures = slot.failures();
        let refilling = slot.refilling.lock().await;
        // A concurrent request may have taken enough, or may have waited long in vain.
        if let Some(taken) = slot.take(now(), amount) {
            return Ok(taken);
        }
        if slot.failures() != failures {
            return Err(Problem::unavailable("no charge of this bucket reached the table"));
        }
        self.give_back(budgets, &slot).await;
        let refill = self.request(budgets, &slot, amount, |plan| plan);
        let (taken, ()) = join(refill, end_others(budgets, &slot)).await;
        if taken.is_err() {
            slot.failed();
        }
        drop(refilling);
        budgets.leases.will_end(&slot, now());
        taken
    }

    /// Takes the cost of a request beyond its charge, whether the points are available or not. Nobody is
    /// admitted before the missing points are restored.
    pub(super) async fn owe(&self, budgets: &Budgets, more: u32) {
        let now = || micros(budgets.services.clock.now());
        let (slot, amount) = (budgets.leases.of(self, now()), self.tier.micros(more));
        if let Some(Taken::Admitted { .. }) = slot.take(now(), amount) {
            return;
        }
        let refilling = slot.refilling.lock().await;
        if let Err(problem) = self.request(budgets, &slot, amount, Plan::owed).await {
            tracing::warn!(cause = %problem, "cost beyond the class of a request not charged");
        }
        drop(refilling);
        budgets.leases.will_end(&slot, now());
    }

    /// Takes the points that the lease lacks from the table.
    async fn request(
        &self,
        budgets: &Budgets,
        slot: &Arc<BucketLease>,
        amount: i64,
        terms: impl Fn(Plan) -> Plan,
    ) -> Result<Taken, Problem> {
        let attempt = primitives::id::mint("", budgets.services.clock.now());
        // A full bucket and one that is not full are moved by different writes; losing the race for one
        // makes the other right. Each round overlaps the two a little more, at the caller's cost and
        // never beyond the burst. So a bucket with many concurrent, slow requests does not send them back
        // and forth.
        for round in 0..ROUNDS {
            let overlap = OVERLAP_MICROS.saturating_mul(round.saturating_sub(1).max(0));
            let now = micros(budgets.services.clock.now());
            let plan = terms(slot.lease().plan(now, amount));
            let written = now.saturating_add(if plan.idle { overlap } else { 0 });
            let old = match self.step(budgets, written, &plan, &attempt).await {
                BucketStep::Admitted(tat) => return Ok(slot.granted(&plan, tat)),
                BucketStep::Failed(problem) => {
                    slot.lease().failed();
                    return Err(problem);
                }
                BucketStep::Rejected(old) => old,
            };
            let tat = tat_of(&old).unwrap_or(0);
            if is_of(&old, &attempt) {
                // The reply to our own success was lost, and the SDK sent it again.
                return Ok(slot.granted(&plan, tat));
            }
            let mut lease = slot.lease();
            lease.rejected(tat);
            let wait = lease.wait(now, amount).filter(|_| !plan.owed);
            if let Some(wait) = wait {
                return Ok(Taken::Rejected { available: lease.available(now), wait });
            }
        }
        Ok(Taken::Rejected { available: 0, wait: 1_000_000 })
    }

    /// Returns the rest of an expired lease, unless points were taken after it. Otherwise, and when the
    /// reply is lost, the points are restored by time.
    async fn give_back(&self, budgets: &Budgets, slot: &BucketLease) {
        let ended = slot.lease().end(micros(budgets.services.clock.now()));
        let Some((from, to)) = ended else { return };
        count_write();
        let sent = budgets
            .services
            .table
            .client()
            .update_item()
            .table_name(budgets.services.table.name())
            .set_key(Some(self.key.attributes()))
            .update_expression("SET tat = :to")
            .condition_expression("tat = :from")
            .expression_attribute_values(":from", number(from))
            .expression_attribute_values(":to", number(to))
            .send()
            .boxed()
            .await;
        match sent {
            Ok(_) => slot.lease().gave_back(from, to),
            Err(error) if rejected_item(&error).is_some() => {}
            Err(error) => {
                tracing::debug!(
                    cause = %table::unavailable(&error),
                    "unused points not returned to the budget"
                );
            }
        }
    }

    async fn step(&self, budgets: &Budgets, now: i64, plan: &Plan, attempt: &str) -> BucketStep {
        count_write();
        let base = budgets
            .services
            .table
            .client()
            .update_item()
            .table_name(budgets.services.table.name())
            .set_key(Some(self.key.attributes()))
            .expression_attribute_values(":now", number(now))
            .expression_attribute_values(":id", AttributeValue::S(attempt.to_owned()))
            .expression_attribute_values(":kind", AttributeValue::S("rate_bucket".to_owned()))
            .expression_attribute_values(
                ":ttl",
                number(budgets.services.clock.now().plus(DAY).seconds()),
            )
            .expression_attribute_names("#ttl", "ttl")
            .return_values(aws_sdk_dynamodb::types::ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let set = "attempt = :id, entity = :kind, #ttl = :ttl";
        let request = if plan.idle {
            let new = now.saturating_add(plan.increment);
            base.update_expression(format!("SET tat = :new, {set}"))
                .condition_expression("attribute_not_exists(tat) OR tat <= :now")
                .expression_attribute_values(":new", number(new))
        } else {
            let ceiling = now.saturating_add(self.tier.burst()).saturating_sub(plan.increment);
            let ceiling = if plan.owed { i64::MAX } else { ceiling };
            base.update_expression(format!("SET tat = tat + :inc, {set}"))
                .condition_expression("tat > :now AND tat <= :ceiling AND attempt <> :id")
                .expression_attribute_values(":inc", number(plan.increment))
                .expression_attribute_values(":ceiling", number(ceiling))
        };
        match request.send().boxed().await {
            Ok(answer) => {
                BucketStep::Admitted(answer.attributes.as_ref().and_then(tat_of).unwrap_or(now))
            }
            Err(error) => match rejected_item(&error) {
                Some(old) => BucketStep::Rejected(old),
                None => BucketStep::Failed(table::unavailable(&error)),
            },
        }
    }
}

impl Paid {
    #[cfg(test)]
    pub(super) fn example(bucket: &Bucket) -> Self {
        Self { slot: crate::budget::Leases::default().of(bucket, 0), mark: 0 }
    }

    /// Makes unused points available again. They stay in this process: the next request takes them, or
    /// they are returned with the rest of the lease.
    pub(super) fn refund(&self, budgets: &Budgets, unused: u32) {
        let now = micros(budgets.services.clock.now());
        self.slot.lease().refund(now, self.slot.bucket.tier.micros(unused), self.mark);
        budgets.leases.will_end(&self.slot, now);
    }
}

impl BucketLease {
    /// Takes points, if this can be decided without the table.
    fn take(self: &Arc<Self>, now: i64, amount: i64) -> Option<Taken> {
        let mut lease = self.lease();
        let verdict = lease.validate(now, amount)?;
        let available = lease.available(now);
        drop(lease);
        Some(match verdict {
            LeaseDecision::Paid(mark) => {
                Taken::Admitted { available, paid: Paid { slot: Arc::clone(self), mark } }
            }
            LeaseDecision::Rejected(wait) => Taken::Rejected { available, wait },
        })
    }

    fn granted(self: &Arc<Self>, plan: &Plan, tat: i64) -> Taken {
        let mut lease = self.lease();
        let mark = lease.granted(plan, tat);
        let available = lease.available(plan.now);
        drop(lease);
        Taken::Admitted { available, paid: Paid { slot: Arc::clone(self), mark } }
    }
}

/// Returns the rest of other expired leases, alongside a charge that writes anyway.
async fn end_others(budgets: &Budgets, own: &Arc<BucketLease>) {
    let ended = budgets.leases.ended(micros(budgets.services.clock.now()));
    let others = ended.iter().filter(|slot| !Arc::ptr_eq(slot, own));
    join_all(others.map(async |slot| {
        // The request that refills this lease has ended it already.
        let Ok(_refilling) = slot.refilling.try_lock() else { return };
        slot.bucket.give_back(budgets, slot).await;
    }))
    .await;
}

/// Counts a write of a bucket for the current request.
fn count_write() {
    primitives::context::Context::update(|used: &mut TableUse| {
        used.charges = used.charges.saturating_add(1);
    });
}

/// Rounds before a contended bucket rejects.
const ROUNDS: i64 = 12;
/// The overlap of each retry with a bucket that was just restored, in microseconds.
const OVERLAP_MICROS: i64 = 50_000;

enum BucketStep {
    Admitted(i64),
    Rejected(Attributes),
    Failed(Problem),
}

/// The item that rejected a condition; empty when there is none.
fn rejected_item<R>(error: &SdkError<UpdateItemError, R>) -> Option<Attributes> {
    match error.as_service_error() {
        Some(UpdateItemError::ConditionalCheckFailedException(rejected)) => {
            Some(rejected.item.clone().unwrap_or_default())
        }
        _ => None,
    }
}

/// Whether an attempt was the last to change the item.
fn is_of(item: &Attributes, attempt: &str) -> bool {
    item.get("attempt").and_then(|id| id.as_s().ok()).is_some_and(|id| id == attempt)
}

pub(super) fn micros(time: Timestamp) -> i64 {
    time.millis().saturating_mul(1_000)
}

fn number(value: i64) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

fn tat_of(attributes: &Attributes) -> Option<i64> {
    attributes.get("tat")?.as_n().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::error::{
        ConditionalCheckFailedException, ProvisionedThroughputExceededException,
    };

    use super::*;

    #[test]
    fn buckets_of_a_tier_or_a_subject_are_not_shared() {
        let of = |subject: &str, tier| {
            let identity = Identity { subject: subject.into(), ..Identity::of_network("net") };
            Bucket::of(&Identity { tier, ..identity }).key
        };
        let one = of("a", Tier::App);
        assert_eq!(one, of("a", Tier::App));
        assert!(one != of("b", Tier::App) && one != of("a", Tier::Merchant));
    }

    #[test]
    fn a_rejected_condition_is_distinguished_and_returns_the_stored_item() {
        let item = Attributes::from([("tat".to_owned(), number(7))]);
        let rejection = |item: Option<Attributes>| {
            let rejected = ConditionalCheckFailedException::builder().set_item(item).build();
            SdkError::service_error(UpdateItemError::ConditionalCheckFailedException(rejected), ())
        };
        assert_eq!(rejected_item(&rejection(Some(item.clone()))), Some(item.clone()));
        assert_eq!(rejected_item(&rejection(None)), Some(Attributes::new()));
        let busy = ProvisionedThroughputExceededException::builder().build();
        let busy = SdkError::service_error(
            UpdateItemError::ProvisionedThroughputExceededException(busy),
            (),
        );
        assert!(rejected_item(&busy).is_none());
        assert_eq!((tat_of(&item), tat_of(&Attributes::new())), (Some(7), None));
        assert_eq!(micros(Timestamp::from_millis(5)), 5_000);
    }
}
