//! Codes of goods for customs.

use primitives::fields::{FromText, Violation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

text_type! {
    /// A code of the Harmonized System of the World Customs Organization, or a national code that extends it: 6 to
    /// 13 digits, without dots and blanks.
    #[schemars(extend("minLength" = 6, "maxLength" = 20))]
    HsCode
}

impl FromText for HsCode {
    const EXPECTS: &'static str = "an HS code";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let digits: String =
            text.chars().filter(|c| !(c.is_whitespace() || matches!(c, '.' | '-'))).collect();
        if (6..=13).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(Self(digits));
        }
        Err(Violation::new("invalid_hs_code", "Must be 6 to 13 digits, like `691200`."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_digits() {
        for (written, code) in [("6912.00", "691200"), ("6109 10 00 10", "6109100010")] {
            assert_eq!(HsCode::from_text(written).unwrap().as_str(), code);
        }
        for wrong in ["", "6912", "69120A", "12345678901234"] {
            assert!(HsCode::from_text(wrong).is_err(), "{wrong}");
        }
    }
}
