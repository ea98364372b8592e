//! What runs without a request: the table's stream, the queues and the schedule, which may lose messages, or bring
//! them twice.

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_sqs::types::{Message, MessageSystemAttributeName};
use delivery::delivery::{BATCH_SHARDS, BatchPositions, DeliveryBatch};
use emulators::TABLE;
use emulators::aws::REGION;
use primitives::clock::{MINUTE, Timestamp};
use serde_json::{Value, json};
use services::queue::QueueName;
use table::item::{Index, Item, Key};
use table::outbox::DueKind;

use crate::client::cut;
use crate::step::Trouble;
use crate::world::{Process, World};

/// Records and messages that are read at once.
const BATCH: usize = 100;
/// The queues that are worked on.
const QUEUES: [QueueName; 4] = [
    delivery::delivery::QUEUE,
    delivery::delivery::SLOW_QUEUE,
    dispatcher::QUEUE,
    delivery::run::QUEUE,
];

/// A due mark.
#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) at: Timestamp,
    /// The partition of its kind: `DUE#EVT…`.
    pub(crate) kind: String,
    /// The key of the item that has it.
    key: [String; 2],
}

impl World {
    /// The stream's new records reach the dispatcher, but the first `lost` ones. Returns how many there were.
    pub(crate) async fn stream(&self, lost: u64, is_doubled: bool, trouble: Trouble) -> usize {
        let may_be_news = |change: &str, kind: &str| self.filters.may_take(change, kind);
        let read = self.embedded.emulators().stream_records_of(BATCH, may_be_news);
        let mut records = read.unwrap_or_default();
        records.retain(|record| self.filters.takes(record));
        let found = records.len();
        records.drain(..usize::try_from(lost).unwrap_or(0).min(found));
        for _ in 0..=u32::from(is_doubled) {
            let Ok(event) = serde_json::from_value(json!({ "Records": &records })) else {
                return found;
            };
            let app = self.process().app.clone();
            let handled = dispatcher::handle_stream(&app, event);
            match trouble {
                Trouble::Kill(calls) => {
                    if cut(handled, calls).await.is_none() {
                        self.restart();
                    }
                }
                _ => drop(handled.await),
            }
        }
        found
    }

    /// The messages of all queues are worked on, or lost. Returns how many there were.
    pub(crate) async fn queues(&self, is_lost: bool, is_doubled: bool, trouble: Trouble) -> usize {
        let mut found = 0_usize;
        for name in QUEUES {
            for message in self.messages(name).await {
                found = found.saturating_add(1);
                // The first of each batch is, so that others are not.
                if is_lost && found.is_multiple_of(2) {
                    continue;
                }
                for _ in 0..=u32::from(is_doubled) {
                    self.work(name, message.clone(), trouble).await;
                }
            }
        }
        found
    }

    async fn work(&self, name: QueueName, message: SqsMessage, trouble: Trouble) {
        let mut event = SqsEvent::default();
        event.records = vec![message];
        let process = self.process();
        let working = handle(&process, name, event);
        match trouble {
            Trouble::Kill(calls) => {
                if cut(working, calls).await.is_none() {
                    self.restart();
                }
            }
            _ => drop(working.await),
        }
    }

    /// Takes the messages that are visible now.
    async fn messages(&self, name: QueueName) -> Vec<SqsMessage> {
        let url = self.embedded.app().config.queue_url(name).clone();
        let sqs = self.embedded.sqs();
        let mut all = Vec::new();
        loop {
            let received = sqs
                .receive_message()
                .queue_url(&url)
                .max_number_of_messages(10)
                .message_system_attribute_names(MessageSystemAttributeName::All)
                .send()
                .await;
            let messages = received.ok().and_then(|received| received.messages).unwrap_or_default();
            if messages.is_empty() {
                return all;
            }
            for message in messages {
                let delete = sqs.delete_message().queue_url(&url);
                let delete = delete.set_receipt_handle(message.receipt_handle.clone());
                // It stays for a retry otherwise, as a message does that comes twice.
                let _ = delete.send().await;
                all.push(lambda_message(message, &url));
            }
        }
    }

