//! Addresses of people: e-mail and telephone.

use primitives::fields::{FromText, Text, Violation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fold::{in_usual_width, latin_ascii};

text_type! {
    /// An e-mail address as entered, without surrounding blanks.
    #[schemars(extend("format" = "email", "maxLength" = 254))]
    Email
}

impl Email {
    /// The address in lower case, which identifies an account. RFC 5321 lets local parts differ by case; no
    /// provider in use does.
    pub fn normalized(&self) -> String {
        self.0.to_lowercase()
    }

    /// The address for logs and strangers: `a***@example.com`.
    pub fn masked(&self) -> String {
        let (local, domain) = self.0.rsplit_once('@').unwrap_or((&self.0, ""));
        format!("{}***@{domain}", local.chars().take(1).collect::<String>())
    }
}

impl FromText for Email {
    const EXPECTS: &'static str = "an e-mail address";

    fn from_text(text: &str) -> Result<Self, Violation> {
        use email_address::{EmailAddress, Options};
        let text = text.trim();
        let options =
            Options::default().with_required_tld().without_display_text().without_domain_literal();
        let valid = text.len() <= 254
            && text.is_ascii()
            && !text.contains('"')
            && EmailAddress::parse_with_options(text, options).is_ok();
        if valid {
            Ok(Self(text.to_owned()))
        } else {
            Err(Violation::new("invalid_email", "Must be an e-mail address."))
        }
    }
}

text_type! {
    /// A telephone number as it is written, in any notation: `+91 22 5550 1234`, `030/1234567`, `1-800-FLOWERS`,
    /// `(212) 555-0100 ext. 7`.
    #[schemars(extend("minLength" = 5, "maxLength" = 50))]
    Phone
}

impl FromText for Phone {
    const EXPECTS: &'static str = "a telephone number";

    fn from_text(text: &str) -> Result<Self, Violation> {
        // Spreadsheets mark with an apostrophe what is no number to them.
        let text = Text::<0, 50>::from_text(text.trim().trim_start_matches('\''))?;
        let text = String::from(text);
        let usual = in_usual_width(&text);
        let digits = usual.bytes().filter(u8::is_ascii_digit).count();
        let letters = usual.bytes().filter(u8::is_ascii_alphabetic).count();
        let is_written = usual.chars().all(|c| {
            c.is_ascii_alphanumeric()
                || c.is_whitespace()
                || " +-./\\()[],;:~*#=".contains(c)
                || latin_ascii(c) == Some("-")
        });
        let is_vanity = digits >= 4 && digits.saturating_add(letters) >= 10;
        let is_number = digits <= 25 && (digits >= 5 || is_vanity);
        if is_written && is_number && letters <= 16 {
            Ok(Self(text))
        } else {
            let detail = "Must be a telephone number like `+91 22 5550 1234` or `030/1234567`.";
            Err(Violation::new("invalid_phone", detail))
        }
    }
}

text_type! {
    /// A telephone number in E.164 (ITU): `+912255501234`.
    #[schemars(rename = "E164Number", extend("pattern" = "^[+][1-9][0-9]{1,14}$"))]
    E164
}

impl FromText for E164 {
    const EXPECTS: &'static str = "a telephone number in E.164";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let digits = text.strip_prefix('+').unwrap_or_default();
        let is_number = (2..=15).contains(&digits.len())
            && digits.bytes().all(|b| b.is_ascii_digit())
            && !digits.starts_with('0');
        let violation = || {
            Violation::new(
                "invalid_phone",
                "Must be a telephone number with its country code (E.164), like `+912255501234`.",
            )
        };
        is_number.then(|| Self(text.to_owned())).ok_or_else(violation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emails_are_validated_and_compared_without_case() {
        for good in ["a@b.co", "First.Last+tag@Sub.Example.com"] {
            assert!(Email::from_text(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "a",
            "a@b",
            "@b.co",
            "a@b..co",
            "a b@c.co",
            "\"a\"@b.co",
            "A <a@b.co>",
            "a@[127.0.0.1]",
        ] {
            assert!(Email::from_text(bad).is_err(), "{bad}");
        }
        assert_eq!(Email::from_text("Ann@Example.com").unwrap().normalized(), "ann@example.com");
        assert_eq!(Email::from_text("ann@example.com").unwrap().masked(), "a***@example.com");
    }

    #[test]
    fn telephone_numbers_are_taken_in_any_notation() {
        for good in [
            "+91 (22) 5550-1234",
            "030/1234567",
            "030 / 12 34 56",
            "1-800-FLOWERS",
            "(212) 555-0100 ext. 7",
            "Tel. 030 1234567",
            "＋４９ ３０ １２３４５６７",
            "٠١٠٠١٢٣٤٥٦٧",
            "06.12.34.56.78",
            "+49\u{a0}30\u{2011}1234567",
        ] {
            assert_eq!(Phone::from_text(good).unwrap().as_str(), good);
        }
        assert_eq!(Phone::from_text("'+4930123456").unwrap().as_str(), "+4930123456");
        for bad in ["", "12", "no number", "a@b.co", "+", "030<1234567>", &"1".repeat(30)] {
            assert_eq!(Phone::from_text(bad).unwrap_err().code, "invalid_phone", "{bad}");
        }
        assert!(E164::from_text("+493012345").is_ok());
        assert!(E164::from_text("+0301234567").is_err() && E164::from_text("4930").is_err());
    }
}
