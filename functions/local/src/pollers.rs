//! What Lambda's event sources are in a deployment: the table's stream, the queues and the
//! schedule, each pumped into the function that listens to it.
//!
//! A poller that dies with its process loses nothing: an event that the stream did not hand on, and
//! a message that a queue forgot, are still due in the table, and the next sweep finds them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_sqs::types::{DeleteMessageBatchRequestEntry, Message, MessageSystemAttributeName};
use dispatcher::JobReport;
use emulators::aws::REGION;
use emulators::{AnyError, Embedded, TABLE};
use gateway::app::App;
use serde_json::{Value, json};
use services::Services;
use services::metrics::minute_of;
use services::queue::QueueName;
use table::item::Index;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::filters::Filters;
use crate::functions::Functions;

/// Records taken off the stream at once, as the event source mapping has it.
const STREAM_BATCH: usize = 100;
/// Batches of the stream that are worked on at once, as the event source mapping has it: what is about
/// one item stays in order.
const STREAM_LANES: usize = 4;
/// How long an empty stream is left alone while none of us writes; what others write over loopback is
/// found this late.
const STREAM_ASLEEP: Duration = Duration::from_millis(500);
/// How often a failed stream batch is tried again before it is left to the sweep.
const STREAM_TRIES: u32 = 3;
/// How long one request waits for a message: the longest SQS allows.
const LONG_POLL_SECONDS: i32 = 20;
/// How long a poller rests after a failed call.
const REST: Duration = Duration::from_millis(500);
/// Webhook messages that one call is given, and such calls at once, as the event source mapping has them:
/// together several times as many as there may be attempts for one store or at one host, so that those who
/// hang leave room.
const WEBHOOKS: (usize, usize) = (5, 100);
/// The same of slow receivers.
const SLOW_WEBHOOKS: (usize, usize) = (10, 50);
/// Mails of a call, and calls at once.
const MAILS: (usize, usize) = (1, 4);
/// Steps of long work that one call is given, and calls at once, as the event source mapping has them.
const STEPS: (usize, usize) = (1, 5);
/// Batches of due work worked on at once: fewer than a deployment has workers, for these share one
/// machine.
const BATCHES_AT_ONCE: usize = 8;

/// Due marks that are looked at to tell whether there is anything to sweep.
const MARKS_AT_A_LOOK: i32 = 1_000;

/// Starts every poller in `tasks`.
pub(crate) fn start(
    embedded: &Arc<Embedded>,
    functions: &Functions,
    (has_stream, has_runner): (bool, bool),
    sweep_every: Option<Duration>,
    tasks: &mut JoinSet<()>,
) -> Result<(), AnyError> {
    let listener = functions.of("dispatcher")?;
    let dispatcher = listener.app();
    if has_stream {
        let filters = listener.function().stream.clone();
        let filters = filters.ok_or("template.yaml: the dispatcher listens to no stream")?;
        tasks.spawn(stream(Arc::clone(embedded), dispatcher.clone(), filters));
    }
    let settings = &embedded.app().config;
    let queue = |name: QueueName, app: &App, (batch, at_once)| Source {
        app: app.clone(),
        client: embedded.sqs(),
        url: settings.queue_url(name).clone(),
        batch,
        at_once,
    };
    let app = functions.of("webhooks")?.app();
    let webhooks = queue(delivery::delivery::QUEUE, app, WEBHOOKS);
    tasks.spawn(webhooks.poll(|app, event| async move { webhooks::handle(&app, event).await }));
    let app = functions.named("SlowWebhooks")?.app();
    let slow = queue(delivery::delivery::SLOW_QUEUE, app, SLOW_WEBHOOKS);
    tasks.spawn(slow.poll(|app, event| async move { webhooks::handle(&app, event).await }));
    let app = functions.of("mail")?.app();
    let mails = queue(core_types::mail::QUEUE, app, MAILS);
    tasks.spawn(mails.poll(|app, event| async move { mail::handle(&app, event).await }));
    if has_runner {
        let app = functions.of("runner")?.app();
        let steps = queue(delivery::run::QUEUE, app, STEPS);
        tasks.spawn(steps.poll(|app, event| async move { runner::handle(&app, event).await }));
    }
    if let Some(every) = sweep_every {
        let due = queue(dispatcher::QUEUE, dispatcher, (1, BATCHES_AT_ONCE));
        tasks.spawn(due.poll(|app, event| async move { dispatcher::work(&app, event).await.0 }));
        tasks.spawn(schedule(Arc::clone(embedded), dispatcher.clone(), every));
    }
    Ok(())
}

