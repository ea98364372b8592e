//! The pollers, which play Lambda's event sources: the table's stream, the queues and the schedule, each
//! for the function that listens to it.
//!
//! A poller that ends with its process loses nothing: an unhandled stream record and a lost message are
//! still due in the table, and the next sweep finds them.

mod contain;
mod stream;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_sqs::types::{
    DeleteMessageBatchRequestEntry, Message, MessageSystemAttributeName, QueueAttributeName,
};
use delivery::delivery::BatchPositions;
use dispatcher::JobReport;
use emulators::aws::REGION;
use emulators::{AnyError, Embedded, TABLE};
use gateway::app::App;
use services::metrics::minute_of;
use services::queue::QueueName;
use table::item::Index;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::backpressure::Relay;
use crate::functions::Functions;
use contain::{REST, contain};

/// How long one request waits for a message: the longest SQS allows.
const LONG_POLL_SECONDS: i32 = 20;
/// Concurrent receives of one queue, as Lambda begins with.
const POLLERS: usize = 4;
/// Webhook messages of one invocation, and concurrent invocations, as in the event source mapping. Together
/// they are several times the concurrency permits of a store or a host, so that hanging receivers leave room.
const WEBHOOKS: (usize, usize) = (5, 100);
/// The same for slow receivers.
const SLOW_WEBHOOKS: (usize, usize) = (10, 50);
/// Mails of one invocation, and concurrent invocations.
const MAILS: (usize, usize) = (1, 4);
/// Steps of long work of one invocation, and concurrent invocations, as in the event source mapping.
const STEPS: (usize, usize) = (1, 10);
/// Concurrent batches of due work: fewer than a deployment has workers, because these share one machine.
const BATCHES_AT_ONCE: usize = 8;

/// Due marks that one scan reads to tell whether there is anything to sweep.
const MARKS_AT_A_LOOK: i32 = 1_000;

/// Starts every poller in `tasks`.
pub(crate) fn start(
    embedded: &Arc<Embedded>,
    functions: &Functions,
    (has_stream, has_runner): (bool, bool),
    sweep_every: Option<Duration>,
    relay: &Arc<Relay>,
    tasks: &mut JoinSet<()>,
) -> Result<(), AnyError> {
    let listener = functions.of("dispatcher")?;
    let dispatcher = listener.app();
    if has_stream {
        let filters = listener.function().stream.clone();
        let filters = filters.ok_or("template.yaml: the dispatcher listens to no stream")?;
        let relay = Arc::clone(relay);
        tasks.spawn(stream::poll(Arc::clone(embedded), dispatcher.clone(), filters, relay));
    }
    let settings = &embedded.app().config;
    let queue = |name: QueueName, app: &App, (batch, at_once)| Source {
        app: app.clone(),
        client: embedded.sqs(),
        url: settings.queue_url(name).clone(),
        batch,
        at_once,
        relay: None,
    };
    let app = functions.of("webhooks")?.app();
    let webhooks = queue(delivery::delivery::QUEUE, app, WEBHOOKS);
    let webhooks = Source { relay: Some(Arc::clone(relay)), ..webhooks };
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

/// A queue with its batch size and concurrency.
#[derive(Clone)]
struct Source {
    app: App,
    client: aws_sdk_sqs::Client,
    url: String,
    /// Messages of one invocation at most.
    batch: usize,
    /// Concurrent invocations.
    at_once: usize,
    /// Who is told how many messages wait.
    relay: Option<Arc<Relay>>,
}

impl Source {
    /// Gives messages to `handle`, and deletes those that did not fail. A failed message is received again
    /// after its visibility timeout, and goes to the dead-letter queue after five receives.
    async fn poll<H, F>(self, handle: H)
    where
        H: Fn(App, SqsEvent) -> F + Clone + Send + 'static,
        F: Future<Output = SqsBatchResponse> + Send + 'static,
    {
        let permits = Arc::new(Semaphore::new(self.at_once));
        let mut pollers = JoinSet::new();
        for _ in 0..POLLERS.min(self.at_once) {
            pollers.spawn(self.clone().poll_within(Arc::clone(&permits), handle.clone()));
        }
        while pollers.join_next().await.is_some() {}
    }

    /// Gives messages to `handle` while it has permits.
    async fn poll_within<H, F>(self, permits: Arc<Semaphore>, handle: H)
    where
        H: Fn(App, SqsEvent) -> F + Clone + Send + 'static,
        F: Future<Output = SqsBatchResponse> + Send + 'static,
    {
        let mut working = JoinSet::new();
        loop {
            // Messages are received only when a slot is free: their visibility timeout runs from the
            // receive on.
            let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
            let messages = self.receive_within(self.batch, LONG_POLL_SECONDS).await;
            if messages.is_empty() {
                continue;
            }
            self.tell_waiting(messages.len()).await;
            let (source, handle) = (self.clone(), handle.clone());
            working.spawn(async move {
                source.work(messages, handle).await;
                drop(permit);
            });
            while working.try_join_next().is_some() {}
        }
    }

    /// Tells the relay how many messages wait, after so many were received.
    async fn tell_waiting(&self, received: usize) {
        let Some(relay) = &self.relay else { return };
        if received < self.batch {
            return relay.messages_wait(0);
        }
        let name = QueueAttributeName::ApproximateNumberOfMessages;
        let asked = self.client.get_queue_attributes().queue_url(&self.url);
        let Ok(found) = asked.attribute_names(name.clone()).send().await else { return };
        let count = found.attributes().and_then(|all| all.get(&name)?.parse().ok());
        relay.messages_wait(count.unwrap_or_default());
    }

    /// Runs one batch of due work.
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
                tracing::error!(%cause, url = self.url, "queue could not be read");
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
            tracing::warn!(%cause, url = self.url, "messages not deleted from their queue");
        }
    }
}

