//! The table behind a system: what a test changes or takes out there, as nobody can over HTTP.

use core_types::id::EventId;
use emulators::TABLE;
use serde::de::DeserializeOwned;
use serde_json::Value;
use table::item::Key;

use crate::Gateway;

impl Gateway {
    /// The item of this kind that has this id.
    pub async fn item(&self, kind: &str, id: &str) -> Value {
        let mut items = self.items_of(kind, "").await;
        items.retain(|item| item["id"] == id);
        items.pop().unwrap_or_else(|| panic!("no {kind} {id}"))
    }

    /// Sets these attributes of an item, whatever its version is.
    pub async fn change_item(&self, item: &Value, attributes: Value) {
        let Value::Object(attributes) = attributes else { panic!("attributes: {attributes}") };
        let client = self.system().embedded().dynamodb();
        let mut update =
            client.update_item().table_name(TABLE).set_key(Some(key_of(item).attributes()));
        let mut terms = Vec::new();
        for (number, (name, value)) in attributes.into_iter().enumerate() {
            let value = serde_dynamo::to_attribute_value(value).expect("an attribute's value");
            update = update.expression_attribute_names(format!("#{number}"), name);
            update = update.expression_attribute_values(format!(":{number}"), value);
            terms.push(format!("#{number} = :{number}"));
        }
        let update = update.update_expression(format!("SET {}", terms.join(", ")));
        update.condition_expression("attribute_exists(PK)").send().await.expect("it is changed");
    }

    /// Puts an item, keys and all, in the place of what is there.
    pub async fn put_item(&self, item: &Value) {
        let client = self.system().embedded().dynamodb();
        let attributes = serde_dynamo::to_item(item).expect("an item");
        let put = client.put_item().table_name(TABLE).set_item(Some(attributes));
        put.send().await.expect("it is put");
    }

    /// Deletes an item, as its time to live would.
    pub async fn delete_item(&self, item: &Value) {
        let client = self.system().embedded().dynamodb();
        let delete =
            client.delete_item().table_name(TABLE).set_key(Some(key_of(item).attributes()));
        delete.send().await.expect("it is deleted");
    }

    /// The partition keys of every write to the table since this was called last, whosever it is.
    pub async fn written_keys(&self) -> Vec<String> {
        let mut keys = Vec::new();
        loop {
            let read = self.system().embedded().stream_records(1_000, |_, _| true).await;
            let records = read.expect("the stream is read").records;
            if records.is_empty() {
                return keys;
            }
            let key =
                |record: &Value| record["dynamodb"]["Keys"]["PK"]["S"].as_str().unwrap().to_owned();
            keys.extend(records.iter().map(key));
        }
    }

    /// Deletes an event, and those that happened with it, as their time to live would.
    pub async fn forget_event(&self, id: &str) {
        let id = EventId::parse(id).expect("an event's id");
        let write = self.app().table.write().delete(&core_types::key::event(&id));
        write.commit().await.expect("it is deleted");
    }
}

/// The key of an item.
pub(crate) fn key_of(item: &Value) -> Key {
    let part = |name: &str| item[name].as_str().expect("an item has its key");
    Key::new(part("PK"), part("SK"))
}

/// What an item is.
pub(crate) fn read<T: DeserializeOwned>(item: &Value) -> T {
    serde_json::from_value(item.clone()).expect("an item")
}
