use std::sync::{Arc, Mutex};

use aws_credential_types::Credentials;
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use serde_json::Value;

use super::*;

/// SQS, as far as it takes every message, and remembers where it was asked for what.
#[derive(Debug, Clone, Default)]
struct RecordedCalls(Arc<Mutex<Vec<(String, String, Value)>>>);

impl HttpConnector for RecordedCalls {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let signature = request.headers().get("authorization").unwrap_or_default().to_owned();
        let body = serde_json::from_slice(request.body().bytes().unwrap()).unwrap();
        self.0.lock().unwrap().push((request.uri().to_owned(), signature, body));
        let answer = SdkBody::from(r#"{"MessageId": "m"}"#);
        HttpConnectorFuture::ready(Ok(HttpResponse::new(200.try_into().unwrap(), answer)))
    }
}

impl RecordedCalls {
    fn client(&self) -> Client {
        let connector = SharedHttpConnector::new(self.clone());
        let credentials = Credentials::new("key", "secret", None, None, "test");
        let aws = crate::aws(credentials, "ap-south-1").into_builder();
        let aws = aws.http_client(http_client_fn(move |_, _| connector.clone())).build();
        Client::new(&aws)
    }
}

#[tokio::test]
async fn a_queue_is_called_in_its_own_region_and_a_fifo_queue_by_group() {
    let calls = RecordedCalls::default();
    for name in ["plain", "ordered.fifo"] {
        let url = format!("https://sqs.us-east-1.amazonaws.com/222222222222/{name}");
        let queue = ForeignQueue::new(calls.client(), &url, OWN).unwrap();
        let message = ForeignMessage {
            body: "{}".to_owned(),
            attributes: vec![("webhook-id".to_owned(), "evt_1".to_owned())],
            group_id: "ord_1".to_owned(),
            deduplication_id: "evt_1".to_owned(),
        };
        let answer = queue.send(message, Duration::from_secs(5)).await.unwrap();
        assert_eq!(answer.status, 200);
    }
    let calls = calls.0.lock().unwrap().clone();
    for (uri, signature, body) in &calls {
        assert!(uri.starts_with("https://sqs.us-east-1.amazonaws.com/"), "{uri}");
        assert!(signature.contains("/us-east-1/sqs/aws4_request"), "{signature}");
        assert_eq!(body["MessageAttributes"]["webhook-id"]["StringValue"], "evt_1");
    }
    let groups: Vec<_> = calls.iter().map(|(_, _, body)| &body["MessageGroupId"]).collect();
    assert_eq!(groups, [&Value::Null, &json!("ord_1")]);
    assert_eq!(calls[1].2["MessageDeduplicationId"], "evt_1");
}

const OWN: &str = "https://sqs.ap-south-1.amazonaws.com/111111111111/commerce-WebhookQueue-x";
const LOCAL: &str = "http://127.0.0.1:9324/000000000000/webhooks";

#[test]
fn a_queue_of_another_account_is_taken_with_the_region_that_its_host_names() {
    let region = |text| validate(text, OWN).map(|queue| queue.region);
    let here = "https://sqs.ap-south-1.amazonaws.com/222222222222/orders";
    let there = "https://sqs.us-east-1.amazonaws.com/222222222222/orders-2_x.fifo";
    assert_eq!(region(here), Ok(Some("ap-south-1")));
    assert_eq!(region(there), Ok(Some("us-east-1")));
    assert!(is_fifo(there) && !is_fifo(here));
}

#[test]
fn queues_of_the_own_account_are_rejected() {
    for own in [
        OWN,
        "https://sqs.ap-south-1.amazonaws.com/111111111111/somebody-elses",
        "https://sqs.eu-west-1.amazonaws.com/111111111111/commerce-MailQueue-x",
    ] {
        assert_eq!(validate(own, OWN), Err(QueueRejection::Own), "{own}");
    }
    let dead = "http://127.0.0.1:9324/000000000000/mail-dead";
    assert_eq!(validate(dead, LOCAL), Err(QueueRejection::Own));
}