/// Runs the due work in its queue until the queue is empty.
pub(crate) async fn work_off(embedded: &Embedded, dispatcher: &App) -> JobReport {
    let app = dispatcher.clone();
    let (client, url) = (embedded.sqs(), app.config.queue_url(dispatcher::QUEUE).clone());
    let source = Source { app, client, url, batch: 1, at_once: BATCHES_AT_ONCE, relay: None };
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

/// The message in the form in which Lambda delivers it from the queue of this URL.
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

/// Sweeps due work at once, for what an earlier process left, and then at each interval. A deployment queries
/// each shard of each kind of work; here one scan tells whether there is any.
async fn schedule(embedded: Arc<Embedded>, dispatcher: App, every: Duration) {
    let mut ticks = tokio::time::interval(every);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut watched = None;
    loop {
        ticks.tick().await;
        let minute = minute_of(dispatcher.clock.now());
        if watched != Some(minute) {
            watched = Some(minute);
            let app = dispatcher.clone();
            contain(async move { dispatcher::run_watch(&app).await }).await;
        }
        if is_anything_due(&embedded, &dispatcher).await {
            let app = dispatcher.clone();
            let swept = contain(async move { dispatcher::sweep(&app).await }).await;
            tracing::debug!(?swept, "expired items deleted");
        }
        if let Err(cause) = embedded.sweep_ttl().await {
            tracing::error!(%cause, "expired items not deleted");
        }
    }
}

/// Whether a due mark has passed, or a batch of deliveries awaits the sweep; also true if one scan cannot tell.
async fn is_anything_due(embedded: &Embedded, dispatcher: &App) -> bool {
    let (partition, place) = Index::Gsi3.key_names();
    let until = format!("{}#~", dispatcher.clock.now());
    let scanned = embedded
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
    let is_marked = scanned
        .map_or(true, |scanned| scanned.count() > 0 || scanned.last_evaluated_key().is_some());
    is_marked || BatchPositions::is_any_due(dispatcher).await.unwrap_or(true)
}
