//! The handler of a store's mail usage: today's mails to unproven addresses.

use axum::extract::State;
use callers::Admin;
use delivery::mail::allowance::{MailQuota, Usage};
use gateway::app::App;
use gateway::reply::Json;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::Problem;
use schemars::JsonSchema;
use serde::Serialize;

/// The mails of a UTC day to addresses that nobody has proven at the store: about orders of guests, gift
/// cards and invitations.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MailUsage {
    /// The number of mails that the store may send today. It grows with each day of the store's age, and with
    /// each order that was paid through a provider.
    limit: u32,
    /// The number of mails that were sent, or are scheduled for today.
    sent: u32,
    /// The number of mails that were not sent: beyond the limit, or because the store's owner has no proven
    /// address.
    withheld: u32,
    /// The number of mails that all stores of the owner may send together.
    merchant_limit: u32,
    /// The number of mails that all stores of the owner have sent.
    merchant_sent: u32,
    /// Whether the store's owner has a proven address, without which the store sends no such mail.
    owner_verified: bool,
    /// When the day ends.
    resets_at: Timestamp,
}

/// `GET /v1/stores/{id}/mail-usage` (`getMailUsage`): Get today's mail usage of a store.
///
/// The response counts today's mails to unproven addresses, and has their limits.
pub(crate) async fn get(caller: Admin, State(app): State<App>) -> Result<Json<MailUsage>, Problem> {
    let quota = MailQuota::of(&app, &caller.store).await?;
    let Usage { limit, sent, withheld, merchant_limit, merchant_sent } = quota.usage(&app).await?;
    let now = app.clock.now();
    let day = i64::try_from(DAY.as_millis()).unwrap_or(i64::MAX);
    let begun = now.millis().saturating_sub(now.millis().rem_euclid(day));
    let resets_at = Timestamp::from_millis(begun).plus(DAY);
    let owner_verified = quota.is_proven;
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
