//! Renders the pages of a store with a theme's Liquid templates.
//!
//! The inputs of [`render`] are a release of a theme (its files and the merchant's settings), the storefront
//! API's responses about the store, and the requested page. The template is `templates/<page>.liquid`, or the
//! sections that `templates/<page>.json` lists; the result is put into `layout/theme.liquid`.
//!
//! - **Escaped.** A template's output is escaped, unless it is HTML that was sanitized before, or the
//!   template uses `| raw` (`safe`).
//! - **Sandboxed.** A template has access to the objects of `objects` and the theme's own files, but to no
//!   file system, network, clock or environment.
//! - **Bounded.** Steps, output, memory, depth and time are limited ([`Limits`]). A template that exceeds a
//!   limit ends with a [`Finding`], and so does one that makes the parser panic.
//!
//! The language is that of `liquid-core`, with the tags and filters that shops' themes use. A form is
//! rendered, but posts nowhere.

mod filters;
mod frame;
mod language;
mod limits;
mod machine;
mod objects;
mod safe;
mod section;
mod settings;
mod source;
mod tags;
mod theme;
mod value;
mod verbatim;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use liquid_core::Runtime;
use liquid_core::error::Result as LiquidResult;
use serde_json::Value as Json;

use crate::filters::Context;
use crate::frame::Base;
use crate::limits::{Bounded, Meter};
use crate::machine::{Machine, named};

pub use limits::{Finding, FindingCode, Limits};
pub use objects::{Data, Page};
pub use theme::Theme;

/// The stack size of the rendering thread: enough for the depth that [`Limits`] allow.
const STACK: usize = 64 << 20;

/// Renders a page. It blocks its thread for a little over [`Limits::time`] at most.
///
/// # Errors
///
/// The finding: an error of the theme, or the limit that it exceeds.
pub fn render(theme: &Theme, page: Page, data: &Data, limits: Limits) -> Result<String, Finding> {
    let (theme, data) = (theme.clone(), data.clone());
    let rendering = move || rendered(theme, &page, &data, limits);
    let thread = thread::Builder::new().name("render".to_owned()).stack_size(STACK);
    let ended = thread.spawn(rendering).map(thread::JoinHandle::join);
    ended.ok().and_then(Result::ok).unwrap_or_else(|| {
        let message = "a template is not understood: its parser gave up".to_owned();
        Err(Finding { code: FindingCode::Syntax, path: String::new(), message })
    })
}

fn rendered(theme: Theme, page: &Page, data: &Data, limits: Limits) -> Result<String, Finding> {
    let meter = Arc::new(Meter::new(limits));
    let context = Context {
        meter: Arc::clone(&meter),
        assets: theme.assets.clone(),
        translations: theme.translations(),
        currency: data.store.get("currency").and_then(Json::as_str).unwrap_or("USD").to_owned(),
    };
    let globals = objects::globals(&theme, page, data);
    let place = machine::Place { page: data.page.max(1), address: data.address(page) };
    let language = language::of(&Arc::new(context));
    let machine = Rc::new(Machine::new(theme, globals, meter, language, place));
    let base = Base::new(Rc::clone(&machine));
    whole(&machine, page, &base).map_err(|error| machine.finding(&error))
}

/// Renders the page within its layout.
fn whole(machine: &Rc<Machine>, page: &Page, base: &dyn Runtime) -> LiquidResult<String> {
    let mut content = Bounded::page(&machine.meter);
    let (liquid, json) = paths(page.template());
    if machine.theme.files.contains_key(&json) && !machine.theme.files.contains_key(&liquid) {
        section::page(machine, &json, &mut content, base)?;
    } else {
        machine.render(&liquid, Vec::new(), &mut content, base)?;
    }
    let Some(layout) = machine.layout() else { return Ok(content.into_string()) };
    let content = safe::html(&content.into_string());
    let mut whole = Bounded::page(&machine.meter);
    let values = vec![
        named("content_for_header", safe::html(HEADER)),
        named("content_for_index", content.clone()),
        named("content_for_layout", content),
    ];
    machine.render(&layout, values, &mut whole, base)?;
    Ok(whole.into_string())
}

fn paths(template: &str) -> (String, String) {
    (format!("templates/{template}.liquid"), format!("templates/{template}.json"))
}

/// The HTML in the head of every page.
const HEADER: &str = "<meta name=\"robots\" content=\"noindex\">";

/// Converts files with text contents, by path.
pub fn files<'f>(
    files: impl IntoIterator<Item = (&'f str, &'f str)>,
) -> BTreeMap<String, bytes::Bytes> {
    let owned = |(path, text): (&str, &str)| {
        (path.to_owned(), bytes::Bytes::copy_from_slice(text.as_bytes()))
    };
    files.into_iter().map(owned).collect()
}

#[cfg(test)]
mod tests;
