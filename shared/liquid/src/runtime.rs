//! What a host gives a page.

use std::any::Any;
use std::sync::Arc;

use jiff::{Timestamp, Zoned, tz::TimeZone};

use crate::limits::Limits;
use crate::map::Map;
use crate::object::Object;
use crate::template::Template;
use crate::time::DateNames;
use crate::value::Value;

/// The partials of a theme, parsed.
pub trait Partials: Sync {
    /// The partial of a name.
    fn get(&self, name: &str) -> Option<Arc<Template>>;

    /// The template that `render` renders of an object: a block of an app.
    fn of_object(&self, _object: &Value) -> Option<Arc<Template>> {
        None
    }

    /// What the error says where there is none.
    fn missing(&self, name: &str) -> String {
        format!("Could not find asset snippets/{name}.liquid")
    }
}

/// No partials.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoPartials;

impl Partials for NoPartials {
    fn get(&self, _name: &str) -> Option<Arc<Template>> {
        None
    }
}

/// What happens when a tag or filter fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// The failure is printed in place of the tag, and the page goes on.
    #[default]
    Print,
    /// The page ends with the failure.
    Fail,
}

/// What a host gives a page. [`Runtime::new`] has the defaults.
pub struct Runtime<'a> {
    /// The objects that all templates see.
    pub globals: Arc<dyn Object>,
    /// What `render` and `include` find.
    pub partials: &'a dyn Partials,
    /// The bounds of the page.
    pub limits: Limits<'a>,
    /// The time, and the time zone in which dates are shown. 1970 unless it is set.
    pub now: Zoned,
    /// What dates call months and days. English unless it is set.
    pub date_names: DateNames,
    /// What happens when a tag or filter fails.
    pub on_error: OnError,
    /// Whether an unknown filter fails. It passes its input on otherwise, and is noted.
    pub strict_filters: bool,
    /// Whether text is escaped that is not [`Value::Html`](crate::Value::Html).
    pub escape: bool,
    /// What the host's own tags and filters find again with [`Context::host`](crate::Context::host).
    pub host: Option<&'a (dyn Any + Sync)>,
}

impl Runtime<'_> {
    /// A page that sees these objects, with the defaults of an online store.
    pub fn new(globals: Arc<dyn Object>) -> Self {
        Self {
            globals,
            partials: &NoPartials,
            limits: Limits::default(),
            now: Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC),
            date_names: DateNames::ENGLISH,
            on_error: OnError::Print,
            strict_filters: false,
            escape: false,
            host: None,
        }
    }
}

impl Default for Runtime<'_> {
    fn default() -> Self {
        Self::new(Arc::new(Map::new()))
    }
}
