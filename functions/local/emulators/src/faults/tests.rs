//! Tests of each fault: its result in the SDK, and its effect on the table.

use std::collections::BTreeSet;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{BehaviorVersion, Region};
use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    AttributeValue, KeysAndAttributes, Put, PutRequest, TransactWriteItem, WriteRequest,
};
use aws_smithy_types::retry::RetryConfig;

use super::*;
use crate::aws::{Emulators, REGION};
use crate::{TABLE, table_definition};
use table::item::Attributes;

/// A table with injected faults. The SDK does not retry.
struct Faulty {
    client: Client,
    faults: Faults,
    _emulators: Emulators,
}

impl Faulty {
    async fn start(faults: Faults) -> Self {
        let emulators = Emulators::start(None).await.unwrap();
        emulators.create_table(&table_definition(TABLE)).unwrap();
        let credentials = Credentials::new("local", "local", None, None, "test");
        let config = aws_sdk_dynamodb::config::Builder::new()
            .behavior_version(BehaviorVersion::latest())
            .endpoint_url(emulators.dynamodb_endpoint().unwrap())
            .region(Region::new(REGION))
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .retry_config(RetryConfig::disabled())
            .http_client(faults.before(&emulators.http_client()))
            .build();
        Self { client: Client::from_conf(config), faults, _emulators: emulators }
    }

    async fn planned() -> Self {
        Self::start(Faults::planned()).await
    }

    /// The error code of putting an item, if it fails.
    async fn put(&self, number: u32) -> Option<String> {
        let put = self.client.put_item().table_name(TABLE).set_item(Some(item(number, "a")));
        code(&put.send().await.map(drop))
    }

    async fn count(&self) -> i32 {
        self.client.scan().table_name(TABLE).consistent_read(true).send().await.unwrap().count()
    }

    /// The names of the items in the index, by its order.
    async fn listed(&self) -> Vec<String> {
        let (mut found, mut start) = (Vec::new(), None);
        loop {
            let page = self
                .client
                .query()
                .table_name(TABLE)
                .index_name("GSI1")
                .key_condition_expression("GSI1PK = :p")
                .expression_attribute_values(":p", AttributeValue::S("all".to_owned()))
                .set_exclusive_start_key(start)
                .send()
                .await
                .unwrap();
            let name = |item: &Attributes| item["name"].as_s().unwrap().clone();
            found.extend(page.items().iter().map(name));
            start = page.last_evaluated_key;
            if start.is_none() {
                return found;
            }
        }
    }
}

fn item(number: u32, name: &str) -> Attributes {
    let text = |text: String| AttributeValue::S(text);
    let place = format!("{number:03}");
    let name = format!("{name}{number}");
    [("PK", place.clone()), ("SK", "A".to_owned()), ("GSI1PK", "all".to_owned()), ("GSI1SK", place)]
        .into_iter()
        .chain([("name", name)])
        .map(|(key, value)| (key.to_owned(), text(value)))
        .collect()
}

fn code<E, R>(outcome: &Result<(), aws_sdk_dynamodb::error::SdkError<E, R>>) -> Option<String>
where
    E: ProvideErrorMetadata,
{
    let error = outcome.as_ref().err()?;
    Some(error.code().unwrap_or("no answer").to_owned())
}

#[tokio::test]
async fn a_rejected_call_has_no_effect_and_a_lost_reply_has() {
    let table = Faulty::planned().await;
    let mut seen = BTreeSet::new();
    for fault in [Fault::Throttled, Fault::Conflict, Fault::Denied] {
        for number in 0..9 {
            table.faults.will([("PutItem", fault)]);
            seen.extend(table.put(number).await);
        }
    }
    assert_eq!(table.count().await, 0);
    let rejections = [
        "AccessDeniedException",
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "TransactionConflictException",
    ];
    assert_eq!(seen, rejections.map(str::to_owned).into());
    let mut seen = BTreeSet::new();
    for number in 0..9 {
        table.faults.will([("PutItem", Fault::LostReply)]);
        seen.extend(table.put(number).await);
    }
    assert_eq!(seen, ["InternalServerError", "no answer"].map(str::to_owned).into());
    assert_eq!((table.count().await, table.faults.left()), (9, 0));
    let happened = [("conflict", 9), ("denied", 9), ("lost", 9), ("throttle", 9)];
    assert_eq!(table.faults.happened(), happened.into());
}

