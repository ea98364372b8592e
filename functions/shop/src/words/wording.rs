//! What there are words for.

macro_rules! wordings {
    ($(#[$doc:meta])* $words:ident { $($name:ident)* } $({ $($(#[$of:meta])* $group:ident: $type:ident)* })?) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) struct $words {
            $(pub(crate) $name: &'static str,)*
            $($($(#[$of])* pub(crate) $group: $type,)*)?
        }

        #[cfg(test)]
        impl $words {
            pub(super) fn all(&self) -> Vec<(&'static str, &'static str)> {
                let own = vec![$((stringify!($name), self.$name)),*];
                let groups: Vec<Vec<_>> = vec![$($(self.$group.all()),*)?];
                own.into_iter().chain(groups.into_iter().flatten()).collect()
            }
        }
    };
}

wordings! {
    /// The words of a language. `language` is `lang` of a page. `countries` has a line for each country that the API accepts:
    /// the code and the name of the Unicode CLDR (48), in the order of its collation. The others are the words of most
    /// pages, the checkout and orders.
    Words {
    language countries
    skip shop cart account summary back_to_shop checkout check_fields go_on contact signed_in
    your_account have_account sign_in email news delivery address billing_address same another
    shipping rates_later rate update_total codes code apply remove gift_card code_unknown
    payment nothing_to_pay no_method payment_method by_stripe by_razorpay by_arrangement review
    note optional order_and_pay order_now binding terms_of_order policies free days_one days_other total_changed cart_changed
    pickup title_sold_out title_too_few title_no_more not_added back
    your_order quantity gone gone_item subtotal discount shipping_by tax total tax_included
    gift_cards to_pay country first_name last_name company street flat city postal_code region
    phone choose required invalid order order_number is_cancelled thanks is_refunded
    is_processing is_placed payment_open left_to_pay reserved_until pay_amount cancel_order deliveries
    shipped delivered cancelled addresses billing messages_to not_shown open_link paid_elsewhere to_payment pay need_scripts
    payment_follows saved_addresses too_often changed_meanwhile not_possible not_there pay_by pay_otherwise rounding refunded cancel_sure cancel_yes paid partly_paid partly_refunded back_to_order not_paid declined not_paid_yet pay_or_look message_sent date_format months
    } {
    accounts: AccountWords
    /// What is said of a request that was rejected.
    errors: ErrorWords
    phrases: PhraseWords
    pages: PageWords
    regions: RegionWords
    }
}

wordings! {
    /// The words of accounts.
    AccountWords {
    password first_password new_password once_more your_password forgot_password sign_in_by_password
    sign_in_by_code code_instead code_below mail_code enter_code code_sent start_again no_account
    register set_new_password mail_link link_sent back_to_sign_in set_password password_changed hello sign_out orders
    no_orders date unpaid in_payment unshipped partly_shipped back pay_or_cancel order_status
    default_address make_default delete_address add_address save_address your_details details_below save saved new_email change_email email_changed password_set
    your_data data_below copy
    copy_of_what request_copy copy_requested copy_busy delete_account account_deleted what_is_deleted code_mailed
    }
}

wordings! {
    /// Sentences about a request that was rejected, or about one of its fields.
    ErrorWords {
    too_long characters email phone postal_code postal_code_like region country password_short password_long
    password_common passwords_differ wrong_password wrong_code wrong_sign_in link_over
    email_taken account_disabled no_mail account_required address_needed rate_needed shipping_added method_needed closed address_limit empty_cart out_of_stock unsold
    no_number no_units no_variant too_much too_many_units price_changed no_shipping rate_gone method_gone paid_already order_over discount_over
    discount_early discount_used discount_first_order discount_minimum discount_goods discount_rate
    discount_alone code_twice other_currency card_over card_empty form_empty form_too_large
    not_accepted
    }
}

wordings! {
    /// What themes write behind the name of a field.
    PhraseWords {
    name confirmation blank too_long password_short password_long password_common not_of_country differs not_valid
    }
}

wordings! {
    /// The words of lists, of plain pages, and of pages in place of others.
    PageWords {
    availability in_stock out_of_stock price product_type vendor tag previous next
    all_products relevance featured best_selling from_a from_z cheapest dearest oldest newest products search search_for
    nothing_here variant option_sold_out quantity add_to_cart buy_now cart_is_empty find_something update check_out
    contact_us your_name message send not_open opens_soon is_closed enter no_page too_many_requests sign_in_again
    not_from_here no_answer failed to_start collections refund_policy privacy_policy terms_of_service shipping_policy
    contact_information
    }
}

wordings! {
    /// What the regions of a country are called, and how one is asked for.
    RegionWords {
    state province prefecture county emirate department
    choose_state choose_province choose_prefecture choose_county choose_emirate choose_department choose_region
    }
}
