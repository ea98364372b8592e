//! The Liquid template language, as online stores render it.
//!
//! A [`Template`] is parsed once and kept. A page is rendered over the objects of a [`Runtime`], which
//! make their members when a template asks for them. A host adds filters, objects and tags:
//!
//! ```
//! use std::sync::Arc;
//! use liquid::{Context, Flow, Head, Language, Object, Parser, Render, Runtime, Template, Value};
//!
//! // An object, whose members are made when they are asked for.
//! struct Product;
//! impl Object for Product {
//!     fn get(&self, name: &str) -> Option<Value> {
//!         match name {
//!             "title" => Some("A <small> cup".into()),
//!             "price" => Some(Value::Int(1250)),
//!             _ => None,
//!         }
//!     }
//! }
//!
//! struct Globals;
//! impl Object for Globals {
//!     fn get(&self, name: &str) -> Option<Value> {
//!         (name == "product").then(|| Value::object(Product))
//!     }
//! }
//!
//! // A block: {% box 'wide' %} … {% endbox %}
//! struct BoxOf { class: liquid::Filtered, body: liquid::Block }
//! impl Render for BoxOf {
//!     fn render(&self, cx: &mut Context<'_>, out: &mut String) -> liquid::Result<Flow> {
//!         let class = self.class.evaluate(cx)?;
//!         out.push_str("<div class=\"");
//!         cx.write(&class, out)?;
//!         out.push_str("\">");
//!         let flow = self.body.render(cx, out)?;
//!         out.push_str("</div>");
//!         Ok(flow)
//!     }
//! }
//! fn parse_box<'s>(
//!     head: Head<'s>,
//!     parser: &mut Parser<'_, 's>,
//! ) -> Result<Box<dyn Render>, liquid::ParseError> {
//!     let class = parser.arguments(&head).filtered()?;
//!     let (body, _end) = parser.block(&head, &[])?;
//!     Ok(Box::new(BoxOf { class, body }))
//! }
//!
//! let mut language = Language::standard();
//! language.add_tag("box", parse_box);
//! // A filter: the input, positional and named arguments, the page.
//! language.add_filter("money", |input: &Value, _: &liquid::Args, _: &mut Context<'_>| {
//!     let Value::Int(cents) = input else { return Ok(Value::Nil) };
//!     Ok(format!("${}.{:02}", cents / 100, cents % 100).into())
//! });
//!
//! let source = "{% box 'wide' %}{{ product.title }}: {{ product.price | money }}{% endbox %}";
//! let template = Template::parse_in(&language, "product", source).unwrap();
//! let mut runtime = Runtime::new(Arc::new(Globals));
//! runtime.escape = true;
//! let page = template.render(&runtime).unwrap();
//! assert_eq!(page.output, r#"<div class="wide">A &lt;small&gt; cup: $12.50</div>"#);
//! ```

mod args;
mod compare;
mod context;
mod decimal;
mod display;
mod error;
mod filter;
#[expect(clippy::unnecessary_wraps, reason = "all filters have one signature")]
mod filters;
mod frame;
mod html;
mod json;
mod language;
mod limits;
mod lookup;
mod map;
pub mod number;
mod object;
mod runtime;
mod standard;
mod syntax;
#[expect(clippy::unnecessary_wraps, reason = "all tags have one signature")]
mod tags;
mod template;
mod text;
mod time;
mod value;

pub use args::Args;
pub use compare::{contains, equal, order};
pub use context::Context;
pub use error::{Error, ErrorKind, Exceeded, ParseError, Result};
pub use filter::{Filter, Mode};
pub use filters::items_of;
pub use html::escape;
pub use language::Language;
pub use limits::{Limits, Usage};
pub use map::Map;
pub use object::{Items, Object, Shape};
pub use runtime::{NoPartials, OnError, Partials, Runtime};
pub use syntax::{Attributes, Condition, Expression, Filtered, Head, Markup, Parser, Tag};
pub use template::{Block, Flow, Render, Rendered, Template};
pub use time::{DateNames, format as format_time, parse as parse_time};
pub use value::Value;
