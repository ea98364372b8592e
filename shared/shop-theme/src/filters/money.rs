//! Amounts of money, in hundredths of the store's currency.

use liquid::{Args, Context, Result, Value};

use super::call::{Named, page};
use crate::money::with_code;
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
    Ok(amount(&shop, input, |number| shop.amounts.around(number)).into())
}

fn money_with_currency(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let text = amount(&shop, input, |number| shop.amounts.around(number));
    Ok(text.map(|text| with_code(shop.data.currency(), text)).into())
}

fn money_without_currency(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    Ok(amount(&shop, input, str::to_owned).into())
}

fn money_without_trailing_zeros(input: &Value, _: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let shop = page(cx)?;
    let Some(parts) = Parts::of(&shop, input) else { return Ok(Value::Nil) };
    let is_whole = parts.decimals.bytes().all(|b| b == b'0');
    let parts = if is_whole { Parts { decimals: String::new(), ..parts } } else { parts };
    Ok(parts.written(&shop, |number| shop.amounts.around(number)).into())
}

/// An amount: its sign, its whole units, and the digits of its decimals.
struct Parts {
    is_negative: bool,
    whole: u64,
    decimals: String,
}

impl Parts {
    /// Those of an amount in the unit of themes; none where it is blank.
    fn of(shop: &Shop, input: &Value) -> Option<Self> {
        if input.is_nil() || input.as_str() == Some("") {
            return None;
        }
        let amount = liquid::number::loose_integer(input);
        let (unit, shown) = shop.money.units();
        let whole = amount.unsigned_abs().checked_div(unit.unsigned_abs())?;
        let part = amount.unsigned_abs().checked_rem(unit.unsigned_abs())?;
        let decimals = if shown == 0 { String::new() } else { format!("{part:0>shown$}") };
        Some(Self { is_negative: amount < 0, whole, decimals })
    }

    /// As the page's language writes it, in what stands around a number.
    fn written(&self, shop: &Shop, around: impl Fn(&str) -> String) -> String {
        let text = around(&shop.amounts.number(self.whole, &self.decimals));
        if self.is_negative { format!("-{text}") } else { text }
    }

    /// As machines read it.
    fn plain(&self) -> String {
        let point = if self.decimals.is_empty() { "" } else { "." };
        let sign = if self.is_negative { "-" } else { "" };
        format!("{sign}{}{point}{}", self.whole, self.decimals)
    }
}

fn amount(shop: &Shop, input: &Value, around: impl Fn(&str) -> String) -> Option<String> {
    Some(Parts::of(shop, input)?.written(shop, around))
}

/// An amount as machines read it: `1299.00`.
pub(super) fn plain(shop: &Shop, input: &Value) -> Option<String> {
    Some(Parts::of(shop, input)?.plain())
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
