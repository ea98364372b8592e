//! Numbers, computed by their decimal digits: `10.1 | plus: 2.2` is 12.3.

use std::cmp::Ordering;

use crate::decimal::Decimal;
use crate::error::{Error, Result};
use crate::value::Value;

/// What a filter computes with.
#[derive(Debug, Clone, Copy)]
pub enum Number {
    /// A whole number.
    Int(i64),
    /// A number with a fraction.
    Float(f64),
}

impl From<Number> for Value {
    fn from(number: Number) -> Self {
        match number {
            Number::Int(number) => Self::Int(number),
            Number::Float(number) => Self::Float(number),
        }
    }
}

/// The number that a value is, or that its text is or begins with; 0 of everything else.
pub fn of(value: &Value) -> Number {
    match &*value.resolved() {
        Value::Int(number) => Number::Int(*number),
        Value::Float(number) => Number::Float(*number),
        Value::Str(text) | Value::Html(text) => of_text(text),
        _ => Number::Int(0),
    }
}

fn of_text(text: &str) -> Number {
    let text = text.trim();
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return Number::Int(leading(text));
    }
    match text.parse() {
        Ok(number) => Number::Int(number),
        Err(_) => text.parse().map_or(Number::Int(0), Number::Float),
    }
}

/// The whole number with which a text begins, 0 if with none.
fn leading(text: &str) -> i64 {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['-', '+']));
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b'_';
    let length = text.bytes().skip(sign).take_while(is_part).count().saturating_add(sign);
    text.get(..length).and_then(|digits| digits.replace('_', "").parse().ok()).unwrap_or(0)
}

/// The whole number that a value is, or that its text is; an error of everything else.
pub fn strict_integer(value: &Value) -> Result<i64> {
    match &*value.resolved() {
        Value::Int(number) => Ok(*number),
        other => {
            let text = other.as_str().unwrap_or_default();
            text.trim().parse().map_err(|_| Error::argument("invalid integer"))
        }
    }
}

/// The whole number with which a value begins: 2 of 2.9 and of "2nd".
pub fn loose_integer(value: &Value) -> i64 {
    match &*value.resolved() {
        Value::Int(number) => *number,
        Value::Float(number) => Decimal::of(*number).map_or(0, Decimal::truncated),
        Value::Str(text) | Value::Html(text) => leading(text),
        _ => 0,
    }
}

pub(crate) fn range_end(value: &Value) -> i64 {
    loose_integer(value)
}

/// Which of two numbers is greater.
pub fn compare(left: Number, right: Number) -> Option<Ordering> {
    if let (Number::Int(left), Number::Int(right)) = (left, right) {
        return Some(left.cmp(&right));
    }
    match (decimal(left), decimal(right)) {
        (Some(left), Some(right)) => left.compare(right),
        _ => float(left).partial_cmp(&float(right)),
    }
}

/// What floating-point numbers do where there are too many digits.
#[expect(clippy::float_arithmetic, reason = "templates have such numbers; amounts are whole")]
mod rough {
    pub(super) fn add(left: f64, right: f64) -> f64 {
        left + right
    }

    pub(super) fn subtract(left: f64, right: f64) -> f64 {
        left - right
    }

    pub(super) fn multiply(left: f64, right: f64) -> f64 {
        left * right
    }

    pub(super) fn divide(left: f64, right: f64) -> f64 {
        left / right
    }

    pub(super) fn modulo(left: f64, right: f64) -> f64 {
        left % right
    }
}

/// The sum.
pub fn add(left: Number, right: Number) -> Number {
    calculate(left, right, i64::checked_add, Decimal::add, rough::add)
}

/// The difference.
pub fn subtract(left: Number, right: Number) -> Number {
    calculate(left, right, i64::checked_sub, Decimal::subtract, rough::subtract)
}

/// The product.
pub fn multiply(left: Number, right: Number) -> Number {
    calculate(left, right, i64::checked_mul, Decimal::multiply, rough::multiply)
}

/// The quotient, rounded down if both are whole numbers.
pub fn divide(left: Number, right: Number) -> Result<Number> {
    if is_zero(right) {
        return Err(Error::zero_division());
    }
    Ok(calculate(left, right, floor_divide, Decimal::divide, rough::divide))
}

/// The remainder, which has the sign of the divisor.
pub fn modulo(left: Number, right: Number) -> Result<Number> {
    if is_zero(right) {
        return Err(Error::zero_division());
    }
    Ok(calculate(left, right, floor_modulo, Decimal::modulo, rough::modulo))
}

fn floor_divide(left: i64, right: i64) -> Option<i64> {
    let quotient = left.checked_div(right)?;
    let below = left.checked_rem(right)? != 0 && (left < 0) != (right < 0);
    quotient.checked_sub(i64::from(below))
}

fn floor_modulo(left: i64, right: i64) -> Option<i64> {
    let rest = left.checked_rem(right)?;
    if rest != 0 && (rest < 0) != (right < 0) { rest.checked_add(right) } else { Some(rest) }
}

fn is_zero(number: Number) -> bool {
    compare(number, Number::Int(0)) == Some(Ordering::Equal)
}

/// Computes with whole numbers, with decimal digits, or where there are too many of them, roughly.
fn calculate(
    left: Number,
    right: Number,
    whole: impl Fn(i64, i64) -> Option<i64>,
    exact: impl Fn(Decimal, Decimal) -> Option<Decimal>,
    rough: impl Fn(f64, f64) -> f64,
) -> Number {
    if let (Number::Int(left), Number::Int(right)) = (left, right)
        && let Some(result) = whole(left, right)
    {
        return Number::Int(result);
    }
    let exact = decimal(left).zip(decimal(right)).and_then(|(left, right)| exact(left, right));
    Number::Float(match exact {
        Some(result) => result.to_float(),
        None => rough(float(left), float(right)),
    })
}

fn decimal(number: Number) -> Option<Decimal> {
    match number {
        Number::Int(number) => Some(Decimal::whole(number)),
        Number::Float(number) => Decimal::of(number),
    }
}

fn float(number: Number) -> f64 {
    match number {
        Number::Int(number) => Decimal::whole(number).to_float(),
        Number::Float(number) => number,
    }
}

/// The number without its sign.
pub fn absolute(number: Number) -> Number {
    match number {
        Number::Int(number) => Number::Int(number.saturating_abs()),
        Number::Float(number) => Number::Float(number.abs()),
    }
}

/// The number rounded to so many digits after the point (before it, if negative), a half away from zero.
pub fn round(number: Number, digits: i64) -> Number {
    if matches!(number, Number::Int(_)) && digits >= 0 {
        return number;
    }
    let Some(decimal) = decimal(number) else { return number };
    match u32::try_from(digits) {
        Ok(digits) if digits > 0 => Number::Float(decimal.rounded(digits).to_float()),
        Ok(_) => Number::Int(decimal.rounded(0).truncated()),
        Err(_) => {
            let zeros = u32::try_from(digits.unsigned_abs()).unwrap_or(u32::MAX);
            Number::Int(decimal.rounded_to_zeros(zeros))
        }
    }
}

/// The whole number above.
pub fn ceil(number: Number) -> Number {
    let Number::Float(float) = number else { return number };
    Decimal::of(float).map_or(number, |decimal| Number::Int(decimal.ceil()))
}

/// The whole number below.
pub fn floor(number: Number) -> Number {
    let Number::Float(float) = number else { return number };
    Decimal::of(float).map_or(number, |decimal| Number::Int(decimal.floor()))
}
