//! Examples of carts, for the catalogue of events.

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::fields::Currency;
use core_types::id::{CartId, CustomerId, OrderId, VariantId};
use core_types::sample_id;

use super::CartStatus;
use super::view::{CartSummary, CartSummaryLine};

impl Example for CartSummary {
    fn example() -> Self {
        Self {
            id: sample_id!(CartId),
            customer_id: Some(sample_id!(CustomerId)),
            status: CartStatus::Converted,
            lines: vec![CartSummaryLine { variant_id: sample_id!(VariantId), quantity: 2 }],
            currency: sample::<Currency>("INR"),
            order_id: Some(sample_id!(OrderId)),
            abandoned_at: None,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 3,
        }
    }
}
