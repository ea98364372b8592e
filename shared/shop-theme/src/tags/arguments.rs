//! What tags have in common.

use std::sync::Arc;

use liquid::{Attributes, Context, Expression, Markup, ParseError, Render, Value};

use crate::shop::{Host, Shop};

/// What a tag is parsed to.
pub(crate) type Parsed = Result<Box<dyn Render>, ParseError>;

/// The page that is being rendered.
pub(crate) fn shop(cx: &Context<'_>) -> Option<Arc<Shop>> {
    cx.host::<Host>().map(|host| Arc::clone(&host.0))
}

/// Arguments of a tag: those without a name, and those with one. Names may have dots (`closest.product`) and
/// be quoted.
pub(crate) fn arguments(
    markup: &mut Markup<'_, '_>,
) -> Result<(Vec<Expression>, Attributes), ParseError> {
    let (mut positional, mut named) = (Vec::new(), Attributes::new());
    loop {
        while markup.take(",") {}
        if markup.at_end() {
            return Ok((positional, named));
        }
        let before = markup.clone();
        if let Some(name) = name(markup) {
            named.push((Arc::from(name), markup.expression()?));
            continue;
        }
        *markup = before;
        let rest = markup.rest().len();
        positional.push(markup.expression()?);
        if markup.rest().len() == rest {
            return Ok((positional, named));
        }
    }
}

/// The name of an argument and its colon.
fn name(markup: &mut Markup<'_, '_>) -> Option<String> {
    for quote in ["'", "\""] {
        if markup.take(quote) {
            let name = markup.identifier()?.to_owned();
            return (markup.take(quote) && markup.take(":")).then_some(name);
        }
    }
    let mut name = markup.identifier()?.to_owned();
    while markup.take(".") {
        name.push('.');
        name.push_str(markup.identifier()?);
    }
    markup.take(":").then_some(name)
}

/// The values of named arguments.
pub(crate) fn values(named: &Attributes, cx: &Context<'_>) -> Vec<(Arc<str>, Value)> {
    named.iter().map(|(name, given)| (Arc::clone(name), given.evaluate(cx))).collect()
}
