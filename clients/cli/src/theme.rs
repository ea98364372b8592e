use crate::{args::Theme, context::Context, failure::Failure};
pub async fn run(_: &Context, _: Theme) -> Result<(), Failure> {
    Ok(())
}
