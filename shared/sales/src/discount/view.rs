//! The representation of a discount in responses and events.

use core_types::event::{EXAMPLE_TIME, Example};
use core_types::id::{DiscountId, ShippingRateId, StoreId};
use core_types::money::Money;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    CombinesWith, Discount, DiscountClass, DiscountCode, DiscountKind, DiscountStatus,
    DiscountValue, Minimum, Targets,
};

/// The parameters of a discount. Those that its kind does not have are null.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct DiscountValueView {
    /// The percentage off, in hundredths of a percent: 1000 is 10 %.
    pub basis_points: Option<i64>,
    /// The amount off.
    pub amount: Option<Money>,
    /// The units that must be bought.
    pub buy_quantity: Option<u32>,
    /// The units that get the discount for them.
    pub get_quantity: Option<u32>,
    /// The lines that can get the discount; by default those that must be bought.
    pub get: Option<Targets>,
    /// The maximum number of times that it applies to one order.
    pub uses_per_order: Option<u32>,
    /// The highest price of a shipping rate that it makes free.
    pub max_amount: Option<Money>,
    /// The shipping rates that it makes free; null for all of them.
    pub shipping_rate_ids: Option<Vec<ShippingRateId>>,
}

impl From<&DiscountValue> for DiscountValueView {
    fn from(value: &DiscountValue) -> Self {
        match value {
            DiscountValue::Percentage { basis_points } => {
                Self { basis_points: Some(*basis_points), ..Self::default() }
            }
            DiscountValue::Fixed { amount } => {
                Self { amount: Some(amount.clone()), ..Self::default() }
            }
            DiscountValue::FreeShipping { max_amount, shipping_rate_ids: ids } => Self {
                max_amount: max_amount.clone(),
                shipping_rate_ids: (!ids.is_empty()).then(|| ids.clone()),
                ..Self::default()
            },
            DiscountValue::BuyXGetY { buy_quantity, get_quantity, basis_points, get, max_uses } => {
                Self {
                    basis_points: Some(*basis_points),
                    buy_quantity: Some(*buy_quantity),
                    get_quantity: Some(*get_quantity),
                    get: Some(get.clone()),
                    uses_per_order: *max_uses,
                    ..Self::default()
                }
            }
        }
    }
}

core_types::view! {
    /// A discount.
    DiscountView of (discount: Discount, used: Option<u64>, now: Timestamp) {
        /// The id: `dsc_` and 32 hexadecimal digits.
        id: DiscountId,
        /// The store.
        store_id: StoreId,
        /// The title that shoppers see.
        title: String,
        /// The code that shoppers enter; none if it is automatic.
        code: Option<DiscountCode>,
        /// The status.
        status: DiscountStatus = discount.status_at(now),
        /// The kind.
        kind: DiscountKind = discount.value.kind(),
        /// The parameters.
        value: DiscountValueView = DiscountValueView::from(&discount.value),
        /// The lines that it targets; of buy X get Y, those that must be bought. All lines if both lists are
        /// empty.
        applies_to: Targets,
        /// The minimum purchase of these, before any discount.
        minimum: Minimum,
        /// The class by which it combines with other discounts.
        class: DiscountClass = discount.class(),
        /// The classes of discounts that it may be used with. Two discounts combine if each allows the other's.
        combines_with: CombinesWith,
        /// Whether it is only for customers who have not ordered yet.
        first_order_only: bool,
        /// The maximum number of orders that can use it.
        usage_limit: Option<u32>,
        /// The maximum number of orders of one customer that can use it.
        per_customer_limit: Option<u32>,
        /// The number of orders that use it; null in lists and events.
        used: Option<u64> = used,
        /// When it starts.
        starts_at: Timestamp,
        /// When it ends, exclusive.
        ends_at: Option<Timestamp>,
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}

/// The discount in an event, with its status at the moment of the change.
impl From<&Discount> for DiscountView {
    fn from(discount: &Discount) -> Self {
        Self::of(discount, None, discount.updated_at)
    }
}

impl Example for DiscountView {
    fn example() -> Self {
        use core_types::event::sample;
        Self {
            id: DiscountId::derive(&["example"]),
            store_id: StoreId::derive(&["example"]),
            title: "Ten percent off".into(),
            code: Some(sample("WELCOME10")),
            status: DiscountStatus::Active,
            kind: DiscountKind::Percentage,
            value: DiscountValueView { basis_points: Some(1_000), ..DiscountValueView::default() },
            applies_to: Targets::default(),
            minimum: Minimum::default(),
            class: DiscountClass::Order,
            combines_with: CombinesWith::default(),
            first_order_only: false,
            usage_limit: Some(100),
            per_customer_limit: Some(1),
            used: Some(12),
            starts_at: EXAMPLE_TIME,
            ends_at: None,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}
