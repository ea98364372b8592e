//! The queues: messages carry ids only, the table holds the rest.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::SendMessageBatchRequestEntry;
use serde::Serialize;

use crate::config::Setting;
use crate::problem::Problem;

/// The longest delay SQS takes (docs/platform.md §2).
pub const MAX_DELAY: Duration = Duration::from_mins(15);

/// The variable that holds a queue's URL. Declared beside the messages that the queue carries.
#[derive(Debug, Clone, Copy)]
pub struct QueueName(pub &'static str);

/// One queue. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Queue {
    client: Client,
    url: Arc<Setting<String>>,
}

/// What is known of a queue's depth, approximately.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Depth {
    /// Messages waiting.
    pub waiting: u64,
    /// Messages received and not yet deleted.
    pub in_flight: u64,
    /// Messages whose delay has not passed.
    pub delayed: u64,
}

impl Queue {
    /// The queue at this URL.
    pub fn new(client: Client, url: Setting<String>) -> Self {
        Self { client, url: Arc::new(url) }
    }

    /// Sends messages, ten at a time; a delay is cut to what SQS takes. What is not sent is not
    /// lost: its item in the table is still due, and the sweep sends it again.
    pub async fn send<T: Serialize>(&self, messages: &[(T, Duration)]) -> Result<(), Problem> {
        for group in messages.chunks(10) {
            let mut entries = Vec::new();
            for (position, (message, delay)) in group.iter().enumerate() {
                let seconds = delay.min(&MAX_DELAY).as_secs();
                let entry = SendMessageBatchRequestEntry::builder()
                    .id(position.to_string())
                    .message_body(serde_json::to_string(message).map_err(Problem::internal)?)
                    .delay_seconds(i32::try_from(seconds).unwrap_or(0))
                    .build()
                    .map_err(Problem::internal)?;
                entries.push(entry);
            }
            let answer = self
                .client
                .send_message_batch()
                .queue_url(self.url.as_str())
                .set_entries(Some(entries))
                .send()
                .await
                .map_err(|error| crate::table::unavailable(&error))?;
            if let Some(failure) = answer.failed().first() {
                return Err(Problem::unavailable(format!("queue: {}", failure.code())));
            }
        }
        Ok(())
    }

    /// How much is in the queue.
    pub async fn depth(&self) -> Result<Depth, Problem> {
        use aws_sdk_sqs::types::QueueAttributeName as Name;
        let answer = self
            .client
            .get_queue_attributes()
            .queue_url(self.url.as_str())
            .attribute_names(Name::ApproximateNumberOfMessages)
            .attribute_names(Name::ApproximateNumberOfMessagesNotVisible)
            .attribute_names(Name::ApproximateNumberOfMessagesDelayed)
            .send()
            .await
            .map_err(|error| crate::table::unavailable(&error))?;
        let attributes = answer.attributes.unwrap_or_default();
        let number = |name| attributes.get(&name).and_then(|text| text.parse().ok()).unwrap_or(0);
        Ok(Depth {
            waiting: number(Name::ApproximateNumberOfMessages),
            in_flight: number(Name::ApproximateNumberOfMessagesNotVisible),
            delayed: number(Name::ApproximateNumberOfMessagesDelayed),
        })
    }
}
