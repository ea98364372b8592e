//! The cart of an order, the terms of its placement, and the cart priced at the store's current data.

use core_types::id::{GiftCardId, ShippingRateId};
use core_types::money::Money;
use identity::settings::Settings;
use identity::store::Store;
use primitives::problem::{FieldError, Problem};

use crate::discount::{DiscountCode, Shopper};
use crate::gift_card::GiftCardCode;
use crate::order::cart::{CartLine, PaymentInput};
use crate::order::pricing::{Buyer, Quote, TaxRules};
use crate::payment::manual_method::ManualMethod;
use crate::shipping::ShippingZone;
use crate::tax::TaxLocation;

/// The content of an order to be placed.
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
#[derive(Debug, Clone, Default)]
pub struct Cart {
    /// The lines, merged.
    pub lines: Vec<CartLine>,
    /// The gift cards to pay with.
    pub gift_card_codes: Vec<GiftCardCode>,
    /// Gift cards to pay with whose codes were looked up before. Their errors follow those of the codes.
    pub gift_card_ids: Vec<GiftCardId>,
    /// The discount codes; one of them applies.
    pub discount_codes: Vec<DiscountCode>,
    /// The chosen shipping rate.
    pub shipping_rate_id: Option<ShippingRateId>,
    /// The shipping destination.
    pub destination: Option<TaxLocation>,
    /// The place of taxation without a destination; the store's country if neither is known.
    pub billed_at: Option<TaxLocation>,
    /// Whether the buyer is exempt from tax.
    pub is_exempt: bool,
    /// The shopper, for the conditions of discounts.
    pub shopper: Shopper,
    /// The network prefix of the shopper, where attempts with unknown codes are limited. None for orders
    /// that the merchant places: those may contain unpublished products and leave the shipping rate open.
    pub shopper_network: Option<String>,
    /// The total that the buyer expects.
    pub expected_total: Option<Money>,
    /// The chosen payment provider and method, if known.
    pub payment: Option<PaymentInput>,
    /// Whether only a price is requested, so that no transaction validates the cart later.
    pub dry_run: bool,
    /// Whether the discount codes were looked up before: one that is unknown by now counts as no attempt.
    pub has_known_codes: bool,
    /// Whether it is a saved cart: a shipping rate is required of it in a dry run, too.
    pub is_saved: bool,
    /// Field errors found before the store was read.
    pub field_errors: Vec<FieldError>,
}

/// The terms on which a cart is ordered.
#[derive(Debug, Clone)]
pub struct OrderPlacement {
    /// The party that places it.
    pub by: PlacedBy,
    /// The buyer.
    pub buyer: Buyer,
    /// Whether the order is a draft.
    pub draft: bool,
    /// Whether it expires unless it is paid within the store's payment window for the provider.
    pub expires: bool,
    /// The digest of the shopper's order token.
    pub order_token_digest: Option<String>,
    /// The manual payment made before, if any, and its method, if known.
    pub paid: Option<Option<String>>,
}

/// The party that places an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacedBy {
    /// The merchant, for a buyer.
    Merchant,
    /// The buyer, in the storefront.
    Shopper,
}

/// A cart priced at the store's current data.
#[derive(Debug, Clone)]
pub struct PricedCart {
    /// The store.
    pub store: Store,
    /// Its settings.
    pub settings: Settings,
    /// The lines, gift cards and totals of everything that could be priced.
    pub quote: Quote,
    /// The store's shipping zones.
    pub zones: Vec<ShippingZone>,
    /// The tax rules that it was priced by.
    pub taxes: TaxRules,
    /// The manual payment method, if the cart has one.
    pub method: Option<ManualMethod>,
    /// The instructions of a manual payment.
    pub instructions: Option<String>,
    /// The field errors of the cart.
    pub field_errors: Vec<FieldError>,
}

impl PricedCart {
    /// Rejects a cart that has field errors.
    ///
    /// # Errors
    /// `validation_failed`, with all of them.
    pub fn ensure_sound(&self) -> Result<(), Problem> {
        if self.field_errors.is_empty() {
            Ok(())
        } else {
            Err(Problem::invalid(self.field_errors.clone()))
        }
    }

    /// Whether this field has an error.
    pub fn has_error_at(&self, pointer: &str) -> bool {
        self.field_errors.iter().any(|violation| violation.pointer == pointer)
    }
}
