//! The filters of Liquid itself.

use crate::language::Language;
use crate::value::Value;

pub(crate) fn register(_language: &mut Language) {}

/// The items of a value as filters go through them.
pub fn items_of(_value: &Value) -> Vec<Value> {
    Vec::new()
}
