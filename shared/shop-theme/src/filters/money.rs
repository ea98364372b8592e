//! Amounts of money, in hundredths of the store's currency.

use liquid::{Args, Context, Result, Value};

use super::call::{Named, page};
use crate::objects::store::symbol;
use crate::shop::Shop;

pub(super) const FILTERS: &[Named] = &[
    ("money", money),
    ("money_amount", money_without_currency),
    ("money_with_currency", money_with_currency),
    ("money_without_currency", money_without_currency),
    ("money_without_trailing_zeros", money_without_trailing_zeros),
    ("unit_price_with_measurement", unit_price),
    ("weight_with_unit", weight_with_unit),
];

/// Formats an amount: `129900` as `₹1,299.00`.
fn money(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    Ok(text(&shop, input).map(|amount| format!("{}{amount}", symbol(shop.data.currency()))).into())
}

fn money_with_currency(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let code = shop.data.currency();
    Ok(text(&shop, input).map(|amount| format!("{}{amount} {code}", symbol(code))).into())
}

fn money_without_currency(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    Ok(text(&shop, input).into())
}

fn money_without_trailing_zeros(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let amount = text(&shop, input).map(|amount| match amount.split_once('.') {
        Some((whole, part)) if part.bytes().all(|b| b == b'0') => whole.to_owned(),
        _ => amount,
    });
    Ok(amount.map(|amount| format!("{}{amount}", symbol(shop.data.currency()))).into())
}

/// The amount with its decimal point, and with commas between thousands.
pub(super) fn text(shop: &Shop, input: &Value) -> Option<String> {
    if input.is_nil() || input.as_str() == Some("") {
        return None;
    }
    let amount = liquid::number::loose_integer(input);
    let (unit, shown) = shop.money.units();
    let (whole, part) = (
        amount.unsigned_abs().checked_div(unit.unsigned_abs())?,
        amount.unsigned_abs().checked_rem(unit.unsigned_abs())?,
    );
    let digits = whole.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let sign = if amount < 0 { "-" } else { "" };
    if shown == 0 {
        return Some(format!("{sign}{grouped}"));
    }
    Some(format!("{sign}{grouped}.{part:0>shown$}"))
}

/// `₹12.00 / 100g`.
fn unit_price(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let price = money(input, args, cx)?;
    let Some(measurement) = args.get(0).filter(|given| !given.is_nil()) else { return Ok(price) };
    let value = measurement.get("reference_value");
    let unit = measurement.get("reference_unit").to_text().into_owned();
    let value = if value.to_text() == "1" { String::new() } else { value.to_text().into_owned() };
    Ok(format!("{} / {value}{unit}", price.to_text()).into())
}

/// A weight in grams with its unit.
fn weight_with_unit(input: &Value, args: &Args, _: &mut Context<'_>) -> Result<Value> {
    let unit = args.get(0).map(|unit| unit.to_text().into_owned());
    let unit = unit.filter(|unit| !unit.is_empty()).unwrap_or_else(|| "g".to_owned());
    Ok(format!("{} {unit}", input.to_text()).into())
}
