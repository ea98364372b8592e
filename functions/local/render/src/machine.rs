//! The renderer of one page: it parses the theme's files when they are needed, and includes them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;

use liquid_core::error::{Error, Result};
use liquid_core::model::{KString, Object, Value, ValueCow};
use liquid_core::runtime::InterruptRegister;
use liquid_core::{Language, Renderable, Runtime, Template};
use serde_json::Value as Json;

use crate::frame::Frame;
use crate::limits::{Finding, FindingCode, Meter};
use crate::source;
use crate::theme::Theme;
use crate::verbatim;

/// Renders one page of a theme.
pub(crate) struct Machine {
    pub(crate) theme: Theme,
    pub(crate) globals: Object,
    pub(crate) meter: Arc<Meter>,
    language: Language,
    parsed: RefCell<HashMap<String, Rc<File>>>,
    /// The files that are being rendered, the outermost first.
    within: RefCell<Vec<String>>,
    /// The file that was being rendered at the first error.
    at_fault: Cell<Option<String>>,
    /// The page's number and URL.
    pub(crate) place: Place,
    /// The name of the layout; none for no layout.
    layout: RefCell<Option<String>>,
}

/// The position of a page: its number and its URL.
pub(crate) struct Place {
    /// The page number of a paginated list, from 1.
    pub(crate) page: usize,
    /// Its URL, with its query if it has one.
    pub(crate) address: String,
}

/// A template of the theme.
pub(crate) struct File {
    template: Template,
    /// The section's schema, or null.
    pub(crate) schema: Json,
}

impl Machine {
    pub(crate) fn new(
        theme: Theme,
        globals: Object,
        meter: Arc<Meter>,
        language: Language,
        place: Place,
    ) -> Self {
        Self {
            theme,
            globals,
            meter,
            language,
            parsed: RefCell::default(),
            within: RefCell::default(),
            at_fault: Cell::default(),
            place,
            layout: RefCell::new(Some("theme".to_owned())),
        }
    }

    /// The URL of another page of a paginated list.
    pub(crate) fn address_of(&self, page: usize) -> String {
        let address = &self.place.address;
        let sign = if address.contains('?') { '&' } else { '?' };
        format!("{address}{sign}page={page}")
    }

    /// Sets the layout of this page by its name; none for no layout.
    pub(crate) fn wrap_in(&self, name: Option<&str>) {
        *self.layout.borrow_mut() = name.map(|name| name.trim_end_matches(".liquid").to_owned());
    }

    /// The path of the layout, if the page has one.
    pub(crate) fn layout(&self) -> Option<String> {
        self.layout.borrow().as_ref().map(|name| format!("layout/{name}.liquid"))
    }

    /// Loads and parses the template at this path.
    pub(crate) fn file(&self, path: &str) -> Result<Rc<File>> {
        if let Some(known) = self.parsed.borrow().get(path) {
            return Ok(Rc::clone(known));
        }
        let Some(text) = self.theme.text(path) else {
            let message = "the theme has no such file".to_owned();
            return Err(self.fault(path, FindingCode::MissingFile, message));
        };
        let parsed = self.parse(&text);
        let parsed = parsed.map_err(|(code, message)| self.fault(path, code, message))?;
        let file = Rc::new(parsed);
        self.parsed.borrow_mut().insert(path.to_owned(), Rc::clone(&file));
        Ok(file)
    }

    fn parse(&self, text: &str) -> std::result::Result<File, (FindingCode, String)> {
        let syntax = |message: String| (FindingCode::Syntax, message);
        let source = source::normalize(text).map_err(syntax)?;
        let schema = source.schema.as_deref().map_or(Ok(Json::Null), serde_json::from_str);
        let schema = schema.map_err(|error| syntax(format!("its schema is not JSON: {error}")))?;
        let language = verbatim::with(&self.language, source.verbatim);
        let elements = liquid_core::parser::parse(&source.text, &language);
        let elements = elements.map_err(|error| syntax(error.to_string()))?;
        Ok(File { template: Template::new(elements), schema })
    }

    /// Renders a file in a scope of its own, with the page's objects and these values.
    pub(crate) fn render<'v>(
        self: &Rc<Self>,
        path: &str,
        values: Vec<(KString, ValueCow<'v>)>,
        writer: &mut dyn Write,
        runtime: &'v dyn Runtime,
    ) -> Result<()> {
        let file = self.file(path)?;
        let frame = Frame::isolated(runtime, Rc::clone(self), values);
        self.within(path, || file.template.render_to(writer, &frame))?;
        // A `break` in this file ends only this file.
        runtime.registers().get_mut::<InterruptRegister>().reset();
        Ok(())
    }

    /// Renders a file in the scope of the including file.
    pub(crate) fn include<'v>(
        self: &Rc<Self>,
        path: &str,
        values: Vec<(KString, ValueCow<'v>)>,
        writer: &mut dyn Write,
        runtime: &'v dyn Runtime,
    ) -> Result<()> {
        let file = self.file(path)?;
        let frame = Frame::within(runtime, values);
        self.within(path, || file.template.render_to(writer, &frame))
    }

    /// Runs `render` one file deeper.
    fn within(&self, path: &str, render: impl FnOnce() -> Result<()>) -> Result<()> {
        let limit = self.meter.limits().depth;
        let depth = crate::limits::size(self.within.borrow().len());
        if depth >= limit {
            let message = format!("files include each other more than {limit} deep");
            return Err(self.fault(path, FindingCode::IncludedTooDeep, message));
        }
        self.within.borrow_mut().push(path.to_owned());
        let rendered = self.meter.step(1).and_then(|()| render());
        if rendered.is_err() {
            self.fault_at(path);
        }
        self.within.borrow_mut().pop();
        rendered
    }

    /// Records a finding about a file.
    pub(crate) fn fault(&self, path: &str, code: FindingCode, message: String) -> Error {
        self.fault_at(path);
        self.meter.stop(code, message)
    }

    /// Records the file of an error, if it is the first.
    fn fault_at(&self, path: &str) {
        let first = self.at_fault.take().unwrap_or_else(|| path.to_owned());
        self.at_fault.set(Some(first));
    }

    /// The finding of a failed rendering.
    pub(crate) fn finding(&self, error: &Error) -> Finding {
        let path = self.at_fault.take().unwrap_or_default();
        match self.meter.exceeded() {
            Some((code, message)) => Finding { code: *code, path, message: message.clone() },
            None => Finding { code: FindingCode::Failed, path, message: brief(&error.to_string()) },
        }
    }
}

/// The beginning of a message, which may quote a value of any length.
fn brief(message: &str) -> String {
    message.chars().take(500).collect()
}

/// A value with its name.
pub(crate) fn named(name: &'static str, value: impl Into<Value>) -> (KString, ValueCow<'static>) {
    (KString::from_static(name), ValueCow::Owned(value.into()))
}