/// Hands the table's stream to the dispatcher: what is about one partition in order, the rest side by
/// side.
async fn stream(embedded: Arc<Embedded>, dispatcher: App, filters: Filters) {
    let writes = embedded.emulators().writes();
    let mut working = JoinSet::new();
    let ordering_keys: Vec<_> = (0..STREAM_LANES)
        .map(|_| {
            let (ordering_key, records) = mpsc::channel(STREAM_BATCH);
            working.spawn(work_in_order(dispatcher.clone(), records));
            ordering_key
        })
        .collect();
    let may_be_news = |change: &str, kind: &str| filters.may_take(change, kind);
    loop {
        match embedded.emulators().stream_records_of(STREAM_BATCH, may_be_news) {
            Ok(records) if records.is_empty() => {
                // A write between the read and here is not missed: it left a permit.
                let _ = tokio::time::timeout(STREAM_ASLEEP, writes.notified()).await;
            }
            Ok(records) => {
                for record in records.into_iter().filter(|record| filters.takes(record)) {
                    let Some(ordering_key) = ordering_keys.get(ordering_key_of(&record)) else {
                        return;
                    };
                    // Waits while the ordering key is full, as a shard does.
                    if ordering_key.send(record).await.is_err() {
                        return tracing::error!("a shard of the stream ended");
                    }
                }
            }
            Err(cause) => {
                tracing::error!(%cause, "the stream cannot be read");
                tokio::time::sleep(REST).await;
            }
        }
    }
}

/// Always the same one for a partition.
fn ordering_key_of(record: &Value) -> usize {
    let mut hasher = DefaultHasher::new();
    record.pointer("/dynamodb/Keys/PK/S").and_then(Value::as_str).hash(&mut hasher);
    let ordering_keys = u64::try_from(STREAM_LANES).unwrap_or(1);
    usize::try_from(hasher.finish().rem_euclid(ordering_keys)).unwrap_or(0)
}

async fn work_in_order(dispatcher: App, mut next: mpsc::Receiver<Value>) {
    let mut records = Vec::new();
    while next.recv_many(&mut records, STREAM_BATCH).await > 0 {
        hand_on(&dispatcher, std::mem::take(&mut records)).await;
    }
}

/// Gives records to the dispatcher, and again from the first that failed, as Lambda does.
async fn hand_on(services: &Services, mut records: Vec<Value>) {
    for _ in 0..STREAM_TRIES {
        let event = match serde_json::from_value(json!({ "Records": &records })) {
            Ok(event) => event,
            Err(cause) => return tracing::error!(%cause, "a stream record is malformed"),
        };
        let dispatcher = services.clone();
        let answer = contain(async move {
            serde_json::to_value(dispatcher::handle_stream(&dispatcher, event).await)
        });
        // No answer is a failure of the whole batch.
        let failed = match answer.await {
            Some(Ok(answer)) => Some(failures(&answer)),
            Some(Err(_)) | None => None,
        };
        let number = |record: &Value| {
            record.pointer("/dynamodb/SequenceNumber").and_then(Value::as_str).map(str::to_owned)
        };
        let first = records.iter().position(|record| {
            failed.as_ref().is_none_or(|f| number(record).is_some_and(|n| f.contains(&n)))
        });
        match first {
            Some(first) => records = records.split_off(first),
            None => return,
        }
        tokio::time::sleep(REST).await;
    }
    tracing::warn!(count = records.len(), "stream records are left to the sweep");
}

