//! Mails about a customer's order.

use gateway::clock::DAY;
use ground::fields::Email;
use ground::mail::{MailContent, unlinked};

use crate::order::Order;
use crate::order::fulfillment::Tracking;
use crate::order::refund::Refund;

/// The order was placed.
pub fn order_placed(to: &Email, shop: &str, order: &Order) -> MailContent {
    let (shop, number) = (unlinked(shop), unlinked(&order.number));
    let units: u32 = order.items.iter().map(|item| item.quantity).fold(0, u32::saturating_add);
    let due = if order.outstanding().is_zero() {
        "It is paid.".to_owned()
    } else {
        format!("Left to pay: {} {}", order.outstanding().decimal(), order.currency)
    };
    let text = format!(
        "Thank you for your order at the shop\n\n\
         \x20   {shop}\n\n\
         Order: {number}\n\
         Items: {units}\n\
         Total: {} {}\n\n\
         {due}\n",
        order.totals.total.decimal(),
        order.currency,
    );
    MailContent::new(to, &format!("Your order {number}"), text, DAY.saturating_mul(3))
        .of_business(&order.store_id)
}

/// Something of the order left.
pub fn order_shipped(to: &Email, shop: &str, order: &Order, tracking: &Tracking) -> MailContent {
    let (shop, number) = (unlinked(shop), unlinked(&order.number));
    let words = |text: &Option<String>| text.as_deref().map(unlinked);
    // The one link that stays: it is a field of its own, and what the mail is for.
    let lines = [
        ("Carrier: ", words(&tracking.company)),
        ("Number: ", words(&tracking.number)),
        ("Follow it: ", tracking.url.clone()),
    ];
    let known: String = lines
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}{}\n", value.as_ref()?)))
        .collect();
    let text = format!(
        "Something of your order left the shop\n\n\
         \x20   {shop}\n\n\
         Order: {number}\n{known}",
    );
    let subject = format!("Your order {number} is on its way");
    MailContent::new(to, &subject, text, DAY.saturating_mul(3)).of_business(&order.store_id)
}

/// What happened to an order, told in a sentence; and what is added to it.
fn told(
    (to, shop, order): (&Email, &str, &Order),
    subject: &str,
    what: &str,
    more: &str,
) -> MailContent {
    let (shop, number) = (unlinked(shop), unlinked(&order.number));
    let text = format!("{what}\n\n\x20   {shop}\n\nOrder: {number}\n{more}");
    let subject = format!("Your order {number} {subject}");
    MailContent::new(to, &subject, text, DAY.saturating_mul(3)).of_business(&order.store_id)
}

/// It waits to be paid, at this address of the store's.
pub fn payment_requested(to: &Email, shop: &str, order: &Order, link: &str) -> MailContent {
    let due = format!("Left to pay: {} {}\n", order.outstanding().decimal(), order.currency);
    let what = "Your order waits to be paid at the shop";
    let mail = told((to, shop, order), "waits to be paid", what, &due).linked("Pay it here", link);
    MailContent { asks_to_pay: true, ..mail }
}

/// A parcel of it arrived.
pub fn order_delivered(to: &Email, shop: &str, order: &Order) -> MailContent {
    told((to, shop, order), "has arrived", "A parcel arrived that you ordered at the shop", "")
}

/// Money of it went back.
pub fn order_refunded(to: &Email, shop: &str, order: &Order, refund: &Refund) -> MailContent {
    let amount = format!("Refunded: {} {}\n", refund.amount.decimal(), order.currency);
    let what = "Money went back to you for an order at the shop";
    told((to, shop, order), "was refunded", what, &amount)
}

/// It was called off.
pub fn order_cancelled(to: &Email, shop: &str, order: &Order) -> MailContent {
    let reason = order.cancel_reason.as_deref().map(unlinked);
    let reason = reason.map_or(String::new(), |reason| format!("Reason: {reason}\n"));
    told((to, shop, order), "was cancelled", "Your order was called off at the shop", &reason)
}

/// It was not paid in time.
pub fn order_expired(to: &Email, shop: &str, order: &Order) -> MailContent {
    let what = "Your order was not paid in time at the shop";
    told((to, shop, order), "has expired", what, "Nothing was charged. You can order again.\n")
}
