//! Scopes: what an app may do on a store (docs/conventions.md §6).

use std::collections::BTreeSet;
use std::fmt;

use deserr::{Deserr, IntoValue, Sequence, Value, ValuePointerRef};
use primitives::fields::{FieldErrors, Violation};
use serde::{Deserialize, Serialize};

/// The resources of scopes, each with its description for merchants.
pub const RESOURCES: &[(&str, &str)] = &[
    ("content", "navigation menus and policy pages"),
    ("customers", "customers and their addresses"),
    ("discounts", "discounts and their codes"),
    ("exports", "exports, of what can be viewed besides"),
    ("forms", "form submissions"),
    ("fulfillments", "fulfilments and tracking"),
    ("gift_cards", "gift cards and their balances"),
    ("imports", "imports, into what can be changed besides"),
    ("inventory", "stock levels"),
    ("locations", "stock locations"),
    ("media", "images and other media"),
    ("operations", "the outbox, replays and runtime reports"),
    ("orders", "orders"),
    ("payments", "payments"),
    ("products", "products, variants and collections"),
    ("refunds", "refunds"),
    ("reviews", "product reviews"),
    ("shipping", "shipping zones and rates"),
    ("store", "the store's own data"),
    ("taxes", "tax rates"),
    ("themes", "themes and their settings"),
    ("webhooks", "webhook subscriptions and deliveries"),
];

/// A normalized set of scopes: lower-cased, known, without duplicates, sorted, and without
/// `read_x` where `write_x` is present, which implies it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scopes(BTreeSet<String>);

/// Splits a scope into whether it is a write scope, and its resource.
fn split(scope: &str) -> Option<(bool, &str)> {
    let (writes, resource) = match scope.split_once('_')? {
        ("read", resource) => (false, resource),
        ("write", resource) => (true, resource),
        _ => return None,
    };
    RESOURCES.iter().any(|(known, _)| *known == resource).then_some((writes, resource))
}

impl Scopes {
    /// No scopes.
    pub const NONE: Self = Self(BTreeSet::new());

    /// Normalizes these words.
    ///
    /// # Errors
    /// The first word that is not a scope.
    pub fn normalize<'a>(words: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let separators = |c: char| c == ' ' || c == ',';
        let mut all = BTreeSet::new();
        for word in words.into_iter().flat_map(|words| words.split(separators)) {
            if word.is_empty() {
                continue;
            }
            let word = word.to_ascii_lowercase();
            if split(&word).is_none() {
                return Err(word);
            }
            all.insert(word);
        }
        let implied: Vec<String> = all
            .iter()
            .filter_map(|scope| scope.strip_prefix("write_"))
            .map(|resource| format!("read_{resource}"))
            .collect();
        for read in implied {
            all.remove(&read);
        }
        Ok(Self(all))
    }

    /// Whether these scopes include `scope`.
    pub fn cover(&self, scope: &str) -> bool {
        self.0.contains(scope)
            || scope
                .strip_prefix("read_")
                .is_some_and(|resource| self.0.contains(&format!("write_{resource}")))
    }

    /// Whether these include all of `others`.
    pub fn cover_all(&self, others: &Self) -> bool {
        others.0.iter().all(|scope| self.cover(scope))
    }

    /// The scopes that both include.
    #[must_use]
    pub fn intersection(&self, others: &Self) -> Self {
        let ours = self.0.iter().filter(|scope| others.cover(scope));
        let theirs = others.0.iter().filter(|scope| self.cover(scope));
        let words: Vec<&str> = ours.chain(theirs).map(String::as_str).collect();
        Self::normalize(words).unwrap_or_default()
    }

    /// Every read scope.
    pub fn every_read() -> Self {
        Self(RESOURCES.iter().map(|(resource, _)| format!("read_{resource}")).collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The scopes, sorted.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// As a list.
    pub fn to_vec(&self) -> Vec<String> {
        self.0.iter().cloned().collect()
    }
}

/// Requested scopes, not validated yet: an OAuth endpoint answers an unknown one with `invalid_scope`, not
/// with a field error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requested(Vec<String>);

impl Requested {
    /// Validates the requested scopes.
    ///
    /// # Errors
    /// `invalid_scope`.
    pub fn scopes(&self) -> Result<Scopes, primitives::problem::Problem> {
        Scopes::normalize(self.0.iter().map(String::as_str)).map_err(|word| {
            let cut: String = word.chars().take(64).collect();
            primitives::problem::Code::InvalidScope.detail(format!("There is no scope `{cut}`."))
        })
    }
}

primitives::inline_schema!([] Requested, "Scopes", |_generator| words_or_text());
primitives::inline_schema!([] Scopes, "Scopes", |_generator| words_or_text());

/// The schema of scopes in requests.
fn words_or_text() -> schemars::Schema {
    schemars::json_schema!({
        "anyOf": [
            {"type": "string", "description": "Separated by spaces or commas."},
            {"type": "array", "items": {"type": "string"}},
        ]
    })
}

/// From a space- or comma-separated string, or an array of strings.
impl Deserr<FieldErrors> for Requested {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        words(value, location).map(Self)
    }
}