/// The identifiers in a partial batch answer.
fn failures(answer: &Value) -> Vec<String> {
    let failures = answer.get("batchItemFailures").and_then(Value::as_array);
    let identifier = |failure: &Value| failure.get("itemIdentifier")?.as_str().map(str::to_owned);
    failures.into_iter().flatten().filter_map(identifier).collect()
}

/// Runs a function so that its panic does not end its poller: in a Lambda it would not either.
async fn contain<T: Send + 'static>(call: impl Future<Output = T> + Send + 'static) -> Option<T> {
    let mut alone = JoinSet::new();
    alone.spawn(call);
    alone.join_next().await?.inspect_err(|cause| tracing::error!(%cause, "a function failed")).ok()
}

/// A queue, and how much of it is worked on at once.
#[derive(Clone)]
struct Source {
    app: App,
    client: aws_sdk_sqs::Client,
    url: String,
    /// Messages that one call is given, at most.
    batch: usize,
    /// Calls at once.
    at_once: usize,
}

impl Source {
    /// Hands messages to `handle`, and deletes what did not fail. A failed one is seen again when its
    /// visibility ends, and after five times in the dead-letter queue.
    async fn poll<H, F>(self, handle: H)
    where
        H: Fn(App, SqsEvent) -> F + Clone + Send + 'static,
        F: Future<Output = SqsBatchResponse> + Send + 'static,
    {
        let room = Arc::new(Semaphore::new(self.at_once));
        let mut working = JoinSet::new();
        loop {
            // Messages are received only when somebody is free to work on them: their visibility
            // ends whether or not anybody has begun.
            let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
            let messages = self.receive_within(self.batch, LONG_POLL_SECONDS).await;
            if messages.is_empty() {
                continue;
            }
            let (source, handle) = (self.clone(), handle.clone());
            working.spawn(async move {
                source.work(messages, handle).await;
                drop(place);
            });
            while working.try_join_next().is_some() {}
        }
    }

