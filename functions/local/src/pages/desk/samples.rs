//! Ids of what the demo store has, for calls to try.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::Desk;
use crate::demo::SUBDOMAIN;

/// How long ids are remembered.
const REMEMBERED: Duration = Duration::from_secs(3);

/// Lists of the store, whose first objects are the samples.
const LISTS: [&str; 6] = [
    "/v1/products?limit=1",
    "/v1/products/collections?limit=1",
    "/v1/orders?limit=1",
    "/v1/customers?limit=1",
    "/v1/inventory/locations?limit=1",
    "/v1/operations/webhook-subscriptions?limit=1",
];

/// An id of each kind, by the prefix of its kind: `prd`, `ord`.
#[derive(Debug, Clone, Default)]
pub(in crate::pages) struct Samples(BTreeMap<String, String>);

/// Samples, and when they were loaded.
pub(super) type Remembered = Option<(Instant, Samples)>;

impl Samples {
    /// The id of a kind.
    pub(in crate::pages) fn of(&self, prefix: &str) -> Option<&str> {
        self.0.get(prefix).map(String::as_str)
    }

    /// The value with ids of the demo store in the place of others of their kinds.
    pub(in crate::pages) fn put_into(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(own) = kind(text).and_then(|prefix| self.of(prefix)) {
                    own.clone_into(text);
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.put_into(value)),
            Value::Object(members) => members.values_mut().for_each(|value| self.put_into(value)),
            _ => {}
        }
    }

    /// Adds the ids in a value of kinds that have none yet.
    fn add(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                if let Some(prefix) = kind(text) {
                    self.0.entry(prefix.to_owned()).or_insert_with(|| text.clone());
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.add(value)),
            Value::Object(members) => {
                // An object's own id comes before those that it refers to.
                members.get("id").into_iter().chain(members.values()).for_each(|it| self.add(it));
            }
            _ => {}
        }
    }
}

/// The prefix of an id; none of another text.
fn kind(text: &str) -> Option<&str> {
    let (prefix, rest) = text.split_once('_')?;
    let is_id = rest.len() == 32 && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then_some(prefix)
}

impl Desk {
    /// Ids of the demo store; none without a demo.
    pub(in crate::pages) async fn samples(&self) -> Samples {
        let mut remembered = self.samples.lock().await;
        if let Some((loaded, samples)) = &*remembered
            && loaded.elapsed() < REMEMBERED
        {
            return samples.clone();
        }
        let samples = self.load_samples().await;
        *remembered = Some((Instant::now(), samples.clone()));
        samples
    }

    async fn load_samples(&self) -> Samples {
        let mut samples = Samples::default();
        let Some(store) = self.stores().await.and_then(|stores| stores.into_iter().next()) else {
            return samples;
        };
        samples.add(&Value::String(store.id.clone()));
        // As shoppers see it, a product has variants.
        let sold = format!("/v1/storefront/{SUBDOMAIN}/products?limit=1");
        for path in [&*sold].into_iter().chain(LISTS) {
            for object in self.list(&store.id, path).await {
                samples.add(&object);
            }
        }
        samples
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_replaced_by_those_of_their_kind() {
        let id = |prefix: &str, digit: &str| format!("{prefix}_{}", digit.repeat(32));
        let mut samples = Samples::default();
        samples.add(
            &json!({"category_id": id("cat", "1"), "id": id("prd", "2"), "of": id("prd", "3")}),
        );
        let mut value =
            json!({"items": [{"product_id": id("prd", "9")}], "order": id("ord", "9"), "q": "a_b"});
        samples.put_into(&mut value);
        assert_eq!(
            value,
            json!({"items": [{"product_id": id("prd", "2")}], "order": id("ord", "9"), "q": "a_b"})
        );
    }
}
