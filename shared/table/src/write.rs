//! Writes: one transaction. Each of its actions has the problem that its rejected condition means.

mod alone;
mod batch;
mod condition;
mod in_place;

use super::conflict::count_throttle;
use super::consistency::{ATTEMPTS, BASE, CAP};
use super::{Table, back_off, count, unavailable};
use crate::canary;
use crate::canary::FaultKind;
use crate::item;
use crate::item::{Item, Key};
use crate::outbox::{Group, Grouped, Outgoing};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    CancellationReason, ConditionCheck, Delete, Put, ReturnConsumedCapacity, TransactWriteItem,
    Update,
};
use futures_util::FutureExt;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};

pub use alone::Changed;
pub use batch::Puts;
use condition::expression;
pub use condition::{Change, Condition};

/// A transaction under construction. Nothing is written before [`Write::commit`].
#[derive(Debug)]
#[must_use = "a write does nothing until it is committed"]
pub struct Write {
    table: Table,
    actions: Vec<(TransactWriteItem, Problem)>,
    grouped: Vec<Box<dyn Group>>,
    defect: Option<Problem>,
}

impl Table {
    /// Begins a transaction.
    pub fn write(&self) -> Write {
        Write { table: self.clone(), actions: Vec::new(), grouped: Vec::new(), defect: None }
    }
}

impl Write {
    /// Puts an item that must not exist yet.
    pub fn create<T: Item>(self, item: &T, rejected: impl Into<Problem>) -> Self {
        self.put_if(item, Condition::new("attribute_not_exists(PK)"), rejected)
    }

    /// Creates an item at its first version, or replaces the version before a later one.
    pub fn create_or_replace<T: Item>(self, item: &T, rejected: impl Into<Problem>) -> Self {
        if item.version() == 1 { self.create(item, rejected) } else { self.replace(item, rejected) }
    }

    /// Puts an item in place of its version before: optimistic locking.
    pub fn replace<T: Item>(self, item: &T, rejected: impl Into<Problem>) -> Self {
        let condition = Condition::new("#version = :before")
            .name("#version", "version")
            .value(":before", item.version().saturating_sub(1));
        self.put_if(item, condition, rejected)
    }

    /// Changes an item in place, like [`Write::replace`], except for the attributes `counted`. These are
    /// changed by [`Write::update`] elsewhere, without a new version of the item, so that a busy counter
    /// makes nobody's version stale. `and` is a further condition, for example over a counter.
    pub fn replace_except<T: Item>(
        mut self,
        item: &T,
        counted: &[&str],
        and: Condition,
        rejected: impl Into<Problem>,
    ) -> Self {
        match in_place::everything_but(item, counted, and) {
            Ok(change) => self.update(&item.key(), change, rejected),
            Err(defect) => {
                self.defect = Some(defect);
                self
            }
        }
    }

    /// Puts an item, with or without an existing one.
    pub fn put<T: Item>(self, item: &T) -> Self {
        self.put_if(item, Condition::default(), Code::VersionConflict)
    }

    /// Puts an item under a condition.
    pub fn put_if<T: Item>(
        mut self,
        item: &T,
        condition: Condition,
        rejected: impl Into<Problem>,
    ) -> Self {
        let built = item::attributes(item).and_then(|attributes| {
            let (text, names, values) = expression(condition);
            Put::builder()
                .table_name(self.table.name())
                .set_item(Some(attributes))
                .set_condition_expression(text)
                .set_expression_attribute_names(names)
                .set_expression_attribute_values(values)
                .build()
                .map_err(Problem::internal)
        });
        self.push(built.map(|put| TransactWriteItem::builder().put(put).build()), rejected);
        self
    }

    /// Changes an item in place.
    pub fn update(mut self, key: &Key, change: Change, rejected: impl Into<Problem>) -> Self {
        let (text, names, values) = expression(change.condition);
        let built = Update::builder()
            .table_name(self.table.name())
            .set_key(Some(key.attributes()))
            .update_expression(change.update)
            .set_condition_expression(text)
            .set_expression_attribute_names(names)
            .set_expression_attribute_values(values)
            .build()
            .map_err(Problem::internal);
        self.push(
            built.map(|update| TransactWriteItem::builder().update(update).build()),
            rejected,
        );
        self
    }

