//! Whether a mail is still worth sending when its turn comes.

use gateway::app::App;
use gateway::problem::Problem;
use ground::key;
use ground::mail::MailContent;

use crate::gift_card::{GiftCard, GiftCardStatus};

/// Whether it is still worth sending: what it brings may be worth nothing by now.
///
/// # Errors
/// 503.
pub async fn is_wanted(app: &App, mail: &MailContent) -> Result<bool, Problem> {
    let (Some(store), Some(card)) = (&mail.store_id, &mail.gift_card) else { return Ok(true) };
    let card: Option<GiftCard> = app.table.get(&key::gift_card(store, card)).await?;
    let now = app.clock.now();
    Ok(card.is_some_and(|card| card.status_at(now) == GiftCardStatus::Active))
}
