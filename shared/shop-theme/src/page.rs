//! A page: its template, or the sections that its template lists, within a layout.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use liquid::{Context, Runtime, Template, Value};
use serde_json::{Map, Value as Json};

use crate::Rendered;
use crate::account_element;
use crate::data::{Data, Page};
use crate::fallback::fallback;
use crate::globals::Globals;
use crate::header;
use crate::language::LANGUAGE;
use crate::languages::date_names;
use crate::limits::{Finding, FindingCode, Limits};
use crate::notes::{Layout, Notes};
use crate::section;
use crate::shared::with_own_addresses;
use crate::shop::{Host, Shop};
use crate::snippets::Snippets;
use crate::template;
use crate::theme::Theme;

/// The stack of the rendering thread: enough for the depth that [`Limits`] allow.
const STACK: usize = 64 << 20;
/// The most warnings of a page.
const MAX_WARNINGS: usize = 100;

/// Runs a rendering on a thread with a stack for it.
pub(crate) fn run<T: Send>(
    (theme, page, data): (&Theme, Page, &Data),
    limits: Limits,
    render: impl FnOnce(&mut Context<'_>, &Arc<Shop>) -> Result<T, Finding> + Send,
) -> Result<T, Finding> {
    let rendering = || {
        let shop = Shop::new(&LANGUAGE, (theme, page, data));
        let host = Host(Arc::clone(&shop));
        let snippets = Snippets(Arc::clone(&shop));
        #[expect(
            clippy::disallowed_methods,
            reason = "how long it really takes, not what time it is"
        )]
        let now = Instant::now;
        let end = now().checked_add(limits.time);
        let expired = move || end.is_some_and(|end| now() > end);
        let moment = jiff::Timestamp::from_millisecond(shop.data.now_ms).unwrap_or_default();
        let runtime = Runtime {
            partials: &snippets,
            limits: liquid::Limits {
                steps: limits.steps,
                output: limits.output,
                depth: limits.depth,
                memory: limits.memory,
                expired: Some(&expired),
            },
            now: moment.to_zoned(shop.data.time_zone()),
            date_names: date_names(&shop.theme.locale),
            host: Some(&host),
            ..Runtime::new(Arc::new(Globals(Arc::clone(&shop))))
        };
        render(&mut Context::new(&runtime), &shop)
    };
    let failed = || {
        let message = "the page was not rendered: the renderer gave up";
        Finding::new(FindingCode::Failed, "", message)
    };
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("render".to_owned()).stack_size(STACK);
        let thread = builder.spawn_scoped(scope, rendering).map_err(|_| failed())?;
        thread.join().map_err(|_| failed())?
    })
}

/// Renders the page within its layout.
pub(crate) fn whole(cx: &mut Context<'_>, shop: &Arc<Shop>) -> Result<Rendered, Finding> {
    let (before, behind) = &shop.data.around;
    let content = format!("{before}{}{behind}", main(cx, shop)?);
    let layout = cx.register::<Notes>().layout.clone();
    let name = match layout {
        Layout::Default => Some(default_layout(shop)),
        Layout::Named(name) => Some(name),
        Layout::Bare => None,
    };
    let html = match name {
        None => content,
        Some(name) => {
            let path = format!("layout/{}.liquid", name.trim_end_matches(".liquid"));
            let template = parsed(shop, &path)?;
            let content = Value::html(content);
            let values = [
                ("content_for_header", Value::html(header::header(shop))),
                ("content_for_index", content.clone()),
                ("content_for_layout", content),
            ];
            let values = values.map(|(name, value)| (Arc::from(name), value));
            let mut out = String::new();
            let rendered = cx.with_ambient(values, |cx| {
                cx.isolated([], |cx| template.render_in(cx, &mut out).map(drop))
            });
            rendered.map_err(|error| Finding::of(&error))?;
            let notes = cx.register::<Notes>();
            let scripts = if shop.data.is_scriptless { &[][..] } else { &notes.scripts };
            let own = account_element::script(shop, &out);
            let html = header::fill(&out, (own, &notes.styles, scripts));
            account_element::without_script(shop, with_own_addresses(shop, html))
        }
    };
    Ok(Rendered { html, warnings: warnings(cx, shop) })
}

/// The layout of a page that selects none.
fn default_layout(shop: &Shop) -> String {
    let is_closed = matches!(shop.page, Page::Password)
        && shop.theme.files.contains_key("layout/password.liquid");
    if is_closed { "password".to_owned() } else { "theme".to_owned() }
}

/// Renders the page without its layout.
fn main(cx: &mut Context<'_>, shop: &Arc<Shop>) -> Result<String, Finding> {
    let name = template::name(shop);
    let (liquid, json) = (format!("templates/{name}.liquid"), format!("templates/{name}.json"));
    let mut out = String::new();
    if shop.theme.files.contains_key(&liquid) {
        let template = parsed(shop, &liquid)?;
        let rendered = cx.isolated([], |cx| template.render_in(cx, &mut out).map(drop));
        rendered.map_err(|error| Finding::of(&error))?;
        return Ok(out);
    }
    if shop.theme.has_template(&json) {
        section::page(cx, shop, &name, &mut out)?;
        return Ok(out);
    }
    let Some(template) = fallback(shop.language, &name) else {
        let message = "the theme has no such file";
        return Err(Finding::new(FindingCode::MissingFile, &json, message));
    };
    let rendered = cx.isolated([], |cx| template.render_in(cx, &mut out).map(drop));
    rendered.map_err(|error| Finding::of(&error))?;
    Ok(out)
}

/// A template of the theme.
pub(crate) fn parsed(shop: &Shop, path: &str) -> Result<Arc<Template>, Finding> {
    let Some(source) = shop.source(path) else {
        let message = "the theme has no such file";
        return Err(Finding::new(FindingCode::MissingFile, path, message));
    };
    source.template.clone().map_err(|error| {
        let message = format!("line {}: {}", error.line, error.message);
        Finding::new(FindingCode::Syntax, path, message)
    })
}

/// Renders sections of the page alone, by their ids.
pub(crate) fn sections(
    cx: &mut Context<'_>,
    shop: &Arc<Shop>,
    ids: &[String],
) -> Result<Map<String, Json>, Finding> {
    let mut rendered = Map::new();
    for id in ids {
        let mut out = String::new();
        let found = section::alone(cx, shop, id, &mut out)?;
        rendered.insert(id.clone(), if found { out.into() } else { Json::Null });
    }
    Ok(rendered)
}

/// The warnings of a page, each once.
fn warnings(cx: &mut Context<'_>, shop: &Shop) -> Vec<Finding> {
    let mut all: Vec<Finding> = cx.errors().iter().map(Finding::of).collect();
    all.append(&mut cx.register::<Notes>().warnings);
    all.extend(shop.unknown_tags());
    all.sort_unstable();
    all.dedup();
    all.truncate(MAX_WARNINGS);
    all
}
