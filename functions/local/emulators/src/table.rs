//! The table's definition: the one that local systems are created with, and that a test holds
//! equal to what `template.yaml` deploys.

use serde_json::{Value, json};

use table::item::Index;

/// The attribute that holds the time to live, in epoch seconds (docs/platform.md §1).
pub const TTL_ATTRIBUTE: &str = "ttl";

/// The table of this name, in the words of the `DynamoDB` API; `CloudFormation` has the
/// same ones, except that it spells `StreamEnabled` by giving a view type.
///
/// Lists are read whole from GSI1, GSI2, GSI4 and GSI7; GSI3 is sparse and leads to work that is due,
/// GSI5 and GSI6 lead to what is seldom listed, so keys are enough. The stream shows an item as it was
/// and as it is, so that a stock level that came from nothing can be told from one that fell.
pub fn table_definition(name: &str) -> Value {
    let mut keys = vec![("PK", "SK")];
    keys.extend(Index::ALL.map(Index::key_names));
    let attribute = |name: &str| json!({"AttributeName": name, "AttributeType": "S"});
    let attributes: Vec<Value> =
        keys.into_iter().flat_map(|(pk, sk)| [attribute(pk), attribute(sk)]).collect();
    let secondary = Index::ALL.map(|index| {
        let (pk, sk) = index.key_names();
        let projection = if index.is_keys_only() { "KEYS_ONLY" } else { "ALL" };
        json!({
            "IndexName": index.name(),
            "KeySchema": key_schema(pk, sk),
            "Projection": {"ProjectionType": projection},
        })
    });
    json!({
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": attributes,
        "KeySchema": key_schema("PK", "SK"),
        "GlobalSecondaryIndexes": secondary,
        "StreamSpecification": {"StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        "TimeToLiveSpecification": {"AttributeName": TTL_ATTRIBUTE, "Enabled": true},
    })
}

fn key_schema(pk: &str, sk: &str) -> Value {
    json!([
        {"AttributeName": pk, "KeyType": "HASH"},
        {"AttributeName": sk, "KeyType": "RANGE"},
    ])
}
