//! The queues: messages carry ids only, the table holds the rest. Queues of other AWS accounts, which
//! receive whole events, are in [`foreign`].

pub mod foreign;

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{
    ChangeMessageVisibilityBatchRequestEntry, DeleteMessageBatchRequestEntry, Message,
    MessageSystemAttributeName, SendMessageBatchRequestEntry,
};
use futures_util::FutureExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use primitives::clock::Timestamp;
use primitives::problem::Problem;
use primitives::setting::RequiredSetting;
use table::Table;
use table::canary;
use table::canary::FaultKind;

/// The longest delay SQS takes (docs/platform.md §2).
pub const MAX_DELAY: Duration = Duration::from_mins(15);

/// The variable that holds a queue's URL. It is declared next to the messages of the queue.
#[derive(Debug, Clone, Copy)]
pub struct QueueName(pub &'static str);

/// One queue. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Queue {
    client: Client,
    url: Arc<RequiredSetting<String>>,
    /// The table with the injected fault.
    table: Table,
}

/// The approximate depth of a queue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Depth {
    /// Messages waiting.
    pub waiting: u64,
    /// Messages received and not yet deleted.
    pub in_flight: u64,
    /// Messages whose delay has not passed.
    pub delayed: u64,
}

impl Depth {
    /// The number of all messages, receivable now or not.
    pub const fn total(&self) -> u64 {
        self.waiting.saturating_add(self.in_flight).saturating_add(self.delayed)
    }
}

impl Queue {
    /// The queue at this URL.
    pub fn new(client: Client, url: RequiredSetting<String>, table: Table) -> Self {
        Self { client, url: Arc::new(url), table }
    }

    /// Sends messages, ten at a time; a delay is cut to SQS's maximum. An unsent message is not lost: its
    /// item in the table is still due, and the sweep sends it again. While a fault makes the queue reject
    /// the canary store's messages, all others are sent.
    ///
    /// # Errors
    /// 503 when a message was not taken.
    pub async fn send<T: Serialize>(&self, messages: &[(T, Duration)]) -> Result<(), Problem> {
        let mut bodies = Vec::new();
        for (message, delay) in messages {
            bodies.push((serde_json::to_string(message).map_err(Problem::internal)?, *delay));
        }
        let all = bodies.len();
        let is_canarys = |(body, _): &(String, Duration)| body.contains(canary::IN_MESSAGE);
        if bodies.iter().any(is_canarys) && self.table.injects(FaultKind::QueueUnavailable).await {
            bodies.retain(|body| !is_canarys(body));
        }
        self.send_bodies(&bodies).await?;
        if bodies.len() < all {
            return Err(Problem::unavailable(
                "injected: the queue takes no message of the canary's",
            ));
        }
        Ok(())
    }