    /// If anything is due, the schedule runs, and what it queues is worked on. Kinds of work of which nothing is due are
    /// not looked for: 16 empty queries each, which would take half of a sequence's time. Nor are mails, which nobody
    /// sends here.
    pub(crate) async fn sweep(&self, trouble: Trouble) {
        let app = self.process().app.clone();
        let (mut due, now) = (self.due().await, self.clock.now());
        due.retain(|due| due.at <= now);
        if due.is_empty() {
            return;
        }
        let is_due = |kind: &DueKind| due.iter().any(|due| kind.has(&due.kind));
        let sweeping = dispatcher::sweep_kinds(&app, DueKind::ALL.into_iter().filter(is_due));
        match trouble {
            Trouble::Kill(calls) => {
                if cut(sweeping, calls.saturating_mul(3)).await.is_none() {
                    self.restart();
                }
            }
            _ => drop(sweeping.await),
        }
        self.queues(false, false, Trouble::None).await;
    }

    /// The redaction that has this due mark, if it waits for orders that people must finish.
    pub(crate) async fn waiting_redaction(&self, due: &Due) -> Option<Value> {
        if !due.kind.starts_with("DUE#RUN") {
            return None;
        }
        let mut get = self.embedded.dynamodb().get_item().table_name(TABLE).consistent_read(true);
        for (name, value) in ["PK", "SK"].into_iter().zip(&due.key) {
            get = get.key(name, AttributeValue::S(value.clone()));
        }
        let item = get.send().await.ok()?.item?;
        let item = Value::from(table::item::unpacked(item).ok()?);
        (item.get("waits_for_orders") == Some(&Value::Bool(true))).then_some(item)
    }

    /// The work that is due at some time.
    pub(crate) async fn due(&self) -> Vec<Due> {
        let (partition, place) = Index::Gsi3.key_names();
        let scanned = self
            .embedded
            .dynamodb()
            .scan()
            .table_name(TABLE)
            .index_name(Index::Gsi3.name())
            .filter_expression("begins_with(#partition, :due)")
            .expression_attribute_names("#partition", partition)
            .expression_attribute_values(":due", AttributeValue::S("DUE#".to_owned()))
            .send()
            .await;
        let items = scanned.ok().and_then(|page| page.items).unwrap_or_default();
        let batches = self.batches().await;
        let marks = items.iter().filter_map(|item| {
            let kind = item.get(partition)?.as_s().ok()?;
            let at = item.get(place)?.as_s().ok()?;
            // Nobody sends mails here.
            let at = Timestamp::parse(at.split('#').next()?)?;
            let key = ["PK", "SK"].map(|name| match item.get(name) {
                Some(AttributeValue::S(text)) => text.clone(),
                _ => String::new(),
            });
            (!kind.starts_with("DUE#MAI")).then(|| Due { at, kind: kind.clone(), key })
        });
        marks.chain(batches).collect()
    }

    /// The batches of deliveries that the sweep has not passed.
    async fn batches(&self) -> Vec<Due> {
        let app = self.embedded.app();
        let Ok(positions) = BatchPositions::load(app).await else { return Vec::new() };
        let until = self.clock.now().plus(MINUTE);
        let mut all = Vec::new();
        for shard in BATCH_SHARDS.chars() {
            let place = positions.place(shard);
            let rows = DeliveryBatch::after(app, shard, place, until, BATCH).await;
            let batches = rows.unwrap_or_default().into_iter().filter_map(|row| row.batch.ok());
            all.extend(batches.map(|batch| {
                let Key { pk, sk } = batch.key();
                Due { at: batch.due_at(), kind: pk.clone(), key: [pk, sk] }
            }));
        }
        all
    }
}

async fn handle(process: &Process, name: QueueName, event: SqsEvent) -> SqsBatchResponse {
    let app = &process.app;
    if name.0 == dispatcher::QUEUE.0 {
        dispatcher::work(app, event).await.0
    } else if name.0 == delivery::run::QUEUE.0 {
        runner::handle(app, event).await
    } else {
        webhooks::handle(app, event).await
    }
}

/// The message in the form in which Lambda delivers it.
fn lambda_message(message: Message, url: &str) -> SqsMessage {
    let mut record = SqsMessage::default();
    let attributes = message.attributes.unwrap_or_default();
    record.attributes =
        attributes.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    record.message_id = message.message_id;
    record.body = message.body;
    record.event_source = Some("aws:sqs".to_owned());
    let queue = url.rsplit('/').next().unwrap_or_default();
    record.event_source_arn = Some(format!("arn:aws:sqs:{REGION}:000000000000:{queue}"));
    record
}

/// The text of an attribute.
pub(crate) fn attribute<'a>(item: &'a Value, name: &str) -> &'a str {
    item.get(name).and_then(Value::as_str).unwrap_or_default()
}
