//! What filters have in common.

use std::sync::Arc;

use liquid::{Args, Context, Result, Value};

use crate::shop::{Host, Shop};

/// A filter by its name.
pub(crate) type Named = (&'static str, fn(&Value, &Args, &mut Context<'_>) -> Result<Value>);

/// The page that is being rendered.
pub(crate) fn page(cx: &Context<'_>) -> Result<Arc<Shop>> {
    let host = cx.host::<Host>().map(|host| Arc::clone(&host.0));
    host.ok_or_else(|| liquid::Error::host("there is no shop"))
}

/// The text of a named argument.
pub(crate) fn named(args: &Args, name: &str) -> Option<String> {
    let value = args.named(name).filter(|value| !value.is_nil())?;
    Some(value.to_text().into_owned())
}

/// A text as the value of an attribute.
pub(crate) fn attribute(text: &str) -> String {
    liquid::escape(text.into()).into_owned()
}
