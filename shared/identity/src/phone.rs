//! Telephone numbers in E.164, by the numbering plans of libphonenumber.

use core_types::fields::{Country, E164, Phone};
use primitives::fields::FromText;
use rlibphonenumber::{PHONE_NUMBER_UTIL, PhoneNumberFormat, Region};

/// A number in E.164, without its extension. Without a country code it is one of `country`. None if no numbering
/// plan has it: a plan may be newer than the table, so that the number is stored as it is written.
pub fn e164(phone: &Phone, country: &Country) -> Option<E164> {
    // Parsed at first use.
    let plans = &*PHONE_NUMBER_UTIL;
    let region = Region::from_code(country.as_str()).ok();
    // `00` is the prefix of international calls in most countries, and is written in the others as well.
    let abroad = phone.as_str().strip_prefix("00").map(|number| format!("+{number}"));
    [Some(phone.as_str()), abroad.as_deref()].into_iter().flatten().find_map(|text| {
        let number = plans.parse(text, region).ok().filter(|it| plans.is_valid_number(it))?;
        E164::from_text(&plans.format(&number, PhoneNumberFormat::E164)).ok()
    })
}

/// The E.164 form of a number, if there is one.
pub fn e164_of(phone: Option<&Phone>, country: &Country) -> Option<E164> {
    phone.and_then(|phone| e164(phone, country))
}

#[cfg(test)]
mod tests {
    use core_types::event::sample;

    use super::*;

    #[test]
    fn a_number_of_any_notation_is_one_in_e164() {
        for (country, text, expected) in [
            ("DE", "030/1234567", Some("+49301234567")),
            ("DE", "+49 (0)30 1234567", Some("+49301234567")),
            ("DE", "0049 30 1234567", Some("+49301234567")),
            ("DE", "030 1234567 ext. 12", Some("+49301234567")),
            ("DE", "＋４９ ３０ １２３４５６７", Some("+49301234567")),
            ("US", "(212) 555-0100", Some("+12125550100")),
            ("US", "1-800-FLOWERS", Some("+18003569377")),
            ("US", "0049 30 1234567", Some("+49301234567")),
            ("US", "011 49 30 1234567", Some("+49301234567")),
            ("IN", "+91 22 5550 1234", Some("+912255501234")),
            ("IN", "098200 12345", Some("+919820012345")),
            ("FR", "06.12.34.56.78", Some("+33612345678")),
            ("IT", "06 6982", Some("+39066982")),
            ("GB", "020 7946 0958", Some("+442079460958")),
            ("XK", "044 123 456", Some("+38344123456")),
            ("EG", "٠١٠٠١٢٣٤٥٦٧", Some("+201001234567")),
            ("DE", "12345", None),
            ("US", "0301234567", None),
        ] {
            let found = e164(&sample(text), &sample(country));
            assert_eq!(found.as_ref().map(E164::as_str), expected, "{country}: {text}");
        }
    }
}