    async fn send_bodies(&self, bodies: &[(String, Duration)]) -> Result<(), Problem> {
        for group in bodies.chunks(AT_ONCE) {
            let mut entries = Vec::new();
            for (position, (body, delay)) in group.iter().enumerate() {
                let seconds = delay.min(&MAX_DELAY).as_secs();
                let entry = SendMessageBatchRequestEntry::builder()
                    .id(position.to_string())
                    .message_body(body)
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
                .boxed()
                .await
                .map_err(|error| table::unavailable(&error))?;
            if let Some(failure) = answer.failed().first() {
                return Err(Problem::unavailable(format!("queue: {}", failure.code())));
            }
        }
        Ok(())
    }

    /// The number of messages in the queue.
    pub async fn depth(&self) -> Result<Depth, Problem> {
        self.state().await.map(|(depth, _)| depth)
    }

    /// The number of messages in the queue, and its dead-letter queue as SQS names it, if it has one.
    ///
    /// # Errors
    /// 503.
    pub async fn state(&self) -> Result<(Depth, Option<Self>), Problem> {
        use aws_sdk_sqs::types::QueueAttributeName as Name;
        let answer = self
            .client
            .get_queue_attributes()
            .queue_url(self.url.as_str())
            .attribute_names(Name::ApproximateNumberOfMessages)
            .attribute_names(Name::ApproximateNumberOfMessagesNotVisible)
            .attribute_names(Name::ApproximateNumberOfMessagesDelayed)
            .attribute_names(Name::RedrivePolicy)
            .send()
            .boxed()
            .await
            .map_err(|error| table::unavailable(&error))?;
        let attributes = answer.attributes.unwrap_or_default();
        let number = |name| attributes.get(&name).and_then(|text| text.parse().ok()).unwrap_or(0);
        let depth = Depth {
            waiting: number(Name::ApproximateNumberOfMessages),
            in_flight: number(Name::ApproximateNumberOfMessagesNotVisible),
            delayed: number(Name::ApproximateNumberOfMessagesDelayed),
        };
        let policy = attributes.get(&Name::RedrivePolicy);
        let policy = policy.and_then(|text| serde_json::from_str::<RedrivePolicy>(text).ok());
        Ok((depth, policy.and_then(|policy| self.alongside(&policy.dead_letter_target_arn))))
    }

    /// The queue of this ARN, of the same account and region.
    fn alongside(&self, arn: &str) -> Option<Self> {
        let (place, _) = self.url.rsplit_once('/')?;
        let name = arn.rsplit(':').next()?;
        let url = RequiredSetting::new("the dead-letter queue", Some(format!("{place}/{name}")));
        Some(Self::new(self.client.clone(), url, self.table.clone()))
    }

    /// Up to `limit` of the waiting messages, which stay in the queue. SQS has no call to list them, so
    /// they are received and returned.
    ///
    /// # Errors
    /// 503; what was received is then hidden for half a minute.
    pub async fn peek(&self, limit: usize) -> Result<Vec<PeekedMessage>, Problem> {
        let mut found: Vec<PeekedMessage> = Vec::new();
        while found.len() < limit {
            let messages = self.receive(limit.saturating_sub(found.len())).await?;
            if messages.is_empty() {
                break;
            }
            found.extend(messages);
        }
        for group in found.chunks(AT_ONCE) {
            self.give_back(group).await?;
        }
        Ok(found)
    }

    /// Moves up to `limit` of the waiting messages to another queue, where delays spread them at this rate
    /// a second. A message that is sent and cannot be deleted is in both queues, as any message may be
    /// delivered twice. Returns the number of moved messages.
    ///
    /// # Errors
    /// 503; what was moved by then stays moved.
    pub async fn move_to(&self, other: &Self, limit: usize, rate: usize) -> Result<usize, Problem> {
        let mut moved = 0_usize;
        while moved < limit {
            let messages = self.receive(limit.saturating_sub(moved)).await?;
            if messages.is_empty() {
                break;
            }
            let entry = |(message, number): (&PeekedMessage, usize)| {
                let seconds = moved.saturating_add(number).checked_div(rate).unwrap_or(0);
                let delay = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
                (message.body.clone(), delay)
            };
            let bodies: Vec<_> = messages.iter().zip(0..).map(entry).collect();
            other.send_bodies(&bodies).await?;
            self.delete(&messages).await?;
            moved = moved.saturating_add(messages.len());
        }
        Ok(moved)
    }

    /// Up to ten messages, hidden from other receivers for a while.
    async fn receive(&self, limit: usize) -> Result<Vec<PeekedMessage>, Problem> {
        let answer = self
            .client
            .receive_message()
            .queue_url(self.url.as_str())
            .max_number_of_messages(i32::try_from(limit.min(AT_ONCE)).unwrap_or(1))
            .visibility_timeout(HIDDEN_SECONDS)
            // A short poll queries only some of the servers, and misses the messages of the others.
            .wait_time_seconds(1)
            .message_system_attribute_names(MessageSystemAttributeName::All)
            .send()
            .boxed()
            .await
            .map_err(|error| table::unavailable(&error))?;
        Ok(answer.messages.unwrap_or_default().into_iter().map(PeekedMessage::from).collect())
    }

    async fn give_back(&self, messages: &[PeekedMessage]) -> Result<(), Problem> {
        let entries = messages.iter().zip(0_u32..).filter_map(|(message, number)| {
            let entry = ChangeMessageVisibilityBatchRequestEntry::builder().id(number.to_string());
            entry.receipt_handle(&message.receipt).visibility_timeout(0).build().ok()
        });
        let input = self.client.change_message_visibility_batch().queue_url(self.url.as_str());
        let sent = input.set_entries(Some(entries.collect())).send().boxed().await;
        sent.map(drop).map_err(|error| table::unavailable(&error))
    }

    async fn delete(&self, messages: &[PeekedMessage]) -> Result<(), Problem> {
        let entries = messages.iter().zip(0_u32..).filter_map(|(message, number)| {
            let entry = DeleteMessageBatchRequestEntry::builder().id(number.to_string());
            entry.receipt_handle(&message.receipt).build().ok()
        });
        let input = self.client.delete_message_batch().queue_url(self.url.as_str());
        let sent = input.set_entries(Some(entries.collect())).send().boxed().await;
        sent.map(drop).map_err(|error| table::unavailable(&error))
    }
}

/// The most messages of one call.
const AT_ONCE: usize = 10;
/// The time for which a message is hidden while it is inspected or moved.
const HIDDEN_SECONDS: i32 = 30;

/// The dead-letter queue of a queue.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RedrivePolicy {
    dead_letter_target_arn: String,
}

/// A waiting message, at the time it was read.
#[derive(Debug, Clone)]
pub struct PeekedMessage {
    /// Its id in SQS.
    pub id: String,
    /// The body.
    pub body: String,
    /// When it was sent.
    pub sent_at: Option<Timestamp>,
    /// When it was received first.
    pub first_received_at: Option<Timestamp>,
    /// The number of times it was received, this time included.
    pub receive_count: u64,
    receipt: String,
}

impl From<Message> for PeekedMessage {
    fn from(message: Message) -> Self {
        use MessageSystemAttributeName as Name;
        let attributes = message.attributes.unwrap_or_default();
        let number = |name| attributes.get(&name).and_then(|text: &String| text.parse().ok());
        let time = |name| number(name).map(Timestamp::from_millis);
        let count = number(Name::ApproximateReceiveCount).and_then(|n: i64| u64::try_from(n).ok());
        Self {
            sent_at: time(Name::SentTimestamp),
            first_received_at: time(Name::ApproximateFirstReceiveTimestamp),
            receive_count: count.unwrap_or(0),
            id: message.message_id.unwrap_or_default(),
            body: message.body.unwrap_or_default(),
            receipt: message.receipt_handle.unwrap_or_default(),
        }
    }
}
