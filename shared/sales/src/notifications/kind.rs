//! The mails whose text a store can replace, and the placeholders of each.

use primitives::string_enum;

/// A placeholder in a text, such as `{{ order_number }}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placeholder {
    /// The name.
    pub name: &'static str,
    /// The value in a preview.
    pub sample: &'static str,
    /// Where it may stand.
    pub place: Place,
}

/// Where a placeholder may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the subject and in the body.
    Anywhere,
    /// In the body alone, so that a list of mails does not reveal the value.
    Body,
    /// In the body alone: a link. A mail has no other links.
    Link,
}

const fn anywhere(name: &'static str, sample: &'static str) -> Placeholder {
    Placeholder { name, sample, place: Place::Anywhere }
}

const fn in_body(name: &'static str, sample: &'static str) -> Placeholder {
    Placeholder { name, sample, place: Place::Body }
}

const fn link(name: &'static str, sample: &'static str) -> Placeholder {
    Placeholder { name, sample, place: Place::Link }
}

const SHOP: Placeholder = anywhere("shop", "Asha's Books");
const NUMBER: Placeholder = anywhere("order_number", "#1001");
const LINK: Placeholder = link("link", "https://shop.example.com/orders/1001");
const OUTSTANDING: Placeholder = anywhere("outstanding", "1299.00 INR");
const ITEMS: Placeholder = anywhere("items", "2");
const LINES: Placeholder =
    in_body("lines", "    2 x A Book - Paperback\n      Dedication: For Ann");
const TOTAL: Placeholder = anywhere("total", "1299.00 INR");
const CARRIER: Placeholder = anywhere("carrier", "India Post");
const TRACKING_NUMBER: Placeholder = anywhere("tracking_number", "EE123456789IN");
const TRACKING_URL: Placeholder = link("tracking_url", "https://track.example.com/EE123456789IN");
const REFUNDED: Placeholder = anywhere("refunded", "500.00 INR");
const REASON: Placeholder = anywhere("reason", "Out of stock");
const VALUE: Placeholder = anywhere("value", "500.00 INR");
const CODE: Placeholder = in_body("code", "ABCD-EFGH-JKMN-PQRS");
const MESSAGE: Placeholder = in_body("message", "    Happy birthday!");
const EXPIRES_ON: Placeholder = anywhere("expires_on", "2030-12-31");

string_enum! {
    /// A mail whose text a store can replace.
    NotificationKind {
        /// An order was placed.
        OrderPlaced = "order_placed",
        /// Units of an order were shipped.
        OrderShipped = "order_shipped",
        /// A parcel of an order was delivered.
        OrderDelivered = "order_delivered",
        /// An order was refunded, in part or in full.
        OrderRefunded = "order_refunded",
        /// An order was cancelled.
        OrderCancelled = "order_cancelled",
        /// An order was not paid in time.
        OrderExpired = "order_expired",
        /// The shopper is asked to pay an order.
        PaymentRequested = "payment_requested",
        /// A gift card is sent to its recipient.
        GiftCard = "gift_card",
    }
}

impl NotificationKind {
    /// The placeholders that its text may use.
    pub const fn placeholders(self) -> &'static [Placeholder] {
        match self {
            Self::OrderPlaced => &[SHOP, NUMBER, ITEMS, LINES, TOTAL, OUTSTANDING, LINK],
            Self::OrderShipped => &[SHOP, NUMBER, CARRIER, TRACKING_NUMBER, TRACKING_URL, LINK],
            Self::OrderDelivered | Self::OrderExpired => &[SHOP, NUMBER, LINK],
            Self::OrderRefunded => &[SHOP, NUMBER, REFUNDED, LINK],
            Self::OrderCancelled => &[SHOP, NUMBER, REASON, LINK],
            Self::PaymentRequested => &[SHOP, NUMBER, OUTSTANDING, LINK],
            Self::GiftCard => &[SHOP, VALUE, CODE, MESSAGE, EXPIRES_ON],
        }
    }

    /// The placeholder that its body must contain, if any.
    pub const fn required(self) -> Option<&'static str> {
        match self {
            Self::PaymentRequested => Some("link"),
            Self::GiftCard => Some("code"),
            _ => None,
        }
    }
}
