//! The mails whose text a store can replace, and the placeholders of each.

use primitives::string_enum;

/// A placeholder in a text, such as `{{ order_number }}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placeholder {
    /// The name.
    pub name: &'static str,
    /// The value in a preview.
    pub sample: &'static str,
    /// Its permitted position.
    pub place: PlaceholderPosition,
}

/// The positions in a mail at which a placeholder is permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceholderPosition {
    /// In the subject and in the body.
    Anywhere,
    /// In the body alone, so that a list of mails does not reveal the value.
    Body,
    /// In the body alone: a link. A mail has no other links.
    Link,
}

/// A list in a text, which a loop goes through: `{% for line in lines %} … {% endfor %}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceholderList {
    /// The name of the list.
    pub name: &'static str,
    /// The name of an entry in the loop.
    pub entry: &'static str,
    /// The fields of an entry, with their values in a preview.
    pub fields: &'static [(&'static str, &'static str)],
}

const LINES: PlaceholderList = PlaceholderList {
    name: "lines",
    entry: "line",
    fields: &[
        ("quantity", "2"),
        ("title", "Blue mug"),
        ("variant", "Large"),
        ("sku", "MUG-L"),
        ("properties", "Engraving: Ann"),
        ("price", "500.00 INR"),
        ("discount", "0.00 INR"),
        ("total", "1000.00 INR"),
    ],
};
const UNITS: PlaceholderList = PlaceholderList {
    name: "lines",
    entry: "line",
    fields: &[
        ("quantity", "2"),
        ("title", "Blue mug"),
        ("variant", "Large"),
        ("sku", "MUG-L"),
        ("properties", "Engraving: Ann"),
    ],
};
const REFUNDED_LINES: PlaceholderList = PlaceholderList {
    name: "lines",
    entry: "line",
    fields: &[
        ("quantity", "1"),
        ("title", "Blue mug"),
        ("variant", "Large"),
        ("sku", "MUG-L"),
        ("properties", "Engraving: Ann"),
        ("amount", "500.00 INR"),
    ],
};
const TAXES: PlaceholderList = PlaceholderList {
    name: "taxes",
    entry: "tax",
    fields: &[("name", "GST"), ("percent", "18"), ("amount", "198.00 INR")],
};
const DISCOUNTS: PlaceholderList = PlaceholderList {
    name: "discounts",
    entry: "discount",
    fields: &[("title", "Summer sale"), ("code", "SUMMER"), ("amount", "100.00 INR")],
};

const fn anywhere(name: &'static str, sample: &'static str) -> Placeholder {
    Placeholder { name, sample, place: PlaceholderPosition::Anywhere }
}

const fn in_body(name: &'static str, sample: &'static str) -> Placeholder {
    Placeholder { name, sample, place: PlaceholderPosition::Body }
}

