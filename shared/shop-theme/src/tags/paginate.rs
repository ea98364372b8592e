//! `{% paginate collection.products by 12 %}`: a page of a list.

use std::sync::Arc;

use liquid::{
    Attributes, Block, Context, Error, Expression, Flow, Head, Parser, Render, Result, Value,
};

use super::arguments::{Parsed, arguments, shop};
use crate::objects::record::{Listed, Replaced};
use crate::shop::Shop;

/// The most items of a page.
const MAX_SIZE: i64 = 250;
/// The most items that can be paged through.
const MAX_ITEMS: usize = 25_000;

struct Paginate {
    list: Expression,
    /// The names of the list's path: `collection`, `products`.
    path: Vec<Arc<str>>,
    size: Expression,
    named: Attributes,
    body: Block,
}

pub(super) fn paginate<'s>(head: Head<'s>, parser: &mut Parser<'_, 's>) -> Parsed {
    let mut markup = parser.arguments(&head);
    let list = markup.expression()?;
    if !markup.keyword("by") {
        return Err(markup.error("Expected `by` and a number"));
    }
    let size = markup.expression()?;
    let (_, named) = arguments(&mut markup)?;
    let path = list.to_string();
    let is_path = path.split('.').all(|part| {
        !part.is_empty()
            && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '?'))
    });
    let path = if is_path { path.split('.').map(Arc::from).collect() } else { Vec::new() };
    let (body, _) = parser.block(&head, &[])?;
    Ok(Box::new(Paginate { list, path, size, named, body }))
}

impl Render for Paginate {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        let Some(shop) = shop(cx) else { return Ok(Flow::Next) };
        let size = liquid::number::loose_integer(&self.size.evaluate(cx));
        if !(1..=MAX_SIZE).contains(&size) {
            return Err(Error::argument("a page must have 1 to 250 items"));
        }
        let size = usize::try_from(size).unwrap_or(1);
        let list = self.list.evaluate(cx);
        let total = total(&list).min(MAX_ITEMS);
        let pages = total.div_ceil(size).max(1);
        let current = shop.data.page.clamp(1, pages);
        let offset = current.saturating_sub(1).saturating_mul(size);
        let page = slice(&list, offset, size);
        cx.step(page.len())?;
        let window = self.named.iter().find(|(name, _)| &**name == "window_size");
        let window = window.map_or(3, |(_, window)| {
            usize::try_from(liquid::number::loose_integer(&window.evaluate(cx))).unwrap_or(3)
        });
        let around = Pages { shop: &shop, current, last: pages, window };
        let paginate = Value::map([
            ("page_size", Value::from(size)),
            ("current_page", current.into()),
            ("current_offset", offset.into()),
            ("pages", pages.into()),
            ("items", total.into()),
            ("page_param", "page".into()),
            ("parts", around.parts()),
            (
                "previous",
                around.link(
                    current.checked_sub(1).filter(|page| *page > 0),
                    &format!("&laquo; {}", shop.data.labels.previous),
                ),
            ),
            (
                "next",
                around.link(
                    Some(current.saturating_add(1)).filter(|page| *page <= pages),
                    &format!("{} &raquo;", shop.data.labels.next),
                ),
            ),
        ]);
        let mut names = vec![(Arc::from("paginate"), paginate)];
        names.extend(self.paged(cx, page));
        cx.scoped(names, |cx| self.body.render(cx, out))
    }
}

impl Paginate {
    /// The first name of the path, with the page in place of the whole list.
    fn paged(&self, cx: &Context<'_>, page: Vec<Value>) -> Option<(Arc<str>, Value)> {
        let (root, steps) = self.path.split_first()?;
        let mut owners = vec![cx.get(root)];
        for name in steps.iter().take(steps.len().saturating_sub(1)) {
            let next = owners.last().map(|owner| owner.get(name)).unwrap_or_default();
            owners.push(next);
        }
        let here = page.len();
        let listed = Listed { items: page.into(), offset: 0, total: here };
        let mut value = Value::object(listed);
        for (owner, name) in owners.into_iter().rev().zip(steps.iter().rev()) {
            value = Value::object(Replaced { inner: owner, name: Arc::clone(name), value });
        }
        Some((Arc::clone(root), value))
    }
}

fn total(list: &Value) -> usize {
    match list {
        Value::Array(items) => items.len(),
        Value::Object(object) => object.size().unwrap_or_default(),
        _ => 0,
    }
}

fn slice(list: &Value, offset: usize, size: usize) -> Vec<Value> {
    match list {
        Value::Array(items) => items.iter().skip(offset).take(size).cloned().collect(),
        Value::Object(object) => {
            object.slice(offset, Some(size)).map(Iterator::collect).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// The pages around the current one.
struct Pages<'a> {
    shop: &'a Arc<Shop>,
    current: usize,
    last: usize,
    window: usize,
}

impl Pages<'_> {
    fn url(&self, page: usize) -> String {
        let others = self.shop.data.query.iter().filter(|(name, _)| name != "page");
        let mut query: Vec<(String, String)> = others.cloned().collect();
        query.push(("page".to_owned(), page.to_string()));
        self.shop.here_with(&query)
    }

    fn link(&self, page: Option<usize>, title: &str) -> Value {
        let Some(page) = page else { return Value::Nil };
        part(title, Some(self.url(page)))
    }

    fn parts(&self) -> Value {
        let last = self.last;
        if last <= 1 {
            return Value::from(Vec::new());
        }
        let first = self.current.saturating_sub(self.window).max(1);
        let end = self.current.saturating_add(self.window).min(last);
        let mut parts = Vec::new();
        let number = |page: usize| {
            let url = (page != self.current).then(|| self.url(page));
            part(&page.to_string(), url)
        };
        if first > 1 {
            parts.push(number(1));
        }
        if first > 2 {
            parts.push(part("&hellip;", None));
        }
        parts.extend((first..=end).map(number));
        if end < last.saturating_sub(1) {
            parts.push(part("&hellip;", None));
        }
        if end < last {
            parts.push(number(last));
        }
        parts.into()
    }
}

fn part(title: &str, url: Option<String>) -> Value {
    Value::map([
        ("title", Value::from(title)),
        ("is_link", url.is_some().into()),
        ("url", url.map_or(Value::Nil, Value::from)),
    ])
}
