//! `{% form 'product', product, id: 'buy', class: 'card' %} … {% endform %}`
//!
//! The form is rendered, but posts nowhere: a page of this renderer may post no form. It contains its kind,
//! as Shopify's themes expect; its object is ignored.

use std::io::Write;

use liquid_core::error::{Error, Result, ResultLiquidReplaceExt};
use liquid_core::model::{KString, Value, ValueCow, ValueView};
use liquid_core::{Expression, Language, Renderable, Runtime, TagBlock, TagTokenIter, Template};

use crate::frame::Frame;
use crate::safe;
use crate::value::object;

/// The kinds of forms.
const KINDS: [&str; 15] = [
    "activate_customer_password",
    "cart",
    "contact",
    "create_customer",
    "currency",
    "customer",
    "customer_address",
    "customer_login",
    "guest_login",
    "localization",
    "new_comment",
    "product",
    "recover_customer_password",
    "reset_customer_password",
    "storefront_password",
];
/// Arguments that are no attributes of the form.
const ARGUMENTS: [&str; 2] = ["return_to", "action"];

#[derive(Debug)]
struct Form {
    kind: Expression,
    attributes: Vec<(String, Expression)>,
    body: Template,
}

/// Parses the block.
pub(crate) fn parse(
    mut arguments: TagTokenIter<'_>,
    mut block: TagBlock<'_, '_>,
    language: &Language,
) -> Result<Box<dyn Renderable>> {
    let kind =
        arguments.expect_next("Expected the type of the form.")?.expect_value().into_result()?;
    let mut attributes = Vec::new();
    let mut next = arguments.next();
    while let Some(token) = next {
        let given = if token.as_str() == "," { arguments.next() } else { Some(token) };
        let Some(given) = given else { break };
        let name = given.as_str().trim().trim_matches(['"', '\'']).to_owned();
        next = arguments.next();
        if next.as_ref().map(liquid_core::parser::TagToken::as_str) != Some(":") {
            // The object of the form, which is ignored.
            given.expect_value().into_result()?;
            continue;
        }
        if !is_attribute(&name) {
            return Err(given.raise_custom_error("The name of an attribute expected."));
        }
        let value = arguments.expect_next("Expected a value.")?.expect_value().into_result()?;
        attributes.push((name, value));
        next = arguments.next();
    }
    let body = Template::new(block.parse_all(language)?);
    block.assert_empty();
    Ok(Box::new(Form { kind, attributes, body }))
}

fn is_attribute(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.chars().all(is_part)
}

impl Renderable for Form {
    fn render_to(&self, writer: &mut dyn Write, runtime: &dyn Runtime) -> Result<()> {
        let kind = self.kind.evaluate(runtime)?.to_kstr().into_string();
        if !KINDS.contains(&kind.as_str()) {
            return Err(Error::with_msg(format!("there is no form `{kind}`")));
        }
        write!(writer, "<form method=\"post\" accept-charset=\"UTF-8\"").replace("too long")?;
        let rendered = |(name, _): &&(String, Expression)| !ARGUMENTS.contains(&name.as_str());
        for (name, value) in self.attributes.iter().filter(rendered) {
            let value = value.evaluate(runtime)?.to_kstr().into_string();
            let value = safe::without_mark(&value);
            write!(writer, " {name}=\"{}\"", safe::escaped(&value)).replace("too long")?;
        }
        write!(writer, "><input type=\"hidden\" name=\"form_type\" value=\"{kind}\">")
            .replace("too long")?;
        let form = Value::Object(object([
            ("id", Value::scalar(kind)),
            ("posted_successfully", Value::scalar(false)),
            ("errors", Value::Nil),
        ]));
        let values = vec![(KString::from_static("form"), ValueCow::Owned(form))];
        self.body.render_to(writer, &Frame::within(runtime, values))?;
        write!(writer, "</form>").replace("too long")
    }
}
