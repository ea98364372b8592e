//! The sentences for shoppers about what was rejected, by the codes of the API, whose own are in English and in part for
//! programs.

use super::{Words, fill};
use crate::countries::region_needed;

/// The codes of fields of which the API's own sentence says more: a limit, or what something is needed for.
const SAYS_MORE: [&str; 3] = ["required", "too_many", "out_of_range"];

/// The members of carts and orders that no other form has.
const OF_ORDERS: [&str; 8] = [
    "/lines",
    "/items",
    "/discount_codes",
    "/gift_card",
    "/add_gift_card_codes",
    "/shipping_",
    "/payment",
    "/expected_total",
];

impl Words {
    /// The sentence about a field of a form, or about something of a cart; `detail` is the API's own.
    pub(crate) fn of_field(&self, (pointer, code): (&str, &str), detail: &str) -> String {
        let filled = self.with_detail((pointer, code), detail);
        filled.unwrap_or_else(|| self.by_code((pointer, code), detail).to_owned())
    }

    /// The sentence that has something of the API's own in it: a limit, an example, or the word of a country.
    fn with_detail(&self, (pointer, code): (&str, &str), detail: &str) -> Option<String> {
        let errors = &self.errors;
        let member = pointer.rsplit('/').next().unwrap_or_default();
        match (code, member) {
            ("too_long", _) => Some(fill(errors.too_long, &[("count", number_in(detail)?)])),
            ("out_of_range", "quantity") => {
                Some(fill(errors.too_many_units, &[("count", number_in(detail)?)]))
            }
            ("required" | "invalid_postal_code", "postal_code") => {
                let (_, example) = detail.rsplit_once("such as ")?;
                let example = example.trim_end_matches('.');
                Some(fill(errors.postal_code_like, &[("example", example)]))
            }
            ("required", "region") => {
                let country = detail.strip_prefix("An address in ").and_then(|it| it.get(..2));
                Some(region_needed(country.unwrap_or_default(), self).to_owned())
            }
            _ => None,
        }
    }

    fn by_code<'a>(&self, (pointer, code): (&str, &str), detail: &'a str) -> &'a str {
        let is_english = self.language == "en";
        if let Some(sentence) = self.of_choice(pointer).filter(|_| code == "required") {
            return sentence;
        }
        let of_order = || self.of_code(code).or_else(|| self.of_cart(code));
        let is_of_order =
            pointer.is_empty() || OF_ORDERS.iter().any(|member| pointer.starts_with(member));
        let known = self.of_form(code).or_else(|| of_order().filter(|_| is_of_order));
        match known.filter(|_| !(is_english && SAYS_MORE.contains(&code))) {
            Some(sentence) => sentence,
            None if is_english => detail,
            None => self.invalid,
        }
    }

    /// The sentence about a whole request; `detail` is the API's own.
    pub(crate) fn of_request<'a>(&self, code: &str, detail: &'a str) -> &'a str {
        match self.of_state(code).or_else(|| self.of_cart(code)) {
            Some(sentence) => sentence,
            None if self.language == "en" => detail,
            None => self.errors.not_accepted,
        }
    }

    /// Of what an order needs that is no field of its form.
    fn of_choice(&self, pointer: &str) -> Option<&'static str> {
        match pointer {
            "/shipping_address" | "/billing_address" => Some(self.errors.address_needed),
            "/shipping_rate_id" => Some(self.errors.rate_needed),
            "/payment" | "/payment/provider" | "/payment/method" => Some(self.errors.method_needed),
            _ => None,
        }
    }

    fn of_form(&self, code: &str) -> Option<&'static str> {
        let errors = &self.errors;
        Some(match code {
            "required" | "too_short" => self.required,
            "invalid_characters" => errors.characters,
            "invalid_email" => errors.email,
            "invalid_phone" => errors.phone,
            "invalid_postal_code" => errors.postal_code,
            "invalid_region" => errors.region,
            "invalid_country" => errors.country,
            "password_too_short" => errors.password_short,
            "password_too_long" => errors.password_long,
            "password_common" => errors.password_common,
            "does_not_match" => errors.passwords_differ,
            _ => return None,
        })
    }

    /// Of discount codes and gift cards.
    fn of_code(&self, code: &str) -> Option<&'static str> {
        let errors = &self.errors;
        Some(match code {
            "unknown_discount_code" | "unknown_gift_card" => self.code_unknown,
            "discount_disabled" | "discount_expired" | "discount_used_up" => errors.discount_over,
            "discount_not_started" => errors.discount_early,
            "discount_used_by_customer" => errors.discount_used,
            "discount_not_first_order" => errors.discount_first_order,
            "discount_minimum_not_met" => errors.discount_minimum,
            "discount_not_applicable" => errors.discount_goods,
            "discount_not_for_shipping_rate" => errors.discount_rate,
            "not_combinable" => errors.discount_alone,
            "duplicate" => errors.code_twice,
            "currency_mismatch" => errors.other_currency,
            "gift_card_disabled" | "gift_card_expired" => errors.card_over,
            "gift_card_empty" => errors.card_empty,
            _ => return None,
        })
    }

    /// Of a cart and its order, as a whole or at a place of it.
    fn of_cart(&self, code: &str) -> Option<&'static str> {
        let errors = &self.errors;
        Some(match code {
            "price_changed" => self.total_changed,
            "line_price_changed" => errors.price_changed,
            "insufficient_stock" => errors.out_of_stock,
            "unknown_variant" => errors.unsold,
            "empty_cart" => errors.empty_cart,
            "amount_out_of_range" | "out_of_range" | "too_many" | "too_large" => errors.too_much,
            "no_shipping_to_address" => errors.no_shipping,
            "unknown_shipping_rate" | "shipping_rate_unavailable" => errors.rate_gone,
            "payment_method_unavailable"
            | "amount_not_supported"
            | "provider_not_connected"
            | "unknown_provider" => errors.method_gone,
            "account_required" => errors.account_required,
            "store_not_accepting_orders" | "store_not_ready" => errors.closed,
            _ => return None,
        })
    }

    /// Of a request that came too often, too late, or without a right to it.
    fn of_state(&self, code: &str) -> Option<&'static str> {
        let errors = &self.errors;
        Some(match code {
            "rate_limited" | "too_many_attempts" => self.too_often,
            "version_conflict" | "precondition_failed" | "request_in_progress" => {
                self.changed_meanwhile
            }
            "invalid_state_transition" => self.not_possible,
            "not_found" | "gone" => self.not_there,
            "validation_failed" => self.check_fields,
            "order_already_paid" => errors.paid_already,
            "order_expired" => errors.order_over,
            "invalid_credentials" => errors.wrong_sign_in,
            "invalid_or_expired_code" => errors.wrong_code,
            "account_disabled" => errors.account_disabled,
            "email_taken" => errors.email_taken,
            "mail_limit" | "owner_unverified" => errors.no_mail,
            "address_limit" => errors.address_limit,
            "export_limit" => self.accounts.copy_busy,
            "empty_form" => errors.form_empty,
            "body_too_large" => errors.form_too_large,
            _ => return None,
        })
    }
}

