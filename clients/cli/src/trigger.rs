use crate::{args::Trigger, context::Context, failure::Failure};
pub async fn run(_: &Context, _: Trigger) -> Result<(), Failure> {
    Ok(())
}
