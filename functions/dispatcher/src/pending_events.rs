//! The events about an entity that come before one of them and are still pending.

use core_types::event::{Event, EventGroup};
use core_types::key;
use primitives::problem::Problem;
use services::Services;
use table::Query;
use table::item::Item;

/// Groups of events that one look takes in: what is pending is among the newest, and one batch reads them.
const LOOK: usize = 25;
/// Looks for one event: after an outage a great deal is pending.
const LOOKS: usize = 40;
/// How far clocks of different processes may be apart, for events that were made at the same moment.
const SKEW: std::time::Duration = std::time::Duration::from_secs(1);

/// The pending events about the same entity that come before this one, the first first, each with its
/// group. Those of its own group are not among them: they are published together.
///
/// The timeline is in an index, which is a moment behind the table. Events reach the dispatcher
/// later than that, so that a gap is possible and not to be expected.
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
    for _ in 0..LOOKS {
        let query = Query::index(index, entry.pk.clone()).between("0", until).newest_first();
        let keys = services.table.keys(&query, LOOK).await?;
        let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
        let mut looked_at: Vec<EventGroup> = Vec::new();
        for key in &keys {
            match batch.take::<EventGroup>(key) {
                Ok(group) => looked_at.extend(group),
                // One that can never be read holds nobody up; the sweep gives it up.
                Err(problem) => tracing::error!(cause = %problem, "an event cannot be read"),
            }
        }
        let in_timeline = |group: &EventGroup| {
            group.indexes().into_iter().find_map(|(of, entry)| (of == index).then_some(entry.sk))
        };
        let oldest = looked_at.last().and_then(in_timeline);
        looked_at.retain(|group| group.key() != its_own && group.pending().next().is_some());
        let go_on = keys.len() >= LOOK && !looked_at.is_empty();
        for group in looked_at {
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