const fn link(name: &'static str, sample: &'static str) -> Placeholder {
    Placeholder { name, sample, place: PlaceholderPosition::Link }
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
const SUBTOTAL: Placeholder = in_body("subtotal", "1000.00 INR");
const SHIPPING: Placeholder = in_body("shipping", "100.00 INR");
const SHIPPING_METHOD: Placeholder = in_body("shipping_method", "Standard");
const TAX: Placeholder = in_body("tax", "198.00 INR");
const TAX_INCLUDED: Placeholder = in_body("tax_included", "");
const ROUNDING: Placeholder = in_body("rounding", "");
const GIFT_CARDS: Placeholder = in_body("gift_cards", "");
const PAYMENT_PROCESSING: Placeholder = in_body("payment_processing", "");
const PAYMENT_METHOD: Placeholder = in_body("payment_method", "Bank transfer");
const PAYMENT_INSTRUCTIONS: Placeholder =
    in_body("payment_instructions", "    Transfer the total with the order number.");
const PICKUP_ADDRESS: Placeholder = in_body("pickup_address", "");
const SHIPPING_ADDRESS: Placeholder =
    in_body("shipping_address", "    Asha Rao\n    1 MG Road\n    560001 Bengaluru\n    IN");
const BILLING_ADDRESS: Placeholder = in_body("billing_address", "");
const TAX_NUMBER: Placeholder = in_body("tax_number", "");
const NOTE: Placeholder = in_body("note", "");
const SHOP_ADDRESS: Placeholder =
    in_body("shop_address", "    Asha's Books\n    7 Church Street\n    560001 Bengaluru\n    IN");
const SHOP_TAX_NUMBER: Placeholder = in_body("shop_tax_number", "29AAGCB7383J1Z4");
const SHOP_PHONE: Placeholder = in_body("shop_phone", "+918040000000");
const TERMS: Placeholder = in_body("terms", "    Goods can be returned within 14 days.");
const REFUNDED_TAX: Placeholder = in_body("refunded_tax", "90.00 INR");
const REFUNDED_SHIPPING: Placeholder = in_body("refunded_shipping", "");
const RESTOCKING_FEE: Placeholder = in_body("restocking_fee", "");
const REFUNDED_TO: Placeholder = in_body("refunded_to", "");
const VALUE: Placeholder = anywhere("value", "500.00 INR");
const CODE: Placeholder = in_body("code", "ABCD-EFGH-JKMN-PQRS");
const ONE_TIME_CODE: Placeholder = in_body("code", "042137");
const PASSWORD_PAGE: Placeholder =
    link("link", "https://shop.example.com/account/reset/k3Jb0vQxN5sYtZ2mWcAa9w");
const TOKEN: Placeholder = in_body("token", "k3Jb0vQxN5sYtZ2mWcAa9w");
const CHANGED_AT: Placeholder = anywhere("changed_at", "2030-12-31T12:00:00.000Z");
const DELETED_AT: Placeholder = anywhere("deleted_at", "2030-12-31T12:00:00.000Z");
const NEW_EMAIL: Placeholder = in_body("new_email", "a***@example. com");
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
        /// The shopper gets a payment link for an order.
        PaymentRequested = "payment_requested",
        /// A gift card is sent to its recipient.
        GiftCard = "gift_card",
        /// A customer who accepts marketing left a cart.
        CartAbandoned = "cart_abandoned",
        /// A customer gets a code that signs in.
        CustomerSignInCode = "customer_sign_in_code",
        /// A new customer gets a code that creates the account.
        CustomerRegistrationCode = "customer_registration_code",
        /// Sent in place of `customer_registration_code` when the address has an account; the code signs in to it.
        CustomerAccountExists = "customer_account_exists",
        /// A customer gets a code at a new address, which moves the account there.
        CustomerEmailChangeCode = "customer_email_change_code",
        /// Sent in place of `customer_email_change_code` when the address has an account of its own.
        CustomerEmailInUse = "customer_email_in_use",
        /// A customer gets the link to set a new password.
        CustomerPasswordReset = "customer_password_reset",
        /// A customer's password was changed.
        CustomerPasswordUpdated = "customer_password_updated",
        /// A customer's address was changed; sent to the former one.
        CustomerEmailUpdated = "customer_email_updated",
        /// A customer has deleted their account.
        CustomerDeleted = "customer_deleted",
    }
}