#[test]
fn a_url_that_is_no_sqs_queue_is_rejected() {
    let long = format!("https://sqs.ap-south-1.amazonaws.com/222222222222/{}", "x".repeat(81));
    for text in [
        "",
        "orders",
        "arn:aws:sqs:ap-south-1:222222222222:orders",
        "http://sqs.ap-south-1.amazonaws.com/222222222222/orders",
        "https://ap-south-1.queue.amazonaws.com/222222222222/orders",
        "https://sqs.ap-south-1.amazonaws.com:443/222222222222/orders",
        "https://sqs.ap-south-1.amazonaws.com@evil.example/222222222222/orders",
        "https://sqs.ap-south-1.amazonaws.com.evil.example/222222222222/orders",
        "https://sqs.ap-south-1.amazonaws.com.cn/222222222222/orders",
        "https://sqs.evil.example/222222222222/orders",
        "https://sqs.AP-SOUTH-1.amazonaws.com/222222222222/orders",
        "https://user@sqs.ap-south-1.amazonaws.com/222222222222/orders",
        "https://sqs.ap-south-1.amazonaws.com/22222222222/orders",
        "https://sqs.ap-south-1.amazonaws.com/2222222222222/orders",
        "https://sqs.ap-south-1.amazonaws.com/222222222222/",
        "https://sqs.ap-south-1.amazonaws.com/222222222222/.fifo",
        "https://sqs.ap-south-1.amazonaws.com/222222222222/a.b",
        "https://sqs.ap-south-1.amazonaws.com/222222222222/orders/",
        "https://sqs.ap-south-1.amazonaws.com/222222222222/orders?x=1",
        "https://sqs.ap-south-1.amazonaws.com/222222222222/orders#x",
        "https://sqs.ap-south-1.amazonaws.com//222222222222/orders",
        "http://127.0.0.1:9324/222222222222/orders",
        long.as_str(),
    ] {
        assert_eq!(validate(text, OWN), Err(QueueRejection::Malformed), "{text}");
    }
}

#[test]
fn a_queue_of_another_partition_cannot_be_reached() {
    let china = "https://sqs.cn-north-1.amazonaws.com.cn/222222222222/orders";
    assert_eq!(validate(china, OWN), Err(QueueRejection::Partition));
    let government = "https://sqs.us-gov-west-1.amazonaws.com/222222222222/orders";
    assert_eq!(validate(government, OWN), Err(QueueRejection::Partition));
    let own = "https://sqs.cn-northwest-1.amazonaws.com.cn/111111111111/x";
    assert_eq!(validate(china, own).map(|queue| queue.region), Ok(Some("cn-north-1")));
}

#[test]
fn alongside_an_emulator_there_are_its_queues_alone() {
    let there = "http://127.0.0.1:9324/222222222222/orders";
    assert_eq!(validate(there, LOCAL).map(|queue| queue.account), Ok("222222222222"));
    for other in [
        "http://127.0.0.1:9325/222222222222/orders",
        "http://localhost:9324/222222222222/orders",
        "https://sqs.us-east-1.amazonaws.com/222222222222/orders",
    ] {
        assert_eq!(validate(other, LOCAL), Err(QueueRejection::Malformed), "{other}");
    }
}

#[test]
fn rejections_are_distinguished() {
    for (status, code, text, expected) in [
        (400, "AWS.SimpleQueueService.NonExistentQueue", "", "queue_not_found"),
        (400, "QueueDoesNotExist", "", "queue_not_found"),
        (403, "AccessDenied", "not authorized to perform: sqs:sendmessage", "access_denied"),
        (400, "AccessDeniedException", "", "access_denied"),
        (403, "RequestThrottled", "", "throttled"),
        (400, "KMS.ThrottlingException", "", "throttled"),
        (400, "KMS.AccessDeniedException", "", "key_unusable"),
        (400, "KmsDisabled", "", "key_unusable"),
        (400, "InvalidMessageContents", "", "invalid_message"),
        (400, "InvalidParameterValue", "must be shorter than 1024 bytes.", "message_too_large"),
        (400, "InvalidParameterValue", "MessageGroupId is invalid", "client_error"),
        (503, "ServiceUnavailable", "", "server_error"),
    ] {
        assert_eq!(class(status, code, text), expected, "{code}");
    }
}
