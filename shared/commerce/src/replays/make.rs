//! Writing the deliveries of a page: each alone and only if there is none, or in one transaction with the
//! one whose place it takes.
//!
//! Of one event and one subscription there may be several deliveries that have failed: a first one, and
//! redeliveries. The new delivery names the one that it was made with; the others are marked as well, and
//! counted for nothing.

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

/// Deliveries that take others' places in one transaction: three items each, with their place in a ordering key.
const TOGETHER: usize = 33;
/// Such transactions under way at once.
const AT_ONCE: usize = 4;
/// Writes of one delivery under way at once.
const WRITES: usize = 16;

/// Makes them; answers with those that are there then, each once, and with what could not be.
pub(super) async fn all(
    services: &Services,
    planned: Vec<Planned>,
    now: Timestamp,
) -> Result<(Vec<Delivery>, Skipped), Problem> {
    let (made, open): (Vec<_>, Vec<_>) = planned.into_iter().partition(|it| it.is_made);
    let mut all = made_before(services, made).await?;
    let mut known: HashSet<DeliveryId> = all.iter().map(|made| made.id.clone()).collect();
    let (first, others): (Vec<_>, Vec<_>) =
        open.into_iter().partition(|it| known.insert(it.delivery.id.clone()));
    let (alongside, in_place): (Vec<_>, Vec<_>) =
        first.into_iter().partition(|it| it.replaces.is_none());
    let make = |it: Planned| async move {
        it.delivery.make(services).await?;
        Ok::<_, Problem>(it.delivery)
    };
    let writes: Vec<_> = alongside.into_iter().map(make).collect();
    all.extend(stream::iter(writes).buffered(WRITES).try_collect::<Vec<_>>().await?);
    let mut skipped = Skipped::default();
    let chunks: Vec<_> =
        in_place.chunks(TOGETHER).map(|chunk| together(services, chunk, now)).collect();
    let chunks: Vec<_> = stream::iter(chunks).buffered(AT_ONCE).try_collect().await?;
    for (made, missed) in chunks {
        all.extend(made);
        skipped = skipped.and(missed);
    }
    for planned in others.iter().filter(|it| it.replaces.is_some()) {
        let (made, missed) = alone(services, planned, now).await?;
        all.extend(made);
        skipped = skipped.and(missed);
    }
    Ok((all, skipped))
}

/// Those that a step has made before, which was cut off: each with the delivery that it was made with.
async fn made_before(services: &Services, made: Vec<Planned>) -> Result<Vec<Delivery>, Problem> {
    let (in_place, mut found): (Vec<_>, Vec<Delivery>) = {
        let (in_place, alongside): (Vec<_>, Vec<_>) =
            made.into_iter().partition(|it| it.replaces.is_some());
        (in_place, alongside.into_iter().map(|it| it.delivery).collect())
    };
    let keys: Vec<Key> = in_place.iter().map(|it| it.delivery.key()).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    for planned in &in_place {
        let there = batch.take::<Delivery>(&planned.delivery.key())?;
        let before = planned.replaces.as_ref().map(|before| &before.id);
        found.extend(there.filter(|there| there.redelivery_of.as_ref() == before));
    }
    Ok(found)
}

/// Adds that a delivery is made, and takes another's place.
fn take_place(write: Write, planned: &Planned, now: Timestamp) -> Write {
    let Planned { delivery, replaces, .. } = planned;
    let replaced = replaces.as_ref().map(|before| before.replaced_by(&delivery.id, now));
    let write = delivery.enter_ordering_key(write.create(delivery, Code::VersionConflict));
    write.also(replaced, |write, replaced| write.replace(&replaced, Code::VersionConflict))
}

/// A chunk at once; when one of it has changed meanwhile, each by itself.
async fn together(
    services: &Services,
    chunk: &[Planned],
    now: Timestamp,
) -> Result<(Vec<Delivery>, Skipped), Problem> {
    let mut skipped = Skipped::default();
    let write = chunk.iter().fold(services.table.write(), |write, it| take_place(write, it, now));
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
        let (one, missed) = alone(services, planned, now).await?;
        made.extend(one);
        skipped = skipped.and(missed);
    }
    Ok((made, skipped))
}

/// One by itself; none when the other is being attempted, or is not the one that it was made with.
async fn alone(
    services: &Services,
    planned: &Planned,
    now: Timestamp,
) -> Result<(Option<Delivery>, Skipped), Problem> {
    let none = Skipped::default();
    match take_place(services.table.write(), planned, now).commit().await {
        Ok(()) => return Ok((Some(planned.delivery.clone()), none)),
        Err(problem) if problem.code == Code::VersionConflict => {}
        Err(problem) => return Err(problem),
    }
    let Some(before) = &planned.replaces else { return Ok((None, none)) };
    let (new, old) = (planned.delivery.key(), key::delivery(&before.id));
    let mut batch = services.table.get_many(&[&new, &old]).await?;
    let there = batch.take::<Delivery>(&new)?;
    let Some(old) = batch.take::<Delivery>(&old)? else {
        return Ok((None, none));
    };
    match there {
        // Made by whoever took the same step.
        Some(there) if old.replayed_by.as_ref() == Some(&there.id) => {
            let its_own = |there: &Delivery| there.redelivery_of.as_ref() == Some(&old.id);
            Ok((Some(there).filter(its_own), none))
        }
        // Made with another delivery of the same event, in whose ordering key the new one stands.
        Some(there) if !old.is_in_flight() => {
            let replaced = old.replaced_by(&there.id, now);
            let write = services.table.write().replace(&replaced, Code::VersionConflict);
            match write.commit().await {
                Err(problem) if problem.code != Code::VersionConflict => Err(problem),
                _ => Ok((None, none)),
            }
        }
        _ => Ok((None, Skipped { in_flight: 1, ..none })),
    }
}
