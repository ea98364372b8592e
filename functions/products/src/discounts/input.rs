//! Field types of requests about discounts.

use std::collections::{HashMap, HashSet};

use catalogue::collection::Collection;
use catalogue::product::ProductSummary;
use core_types::id::{CollectionId, ProductId, ShippingRateId};
use core_types::key;
use core_types::money::{self, Money, MoneyInput, ONE_HUNDRED_PERCENT_BPS};
use identity::store::Store;
use primitives::fields::{AtMost, Flag, Int};
use primitives::input::request;
use primitives::problem::{FieldError, Problem};
use sales::discount::{
    CombinesWith, Discount, DiscountKind, DiscountValue, MAX_COLLECTIONS, MAX_PRODUCTS, Minimum,
    Targets,
};
use sales::pricing_document::PricingDocument;
use sales::shipping::{MAX_RATES, ShippingZone};
use services::Services;
use table::item::Key;

/// The most units in a quantity of buy X get Y.
const MAX_UNITS: i64 = 999;
/// The most units in a cart: 40 lines of 999 units.
const MAX_CART_UNITS: i64 = 40 * MAX_UNITS;

/// The lines to which a discount applies: those of the products and collections, or all if none is named.
#[request]
#[derive(Debug, Clone)]
pub struct TargetsRequest {
    /// Lines of these products.
    product_ids: Option<AtMost<ProductId, MAX_PRODUCTS>>,
    /// Lines of products in these collections.
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

/// The minimum that the lines of a discount must reach.
#[request]
#[derive(Debug, Clone)]
pub struct MinimumRequest {
    /// The minimum subtotal, in the store's currency.
    subtotal: Option<MoneyInput>,
    /// The minimum number of units.
    quantity: Option<Int<1, MAX_CART_UNITS>>,
}

impl MinimumRequest {
    pub(super) fn read(self, store: &Store, field_errors: &mut Vec<FieldError>) -> Minimum {
        let subtotal =
            self.subtotal.map(|input| amount(&input, "/minimum/subtotal", store, field_errors));
        let quantity = self.quantity.and_then(|quantity| u32::try_from(quantity.0).ok());
        Minimum { subtotal, quantity }
    }
}

/// The value of a discount.
#[request]
#[derive(Debug, Clone, Default)]
pub struct ValueRequest {
    /// The percentage off, in hundredths of a percent: 1000 is 10 %. For buy X get Y the default is 10000,
    /// which is free.
    basis_points: Option<Int<1, ONE_HUNDRED_PERCENT_BPS>>,
    /// The amount off, once for all lines together.
    #[schemars(schema_with = "money::positive")]
    amount: Option<MoneyInput>,
    /// The number of units to buy (X).
    buy_quantity: Option<Int<1, MAX_UNITS>>,
    /// The number of discounted units (Y).
    get_quantity: Option<Int<1, MAX_UNITS>>,
    /// The lines whose units are discounted; by default the lines to which the discount applies.
    get: Option<TargetsRequest>,
    /// The maximum number of uses in one order; unlimited by default.
    uses_per_order: Option<Int<1, MAX_UNITS>>,
    /// The highest price of a shipping rate that is made free; by default any.
    max_amount: Option<MoneyInput>,
    /// The shipping rates that are made free; by default all of them.
    #[schemars(length(min = 1))]
    shipping_rate_ids: Option<AtMost<ShippingRateId, MAX_RATES>>,
}

/// The classes of discounts that a discount may be used with.
#[expect(clippy::struct_field_names, reason = "they are classes of discounts, as at Shopify")]
#[request]
#[derive(Debug, Clone, Default)]
pub struct CombinesWithRequest {
    /// Whether it combines with discounts on the whole order; by default true.
    order_discounts: Option<Flag>,
    /// Whether it combines with discounts on products; by default true.
    product_discounts: Option<Flag>,
    /// Whether it combines with discounts on shipping; by default true.
    shipping_discounts: Option<Flag>,
}

impl From<CombinesWithRequest> for CombinesWith {
    fn from(input: CombinesWithRequest) -> Self {
        let flag = |flag: Option<Flag>| flag.is_none_or(|flag| flag.0);
        Self {
            order_discounts: flag(input.order_discounts),
            product_discounts: flag(input.product_discounts),
            shipping_discounts: flag(input.shipping_discounts),
        }
    }
}

/// The required and the optional members of the value, by the kind of the discount.
fn members(kind: DiscountKind) -> (&'static [&'static str], &'static [&'static str]) {
    match kind {
        DiscountKind::Percentage => (&["basis_points"], &[]),
        DiscountKind::Fixed => (&["amount"], &[]),
        DiscountKind::FreeShipping => (&[], &["max_amount", "shipping_rate_ids"]),
        DiscountKind::BuyXGetY => {
            (&["buy_quantity", "get_quantity"], &["basis_points", "get", "uses_per_order"])
        }
    }
}

