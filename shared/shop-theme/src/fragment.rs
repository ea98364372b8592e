//! Template code of a merchant, in a setting.

use std::cell::Cell;
use std::sync::Arc;

use liquid::{Runtime, Template};

use crate::globals::Globals;
use crate::shop::{Host, Shop};
use crate::snippets::Snippets;

/// The most steps of a fragment, and bytes of its output.
const FRAGMENT: (u64, usize) = (20_000, 256 << 10);
/// How deep fragments are within each other.
const FRAGMENTS: u32 = 3;

thread_local! {
    static WITHIN: Cell<u32> = const { Cell::new(0) };
}

/// Renders the template code of a `liquid` setting.
pub(crate) fn render(shop: &Arc<Shop>, text: &str) -> String {
    if !text.contains("{{") && !text.contains("{%") {
        return text.to_owned();
    }
    let depth = WITHIN.get();
    let Some(template) =
        Template::parse_in(shop.language, "", text).ok().filter(|_| depth < FRAGMENTS)
    else {
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
