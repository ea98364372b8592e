//! The words of mails in English.

use super::wording::{
    AccountWords, CartWords, CodeWords, GiftCardWords, Heading, Labels, OrderWords, Wording,
};

pub(super) const EN: Wording = Wording {
    language: "en",
    decimal: ".",
    to_gift_card: "{amount} to a gift card",
    labels: Labels {
        subtotal: "Subtotal",
        discount: "Discount, ",
        shipping_by: "Shipping, ",
        shipping: "Shipping",
        includes: "Includes ",
        rounding: "Rounding",
        total: "Total",
        gift_cards: "Paid by gift card",
        outstanding: "Left to pay",
        payment: "Payment: ",
        is_paid: "It is paid.",
        is_processing: "The payment is being processed.",
        pickup: "Pick it up at",
        shipping_address: "Shipping address",
        billing_address: "Billing address",
        tax_number: "Your tax number: ",
        note: "Note",
        see_order: "See your order:",
        shop_tax_number: "Tax number of the shop: ",
        phone: "Telephone: ",
        terms: "Terms",
        carrier: "Carrier: ",
        tracking_number: "Number: ",
        tracking_url: "Follow it: ",
        restocking_fee: "Restocking fee",
        refunded: "Refunded",
        reason: "Reason: ",
        code: "Code: ",
        token: "Token: ",
    },
    orders: OrderWords {
        placed: Heading(
            "Your order {{ order_number }}",
            "Thank you for your order {{ order_number }} at the shop",
        ),
        shipped: Heading(
            "Your order {{ order_number }} is on its way",
            "Goods of your order {{ order_number }} left the shop",
        ),
        delivered: Heading(
            "Your order {{ order_number }} has arrived",
            "A parcel of your order {{ order_number }} arrived from the shop",
        ),
        refunded: Heading(
            "Your order {{ order_number }} was refunded",
            "You get money back for your order {{ order_number }} at the shop",
        ),
        cancelled: Heading(
            "Your order {{ order_number }} was cancelled",
            "Your order {{ order_number }} was cancelled at the shop",
        ),
        expired: Heading(
            "Your order {{ order_number }} has expired",
            "Your order {{ order_number }} was not paid in time at the shop",
        ),
        not_charged: "Nothing was charged. You can order again.",
        payment: Heading(
            "Your order {{ order_number }} waits to be paid",
            "Your order {{ order_number }} waits to be paid at the shop",
        ),
        left_to_pay: "Left to pay: {{ outstanding }}",
        pay_here: "Pay it here:",
    },
    gift_card: GiftCardWords {
        heading: Heading("You have a gift card", "You have a gift card for the shop"),
        value: "It is worth {{ value }}.",
        message: "With these words:",
        valid_until: "It is valid until {{ expires_on }}.",
        keep: "Whoever has the code can spend it: keep it to yourself.",
    },
    cart: CartWords {
        heading: Heading("You left something in your cart", "Your cart waits for you at the shop"),
        go_on: "Continue here:",
        why: "You get this mail because you accept news of the shop.\n\
              You can change that in your account there.",
    },
    account: AccountWords {
        code_validity: "It is valid for 10 minutes and works once.",
        keep_code: "Do not share it with anybody.",
        sign_in: CodeWords {
            heading: Heading("Your sign-in code", "Use this code to sign in at the shop"),
            before: "",
            unwanted: "If you did not request it, do nothing: nobody can sign in without it.",
        },
        registration: CodeWords {
            heading: Heading(
                "Confirm your new account",
                "Somebody requested an account with this address at the shop",
            ),
            before: "To confirm that it was you, use this code.",
            unwanted: "If it was not you, do nothing: no account is created without the code.",
        },
        exists: CodeWords {
            heading: Heading(
                "You already have an account",
                "Somebody requested a new account with this address at the shop",
            ),
            before: "You have one already, and it stays as it is.\n\
                     To sign in to it, use your password, or this code.",
            unwanted: "If it was not you, do nothing.",
        },
        email_change: CodeWords {
            heading: Heading(
                "Confirm your new e-mail address",
                "Somebody asked to move their account to this address at the shop",
            ),
            before: "To confirm that it was you, use this code.",
            unwanted: "If it was not you, do nothing: no account is moved without the code.",
        },
        email_in_use: (
            Heading(
                "Your account stays as it is",
                "Somebody asked to move their account to this address at the shop",
            ),
            "This address has an account there already, and both stay as they are.\n\
             If it was you, sign in to that account, or delete it and ask again.",
        ),
        password_reset: Heading(
            "Set a new password",
            "Somebody requested a new password for your account at the shop",
        ),
        open_link: "To set one, open",
        token_instead: "An app may ask you for this token instead.",
        link_validity: "It is valid for 30 minutes and works once.\n\
                        If you did not request it, do nothing: your password stays as it is.",
        password_updated: (
            Heading(
                "Your password was changed",
                "The password of your account was changed at the shop",
            ),
            "That was at {{ changed_at }}.\n\
             If it was not you, set a new password at once: that ends every session.",
        ),
        email_updated: (
            Heading(
                "Your e-mail address was changed",
                "The e-mail address of your account was changed at the shop",
            ),
            "Since {{ changed_at }} it is {{ new_email }}.\n\
             This address can no longer be used to sign in.\n\
             If it was not you, contact the shop at once.",
        ),
        deleted: (
            Heading("Your account was deleted", "Your account was deleted at the shop"),
            "That was at {{ deleted_at }}.\n\
             With it went your addresses and your wishlist.\n\
             The shop keeps what it must of the orders you placed.",
        ),
    },
};
