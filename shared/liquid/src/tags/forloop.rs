//! The object that tells a loop where it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::object::Object;
use crate::value::Value;

/// `forloop`, and with columns `tablerowloop`.
pub(crate) struct ForLoop {
    name: Arc<str>,
    length: usize,
    columns: Option<usize>,
    parent: Option<Arc<ForLoop>>,
    place: AtomicUsize,
}

impl ForLoop {
    pub(crate) fn new(name: Arc<str>, length: usize, parent: Option<Arc<ForLoop>>) -> Self {
        Self { name, length, columns: None, parent, place: AtomicUsize::new(0) }
    }

    pub(super) fn table(length: usize, columns: usize) -> Self {
        let columns = Some(columns);
        Self { name: Arc::from(""), length, columns, parent: None, place: AtomicUsize::new(0) }
    }

    pub(crate) fn go_to(&self, place: usize) {
        self.place.store(place, Ordering::Relaxed);
    }

    fn place(&self) -> usize {
        self.place.load(Ordering::Relaxed)
    }

    fn is_last(&self) -> bool {
        self.place().saturating_add(1) >= self.length
    }

    fn common(&self, name: &str) -> Option<Value> {
        let place = self.place();
        let left = self.length.saturating_sub(place);
        Some(match name {
            "length" => self.length.into(),
            "index" => place.saturating_add(1).into(),
            "index0" => place.into(),
            "rindex" => left.into(),
            "rindex0" => left.saturating_sub(1).into(),
            "first" => (place == 0).into(),
            "last" => self.is_last().into(),
            _ => return None,
        })
    }

    fn in_table(&self, columns: usize, name: &str) -> Option<Value> {
        let place = self.place();
        let column = place.checked_rem(columns)?;
        let row = place.checked_div(columns)?;
        Some(match name {
            "row" => row.saturating_add(1).into(),
            "col" => column.saturating_add(1).into(),
            "col0" => column.into(),
            "col_first" => (column == 0).into(),
            "col_last" => (column.saturating_add(1) == columns).into(),
            _ => return None,
        })
    }
}

impl Object for ForLoop {
    fn get(&self, name: &str) -> Option<Value> {
        if let Some(value) = self.common(name) {
            return Some(value);
        }
        if let Some(columns) = self.columns {
            return self.in_table(columns, name);
        }
        match name {
            "name" => Some(Value::Str(Arc::clone(&self.name))),
            "parentloop" => {
                let parent = self.parent.as_ref()?;
                let parent: Arc<dyn Object> = Arc::<ForLoop>::clone(parent);
                Some(Value::Object(parent))
            }
            _ => None,
        }
    }

    fn text(&self) -> String {
        if self.columns.is_some() { "Liquid::TablerowloopDrop" } else { "Liquid::ForloopDrop" }
            .into()
    }
}
