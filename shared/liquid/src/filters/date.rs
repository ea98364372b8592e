//! The filter of dates.

use super::standard::Filters;
use crate::args::Args;
use crate::context::Context;
use crate::error::Result;
use crate::time;
use crate::value::Value;

pub(super) const FILTERS: Filters = &[("date", 1, 1, date)];

fn date(input: &Value, args: &Args, cx: &mut Context<'_>) -> Result<Value> {
    let format = args.text(0);
    if format.is_empty() {
        return Ok(input.clone());
    }
    match time::parse(input, cx.now()) {
        Some(time) => Ok(time::format(&time, &format, cx.date_names()).into()),
        None => Ok(input.clone()),
    }
}
