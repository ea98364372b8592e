//! The built-in texts of mails, for stores without texts of their own: one assembly of parts, with the words of each
//! language.

mod de;
mod en;
mod es;
mod fr;
mod hi;
mod ja;
mod wording;

use core_types::fields::Locale;
use primitives::fields::FromText as _;

use super::kind::NotificationKind;
use super::template::MailTemplate;
pub(super) use wording::Wording;
use wording::{CodeWords, Heading, Labels, OrderWords};

/// The languages that texts are built in for.
pub(super) const ALL: [&Wording; 6] = [&en::EN, &de::DE, &es::ES, &fr::FR, &hi::HI, &ja::JA];

/// A unit of an order or a cart.
const UNIT: &str = "\
{{ line.quantity }} x {{ line.title }}{% if line.variant %}, {{ line.variant }}{% endif %}\
{% if line.properties %} ({{ line.properties }}){% endif %}";

impl Wording {
    /// English, for readers of languages that no text is built in for.
    pub(super) const fn english() -> &'static Self {
        &en::EN
    }

    /// The words of a language, if there are any: `de-AT` has those of `de`.
    pub(super) fn of(locale: &Locale) -> Option<&'static Self> {
        let language = locale.as_str().split('-').next().unwrap_or_default();
        ALL.into_iter().find(|words| words.language.eq_ignore_ascii_case(language))
    }

    /// Its language.
    pub(super) fn locale(&self) -> Locale {
        Locale::from_text(self.language).unwrap_or_default()
    }

    /// The built-in text of a mail.
    pub(super) fn text(&self, kind: NotificationKind) -> MailTemplate {
        let (orders, labels, account) = (&self.orders, &self.labels, &self.account);
        let (Heading(subject, opening), parts) = match kind {
            NotificationKind::OrderPlaced => {
                let parts = [labels.summary(), labels.see(), labels.shop_and_tax(), labels.terms()];
                (&orders.placed, parts.concat())
            }
            NotificationKind::OrderShipped => {
                let parts = [labels.parcel(), labels.see(), labels.shop()];
                (&orders.shipped, parts.concat())
            }
            NotificationKind::OrderDelivered => {
                (&orders.delivered, [units(), labels.see(), labels.shop()].concat())
            }
            NotificationKind::OrderRefunded => {
                let parts = [labels.refund(), labels.see(), labels.shop_and_tax()];
                (&orders.refunded, parts.concat())
            }
            NotificationKind::OrderCancelled => {
                let reason = field(labels.reason, "reason");
                (&orders.cancelled, [reason, units(), labels.see(), labels.shop()].concat())
            }
            NotificationKind::OrderExpired => {
                let means = format!("{}\n", orders.not_charged);
                (&orders.expired, [means, units(), labels.see(), labels.shop()].concat())
            }
            NotificationKind::PaymentRequested => {
                let parts = [orders.due(), labels.summary(), labels.shop_and_tax(), labels.terms()];
                (&orders.payment, parts.concat())
            }
            NotificationKind::GiftCard => (&self.gift_card.heading, self.gift_card()),
            NotificationKind::CartAbandoned => (&self.cart.heading, self.cart()),
            NotificationKind::CustomerSignInCode => self.code(&account.sign_in),
            NotificationKind::CustomerRegistrationCode => self.code(&account.registration),
            NotificationKind::CustomerAccountExists => self.code(&account.exists),
            NotificationKind::CustomerEmailChangeCode => self.code(&account.email_change),
            NotificationKind::CustomerEmailInUse => notice(&account.email_in_use),
            NotificationKind::CustomerPasswordReset => {
                (&account.password_reset, self.password_reset())
            }
            NotificationKind::CustomerPasswordUpdated => notice(&account.password_updated),
            NotificationKind::CustomerEmailUpdated => notice(&account.email_updated),
            NotificationKind::CustomerDeleted => notice(&account.deleted),
        };
        let body = format!("{opening}\n\n    {{{{ shop }}}}\n\n{parts}");
        MailTemplate { subject: (*subject).to_owned(), body }
    }

    fn gift_card(&self) -> String {
        let (words, code) = (&self.gift_card, self.labels.code);
        [
            format!("{}\n\n{{% if message %}}{}\n\n", words.value, words.message),
            format!("{{{{ message }}}}\n\n{{% endif %}}{code}{{{{ code }}}}\n\n"),
            format!("{{% if expires_on %}}{}\n{{% endif %}}{}\n", words.valid_until, words.keep),
        ]
        .concat()
    }

    fn cart(&self) -> String {
        let words = &self.cart;
        let (go_on, why) = (words.go_on, words.why);
        let begin = format!("{go_on}\n{{{{ link }}}}\n\n{}\n{why}\n", units());
        [begin, self.labels.shop()].concat()
    }

    fn password_reset(&self) -> String {
        let (words, token) = (&self.account, self.labels.token);
        [
            format!("{}\n{{{{ link }}}}\n\n", words.open_link),
            format!("{{% if token %}}{}\n\n{token}{{{{ token }}}}\n\n", words.token_instead),
            format!("{{% endif %}}{}\n", words.link_validity),
        ]
        .concat()
    }

    fn code<'w>(&self, mail: &'w CodeWords) -> (&'w Heading, String) {
        let before = Some(mail.before).filter(|before| !before.is_empty());
        let parts = [
            before.map(|before| format!("{before}\n\n")).unwrap_or_default(),
            format!("{}{{{{ code }}}}\n\n", self.labels.code),
            [self.account.code_validity, mail.unwanted, self.account.keep_code, ""].join("\n"),
        ];
        (&mail.heading, parts.concat())
    }
}