impl NotificationKind {
    /// The placeholders that its text may use.
    pub const fn placeholders(self) -> &'static [Placeholder] {
        match self {
            Self::OrderPlaced | Self::PaymentRequested => &[
                SHOP,
                NUMBER,
                ITEMS,
                SUBTOTAL,
                SHIPPING,
                SHIPPING_METHOD,
                TAX,
                TAX_INCLUDED,
                ROUNDING,
                TOTAL,
                GIFT_CARDS,
                OUTSTANDING,
                PAYMENT_PROCESSING,
                PAYMENT_METHOD,
                PAYMENT_INSTRUCTIONS,
                PICKUP_ADDRESS,
                SHIPPING_ADDRESS,
                BILLING_ADDRESS,
                TAX_NUMBER,
                NOTE,
                SHOP_ADDRESS,
                SHOP_TAX_NUMBER,
                SHOP_PHONE,
                TERMS,
                LINK,
            ],
            Self::OrderShipped => &[
                SHOP,
                NUMBER,
                CARRIER,
                TRACKING_NUMBER,
                TRACKING_URL,
                SHIPPING_ADDRESS,
                SHOP_ADDRESS,
                SHOP_PHONE,
                LINK,
            ],
            Self::OrderDelivered | Self::OrderExpired => {
                &[SHOP, NUMBER, SHOP_ADDRESS, SHOP_PHONE, LINK]
            }
            Self::OrderRefunded => &[
                SHOP,
                NUMBER,
                REFUNDED,
                REFUNDED_SHIPPING,
                REFUNDED_TAX,
                RESTOCKING_FEE,
                REFUNDED_TO,
                SHOP_ADDRESS,
                SHOP_TAX_NUMBER,
                SHOP_PHONE,
                LINK,
            ],
            Self::OrderCancelled => &[SHOP, NUMBER, REASON, TOTAL, SHOP_ADDRESS, SHOP_PHONE, LINK],
            Self::GiftCard => &[SHOP, VALUE, CODE, MESSAGE, EXPIRES_ON],
            Self::CartAbandoned => &[SHOP, ITEMS, SHOP_ADDRESS, SHOP_PHONE, LINK],
            Self::CustomerSignInCode
            | Self::CustomerRegistrationCode
            | Self::CustomerAccountExists
            | Self::CustomerEmailChangeCode => &[SHOP, ONE_TIME_CODE],
            Self::CustomerEmailInUse => &[SHOP],
            Self::CustomerPasswordReset => &[SHOP, PASSWORD_PAGE, TOKEN],
            Self::CustomerPasswordUpdated => &[SHOP, CHANGED_AT],
            Self::CustomerDeleted => &[SHOP, DELETED_AT],
            Self::CustomerEmailUpdated => &[SHOP, CHANGED_AT, NEW_EMAIL],
        }
    }

    /// The lists that its body may go through.
    pub const fn lists(self) -> &'static [PlaceholderList] {
        match self {
            Self::OrderPlaced | Self::PaymentRequested => &[LINES, TAXES, DISCOUNTS],
            Self::OrderShipped
            | Self::OrderDelivered
            | Self::OrderCancelled
            | Self::OrderExpired
            | Self::CartAbandoned => &[UNITS],
            Self::OrderRefunded => &[REFUNDED_LINES, TAXES],
            Self::GiftCard
            | Self::CustomerSignInCode
            | Self::CustomerRegistrationCode
            | Self::CustomerAccountExists
            | Self::CustomerEmailChangeCode
            | Self::CustomerEmailInUse
            | Self::CustomerPasswordReset
            | Self::CustomerPasswordUpdated
            | Self::CustomerEmailUpdated
            | Self::CustomerDeleted => &[],
        }
    }

    /// The placeholder that its body must contain, if any.
    pub const fn required(self) -> Option<&'static str> {
        match self {
            Self::PaymentRequested | Self::CartAbandoned | Self::CustomerPasswordReset => {
                Some("link")
            }
            Self::GiftCard
            | Self::CustomerSignInCode
            | Self::CustomerRegistrationCode
            | Self::CustomerAccountExists
            | Self::CustomerEmailChangeCode => Some("code"),
            Self::OrderPlaced
            | Self::OrderShipped
            | Self::OrderDelivered
            | Self::OrderRefunded
            | Self::OrderCancelled
            | Self::OrderExpired
            | Self::CustomerEmailInUse
            | Self::CustomerPasswordUpdated
            | Self::CustomerEmailUpdated
            | Self::CustomerDeleted => None,
        }
    }
}
