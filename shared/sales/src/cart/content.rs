//! A cart as the content of its order: the one conversion that its totals, its faults and its order come from.

use core_types::money::Money;
use identity::customer::Customer;
use identity::store::Store;

use super::Cart;
use crate::discount::Shopper;
use crate::order::cart::PaymentInput;
use crate::order::pricing::Buyer;
use crate::tax::TaxLocation;
use crate::workflows::place_order::{Cart as OrderContent, OrderPlacement, PlacedBy};

impl Cart {
    /// What would be ordered, and on which terms. The shopper is the account of the session, or else a guest.
    pub fn content(
        &self,
        store: &Store,
        account: Option<&Customer>,
        network: String,
    ) -> (OrderContent, OrderPlacement) {
        let own = account.and_then(|account| account.email.clone());
        let email = self.buyer.email.clone().or(own);
        let shopper = Shopper::of(account, email.as_ref());
        let has_proven =
            |account: &Customer| email.as_ref().is_some_and(|to| account.has_proven(to));
        let payment: Option<PaymentInput> = self.buyer.payment.clone().map(PaymentInput::from);
        let buyer = Buyer {
            customer_id: account.map(|account| account.id.clone()),
            is_email_proven: account.is_some_and(has_proven),
            email,
            locale: self.buyer.locale.clone(),
            contact: self.buyer.contact.clone(),
            shipping_address: self.buyer.shipping_address.clone(),
            billing_address: self.buyer.billing_address.clone(),
            tax_number: self.buyer.tax_number.clone(),
            note: self.buyer.note.clone(),
            metadata: self.buyer.metadata.clone(),
            tags: Vec::new(),
            source: "storefront".to_owned(),
            payment: payment.clone(),
            shopper_ids: shopper.ids(&store.id),
        };
        let content = OrderContent {
            lines: self.order_lines(),
            gift_card_ids: self.gift_cards.iter().map(|card| card.id.clone()).collect(),
            discount_codes: self.discount_codes.clone(),
            shipping_rate_id: self.buyer.shipping_rate_id.clone(),
            destination: buyer.shipping_address.as_ref().map(TaxLocation::from),
            billed_at: buyer.billing_address.as_ref().map(TaxLocation::from),
            is_exempt: account.is_some_and(|account| account.tax_exempt),
            shopper,
            shopper_network: Some(network),
            payment,
            has_known_codes: true,
            is_saved: true,
            ..OrderContent::default()
        };
        let placement = OrderPlacement {
            by: PlacedBy::Shopper,
            buyer,
            draft: false,
            expires: true,
            order_token_digest: None,
            paid: None,
        };
        (content, placement)
    }
}

/// The content of a checkout at which the shopper expects this total.
#[must_use]
pub fn expecting(content: OrderContent, expected_total: Option<Money>) -> OrderContent {
    OrderContent { expected_total, ..content }
}
