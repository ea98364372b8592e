//! The built-in English texts of mails, for stores without texts of their own.

use super::kind::NotificationKind;
use super::template::MailTemplate;

/// The end of a mail about an order, if the store has a page for the order.
const SEE: &str = "{% if link %}\n\nSee your order:\n{{ link }}\n{% endif %}";

/// The lines, the amounts, the payment and the addresses of an order, and where it is picked up.
const SUMMARY: &str = "\
{% for line in lines %}\n\
{{ line.quantity }} x {{ line.title }}{% if line.variant %}, {{ line.variant }}{% endif %}\
{% if line.properties %} ({{ line.properties }}){% endif %}\t{{ line.total }}\n\
{% endfor %}\n\
Subtotal\t{{ subtotal }}\n\
{% for discount in discounts %}\n\
Discount, {{ discount.title }}\t-{{ discount.amount }}\n\
{% endfor %}\n\
{% if shipping %}\nShipping, {{ shipping_method }}\t{{ shipping }}\n{% endif %}\n\
{% for tax in taxes %}\n\
{% if tax_included %}Includes {% endif %}{{ tax.name }} {{ tax.percent }} %\t{{ tax.amount }}\n\
{% endfor %}\n\
{% if rounding %}\nRounding\t{{ rounding }}\n{% endif %}\n\
Total\t{{ total }}\n\
{% if gift_cards %}\nPaid by gift card\t{{ gift_cards }}\n{% endif %}\n\
{% if outstanding %}\nLeft to pay\t{{ outstanding }}\n{% endif %}\n\
\n\
{% if payment_method %}\nPayment: {{ payment_method }}\n{% endif %}\n\
{% if payment_instructions %}\n{{ payment_instructions }}\n{% endif %}\n\
{% if not outstanding %}\nIt is paid.\n{% endif %}\n\
{% if pickup_address %}\n\nPick it up at\n{{ pickup_address }}\n{% endif %}\n\
{% if shipping_address %}\n\nShipping address\n{{ shipping_address }}\n{% endif %}\n\
{% if billing_address %}\n\nBilling address\n{{ billing_address }}\n{% endif %}\n\
{% if tax_number %}\n\nYour tax number: {{ tax_number }}\n{% endif %}\n\
{% if note %}\n\nNote\n{{ note }}\n{% endif %}\n";

/// The units of a parcel or of an ended order.
const UNITS: &str = "\
\n{% for line in lines %}\n\
{{ line.quantity }} x {{ line.title }}{% if line.variant %}, {{ line.variant }}{% endif %}\
{% if line.properties %} ({{ line.properties }}){% endif %}\n\n{% endfor %}\n";

/// The store, as the law wants it in a mail.
const SHOP: &str = "\
{% if shop_address %}\n\n{{ shop_address }}\n{% endif %}\n\
{% if shop_phone %}\nTelephone: {{ shop_phone }}\n{% endif %}\n";

/// The store with its tax number.
const SHOP_AND_TAX: &str = "\
{% if shop_address %}\n\n{{ shop_address }}\n{% endif %}\n\
{% if shop_tax_number %}\nTax number of the shop: {{ shop_tax_number }}\n{% endif %}\n\
{% if shop_phone %}\nTelephone: {{ shop_phone }}\n{% endif %}\n";

const TERMS: &str = "{% if terms %}\n\nTerms\n{{ terms }}\n{% endif %}\n";

