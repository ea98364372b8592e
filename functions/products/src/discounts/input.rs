//! What requests about discounts are made of.

use std::collections::{HashMap, HashSet};

use catalogue::collection::Collection;
use catalogue::product::ProductSummary;
use core_types::id::{CollectionId, ProductId};
use core_types::key;
use core_types::money::{self, Money, MoneyInput};
use gateway::request::request;
use identity::store::Store;
use primitives::fields::{AtMost, Int};
use primitives::problem::{FieldError, Problem};
use sales::discount::{
    Discount, DiscountKind, DiscountValue, MAX_COLLECTIONS, MAX_PRODUCTS, Minimum, Targets,
};
use sales::tax::WHOLE;
use services::Services;
use table::item::Key;

/// Units of a bundle.
const MAX_UNITS: i64 = 999;

/// Which lines; all of them when nothing is named.
#[request]
#[derive(Debug, Clone)]
pub struct TargetsRequest {
    /// These products.
    product_ids: Option<AtMost<ProductId, MAX_PRODUCTS>>,
    /// Products of these collections.
    collection_ids: Option<AtMost<CollectionId, MAX_COLLECTIONS>>,
}

impl From<TargetsRequest> for Targets {
    fn from(input: TargetsRequest) -> Self {
        let mut targets = Self {
            product_ids: input.product_ids.map(|ids| ids.0).unwrap_or_default(),
            collection_ids: input.collection_ids.map(|ids| ids.0).unwrap_or_default(),
        };
        let mut seen = HashSet::new();
        targets.product_ids.retain(|id| seen.insert(id.clone()));
        let mut seen = HashSet::new();
        targets.collection_ids.retain(|id| seen.insert(id.clone()));
        targets
    }
}

/// What lines must come to.
#[request]
#[derive(Debug, Clone)]
pub struct MinimumRequest {
    /// At least this sum.
    subtotal: Option<MoneyInput>,
    /// At least so many units.
    quantity: Option<Int<1, 39_960>>,
}

impl MinimumRequest {
    pub(super) fn read(self, store: &Store, faults: &mut Vec<FieldError>) -> Minimum {
        let subtotal =
            self.subtotal.map(|asked| amount(&asked, "/minimum/subtotal", store, faults));
        let quantity = self.quantity.and_then(|quantity| u32::try_from(quantity.0).ok());
        Minimum { subtotal, quantity }
    }
}

/// The measures of a discount.
#[request]
#[derive(Debug, Clone, Default)]
pub struct ValueRequest {
    /// Hundredths of a percent that are taken off: 1000 is 10 %. Of buy X get Y 10000, which is free,
    /// unless said.
    basis_points: Option<Int<1, WHOLE>>,
    /// The sum that is taken off, once for all lines together.
    #[schemars(schema_with = "money::positive")]
    amount: Option<MoneyInput>,
    /// How many are bought.
    buy_quantity: Option<Int<1, MAX_UNITS>>,
    /// How many are got for them.
    get_quantity: Option<Int<1, MAX_UNITS>>,
    /// What can be got; what is bought, unless named.
    get: Option<TargetsRequest>,
    /// How often in one order; as often as it goes, unless said.
    uses_per_order: Option<Int<1, MAX_UNITS>>,
}

/// What a kind of discount is measured by, and what it can do without.
fn members(kind: DiscountKind) -> (&'static [&'static str], &'static [&'static str]) {
    match kind {
        DiscountKind::Percentage => (&["basis_points"], &[]),
        DiscountKind::Fixed => (&["amount"], &[]),
        DiscountKind::FreeShipping => (&[], &[]),
        DiscountKind::BuyXGetY => {
            (&["buy_quantity", "get_quantity"], &["basis_points", "get", "uses_per_order"])
        }
    }
}

