//! Numbers by their decimal digits.

use std::cmp::Ordering;

/// Digits, so many of them after the point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decimal {
    digits: i128,
    scale: u32,
}

/// So many digits of a quotient are more than a floating-point number has.
const QUOTIENT_DIGITS: u32 = 20;

impl Decimal {
    pub(crate) fn whole(number: i64) -> Self {
        Self { digits: number.into(), scale: 0 }
    }

    /// The shortest digits that mean this number; nothing if it is too great or too small.
    pub(crate) fn of(number: f64) -> Option<Self> {
        if let Some((digits, scale)) = exact::digits(number) {
            return Some(Self { digits: digits.into(), scale });
        }
        let text = format!("{number:e}");
        let (mantissa, exponent) = text.split_once('e')?;
        let exponent: i32 = exponent.parse().ok()?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        if let Ok(scale) = u32::try_from(scale) {
            return (scale <= 36).then_some(Self { digits, scale });
        }
        let digits = digits.checked_mul(power(scale.unsigned_abs())?)?;
        Some(Self { digits, scale: 0 })
    }

    pub(crate) fn to_float(self) -> f64 {
        if let Some(number) = exact::number(self.digits, self.scale) {
            return number;
        }
        // Parsing rounds as it should, and every such text is a number.
        format!("{}e-{}", self.digits, self.scale).parse().unwrap_or(f64::NAN)
    }

    fn scaled(self, scale: u32) -> Option<i128> {
        self.digits.checked_mul(power(scale.checked_sub(self.scale)?)?)
    }

    fn aligned(self, other: Self) -> Option<(i128, i128, u32)> {
        let scale = self.scale.max(other.scale);
        Some((self.scaled(scale)?, other.scaled(scale)?, scale))
    }

    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        match self.aligned(other) {
            Some((left, right, _)) => Some(left.cmp(&right)),
            None => self.to_float().partial_cmp(&other.to_float()),
        }
    }

    pub(crate) fn add(self, other: Self) -> Option<Self> {
        let (left, right, scale) = self.aligned(other)?;
        Some(Self { digits: left.checked_add(right)?, scale })
    }

    pub(crate) fn subtract(self, other: Self) -> Option<Self> {
        let (left, right, scale) = self.aligned(other)?;
        Some(Self { digits: left.checked_sub(right)?, scale })
    }

    pub(crate) fn multiply(self, other: Self) -> Option<Self> {
        let digits = self.digits.checked_mul(other.digits)?;
        Some(Self { digits, scale: self.scale.checked_add(other.scale)? })
    }

    pub(crate) fn divide(self, other: Self) -> Option<Self> {
        let (left, right, _) = self.aligned(other)?;
        for scale in 0..=4 {
            let scaled = left.checked_mul(power(scale)?)?;
            if scaled.checked_rem(right)? == 0 {
                return Some(Self { digits: scaled.checked_div(right)?, scale });
            }
        }
        let digits = left.checked_mul(power(QUOTIENT_DIGITS)?)?.checked_div(right)?;
        Some(Self { digits, scale: QUOTIENT_DIGITS })
    }

    pub(crate) fn modulo(self, other: Self) -> Option<Self> {
        let (left, right, scale) = self.aligned(other)?;
        let rest = left.checked_rem(right)?;
        let crosses = rest != 0 && (rest < 0) != (right < 0);
        let digits = if crosses { rest.checked_add(right)? } else { rest };
        Some(Self { digits, scale })
    }

    pub(crate) fn rounded(self, scale: u32) -> Self {
        let Some(cut) = self.scale.checked_sub(scale).and_then(power) else { return self };
        let half = cut.checked_div(2).unwrap_or(0);
        let away = if self.digits < 0 { half.saturating_neg() } else { half };
        let digits = self.digits.saturating_add(away).checked_div(cut).unwrap_or(0);
        Self { digits, scale }
    }

    /// Rounded to a multiple of 10, 100, 1000 ….
    pub(crate) fn rounded_to_zeros(self, zeros: u32) -> i64 {
        let Some(unit) = power(zeros) else { return 0 };
        let Some(scale) = self.scale.checked_add(zeros) else { return 0 };
        let tenths = Self { digits: self.digits, scale }.rounded(0);
        clamped(tenths.digits.saturating_mul(unit))
    }

    fn floored(self) -> i128 {
        let one = power(self.scale).unwrap_or(1);
        self.digits.checked_div_euclid(one).unwrap_or(0)
    }

    pub(crate) fn floor(self) -> i64 {
        clamped(self.floored())
    }

    pub(crate) fn ceil(self) -> i64 {
        let negative = Self { digits: self.digits.saturating_neg(), scale: self.scale };
        clamped(negative.floored().saturating_neg())
    }

    pub(crate) fn truncated(self) -> i64 {
        if self.digits < 0 { self.ceil() } else { self.floor() }
    }
}

/// The few digits of most numbers, without writing and reading them.
#[expect(
    clippy::float_arithmetic,
    clippy::as_conversions,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    clippy::cast_possible_truncation,
    reason = "whole numbers below 10^15 are exact, and a quotient of two exact numbers is rounded once"
)]
mod exact {
    const POWERS: [f64; 5] = [1.0, 10.0, 100.0, 1_000.0, 10_000.0];
    const BOUND: f64 = 1e15;

    /// Digits and scale, if there are at most four digits after the point.
    pub(super) fn digits(number: f64) -> Option<(i64, u32)> {
        (0..).zip(POWERS).find_map(|(scale, power)| {
            let scaled = (number * power).round();
            // As few digits mean no other number.
            let same = scaled.abs() < BOUND && scaled / power == number;
            same.then_some((scaled as i64, scale))
        })
    }

    pub(super) fn number(digits: i128, scale: u32) -> Option<f64> {
        let power = POWERS.get(usize::try_from(scale).ok()?)?;
        let digits = i64::try_from(digits).ok()? as f64;
        (digits.abs() < BOUND).then(|| digits / power)
    }
}

fn power(exponent: u32) -> Option<i128> {
    10_i128.checked_pow(exponent)
}

fn clamped(number: i128) -> i64 {
    let bound = if number < 0 { i64::MIN } else { i64::MAX };
    i64::try_from(number).unwrap_or(bound)
}
