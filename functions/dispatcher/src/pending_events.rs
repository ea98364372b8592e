//! Pending events about an entity that come before a given one.

use core_types::event::{Event, EventGroup};
use core_types::key;
use primitives::problem::Problem;
use services::Services;
use table::Query;
use table::item::Item;

/// The number of groups in one page: pending ones are among the newest, and one batch reads the page.
const PAGE: usize = 25;
/// The most pages for one event: after an outage many events are pending.
const MAX_PAGES: usize = 40;
/// The largest difference between the clocks of processes, for events of the same moment.
const SKEW: std::time::Duration = std::time::Duration::from_secs(1);

/// Loads the pending events about the same entity that come before this one, in order, each with its
/// group. Those of its own group are not among them: they are published together.
///
/// The timeline is in an index, which is eventually consistent. Events usually reach the dispatcher later
/// than the index, so that a gap is possible but rare.
///
/// # Errors
/// 503 when the table cannot be reached.
pub(crate) async fn before(
    services: &Services,
    event: &Event,
) -> Result<Vec<(EventGroup, Event)>, Problem> {
    let mut found: Vec<(EventGroup, Event)> = Vec::new();
    let its_own = key::event(&event.id);
    let (index, entry) = event.in_timeline();
    let mut until = format!("{}#~", event.created_at.plus(SKEW));
    for _ in 0..MAX_PAGES {
        let query = Query::index(index, entry.pk.clone()).between("0", until).newest_first();
        let keys = services.table.keys(&query, PAGE).await?;
        let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
        let mut loaded: Vec<EventGroup> = Vec::new();
        for key in &keys {
            match batch.take::<EventGroup>(key) {
                Ok(group) => loaded.extend(group),
                // A group that can never be read blocks nobody; the sweep gives it up.
                Err(problem) => {
                    tracing::error!(
                        cause = %problem, ?key,
                        "stored event unreadable; left to the sweep"
                    );
                }
            }
        }
        let in_timeline = |group: &EventGroup| {
            group.indexes().into_iter().find_map(|(of, entry)| (of == index).then_some(entry.sk))
        };
        let oldest = loaded.last().and_then(in_timeline);
        loaded.retain(|group| group.key() != its_own && group.pending().next().is_some());
        let go_on = keys.len() >= PAGE && !loaded.is_empty();
        for group in loaded {
            let earlier = group.pending().filter(|other| {
                other.entity_id == event.entity_id && other.order() < event.order()
            });
            found.extend(earlier.map(|earlier| (group.clone(), earlier.clone())));
        }
        match oldest.filter(|_| go_on) {
            Some(oldest) => until = oldest,
            None => break,
        }
    }
    found.sort_by_key(|(_, event)| event.order());
    found.dedup_by(|(_, one), (_, other)| one.id == other.id);
    Ok(found)
}