/// The built-in text of a mail.
pub(super) fn wording(kind: NotificationKind) -> MailTemplate {
    let (subject, begin, parts): (_, _, &[&str]) = match kind {
        NotificationKind::OrderPlaced => (
            "Your order {{ order_number }}",
            "Thank you for your order {{ order_number }} at the shop\n\n    {{ shop }}\n\n",
            &[SUMMARY, SEE, SHOP_AND_TAX, TERMS],
        ),
        NotificationKind::OrderShipped => (
            "Your order {{ order_number }} is on its way",
            "Goods of your order {{ order_number }} left the shop\n\n    {{ shop }}\n\n\
             {% if carrier %}\nCarrier: {{ carrier }}\n{% endif %}\n\
             {% if tracking_number %}\nNumber: {{ tracking_number }}\n{% endif %}\n\
             {% if tracking_url %}\nFollow it: {{ tracking_url }}\n{% endif %}\n",
            &[
                UNITS,
                "{% if shipping_address %}\n\nShipping address\n{{ shipping_address }}\n{% endif %}\n",
                SEE,
                SHOP,
            ],
        ),
        NotificationKind::OrderDelivered => (
            "Your order {{ order_number }} has arrived",
            "A parcel of your order {{ order_number }} arrived from the shop\n\n    {{ shop }}\n\n",
            &[UNITS, SEE, SHOP],
        ),
        NotificationKind::OrderRefunded => (
            "Your order {{ order_number }} was refunded",
            "You get money back for your order {{ order_number }} at the shop\n\n    {{ shop }}\n\n\
             {% for line in lines %}\n\
             {{ line.quantity }} x {{ line.title }}{% if line.variant %}, {{ line.variant }}{% endif %}\
             {% if line.properties %} ({{ line.properties }}){% endif %}\t{{ line.amount }}\n\
             {% endfor %}\n\
             {% if refunded_shipping %}\nShipping\t{{ refunded_shipping }}\n{% endif %}\n\
             {% for tax in taxes %}\n\
             Includes {{ tax.name }} {{ tax.percent }} %\t{{ tax.amount }}\n\
             {% endfor %}\n\
             {% if restocking_fee %}\nRestocking fee\t-{{ restocking_fee }}\n{% endif %}\n\
             Refunded\t{{ refunded }}\n\
             {% if refunded_to %}\n\n{{ refunded_to }}\n{% endif %}\n",
            &[SEE, SHOP_AND_TAX],
        ),
        NotificationKind::OrderCancelled => (
            "Your order {{ order_number }} was cancelled",
            "Your order {{ order_number }} was cancelled at the shop\n\n    {{ shop }}\n\n\
             {% if reason %}\nReason: {{ reason }}\n{% endif %}\n",
            &[UNITS, SEE, SHOP],
        ),
        NotificationKind::OrderExpired => (
            "Your order {{ order_number }} has expired",
            "Your order {{ order_number }} was not paid in time at the shop\n\n    {{ shop }}\n\n\
             Nothing was charged. You can order again.\n",
            &[UNITS, SEE, SHOP],
        ),
        NotificationKind::PaymentRequested => (
            "Your order {{ order_number }} waits to be paid",
            "Your order {{ order_number }} waits to be paid at the shop\n\n    {{ shop }}\n\n\
             Left to pay: {{ outstanding }}\n\nPay it here:\n{{ link }}\n\n",
            &[SUMMARY, SHOP_AND_TAX, TERMS],
        ),
        NotificationKind::GiftCard => (
            "You have a gift card",
            "You have a gift card for the shop\n\n    {{ shop }}\n\nIt is worth {{ value }}.\n\n\
             {% if message %}With these words:\n\n{{ message }}\n\n{% endif %}\
             Code: {{ code }}\n\n{% if expires_on %}It is valid until {{ expires_on }}.\n{% endif %}\
             Whoever has the code can spend it: keep it to yourself.\n",
            &[],
        ),
        NotificationKind::CartAbandoned => (
            "You left something in your cart",
            "Your cart waits for you at the shop\n\n    {{ shop }}\n\nContinue here:\n{{ link }}\n\n",
            &[
                UNITS,
                "\nYou get this mail because you accept news of the shop.\n\
                 You can change that in your account there.\n",
                SHOP,
            ],
        ),
    };
    MailTemplate { subject: subject.to_owned(), body: format!("{begin}{}", parts.concat()) }
}
