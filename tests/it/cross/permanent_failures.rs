//! Work that can never succeed ends at the first try, as failed: whichever of its writes the table will never
//! take, and whatever its item has become. Nothing is retried for it, nothing is a dead letter, and the store
//! goes on.

mod due;
mod long_work;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsEvent, SqsMessage};
use aws_sdk_dynamodb::types::AttributeValue;
use delivery::run::RunMessage;
use emulators::TABLE;
use emulators::faults::Faults;
use gateway::app::App;
use support::{Gateway, Value};

/// A message as its queue hands it to a function.
fn message(body: &str) -> SqsEvent {
    let mut record = SqsMessage::default();
    record.message_id = Some("one".to_owned());
    record.body = Some(body.to_owned());
    let mut event = SqsEvent::default();
    event.records = vec![record];
    event
}

/// One step of the work. None of its messages comes back, so that none ends as a dead letter.
async fn step(app: &App, work: &RunMessage) {
    let event = message(&serde_json::to_string(work).unwrap());
    let left = runner::handle(app, event).await.batch_item_failures;
    assert!(left.is_empty(), "a message would be received again: {work:?}");
}

/// The work's item, as the table has it; none when it is gone.
async fn item(gateway: &Gateway, work: &RunMessage) -> Option<Value> {
    let key = work.key();
    let items = gateway.items(&key.pk).await;
    items.into_iter().find(|item| item["PK"] == key.pk.as_str() && item["SK"] == key.sk.as_str())
}

/// Takes steps until nothing of the work is due.
async fn to_its_end(gateway: &Gateway, app: &App, work: &RunMessage) -> Option<Value> {
    for _ in 0..60 {
        step(app, work).await;
        let found = item(gateway, work).await;
        if found.as_ref().is_none_or(|item| item["GSI3PK"].is_null()) {
            return found;
        }
        gateway.advance(Duration::from_secs(3));
    }
    panic!("{work:?} does not end: {:?}", item(gateway, work).await)
}

/// A way to the table on which the write of this number, from 0, is rejected for good.
fn without_write(gateway: &Gateway, number: usize) -> (App, Faults) {
    let faults = Faults::planned();
    let app = gateway.system().embedded().app_over(&faults);
    let count = Arc::new(AtomicUsize::new(0));
    faults.reject(move |_, input| {
        // What is counted of calls is no part of the work.
        let is_counted = !input.to_string().contains("\"MET#");
        is_counted && count.fetch_add(1, Ordering::Relaxed) == number
    });
    (app, faults)
}

fn has_rejected(faults: &Faults) -> bool {
    faults.happened().contains_key("invalid")
}

/// Makes of an item what nobody can read.
async fn spoil(gateway: &Gateway, pk: &str, sk: &str) {
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let table = gateway.system().embedded().dynamodb();
    let spoilt = table
        .update_item()
        .table_name(TABLE)
        .key("PK", text(pk))
        .key("SK", text(sk))
        .update_expression("SET #version = :none")
        .expression_attribute_names("#version", "version")
        .expression_attribute_values(":none", text("none"));
    spoilt.send().await.unwrap();
}
