//! The sweep: once a minute, it processes everything whose due mark has passed, independent of stream
//! records and messages, and loads the batches of deliveries ([`crate::delivery_batches`]).
//!
//! Due marks are keys in an eventually consistent index: they only point to items. Decisions are made on
//! the item in the table. Work that calls payment providers, which may be slow, is sent to workers
//! ([`crate::jobs`]), so that a sweep ends in time whatever the amount.

use std::fmt::Debug;
use std::time::Duration;

use catalogue::category::CategoryDrain;
use catalogue::product::DeferredWork;
use core_types::event::EventGroup;
use core_types::id::MailId;
use core_types::mail;
use delivery::delivery::{Delivery, DeliveryMessage};
use delivery::run::{self, RunMessage};
use futures_util::StreamExt;
use identity::store::{self, STORE_REDACTED, Store, StoreStatus};
use primitives::problem::{Code, Problem};
use serde::Serialize;
use services::Services;
use table::item::{Item, Key};
use table::outbox::{DueKind, DueMark, SHARDS, remove_mark_if_permanent};

use crate::PARALLEL;
use crate::category_drains::continue_drain;
use crate::delivery_batches::sweep_batches;
use crate::jobs::{JobKind, JobReport, enqueue};
use crate::publish::publish_all;
use crate::related_products::ChangedProducts;

/// The most due items of one kind and shard that one sweep processes: 16 times as many of a kind. The
/// rest comes first in the next sweep, because it is older than what becomes due until then.
const PER_SHARD: usize = 200;
/// The number of items read at once.
const CHUNK: usize = 50;

/// The numbers of items that a sweep processed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SweepReport {
    /// Events published.
    pub events: usize,
    /// Deliveries queued again.
    pub deliveries: usize,
    /// Mails queued again.
    pub mails: usize,
    /// Deleted stores whose grace period has ended.
    pub redactions: usize,
    /// Orders, payments and purchases sent to the workers.
    pub queued_jobs: usize,
    /// Payments whose refund was requested again, or that were refunded: by workers.
    pub payments: usize,
    /// Orders that expired, or whose payments were closed after that: by workers.
    pub orders: usize,
    /// Purchases of themes that were verified with their provider: by workers.
    pub purchases: usize,
    /// Deleted categories that were removed from products.
    pub categories: usize,
    /// Changes of large products that were completed.
    pub products: usize,
    /// Long work whose step was queued again.
    pub long_work: usize,
    /// Items whose processing failed; they stay due.
    pub failures: usize,
}

impl SweepReport {
    /// The report with the work of the workers added.
    #[must_use]
    pub const fn and(self, worked: JobReport) -> Self {
        Self {
            payments: self.payments.saturating_add(worked.payments),
            orders: self.orders.saturating_add(worked.orders),
            purchases: self.purchases.saturating_add(worked.purchases),
            failures: self.failures.saturating_add(worked.failures),
            ..self
        }
    }

    /// Logs the line that the dashboard reads.
    pub(crate) fn log(&self) {
        tracing::info!(
            events = self.events,
            deliveries = self.deliveries,
            mails = self.mails,
            redactions = self.redactions,
            queued_jobs = self.queued_jobs,
            categories = self.categories,
            products = self.products,
            long_work = self.long_work,
            failures = self.failures,
            "sweep finished"
        );
    }
}

/// Processes everything that is due, or sends it to the workers. The related products of stores with
/// changed products are rebuilt last: that may take longer than the sweep's time.
pub async fn sweep(services: &Services) -> SweepReport {
    sweep_kinds(services, DueKind::ALL).await
}

/// As [`sweep`], of these kinds of work alone: for a caller who knows that no other is due.
pub async fn sweep_kinds(
    services: &Services,
    kinds: impl IntoIterator<Item = DueKind>,
) -> SweepReport {
    let mut report = SweepReport::default();
    let mut changed = ChangedProducts::default();
    for kind in kinds {
        if let Some(kind) = JobKind::of(kind) {
            let mut tally = Tally::default();
            match enqueue(services, kind).await {
                Ok(count) => report.queued_jobs = report.queued_jobs.saturating_add(count),
                Err(problem) => tally.count(&kind, Err(problem)),
            }
            report.failures = report.failures.saturating_add(tally.failed);
            continue;
        }
        let outcomes = futures_util::stream::iter(SHARDS.chars())
            .map(|shard| sweep_shard(services, kind, shard))
            .buffer_unordered(PARALLEL)
            .collect::<Vec<_>>()
            .await;
        let slot = match kind {
            DueKind::Event => &mut report.events,
            DueKind::Delivery => &mut report.deliveries,
            DueKind::Mail => &mut report.mails,
            DueKind::Redaction => &mut report.redactions,
            DueKind::Payment | DueKind::Order | DueKind::Purchase => &mut report.queued_jobs,
            DueKind::Category => &mut report.categories,
            DueKind::Product => &mut report.products,
            DueKind::Run => &mut report.long_work,
        };
        for tally in outcomes {
            *slot = slot.saturating_add(tally.done);
            report.failures = report.failures.saturating_add(tally.failed);
            changed.extend(tally.changed);
        }
    }
    let batches = sweep_batches(services).await;
    report.deliveries = report.deliveries.saturating_add(batches.done);
    report.failures = report.failures.saturating_add(batches.failed);
    changed.index(services).await;
    changed.rebuild(services).await;
    report
}

