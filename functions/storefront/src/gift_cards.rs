//! The balance of a gift card.

use axum::extract::State;
use callers::PublicStorefront;
use gateway::app::App;
use gateway::reply::{Json, NoStore};
use gateway::request::{Body, Raw};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use sales::gift_card::{self, GiftCardBalance, GiftCardCode};

/// A gift card to look up.
#[request]
#[derive(Debug)]
pub struct BalanceRequest {
    /// The code.
    code: GiftCardCode,
}

/// `POST /v1/storefront/{subdomain}/gift-cards/balance` (`getGiftCardBalance`): Get the balance of a gift card.
///
/// A client has five tries a minute, successful or not, because a code gives access to its money.
///
/// # Errors
/// `storefront_not_found`, `not_found`, `too_many_attempts`.
pub async fn get_balance(
    caller: PublicStorefront,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(input): Body<BalanceRequest>,
) -> Result<NoStore<Json<GiftCardBalance>>, Problem> {
    let store = &caller.store().id;
    gift_card::count_lookup(&app, store, &inbound.client_prefix()).await?;
    let found = gift_card::find(&app, store, &[input.code]).await?;
    let card = found.into_iter().next().flatten().ok_or(Code::NotFound)?;
    Ok(Json::new(&GiftCardBalance::of(&card, app.clock.now())).no_store())
}
