//! The other side of deliveries into a queue: a subscriber's own SQS queue, in an account of its own.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_sqs::Client as Sqs;
use aws_sdk_sqs::types::{Message, MessageSystemAttributeName, QueueAttributeName};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use crate::{Gateway, Received, eventually};

/// The subscriber's account.
const ACCOUNT: &str = "222222222222";
/// The account that the service is in.
const SERVICE: &str = "000000000000";
const DEADLINE: Duration = Duration::from_secs(30);

/// A message as its consumer sees it.
#[derive(Debug, Clone)]
pub struct Polled {
    /// The body, and the headers as the attribute that has all of them says.
    pub received: Received,
    /// The other attributes, as the headers that they are.
    pub attributes: HeaderMap,
    /// Of a FIFO queue's.
    pub group_id: Option<String>,
    pub deduplication_id: Option<String>,
}

impl From<&Message> for Polled {
    fn from(message: &Message) -> Self {
        let mut attributes: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in message.message_attributes.iter().flatten() {
            attributes.insert(name.clone(), value.string_value().expect("a text").to_owned());
        }
        let all = attributes.remove("headers").expect("all headers are in one");
        let all: BTreeMap<String, String> = serde_json::from_str(&all).expect("they are JSON");
        let system = |name| message.attributes.as_ref()?.get(&name).cloned();
        let body = message.body().unwrap_or_default().as_bytes().to_vec();
        let (method, path) = ("SendMessage".to_owned(), String::new());
        Self {
            received: Received { method, path, headers: headers(&all), body },
            attributes: headers(&attributes),
            group_id: system(MessageSystemAttributeName::MessageGroupId),
            deduplication_id: system(MessageSystemAttributeName::MessageDeduplicationId),
        }
    }
}

fn headers(texts: &BTreeMap<String, String>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in texts {
        let name = HeaderName::try_from(name).expect("the name of a header");
        headers.insert(name, HeaderValue::from_str(value).expect("a header's value"));
    }
    headers
}

/// A queue that a subscriber polls.
pub struct PolledQueue {
    sqs: Sqs,
    name: String,
    pub url: String,
}

impl PolledQueue {
    /// A queue whose policy lets the service send.
    pub async fn open(gateway: &Gateway, name: &str) -> Self {
        let queue = Self::closed(gateway, name).await;
        queue.admit(true).await;
        queue
    }

    /// A queue that lets nobody send.
    pub async fn closed(gateway: &Gateway, name: &str) -> Self {
        let sqs = gateway.system().embedded().sqs_of(ACCOUNT);
        let url = create(&sqs, name).await;
        Self { sqs, name: name.to_owned(), url }
    }

    /// The queue of this name, which is not there.
    pub fn missing(&self, name: &str) -> String {
        self.url.replace(&self.name, name)
    }

    /// Changes whether the queue's policy lets the service send.
    pub async fn admit(&self, is_admitted: bool) {
        let principal = if is_admitted { SERVICE } else { "333333333333" };
        let policy = json!({
            "Version": "2012-10-17",
            "Statement": {
                "Effect": "Allow",
                "Principal": {"AWS": format!("arn:aws:iam::{principal}:root")},
                "Action": "sqs:SendMessage",
                "Resource": "*",
            },
        });
        let set = self.sqs.set_queue_attributes().queue_url(&self.url);
        let set = set.attributes(QueueAttributeName::Policy, policy.to_string());
        set.send().await.expect("the policy is set");
    }

    /// Changes an attribute of the queue.
    pub async fn set(&self, name: QueueAttributeName, value: &str) {
        let set = self.sqs.set_queue_attributes().queue_url(&self.url).attributes(name, value);
        set.send().await.expect("the attribute is set");
    }

    pub async fn delete(&self) {
        self.sqs.delete_queue().queue_url(&self.url).send().await.expect("the queue goes");
    }

    /// Makes the queue again, as it was opened.
    pub async fn reopen(&self) {
        assert_eq!(create(&self.sqs, &self.name).await, self.url);
        self.admit(true).await;
    }

    /// What waits now, which is gone then.
    pub async fn poll(&self) -> Vec<Polled> {
        let input = self.sqs.receive_message().queue_url(&self.url);
        let input = input.max_number_of_messages(10).message_attribute_names("All");
        let input = input.message_system_attribute_names(MessageSystemAttributeName::All);
        let messages = input.send().await.expect("the queue is read").messages.unwrap_or_default();
        for message in &messages {
            let delete = self.sqs.delete_message().queue_url(&self.url);
            let delete = delete.set_receipt_handle(message.receipt_handle.clone());
            delete.send().await.expect("the message is deleted");
        }
        messages.iter().map(Polled::from).collect()
    }

    /// The next message, once it is there; nothing else may be.
    pub async fn next(&self) -> Polled {
        let look = || async {
            let mut messages = self.poll().await;
            assert!(messages.len() < 2, "one was expected: {messages:?}");
            messages.pop()
        };
        eventually(DEADLINE, look).await
    }

    /// The next message, which is a challenge: with its token.
    pub async fn challenge(&self) -> (Polled, String) {
        let challenge = self.next().await;
        let body = challenge.received.json();
        assert_eq!(body["type"], "webhook_subscription.challenge", "{body}");
        let token = body["data"]["token"].as_str().expect("a token").to_owned();
        (challenge, token)
    }

    /// As a subscription names it.
    pub fn destination(&self) -> Value {
        json!({"type": "sqs", "queue_url": self.url})
    }
}

async fn create(sqs: &Sqs, name: &str) -> String {
    let mut input = sqs.create_queue().queue_name(name);
    if services::queue::foreign::is_fifo(name) {
        input = input.attributes(QueueAttributeName::FifoQueue, "true");
    }
    let made = input.send().await.expect("the queue is made");
    made.queue_url.expect("it has a URL")
}
