//! The names of one template, and of what it includes.

use std::collections::HashMap;
use std::sync::Arc;

use crate::tags::ForLoop;
use crate::value::Value;

/// What `render` gives a partial afresh.
#[derive(Default)]
pub(crate) struct Frame {
    /// The template that is rendered, for errors.
    pub(crate) template: Arc<str>,
    /// Names of loops and arguments, the innermost last.
    pub(crate) names: Vec<(Arc<str>, Value)>,
    variables: HashMap<Arc<str>, Value>,
    counters: HashMap<Arc<str>, i64>,
    /// Where `offset: continue` goes on.
    pub(crate) offsets: HashMap<Arc<str>, usize>,
    pub(crate) cycles: HashMap<String, usize>,
    pub(crate) changed: Option<Arc<str>>,
    pub(crate) loops: Vec<Arc<ForLoop>>,
    /// Whether it is rendered by `render`, where `include` is not allowed.
    pub(crate) rendered: bool,
}

impl Frame {
    pub(crate) fn get(&self, name: &str) -> Option<Value> {
        let named = self.names.iter().rev().find(|(other, _)| &**other == name);
        if let Some((_, value)) = named {
            return Some(value.clone());
        }
        if let Some(value) = self.variables.get(name) {
            return Some(value.clone());
        }
        self.counters.get(name).map(|count| Value::Int(*count))
    }

    pub(crate) fn assign(&mut self, name: &Arc<str>, value: Value) {
        if let Some(slot) = self.variables.get_mut(name) {
            *slot = value;
        } else {
            self.variables.insert(Arc::clone(name), value);
        }
    }

    pub(crate) fn counter(&mut self, name: &Arc<str>) -> &mut i64 {
        self.counters.entry(Arc::clone(name)).or_default()
    }
}
