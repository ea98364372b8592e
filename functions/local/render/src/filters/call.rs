//! A call of a filter of our own, and what it may use of the page.

use std::collections::BTreeMap;
use std::sync::Arc;

use liquid_core::error::Result;
use liquid_core::model::{Value, ValueView};
use serde_json::Value as Json;

use crate::limits::Meter;

/// The data of the page that filters use.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) meter: Arc<Meter>,
    /// The URLs of the theme's assets, by the name that follows `assets/`.
    pub(crate) assets: BTreeMap<String, String>,
    /// Translations of the page's language, and of the theme's own language.
    pub(crate) translations: [Json; 2],
    /// The store's currency, an ISO 4217 code.
    pub(crate) currency: String,
}

/// The function of a filter of our own.
pub(crate) type Apply = fn(&Call<'_>) -> Result<Value>;

/// The arguments of a filter of our own.
pub(crate) struct Call<'c> {
    pub(crate) input: &'c dyn ValueView,
    pub(crate) positional: Vec<Value>,
    pub(crate) named: Vec<(String, Value)>,
    pub(crate) context: &'c Context,
}

impl Call<'_> {
    /// The input as a text.
    pub(crate) fn text(&self) -> String {
        self.input.to_kstr().into_string()
    }

    /// An argument by its position, as a text.
    pub(crate) fn argument(&self, place: usize) -> Option<String> {
        Some(self.positional.get(place)?.to_kstr().into_string())
    }

    /// An argument by its name, as a text.
    pub(crate) fn option(&self, name: &str) -> Option<String> {
        let (_, value) = self.named.iter().find(|(given, _)| given == name)?;
        Some(value.to_kstr().into_string())
    }
}
