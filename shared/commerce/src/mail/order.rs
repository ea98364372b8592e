//! Mails about a customer's order.

use gateway::clock::DAY;

use super::Letter;
use crate::fields::Email;
use crate::order::Order;
use crate::order::fulfillment::Tracking;

impl Letter {
    /// The order was placed.
    pub fn order_placed(to: &Email, shop: &str, order: &Order) -> Self {
        let units: u32 = order.items.iter().map(|item| item.quantity).fold(0, u32::saturating_add);
        let due = if order.outstanding().is_zero() {
            "It is paid.".to_owned()
        } else {
            format!("Left to pay: {} {}", order.outstanding().decimal(), order.currency)
        };
        let text = format!(
            "Thank you for your order at the shop\n\n\
             \x20   {shop}\n\n\
             Order: {}\n\
             Items: {units}\n\
             Total: {} {}\n\n\
             {due}\n",
            order.number,
            order.totals.total.decimal(),
            order.currency,
        );
        Self::new(to, &format!("Your order {}", order.number), text, DAY.saturating_mul(3))
            .from_store(Some(&order.store_id))
    }

    /// Something of the order left.
    pub fn order_shipped(to: &Email, shop: &str, order: &Order, tracking: &Tracking) -> Self {
        let lines = [
            ("Carrier: ", &tracking.company),
            ("Number: ", &tracking.number),
            ("Follow it: ", &tracking.url),
        ];
        let known: String = lines
            .iter()
            .filter_map(|(name, value)| Some(format!("{name}{}\n", value.as_ref()?)))
            .collect();
        let text = format!(
            "Something of your order left the shop\n\n\
             \x20   {shop}\n\n\
             Order: {}\n{known}",
            order.number,
        );
        let subject = format!("Your order {} is on its way", order.number);
        Self::new(to, &subject, text, DAY.saturating_mul(3)).from_store(Some(&order.store_id))
    }
}
