//! When values are equal, which is greater, and what contains what.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::lookup;
use crate::number::{self, Number};
use crate::object::Shape;
use crate::value::Value;

/// Whether two values are equal, as `==` has it.
pub fn equal(left: &Value, right: &Value) -> bool {
    match (&*left.resolved(), &*right.resolved()) {
        (Value::Blank | Value::Empty, Value::Blank | Value::Empty) => false,
        (Value::Blank, other) | (other, Value::Blank) => is_blank(other),
        (Value::Empty, other) | (other, Value::Empty) => is_empty(other),
        (Value::Nil, Value::Nil) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Str(left) | Value::Html(left), Value::Str(right) | Value::Html(right)) => {
            left == right
        }
        (Value::Range(a, b), Value::Range(c, d)) => (a, b) == (c, d),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right.iter()).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            Arc::ptr_eq(left, right) || left.equals(&**right)
        }
        (left, right) => order(left, right) == Some(Ordering::Equal),
    }
}

/// Which of two numbers or texts is greater; nothing of other values.
pub fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (&*left.resolved(), &*right.resolved()) {
        (Value::Str(left) | Value::Html(left), Value::Str(right) | Value::Html(right)) => {
            Some(left.cmp(right))
        }
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        (left, right) => number::compare(number(left)?, number(right)?),
    }
}

fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Int(number) => Some(Number::Int(*number)),
        Value::Float(number) => Some(Number::Float(*number)),
        _ => None,
    }
}

/// Which of two values is greater. A number and a text cannot be compared, which is an error; others
/// are in no relation.
pub(crate) fn relation(left: &Value, right: &Value) -> Result<Option<Ordering>> {
    let (left, right) = (left.resolved(), right.resolved());
    let is_number = |value: &Value| number(value).is_some();
    if left.is_text() && is_number(&right) {
        return Err(Error::argument(format!("comparison of String with {right} failed")));
    }
    if is_number(&left) && right.is_text() {
        let kind = if matches!(*left, Value::Int(_)) { "Integer" } else { "Float" };
        return Err(Error::argument(format!("comparison of {kind} with String failed")));
    }
    Ok(order(&left, &right))
}

/// Whether a text has another in it, a list an item, or a hash a name.
pub fn contains(left: &Value, right: &Value) -> bool {
    if !right.is_truthy() {
        return false;
    }
    match &*left.resolved() {
        Value::Str(text) | Value::Html(text) => text.contains(&*right.to_text()),
        Value::Array(items) => items.iter().any(|item| equal(item, right)),
        Value::Range(first, last) => {
            let within = |number: &i64| (first..=last).contains(&number);
            matches!(&*right.resolved(), Value::Int(number) if within(number))
        }
        Value::Object(object) => match object.shape() {
            Shape::List => {
                object.items().is_some_and(|mut items| items.any(|item| equal(&item, right)))
            }
            Shape::Hash | Shape::Object => {
                right.is_text() && object.get(&right.to_text()).is_some()
            }
        },
        _ => false,
    }
}

/// Whether a value is `blank`.
pub(crate) fn is_blank(value: &Value) -> bool {
    match value {
        Value::Nil | Value::Bool(false) => true,
        Value::Str(text) | Value::Html(text) => text.chars().all(char::is_whitespace),
        _ => is_empty(value),
    }
}

/// Whether a value is `empty`.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Str(text) | Value::Html(text) => text.is_empty(),
        Value::Array(_) => lookup::size(value) == Some(0),
        Value::Object(object) => object.is_empty() || lookup::size(value) == Some(0),
        _ => false,
    }
}
