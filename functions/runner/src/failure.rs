//! The failure of long work that met a permanent error: it ends with a reason, and releases what it blocked.
//!
//! The item that is written then is small, because its size may be the cause. If even that cannot be
//! written, or the item cannot be read, the rest is done by updates that do not read the item: its locks
//! are released, and its due mark is removed.

use core_types::end_reason::EndReason;
use core_types::id::StoreId;
use core_types::key;
use delivery::run::RunMessage;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use sales::workflows::join_orders;
use serde::{Deserialize, Serialize};
use services::Services;
use table::canary::CanaryHold;
use table::item::{Item, Key};
use table::outbox;
use table::outbox::DueMark;
use table::{Change, Condition};

use crate::{drills, load_tests, replay};

/// Marks work that met a permanent error as failed.
///
/// # Errors
/// 503 when the table cannot be reached: the message is received again.
pub(crate) async fn fail(
    services: &Services,
    step: &RunMessage,
    problem: &Problem,
) -> Result<(), Problem> {
    tracing::error!(
        ?step, code = problem.code.as_str(), cause = %problem,
        "work given up: step of long work"
    );
    let ended = match step {
        RunMessage::Replay { id } => replay::fail(services, id).await,
        RunMessage::Drill { id } => drills::fail(services, id).await,
        RunMessage::LoadTest { id } => load_tests::fail(services, id).await,
        RunMessage::Import { id } => transfers::import::fail(services, id).await,
        RunMessage::Export { id } => transfers::export::fail(services, id).await,
        RunMessage::Redaction { id } => privacy::redaction::fail(services, id).await,
        RunMessage::Merge { .. } => privacy::merge::fail(services, &step.key()).await,
        RunMessage::GuestOrders { store_id, customer_id, guest } => {
            join_orders::fail(services, store_id, customer_id, guest).await
        }
        RunMessage::Cart { .. } => {
            outbox::remove_due_mark(&services.table, &step.key(), DueMark::Any, problem).await
        }
    };
    match ended {
        // Another worker has continued the work, or has ended it.
        Err(problem) if problem.code == Code::VersionConflict => Ok(()),
        Err(problem) if problem.is_permanent() => {
            tracing::error!(
                ?step, cause = %problem,
                "long work could not be marked as failed: its locks and due mark are removed"
            );
            force_failed(services, step, &problem).await
        }
        outcome => outcome,
    }
}

/// The attribute that the items of a store's work have in common: read when nothing else can be.
#[derive(Debug, Serialize, Deserialize, Item)]
#[item(kind = "work", key = key::store(&self.store_id), version = 1)]
struct WorkOfStore {
    store_id: StoreId,
}

/// Releases the locks of the work and removes its due mark, without reading the rest of its item.
async fn force_failed(
    services: &Services,
    step: &RunMessage,
    problem: &Problem,
) -> Result<(), Problem> {
    let work = step.key();
    let ignored = |outcome: Result<(), Problem>| match outcome {
        Err(problem) if !problem.is_permanent() && problem.code != Code::VersionConflict => {
            Err(problem)
        }
        _ => Ok(()),
    };
    if let Some((lock, is_ours)) = lock(services, step, &work).await? {
        let write = services.table.write().delete_if(&lock, is_ours, Code::VersionConflict);
        ignored(write.commit().await)?;
    }
    let failed = mark_failed(services.clock.now());
    let write = services.table.write().update(&work, failed, Code::VersionConflict);
    ignored(write.commit().await)?;
    // Also when that could not be written: removing attributes only makes the item smaller.
    ignored(outbox::remove_due_mark(&services.table, &work, DueMark::Any, problem).await)
}

/// The update that marks any work as failed.
fn mark_failed(now: Timestamp) -> Change {
    Change::new(
        "SET #status = :failed, #reason = :reason, #finished = :now REMOVE #due, GSI3PK, GSI3SK",
    )
    .under(Condition::exists())
    .name("#status", "status")
    .name("#reason", "status_reason")
    .name("#finished", "finished_at")
    .name("#due", "due_at")
    .value(":failed", "failed")
    .value(":reason", EndReason::InternalError)
    .value(":now", now)
}

/// The lock of the work, and the condition that it is held by this work; none for work without a lock.
async fn lock(
    services: &Services,
    step: &RunMessage,
    work: &Key,
) -> Result<Option<(Key, Condition)>, Problem> {
    let of_store = async || match services.table.get::<WorkOfStore>(work).await {
        Err(problem) if problem.is_permanent() => Ok(None),
        found => found,
    };
    Ok(match step {
        RunMessage::Import { id } => of_store().await?.map(|it| {
            (key::import_under_way(&it.store_id), Condition::is("import_id", id.as_str()))
        }),
        RunMessage::Replay { id } => of_store().await?.map(|it| {
            (key::replay_under_way(&it.store_id), Condition::is("replay_id", id.as_str()))
        }),
        RunMessage::Drill { id } => {
            Some((CanaryHold::place(), Condition::is("run_id", id.as_str())))
        }
        RunMessage::LoadTest { id } => {
            Some((CanaryHold::place(), Condition::is("run_id", id.as_str())))
        }
        _ => None,
    })
}
