//! What a delivery asks of the table: exact units and round trips, and that it is made and sent once.

use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsEvent, SqsMessage};
use core_types::event::{Event, EventGroup, OutboxState};
use delivery::delivery::{BatchPositions, Delivery, DeliveryMessage};
use delivery::subscription::Subscription;
use gateway::app::App;
use support::clock::MINUTE;
use support::{Behaviour, Gateway, Value, eventually, json, race};
use table::item::Item;
use table::{Metered, metered};

use crate::operations::webhooks::{DEADLINE, SUBSCRIPTIONS, Watched};

const NOTHING: Metered = Metered { trips: 0, capacity_tenths: 0 };

impl Watched {
    /// Without a stream: nothing happens between the calls of a test.
    async fn still(behaviour: Behaviour) -> Self {
        let gateway = Gateway::start_with(|options| options.has_stream = false).await;
        Self::on(gateway, behaviour).await
    }

    /// The service, all of whose messages are lost.
    fn mute(&self) -> App {
        self.gateway.system().embedded().app_without_queues()
    }

    async fn subscribe(&self, path: &str) {
        let input = json!({"url": self.receiver.url(path), "event_types": ["store.updated"]});
        self.owner().post(SUBSCRIPTIONS).json(input).await.expect(201);
    }

    /// An event that nobody has handed on.
    async fn event(&self, name: &str) -> Event {
        self.rename(name).await;
        let events = self.gateway.all_events().await;
        let is_meant = |event: &Event| event.body.contains(&format!("\"{name}\""));
        events.into_iter().find(is_meant).unwrap()
    }

    /// The events that are one item with this one.
    async fn group_of(&self, event: &Event) -> EventGroup {
        let groups = self.gateway.event_groups().await;
        groups.into_iter().find(|group| group.event(&event.id).is_some()).unwrap()
    }

    async fn subscriptions(&self) -> Vec<Subscription> {
        let items = self.gateway.items_of("webhook_subscription", "STO#").await;
        items.into_iter().map(|item| serde_json::from_value(item).unwrap()).collect()
    }

    async fn stored(&self) -> Vec<Delivery> {
        let items = self.gateway.items_of("delivery", "DLV#").await;
        items.into_iter().map(|item| serde_json::from_value(item).unwrap()).collect()
    }

    /// The deliveries of an event, made and not sent.
    async fn made(&self, event: &Event) -> Vec<Delivery> {
        dispatcher::publish(&self.mute(), &self.group_of(event).await).await.unwrap();
        let mut stored = self.stored().await;
        stored.retain(|delivery| delivery.event_id == event.id);
        stored
    }

    /// Everybody has answered at once before, and holds no place.
    async fn all_prompt(&self) {
        self.rename("Prompt").await;
        self.gateway.advance(MINUTE + Duration::from_secs(1));
        self.gateway.sweep().await;
        eventually(DEADLINE, || async {
            let subscriptions = self.subscriptions().await;
            subscriptions.iter().all(|one| one.health.is_prompt()).then_some(())
        })
        .await;
        eventually(DEADLINE, || async {
            let items = self.gateway.items("PLC#").await;
            let is_slot = |name: &String| {
                name.strip_prefix('s').is_some_and(|rest| rest.parse::<u32>().is_ok())
            };
            let held = items.iter().filter_map(Value::as_object).flat_map(|item| item.keys());
            (held.filter(|name| is_slot(name)).count() == 0).then_some(())
        })
        .await;
        // Until the next success is news.
        self.gateway.app().clock.stop();
    }
}

fn units(trips: u32, units: u64) -> Metered {
    Metered { trips, capacity_tenths: units * 10 }
}

#[tokio::test]
async fn creating_and_finishing_a_delivery_costs_two_writes_of_three_units() {
    let watched = Watched::still(Behaviour::Answer(200, Vec::new(), b"{\"ok\":true}".into())).await;
    watched.all_prompt().await;
    let app = watched.mute();
    let now = app.clock.now();
    let subscription = watched.subscriptions().await.remove(0);
    let event = watched.event("Measured").await;
    // Made: the item, and its place in the list. Again: nothing.
    let delivery = Delivery::in_batch(&event, &subscription, now);
    let (made, used) = metered(now, delivery.create(&app)).await;
    made.unwrap();
    assert_eq!(used, units(1, 2));
    let (again, used) = metered(now, delivery.create(&app)).await;
    again.unwrap();
    assert_eq!(used, units(1, 0), "a rejected write, whose unit no answer tells");
    // Sent and settled, after it, its event and its subscription were read.
    let (sent, used) = metered(now, webhooks::attempt(&app, &delivery.message())).await;
    sent.unwrap();
    assert_eq!(watched.receiver.requests().len(), 2);
    assert_eq!(used, units(2, 3 + 1));
    let settled = watched.stored().await.into_iter().find(|one| one.id == delivery.id).unwrap();
    assert_eq!((settled.status.as_str(), settled.version), ("succeeded", 2));
    assert_eq!(
        watched.attempts(&json!({"id": delivery.id})).await[0]["response_body"],
        "{\"ok\":true}"
    );
    // One that was asked for by itself has a due mark of its own, which is put and deleted.
    let event = watched.event("Asked for").await;
    let delivery = Delivery::new(&event, &subscription, now);
    let (made, used) = metered(now, delivery.create(&app)).await;
    made.unwrap();
    assert_eq!(used, units(1, 3));
    let (sent, used) = metered(now, webhooks::attempt(&app, &delivery.message())).await;
    sent.unwrap();
    assert_eq!(used, units(2, 3 + 2));
    // Queued again while it is sent: its outcome is recorded all the same, once.
    let event = watched.event("Swept meanwhile").await;
    let delivery = Delivery::new(&event, &subscription, now);
    delivery.create(&app).await.unwrap();
    let begun = delivery.begun(now);
    delivery.swept(now).replace(&app).await.unwrap();
    let found = app.table.get::<Delivery>(&delivery.key()).await.unwrap().unwrap();
    assert_eq!((begun.version, found.version), (1, 2));
    assert!(begun.begun_again(&found, now).is_some_and(|again| again.version == 2));
    assert!(begun.begun_again(&found.begun(now), now).is_none(), "another worker's attempt");
    let ((), unused) = metered(now, async {}).await;
    assert_eq!(unused, NOTHING);
}