impl ValueRequest {
    /// Whether each member is given.
    fn members_given(&self) -> [(&'static str, bool); 8] {
        [
            ("basis_points", self.basis_points.is_some()),
            ("amount", self.amount.is_some()),
            ("buy_quantity", self.buy_quantity.is_some()),
            ("get_quantity", self.get_quantity.is_some()),
            ("get", self.get.is_some()),
            ("uses_per_order", self.uses_per_order.is_some()),
            ("max_amount", self.max_amount.is_some()),
            ("shipping_rate_ids", self.shipping_rate_ids.is_some()),
        ]
    }

    /// The value of a discount of this kind; adds field errors to `field_errors`.
    pub(super) fn read(
        self,
        kind: DiscountKind,
        store: &Store,
        field_errors: &mut Vec<FieldError>,
    ) -> DiscountValue {
        let (needed, possible) = members(kind);
        for (name, is_given) in self.members_given() {
            let pointer = format!("/value/{name}");
            if !is_given && needed.contains(&name) {
                let detail = format!("Required for a discount of kind `{kind}`.");
                field_errors.push(FieldError::new(pointer, "required", detail));
            } else if is_given && !needed.contains(&name) && !possible.contains(&name) {
                let detail = format!("Not allowed for a discount of kind `{kind}`.");
                field_errors.push(FieldError::new(pointer, "not_applicable", detail));
            }
        }
        let units =
            |units: Option<Int<1, MAX_UNITS>>| units.and_then(|one| u32::try_from(one.0).ok());
        let points = self.basis_points.map_or(ONE_HUNDRED_PERCENT_BPS, |points| points.0);
        match kind {
            DiscountKind::Percentage => DiscountValue::Percentage { basis_points: points },
            DiscountKind::FreeShipping => {
                let max = self.max_amount.as_ref();
                let max_amount =
                    max.map(|max| amount(max, "/value/max_amount", store, field_errors));
                let ids = self.shipping_rate_ids.map(|ids| ids.0);
                if ids.as_ref().is_some_and(Vec::is_empty) {
                    let detail = "Must have at least one rate; omit it to include all rates.";
                    field_errors.push(FieldError::new(
                        "/value/shipping_rate_ids",
                        "too_few",
                        detail,
                    ));
                }
                let mut shipping_rate_ids = ids.unwrap_or_default();
                let mut seen = HashSet::new();
                shipping_rate_ids.retain(|id| seen.insert(id.clone()));
                DiscountValue::FreeShipping { max_amount, shipping_rate_ids }
            }
            DiscountKind::Fixed => {
                let input = self.amount.as_ref();
                let zero = || Money::zero(&store.currency);
                let amount = input.map(|input| amount(input, "/value/amount", store, field_errors));
                if amount.as_ref().is_some_and(Money::is_zero) && field_errors.is_empty() {
                    let detail = "Must be greater than 0.";
                    field_errors.push(FieldError::new(
                        "/value/amount/amount",
                        "out_of_range",
                        detail,
                    ));
                }
                DiscountValue::Fixed { amount: amount.unwrap_or_else(zero) }
            }
            DiscountKind::BuyXGetY => DiscountValue::BuyXGetY {
                buy_quantity: units(self.buy_quantity).unwrap_or(1),
                get_quantity: units(self.get_quantity).unwrap_or(1),
                basis_points: points,
                get: self.get.map(Targets::from).unwrap_or_default(),
                max_uses: units(self.uses_per_order),
            },
        }
    }
}

fn amount(
    input: &MoneyInput,
    at: &str,
    store: &Store,
    field_errors: &mut Vec<FieldError>,
) -> Money {
    input.in_currency(&store.currency).unwrap_or_else(|violation| {
        field_errors.push(FieldError::at(format!("{at}/currency"), violation));
        Money::zero(&store.currency)
    })
}

/// Adds a field error for each product, collection and shipping rate of a discount that the store does not have.
/// One round trip for each 100, and one for shipping rates.
///
/// # Errors
/// 503.
pub(super) async fn ensure_targets(
    services: &Services,
    discount: &Discount,
    field_errors: &mut Vec<FieldError>,
) -> Result<(), Problem> {
    let store = &discount.store_id;
    let get_targets = match &discount.value {
        DiscountValue::BuyXGetY { get, .. } => Some(get),
        _ => None,
    };
    let named = [("/applies_to", Some(&discount.applies_to)), ("/value/get", get_targets)];
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
        field_errors.extend(pointers.into_iter().map(|at| FieldError::new(at, code, detail)));
    };
    for (key, pointers) in products {
        if found.take::<ProductSummary>(&key)?.is_none() {
            reject(pointers, "unknown_product", "There is no such product in the store.");
        }
    }
    for (key, pointers) in collections {
        if found.take::<Collection>(&key)?.is_none() {
            reject(pointers, "unknown_collection", "There is no such collection in the store.");
        }
    }
    if let DiscountValue::FreeShipping { shipping_rate_ids: ids, .. } = &discount.value
        && !ids.is_empty()
    {
        let zones =
            PricingDocument::<ShippingZone>::load(services, key::shipping_zones(store)).await?;
        let rates = || zones.entries.iter().flat_map(|zone| &zone.rates);
        for (n, _) in ids.iter().enumerate().filter(|(_, id)| rates().all(|rate| rate.id != **id)) {
            let pointer = format!("/value/shipping_rate_ids/{n}");
            reject(
                vec![pointer],
                "unknown_shipping_rate",
                "There is no such shipping rate in the store.",
            );
        }
    }
    Ok(())
}