impl OrderWords {
    /// What is left to pay, and where.
    fn due(&self) -> String {
        format!("{}\n\n{}\n{{{{ link }}}}\n\n", self.left_to_pay, self.pay_here)
    }
}

impl Labels {
    /// The parcel, its units, and where it goes.
    fn parcel(&self) -> String {
        [
            field(self.carrier, "carrier"),
            field(self.tracking_number, "tracking_number"),
            field(self.tracking_url, "tracking_url"),
            units(),
            block(self.shipping_address, "shipping_address"),
        ]
        .concat()
    }

    /// The end of a mail about an order, if the store has a page for the order.
    fn see(&self) -> String {
        let link = block(self.see_order, "link");
        link.trim_end().to_owned()
    }

    /// The lines, the amounts, the payment and the addresses of an order, and where it is picked up.
    fn summary(&self) -> String {
        let tax = format!("{{% if tax_included %}}{}{{% endif %}}", self.includes);
        [
            format!("{{% for line in lines %}}\n{UNIT}\t{{{{ line.total }}}}\n{{% endfor %}}\n"),
            row(self.subtotal, "subtotal"),
            format!("{{% for discount in discounts %}}\n{}", self.discount),
            "{{ discount.title }}\t-{{ discount.amount }}\n{% endfor %}\n".to_owned(),
            when(
                "shipping",
                &row(&format!("{}{{{{ shipping_method }}}}", self.shipping_by), "shipping"),
            ),
            taxes(&tax),
            when("rounding", &row(self.rounding, "rounding")),
            row(self.total, "total"),
            when("gift_cards", &row(self.gift_cards, "gift_cards")),
            when(
                "not payment_processing",
                &when("outstanding", &row(self.outstanding, "outstanding")),
            ),
            "\n".to_owned(),
            field(self.payment, "payment_method"),
            field("", "payment_instructions"),
            when("payment_processing", &format!("{}\n", self.is_processing)),
            when("not outstanding", &format!("{}\n", self.is_paid)),
            block(self.pickup, "pickup_address"),
            block(self.shipping_address, "shipping_address"),
            block(self.billing_address, "billing_address"),
            when("tax_number", &format!("\n{}{{{{ tax_number }}}}\n", self.tax_number)),
            block(self.note, "note"),
        ]
        .concat()
    }

    /// The lines and amounts of a refund.
    fn refund(&self) -> String {
        [
            format!("{{% for line in lines %}}\n{UNIT}\t{{{{ line.amount }}}}\n{{% endfor %}}\n"),
            when("refunded_shipping", &row(self.shipping, "refunded_shipping")),
            taxes(self.includes),
            when(
                "restocking_fee",
                &format!("{}\t-{{{{ restocking_fee }}}}\n", self.restocking_fee),
            ),
            row(self.refunded, "refunded"),
            when("refunded_to", "\n{{ refunded_to }}\n"),
        ]
        .concat()
    }

    /// The store, as the law wants it in a mail.
    fn shop(&self) -> String {
        [when("shop_address", "\n{{ shop_address }}\n"), field(self.phone, "shop_phone")].concat()
    }

    /// The store with its tax number.
    fn shop_and_tax(&self) -> String {
        [
            when("shop_address", "\n{{ shop_address }}\n"),
            field(self.shop_tax_number, "shop_tax_number"),
            field(self.phone, "shop_phone"),
        ]
        .concat()
    }

    fn terms(&self) -> String {
        block(self.terms, "terms")
    }
}

/// The units of a parcel, an ended order or a cart.
fn units() -> String {
    format!("\n{{% for line in lines %}}\n{UNIT}\n\n{{% endfor %}}\n")
}

fn notice<'w>(words: &'w (Heading, &'static str)) -> (&'w Heading, String) {
    let (heading, text) = words;
    (heading, format!("{text}\n"))
}

/// A part of a text that is left out unless a placeholder has a value.
fn when(condition: &str, text: &str) -> String {
    format!("{{% if {condition} %}}\n{text}{{% endif %}}\n")
}

/// A label and its amount.
fn row(label: &str, name: &str) -> String {
    format!("{label}\t{{{{ {name} }}}}\n")
}

/// A line of a label and its value, if it has one.
fn field(label: &str, name: &str) -> String {
    when(name, &format!("{label}{{{{ {name} }}}}\n"))
}

/// A value of several lines under its label, if it has one.
fn block(label: &str, name: &str) -> String {
    when(name, &format!("\n{label}\n{{{{ {name} }}}}\n"))
}

fn taxes(before: &str) -> String {
    format!(
        "{{% for tax in taxes %}}\n{before}{{{{ tax.name }}}} {{{{ tax.percent }}}} %\t\
         {{{{ tax.amount }}}}\n{{% endfor %}}\n"
    )
}