/// The counts of processed and failed items. An item that fails affects no other, and one that can never
/// succeed is not processed again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) done: usize,
    pub(crate) failed: usize,
    /// The products of published events.
    changed: ChangedProducts,
}

impl Tally {
    /// Adds the counts of another.
    pub(crate) fn add(&mut self, other: Self) {
        self.done = self.done.saturating_add(other.done);
        self.failed = self.failed.saturating_add(other.failed);
        self.changed.extend(other.changed);
    }

    /// Counts the outcome for the item of this key, which loses its due mark after a permanent error.
    pub(crate) async fn record(
        &mut self,
        services: &Services,
        key: &Key,
        outcome: Result<bool, Problem>,
    ) {
        let due = DueMark::DueBy(services.clock.now());
        self.count(key, remove_mark_if_permanent(&services.table, key, due, outcome).await);
    }

    /// Counts the outcome for `work`: a key, or a kind of work.
    pub(crate) fn count(&mut self, work: &(dyn Debug + Sync), outcome: Result<bool, Problem>) {
        match outcome {
            Ok(true) => self.done = self.done.saturating_add(1),
            Ok(false) => {}
            Err(problem) => {
                tracing::warn!(?work, cause = %problem, "due work failed; the next sweep tries again");
                self.failed = self.failed.saturating_add(1);
            }
        }
    }
}

/// Processes one shard of one kind.
async fn sweep_shard(services: &Services, kind: DueKind, shard: char) -> Tally {
    let mut tally = Tally::default();
    let query = kind.query(shard, services.clock.now());
    let keys = match services.table.keys(&query, PER_SHARD).await {
        Ok(keys) => keys,
        Err(problem) => {
            tally.count(&(kind, shard), Err(problem));
            return tally;
        }
    };
    for chunk in keys.chunks(CHUNK) {
        let outcome = match kind {
            DueKind::Event => events(services, chunk, &mut tally).await,
            DueKind::Delivery => deliveries(services, chunk, &mut tally).await,
            DueKind::Mail => mails(services, chunk, &mut tally).await,
            DueKind::Redaction => redactions(services, chunk, &mut tally).await,
            // These go through the queue.
            DueKind::Payment | DueKind::Order | DueKind::Purchase => Ok(()),
            DueKind::Category => categories(services, chunk, &mut tally).await,
            DueKind::Product => products(services, chunk, &mut tally).await,
            DueKind::Run => runs(services, chunk, &mut tally).await,
        };
        tally.count(&(kind, shard), outcome.map(|()| false));
    }
    tally
}

/// Loads the items of these keys. One that cannot be parsed is counted and skipped.
pub(crate) async fn load<T: Item>(
    services: &Services,
    keys: &[Key],
    tally: &mut Tally,
) -> Result<Vec<T>, Problem> {
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut found = Vec::new();
    for key in keys {
        match batch.take(key) {
            Ok(item) => found.extend(item),
            Err(problem) => tally.record(services, key, Err(problem)).await,
        }
    }
    Ok(found)
}

/// Whether the write was made. Losing a race is no failure: the other writer has done the work.
fn is_written(outcome: Result<(), Problem>) -> Result<bool, Problem> {
    unless_lost(outcome.map(|()| true))
}

pub(crate) fn unless_lost(outcome: Result<bool, Problem>) -> Result<bool, Problem> {
    match outcome {
        Err(problem) if problem.code == Code::VersionConflict => Ok(false),
        outcome => outcome,
    }
}

/// Publishes events that the stream missed. One with a permanent error is marked as failed by
/// [`publish`], for its owner to see. One that met an outage stays due, however old it is, and delays no
/// other.
async fn events(services: &Services, keys: &[Key], tally: &mut Tally) -> Result<(), Problem> {
    let mut pending = load::<EventGroup>(services, keys, tally).await?;
    pending.retain(|group| group.pending().next().is_some());
    for outcome in publish_all(services, pending).await {
        for event in &outcome.done {
            tally.changed.note(event);
        }
        tally.done = tally.done.saturating_add(outcome.done.len());
        tally.count(&outcome.group.key(), outcome.failure.map_or(Ok(false), Err));
    }
    Ok(())
}

