//! The words of the built-in texts, one set for each language.

/// The subject of a mail, and its first sentence, which the shop's name follows.
pub(super) struct Heading(pub(super) &'static str, pub(super) &'static str);

/// The words of mails in a language.
pub(in super::super) struct Wording {
    /// The language.
    pub(super) language: &'static str,
    /// What parts the whole of an amount from its fraction.
    pub(in super::super) decimal: &'static str,
    /// Where a part of a refund went: `{amount}` to a gift card.
    pub(in super::super) to_gift_card: &'static str,
    pub(super) labels: Labels,
    pub(super) orders: OrderWords,
    pub(super) gift_card: GiftCardWords,
    pub(super) cart: CartWords,
    pub(super) account: AccountWords,
}

/// What stands before values. Each label that shares a line with its value ends as its language does that.
pub(super) struct Labels {
    pub(super) subtotal: &'static str,
    /// Its discount's title follows.
    pub(super) discount: &'static str,
    /// The shipping method follows.
    pub(super) shipping_by: &'static str,
    pub(super) shipping: &'static str,
    /// A tax that the prices include follows.
    pub(super) includes: &'static str,
    pub(super) rounding: &'static str,
    pub(super) total: &'static str,
    pub(super) gift_cards: &'static str,
    pub(super) outstanding: &'static str,
    pub(super) payment: &'static str,
    pub(super) is_paid: &'static str,
    pub(super) is_processing: &'static str,
    pub(super) pickup: &'static str,
    pub(super) shipping_address: &'static str,
    pub(super) billing_address: &'static str,
    pub(super) tax_number: &'static str,
    pub(super) note: &'static str,
    pub(super) see_order: &'static str,
    pub(super) shop_tax_number: &'static str,
    pub(super) phone: &'static str,
    pub(super) terms: &'static str,
    pub(super) carrier: &'static str,
    pub(super) tracking_number: &'static str,
    pub(super) tracking_url: &'static str,
    pub(super) restocking_fee: &'static str,
    pub(super) refunded: &'static str,
    pub(super) reason: &'static str,
    pub(super) code: &'static str,
    pub(super) token: &'static str,
}

/// The words of mails about orders.
pub(super) struct OrderWords {
    pub(super) placed: Heading,
    pub(super) shipped: Heading,
    pub(super) delivered: Heading,
    pub(super) refunded: Heading,
    pub(super) cancelled: Heading,
    pub(super) expired: Heading,
    /// What that means.
    pub(super) not_charged: &'static str,
    pub(super) payment: Heading,
    /// What is left to pay.
    pub(super) left_to_pay: &'static str,
    /// The link follows.
    pub(super) pay_here: &'static str,
}

/// The words of the mail that brings a gift card.
pub(super) struct GiftCardWords {
    pub(super) heading: Heading,
    pub(super) value: &'static str,
    /// The giver's message follows.
    pub(super) message: &'static str,
    pub(super) valid_until: &'static str,
    pub(super) keep: &'static str,
}

/// The words of the mail about a cart that was left.
pub(super) struct CartWords {
    pub(super) heading: Heading,
    /// The link follows.
    pub(super) go_on: &'static str,
    /// Why the reader gets it.
    pub(super) why: &'static str,
}

/// The words of a mail with a one-time code: before the code, what it is for; after it, what to do who did not want it.
pub(super) struct CodeWords {
    pub(super) heading: Heading,
    pub(super) before: &'static str,
    pub(super) unwanted: &'static str,
}

/// The words of mails about accounts.
pub(super) struct AccountWords {
    pub(super) code_validity: &'static str,
    pub(super) keep_code: &'static str,
    pub(super) sign_in: CodeWords,
    pub(super) registration: CodeWords,
    pub(super) exists: CodeWords,
    pub(super) email_change: CodeWords,
    pub(super) email_in_use: (Heading, &'static str),
    pub(super) password_reset: Heading,
    /// The link follows.
    pub(super) open_link: &'static str,
    /// The token follows.
    pub(super) token_instead: &'static str,
    pub(super) link_validity: &'static str,
    pub(super) password_updated: (Heading, &'static str),
    pub(super) email_updated: (Heading, &'static str),
    pub(super) deleted: (Heading, &'static str),
}