/// Whether a scope also changes, and what it gives access to, in words for merchants.
pub fn in_words(scope: &str) -> Option<(bool, &'static str)> {
    let (writes, resource) = split(scope)?;
    let (_, access) = RESOURCES.iter().find(|(name, _)| *name == resource)?;
    Some((writes, access))
}

/// The description of a scope for a merchant.
pub fn explain(scope: &str) -> String {
    match in_words(scope) {
        Some((true, access)) => format!("View and change {access}"),
        Some((false, access)) => format!("View {access}"),
        None => scope.to_owned(),
    }
}

/// Space-separated (RFC 6749 §3.3).
impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.iter().collect::<Vec<_>>().join(" "))
    }
}

impl Serialize for Scopes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Scopes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = Vec::<String>::deserialize(deserializer)?;
        Self::normalize(words.iter().map(String::as_str)).map_err(serde::de::Error::custom)
    }
}

/// From a space- or comma-separated string, or an array of strings.
impl Deserr<FieldErrors> for Scopes {
    fn deserialize_from_value<V: IntoValue>(
        value: Value<V>,
        location: ValuePointerRef<'_>,
    ) -> Result<Self, FieldErrors> {
        let words = words(value, location)?;
        Self::normalize(words.iter().map(String::as_str)).map_err(|word| {
            let cut: String = word.chars().take(64).collect();
            let violation = Violation::new("invalid_scope", format!("There is no scope `{cut}`."));
            FieldErrors::at(location, violation)
        })
    }
}

/// The words of a string, or of an array of strings.
fn words<V: IntoValue>(
    value: Value<V>,
    location: ValuePointerRef<'_>,
) -> Result<Vec<String>, FieldErrors> {
    let text = |item: V| match item.into_value() {
        Value::String(text) => Some(text),
        _ => None,
    };
    let words = match value {
        Value::String(text) => Some(vec![text]),
        Value::Sequence(items) => items.into_iter().map(text).collect(),
        _ => None,
    };
    words.ok_or_else(|| {
        let violation = Violation::new("invalid_type", "Must be a string or an array of strings.");
        FieldErrors::at(location, violation)
    })
}

/// A scope that a route requires, as a type parameter: `StoreAccess<ReadStore>`.
pub trait RequiredScope: Clone + Send + Sync + 'static {
    /// The scope.
    const SCOPE: &'static str;
}

macro_rules! required {
    ($($name:ident = $scope:literal;)*) => {$(
        #[doc = concat!("`", $scope, "`.")]
        #[derive(Debug, Clone, Copy)]
        pub struct $name;
        impl RequiredScope for $name {
            const SCOPE: &'static str = $scope;
        }
    )*};
}

