//! The mails that a store can say in its own words, and what can stand in them.

use primitives::string_enum;

/// What stands for something in a text: `{{ order_number }}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placeholder {
    /// Its name.
    pub name: &'static str,
    /// What stands there in a preview.
    pub sample: &'static str,
    /// Where it may stand.
    pub place: Place,
}

/// Where a placeholder may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In the subject and in the body.
    Anywhere,
    /// In the body alone: it is nobody's who only sees a list of mails.
    Body,
    /// In the body alone: a link, the only kind that a mail has.
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
    /// A mail that a store can say in its own words.
    NotificationKind {
        /// An order was placed.
        OrderPlaced = "order_placed",
        /// Something of an order left.
        OrderShipped = "order_shipped",
        /// A parcel of an order arrived.
        OrderDelivered = "order_delivered",
        /// Money of an order went back.
        OrderRefunded = "order_refunded",
        /// An order was called off.
        OrderCancelled = "order_cancelled",
        /// An order was not paid in time.
        OrderExpired = "order_expired",
        /// An order waits to be paid.
        PaymentRequested = "payment_requested",
        /// Somebody is sent a gift card.
        GiftCard = "gift_card",
    }
}

impl NotificationKind {
    /// What can stand in it.
    pub const fn placeholders(self) -> &'static [Placeholder] {
        match self {
            Self::OrderPlaced => &[SHOP, NUMBER, ITEMS, TOTAL, OUTSTANDING, LINK],
            Self::OrderShipped => &[SHOP, NUMBER, CARRIER, TRACKING_NUMBER, TRACKING_URL, LINK],
            Self::OrderDelivered | Self::OrderExpired => &[SHOP, NUMBER, LINK],
            Self::OrderRefunded => &[SHOP, NUMBER, REFUNDED, LINK],
            Self::OrderCancelled => &[SHOP, NUMBER, REASON, LINK],
            Self::PaymentRequested => &[SHOP, NUMBER, OUTSTANDING, LINK],
            Self::GiftCard => &[SHOP, VALUE, CODE, MESSAGE, EXPIRES_ON],
        }
    }

    /// Without what its body is of no use.
    pub const fn required(self) -> Option<&'static str> {
        match self {
            Self::PaymentRequested => Some("link"),
            Self::GiftCard => Some("code"),
            _ => None,
        }
    }
}
