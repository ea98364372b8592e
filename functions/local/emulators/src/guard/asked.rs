//! The permissions that a call needs: its actions, their resources and partition keys.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::{FOREIGN_QUEUES, Permission};
use crate::aws::ACCOUNT;
use table::item::Index;

/// The permissions that a call needs, each with its partition keys.
pub(super) type Asked = BTreeMap<Permission, BTreeSet<String>>;

/// The parts of a call's body that name resources and items. The rest is not parsed, because every call of a
/// local system passes through here.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Call {
    table_name: String,
    key: PrimaryKey,
    item: PrimaryKey,
    index_name: Option<String>,
    key_condition_expression: String,
    expression_attribute_values: BTreeMap<String, Text>,
    queue_url: String,
    secret_id: String,
    request_items: BTreeMap<String, Batch>,
    transact_items: Vec<BTreeMap<String, Part>>,
}

/// A part of a transaction or of a batch of writes.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Part {
    table_name: String,
    key: PrimaryKey,
    item: PrimaryKey,
}

/// What a batch writes or reads in one table.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Batch {
    Writes(Vec<BTreeMap<String, Part>>),
    Reads(Wanted),
}

impl Batch {
    /// The partition of each item.
    fn partitions(self) -> Vec<Option<String>> {
        match self {
            Self::Writes(writes) => {
                let writes = writes.into_iter().flat_map(BTreeMap::into_values);
                writes.map(Part::partition).collect()
            }
            Self::Reads(wanted) => wanted.keys.into_iter().map(|key| key.partition.text).collect(),
        }
    }
}

/// The keys of a batch in one table.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Wanted {
    keys: Vec<PrimaryKey>,
}

impl Part {
    fn partition(self) -> Option<String> {
        self.key.partition.text.or(self.item.partition.text)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PrimaryKey {
    #[serde(rename = "PK")]
    partition: Text,
}

/// An attribute's value, if it is a string.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Text {
    #[serde(rename = "S")]
    text: Option<String>,
}

impl Call {
    /// The partition that a query reads: the table's, or the index's own.
    fn queried(self) -> Option<String> {
        let index = self.index_name.as_deref();
        let index = Index::ALL.into_iter().find(|known| Some(known.name()) == index);
        let attribute = index.map_or("PK", |index| index.key_names().0);
        let mut clauses = self.key_condition_expression.split(" AND ");
        let value = clauses.find_map(|clause| {
            clause.split_once(" = ").filter(|(name, _)| *name == attribute).map(|(_, value)| value)
        });
        let mut values = self.expression_attribute_values;
        values.remove(value?)?.text
    }
}

/// The permissions that a call needs. A transaction needs those of its parts.
///
/// # Errors
/// A call that cannot be parsed, needs no permission, or names no partition, like `Scan`: without one IAM's
/// condition would be true.
pub(super) fn asked(
    target: &str,
    body: &[u8],
    names: &BTreeMap<String, String>,
) -> Result<Asked, String> {
    let call: Call = serde_json::from_slice(body).map_err(|cause| cause.to_string())?;
    let (service, operation) = target.rsplit_once('.').unwrap_or(("", target));
    let named = |name: &str| names.get(name).map_or(name, String::as_str).to_owned();
    let to = |service: &str, operation: &str, resource: String| Permission {
        action: format!("{service}:{operation}"),
        resource,
    };
    match service {
        "AmazonSQS" => {
            let operation = operation.trim_end_matches("Batch");
            let queue = queue(&call.queue_url, names);
            return Ok([(to("sqs", operation, queue), BTreeSet::new())].into());
        }
        "secretsmanager" => {
            let secret = named(&call.secret_id);
            return Ok([(to("secretsmanager", operation, secret), BTreeSet::new())].into());
        }
        _ => {}
    }
    let mut asked = Asked::new();
    for (action, (table, index), key) in items(operation, call) {
        let index = index.map(|index| format!("/index/{index}")).unwrap_or_default();
        let one = to("dynamodb", &action, format!("{}{index}", named(&table)));
        asked.entry(one).or_default().insert(key.ok_or("a call that names no partition")?);
    }
    if asked.is_empty() { Err("a call that asks for nothing".to_owned()) } else { Ok(asked) }
}

/// The template's name of a queue. All queues of other accounts are one resource.
fn queue(url: &str, names: &BTreeMap<String, String>) -> String {
    let path = |url: &str| url.rsplitn(3, '/').take(2).map(str::to_owned).collect::<Vec<_>>();
    let is_it =
        |known: &&String| **known == url || (url.contains("://") && path(known) == path(url));
    if let Some(known) = names.keys().find(is_it) {
        return names.get(known).cloned().unwrap_or_default();
    }
    match path(url).get(1) {
        Some(account) if account.len() == 12 && account != ACCOUNT => FOREIGN_QUEUES.to_owned(),
        _ => url.to_owned(),
    }
}

/// An action, a table or one of its indexes, and the partition.
type Done = (String, (String, Option<String>), Option<String>);

/// The actions of a call on the table.
fn items(operation: &str, call: Call) -> Vec<Done> {
    match operation {
        "TransactWriteItems" | "TransactGetItems" => {
            let parts = call.transact_items.into_iter().flatten();
            let done = |(kind, part): (String, Part)| {
                let table = part.table_name.clone();
                (format!("{kind}Item"), (table, None), part.partition())
            };
            parts.map(done).collect()
        }
        "BatchGetItem" | "BatchWriteItem" => {
            let done = |(table, batch): (String, Batch)| {
                let one = move |key| (operation.to_owned(), (table.clone(), None), key);
                batch.partitions().into_iter().map(one)
            };
            call.request_items.into_iter().flat_map(done).collect()
        }
        "Query" => {
            let place = (call.table_name.clone(), call.index_name.clone());
            vec![(operation.to_owned(), place, call.queried())]
        }
        _ => {
            let key = call.key.partition.text.or(call.item.partition.text);
            vec![(operation.to_owned(), (call.table_name, call.index_name), key)]
        }
    }
}