    /// Deletes an item, if it is there.
    pub fn delete(self, key: &Key) -> Self {
        self.delete_if(key, Condition::default(), Code::VersionConflict)
    }

    /// Deletes an item if it is still at this version.
    pub fn delete_unchanged<T: Item>(self, item: &T, rejected: impl Into<Problem>) -> Self {
        self.delete_if(&item.key(), Condition::is_at(item.version()), rejected)
    }

    /// Deletes an item under a condition.
    pub fn delete_if(
        mut self,
        key: &Key,
        condition: Condition,
        rejected: impl Into<Problem>,
    ) -> Self {
        let (text, names, values) = expression(condition);
        let built = Delete::builder()
            .table_name(self.table.name())
            .set_key(Some(key.attributes()))
            .set_condition_expression(text)
            .set_expression_attribute_names(names)
            .set_expression_attribute_values(values)
            .build()
            .map_err(Problem::internal);
        self.push(
            built.map(|delete| TransactWriteItem::builder().delete(delete).build()),
            rejected,
        );
        self
    }

    /// Requires a condition of an item that the transaction does not change.
    pub fn check(mut self, key: &Key, condition: Condition, rejected: impl Into<Problem>) -> Self {
        let (text, names, values) = expression(condition);
        let built = ConditionCheck::builder()
            .table_name(self.table.name())
            .set_key(Some(key.attributes()))
            .set_condition_expression(text)
            .set_expression_attribute_names(names)
            .set_expression_attribute_values(values)
            .build()
            .map_err(Problem::internal);
        let action = built.map(|check| TransactWriteItem::builder().condition_check(check).build());
        self.push(action, rejected);
        self
    }

    /// Emits an event or another announcement: it is written with the change or not at all.
    pub fn emit(self, event: impl Outgoing) -> Self {
        event.put_into(self)
    }

    /// Emits an announcement that is written together with others of its kind, when all of them are known.
    pub fn emit_grouped<T: Grouped>(mut self, announced: T) -> Self {
        let of_kind = |all: &mut Box<dyn Group>| all.as_any().is::<Vec<T>>();
        let found = self.grouped.iter_mut().find_map(|all| of_kind(all).then_some(all));
        match found.and_then(|all| all.as_any().downcast_mut::<Vec<T>>()) {
            Some(all) => all.push(announced),
            None => self.grouped.push(Box::new(vec![announced])),
        }
        self
    }

    /// Applies `extend` to the item, if there is one.
    pub fn when_some<T>(self, item: Option<T>, extend: impl FnOnce(Self, T) -> Self) -> Self {
        match item {
            Some(item) => extend(self, item),
            None => self,
        }
    }

    fn push(&mut self, action: Result<TransactWriteItem, Problem>, rejected: impl Into<Problem>) {
        match action {
            Ok(action) => self.actions.push((action, rejected.into())),
            Err(defect) => self.defect = Some(defect),
        }
    }

    /// Makes the whole transaction fail with this problem: one of its actions could not be built.
    pub fn fail(mut self, defect: Problem) -> Self {
        self.defect = Some(defect);
        self
    }

    /// Commits the transaction.
    ///
    /// # Errors
    /// The problem of the first action, in order, whose condition was rejected.
    pub async fn commit(mut self) -> Result<(), Problem> {
        let grouped = std::mem::take(&mut self.grouped);
        self = grouped.into_iter().fold(self, |write, all| all.put_into(write));
        if let Some(defect) = self.defect {
            return Err(defect);
        }
        if self.actions.is_empty() {
            return Ok(());
        }
        let (actions, rejections): (Vec<_>, Vec<_>) = self.actions.into_iter().unzip();
        if actions.iter().any(is_canarys) {
            self.table.unless_throttled().await?;
        }
        let outcome = self.table.send(&actions, &rejections).await;
        // Also after a failure, which may be a reply that was lost.
        self.table.cache.invalidate(&mut actions.iter().filter_map(partition));
        outcome
    }
}

