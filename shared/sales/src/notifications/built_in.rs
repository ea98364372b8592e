//! The built-in English texts of mails, for stores without texts of their own.

use super::kind::NotificationKind;
use super::template::Wording;

/// The end of a mail about an order, if the store has a page for the order.
const SEE: &str = "{% if link %}\n\nSee your order:\n{{ link }}\n{% endif %}";

/// The built-in text of a mail.
pub(super) fn wording(kind: NotificationKind) -> Wording {
    let (subject, body) = match kind {
        NotificationKind::OrderPlaced => (
            "Your order {{ order_number }}",
            "Thank you for your order at the shop\n\n    {{ shop }}\n\n\
             Order: {{ order_number }}\nItems: {{ items }}\n\
             {% if lines %}{{ lines }}\n{% endif %}Total: {{ total }}\n\n\
             {% if outstanding %}Left to pay: {{ outstanding }}{% else %}It is paid.{% endif %}\n\n",
        ),
        NotificationKind::OrderShipped => (
            "Your order {{ order_number }} is on its way",
            "Something of your order left the shop\n\n    {{ shop }}\n\nOrder: {{ order_number }}\n\
             {% if carrier %}Carrier: {{ carrier }}\n{% endif %}\
             {% if tracking_number %}Number: {{ tracking_number }}\n{% endif %}\
             {% if tracking_url %}Follow it: {{ tracking_url }}\n{% endif %}",
        ),
        NotificationKind::OrderDelivered => (
            "Your order {{ order_number }} has arrived",
            "A parcel arrived that you ordered at the shop\n\n    {{ shop }}\n\n\
             Order: {{ order_number }}\n",
        ),
        NotificationKind::OrderRefunded => (
            "Your order {{ order_number }} was refunded",
            "Money went back to you for an order at the shop\n\n    {{ shop }}\n\n\
             Order: {{ order_number }}\nRefunded: {{ refunded }}\n",
        ),
        NotificationKind::OrderCancelled => (
            "Your order {{ order_number }} was cancelled",
            "Your order was called off at the shop\n\n    {{ shop }}\n\nOrder: {{ order_number }}\n\
             {% if reason %}Reason: {{ reason }}\n{% endif %}",
        ),
        NotificationKind::OrderExpired => (
            "Your order {{ order_number }} has expired",
            "Your order was not paid in time at the shop\n\n    {{ shop }}\n\n\
             Order: {{ order_number }}\nNothing was charged. You can order again.\n",
        ),
        NotificationKind::PaymentRequested => (
            "Your order {{ order_number }} waits to be paid",
            "Your order waits to be paid at the shop\n\n    {{ shop }}\n\nOrder: {{ order_number }}\n\
             Left to pay: {{ outstanding }}\n\nPay it here:\n{{ link }}\n",
        ),
        NotificationKind::GiftCard => (
            "You have a gift card",
            "You have a gift card for the shop\n\n    {{ shop }}\n\nIt is worth {{ value }}.\n\n\
             {% if message %}With these words:\n\n{{ message }}\n\n{% endif %}\
             Code: {{ code }}\n\n{% if expires_on %}It is good until {{ expires_on }}.\n{% endif %}\
             Whoever has the code can spend it: keep it to yourself.\n",
        ),
    };
    let see = match kind {
        NotificationKind::PaymentRequested | NotificationKind::GiftCard => "",
        _ => SEE,
    };
    Wording { subject: subject.to_owned(), body: format!("{body}{see}") }
}