/// Queues due deliveries that have no message. One with a leased attempt waits until the lease ends. The
/// mark is moved *before* the message is sent: afterwards it would compete with the worker for the item.
/// A crash in between delays the delivery until the new mark.
async fn deliveries(services: &Services, keys: &[Key], tally: &mut Tally) -> Result<(), Problem> {
    let now = services.clock.now();
    let mut due = load::<Delivery>(services, keys, tally).await?;
    due.retain(|delivery| delivery.due_at.is_some_and(|at| at <= now) && !delivery.is_leased(now));
    // What failed was counted, and is still due.
    requeue(services, due, tally).await;
    Ok(())
}

/// Gives a due mark to deliveries, or moves it, and sends their messages. Returns an error that may pass, if
/// any of them met one and got no mark.
pub(crate) async fn requeue(
    services: &Services,
    due: Vec<Delivery>,
    tally: &mut Tally,
) -> Option<Problem> {
    let swept = futures_util::stream::iter(due)
        .map(|delivery| async move {
            let swept = delivery.swept(services.clock.now());
            let outcome = is_written(swept.replace(services).await);
            (swept, outcome)
        })
        .buffer_unordered(PARALLEL)
        .collect::<Vec<_>>()
        .await;
    let mut messages: Vec<(DeliveryMessage, Duration)> = Vec::new();
    let mut transient = None;
    for (delivery, outcome) in swept {
        transient = outcome.as_ref().err().filter(|it| !it.is_permanent()).cloned().or(transient);
        if matches!(outcome, Ok(true)) {
            let delay = delivery.delay(services.clock.now()).unwrap_or_default();
            messages.push((delivery.message(), delay));
        }
        tally.record(services, &delivery.key(), outcome).await;
    }
    if let Err(problem) = services.queue(delivery::delivery::QUEUE).send(&messages).await {
        tally.count(&"messages of deliveries", Err(problem));
    }
    transient
}

/// Queues mails whose message was lost.
async fn mails(services: &Services, keys: &[Key], tally: &mut Tally) -> Result<(), Problem> {
    let ids = keys.iter().filter_map(|key| MailId::parse(key.pk.strip_prefix("MAI#")?));
    let messages: Vec<_> =
        ids.map(|mail_id| (mail::MailMessage { mail_id }, Duration::ZERO)).collect();
    services.queue(mail::QUEUE).send(&messages).await?;
    tally.done = tally.done.saturating_add(messages.len());
    Ok(())
}

/// Queues steps of long work whose message was lost; the step moves the mark on.
async fn runs(services: &Services, keys: &[Key], tally: &mut Tally) -> Result<(), Problem> {
    let steps = keys.iter().filter_map(RunMessage::of);
    let messages: Vec<_> = steps.map(|step| (step, Duration::ZERO)).collect();
    services.queue(run::QUEUE).send(&messages).await?;
    tally.done = tally.done.saturating_add(messages.len());
    Ok(())
}

/// Emits the event for deleted stores whose grace period has ended: once, because the same write removes
/// the mark.
async fn redactions(services: &Services, keys: &[Key], tally: &mut Tally) -> Result<(), Problem> {
    for store in load::<Store>(services, keys, tally).await? {
        let now = services.clock.now();
        let is_due = store.redact_at.is_some_and(|at| at <= now);
        if store.status != StoreStatus::Deleted || !is_due {
            continue;
        }
        let redacted = Store { redact_at: None, ..store.changed(now) };
        let event = redacted.event(&STORE_REDACTED, &services.config.base_url, now);
        let write = store::replace(services.table.write(), &redacted).emit(event);
        tally.record(services, &store.key(), is_written(write.commit().await)).await;
    }
    Ok(())
}

/// Removes deleted categories from their next products.
async fn categories(services: &Services, keys: &[Key], tally: &mut Tally) -> Result<(), Problem> {
    for drain in load::<CategoryDrain>(services, keys, tally).await? {
        if drain.is_due(services.clock.now()) {
            let outcome = is_written(continue_drain(services, &drain).await);
            tally.record(services, &drain.key(), outcome).await;
        }
    }
    Ok(())
}

/// Completes deferred work of changes of large products.
async fn products(services: &Services, keys: &[Key], tally: &mut Tally) -> Result<(), Problem> {
    for deferred in load::<DeferredWork>(services, keys, tally).await? {
        if deferred.is_due(services.clock.now()) {
            let outcome = is_written(deferred.execute(services).await);
            tally.record(services, &deferred.key(), outcome).await;
        }
    }
    Ok(())
}
