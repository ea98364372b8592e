//! Quality values of content negotiation (RFC 9110 §12.4.2).

/// The full quality, in thousandths.
pub(crate) const FULL: u16 = 1_000;

/// A listed value in lower case, without its parameters, and its quality in thousandths: `gzip;q=0.5`. None if it
/// cannot be read.
pub(crate) fn weighted(text: &str) -> Option<(String, u16)> {
    let mut parts = text.split(';').map(|part| part.trim().to_ascii_lowercase());
    let value = parts.next().filter(|value| !value.is_empty())?;
    let weight = parts.find_map(|part| part.strip_prefix("q=").map(str::to_owned));
    let quality = weight.map_or(Some(FULL), |weight| thousandths(&weight))?;
    Some((value, quality))
}

/// A weight: `0` or `1` with up to three decimals, at most 1.
fn thousandths(weight: &str) -> Option<u16> {
    let (whole, decimals) = weight.split_once('.').unwrap_or((weight, ""));
    let is_number = decimals.len() <= 3 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let whole = Some(whole).filter(|whole| matches!(*whole, "0" | "1") && is_number)?;
    let all: u16 = format!("{whole}{decimals:0<3}").parse().ok()?;
    Some(all).filter(|all| *all <= FULL)
}