impl ValueRequest {
    /// What is given, and what is not.
    fn given(&self) -> [(&'static str, bool); 6] {
        [
            ("basis_points", self.basis_points.is_some()),
            ("amount", self.amount.is_some()),
            ("buy_quantity", self.buy_quantity.is_some()),
            ("get_quantity", self.get_quantity.is_some()),
            ("get", self.get.is_some()),
            ("uses_per_order", self.uses_per_order.is_some()),
        ]
    }

    /// What a discount of this kind does by these measures, and what is wrong with them.
    pub(super) fn read(
        self,
        kind: DiscountKind,
        store: &Store,
        faults: &mut Vec<FieldError>,
    ) -> DiscountValue {
        let (needed, possible) = members(kind);
        for (name, is_given) in self.given() {
            let pointer = format!("/value/{name}");
            if !is_given && needed.contains(&name) {
                let detail = format!("A discount of kind `{kind}` needs it.");
                faults.push(FieldError::new(pointer, "required", detail));
            } else if is_given && !needed.contains(&name) && !possible.contains(&name) {
                let detail = format!("A discount of kind `{kind}` has none.");
                faults.push(FieldError::new(pointer, "not_applicable", detail));
            }
        }
        let units =
            |units: Option<Int<1, MAX_UNITS>>| units.and_then(|one| u32::try_from(one.0).ok());
        let points = self.basis_points.map_or(WHOLE, |points| points.0);
        match kind {
            DiscountKind::Percentage => DiscountValue::Percentage { basis_points: points },
            DiscountKind::FreeShipping => DiscountValue::FreeShipping,
            DiscountKind::Fixed => {
                let asked = self.amount.as_ref();
                let zero = || Money::zero(&store.currency);
                let amount = asked.map(|asked| amount(asked, "/value/amount", store, faults));
                if amount.as_ref().is_some_and(Money::is_zero) && faults.is_empty() {
                    let detail = "Must be more than nothing.";
                    faults.push(FieldError::new("/value/amount/amount", "out_of_range", detail));
                }
                DiscountValue::Fixed { amount: amount.unwrap_or_else(zero) }
            }
            DiscountKind::BuyXGetY => DiscountValue::BuyXGetY {
                buy_quantity: units(self.buy_quantity).unwrap_or(1),
                get_quantity: units(self.get_quantity).unwrap_or(1),
                basis_points: points,
                get: self.get.map(Targets::from).unwrap_or_default(),
                most: units(self.uses_per_order),
            },
        }
    }
}

fn amount(asked: &MoneyInput, at: &str, store: &Store, faults: &mut Vec<FieldError>) -> Money {
    asked.in_currency(&store.currency).unwrap_or_else(|fault| {
        faults.push(FieldError { pointer: format!("{at}/currency"), fault });
        Money::zero(&store.currency)
    })
}

/// Adds a fault for each product and collection that a discount names and the store has not; one
/// round trip for a hundred of them.
///
/// # Errors
/// 503.
pub(super) async fn ensure_targets(
    services: &Services,
    discount: &Discount,
    faults: &mut Vec<FieldError>,
) -> Result<(), Problem> {
    let store = &discount.store_id;
    let got = match &discount.value {
        DiscountValue::BuyXGetY { get, .. } => Some(get),
        _ => None,
    };
    let named = [("/applies_to", Some(&discount.applies_to)), ("/value/get", got)];
    let mut products: HashMap<Key, Vec<String>> = HashMap::new();
    let mut collections: HashMap<Key, Vec<String>> = HashMap::new();
    for (at, targets) in named {
        let Some(targets) = targets else { continue };
        for (n, id) in targets.product_ids.iter().enumerate() {
            let pointers = products.entry(key::summary(store, id)).or_default();
            pointers.push(format!("{at}/product_ids/{n}"));
        }
        for (n, id) in targets.collection_ids.iter().enumerate() {
            let pointers = collections.entry(key::collection(store, id)).or_default();
            pointers.push(format!("{at}/collection_ids/{n}"));
        }
    }
    let keys: Vec<&Key> = products.keys().chain(collections.keys()).collect();
    let mut found = services.table.get_many_eventually(&keys).await?;
    let mut reject = |pointers: Vec<String>, code, detail: &'static str| {
        faults.extend(pointers.into_iter().map(|at| FieldError::new(at, code, detail)));
    };
    for (key, pointers) in products {
        if found.take::<ProductSummary>(&key)?.is_none() {
            reject(pointers, "unknown_product", "The store has no such product.");
        }
    }
    for (key, pointers) in collections {
        if found.take::<Collection>(&key)?.is_none() {
            reject(pointers, "unknown_collection", "The store has no such collection.");
        }
    }
    Ok(())
}
