//! A cart with the server's prices becomes an order: pricing, allocation.

mod quote;
mod rules;
mod sums;

use std::collections::BTreeMap;

use catalogue::inventory::{self, Level};
use catalogue::product::{ProductStatus, Sellable};
use core_types::fields::{Email, Locale};
use core_types::id::{CustomerId, OrderItemId};
use core_types::money::Money;
use primitives::clock::Timestamp;
use primitives::problem::FieldError;
use identity::address::PostalAddress;
use identity::store::Store;

use super::Totals;
use super::cart::{CartLine, PaymentInput, fault};
use super::item::{Allocation, GiftCardUse, OrderContact, OrderItem, Units};
use super::stock::StockState;
use super::{
    DiscountAllocation, FinancialStatus, FulfillmentStatus, MAX_ALLOCATIONS, Order, OrderDiscount,
    OrderStatus, ShippingLine,
};
use crate::discount::Discount;
use crate::gift_card::GiftCard;
use crate::shipping::Parcel;
use crate::tax::LineTax;

pub use quote::{LineAvailability, QuoteView, insufficient_stock};
pub use rules::Rules;
use sums::sum_up;

/// Who orders, and what they say about it.
#[derive(Debug, Clone, Default)]
pub struct Buyer {
    /// The customer, when they have an account.
    pub customer_id: Option<CustomerId>,
    /// Where confirmations go.
    pub email: Option<Email>,
    /// Whether the customer has proven to receive mail there.
    pub is_email_proven: bool,
    /// The language in which they are written to.
    pub locale: Option<Locale>,
    /// Whom it is for.
    pub contact: Option<OrderContact>,
    /// Where it goes.
    pub shipping_address: Option<PostalAddress>,
    /// Who is billed.
    pub billing_address: Option<PostalAddress>,
    /// In the shopper's or the merchant's words.
    pub note: Option<String>,
    /// What is kept with the order.
    pub metadata: BTreeMap<String, String>,
    /// Labels of the merchant's.
    pub tags: Vec<String>,
    /// Where it is made.
    pub source: String,
    /// How it is to be paid, when that is known.
    pub payment: Option<PaymentInput>,
    /// What their uses of discounts are counted under.
    pub who: Option<String>,
}

/// A line with what the store says about it.
#[derive(Debug, Clone)]
pub struct PricedLine {
    /// What was asked for.
    pub line: CartLine,
    /// What is sold.
    pub sellable: Sellable,
    /// The price of all units.
    pub subtotal: Money,
    /// Where it is taken from; nowhere when its stock is not counted, or not there.
    pub units: Vec<Units>,
    /// Whether so many can be had now.
    pub is_available: bool,
    /// Whether it is sold beyond its stock.
    pub oversells: bool,
    /// Taken off it.
    pub discount: Money,
    /// By which discounts.
    pub discounts: Vec<DiscountAllocation>,
    /// Tax on it.
    pub tax: Money,
    /// By which rates.
    pub tax_lines: Vec<LineTax>,
    /// Subtotal less discount, plus tax unless prices hold it already.
    pub total: Money,
}

/// A cart with the server's prices.
#[derive(Debug, Clone)]
pub struct Quote {
    /// At most 40; no two of one variant.
    pub lines: Vec<PricedLine>,
    /// What is to be sent; nothing of a cart that is out of the range of money.
    pub parcel: Option<Parcel>,
    /// How it is sent, when that was chosen.
    pub shipping: Option<ShippingLine>,
    /// The discounts, with what each takes off.
    pub discounts: Vec<(Discount, Money)>,
    /// The gift cards, with what each pays.
    pub cards: Vec<(GiftCard, Money)>,
    /// Its amounts, from the subtotal to what is due.
    pub totals: Totals,
}

/// What the store says about a variant: none when it sells no such thing.
#[derive(Debug, Clone, Default)]
pub struct Offer {
    /// What is sold.
    pub sellable: Option<Sellable>,
    /// Its stock.
    pub levels: Vec<Level>,
}

