use std::collections::BTreeSet;

use serde_json::{Value, json};
use table::item::Index;

use super::*;
use crate::event::{EventSubject, Topic, TopicDeclaration};

const NOW: Timestamp = Timestamp::from_millis(1_795_244_400_000);

#[derive(Serialize, schemars::JsonSchema)]
struct Changed {}

impl crate::event::Example for Changed {
    fn example() -> Self {
        Self {}
    }
}

const CHANGED: Topic<Changed> = Topic::new("thing.changed", "thing", None, "A thing changed.");

fn event(store: Option<&StoreId>, app: Option<&AppId>, entity: &str, data: &Value) -> Event {
    let subject = EventSubject { store, app, entity, version: 3 };
    Event::untyped(&TopicDeclaration::of(&CHANGED), subject, data.clone(), NOW)
}

fn store() -> StoreId {
    StoreId::derive(&["here"])
}

fn of_store(entity: &str) -> Event {
    event(Some(&store()), None, entity, &json!({"name": entity}))
}

/// The entities that the groups are about.
fn entities(groups: &[EventGroup]) -> Vec<Vec<&str>> {
    let events = groups.iter().map(EventGroup::events);
    events.map(|all| all.iter().map(|event| event.entity_id.as_str()).collect()).collect()
}

fn stored(group: &EventGroup) -> Value {
    serde_json::to_value(group).unwrap()
}

fn read(stored: Value) -> EventGroup {
    serde_json::from_value(stored).unwrap()
}

#[test]
fn events_of_one_transaction_and_timeline_share_an_item_with_consecutive_ids() {
    let made: Vec<Event> =
        ["a", "b", "c"].map(|entity| of_store(entity).in_timeline_of("order")).into();
    let first = made[0].id.clone();
    // However the transaction was put together, they stay in the order in which they were made.
    let mut shuffled = made.clone();
    shuffled.rotate_left(1);
    let groups = EventGroup::of_events(shuffled);
    assert_eq!(entities(&groups), [["a", "b", "c"]]);
    let group = &groups[0];
    assert_eq!(group.events[0].id, first, "the first keeps its id");
    for (number, event) in group.events().iter().enumerate() {
        assert_eq!(event.id, key::nth_event(&first, number));
        assert!(event.id.as_str().ends_with(&format!("{number:02x}")));
        let body: Value = serde_json::from_str(&event.body).unwrap();
        assert_eq!(body["id"], json!(event.id), "its body knows it by the same");
        assert_eq!(body["data"]["name"], json!(event.entity_id));
        assert_eq!(key::event(&event.id), group.key());
        assert_eq!(group.event(&event.id).map(|found| &found.body), Some(&event.body));
    }
    assert!(group.event(&key::nth_event(&first, 3)).is_none());
}

#[test]
fn listed_events_are_grouped_by_list_and_unlisted_ones_join_any() {
    let (store, app) = (store(), AppId::derive(&["app"]));
    let elsewhere = StoreId::derive(&["elsewhere"]);
    let data = json!({});
    let groups = EventGroup::of_events(vec![
        event(None, None, "merchant", &data),
        event(Some(&store), None, "a", &data),
        event(Some(&elsewhere), None, "a", &data),
        event(None, Some(&app), "a", &data),
        event(Some(&store), Some(&app), "a", &data),
        event(Some(&store), None, "b", &data),
        event(Some(&store), None, "c", &data).in_timeline_of("b"),
        Event {
            created_at: NOW.plus(primitives::clock::MINUTE),
            ..event(Some(&store), None, "a", &data)
        },
        Event { test: true, ..event(Some(&store), None, "a", &data) },
    ]);
    let expected: [&[&str]; 6] =
        [&["merchant", "a", "a"], &["a"], &["a"], &["b", "c"], &["a"], &["a"]];
    assert_eq!(entities(&groups), expected);
    let listed = Event::held_by(groups[0].clone());
    assert_eq!(listed.len(), 2, "nobody lists what is of no store and no app");
    let alone = EventGroup::of_events(vec![event(None, None, "merchant", &data)]);
    let due: Vec<Index> = alone[0].indexes().into_iter().map(|(index, _)| index).collect();
    assert_eq!(due, [Index::Gsi3]);
}