/// The last number of a sentence, which is the most that it allows.
fn number_in(detail: &str) -> Option<&str> {
    let mut numbers = detail.rsplit(|c: char| !c.is_ascii_digit());
    numbers.find(|digits| !digits.is_empty())
}

#[cfg(test)]
mod tests {
    use core_types::fields::Locale;
    use primitives::fields::FromText;

    use super::*;

    #[test]
    fn a_field_is_told_in_the_language_of_the_shop() {
        let of = |locale: &str| Words::of(&Locale::from_text(locale).unwrap());
        for (code, german, english) in [
            ("required", "Bitte ausfüllen.", "Needed for the carrier."),
            ("too_short", "Bitte ausfüllen.", "Please fill this in."),
            (
                "invalid_postal_code",
                "Bitte geben Sie eine gültige Postleitzahl dieses Landes an.",
                "Please enter a postal code of this country.",
            ),
            (
                "no_shipping_to_address",
                "Der Shop liefert nicht an diese Adresse.",
                "The shop does not ship to this address.",
            ),
            ("of_tomorrow", "Bitte prüfen Sie das.", "Needed for the carrier."),
        ] {
            let (field, detail) = (("/shipping_address/phone", code), "Needed for the carrier.");
            assert_eq!(of("de-CH").of_field(field, detail), german, "{code}");
            assert_eq!(of("en").of_field(field, detail), english, "{code}");
        }
        let of_contact = of("de").of_field(("/fields", "too_many"), "At most 20.");
        assert_eq!(of_contact, "Bitte prüfen Sie das.");
        let rate = of("de").of_field(("/shipping_rate_id", "required"), "A rate is required.");
        assert_eq!(rate, "Bitte wählen Sie eine Versandart.");
    }

    #[test]
    fn a_limit_an_example_and_the_word_of_a_country_are_in_the_sentence() {
        let of = |locale: &str| Words::of(&Locale::from_text(locale).unwrap());
        let said = |locale: &str, at: (&str, &str), detail: &str| of(locale).of_field(at, detail);
        let long = ("/shipping_address/line1", "too_long");
        assert_eq!(
            said("de", long, "Must have at most 255 characters."),
            "Bitte verwenden Sie höchstens 255 Zeichen."
        );
        let much = said("fr", ("/lines/0/quantity", "out_of_range"), "Must be between 1 and 999.");
        assert!(much.contains("999") && !much.contains(" 1 "), "{much}");
        // The API's own sentences, so that a change of theirs is noticed.
        let of_api = |country: &str, postal_code: Option<&str>| {
            let all = identity::address::validate(country, None, postal_code).unwrap_err();
            let sentences = all.into_iter().map(|(field, violation)| {
                let pointer = format!("/shipping_address/{field}");
                said("en", (&pointer, violation.code), &violation.detail)
            });
            sentences.collect::<Vec<_>>()
        };
        let of_us = of_api("US", Some("ABC"));
        assert_eq!(of_us.first().map(String::as_str), Some("Please choose a state."));
        assert!(of_us.iter().any(|it| it.contains("such as 95014")), "{of_us:?}");
        assert_eq!(of_api("JP", Some("154-0023")), ["Please choose a prefecture."]);
        assert_eq!(of_api("CA", Some("H3Z 2Y7")), ["Please choose a province."]);
    }

    #[test]
    fn a_request_is_told_in_the_language_of_the_shop() {
        let of = |locale: &str| Words::of(&Locale::from_text(locale).unwrap());
        let japanese = of("ja");
        assert_eq!(japanese.of_request("order_expired", "Expired."), japanese.errors.order_over);
        assert_eq!(japanese.of_request("of_tomorrow", "Later."), japanese.errors.not_accepted);
        assert_eq!(of("en").of_request("of_tomorrow", "Later."), "Later.");
    }
}
