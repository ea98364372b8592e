//! Queues of a service that is not emulated.

use std::time::Duration;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::QueueAttributeName;
use serde_json::json;

use crate::aws::{MAX_RECEIVE_COUNT, Queue};
use crate::error::{AnyError, EmulatorError};

/// Creates `name` and its dead-letter queue `<name>-dead`, unless they exist, as
/// [`crate::aws::Emulators::create_queue`] does.
pub(crate) async fn create_queue(
    client: &Client,
    name: &str,
    visibility: Duration,
) -> Result<Queue, EmulatorError> {
    let made = create(client, name, visibility).await;
    made.map_err(EmulatorError::while_trying(format!("create the queue {name}")))
}

async fn create(client: &Client, name: &str, visibility: Duration) -> Result<Queue, AnyError> {
    let dead = client.create_queue().queue_name(format!("{name}-dead")).send().await?;
    let dead_letter_url = dead.queue_url.ok_or("no URL came back")?;
    let arn = QueueAttributeName::QueueArn;
    let found = client.get_queue_attributes().queue_url(&dead_letter_url);
    let found = found.attribute_names(arn.clone()).send().await?;
    let arn = found.attributes().and_then(|all| all.get(&arn)).ok_or("the queue has no ARN")?;
    let redrive = json!({"deadLetterTargetArn": arn, "maxReceiveCount": MAX_RECEIVE_COUNT});
    let made = client
        .create_queue()
        .queue_name(name)
        .attributes(QueueAttributeName::VisibilityTimeout, visibility.as_secs().to_string())
        .attributes(QueueAttributeName::RedrivePolicy, redrive.to_string())
        .send()
        .await?;
    Ok(Queue { url: made.queue_url.ok_or("no URL came back")?, dead_letter_url })
}