#[tokio::test]
async fn a_batch_of_deliveries_reads_shared_items_once() {
    let watched = Watched::still(Behaviour::Status(200)).await;
    for number in 1..10 {
        watched.subscribe(&format!("/{number}")).await;
    }
    watched.all_prompt().await;
    let deliveries = watched.made(&watched.event("Shared").await).await;
    assert_eq!(deliveries.len(), 10);
    let mut batch = SqsEvent::default();
    batch.records = deliveries.iter().map(|delivery| record(&delivery.message())).collect();
    let app = watched.mute();
    let (answer, used) = metered(app.clock.now(), webhooks::handle(&app, batch)).await;
    assert!(answer.batch_item_failures.is_empty());
    assert_eq!(watched.receiver.requests().len(), 20);
    // One read for all, of the event, the subscriptions and the deliveries; then a settlement of each.
    assert_eq!(used, units(1 + 10, 1 + 10 + 10 + 10));
}

fn record(message: &DeliveryMessage) -> SqsMessage {
    let mut record = SqsMessage::default();
    record.message_id = Some(message.delivery_id.to_string());
    record.body = Some(serde_json::to_string(message).unwrap());
    record
}

#[tokio::test]
async fn fan_out_costs_two_write_units_per_subscription_and_one_for_all() {
    let watched = Watched::still(Behaviour::Status(200)).await;
    let (app, now) = (watched.mute(), watched.gateway.now());
    let of_one = watched.group_of(&watched.event("Audience A").await).await;
    let (_, one) = metered(now, dispatcher::publish(&app, &of_one)).await;
    for number in 1..11 {
        watched.subscribe(&format!("/{number}")).await;
    }
    let of_eleven = watched.group_of(&watched.event("Audience B").await).await;
    let (_, eleven) = metered(now, dispatcher::publish(&app, &of_eleven)).await;
    assert_eq!(watched.stored().await.len(), 12);
    assert_eq!(
        eleven.trips, one.trips,
        "a read of what is there and a write, for two writes side by side"
    );
    let more = eleven.capacity_tenths - one.capacity_tenths;
    // Two for each of ten more, one for each of eleven that is looked for, and two for the subscriptions that
    // are more to read, some 0.7 KB each. The batch that names them is one unit either way.
    assert!((310..=340).contains(&more), "{more}");
}

