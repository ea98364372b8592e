//! Whether a store accepts the order of a shopper, by its status and settings.

use primitives::problem::{Code, FieldError, Problem};

use super::input::{OrderPlacement, PlacedBy, PricedCart};
use crate::order::cart::violation;

impl PricedCart {
    /// Ensures that the store accepts the order. Returns the field errors of what the store requires and the
    /// shopper has not given. The merchant's own orders are not restricted.
    ///
    /// # Errors
    /// `store_not_accepting_orders`, `account_required`.
    pub(super) fn ensure_accepted(
        &self,
        placement: &OrderPlacement,
    ) -> Result<Vec<FieldError>, Problem> {
        let (buyer, settings) = (&placement.buyer, &self.settings.checkout);
        if placement.by == PlacedBy::Merchant {
            return Ok(Vec::new());
        }
        self.store.ensure_takes_orders()?;
        if buyer.customer_id.is_none() && !settings.guest_checkout {
            return Err(Code::AccountRequired.into());
        }
        let mut missing = Vec::new();
        if buyer.email.is_none() {
            missing.push(violation("/email", "required", "Required for the order confirmation."));
        }
        match &buyer.shipping_address {
            None if self.quote.needs_address() && !self.has_error_at("/shipping_address") => {
                missing.push(violation(
                    "/shipping_address",
                    "required",
                    "A shipping address is required.",
                ));
            }
            Some(address) if settings.require_phone && address.phone.is_none() => {
                let detail = "The store requires a phone number.";
                missing.push(violation("/shipping_address/phone", "required", detail));
            }
            _ => {}
        }
        Ok(missing)
    }
}
