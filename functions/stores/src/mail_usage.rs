//! How many mails a store has sent today to people who have not proven their address to it.

use axum::extract::State;
use delivery::mail::allowance::{Room, Usage};
use gateway::app::App;
use gateway::reply::Json;
use platform::caller::Admin;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::Serialize;

/// Mails of a UTC day to addresses that nobody has proven at the store: about orders of guests, gift cards
/// and invitations.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MailUsage {
    /// How many the store may send in this day. More with each day of its age, and with each order that was
    /// paid through a provider.
    limit: u32,
    /// How many are sent, or are to be sent today.
    sent: u32,
    /// How many were not sent: beyond the limit, or because the store's owner has proven no address.
    withheld: u32,
    /// How many all stores of the owner may send together.
    merchant_limit: u32,
    /// How many they have sent.
    merchant_sent: u32,
    /// Whether the store's owner has proven their address: without that the store mails nobody.
    owner_verified: bool,
    /// When the day ends.
    resets_at: Timestamp,
}

/// `GET /v1/stores/{id}/mail-usage` (`getMailUsage`): Get today's mail usage of a store.
///
/// Shows today's mails to unproven addresses, and their limit.
pub(crate) async fn show(
    caller: Admin,
    State(app): State<App>,
) -> Result<Json<MailUsage>, Problem> {
    let room = Room::of(&app, &caller.store).await?;
    let Usage { limit, sent, withheld, merchant_limit, merchant_sent } = room.usage(&app).await?;
    let now = app.clock.now();
    let day = i64::try_from(DAY.as_millis()).unwrap_or(i64::MAX);
    let begun = now.millis().saturating_sub(now.millis().rem_euclid(day));
    let resets_at = Timestamp::from_millis(begun).plus(DAY);
    let owner_verified = room.is_proven;
    let usage = MailUsage {
        limit,
        sent,
        withheld,
        merchant_limit,
        merchant_sent,
        owner_verified,
        resets_at,
    };
    Ok(Json::new(&usage))
}
