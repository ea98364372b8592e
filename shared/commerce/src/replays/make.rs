//! Writes the deliveries of a page: each by itself on condition that it does not exist, or in one transaction
//! with the delivery that it replaces.
//!
//! One event may have several failed deliveries to one subscription: a first one, and redeliveries. The new
//! delivery names the one that it was created with. The others are marked as replaced, too, and not counted.

use std::collections::HashSet;

use core_types::id::DeliveryId;
use core_types::key;
use delivery::delivery::Delivery;
use delivery::replay::Skipped;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::Write;
use table::item::{Item, Key};

use super::Planned;

/// Deliveries with replaced ones in one transaction: three items each, with the entry of the ordering key.
const CHUNK: usize = 33;
/// Concurrent transactions of such chunks.
const CONCURRENT_CHUNKS: usize = 4;
/// Concurrent writes of single deliveries.
const CONCURRENT_WRITES: usize = 16;

/// Creates the planned deliveries. Returns those that exist afterwards, each once, and the skipped ones.
pub(super) async fn all(
    services: &Services,
    planned: Vec<Planned>,
    now: Timestamp,
) -> Result<(Vec<Delivery>, Skipped), Problem> {
    let (made, open): (Vec<_>, Vec<_>) = planned.into_iter().partition(|it| it.is_made);
    let mut all = created_before(services, made).await?;
    let mut known: HashSet<DeliveryId> = all.iter().map(|made| made.id.clone()).collect();
    let (first, others): (Vec<_>, Vec<_>) =
        open.into_iter().partition(|it| known.insert(it.delivery.id.clone()));
    let (alongside, in_place): (Vec<_>, Vec<_>) =
        first.into_iter().partition(|it| it.replaces.is_none());
    let make = |it: Planned| async move {
        it.delivery.create(services).await?;
        Ok::<_, Problem>(it.delivery)
    };
    let writes: Vec<_> = alongside.into_iter().map(make).collect();
    all.extend(stream::iter(writes).buffered(CONCURRENT_WRITES).try_collect::<Vec<_>>().await?);
    let mut skipped = Skipped::default();
    let chunks: Vec<_> =
        in_place.chunks(CHUNK).map(|chunk| create_chunk(services, chunk, now)).collect();
    let chunks: Vec<_> = stream::iter(chunks).buffered(CONCURRENT_CHUNKS).try_collect().await?;
    for (made, missed) in chunks {
        all.extend(made);
        skipped = skipped.and(missed);
    }
    for planned in others.iter().filter(|it| it.replaces.is_some()) {
        let (made, missed) = create_one(services, planned, now).await?;
        all.extend(made);
        skipped = skipped.and(missed);
    }
    Ok((all, skipped))
}

/// The deliveries that an interrupted attempt has created. One that replaces another is only returned with
/// the replaced one that it was created with.
async fn created_before(services: &Services, made: Vec<Planned>) -> Result<Vec<Delivery>, Problem> {
    let (in_place, mut found): (Vec<_>, Vec<Delivery>) = {
        let (in_place, alongside): (Vec<_>, Vec<_>) =
            made.into_iter().partition(|it| it.replaces.is_some());
        (in_place, alongside.into_iter().map(|it| it.delivery).collect())
    };
    let keys: Vec<Key> = in_place.iter().map(|it| it.delivery.key()).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    for planned in &in_place {
        let existing = batch.take::<Delivery>(&planned.delivery.key())?;
        let before = planned.replaces.as_ref().map(|before| &before.id);
        found.extend(existing.filter(|existing| existing.redelivery_of.as_ref() == before));
    }
    Ok(found)
}

/// Adds a delivery, and its replacement of another, to a transaction.
fn replace_with(write: Write, planned: &Planned, now: Timestamp) -> Write {
    let Planned { delivery, replaces, .. } = planned;
    let replaced = replaces.as_ref().map(|before| before.replaced_by(&delivery.id, now));
    let write = delivery.enter_ordering_key(write.create(delivery, Code::VersionConflict));
    write.when_some(replaced, |write, replaced| write.replace(&replaced, Code::VersionConflict))
}

/// Creates a chunk in one transaction; or each delivery by itself if a replaced one has changed in the
/// meantime.
async fn create_chunk(
    services: &Services,
    chunk: &[Planned],
    now: Timestamp,
) -> Result<(Vec<Delivery>, Skipped), Problem> {
    let mut skipped = Skipped::default();
    let write = chunk.iter().fold(services.table.write(), |write, it| replace_with(write, it, now));
    match write.commit().await {
        Ok(()) => {
            let made = chunk.iter().map(|planned| planned.delivery.clone());
            return Ok((made.collect(), skipped));
        }
        Err(problem) if problem.code == Code::VersionConflict => {}
        Err(problem) => return Err(problem),
    }
    let mut made = Vec::new();
    for planned in chunk {
        let (one, missed) = create_one(services, planned, now).await?;
        made.extend(one);
        skipped = skipped.and(missed);
    }
    Ok((made, skipped))
}

/// Creates one delivery. Returns none if the replaced one is being attempted, or is not the one that the new
/// one was created with.
async fn create_one(
    services: &Services,
    planned: &Planned,
    now: Timestamp,
) -> Result<(Option<Delivery>, Skipped), Problem> {
    let none = Skipped::default();
    match replace_with(services.table.write(), planned, now).commit().await {
        Ok(()) => return Ok((Some(planned.delivery.clone()), none)),
        Err(problem) if problem.code == Code::VersionConflict => {}
        Err(problem) => return Err(problem),
    }
    let Some(before) = &planned.replaces else { return Ok((None, none)) };
    let (new, old) = (planned.delivery.key(), key::delivery(&before.id));
    let mut batch = services.table.get_many(&[&new, &old]).await?;
    let existing = batch.take::<Delivery>(&new)?;
    let Some(old) = batch.take::<Delivery>(&old)? else {
        return Ok((None, none));
    };
    match existing {
        // Created by a concurrent attempt of the same page.
        Some(existing) if old.replayed_by.as_ref() == Some(&existing.id) => {
            let its_own = |existing: &Delivery| existing.redelivery_of.as_ref() == Some(&old.id);
            Ok((Some(existing).filter(its_own), none))
        }
        // Created with another delivery of the same event, which has entered the ordering key.
        Some(existing) if !old.is_in_flight() => {
            let replaced = old.replaced_by(&existing.id, now);
            let write = services.table.write().replace(&replaced, Code::VersionConflict);
            match write.commit().await {
                Err(problem) if problem.code != Code::VersionConflict => Err(problem),
                _ => Ok((None, none)),
            }
        }
        _ => Ok((None, Skipped { in_flight: 1, ..none })),
    }
}