#[tokio::test]
async fn a_cancelled_transaction_names_the_action_and_the_reason() {
    let table = Faulty::planned().await;
    let put = |number| {
        let put = Put::builder().table_name(TABLE).set_item(Some(item(number, "a"))).build();
        TransactWriteItem::builder().put(put.unwrap()).build()
    };
    let write = || async {
        let write = table.client.transact_write_items();
        write.set_transact_items(Some((0..3).map(put).collect())).send().await
    };
    let mut seen = BTreeSet::new();
    for fault in [Fault::Conflict, Fault::Throttled] {
        for _ in 0..12 {
            table.faults.will([("TransactWriteItems", fault)]);
            let error = write().await.unwrap_err().into_service_error();
            if !error.is_transaction_canceled_exception() {
                assert_eq!(fault, Fault::Throttled);
                continue;
            }
            let TransactWriteItemsError::TransactionCanceledException(cancelled) = error else {
                unreachable!()
            };
            let codes: Vec<_> =
                cancelled.cancellation_reasons().iter().filter_map(|one| one.code()).collect();
            assert_eq!(codes.iter().filter(|code| **code == "None").count(), 2, "{codes:?}");
            seen.extend(codes.into_iter().map(str::to_owned));
        }
    }
    let codes = ["None", "ProvisionedThroughputExceeded", "ThrottlingError", "TransactionConflict"];
    assert_eq!(seen, codes.map(str::to_owned).into());
    assert_eq!(table.count().await, 0);
    write().await.unwrap();
    assert_eq!(table.count().await, 3);
}

#[tokio::test]
async fn a_list_is_complete_despite_short_pages() {
    let table = Faulty::planned().await;
    for number in 0..7 {
        table.put(number).await;
    }
    for cuts in 1..12 {
        table.faults.will([("Query", Fault::Short); 11].into_iter().take(cuts));
        let all: Vec<String> = (0..7).map(|number| format!("a{number}")).collect();
        assert_eq!(table.listed().await, all);
    }
    assert!(table.faults.came("Query") > 60, "pages were cut: {}", table.faults.came("Query"));
}

#[tokio::test]
async fn a_stale_index_returns_the_state_of_a_moment_ago() {
    let table = Faulty::planned().await;
    // Without a planned stale read, no items are recorded.
    table.faults.will([("Query", Fault::Stale)]);
    for number in [1, 2, 3] {
        table.put(number).await;
    }
    table.faults.settle().await;
    assert_eq!(table.listed().await, ["a1", "a2", "a3"], "all of it is old");
    table.faults.will([("Query", Fault::Stale)]);
    table.put(4).await;
    let put = table.client.put_item().table_name(TABLE).set_item(Some(item(2, "b")));
    put.send().await.unwrap();
    let deleted = AttributeValue::S("001".to_owned());
    let delete = table.client.delete_item().table_name(TABLE).key("PK", deleted);
    delete.key("SK", AttributeValue::S("A".to_owned())).send().await.unwrap();
    assert_eq!(table.listed().await, ["a1", "a2", "a3"]);
    assert_eq!(table.listed().await, ["b2", "a3", "a4"]);
    assert_eq!(table.faults.happened(), [("stale", 1)].into());
}

#[tokio::test]
async fn an_eventual_read_may_be_stale_and_a_strong_one_is_not() {
    let table = Faulty::planned().await;
    table.put(1).await;
    table.faults.will([("GetItem", Fault::Stale), ("GetItem", Fault::Stale)]);
    table.put(2).await;
    let put = table.client.put_item().table_name(TABLE).set_item(Some(item(1, "b")));
    put.send().await.unwrap();
    let key = |number: u32| -> Attributes {
        item(number, "a").into_iter().filter(|(name, _)| name == "PK" || name == "SK").collect()
    };
    let get = async |number, is_consistent| {
        let get = table.client.get_item().table_name(TABLE).set_key(Some(key(number)));
        let item = get.consistent_read(is_consistent).send().await.unwrap().item?;
        item["name"].as_s().ok().cloned()
    };
    assert_eq!(get(1, false).await.as_deref(), Some("a1"));
    assert_eq!(get(2, false).await, None);
    table.faults.will([("BatchGetItem", Fault::Stale)]);
    let put = table.client.put_item().table_name(TABLE).set_item(Some(item(1, "c")));
    put.send().await.unwrap();
    let keys = KeysAndAttributes::builder().set_keys(Some(vec![key(1), key(2)])).build().unwrap();
    let read = table.client.batch_get_item().request_items(TABLE, keys).send().await.unwrap();
    let mut names: Vec<_> = read.responses.unwrap()[TABLE]
        .iter()
        .map(|item| item["name"].as_s().unwrap().clone())
        .collect();
    names.sort();
    assert!(!names.contains(&"c1".to_owned()), "{names:?}");
    assert_eq!(table.faults.happened(), [("stale", 3)].into());
    table.faults.will([("GetItem", Fault::Stale)]);
    assert_eq!(get(1, true).await.as_deref(), Some("c1"), "it is settled");
}

