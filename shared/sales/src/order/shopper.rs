//! The representation of an order for its shopper, without the merchant's tags, locations and actions.

use std::collections::BTreeMap;

use core_types::fields::{Currency, Email, TaxNumber};
use core_types::id::{
    CustomerId, FulfillmentId, OrderId, OrderItemId, ProductId, StoreId, VariantId,
};
use core_types::money::Money;
use core_types::provider::ProviderName;
use identity::address::PostalAddress;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;

use super::fulfillment::{Fulfillment, FulfillmentLine, FulfillmentState, Tracking};
use super::stock::OrderStock;
use super::{
    DiscountAllocation, FinancialStatus, FulfillmentStatus, GiftCardUse, Order, OrderChange,
    OrderContact, OrderDiscountView, OrderItem, OrderStatus, PresentedToken, ShippingLine, Totals,
};
use crate::payment::manual_method::ChosenMethod;
use crate::tax::LineTax;

/// An order, for its shopper.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ShopperOrderView {
    /// The id: `ord_` and 32 hexadecimal digits.
    pub id: OrderId,
    /// The store.
    pub store_id: StoreId,
    /// The order number that people use: the store's prefix and a growing number.
    pub number: String,
    /// The address that confirmations are sent to.
    pub email: Option<Email>,
    /// The contact details that the shopper gave.
    pub contact: Option<OrderContact>,
    /// The status.
    pub status: OrderStatus,
    /// The payment status.
    pub financial_status: FinancialStatus,
    /// The fulfilment status.
    pub fulfillment_status: FulfillmentStatus,
    /// The lines: at most 40, each with another variant.
    pub items: Vec<ShopperItemView>,
    /// The amounts of what is sold, from the subtotal to the amount due.
    pub totals: Totals,
    /// The chosen shipping rate.
    pub shipping_line: Option<ShippingLine>,
    /// The discounts.
    pub discounts: Vec<OrderDiscountView>,
    /// The gift cards that pay for it, by the last characters of their codes.
    pub gift_cards: Vec<ShopperGiftCardView>,
    /// The amount refunded so far, pending refunds included.
    pub refunded_total: Money,
    /// The amount left to pay.
    pub outstanding: Money,
    /// The currency of all amounts.
    pub currency: Currency,
    /// The number of decimal digits in an amount of the currency: 0, 2 or 3.
    pub currency_exponent: u16,
    /// The shipping address.
    pub shipping_address: Option<PostalAddress>,
    /// The billing address.
    pub billing_address: Option<PostalAddress>,
    /// The chosen payment provider.
    pub payment_provider: Option<String>,
    /// The chosen manual payment method.
    pub payment_method: Option<ChosenMethod>,
    /// The instructions of a manual payment.
    pub payment_instructions: Option<String>,
    /// The buyer's tax registration number, such as a VAT or GST number.
    pub tax_number: Option<TaxNumber>,
    /// The store's tax registration number at placement.
    pub store_tax_number: Option<TaxNumber>,
    /// Whether a payment is required now.
    pub payment_required: bool,
    /// When it expires unless it is paid; none if it cannot expire.
    pub expires_at: Option<Timestamp>,
    /// When it was cancelled or expired.
    pub cancelled_at: Option<Timestamp>,
    /// The actions that the shopper can take: `pay`, `cancel`.
    pub allowed_actions: Vec<&'static str>,
    /// When it was placed.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

core_types::view! {
    /// A line of an order, for its shopper.
    ShopperItemView of item: OrderItem {
        /// The id: `itm_` and 32 hexadecimal digits.
        id: OrderItemId,
        /// The variant.
        variant_id: VariantId,
        /// The product.
        product_id: ProductId,
        /// The product's title.
        title: String,
        /// The variant's title.
        variant_title: Option<String>,
        /// The variant's SKU.
        sku: Option<String>,
        /// The URL of the first image.
        image_url: Option<String>,
        /// The units ordered.
        quantity: u32,
        /// The units that were cancelled or returned before they were paid. The line's amounts are without them.
        unsold: u32,
        /// The price of one unit.
        price: Money,
        /// The price times the units sold: `quantity` less `unsold`.
        subtotal: Money,
        /// The discount on the line.
        discount: Money,
        /// The part of each discount.
        discounts: Vec<DiscountAllocation>,
        /// The tax on the line.
        tax: Money,
        /// The tax by rate.
        tax_lines: Vec<LineTax>,
        /// The subtotal less the discount, plus tax unless prices include it.
        total: Money,
        /// The units that were fulfilled.
        fulfilled: u32,
        /// The units that were cancelled.
        cancelled: u32,
        /// The units that were fulfilled and returned.
        returned: u32,
        /// The units that were refunded.
        refunded: u32,
        /// Whether it needs shipping.
        requires_shipping: bool,
        /// Properties by which its units differ from others of the variant, such as the text of an engraving.
        properties: BTreeMap<String, String>,
        /// Key-value pairs of the line.
        metadata: BTreeMap<String, String>,
    }
}

core_types::view! {
    /// A gift card that pays for an order.
    ShopperGiftCardView of card: GiftCardUse {
        /// The last characters of its code.
        last_characters: String,
        /// The amount that it pays.
        amount: Money,
        /// The amount refunded to it.
        refunded: Money,
    }
}

