//! Tax registration numbers, such as VAT and GST numbers.

use primitives::fields::{Fault, FromText};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

text_type! {
    /// A tax registration number (VAT, GST, ABN, EIN …) in capitals, without spaces, dots and hyphens:
    /// `DE123456789`. It is not verified with a register.
    #[schemars(extend("minLength" = 4, "maxLength" = 30))]
    TaxNumber
}

impl FromText for TaxNumber {
    const EXPECTS: &'static str = "a tax number";

    fn from_text(text: &str) -> Result<Self, Fault> {
        let is_separator = |c: char| c.is_whitespace() || matches!(c, '.' | '-' | '/');
        let compact: String = text.chars().filter(|c| !is_separator(*c)).collect();
        let number = compact.to_ascii_uppercase();
        let is_letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'&' | b'+' | b'*');
        if text.len() <= 30 && (4..=20).contains(&number.len()) && number.bytes().all(is_letter) {
            return Ok(Self(number));
        }
        let detail = "Must be a tax number of 4 to 20 letters and digits, like `DE123456789`.";
        Err(Fault::new("invalid_tax_number", detail))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_one_way() {
        for (written, number) in [
            ("DE 123 456 789", "DE123456789"),
            ("ATU12345678", "ATU12345678"),
            ("fr-12-345678901", "FR12345678901"),
            ("29AAGCB7383J1Z4", "29AAGCB7383J1Z4"),
            ("51 824 753 556", "51824753556"),
        ] {
            assert_eq!(TaxNumber::from_text(written).unwrap().as_str(), number);
        }
        for wrong in ["", "DE1", "12,5%", "Ä1234", "1234567890123456789012"] {
            assert!(TaxNumber::from_text(wrong).is_err(), "{wrong}");
        }
    }
}