#[tokio::test]
async fn publishing_an_event_again_leaves_its_deliveries_unchanged() {
    let watched = Watched::by(Behaviour::Status(200)).await;
    watched.rename("Once").await;
    watched.delivery_in("succeeded").await;
    let before = watched.gateway.items_of("delivery", "DLV#").await;
    for published in watched.gateway.event_groups().await {
        let key = published.key();
        let begun = |event| Event { state: OutboxState::Pending, version: 1, ..event };
        let events = published.into_events().into_iter().map(begun).collect();
        // As the stream showed it.
        let stale = EventGroup::of_events(events).remove(0);
        assert_eq!((stale.key(), stale.version()), (key, 1));
        dispatcher::publish(watched.gateway.app(), &stale).await.unwrap();
    }
    assert_eq!(watched.gateway.items_of("delivery", "DLV#").await, before);
    assert_eq!(watched.receiver.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_messages_for_one_attempt_make_one_request() {
    // One is recognized in the process, the other claimed in the table.
    for fields in [json!({}), json!({"ordering": "entity"})] {
        let gateway = Gateway::start_with(|options| options.has_stream = false).await;
        let watched = Watched::with(gateway, Behaviour::Status(200), fields.clone()).await;
        watched.all_prompt().await;
        let delivery = watched.made(&watched.event("Many times").await).await.remove(0);
        let (app, message) = (watched.mute(), delivery.message());
        let attempt = || {
            let (app, message) = (app.clone(), message.clone());
            async move { webhooks::attempt(&app, &message).await.unwrap() }
        };
        race(200, attempt).await;
        assert_eq!(watched.receiver.requests().len(), 2);
        let mut stored = watched.stored().await;
        stored.retain(|one| one.id == delivery.id);
        let writes = if fields == json!({}) { 2 } else { 3 };
        assert_eq!((stored[0].attempt, stored[0].version), (1, writes));
        assert_eq!(stored[0].attempts().len(), 1);
    }
}

/// The batches in the table, and the deliveries that have a due mark.
async fn batches_and_marks(watched: &Watched) -> (usize, usize) {
    let batches = watched.gateway.items_of("delivery_batch", "DLV#BATCH").await.len();
    let marked = watched.stored().await.iter().filter(|one| one.due_at.is_some()).count();
    (batches, marked)
}

#[tokio::test]
async fn a_delivery_of_an_event_costs_four_write_units_together_with_its_batch() {
    let watched = Watched::still(Behaviour::Status(200)).await;
    watched.all_prompt().await;
    let (app, now) = (watched.mute(), watched.gateway.now());
    let before = batches_and_marks(&watched).await;
    let group = watched.group_of(&watched.event("Four").await).await;
    // None that it is for, to compare with.
    let (_, with) = metered(now, dispatcher::publish(&app, &group)).await;
    assert_eq!(batches_and_marks(&watched).await, (before.0 + 1, 0));
    let owner = watched.owner();
    let id = watched.subscriptions().await[0].id.clone();
    let gone = owner.delete(&format!("{SUBSCRIPTIONS}/{id}")).await;
    assert!(gone.status < 300, "{}", gone.text);
    let group = watched.group_of(&watched.event("None").await).await;
    let (_, without) = metered(now, dispatcher::publish(&app, &group)).await;
    assert_eq!(batches_and_marks(&watched).await, (before.0 + 1, 0), "nothing is named");
    // The item with its place in the list, and the batch: its outcome is the fourth unit.
    let more = with.capacity_tenths - without.capacity_tenths;
    assert_eq!((with.trips - without.trips, more), (2, 30));
}

#[tokio::test]
async fn the_sweep_queues_what_lost_its_message_and_reads_a_batch_once() {
    let watched = Watched::still(Behaviour::Status(200)).await;
    watched.all_prompt().await;
    watched.subscribe("/second").await;
    let (app, event) = (watched.mute(), watched.event("Lost").await);
    let made = watched.made(&event).await;
    assert_eq!((made.len(), made.iter().all(Delivery::is_unmarked)), (2, true));
    // Not before its message can be taken for lost.
    watched.gateway.advance(MINUTE);
    assert_eq!(dispatcher::sweep(&app).await.deliveries, 0);
    watched.gateway.advance(MINUTE + Duration::from_secs(1));
    // No message of this sweep is sent either.
    assert_eq!(dispatcher::sweep(&app).await.deliveries, 2);
    let marked = watched.stored().await;
    let of_event = marked.iter().filter(|one| one.event_id == event.id);
    assert!(of_event.clone().all(|one| one.due_at.is_some_and(|at| at > watched.gateway.now())));
    // Since then the batch is passed, and marks bring them back.
    let positions = BatchPositions::load(&app).await.unwrap();
    assert!(!BatchPositions::is_any_due(&app).await.unwrap());
    watched.gateway.advance(MINUTE * 2 + Duration::from_secs(1));
    assert_eq!(dispatcher::sweep(&app).await.deliveries, 2);
    assert_eq!(BatchPositions::load(&app).await.unwrap(), positions);
    watched.gateway.advance(MINUTE * 2 + Duration::from_secs(1));
    watched.gateway.sweep().await;
    eventually(DEADLINE, || async {
        let all = watched.stored().await;
        all.iter().all(|one| one.status.as_str() == "succeeded").then_some(())
    })
    .await;
    assert_eq!(batches_and_marks(&watched).await.1, 0);
}

#[tokio::test]
async fn a_delivery_made_before_a_crash_is_named_by_the_batch_of_the_repetition() {
    let watched = Watched::still(Behaviour::Status(200)).await;
    watched.all_prompt().await;
    let subscription = watched.subscriptions().await.remove(0);
    let (app, event) = (watched.mute(), watched.event("Killed").await);
    // The process ended between the delivery and its batch.
    let delivery = Delivery::in_batch(&event, &subscription, app.clock.now());
    delivery.create(&app).await.unwrap();
    watched.gateway.advance(MINUTE * 2);
    // The event is still due; its messages are lost again.
    assert_eq!(dispatcher::sweep(&app).await.events, 1);
    assert!(watched.made(&event).await.iter().all(Delivery::is_unmarked));
    watched.gateway.advance(MINUTE * 2 + Duration::from_secs(1));
    assert_eq!(dispatcher::sweep(&app).await.deliveries, 1);
}
