//! The faults of a cart: everything for which its order would be rejected now, and prices that have changed.

use primitives::problem::FieldError;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::{Cart, CartItem};
use crate::order::cart::violation;
use crate::order::pricing::PricedLine;
use crate::workflows::place_order::PricedCart;

/// The code of what the order needs and the cart has not.
const REQUIRED: &str = "required";
/// Where a cart's members have another name than those of an order in a request.
const RENAMED: [(&str, &str); 2] = [("/items", "/lines"), ("/gift_card_codes", "/gift_cards")];

/// Something that is wrong with a cart.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CartFault {
    /// The code: that of the field error or problem with which a checkout would be rejected, or
    /// `line_price_changed`.
    pub code: &'static str,
    /// A sentence for shoppers.
    pub detail: String,
    /// A JSON Pointer (RFC 6901) into the cart; empty for the whole cart.
    pub pointer: String,
    /// Whether it has to be mended before the checkout.
    pub blocks_checkout: bool,
}

/// The faults, and the pointers to what is missing.
pub(super) fn faults_of(cart: &Cart, priced: Option<&PricedCart>) -> (Vec<CartFault>, Vec<String>) {
    if cart.order_id.is_some() {
        return (Vec::new(), Vec::new());
    }
    let Some(priced) = priced else { return (Vec::new(), vec!["/lines".to_owned()]) };
    let short = priced.quote.lines.iter().filter(|line| !line.is_available).map(short_of_stock);
    let errors = priced.field_errors.iter().cloned().chain(short);
    let (missing, wrong): (Vec<_>, Vec<_>) =
        errors.partition(|error| error.violation.code == REQUIRED);
    let blocking = wrong.into_iter().map(|error| CartFault {
        code: error.violation.code,
        detail: error.violation.detail.into_owned(),
        pointer: renamed(&error.pointer),
        blocks_checkout: true,
    });
    let changed = priced.quote.lines.iter().filter_map(|line| {
        let seen = cart.lines.get(line.line.position)?;
        price_changed(seen, line)
    });
    let missing = missing.into_iter().map(|error| renamed(&error.pointer)).collect();
    (blocking.chain(changed).collect(), missing)
}

/// A pointer into an order's request as one into the cart.
fn renamed(pointer: &str) -> String {
    let renamed = RENAMED.iter().find_map(|(of_order, of_cart)| {
        Some(format!("{of_cart}{}", pointer.strip_prefix(of_order)?))
    });
    renamed.unwrap_or_else(|| pointer.to_owned())
}

fn short_of_stock(line: &PricedLine) -> FieldError {
    let pointer = format!("/items/{}/quantity", line.line.position);
    violation(&pointer, "insufficient_stock", "There are not that many in stock.")
}

fn price_changed(seen: &CartItem, line: &PricedLine) -> Option<CartFault> {
    let before = seen.price.filter(|before| *before != line.sellable.price.amount)?;
    Some(CartFault {
        code: "line_price_changed",
        detail: format!(
            "The price was {before} minor units and is {} now.",
            line.sellable.price.amount
        ),
        pointer: format!("/lines/{}/merchandise/price", line.line.position),
        blocks_checkout: false,
    })
}
