//! What there are words for.

macro_rules! wordings {
    ($($name:ident)*) => {
        /// The words of a language.
        #[derive(Debug)]
        pub(crate) struct Words {
            /// The language, as `lang` of a page.
            pub(crate) language: &'static str,
            $(pub(crate) $name: &'static str,)*
        }

        #[cfg(test)]
        impl Words {
            pub(super) fn all(&self) -> Vec<(&'static str, &'static str)> {
                vec![$((stringify!($name), self.$name)),*]
            }
        }
    };
}

wordings! {
    skip shop cart account summary back_to_shop checkout check_fields go_on contact signed_in
    your_account have_account sign_in email news delivery address billing_address same another
    shipping rates_later rate update_total codes code apply remove gift_card code_unknown
    payment nothing_to_pay no_method payment_method by_stripe by_razorpay by_arrangement review
    note optional order_and_pay order_now binding free days_one days_other price_changed cart_changed
    pickup sold_out too_few no_more not_added back
    your_order quantity gone gone_item subtotal discount shipping_by tax total tax_included
    gift_cards to_pay country first_name last_name company street flat city postal_code region
    phone choose required invalid order order_number is_cancelled thanks is_refunded
    is_processing is_placed left_to_pay reserved_until pay_amount cancel_order deliveries
    shipped delivered cancelled addresses billing messages_to not_shown open_link paid_elsewhere to_payment pay need_scripts
    payment_follows saved_addresses too_often changed_meanwhile not_possible not_there pay_by rounding refunded cancel_sure cancel_yes paid partly_paid partly_refunded back_to_order not_paid not_paid_yet pay_or_look date_format months
}
