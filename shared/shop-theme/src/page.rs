//! A page: its template, or the sections that its template lists, within a layout.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use liquid::{Context, ErrorKind, Exceeded, Partials, Runtime, Template, Value};
use serde_json::{Map, Value as Json};

use crate::Rendered;
use crate::data::{Data, Page, text};
use crate::header;
use crate::limits::{Finding, FindingCode, Limits};
use crate::objects::Globals;
use crate::section;
use crate::shop::{Host, Shop};
use crate::source;
use crate::theme::Theme;

/// The stack of the rendering thread: enough for the depth that [`Limits`] allow.
const STACK: usize = 64 << 20;
/// The most warnings of a page.
const MAX_WARNINGS: usize = 100;

/// The layout of a page.
#[derive(Debug, Clone, Default)]
pub(crate) enum Layout {
    /// That of the theme.
    #[default]
    Default,
    /// The layout of this name.
    Named(String),
    /// None.
    Bare,
}

/// What tags note for the page while it is rendered.
#[derive(Default)]
pub(crate) struct Notes {
    /// The layout that a template selects.
    pub(crate) layout: Layout,
    /// The sections and blocks that are being rendered, the outermost first.
    pub(crate) elements: Vec<section::Element>,
    /// The texts of `stylesheet` and `javascript` tags, each once.
    pub(crate) styles: Vec<Arc<str>>,
    pub(crate) scripts: Vec<Arc<str>>,
    pub(crate) seen: HashSet<usize>,
    pub(crate) warnings: Vec<Finding>,
}

/// The snippets of a theme.
struct Snippets(Arc<Shop>);

impl Partials for Snippets {
    fn get(&self, name: &str) -> Option<Arc<Template>> {
        let name = name.trim_end_matches(".liquid");
        self.0.source(&format!("snippets/{name}.liquid"))?.template.clone().ok()
    }

    fn missing(&self, name: &str) -> String {
        let path = format!("snippets/{name}.liquid");
        match self.0.source(&path).map(|source| source.template.clone()) {
            Some(Err(error)) => format!("In {path}, line {}: {}", error.line, error.message),
            _ => format!("Could not find asset {path}"),
        }
    }
}

/// The template's suffix: of the address (`?view=`) or of the resource, if the theme has such a template.
pub(crate) fn suffix(shop: &Shop) -> Option<String> {
    let of_resource = match &shop.page {
        Page::Product(product) => text(product, "/template_suffix"),
        Page::Collection(listing) => text(&listing.collection, "/template_suffix"),
        Page::Text(page) => text(page, "/template_suffix"),
        _ => "",
    };
    let asked = shop.data.parameter("view").unwrap_or(of_resource);
    let exists = |ending: &str| {
        let path = format!("templates/{}.{asked}.{ending}", shop.page.template());
        shop.theme.files.contains_key(&path)
    };
    (!asked.is_empty() && (exists("json") || exists("liquid"))).then(|| asked.to_owned())
}

/// The name of the template with its suffix.
pub(crate) fn template(shop: &Shop) -> String {
    match suffix(shop) {
        Some(suffix) => format!("{}.{suffix}", shop.page.template()),
        None => shop.page.template().to_owned(),
    }
}

/// Runs a rendering on a thread with a stack for it.
pub(crate) fn run<T: Send>(
    (theme, page, data): (&Theme, Page, &Data),
    limits: Limits,
    render: impl FnOnce(&mut Context<'_>, &Arc<Shop>) -> Result<T, Finding> + Send,
) -> Result<T, Finding> {
    let rendering = || {
        let shop = Shop::new(theme, page, data);
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
            now: moment.to_zoned(jiff::tz::TimeZone::UTC),
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
    let content = main(cx, shop)?;
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
            rendered.map_err(|error| finding(&error))?;
            let notes = cx.register::<Notes>();
            header::fill(&out, &notes.styles, &notes.scripts)
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
    let name = template(shop);
    let (liquid, json) = (format!("templates/{name}.liquid"), format!("templates/{name}.json"));
    let mut out = String::new();
    if shop.theme.files.contains_key(&liquid) {
        let template = parsed(shop, &liquid)?;
        let rendered = cx.isolated([], |cx| template.render_in(cx, &mut out).map(drop));
        rendered.map_err(|error| finding(&error))?;
        return Ok(out);
    }
    if shop.theme.files.contains_key(&json) {
        section::page(cx, shop, &name, &mut out)?;
        return Ok(out);
    }
    let Some(template) = source::fallback(&name) else {
        let message = "the theme has no such file";
        return Err(Finding::new(FindingCode::MissingFile, &json, message));
    };
    let rendered = cx.isolated([], |cx| template.render_in(cx, &mut out).map(drop));
    rendered.map_err(|error| finding(&error))?;
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

/// The most steps of a fragment, and bytes of its output.
const FRAGMENT: (u64, usize) = (20_000, 256 << 10);
/// How deep fragments are within each other.
const FRAGMENTS: u32 = 3;

thread_local! {
    static WITHIN: Cell<u32> = const { Cell::new(0) };
}

/// Renders the template code of a `liquid` setting.
pub(crate) fn fragment(shop: &Arc<Shop>, text: &str) -> String {
    if !text.contains("{{") && !text.contains("{%") {
        return text.to_owned();
    }
    let depth = WITHIN.get();
    let Some(template) = source::fragment(text).filter(|_| depth < FRAGMENTS) else {
        return String::new();
    };
    let host = Host(Arc::clone(shop));
    let snippets = Snippets(Arc::clone(shop));
    let (steps, output) = FRAGMENT;
    let runtime = Runtime {
        partials: &snippets,
        limits: liquid::Limits { steps, output, memory: 1 << 20, ..liquid::Limits::default() },
        host: Some(&host),
        ..Runtime::new(Arc::new(Globals(Arc::clone(shop))))
    };
    WITHIN.set(depth.saturating_add(1));
    let rendered = template.render(&runtime);
    WITHIN.set(depth);
    rendered.map(|rendered| rendered.output).unwrap_or_default()
}

/// The finding of an error that ends a page.
pub(crate) fn finding(error: &liquid::Error) -> Finding {
    let code = match error.kind {
        ErrorKind::Limit(Exceeded::Steps) => FindingCode::TooManySteps,
        ErrorKind::Limit(Exceeded::Output) => FindingCode::OutputTooLarge,
        ErrorKind::Limit(Exceeded::Depth) => FindingCode::NestedTooDeep,
        ErrorKind::Limit(Exceeded::Memory) => FindingCode::MemoryExceeded,
        ErrorKind::Limit(Exceeded::Time) => FindingCode::TooSlow,
        ErrorKind::MissingPartial => FindingCode::MissingFile,
        ErrorKind::UndefinedFilter => FindingCode::UnknownFilter,
        _ => FindingCode::Failed,
    };
    let message: String = match error.line {
        0 => error.message.chars().take(300).collect(),
        line => format!("line {line}: {}", error.message).chars().take(300).collect(),
    };
    Finding::new(code, &error.template, message)
}

/// The warnings of a page, each once.
fn warnings(cx: &mut Context<'_>, shop: &Shop) -> Vec<Finding> {
    let mut all: Vec<Finding> = cx.errors().iter().map(finding).collect();
    all.append(&mut cx.register::<Notes>().warnings);
    all.extend(shop.unknown_tags());
    all.sort_unstable();
    all.dedup();
    all.truncate(MAX_WARNINGS);
    all
}
