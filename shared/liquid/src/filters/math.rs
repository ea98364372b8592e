//! Filters of numbers.

use super::standard::Filters;
use crate::args::Args;
use crate::context::Context;
use crate::error::Result;
use crate::number::{self, Number};
use crate::value::Value;

pub(super) const FILTERS: Filters = &[
    ("abs", 0, 0, abs),
    ("at_least", 1, 1, at_least),
    ("at_most", 1, 1, at_most),
    ("ceil", 0, 0, ceil),
    ("divided_by", 1, 1, divided_by),
    ("floor", 0, 0, floor),
    ("minus", 1, 1, minus),
    ("modulo", 1, 1, modulo),
    ("plus", 1, 1, plus),
    ("round", 0, 1, round),
    ("times", 1, 1, times),
];

fn abs(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(number::absolute(number::of(input)).into())
}

fn at_least(input: &Value, args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    let (number, least) = (number::of(input), args.number(0));
    let below = number::compare(number, least).is_some_and(std::cmp::Ordering::is_lt);
    Ok(if below { least } else { number }.into())
}

fn at_most(input: &Value, args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    let (number, most) = (number::of(input), args.number(0));
    let above = number::compare(number, most).is_some_and(std::cmp::Ordering::is_gt);
    Ok(if above { most } else { number }.into())
}

fn ceil(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(number::ceil(number::of(input)).into())
}

fn floor(input: &Value, _args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(number::floor(number::of(input)).into())
}

fn plus(input: &Value, args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(number::add(number::of(input), args.number(0)).into())
}

fn minus(input: &Value, args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(number::subtract(number::of(input), args.number(0)).into())
}

fn times(input: &Value, args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    Ok(number::multiply(number::of(input), args.number(0)).into())
}

fn divided_by(input: &Value, args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    number::divide(number::of(input), args.number(0)).map(Value::from)
}

fn modulo(input: &Value, args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    number::modulo(number::of(input), args.number(0)).map(Value::from)
}

fn round(input: &Value, args: &Args, _cx: &mut Context<'_>) -> Result<Value> {
    let digits = match args.number(0) {
        Number::Int(digits) => digits,
        Number::Float(digits) => number::loose_integer(&Value::Float(digits)),
    };
    Ok(number::round(number::of(input), digits).into())
}