impl Table {
    /// Rejects writes of the canary store while that fault is injected.
    ///
    /// # Errors
    /// 503 while the table is made to reject them.
    async fn unless_throttled(&self) -> Result<(), Problem> {
        if self.injects(FaultKind::TableThrottled).await {
            return Err(Problem::unavailable("injected: the canary's writes are throttled"));
        }
        Ok(())
    }

    /// Sends a transaction, and retries conflicts with other transactions.
    async fn send(
        &self,
        actions: &[TransactWriteItem],
        rejections: &[Problem],
    ) -> Result<(), Problem> {
        // One token for all attempts: whichever of them was applied, it was applied once.
        let token = primitives::id::mint("", Timestamp::from_millis(0));
        let mut attempt = 0;
        loop {
            let sent = self
                .client
                .transact_write_items()
                .set_transact_items(Some(actions.to_vec()))
                .client_request_token(&token)
                .return_consumed_capacity(ReturnConsumedCapacity::Total)
                .send()
                .boxed()
                .await;
            let error = match sent {
                Ok(answer) => {
                    count(answer.consumed_capacity());
                    return Ok(());
                }
                Err(error) => error,
            };
            count([]);
            match validate(error.as_service_error(), rejections) {
                FailureKind::Rejected(problem) => return Err(*problem),
                FailureKind::TryAgain if attempt < ATTEMPTS => {
                    back_off(attempt, BASE, CAP).await;
                    attempt = attempt.saturating_add(1);
                }
                FailureKind::Invalid(cause) => return Err(Problem::internal(cause)),
                FailureKind::TryAgain | FailureKind::Failed => return Err(unavailable(&error)),
            }
        }
    }
}

/// Whether an action changes an item of the canary store.
fn is_canarys(action: &TransactWriteItem) -> bool {
    action.put().is_some_and(|put| canary::is_item(put.item()))
        || partition(action).is_some_and(canary::is_partition)
}

/// The partition of the item that an action changes.
fn partition(action: &TransactWriteItem) -> Option<&str> {
    let put = action.put().map(Put::item);
    let update = action.update().map(Update::key);
    let delete = action.delete().map(Delete::key);
    put.or(update).or(delete)?.get("PK")?.as_s().ok().map(String::as_str)
}

/// The kind of a transaction's failure.
enum FailureKind {
    Rejected(Box<Problem>),
    TryAgain,
    /// An action of it can never be done, for this reason.
    Invalid(String),
    Failed,
}

fn validate(error: Option<&TransactWriteItemsError>, rejections: &[Problem]) -> FailureKind {
    let reasons = match error {
        Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => {
            cancelled.cancellation_reasons()
        }
        Some(TransactWriteItemsError::TransactionInProgressException(_)) => {
            return FailureKind::TryAgain;
        }
        _ => return FailureKind::Failed,
    };
    // A rejected condition is final, even with a conflict or throttling in addition.
    if let Some(position) = reasons.iter().position(|reason| says(reason, "ConditionalCheckFailed"))
    {
        let problem = rejections.get(position).cloned();
        return FailureKind::Rejected(Box::new(
            problem.unwrap_or_else(|| Code::VersionConflict.into()),
        ));
    }
    let has = |code: &str| reasons.iter().any(|reason| says(reason, code));
    if ["ThrottlingError", "ProvisionedThroughputExceeded"].into_iter().any(has) {
        count_throttle();
        return FailureKind::TryAgain;
    }
    if has("TransactionConflict") {
        return FailureKind::TryAgain;
    }
    let invalid = reasons.iter().find(|reason| says(reason, "ValidationError"));
    invalid.map_or(FailureKind::Failed, |reason| {
        FailureKind::Invalid(format!("ValidationError: {}", reason.message().unwrap_or_default()))
    })
}

fn says(reason: &CancellationReason, code: &str) -> bool {
    reason.code() == Some(code)
}
