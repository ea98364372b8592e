//! Discounts as they are shown.

use core_types::event::{EXAMPLE_TIME, Example};
use core_types::id::{DiscountId, StoreId};
use core_types::money::Money;
use primitives::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Discount, DiscountCode, DiscountKind, DiscountStatus, DiscountValue, Minimum, Targets,
};

/// The measures of a discount; those that its kind has none of are missing.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct DiscountValueView {
    /// Hundredths of a percent that are taken off: 1000 is 10 %.
    pub basis_points: Option<i64>,
    /// The sum that is taken off.
    pub amount: Option<Money>,
    /// How many are bought.
    pub buy_quantity: Option<u32>,
    /// How many are got for them.
    pub get_quantity: Option<u32>,
    /// What can be got; what is bought, unless named.
    pub get: Option<Targets>,
    /// How often in one order.
    pub uses_per_order: Option<u32>,
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
            DiscountValue::FreeShipping => Self::default(),
            DiscountValue::BuyXGetY { buy_quantity, get_quantity, basis_points, get, most } => {
                Self {
                    basis_points: Some(*basis_points),
                    buy_quantity: Some(*buy_quantity),
                    get_quantity: Some(*get_quantity),
                    get: Some(get.clone()),
                    uses_per_order: *most,
                    ..Self::default()
                }
            }
        }
    }
}

core_types::view! {
    /// A discount.
    DiscountView of (discount: Discount, used: Option<u64>, now: Timestamp) {
        /// `dsc_` and 32 hexadecimal digits.
        id: DiscountId,
        /// The store that gives it.
        store_id: StoreId,
        /// What shoppers read.
        title: String,
        /// What shoppers name; none when it is automatic.
        code: Option<DiscountCode>,
        /// Whether it can be used.
        status: DiscountStatus = discount.status_at(now),
        /// What it does.
        kind: DiscountKind = discount.value.kind(),
        /// Its measures.
        value: DiscountValueView = DiscountValueView::from(&discount.value),
        /// For which lines; all of them when it names nothing.
        applies_to: Targets,
        /// What these must come to, before the discount.
        minimum: Minimum,
        /// Whether it is for customers who have not ordered yet.
        first_order_only: bool,
        /// How many orders may use it.
        usage_limit: Option<u32>,
        /// How many orders of one customer may.
        per_customer_limit: Option<u32>,
        /// How many orders use it; in lists and events none.
        used: Option<u64> = used,
        /// From when.
        starts_at: Timestamp,
        /// Until when.
        ends_at: Option<Timestamp>,
        /// When it was made.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
    }
}

/// As an event shows it: as it was when it changed.
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
