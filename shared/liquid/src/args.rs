//! The arguments of a filter.

use std::borrow::Cow;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::number::{self, Number};
use crate::value::Value;

/// Evaluated arguments of a filter, those with a name apart.
#[derive(Debug, Default)]
pub struct Args {
    positional: Vec<Value>,
    named: Vec<(Arc<str>, Value)>,
}

impl Args {
    /// Arguments, as for a filter that a tag applies. Of a name that is given twice, the last value counts, in the place of
    /// the first.
    pub fn new(positional: Vec<Value>, named: Vec<(Arc<str>, Value)>) -> Self {
        let mut once: Vec<(Arc<str>, Value)> = Vec::with_capacity(named.len());
        for (name, value) in named {
            match once.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = value,
                None => once.push((name, value)),
            }
        }
        Self { positional, named: once }
    }

    /// How many arguments have no name.
    pub fn len(&self) -> usize {
        self.positional.len()
    }

    /// Whether there are no arguments at all.
    pub fn is_empty(&self) -> bool {
        self.positional.is_empty() && self.named.is_empty()
    }

    /// The argument at a place, from 0; `None` if it was not given.
    pub fn get(&self, place: usize) -> Option<&Value> {
        self.positional.get(place)
    }

    /// All arguments without a name.
    pub fn positional(&self) -> &[Value] {
        &self.positional
    }

    /// The argument of a name. The last one counts.
    pub fn named(&self, name: &str) -> Option<&Value> {
        self.named.iter().rev().find(|(other, _)| &**other == name).map(|(_, value)| value)
    }

    /// All arguments with a name.
    pub fn all_named(&self) -> &[(Arc<str>, Value)] {
        &self.named
    }

    /// The argument at a place as text, empty if it was not given.
    pub fn text(&self, place: usize) -> Cow<'_, str> {
        self.get(place).map_or(Cow::Borrowed(""), Value::to_text)
    }

    /// The argument at a place as a number, 0 if it is none.
    pub fn number(&self, place: usize) -> Number {
        self.get(place).map_or(Number::Int(0), number::of)
    }

    /// The argument at a place as a whole number, or the default if it was not given.
    pub fn integer(&self, place: usize, default: i64) -> Result<i64> {
        self.get(place).map_or(Ok(default), number::strict_integer)
    }

    /// Fails unless there are so many arguments. All with a name count as one.
    pub fn expect(&self, least: usize, most: usize) -> Result<()> {
        let given = self.len().saturating_add(usize::from(!self.named.is_empty()));
        if (least..=most).contains(&given) {
            return Ok(());
        }
        // The input is an argument, too.
        let [given, least, most] = [given, least, most].map(|count| count.saturating_add(1));
        let expected = if least == most { least.to_string() } else { format!("{least}..{most}") };
        Err(Error::argument(format!(
            "wrong number of arguments (given {given}, expected {expected})"
        )))
    }
}