/// Prices a cart. The offers are in the order of the lines. With `everything`, products that are
/// not on sale yet can be ordered too: by the merchant. What cannot be priced is left out, and is
/// a fault: `unknown_variant`, `amount_out_of_range`; what is wrong with the code, the rate and the
/// address is one as well.
pub fn price(
    store: &Store,
    lines: Vec<CartLine>,
    offers: Vec<Offer>,
    cards: Vec<GiftCard>,
    (rules, everything): (&Rules, bool),
    errors: &mut Vec<FieldError>,
) -> Quote {
    let mut priced = Vec::new();
    for (line, offer) in lines.into_iter().zip(offers) {
        let sold = |sellable: &Sellable| {
            sellable.is_on_sale() || (everything && sellable.status != ProductStatus::Archived)
        };
        let Some(sellable) = offer.sellable.filter(sold) else {
            let pointer = format!("/items/{}/variant_id", line.position);
            errors.push(fault(&pointer, "unknown_variant", "The store sells no such variant."));
            continue;
        };
        let Some(subtotal) = sellable.price.times(line.quantity) else {
            let pointer = format!("/items/{}/quantity", line.position);
            errors.push(fault(&pointer, "amount_out_of_range", "The line's price is too large."));
            continue;
        };
        priced.push((line, sellable, subtotal, offer.levels));
    }
    let mut lines = allocate_all(store, priced);
    let Some(sums) = sum_up(&mut lines, rules, &store.currency, errors) else {
        errors.push(fault("/items", "amount_out_of_range", "The order's total is too large."));
        let totals = Totals::zero(&store.currency);
        return Quote {
            lines,
            parcel: None,
            shipping: None,
            discounts: Vec::new(),
            cards: Vec::new(),
            totals,
        };
    };
    let (cards, totals) = pay(sums.totals, cards);
    Quote {
        lines,
        parcel: Some(sums.parcel),
        shipping: sums.shipping,
        discounts: sums.discounts,
        cards,
        totals,
    }
}

/// Finds the locations that lines are taken from. All lines together take from
/// [`MAX_ALLOCATIONS`] at most: one each, and of what is left those have more that come first.
fn allocate_all(
    store: &Store,
    lines: Vec<(CartLine, Sellable, Money, Vec<Level>)>,
) -> Vec<PricedLine> {
    let mut spare = MAX_ALLOCATIONS.saturating_sub(lines.len());
    let mut priced = Vec::new();
    for (line, sellable, subtotal, levels) in lines {
        let oversells = sellable.continues_selling(store);
        let most = spare.saturating_add(1);
        let found = sellable
            .tracked
            .then(|| {
                let online = &store.online_locations;
                inventory::allocate(&levels, online, line.quantity, oversells, most)
            })
            .flatten();
        let is_available = !sellable.tracked || oversells || found.is_some();
        let unit = |(location_id, quantity)| Units { location_id, quantity };
        let units: Vec<Units> = found.into_iter().flatten().map(unit).collect();
        spare = spare.saturating_sub(units.len().saturating_sub(1));
        let zero = Money::zero(&subtotal.currency);
        priced.push(PricedLine {
            line,
            sellable,
            units,
            is_available,
            oversells,
            discount: zero.clone(),
            discounts: Vec::new(),
            tax: zero,
            tax_lines: Vec::new(),
            total: subtotal.clone(),
            subtotal,
        });
    }
    priced
}

/// What the gift cards pay: each as much as it holds, in the order they were named.
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

/// What kind of order is placed.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// Whether it is a draft.
    pub draft: bool,
    /// When it expires unless it is paid.
    pub expires_at: Option<Timestamp>,
    /// The digest of the token its shopper gets.
    pub order_token_digest: Option<String>,
}

impl Order {
    /// The order of a priced cart. When gift cards, or nothing, cover it, it is paid at once.
    pub fn place(
        store: &Store,
        number: u64,
        quote: &Quote,
        buyer: Buyer,
        terms: Terms,
        now: Timestamp,
    ) -> Self {
        let currency = &store.currency;
        let is_paid = quote.totals.due.is_zero() && !terms.draft;
        let payment = buyer.payment.as_ref();
        let who = buyer.who.clone();
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
            stock: if is_paid { StockState::Committed } else { StockState::Reserved },
            items: quote.lines.iter().map(|line| OrderItem::of(line, now)).collect(),
            totals: quote.totals.clone(),
            shipping_line: quote.shipping.clone(),
            discounts: quote
                .discounts
                .iter()
                .map(|(discount, amount)| {
                    OrderDiscount::of(discount, amount.clone(), number, who.clone())
                })
                .collect(),
            gift_cards: quote.cards.iter().map(GiftCardUse::of).collect(),
            payments: Vec::new(),
            captured: quote.totals.gift_cards.clone(),
            refunded: Money::zero(currency),
            shipping_refunded: Money::zero(currency),
            payment_failed: false,
            currency: currency.clone(),
            shipping_address: buyer.shipping_address,
            billing_address: buyer.billing_address,
            note: buyer.note,
            tags: buyer.tags,
            metadata: buyer.metadata,
            source: buyer.source,
            payment_provider: payment.map(|payment| payment.provider.to_string()),
            capture_method: payment.and_then(|payment| payment.capture_method),
            order_token_digest: terms.order_token_digest,
            expires_at: terms.expires_at.filter(|_| !is_paid && !terms.draft),
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
            owed_cancelled: 0,
            owed_returned: 0,
            waived: 0,
            discarded: 0,
            refunded_amount: Money::zero(&priced.total.currency),
            location_id: priced.units.first().map(|units| units.location_id.clone()),
            allocations: priced.units.iter().cloned().map(Allocation::from).collect(),
            tracked: sellable.tracked,
            requires_shipping: sellable.requires_shipping,
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