#[tokio::test]
async fn a_partial_batch_returns_the_unprocessed_rest() {
    let table = Faulty::planned().await;
    table.faults.will([("BatchWriteItem", Fault::Leftover), ("BatchGetItem", Fault::Leftover)]);
    let put = |number| {
        let put = PutRequest::builder().set_item(Some(item(number, "a"))).build().unwrap();
        WriteRequest::builder().put_request(put).build()
    };
    let write = table.client.batch_write_item().request_items(TABLE, (0..5).map(put).collect());
    let left = write.send().await.unwrap().unprocessed_items.unwrap()[TABLE].len();
    let there = usize::try_from(table.count().await).unwrap();
    assert!(left > 0 && there > 0, "{left} were left, {there} are there");
    assert_eq!(left + there, 5);
    let key = |number: u32| -> Attributes {
        item(number, "a").into_iter().filter(|(name, _)| name == "PK" || name == "SK").collect()
    };
    let keys = KeysAndAttributes::builder().set_keys(Some((0..5).map(key).collect()));
    let keys = keys.consistent_read(true).build().unwrap();
    let read = table.client.batch_get_item().request_items(TABLE, keys).send().await.unwrap();
    let unread = &read.unprocessed_keys.as_ref().unwrap()[TABLE];
    assert!(!unread.keys().is_empty() && unread.consistent_read() == Some(true));
    assert_eq!(table.faults.happened(), [("leftover", 2)].into());
}

#[tokio::test]
async fn a_call_may_wait_for_others() {
    let table = Faulty::planned().await;
    table.faults.will([("PutItem", Fault::Behind("Scan", 1))]);
    let (put, _) = tokio::join!(table.put(1), table.count());
    assert_eq!((put, table.count().await, table.faults.left()), (None, 1, 0));
}

#[tokio::test]
async fn faults_are_drawn_at_their_rates_and_repeatably() {
    let outcomes = async |plan: &str| {
        let table = Faulty::start(Faults::drawn(plan.parse().unwrap())).await;
        let mut outcomes = Vec::new();
        for number in 0..300 {
            outcomes.push(table.put(number).await);
        }
        assert_eq!(table.faults.calls(), 300);
        (outcomes, table.faults.happened())
    };
    let (first, happened) = outcomes("throttle=10%,conflict=10%:1").await;
    assert_eq!(outcomes("throttle=10%,conflict=10%:1").await, (first.clone(), happened.clone()));
    assert_ne!(outcomes("throttle=10%,conflict=10%:2").await.0, first);
    for name in ["throttle", "conflict"] {
        assert!((15..50).contains(&happened[name]), "{happened:?}");
    }
    let rejected = u64::try_from(first.iter().flatten().count()).unwrap();
    assert_eq!(rejected, happened.values().sum::<u64>());
    assert!(outcomes("0%:1").await.1.is_empty());
}

#[test]
fn a_plan_is_parsed_and_displayed() {
    for text in
        ["5%:42", "0.25%:0", "100%:7", "throttle=5%,lost=0.5%:42", "stale=1%:18446744073709551615"]
    {
        assert_eq!(text.parse::<Plan>().unwrap().to_string(), text);
    }
    let malformed = [
        "",
        "5%",
        "5:42",
        "5%:",
        "5%:-1",
        "101%:1",
        "-1%:1",
        "5.%:1",
        "5.00001%:1",
        "often=5%:1",
        "lost=60%,slow=60%:1",
        "behind=5%:1",
        "lost=5%,:1",
        "lost:5%:1",
    ];
    for text in malformed {
        let rejected = text.parse::<Plan>().unwrap_err().to_string();
        assert!(rejected.contains("`throttle=5%,lost=0.5%:42`"), "{rejected}");
    }
}

#[test]
fn all_suitable_faults_and_no_others_are_drawn_for_a_call() {
    let plan: Plan = "50%:3".parse().unwrap();
    let drawn = |operation: &str, may_be_late: bool| -> BTreeSet<&str> {
        let call = Call { operation: operation.to_owned(), may_be_late };
        (0..500).filter_map(|number| Some(plan.draw(number, &call).0?.name())).collect()
    };
    assert_eq!(drawn("GetItem", false), ["lost", "slow", "throttle"].into());
    assert_eq!(drawn("GetItem", true), ["lost", "slow", "stale", "throttle"].into());
    assert_eq!(drawn("Query", true), ["lost", "short", "slow", "stale", "throttle"].into());
    assert_eq!(drawn("Query", false), ["lost", "short", "slow", "throttle"].into());
    assert_eq!(drawn("BatchGetItem", false), ["leftover", "lost", "slow", "throttle"].into());
    let write = ["conflict", "lost", "slow", "throttle"];
    assert_eq!(drawn("TransactWriteItems", false), write.into());
    assert_eq!(drawn("UpdateItem", false), write.into());
    assert_ne!(plan.of("one"), plan.of("other"), "each system has faults of its own");
}
