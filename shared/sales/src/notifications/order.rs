//! Mails about a customer's order.

use gateway::clock::DAY;
use ground::fields::Email;
use ground::mail::{MailContent, unlinked};

use crate::order::Order;
use crate::order::fulfillment::Tracking;

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