required! {
    ReadStore = "read_store";
    WriteStore = "write_store";
    ReadContent = "read_content";
    WriteContent = "write_content";
    ReadWebhooks = "read_webhooks";
    WriteWebhooks = "write_webhooks";
    ReadOperations = "read_operations";
    WriteOperations = "write_operations";
    ReadProducts = "read_products";
    WriteProducts = "write_products";
    ReadInventory = "read_inventory";
    WriteInventory = "write_inventory";
    ReadLocations = "read_locations";
    WriteLocations = "write_locations";
    ReadOrders = "read_orders";
    WriteOrders = "write_orders";
    ReadFulfillments = "read_fulfillments";
    WriteFulfillments = "write_fulfillments";
    ReadRefunds = "read_refunds";
    WriteRefunds = "write_refunds";
    ReadPayments = "read_payments";
    WritePayments = "write_payments";
    ReadCustomers = "read_customers";
    WriteCustomers = "write_customers";
    ReadDiscounts = "read_discounts";
    WriteDiscounts = "write_discounts";
    ReadShipping = "read_shipping";
    WriteShipping = "write_shipping";
    ReadTaxes = "read_taxes";
    WriteTaxes = "write_taxes";
    ReadGiftCards = "read_gift_cards";
    WriteGiftCards = "write_gift_cards";
    ReadMedia = "read_media";
    WriteMedia = "write_media";
    ReadForms = "read_forms";
    WriteForms = "write_forms";
    ReadReviews = "read_reviews";
    WriteReviews = "write_reviews";
    ReadImports = "read_imports";
    WriteImports = "write_imports";
    ReadExports = "read_exports";
    WriteExports = "write_exports";
    ReadThemes = "read_themes";
    WriteThemes = "write_themes";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(text: &str) -> Scopes {
        Scopes::normalize([text]).unwrap()
    }

    #[test]
    fn scopes_are_normalized() {
        let normal = scopes("write_orders, READ_products read_orders,,read_products");
        assert_eq!(normal.to_string(), "read_products write_orders");
        assert!(normal.cover("read_orders") && !normal.cover("write_products"));
        assert_eq!(Scopes::normalize(["read_everything"]), Err("read_everything".into()));
        assert!(
            Scopes::normalize(["read"]).is_err() && Scopes::normalize([""]).unwrap().is_empty()
        );
    }

    #[test]
    fn an_intersection_covers_the_scopes_of_both() {
        let both = scopes("write_orders read_products")
            .intersection(&scopes("read_orders write_products"));
        assert_eq!(both, scopes("read_orders read_products"));
    }

    #[test]
    fn a_set_covers_another_when_it_covers_each_of_it() {
        let ours = scopes("write_orders read_products");
        for (others, covered) in [
            ("", true),
            ("read_orders", true),
            ("read_orders write_orders read_products", true),
            ("write_products", false),
            ("read_orders read_themes", false),
        ] {
            assert_eq!(ours.cover_all(&scopes(others)), covered, "{others}");
        }
        assert!(scopes("").is_empty() && !ours.is_empty());
        assert_eq!(ours.to_vec(), ["read_products", "write_orders"]);
    }

    #[test]
    fn requested_scopes_are_a_string_or_a_list_and_validated() {
        use primitives::problem::Code;
        use serde_json::{Value, json};
        let strict = |value: Value| deserr::deserialize::<Scopes, _, FieldErrors>(value);
        let read = |value: Value| deserr::deserialize::<Requested, _, FieldErrors>(value);
        for value in [json!("write_orders,read_products"), json!(["write_orders", "read_products"])]
        {
            let expected = scopes("write_orders read_products");
            assert_eq!(strict(value.clone()).unwrap(), expected);
            assert_eq!(read(value.clone()).unwrap().scopes().unwrap(), expected);
        }
        let stored: Scopes = serde_json::from_value(json!(["write_orders"])).unwrap();
        assert_eq!(stored, scopes("write_orders"));
        for value in [json!("read_everything"), json!(["read_orders", "read_everything"])] {
            assert!(strict(value.clone()).is_err(), "{value}");
            let problem = read(value).unwrap().scopes().unwrap_err();
            assert_eq!(problem.code, Code::InvalidScope);
        }
        for value in [json!(1), json!({}), json!(null), json!(["read_orders", 1])] {
            assert!(strict(value.clone()).is_err() && read(value.clone()).is_err(), "{value}");
        }
    }

    #[test]
    fn an_explanation_names_the_objects_of_a_scope_and_whether_it_writes() {
        assert_eq!(explain("read_orders"), "View orders");
        assert_eq!(explain("write_forms"), "View and change form submissions");
        assert_eq!(explain("read_everything"), "read_everything");
    }
}