core_types::view! {
    /// A fulfilment, for its shopper.
    ShopperFulfillmentView of fulfillment: Fulfillment {
        /// The id: `ful_` and 32 hexadecimal digits.
        id: FulfillmentId,
        /// The status.
        status: FulfillmentState,
        /// The lines in it.
        items: Vec<FulfillmentLine>,
        /// The tracking details.
        tracking: Tracking,
        /// When it was shipped.
        created_at: Timestamp,
        /// When it was delivered.
        delivered_at: Option<Timestamp>,
        /// When it was last changed.
        updated_at: Timestamp,
        /// Starts at 1, and grows by 1 with each write.
        version: u64,
    }
}

impl Order {
    /// Whether this customer, or the holder of this token, may see the order.
    ///
    /// That is the order's customer, or whoever has the token from its checkout or a mail about it. A draft
    /// is visible to the merchant alone (our choice), even if it has a customer.
    pub fn is_shown_to(
        &self,
        customer: Option<&CustomerId>,
        token: Option<&PresentedToken>,
    ) -> bool {
        let is_theirs = customer.is_some() && customer == self.customer_id.as_ref();
        let has_token = token.is_some_and(|token| token.opens(self));
        self.status != OrderStatus::Draft && (is_theirs || has_token)
    }

    /// Ensures that this customer, or the holder of this token, may see the order.
    ///
    /// # Errors
    /// `not_found`.
    pub fn ensure_shown_to(
        &self,
        customer: Option<&CustomerId>,
        token: Option<&PresentedToken>,
    ) -> Result<(), Problem> {
        if self.is_shown_to(customer, token) { Ok(()) } else { Err(Code::NotFound.into()) }
    }

    /// Whether mails about the order are sent: to the address of a shopper who placed it, or of its
    /// customer.
    pub fn has_listener(&self) -> bool {
        let is_shoppers = self.order_token_digest.is_some() || self.customer_id.is_some();
        self.email.is_some() && is_shoppers && self.status != OrderStatus::Draft
    }

    /// Whether it waits until the provider that the shopper has chosen has money, or tries to get it. Nothing confirms
    /// such an order to the shopper, who may be at the provider's page, or leave it, but the merchant may.
    pub fn awaits_provider(&self) -> bool {
        let by_provider = |provider: &str| provider != ProviderName::Manual.as_str();
        self.payment_provider.as_deref().is_some_and(by_provider)
            && !self.outstanding().is_zero()
            && !self.is_firm()
            && !self.is_processing()
    }

    /// Whether the shopper is mailed a link to pay. That holds for a payable order that the merchant
    /// created, with an address, unless it is paid manually.
    pub fn requires_payment(&self, now: Timestamp) -> bool {
        let by_hand = self.payment_provider.as_deref() == Some(ProviderName::Manual.as_str());
        let is_made = self.order_token_digest.is_none() && self.email.is_some();
        is_made && !by_hand && self.is_payable(now)
    }

    /// Whether its shopper may cancel it: nothing is paid, authorized or confirmed.
    pub fn is_cancellable_by_shopper(&self) -> bool {
        self.status == OrderStatus::Open
            && self.stock == OrderStock::Reserved
            && !self.has_money()
            && !self.is_processing()
    }

    /// The actions that its status allows its shopper now.
    fn actions_of_shopper(&self, now: Timestamp) -> Vec<&'static str> {
        let pay = self.is_payable(now).then_some("pay");
        let cancel = self.is_cancellable_by_shopper().then_some("cancel");
        pay.into_iter().chain(cancel).collect()
    }

    /// Cancels the order for its shopper, and releases its stock.
    ///
    /// # Errors
    /// `invalid_state_transition`: it is paid, authorized, confirmed or in a final state; `already_fulfilled`.
    pub fn cancel_by_shopper(&self, reason: &str, now: Timestamp) -> Result<OrderChange, Problem> {
        if self.is_cancellable_by_shopper() {
            return self.cancel(Some(reason.to_owned()), true, now);
        }
        Err(Problem::state(self.status.as_str(), &self.actions_of_shopper(now))
            .with("financial_status", self.financial_status.as_str()))
    }
}

impl ShopperOrderView {
    /// The response for an order at this time.
    pub fn of(order: &Order, now: Timestamp) -> Self {
        Self {
            id: order.id.clone(),
            store_id: order.store_id.clone(),
            number: order.number.clone(),
            email: order.email.clone(),
            contact: order.contact.clone(),
            status: order.status,
            financial_status: order.financial_status,
            fulfillment_status: order.fulfillment_status,
            items: order.items.iter().map(ShopperItemView::from).collect(),
            totals: order.totals.clone(),
            shipping_line: order.shipping_line.clone(),
            discounts: order.discounts.iter().map(OrderDiscountView::from).collect(),
            gift_cards: order.gift_cards.iter().map(ShopperGiftCardView::from).collect(),
            refunded_total: order.refunded.clone(),
            outstanding: order.outstanding(),
            currency: order.currency.clone(),
            currency_exponent: order.currency.exponent(),
            shipping_address: order.shipping_address.clone(),
            billing_address: order.billing_address.clone(),
            payment_provider: order.payment_provider.clone(),
            payment_method: order.payment_method.clone(),
            payment_instructions: order.payment_instructions.clone(),
            tax_number: order.tax_number.clone(),
            store_tax_number: order.store_tax_number.clone(),
            payment_required: order.is_payable(now),
            expires_at: order.expires_at,
            cancelled_at: order.cancelled_at,
            allowed_actions: order.actions_of_shopper(now),
            created_at: order.created_at,
            updated_at: order.updated_at,
            version: order.version,
        }
    }
}
