use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{FOREIGN_QUEUES, Guard, Statement, is_like};

const READS: [&str; 3] = ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"];
const WRITES: [&str; 3] =
    ["dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:ConditionCheckItem"];

fn statement(actions: &[&str], resources: &[&str], leading_keys: &[&str]) -> Statement {
    let set = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let (actions, resources) = (set(actions), set(resources));
    Statement { denies: false, actions, resources, leading_keys: set(leading_keys) }
}

/// The guard of a function that reads stores and apps, lists the objects of a store, and writes its events.
fn guard() -> Guard {
    let policy = vec![
        statement(&READS, &["Table"], &["STO#sto_?", "STO#*#ORD#*", "APP#*", "HEALTH"]),
        statement(&["dynamodb:Query"], &["Table/index/GSI5"], &["STO#*#ORD"]),
        statement(&WRITES, &["Table"], &["STO#*", "EVT#*"]),
        statement(&["dynamodb:BatchWriteItem"], &["Table"], &["DLV#*"]),
        statement(&["dynamodb:Scan"], &["Table"], &["STO#*"]),
        statement(&["sqs:SendMessage"], &["Queue", "Both", FOREIGN_QUEUES], &[]),
        Statement { denies: true, ..statement(&["sqs:SendMessage"], &["Mails", "Both"], &[]) },
    ];
    let names = [
        ("commerce", "Table"),
        ("http://q", "Queue"),
        ("http://127.0.0.1:9/000000000000/mail", "Mails"),
        ("http://127.0.0.1:9/000000000000/both", "Both"),
    ];
    let names = names.map(|(name, resource)| (name.to_owned(), resource.to_owned())).into();
    Guard::new("F".to_owned(), policy, names)
}

/// Whether the guard allows a call.
fn may(guard: &Guard, target: &str, body: &Value) -> bool {
    guard.validate(target, body.to_string().as_bytes()).is_ok()
}

fn dynamodb(guard: &Guard, operation: &str, body: &Value) -> bool {
    may(guard, &format!("DynamoDB_20120810.{operation}"), body)
}

fn key(partition: &str) -> Value {
    json!({"PK": {"S": partition}, "SK": {"S": "A"}})
}

fn get(guard: &Guard, partition: &str) -> bool {
    dynamodb(guard, "GetItem", &json!({"TableName": "commerce", "Key": key(partition)}))
}

fn batch(guard: &Guard, partitions: &[&str]) -> bool {
    let keys: Vec<_> = partitions.iter().map(|partition| key(partition)).collect();
    dynamodb(guard, "BatchGetItem", &json!({"RequestItems": {"commerce": {"Keys": keys}}}))
}

fn write(guard: &Guard, parts: &[Value]) -> bool {
    dynamodb(guard, "TransactWriteItems", &json!({"TransactItems": parts}))
}

fn put(partition: &str) -> Value {
    json!({"Put": {"TableName": "commerce", "Item": key(partition)}})
}

fn update(partition: &str) -> Value {
    json!({"Update": {"TableName": "commerce", "Key": key(partition)}})
}

fn check(partition: &str) -> Value {
    json!({"ConditionCheck": {"TableName": "commerce", "Key": key(partition)}})
}

fn query(index: Option<&str>, attribute: &str, partition: &str) -> Value {
    let condition = format!("{attribute} = :p AND begins_with(SK, :b)");
    let values = json!({":p": {"S": partition}, ":b": {"S": "STO#"}});
    json!({
        "TableName": "commerce",
        "IndexName": index,
        "KeyConditionExpression": condition,
        "ExpressionAttributeValues": values,
    })
}

fn spelt<T: ToString>(seen: &BTreeSet<T>) -> Vec<String> {
    seen.iter().map(ToString::to_string).collect()
}

#[test]
fn patterns_match_as_in_iam() {
    for (pattern, like, unlike) in [
        ("HEALTH", &["HEALTH"][..], &["", "health", "HEALTHY", "HEALT"][..]),
        ("STO#*", &["STO#", "STO#s", "STO#s#ORD#o"], &["STO", "sto#s", "XSTO#s"]),
        ("STO#*#ORD#*", &["STO#s#ORD#o", "STO##ORD#"], &["STO#s", "STO#s#ORDER#o", "STO#s#ORD"]),
        ("STO#????", &["STO#sto_", "STO#äöü1"], &["STO#sto", "STO#sto_1"]),
        ("*", &["", "anything"], &[]),
    ] {
        assert!(like.iter().all(|text| is_like(pattern, text)), "{pattern}");
        assert!(!unlike.iter().any(|text| is_like(pattern, text)), "{pattern}");
    }
}

#[test]
fn an_item_is_read_if_its_partition_matches_a_leading_key() {
    let guard = guard();
    assert!(get(&guard, "STO#sto_1"));
    assert!(get(&guard, "HEALTH"));
    assert!(!get(&guard, "STO#sto_1#CUS#c"), "another partition of the store");
    assert!(!get(&guard, "MER#m"));
    assert!(!get(&guard, "EVT#e"), "only written");
}

#[test]
fn one_key_outside_rejects_a_batch() {
    let guard = guard();
    assert!(batch(&guard, &["STO#sto_1", "STO#s#ORD#o", "APP#a"]));
    assert!(!batch(&guard, &["STO#sto_1", "MER#m", "APP#a"]));
    assert!(!batch(&guard, &["STO#sto_1", "EVT#e"]), "statements do not add up");
}

