//! Prices a cart, allocates its stock, and places the order.

mod allocation;
mod quote;
mod retax;
mod rules;
mod sums;
mod taxes;

use std::collections::BTreeMap;

use catalogue::inventory::Level;
use catalogue::product::Sellable;
use core_types::fields::{Email, Locale, TaxNumber};
use core_types::id::{CustomerId, OrderItemId};
use core_types::money::Money;
use identity::address::PostalAddress;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::problem::FieldError;

use super::Totals;
use super::cart::{CartLine, PaymentInput, violation};
use super::item::{Allocation, GiftCardUse, OrderContact, OrderItem};
use super::stock::OrderStock;
use super::{FinancialStatus, FulfillmentStatus, Order, OrderDiscount, OrderStatus};
use crate::discount::ShopperIds;
use crate::gift_card::GiftCard;
use crate::payment::manual_method::ChosenMethod;

pub use quote::{LineAvailability, PricedLine, Quote, QuoteView, insufficient_stock};
pub use retax::{Retaxed, retax};
pub use rules::Rules;
use rules::UNAVAILABLE;
use sums::sum_up;
pub use taxes::TaxRules;

/// The shopper and the details that they give for the order.
#[derive(Debug, Clone, Default)]
pub struct Buyer {
    /// The customer, if the shopper has an account.
    pub customer_id: Option<CustomerId>,
    /// The address that confirmations are sent to.
    pub email: Option<Email>,
    /// Whether the customer has proven the address.
    pub is_email_proven: bool,
    /// The language of mails to the shopper.
    pub locale: Option<Locale>,
    /// The contact details.
    pub contact: Option<OrderContact>,
    /// The shipping address.
    pub shipping_address: Option<PostalAddress>,
    /// The billing address.
    pub billing_address: Option<PostalAddress>,
    /// The buyer's tax registration number.
    pub tax_number: Option<TaxNumber>,
    /// A note of the shopper or the merchant.
    pub note: Option<String>,
    /// Key-value pairs of the order.
    pub metadata: BTreeMap<String, String>,
    /// The merchant's tags.
    pub tags: Vec<String>,
    /// The origin: `storefront`, or a name that the creator gives.
    pub source: String,
    /// The chosen payment provider, if known.
    pub payment: Option<PaymentInput>,
    /// The ids that the shopper's uses of discounts are counted under.
    pub shopper_ids: ShopperIds,
}

/// The store's variant for a line and its stock.
#[derive(Debug, Clone, Default)]
pub struct OfferedVariant {
    /// The variant; none if the store does not sell it.
    pub sellable: Option<Sellable>,
    /// Its stock by location.
    pub levels: Vec<Level>,
}

/// Prices a cart; the offers are in the order of the lines. With `everything`, the merchant may also order
/// products that are not on sale yet.
///
/// Lines that cannot be priced are left out, and become field errors: `unknown_variant`,
/// `amount_out_of_range`. Errors of discount codes, the shipping rate and the address are added too.
pub fn price(
    store: &Store,
    lines: Vec<CartLine>,
    offers: Vec<OfferedVariant>,
    cards: Vec<GiftCard>,
    (rules, everything): (&Rules, bool),
    errors: &mut Vec<FieldError>,
) -> Quote {
    let (mut priced, count) = (Vec::new(), lines.len());
    for (line, offer) in lines.into_iter().zip(offers) {
        let sold =
            |sellable: &Sellable| sellable.is_on_sale() || (everything && sellable.is_orderable());
        let Some(sellable) = offer.sellable.filter(sold) else {
            let pointer = format!("/items/{}/variant_id", line.position);
            errors.push(violation(
                &pointer,
                "unknown_variant",
                "The store does not sell this variant.",
            ));
            continue;
        };
        let Some(subtotal) = sellable.price.times(line.quantity) else {
            let pointer = format!("/items/{}/quantity", line.position);
            errors.push(violation(
                &pointer,
                "amount_out_of_range",
                "The total of the line is too large.",
            ));
            continue;
        };
        priced.push((line, sellable, subtotal, offer.levels));
    }
    // What depends on all of the goods is not said of a part of them.
    let is_whole = priced.len() == count;
    let pickup = rules.pickup_location();
    let mut lines = allocation::allocate_all(store, pickup, priced);
    if pickup.is_some_and(|location| !allocation::are_at(&lines, location)) {
        errors.push(violation(
            "/shipping_rate_id",
            UNAVAILABLE,
            "The goods are not in stock at the pickup location.",
        ));
    }
    let Some(sums) = sum_up(&mut lines, (rules, is_whole), &store.currency, errors) else {
        errors.push(violation("/items", "amount_out_of_range", "The order's total is too large."));
        let totals = Totals::zero(&store.currency);
        return Quote {
            lines,
            parcel: None,
            shipping: None,
            discounts: Vec::new(),
            cards: Vec::new(),
            totals,
            taxed_at: None,
        };
    };
    let (cards, totals) = pay(sums.totals, cards);
    let totals = totals.rounded_to(rules.rounds_to);
    Quote {
        lines,
        parcel: Some(sums.parcel),
        shipping: sums.shipping,
        discounts: sums.discounts,
        cards,
        totals,
        taxed_at: rules.taxes.taxed_at(),
    }
}

/// Pays from the gift cards in their order, up to the balance of each.
fn pay(totals: Totals, cards: Vec<GiftCard>) -> (Vec<(GiftCard, Money)>, Totals) {
    let mut due = totals.total.clone();
    let mut used = Vec::new();
    for card in cards {
        let pays = card.balance.min(&due);
        due = due.minus(&pays).unwrap_or(due);
        if !pays.is_zero() {
            used.push((card, pays));
        }
    }
    let gift_cards = totals.total.minus(&due).unwrap_or_else(|| Money::zero(&due.currency));
    (used, Totals { gift_cards, due, ..totals })
}

