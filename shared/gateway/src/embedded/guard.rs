//! What IAM is in a deployment: a function's calls to AWS are held against the policy that its
//! template gives it, and what it has used is remembered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_dynamodb::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// An action on a resource: `dynamodb:Query` on `Table/index/GSI1`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permission {
    /// As IAM spells it.
    pub action: String,
    /// The resource by its name in the template; an index behind its table's.
    pub resource: String,
}

/// Stands before every call that one function makes.
#[derive(Debug, Clone)]
pub struct Guard(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    function: String,
    allowed: BTreeSet<Permission>,
    names: BTreeMap<String, String>,
    used: Mutex<BTreeSet<Permission>>,
}

impl Guard {
    /// Lets `function` do what is allowed. `names` has what the template calls a resource by what
    /// it is called here: a table's or a secret's name, a queue's URL.
    pub fn new(
        function: String,
        allowed: BTreeSet<Permission>,
        names: BTreeMap<String, String>,
    ) -> Self {
        Self(Arc::new(Inner { function, allowed, names, used: Mutex::default() }))
    }

    /// What was asked for and allowed so far.
    pub fn used(&self) -> BTreeSet<Permission> {
        self.0.used.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn judge(&self, target: &str, call: &Call) -> Result<(), BoxError> {
        let Inner { function, allowed, names, used } = &*self.0;
        for asked in asked(target, call, names) {
            if !allowed.contains(&asked) {
                let Permission { action, resource } = asked;
                let refusal = format!(
                    "template.yaml gives the function {function} no {action} on {resource}: \
                     add it to its Policies"
                );
                tracing::error!(refusal, "AccessDeniedException");
                return Err(refusal.into());
            }
            used.lock().unwrap_or_else(PoisonError::into_inner).insert(asked);
        }
        Ok(())
    }
}

impl Intercept for Guard {
    fn name(&self) -> &'static str {
        "Guard"
    }

    fn read_after_serialization(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let request = context.request();
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let body = request.body().bytes().unwrap_or_default();
        self.judge(target, &serde_json::from_slice(body).unwrap_or_default())
    }
}

/// What of a call's body says which resources it is about. The rest is not looked at: every call of a
/// local system comes through here.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Call {
    table_name: String,
    index_name: Option<String>,
    queue_url: String,
    secret_id: String,
    #[allow(clippy::zero_sized_map_values, reason = "a JSON object is read for its names alone")]
    request_items: BTreeMap<String, IgnoredAny>,
    transact_items: Vec<BTreeMap<String, Part>>,
}

/// A part of a transaction.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Part {
    table_name: String,
}

/// The permissions that a call takes. A transaction takes those of its parts.
fn asked(target: &str, call: &Call, names: &BTreeMap<String, String>) -> BTreeSet<Permission> {
    let (service, operation) = target.rsplit_once('.').unwrap_or(("", target));
    let named = |name: &str| names.get(name).map_or(name, String::as_str).to_owned();
    let one = |service: &str, operation: &str, resource: String| Permission {
        action: format!("{service}:{operation}"),
        resource,
    };
    match (service, operation) {
        ("AmazonSQS", _) => {
            let operation = operation.trim_end_matches("Batch");
            [one("sqs", operation, named(&call.queue_url))].into()
        }
        ("secretsmanager", _) => [one("secretsmanager", operation, named(&call.secret_id))].into(),
        (_, "TransactWriteItems" | "TransactGetItems") => {
            let parts = call.transact_items.iter().flatten();
            let part = |(part, what): (&String, &Part)| {
                one("dynamodb", &format!("{part}Item"), named(&what.table_name))
            };
            parts.map(part).collect()
        }
        (_, "BatchGetItem" | "BatchWriteItem") => {
            let tables = call.request_items.keys();
            tables.map(|table| one("dynamodb", operation, named(table))).collect()
        }
        _ => {
            let table = named(&call.table_name);
            let index = call.index_name.as_ref();
            let resource = index.map_or(table.clone(), |index| format!("{table}/index/{index}"));
            [one("dynamodb", operation, resource)].into()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn call(body: &Value) -> Call {
        serde_json::from_value(body.clone()).unwrap()
    }

    fn spelt(target: &str, body: &Value) -> Vec<String> {
        let names = BTreeMap::from([("commerce".to_owned(), "Table".to_owned())]);
        let asked = asked(target, &call(body), &names).into_iter();
        asked.map(|p| format!("{} {}", p.action, p.resource)).collect()
    }

    #[test]
    fn a_call_takes_the_permissions_of_its_parts() {
        let put = json!({"Put": {"TableName": "commerce", "Item": {"PK": {"S": "a"}}}});
        let check = json!({"ConditionCheck": {"TableName": "commerce"}});
        let write = json!({"TransactItems": [put, check, put]});
        assert_eq!(
            spelt("DynamoDB_20120810.TransactWriteItems", &write),
            ["dynamodb:ConditionCheckItem Table", "dynamodb:PutItem Table"]
        );
        let query = json!({"TableName": "commerce", "IndexName": "GSI1"});
        assert_eq!(spelt("DynamoDB_20120810.Query", &query), ["dynamodb:Query Table/index/GSI1"]);
        let batch = json!({"RequestItems": {"commerce": {}}});
        assert_eq!(
            spelt("DynamoDB_20120810.BatchGetItem", &batch),
            ["dynamodb:BatchGetItem Table"]
        );
        let send = json!({"QueueUrl": "http://q"});
        assert_eq!(spelt("AmazonSQS.SendMessageBatch", &send), ["sqs:SendMessage http://q"]);
    }

    #[test]
    fn what_is_not_given_is_refused_and_what_is_used_is_remembered() {
        let may = Permission { action: "dynamodb:GetItem".into(), resource: "t".into() };
        let guard = Guard::new("F".into(), [may.clone()].into(), BTreeMap::new());
        let body = call(&json!({"TableName": "t"}));
        assert!(guard.used().is_empty());
        guard.judge("DynamoDB_20120810.GetItem", &body).unwrap();
        let refusal = guard.judge("DynamoDB_20120810.PutItem", &body).unwrap_err().to_string();
        assert!(refusal.contains("F no dynamodb:PutItem on t"), "{refusal}");
        assert_eq!(guard.used(), [may].into());
    }
}
