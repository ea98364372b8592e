//! Objects over an answer of the API.

use std::sync::{Arc, OnceLock};

use liquid::{Items, Object, Shape, Value};
use serde_json::Value as Json;

use super::plain::plain;
use crate::shop::Shop;

/// What a record is: its members beyond those of its JSON, and how it is written.
pub(crate) struct Kind {
    /// The name of the object in the reference.
    pub(crate) name: &'static str,
    /// A member; `None` falls back to the shaped JSON.
    pub(crate) get: fn(&Record, &str) -> Option<Value>,
    /// The JSON that scripts read (`| json`), with the members of the reference.
    pub(crate) shape: fn(&Record) -> Json,
    /// What output prints.
    pub(crate) text: fn(&Record) -> String,
}

/// An object over an answer of the API.
#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) kind: &'static Kind,
    pub(crate) shop: Arc<Shop>,
    pub(crate) raw: Arc<Json>,
    /// The record that it belongs to: a variant's product.
    pub(crate) parent: Option<Arc<Record>>,
    shaped: Arc<OnceLock<Json>>,
}

impl Record {
    pub(crate) fn new(kind: &'static Kind, shop: &Arc<Shop>, raw: Arc<Json>) -> Self {
        Self { kind, shop: Arc::clone(shop), raw, parent: None, shaped: Arc::default() }
    }

    pub(crate) fn within(self, parent: Arc<Record>) -> Self {
        Self { parent: Some(parent), ..self }
    }

    pub(crate) fn value(self) -> Value {
        Value::object(self)
    }

    /// The JSON that scripts read.
    pub(crate) fn shaped(&self) -> &Json {
        self.shaped.get_or_init(|| (self.kind.shape)(self))
    }

    /// A text of the answer, empty if there is none.
    pub(crate) fn text_at(&self, pointer: &str) -> &str {
        crate::data::text(&self.raw, pointer)
    }

    /// A value of the answer.
    pub(crate) fn at(&self, pointer: &str) -> Value {
        self.raw.pointer(pointer).map_or(Value::Nil, plain)
    }

    /// An amount of the answer in the unit of themes, nil if there is none.
    pub(crate) fn amount(&self, pointer: &str) -> Value {
        let amount = self.raw.pointer(pointer).filter(|amount| amount.is_object());
        amount.map_or(Value::Nil, |amount| Value::Int(self.shop.money.cents(amount)))
    }
}

impl Object for Record {
    fn get(&self, name: &str) -> Option<Value> {
        if let Some(found) = (self.kind.get)(self, name) {
            return Some(found);
        }
        // Metafields are none here.
        if name == "metafields" {
            return Some(Value::map::<&str>([]));
        }
        self.shaped().get(name).map(plain)
    }

    /// A cart without lines is `empty`.
    fn is_empty(&self) -> bool {
        self.kind.name == "cart" && crate::data::list(&self.raw, "/items").is_empty()
    }

    /// A resource that settings name is its handle where a text is wanted: `collections[settings.list]`.
    fn as_value(&self) -> Option<Value> {
        let is_named = matches!(self.kind.name, "product" | "collection" | "linklist" | "page");
        let handle = self.text_at("/handle");
        (is_named && !handle.is_empty()).then(|| handle.into())
    }

    fn text(&self) -> String {
        (self.kind.text)(self)
    }

    fn equals(&self, other: &dyn Object) -> bool {
        let any: &dyn std::any::Any = other;
        any.downcast_ref::<Self>().is_some_and(|other| {
            self.kind.name == other.kind.name
                && (Arc::ptr_eq(&self.raw, &other.raw)
                    || (self.raw.get("id").is_some() && self.raw.get("id") == other.raw.get("id")))
        })
    }
}

/// Nothing is printed for it.
pub(crate) fn no_text(_: &Record) -> String {
    String::new()
}

/// Its own JSON is what scripts read.
pub(crate) fn as_is(record: &Record) -> Json {
    (*record.raw).clone()
}

/// A list of which only a part may be here: a page of a longer list.
pub(crate) struct Listed {
    pub(crate) items: Arc<[Value]>,
    /// How many items are before the first one.
    pub(crate) offset: usize,
    pub(crate) total: usize,
}

impl Object for Listed {
    fn get(&self, name: &str) -> Option<Value> {
        match name {
            "size" => Some(self.total.into()),
            "first" => Some(self.items.first().cloned().unwrap_or_default()),
            "last" => Some(self.items.last().cloned().unwrap_or_default()),
            _ => None,
        }
    }

    fn shape(&self) -> Shape {
        Shape::List
    }

    fn items(&self) -> Option<Items<'_>> {
        Some(Box::new(self.items.iter().cloned()))
    }

    fn slice(&self, offset: usize, limit: Option<usize>) -> Option<Items<'_>> {
        let from = offset.saturating_sub(self.offset);
        let items = self.items.iter().skip(from).cloned();
        Some(match limit {
            Some(limit) => Box::new(items.take(limit)),
            None => Box::new(items),
        })
    }

    fn size(&self) -> Option<usize> {
        Some(self.total)
    }
}

/// An object with one member replaced: `collection` with the products of one page.
pub(crate) struct Replaced {
    pub(crate) inner: Value,
    pub(crate) name: Arc<str>,
    pub(crate) value: Value,
}

impl Object for Replaced {
    fn get(&self, name: &str) -> Option<Value> {
        if name == &*self.name {
            return Some(self.value.clone());
        }
        match &self.inner {
            Value::Object(object) => object.get(name),
            _ => None,
        }
    }

    fn shape(&self) -> Shape {
        match &self.inner {
            Value::Object(object) => object.shape(),
            _ => Shape::Object,
        }
    }

    fn text(&self) -> String {
        self.inner.to_text().into_owned()
    }
}

/// The record behind a value.
pub(crate) fn record(value: &Value) -> Option<&Record> {
    match value.downcast::<Replaced>() {
        Some(replaced) => record(&replaced.inner),
        None => value.downcast(),
    }
}