/// The terms of an order to be placed.
#[derive(Debug, Clone, Default)]
pub struct OrderTerms {
    /// Whether it is a draft.
    pub draft: bool,
    /// When it expires unless it is paid.
    pub expires_at: Option<Timestamp>,
    /// The manual payment method that the shopper chose.
    pub payment_method: Option<ChosenMethod>,
    /// The instructions of a manual payment.
    pub payment_instructions: Option<String>,
    /// When the hold of a draft on its stock ends.
    pub stock_held_until: Option<Timestamp>,
    /// The digest of the shopper's order token.
    pub order_token_digest: Option<String>,
}

impl Order {
    /// The order of a priced cart. If nothing is due after gift cards, it is paid at once, unless it is a
    /// draft.
    pub fn place(
        store: &Store,
        number: u64,
        quote: &Quote,
        buyer: Buyer,
        terms: OrderTerms,
        now: Timestamp,
    ) -> Self {
        let currency = &store.currency;
        let is_paid = quote.totals.due.is_zero() && !terms.draft;
        let payment = buyer.payment.as_ref();
        let shopper_ids = buyer.shopper_ids.clone();
        let guest = buyer.email.as_ref().filter(|_| buyer.customer_id.is_none());
        let mut order = Self {
            id: store.order_id(number),
            store_id: store.id.clone(),
            number: format!("{}{number}", store.order_prefix),
            guest: guest.map(|email| store.guest_key(email)),
            customer_id: buyer.customer_id,
            email: buyer.email,
            is_email_proven: buyer.is_email_proven,
            locale: buyer.locale,
            contact: buyer.contact,
            status: if terms.draft { OrderStatus::Draft } else { OrderStatus::Open },
            on_hold: false,
            financial_status: FinancialStatus::Pending,
            fulfillment_status: FulfillmentStatus::Unfulfilled,
            stock: if is_paid { OrderStock::Committed } else { OrderStock::Reserved },
            items: quote.lines.iter().map(|line| OrderItem::of(line, now)).collect(),
            totals: quote.totals.clone(),
            uncharged: None,
            unapplied: Vec::new(),
            taxed_at: quote.taxed_at.clone(),
            shipping_line: quote.shipping.clone(),
            discounts: quote
                .discounts
                .iter()
                .map(|(discount, amount)| {
                    OrderDiscount::of(discount, amount.clone(), number, &shopper_ids)
                })
                .collect(),
            gift_cards: quote.cards.iter().map(GiftCardUse::of).collect(),
            payments: Vec::new(),
            captured: quote.totals.gift_cards.clone(),
            refunded: Money::zero(currency),
            shipping_refunded: Money::zero(currency),
            processing: Vec::new(),
            was_processing: false,
            payment_failed: false,
            currency: currency.clone(),
            shipping_address: buyer.shipping_address,
            billing_address: buyer.billing_address,
            tax_number: buyer.tax_number,
            store_tax_number: store.tax_number.clone(),
            note: buyer.note,
            tags: buyer.tags,
            metadata: buyer.metadata,
            source: buyer.source,
            payment_provider: payment.map(|payment| payment.provider.to_string()),
            payment_method: terms.payment_method,
            payment_instructions: terms.payment_instructions,
            capture_method: payment.and_then(|payment| payment.capture_method),
            order_token_digest: terms.order_token_digest,
            expires_at: terms.expires_at.filter(|_| !is_paid && !terms.draft),
            stock_held_until: terms.stock_held_until.filter(|_| terms.draft),
            payment_window: terms.expires_at.map(|at| now.until(at).as_secs()),
            confirmed: false,
            attend_at: None,
            attend_tries: 0,
            cancel_reason: None,
            cancelled_at: None,
            closed_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        order.derive();
        order
    }
}

impl OrderItem {
    fn of(priced: &PricedLine, now: Timestamp) -> Self {
        let sellable = &priced.sellable;
        Self {
            id: OrderItemId::mint(now),
            variant_id: sellable.variant_id.clone(),
            product_id: sellable.product_id.clone(),
            title: sellable.product_title.clone(),
            variant_title: Some(sellable.variant_title.clone()),
            sku: sellable.sku.clone(),
            image_url: sellable.image_url.clone(),
            quantity: priced.line.quantity,
            list_price: priced.list_price.clone(),
            price: sellable.price.clone(),
            subtotal: priced.subtotal.clone(),
            discount: priced.discount.clone(),
            discounts: priced.discounts.clone(),
            tax: priced.tax.clone(),
            tax_lines: priced.tax_lines.clone(),
            total: priced.total.clone(),
            fulfilled: 0,
            refunded: 0,
            cancelled: 0,
            returned: 0,
            refundable_cancelled: 0,
            refundable_returned: 0,
            waived: 0,
            unsold: 0,
            discarded: 0,
            refunded_amount: Money::zero(&priced.total.currency),
            location_id: priced.units.first().map(|units| units.location_id.clone()),
            allocations: priced.units.iter().cloned().map(Allocation::from).collect(),
            tracked: sellable.tracked,
            oversells: sellable.tracked && priced.oversells,
            backordered: priced.backordered,
            requires_shipping: sellable.requires_shipping,
            properties: priced.line.properties.clone(),
            metadata: priced.line.metadata.clone(),
        }
    }
}

impl GiftCardUse {
    fn of((card, pays): &(GiftCard, Money)) -> Self {
        Self {
            card_id: card.id.clone(),
            last_characters: card.last_characters.clone(),
            amount: pays.clone(),
            refunded: Money::zero(&pays.currency),
        }
    }
}
