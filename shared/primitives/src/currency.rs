//! The currencies of ISO 4217.

/// The decimals of a currency: 0, 2, 3 or 4 (ISO 4217); 2 for an unknown one.
pub fn exponent(currency: &str) -> u16 {
    iso_currency::Currency::from_code(currency)
        .and_then(iso_currency::Currency::exponent)
        .unwrap_or(2)
}