#[test]
fn one_key_outside_rejects_a_transaction() {
    let guard = guard();
    assert!(write(&guard, &[put("STO#s"), update("STO#s#ORD#o"), check("STO#s"), put("EVT#e")]));
    assert!(!write(&guard, &[put("STO#s"), update("MER#m")]));
    assert!(!write(&guard, &[put("STO#s"), check("MER#m")]));
    let delete = json!({"Delete": {"TableName": "commerce", "Key": key("STO#s")}});
    assert!(!write(&guard, &[put("STO#s"), delete]), "an action that is not given");
}

#[test]
fn a_transactions_actions_are_validated_by_all_of_its_keys() {
    let apart = vec![
        statement(&["dynamodb:PutItem"], &["Table"], &["EVT#*"]),
        statement(&["dynamodb:ConditionCheckItem"], &["Table"], &["STO#*"]),
    ];
    let names = BTreeMap::from([("commerce".to_owned(), "Table".to_owned())]);
    let guard = Guard::new("F".to_owned(), apart, names);
    assert!(write(&guard, &[put("EVT#e")]));
    assert!(!write(&guard, &[put("EVT#e"), check("STO#s")]));
}

#[test]
fn a_query_reads_the_partition_of_its_index() {
    let guard = guard();
    assert!(dynamodb(&guard, "Query", &query(None, "PK", "STO#s#ORD#o")));
    assert!(!dynamodb(&guard, "Query", &query(None, "PK", "MER#m")));
    assert!(dynamodb(&guard, "Query", &query(Some("GSI5"), "GSI5PK", "STO#s#ORD")));
    assert!(!dynamodb(&guard, "Query", &query(Some("GSI5"), "GSI5PK", "STO#s#ORD#o")));
    assert!(!dynamodb(&guard, "Query", &query(Some("GSI6"), "GSI6PK", "STO#s#ORD")));
    assert!(!dynamodb(&guard, "Query", &query(Some("GSI5"), "PK", "STO#s#ORD")), "no partition");
}

#[test]
fn a_batch_of_writes_needs_the_permission_of_each_partition() {
    let guard = guard();
    let writes = |partitions: &[&str]| {
        let put = |partition: &&str| json!({"PutRequest": {"Item": key(partition)}});
        let mut writes: Vec<_> = partitions.iter().map(put).collect();
        writes.push(json!({"DeleteRequest": {"Key": key("DLV#gone")}}));
        dynamodb(&guard, "BatchWriteItem", &json!({"RequestItems": {"commerce": writes}}))
    };
    assert!(writes(&["DLV#a", "DLV#b"]));
    assert!(!writes(&["DLV#a", "STO#s"]), "may be put, but in no batch");
    assert!(!dynamodb(&guard, "BatchWriteItem", &json!({"RequestItems": {"commerce": []}})));
}

#[test]
fn a_call_without_a_partition_is_always_rejected() {
    let guard = guard();
    assert!(!dynamodb(&guard, "Scan", &json!({"TableName": "commerce"})));
    assert!(!dynamodb(&guard, "GetItem", &json!({"TableName": "commerce"})));
    assert!(!dynamodb(&guard, "TransactWriteItems", &json!({"TransactItems": []})));
    let nameless = json!({"Update": {"TableName": "commerce"}});
    assert!(!write(&guard, &[put("STO#s"), nameless]));
    assert!(!may(&guard, "DynamoDB_20120810.GetItem", &json!("not a call")));
}

#[test]
fn uses_are_recorded_with_the_pattern_and_rejections_with_the_key() {
    let guard = guard();
    assert!(guard.used().is_empty() && guard.rejected().is_empty());
    assert!(batch(&guard, &["STO#sto_1", "APP#a"]));
    assert!(write(&guard, &[put("EVT#e"), check("STO#s")]));
    let send = json!({"QueueUrl": "http://q"});
    assert!(may(&guard, "AmazonSQS.SendMessageBatch", &send));
    assert_eq!(
        spelt(&guard.used()),
        [
            "dynamodb:BatchGetItem Table APP#*",
            "dynamodb:BatchGetItem Table STO#sto_?",
            "dynamodb:ConditionCheckItem Table STO#*",
            "dynamodb:PutItem Table EVT#*",
            "sqs:SendMessage Queue",
        ]
    );
    assert!(!batch(&guard, &["STO#sto_1", "MER#m"]));
    assert!(!may(&guard, "secretsmanager.GetSecretValue", &json!({"SecretId": "k"})));
    assert_eq!(
        spelt(&guard.rejected()),
        ["dynamodb:BatchGetItem Table MER#m", "secretsmanager:GetSecretValue k",]
    );
}

#[test]
fn queues_of_other_accounts_are_one_resource_and_a_denial_wins() {
    let guard = guard();
    let send = |url: &str| {
        may(&guard, "AmazonSQS.SendMessage", &json!({"QueueUrl": url, "MessageBody": "x"}))
    };
    assert!(send("http://q"));
    assert!(send("http://127.0.0.1:9/222222222222/mail"), "another account's");
    assert!(!send("http://127.0.0.1:9/000000000000/mail"));
    assert!(!send("http://127.0.0.1:9/000000000000/both"), "allowed, and denied");
    // The same queue by another host name, and one that the template does not have.
    assert!(!send("http://localhost:9/000000000000/mail"));
    assert!(!send("http://127.0.0.1:9/000000000000/other"));
}