#[test]
fn a_group_has_at_most_256_events_and_350_kb() {
    let sizes = |events: Vec<Event>| -> Vec<usize> {
        EventGroup::of_events(events).iter().map(|group| group.events().len()).collect()
    };
    let events: Vec<Event> = (0..300).map(|_| of_store("a")).collect();
    let groups = EventGroup::of_events(events.clone());
    let ids: BTreeSet<&EventId> =
        groups.iter().flat_map(|group| &group.events).map(|event| &event.id).collect();
    assert_eq!((sizes(events), ids.len()), (vec![256, 44], 300));
    let large = json!({"text": "x".repeat(60_000)});
    let events = (0..7).map(|_| event(Some(&store()), None, "a", &large)).collect();
    assert_eq!(sizes(events), [5, 2]);
}

#[test]
fn a_stored_group_is_read_unchanged_with_byte_equal_bodies() {
    let mut events = vec![of_store("a"), of_store("b").in_timeline_of("a")];
    events[0].actor = Some("merchant:mer_x".into());
    events[1].app_id = Some(AppId::derive(&["app"]));
    let data = json!({"text": "\u{1f600} \"quoted\" \\ {}", "number": 1.50});
    events.push(event(Some(&store()), None, "a", &data));
    let group = EventGroup::of_events(events).remove(0);
    let attributes = stored(&group);
    assert_eq!(attributes.get("progress"), None, "as they were made");
    let back = read(attributes);
    assert_eq!(format!("{back:?}"), format!("{group:?}"));
    // One that lost its body still says what it was.
    let removed = group.with([group.events[1].expunged()]);
    let back = read(stored(&removed));
    assert_eq!(format!("{back:?}"), format!("{removed:?}"));
    assert!(back.events[1].is_expunged() && back.events[1].entity_id == "b");
    assert_eq!(back.events[0].body, group.events[0].body);
    assert_eq!(back.events[2].body, group.events[2].body);
}

#[test]
fn a_corrupt_group_is_not_read() {
    let group = EventGroup::of_events(vec![of_store("a"), of_store("a")]).remove(0);
    let whole = stored(&group);
    let corrupted = |member: &str, value: Value| {
        let mut corrupted = whole.clone();
        corrupted[member] = value;
        serde_json::from_value::<EventGroup>(corrupted).is_err()
    };
    let bodies = whole["bodies"].as_str().unwrap();
    assert!(corrupted("bodies", json!(bodies[1..])), "cut");
    assert!(corrupted("bodies", json!(format!("{bodies} "))), "too long");
    assert!(corrupted("bodies", json!(" ".repeat(bodies.len()))), "nothing");
    assert!(corrupted("events", json!([])), "none");
    assert!(corrupted("version", json!("x")));
}

#[test]
fn events_of_a_group_change_state_together_or_singly() {
    let group = EventGroup::of_events(vec![of_store("a"), of_store("a")]).remove(0);
    let due = |group: &EventGroup| group.indexes().iter().any(|(index, _)| *index == Index::Gsi3);
    let published = |event: &Event| event.moved_to(OutboxState::Published, None, NOW);
    let together = group.with(group.pending().map(published));
    assert_eq!(stored(&together)["progress"].as_array().map(Vec::len), Some(1));
    assert!(due(&group) && !due(&together));
    assert_eq!((group.version(), together.version()), (1, 2));
    // One is given up, and the other published without it.
    let one = group.with([group.events[0].discard(NOW).unwrap()]);
    assert!(due(&one), "the other is on its way");
    assert_eq!(one.pending().count(), 1);
    let other = one.with(one.pending().map(published));
    let states = |group: &EventGroup| -> Vec<(&str, u64)> {
        group.events().iter().map(|event| (event.state.as_str(), event.version)).collect()
    };
    assert_eq!(states(&read(stored(&other))), [("discarded", 2), ("published", 2)]);
    assert!(!due(&other) && other.version() == 3);
    let back = other.with([other.events[0].requeue(NOW).unwrap()]);
    assert_eq!(states(&read(stored(&back))), [("pending", 3), ("published", 2)]);
    assert!(due(&back), "the next sweep finds it");
    let lists = |group: &EventGroup| -> Vec<IndexKey> {
        let mut keys = group.indexes();
        keys.retain(|(index, _)| *index != Index::Gsi3);
        keys
    };
    assert_eq!(lists(&back), lists(&group), "no list is written again");
    assert_eq!(lists(&group).len(), 2);
}
