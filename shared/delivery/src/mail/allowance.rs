//! How many mails stores may address to people in a day (our choice).
//!
//! A gift card goes wherever its merchant says, with words of theirs: what a new account could use
//! to write to anybody. So it takes a proven address, and each UTC day has room for so many mails of
//! one store and so many to one recipient, of all stores together. Cards to be sent later count on
//! the day that they are sent. So do invitations to the people of a store. Mails about orders are counted by
//! recipient when they are sent: an order is never refused for its mail; those that ask for its money are
//! counted by store besides, and by order where a merchant has one sent again. So are codes to addresses that
//! nobody has proven, of whoever asks for an account at a store: the answer to that tells nothing, and the
//! mail is not sent.

use gateway::app::App;
use gateway::clock::{DAY, Timestamp};
use gateway::item::Key;
use gateway::problem::{Code, Problem};
use gateway::seal;
use gateway::table::{Change, Write};
use ground::fields::Email;
use ground::id::{MerchantId, OrderId, StoreId};
use ground::key;
use http::header;
use identity::merchant::Merchant;

/// Gift cards that a store may mail in a day.
pub const OF_STORE: u32 = 200;
/// Gift cards that all stores may mail to one recipient in a day.
pub const TO_RECIPIENT: u32 = 10;
/// Invitations to its people that a store may mail in a day.
pub const INVITATIONS_OF_STORE: u32 = 100;
/// Invitations that all stores may mail to one recipient in a day.
pub const INVITATIONS_TO_RECIPIENT: u32 = 10;
/// Mails about orders that all stores may send to one recipient in a day.
pub const ABOUT_ORDERS: u32 = 50;
/// Mails that ask for the money of an order that a store may send in a day.
pub const ASKING_TO_PAY: u32 = 500;
/// How often a day a merchant may have such a mail sent again for one order.
pub const ABOUT_PAYMENT: u32 = 5;

/// Codes that a store may mail in a day to addresses that nobody has proven there.
pub const TO_STRANGERS: u32 = 2_000;
/// The same of a store whose owner has proven no address of their own: enough to try the store out.
pub const TO_STRANGERS_UNPROVEN: u32 = 20;
/// Such codes that all stores may mail to one recipient in a day.
pub const TO_STRANGER: u32 = 10;

/// Whether the owner of a store has proven to receive mail at their address.
///
/// # Errors
/// 503.
pub async fn is_proven(app: &App, owner: &MerchantId) -> Result<bool, Problem> {
    let owner: Option<Merchant> = app.table.get(&key::merchant(owner)).await?;
    Ok(owner.is_some_and(|owner| owner.email_verified))
}

/// Counts a gift card of this store to this recipient, in the transaction that makes it.
/// `mail_limit` refuses it.
pub fn count_gift_card(write: Write, store: &StoreId, to: &Email, at: Timestamp) -> Write {
    let write = count(write, "gift_mails_of", store.as_str(), OF_STORE, at);
    count(write, "gift_mails_to", &to.normalized(), TO_RECIPIENT, at)
}

/// Counts an invitation to the people of this store, in the transaction that makes it. `mail_limit`
/// refuses it.
pub fn count_invitation(write: Write, store: &StoreId, to: &Email, at: Timestamp) -> Write {
    let write = count(write, "invitations_of", store.as_str(), INVITATIONS_OF_STORE, at);
    count(write, "invitations_to", &to.normalized(), INVITATIONS_TO_RECIPIENT, at)
}

/// Counts a mail about an order to this recipient; for its store too, where it asks for money.
///
/// # Errors
/// `mail_limit`; 503.
pub async fn count_about_order(
    app: &App,
    to: &Email,
    asked_by: Option<&StoreId>,
    now: Timestamp,
) -> Result<(), Problem> {
    let write = app.table.write();
    let write = write.also(asked_by, |write, store| {
        count(write, "payment_mails_of", store.as_str(), ASKING_TO_PAY, now)
    });
    count(write, "order_mails_to", &to.normalized(), ABOUT_ORDERS, now).commit().await
}

/// Counts that a merchant has a mail sent again that asks for this order's money, in the transaction
/// that announces it. `mail_limit` refuses it.
pub fn count_asked_again(write: Write, order: &OrderId, at: Timestamp) -> Write {
    count(write, "payment_mails_about", order.as_str(), ABOUT_PAYMENT, at)
}

/// Counts a code of this store to this recipient, who has not proven the address there.
///
/// # Errors
/// `mail_limit`; 503.
pub async fn count_to_stranger(
    app: &App,
    (store, is_proven): (&StoreId, bool),
    to: &Email,
    now: Timestamp,
) -> Result<(), Problem> {
    let most = if is_proven { TO_STRANGERS } else { TO_STRANGERS_UNPROVEN };
    let write = count(app.table.write(), "stranger_mails_of", store.as_str(), most, now);
    count(write, "stranger_mails_to", &to.normalized(), TO_STRANGER, now).commit().await
}

/// One more on the day of `at`, if there is room. In place: many may count at once.
fn count(write: Write, of: &str, subject: &str, most: u32, at: Timestamp) -> Write {
    let change = Change::new(
        "SET #used = if_not_exists(#used, :none) + :one, #entity = :entity, #ttl = :ttl, \
         #version = if_not_exists(#version, :none) + :one",
    )
    .only_if("attribute_not_exists(#used) OR #used < :most")
    .name("#used", "used")
    .name("#entity", "entity")
    .name("#ttl", "ttl")
    .name("#version", "version")
    .value(":none", 0)
    .value(":one", 1)
    .value(":most", most)
    .value(":entity", "mail_count")
    .value(":ttl", at.plus(DAY.saturating_mul(2)).seconds());
    write.update(&day_key(of, subject, at), change, full(most, at))
}

fn day_key(of: &str, subject: &str, at: Timestamp) -> Key {
    key::throttle(of, &seal::digest(&format!("{subject}\n{}", at.day())))
}

/// `429` with the seconds until the next UTC day.
fn full(most: u32, at: Timestamp) -> Problem {
    let day = i64::try_from(DAY.as_secs()).unwrap_or(i64::MAX);
    let left = day.saturating_sub(at.seconds().rem_euclid(day));
    Code::MailLimit
        .with("limit", most)
        .with("retry_after", left)
        .header(header::RETRY_AFTER, &left.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_day_says_when_the_next_begins() {
        let late =
            Timestamp::from_millis(1_767_225_600_000).minus(std::time::Duration::from_secs(5));
        let problem = full(OF_STORE, late);
        let wait = problem.headers().iter().find(|(name, _)| name == header::RETRY_AFTER);
        assert_eq!(wait.unwrap().1, "5");
        let next = late.plus(std::time::Duration::from_secs(5));
        assert_ne!(day_key("x", "s", late), day_key("x", "s", next));
    }
}
