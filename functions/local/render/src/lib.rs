//! A theme's Liquid templates as pages, for people who want to look at a store.
//!
//! [`render`] takes a release of a theme (its files and what the merchant chose), what the storefront
//! API says of the store, and which page is wanted. The template is `templates/<page>.liquid`, or the
//! sections that `templates/<page>.json` lists; the result is put into `layout/theme.liquid`.
//!
//! - **Escaped.** What a template writes is escaped unless it is HTML that was sanitized before, or the
//!   template says `| raw` (`safe`).
//! - **Sandboxed.** A template sees the objects of `objects` and the theme's own files. There is no
//!   file system, no network, no clock and no environment.
//! - **Bounded.** Steps, output, memory, depth and time are counted ([`Limits`]); a template that goes
//!   on for too long ends with a [`Finding`], and so does one that makes the parser panic.
//!
//! The language is that of `liquid-core`, with the tags and filters that shops' themes use. A form is
//! shown and posts nowhere.

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

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use liquid_core::Runtime;
use liquid_core::error::Result as LiquidResult;
use serde_json::Value as Json;

use crate::frame::Base;
use crate::language::Context;
use crate::limits::{Bounded, Meter};
use crate::machine::{Machine, named};

pub use limits::{Finding, FindingCode, Limits};
pub use objects::{Data, Page};
pub use theme::Theme;

/// The stack that rendering has: enough for what [`Limits`] let it descend.
const STACK: usize = 64 << 20;

/// Renders a page. It blocks for as long as it takes, [`Limits::time`] at most and a little: ask for it
/// where that may be.
///
/// # Errors
///
/// What is wrong with the theme, or which limit it exceeds.
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
    let context = Context {
        meter: Arc::new(Meter::new(limits)),
        assets: theme.assets.clone(),
        translations: theme.translations(),
        currency: data.store.get("currency").and_then(Json::as_str).unwrap_or("USD").to_owned(),
    };
    let globals = objects::globals(&theme, page, data);
    let place = machine::Place { page: data.page.max(1), address: data.address(page) };
    let machine = Rc::new(Machine::new(theme, globals, context, place));
    let base = Base::new(Rc::clone(&machine));
    whole(&machine, page, &base).map_err(|error| machine.finding(&error))
}

/// The page within its layout.
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

/// What every page has in its head.
const HEADER: &str = "<meta name=\"robots\" content=\"noindex\">";

/// Files by their paths, for who has them as texts.
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
