//! An order as its shopper sees it: without the merchant's labels, locations and levers.

use std::collections::BTreeMap;

use core_types::fields::{Currency, Email};
use core_types::id::{
    CustomerId, FulfillmentId, OrderId, OrderItemId, ProductId, StoreId, VariantId,
};
use core_types::money::Money;
use core_types::provider::ProviderName;
use primitives::clock::Timestamp;
use identity::address::PostalAddress;
use schemars::JsonSchema;
use serde::Serialize;

use super::fulfillment::{Fulfillment, FulfillmentLine, FulfillmentState, Tracking};
use super::stock::StockState;
use super::{
    DiscountAllocation, FinancialStatus, FulfillmentStatus, GiftCardUse, Order, OrderContact,
    OrderDiscountView, OrderItem, OrderStatus, PresentedToken, ShippingLine, Totals,
};
use crate::tax::LineTax;

/// An order.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ShopperOrderView {
    /// `ord_` and 32 hexadecimal digits.
    pub id: OrderId,
    /// The store that it belongs to.
    pub store_id: StoreId,
    /// What people call it.
    pub number: String,
    /// Where confirmations go.
    pub email: Option<Email>,
    /// Whom it is for, in their own words.
    pub contact: Option<OrderContact>,
    /// Where it is in its life.
    pub status: OrderStatus,
    /// What has become of its money.
    pub financial_status: FinancialStatus,
    /// How much of it has left.
    pub fulfillment_status: FulfillmentStatus,
    /// At most 40; no two of one variant.
    pub items: Vec<ShopperItemView>,
    /// Its amounts, from the subtotal to what is due.
    pub totals: Totals,
    /// How it is sent, when that was chosen.
    pub shipping_line: Option<ShippingLine>,
    /// What is taken off.
    pub discounts: Vec<OrderDiscountView>,
    /// The gift cards that pay for it, by the end of their codes.
    pub gift_cards: Vec<ShopperGiftCardView>,
    /// What has gone back.
    pub refunded_total: Money,
    /// What is left to pay.
    pub outstanding: Money,
    /// The currency of all its amounts.
    pub currency: Currency,
    /// How many of an amount's digits are behind the point: 0, 2 or 3.
    pub currency_exponent: u16,
    /// Where it goes.
    pub shipping_address: Option<PostalAddress>,
    /// Who is billed.
    pub billing_address: Option<PostalAddress>,
    /// The payment provider that was chosen.
    pub payment_provider: Option<String>,
    /// Whether it has to be paid.
    pub payment_required: bool,
    /// When it expires unless it is paid.
    pub expires_at: Option<Timestamp>,
    /// When it was cancelled or expired.
    pub cancelled_at: Option<Timestamp>,
    /// What its shopper can do: `pay`, `cancel`.
    pub allowed_actions: Vec<&'static str>,
    /// When it was placed.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

core_types::view! {
    /// A line.
    ShopperItemView of item: OrderItem {
        /// `itm_` and 32 hexadecimal digits.
        id: OrderItemId,
        /// The id of what is sold.
        variant_id: VariantId,
        /// Its product.
        product_id: ProductId,
        /// The product's title.
        title: String,
        /// The variant's title.
        variant_title: Option<String>,
        /// The variant's SKU.
        sku: Option<String>,
        /// The first image.
        image_url: Option<String>,
        /// Units ordered.
        quantity: u32,
        /// The price of one.
        price: Money,
        /// Price times quantity.
        subtotal: Money,
        /// Taken off it.
        discount: Money,
        /// By which discounts.
        discounts: Vec<DiscountAllocation>,
        /// Tax on it.
        tax: Money,
        /// By which rates.
        tax_lines: Vec<LineTax>,
        /// Subtotal less discount, plus tax unless prices hold it already.
        total: Money,
        /// Units that have left.
        fulfilled: u32,
        /// Units that will not leave.
        cancelled: u32,
        /// Units that left and came back.
        returned: u32,
        /// Units that money went back for.
        refunded: u32,
        /// Whether it has to be sent.
        requires_shipping: bool,
        /// What was said of it, as of an engraving.
        metadata: BTreeMap<String, String>,
    }
}

core_types::view! {
    /// A gift card that pays for an order.
    ShopperGiftCardView of card: GiftCardUse {
        /// The end of its code.
        last_characters: String,
        /// Taken from it.
        amount: Money,
        /// Gone back to it.
        refunded: Money,
    }
}

core_types::view! {
    /// A parcel.
    ShopperFulfillmentView of fulfillment: Fulfillment {
        /// `ful_` and 32 hexadecimal digits.
        id: FulfillmentId,
        /// How far it has come.
        status: FulfillmentState,
        /// What is in it.
        items: Vec<FulfillmentLine>,
        /// How it can be followed.
        tracking: Tracking,
        /// When it left.
        created_at: Timestamp,
        /// When it arrived.
        delivered_at: Option<Timestamp>,
        /// When it was changed last.
        updated_at: Timestamp,
        /// Starts at 1, and grows by 1 with each write.
        version: u64,
    }
}

impl Order {
    /// Whether it is shown to this customer, or to whoever has this token: an order of theirs, or
    /// the one that the token came with, or was mailed for. A draft is the merchant's alone until it binds (our
    /// choice), be it assigned to a customer or not.
    pub fn is_shown_to(
        &self,
        customer: Option<&CustomerId>,
        token: Option<&PresentedToken>,
    ) -> bool {
        let is_theirs = customer.is_some() && customer == self.customer_id.as_ref();
        let has_token = token.is_some_and(|token| token.opens(self));
        self.status != OrderStatus::Draft && (is_theirs || has_token)
    }

    /// Whether somebody is told by mail what happens to it: who ordered it, and said where to.
    pub fn has_listener(&self) -> bool {
        let is_shoppers = self.order_token_digest.is_some() || self.customer_id.is_some();
        self.email.is_some() && is_shoppers && self.status != OrderStatus::Draft
    }

    /// Whether who it is for is mailed where to pay once it stands: one that the merchant has made,
    /// which is not to be paid by hand, and says where to write to.
    pub fn asks_to_be_paid(&self, now: Timestamp) -> bool {
        let by_hand = self.payment_provider.as_deref() == Some(ProviderName::Manual.as_str());
        let is_made = self.order_token_digest.is_none() && self.email.is_some();
        is_made && !by_hand && self.is_payable(now)
    }

    /// Whether its shopper may cancel it: nobody has paid, authorized or confirmed it.
    pub fn is_cancellable_by_shopper(&self) -> bool {
        self.status == OrderStatus::Open && self.stock == StockState::Reserved && !self.has_money()
    }
}

impl ShopperOrderView {
    /// The order as it is now.
    pub fn of(order: &Order, now: Timestamp) -> Self {
        let payment_required = order.is_payable(now);
        let pay = payment_required.then_some("pay");
        let cancel = order.is_cancellable_by_shopper().then_some("cancel");
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
            payment_required,
            expires_at: order.expires_at,
            cancelled_at: order.cancelled_at,
            allowed_actions: pay.into_iter().chain(cancel).collect(),
            created_at: order.created_at,
            updated_at: order.updated_at,
            version: order.version,
        }
    }
}