    /// Works on one batch of due work.
    async fn work_on(&self, message: Message) -> JobReport {
        let done = Mutex::new(JobReport::default());
        let note = |worked| *done.lock().unwrap_or_else(PoisonError::into_inner) = worked;
        let note = &note;
        self.work(vec![message], |app, event| async move {
            let (answer, worked) = dispatcher::work(&app, event).await;
            note(worked);
            answer
        })
        .await;
        done.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    async fn receive_within(&self, most: usize, seconds: i32) -> Vec<Message> {
        let received = self
            .client
            .receive_message()
            .queue_url(&self.url)
            .max_number_of_messages(i32::try_from(most.min(10)).unwrap_or(10))
            .wait_time_seconds(seconds)
            .message_system_attribute_names(MessageSystemAttributeName::All)
            .send()
            .await;
        match received {
            Ok(received) => received.messages.unwrap_or_default(),
            Err(cause) => {
                tracing::error!(%cause, url = self.url, "the queue cannot be read");
                tokio::time::sleep(REST).await;
                Vec::new()
            }
        }
    }

    async fn work<H, F>(&self, messages: Vec<Message>, handle: H)
    where
        H: Fn(App, SqsEvent) -> F,
        F: Future<Output = SqsBatchResponse>,
    {
        let handles: Vec<_> = messages
            .iter()
            .map(|message| (message.message_id.clone(), message.receipt_handle.clone()))
            .collect();
        let mut event = SqsEvent::default();
        event.records =
            messages.into_iter().map(|message| lambda_message(message, &self.url)).collect();
        let answer = handle(self.app.clone(), event).await;
        let failed = |id: &Option<String>| {
            answer
                .batch_item_failures
                .iter()
                .any(|failure| Some(&failure.item_identifier) == id.as_ref())
        };
        let done = handles.into_iter().filter(|(id, _)| !failed(id));
        let entries: Vec<_> = done
            .zip(0_u32..)
            .filter_map(|((_, receipt), place)| {
                let entry = DeleteMessageBatchRequestEntry::builder().id(place.to_string());
                entry.set_receipt_handle(receipt).build().ok()
            })
            .collect();
        if entries.is_empty() {
            return;
        }
        let delete = self.client.delete_message_batch().queue_url(&self.url);
        if let Err(cause) = delete.set_entries(Some(entries)).send().await {
            tracing::warn!(%cause, url = self.url, "messages stay in their queue");
        }
    }
}

/// Works on the due work that waits in its queue, until there is none.
pub(crate) async fn work_off(embedded: &Embedded, dispatcher: &App) -> JobReport {
    let app = dispatcher.clone();
    let (client, url) = (embedded.sqs(), app.config.queue_url(dispatcher::QUEUE).clone());
    let source = Source { app, client, url, batch: 1, at_once: BATCHES_AT_ONCE };
    let mut worked = JobReport::default();
    loop {
        let mut messages = Vec::new();
        while messages.len() < source.at_once {
            let received = source.receive_within(source.at_once, 0).await;
            if received.is_empty() {
                break;
            }
            messages.extend(received);
        }
        if messages.is_empty() {
            return worked;
        }
        let mut working = JoinSet::new();
        for message in messages {
            let source = source.clone();
            working.spawn(async move { source.work_on(message).await });
        }
        while let Some(done) = working.join_next().await {
            match done {
                Ok(done) => worked = worked.and(done),
                Err(cause) => tracing::error!(%cause, "a function failed"),
            }
        }
    }
}

/// The message as Lambda delivers it from the queue of this URL.
fn lambda_message(message: Message, url: &str) -> SqsMessage {
    let mut record = SqsMessage::default();
    let attributes = message.attributes.unwrap_or_default();
    let text = |(name, value): (MessageSystemAttributeName, String)| (name.to_string(), value);
    record.attributes = attributes.into_iter().map(text).collect();
    record.message_id = message.message_id;
    record.receipt_handle = message.receipt_handle;
    record.md5_of_body = message.md5_of_body;
    record.body = message.body;
    record.event_source = Some("aws:sqs".to_owned());
    let queue = url.rsplit('/').next().unwrap_or_default();
    record.event_source_arn = Some(format!("arn:aws:sqs:{REGION}:000000000000:{queue}"));
    record
}

/// Sweeps what is due, first at once: what an earlier process left behind. A deployment asks for each
/// shard of each kind of work; here one look tells whether there is any.
async fn schedule(embedded: Arc<Embedded>, dispatcher: App, every: Duration) {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut looked_at = None;
    loop {
        ticks.tick().await;
        let minute = minute_of(dispatcher.clock.now());
        if looked_at != Some(minute) {
            looked_at = Some(minute);
            let app = dispatcher.clone();
            contain(async move { dispatcher::look(&app).await }).await;
        }
        if is_anything_due(&embedded, &dispatcher).await {
            let app = dispatcher.clone();
            let swept = contain(async move { dispatcher::sweep(&app).await }).await;
            tracing::debug!(?swept, "swept");
        }
        if let Err(cause) = embedded.emulators().sweep_ttl().await {
            tracing::error!(%cause, "expired items stay");
        }
    }
}

/// Whether a due mark's time has come. When that cannot be told at one look, it may have.
async fn is_anything_due(embedded: &Embedded, dispatcher: &App) -> bool {
    let (partition, place) = Index::Gsi3.key_names();
    let until = format!("{}#~", dispatcher.clock.now());
    let looked = embedded
        .dynamodb()
        .scan()
        .table_name(TABLE)
        .index_name(Index::Gsi3.name())
        .filter_expression("begins_with(#partition, :due) AND #place <= :now")
        .expression_attribute_names("#partition", partition)
        .expression_attribute_names("#place", place)
        .expression_attribute_values(":due", AttributeValue::S("DUE#".to_owned()))
        .expression_attribute_values(":now", AttributeValue::S(until))
        .limit(MARKS_AT_A_LOOK)
        .send()
        .await;
    looked.map_or(true, |looked| looked.count() > 0 || looked.last_evaluated_key().is_some())
}
