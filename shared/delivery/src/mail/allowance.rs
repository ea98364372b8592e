//! Daily limits of mails to strangers: recipients who have not proven their address to the store (our
//! choice).
//!
//! A new store could write to anybody: by gift cards, by invitations, by orders that it places in others'
//! names. So its owner must have proven an address. Mails to addresses that nobody has proven at the
//! store are counted together by UTC day, per store and over all stores of its owner ([`MailQuota`]). The
//! limit grows with each day of a store's age, and with each order paid through a provider with real
//! money. Each kind of mail also has a limit per recipient, over all stores together.
//!
//! Gift cards and invitations are counted in the transaction that creates them, on the day of their
//! sending, and rejected at the limit. Mails about orders are counted in the write that marks them as
//! counted, when they are sent: an order is never rejected for its mail. A mail beyond the limit is
//! withheld, and counted as withheld. Codes for people who open an account have a limit of their own:
//! many of them never hold back an order's mail. Those in the store's own text are counted apart, with the limits of
//! [`MailQuota`]; beyond them, the platform words the mail.
//!
//! A merchant has limits, too: shoppers cause the mails that tell an owner of something new.

use core_types::fields::Email;
use core_types::id::{MerchantId, OrderId, StoreId};
use core_types::key;
use core_types::mail::Alert;
use crypto::seal;
use http::header;
use identity::merchant::Merchant;
use identity::store::Store;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key};
use table::outbox::Outgoing;
use table::{Change, Write};

/// The mails to strangers per day of a store on its first day.
pub const FIRST_DAY_LIMIT: u32 = 50;
/// The increase of the limit with each day of the store's age.
pub const DAILY_INCREASE: u32 = 10;
/// The age in days from which the limit grows no more.
pub const GROWING_DAYS: u32 = 365;
/// The increase of the limit with each paid order.
pub const INCREASE_PER_PAID_ORDER: u32 = 10;
/// The limit of all stores of a merchant together, as a multiple of that of one store of the account's
/// age and paid orders.
pub const OWNER_MULTIPLE: u32 = 2;

/// The most gift cards that all stores may mail to one recipient in a day.
pub const MAX_GIFT_CARDS_TO_RECIPIENT: u32 = 10;
/// The most invitations to members that a store may mail in a day.
pub const MAX_INVITATIONS_OF_STORE: u32 = 100;
/// The most invitations that all stores of a merchant may mail in a day.
pub const MAX_INVITATIONS_OF_MERCHANT: u32 = 200;
/// The most invitations that all stores may mail to one recipient in a day.
pub const MAX_INVITATIONS_TO_RECIPIENT: u32 = 10;
/// The most mails about orders that all stores may send to one recipient in a day.
pub const MAX_ORDER_MAILS_TO_RECIPIENT: u32 = 50;
/// The most payment requests by mail that a store may send in a day.
pub const MAX_PAYMENT_REQUESTS_OF_STORE: u32 = 500;
/// The number of times a day that a merchant may have the payment request of one order mailed again.
pub const MAX_PAYMENT_REQUESTS_OF_ORDER: u32 = 5;
/// The most mails about new orders that a merchant gets in a day, of all their stores.
pub const MAX_ORDER_ALERTS: u32 = 200;
/// The most mails about messages, and about requests for data, that a merchant gets in a day, of all their stores. Anybody
/// can send messages, so they are counted apart.
pub const MAX_MESSAGE_ALERTS: u32 = 50;

/// The most codes that a store may mail in a day to addresses that nobody has proven there.
pub const MAX_SIGN_UP_CODES_OF_STORE: u32 = 2_000;
/// The most such codes that all stores may mail to one recipient in a day.
pub const MAX_SIGN_UP_CODES_TO_RECIPIENT: u32 = 10;

/// The counters of a store, and of an owner.
const OF_STORE: &str = "mails_of";
const OF_OWNER: &str = "mails_by";
const PAID_OF: &str = "paid_orders_of";

/// A counter of a day, or of paid orders.
#[derive(Debug, Clone, Default, Serialize, Deserialize, Item)]
#[item(kind = "mail_count", key = key::throttle(OF_STORE, ""))]
struct Counter {
    #[serde(default)]
    used: u32,
    #[serde(default)]
    withheld: u32,
    #[serde(default)]
    version: u64,
}

impl Counter {
    fn key_of_paid(subject: &str) -> Key {
        key::throttle(PAID_OF, &seal::digest(subject))
    }
}

/// It is read as an item, but written only by in-place updates.
/// The daily limits of mails to strangers, of a store and of all stores of its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailQuota {
    store: StoreId,
    owner: MerchantId,
    /// Whether the owner has proven their address. Without that the store sends none.
    pub is_proven: bool,
    of_store: u32,
    of_owner: u32,
}

impl MailQuota {
    /// Loads the limits of a store, in one round trip.
    ///
    /// # Errors
    /// 503.
    pub async fn of(services: &Services, store: &Store) -> Result<Self, Problem> {
        let owner_key = key::merchant(&store.owner_id);
        let paid = [store.id.as_str(), store.owner_id.as_str()].map(Counter::key_of_paid);
        let mut found = services.table.get_many(&[&owner_key, &paid[0], &paid[1]]).await?;
        let owner: Option<Merchant> = found.take(&owner_key)?;
        let [of_store, of_owner] = [found.take(&paid[0])?, found.take(&paid[1])?]
            .map(|counter: Option<Counter>| counter.unwrap_or_default().used);
        let now = services.clock.now();
        let opened = owner.as_ref().map_or(now, |owner| owner.created_at);
        Ok(Self {
            store: store.id.clone(),
            owner: store.owner_id.clone(),
            is_proven: owner.is_some_and(|owner| owner.email_verified),
            of_store: in_a_day(store.created_at, of_store, now),
            of_owner: in_a_day(opened, of_owner, now).saturating_mul(OWNER_MULTIPLE),
        })
    }

    /// Counts a mail to a stranger on the day of `at`. `mail_limit` rejects it.
    fn count(&self, write: Write, at: Timestamp) -> Write {
        let write = count(write, OF_STORE, self.store.as_str(), self.of_store, at);
        count(write, OF_OWNER, self.owner.as_str(), self.of_owner, at)
    }

    /// Loads the usage of the limits today.
    ///
    /// # Errors
    /// 503.
    pub async fn usage(&self, services: &Services) -> Result<Usage, Problem> {
        let now = services.clock.now();
        let [store_key, owner_key] = [
            day_key(OF_STORE, self.store.as_str(), now),
            day_key(OF_OWNER, self.owner.as_str(), now),
        ];
        let mut found = services.table.get_many(&[&store_key, &owner_key]).await?;
        let [of_store, of_owner] = [found.take(&store_key)?, found.take(&owner_key)?]
            .map(Option::<Counter>::unwrap_or_default);
        Ok(Usage {
            limit: self.of_store,
            sent: of_store.used,
            withheld: of_store.withheld,
            merchant_limit: self.of_owner,
            merchant_sent: of_owner.used,
        })
    }
}

/// The usage of the limits on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// The limit of the store.
    pub limit: u32,
    /// Mails sent, or to be sent today.
    pub sent: u32,
    /// Mails withheld.
    pub withheld: u32,
    /// The limit of all stores of the owner.
    pub merchant_limit: u32,
    /// Mails sent by all stores of the owner.
    pub merchant_sent: u32,
}

/// The daily limit of mails to strangers, by the time of creation and the number of paid orders.
fn in_a_day(since: Timestamp, paid: u32, now: Timestamp) -> u32 {
    let days = since.until(now).as_secs().checked_div(DAY.as_secs()).unwrap_or(0);
    let days = u32::try_from(days).unwrap_or(GROWING_DAYS).min(GROWING_DAYS);
    FIRST_DAY_LIMIT
        .saturating_add(days.saturating_mul(DAILY_INCREASE))
        .saturating_add(paid.saturating_mul(INCREASE_PER_PAID_ORDER))
}

/// Raises the limits for an order that was paid with real money. It is written in the transaction that
/// publishes the event, which happens once.
#[derive(Debug, Clone)]
pub struct PaidOrderCount {
    /// The store.
    pub store: StoreId,
    /// Its owner.
    pub owner: MerchantId,
}

impl Outgoing for PaidOrderCount {
    fn put_into(self, write: Write) -> Write {
        let subjects = [self.store.as_str(), self.owner.as_str()];
        subjects.iter().fold(write, |write, subject| {
            write.update(
                &Counter::key_of_paid(subject),
                increment("used", None),
                Code::VersionConflict,
            )
        })
    }
}

/// Counts a gift card of a store to this recipient, in the transaction that creates it. `mail_limit`
/// rejects it.
pub fn count_gift_card(write: Write, quota: &MailQuota, to: &Email, at: Timestamp) -> Write {
    count(
        quota.count(write, at),
        "gift_mails_to",
        &to.normalized(),
        MAX_GIFT_CARDS_TO_RECIPIENT,
        at,
    )
}

/// Counts an invitation to a store's members, in the transaction that creates it. `mail_limit` rejects
/// it.
pub fn count_invitation(write: Write, quota: &MailQuota, to: &Email, at: Timestamp) -> Write {
    let write = quota.count(write, at);
    let write = count(write, "invitations_of", quota.store.as_str(), MAX_INVITATIONS_OF_STORE, at);
    let write =
        count(write, "invitations_by", quota.owner.as_str(), MAX_INVITATIONS_OF_MERCHANT, at);
    count(write, "invitations_to", &to.normalized(), MAX_INVITATIONS_TO_RECIPIENT, at)
}

/// Counts a mail about an order to this recipient. With `unverified` it also counts as a mail to a
/// stranger, and with `requested_by` as a payment request of that store. `mail_limit` rejects it.
pub fn count_about_order(
    write: Write,
    to: &Email,
    (unverified, requested_by): (Option<&MailQuota>, Option<&StoreId>),
    now: Timestamp,
) -> Write {
    let write = write.when_some(unverified, |write, quota| quota.count(write, now));
    let write = write.when_some(requested_by, |write, store| {
        count(write, "payment_mails_of", store.as_str(), MAX_PAYMENT_REQUESTS_OF_STORE, now)
    });
    count(write, "order_mails_to", &to.normalized(), MAX_ORDER_MAILS_TO_RECIPIENT, now)
}

/// Counts a repeated payment request for this order, in the transaction that emits its event.
/// `mail_limit` rejects it.
pub fn count_repeated_request(write: Write, order: &OrderId, at: Timestamp) -> Write {
    count(write, "payment_mails_about", order.as_str(), MAX_PAYMENT_REQUESTS_OF_ORDER, at)
}

/// Counts a mail of this store about an account, such as a code, to this recipient, who has not proven the
/// address there. `mail_limit` rejects it.
pub fn count_code(write: Write, store: &StoreId, to: &Email, now: Timestamp) -> Write {
    let write = count(write, "stranger_mails_of", store.as_str(), MAX_SIGN_UP_CODES_OF_STORE, now);
    count(write, "stranger_mails_to", &to.normalized(), MAX_SIGN_UP_CODES_TO_RECIPIENT, now)
}

/// Counts a mail that tells a merchant of something new. `mail_limit` rejects it.
pub fn count_alert(write: Write, alert: Alert, to: &Email, now: Timestamp) -> Write {
    let (of, most) = match alert {
        Alert::Order => ("order_alerts_to", MAX_ORDER_ALERTS),
        Alert::Message => ("message_alerts_to", MAX_MESSAGE_ALERTS),
        Alert::DataRequest => ("data_request_alerts_to", MAX_MESSAGE_ALERTS),
    };
    count(write, of, &to.normalized(), most, now)
}

/// Counts a mail as [`count_code`] does, and as one that is in the store's own text. `mail_limit` rejects it.
pub fn count_own_text(write: Write, quota: &MailQuota, to: &Email, now: Timestamp) -> Write {
    let write = count_code(write, &quota.store, to, now);
    let write = count(write, "own_texts_of", quota.store.as_str(), quota.of_store, now);
    count(write, "own_texts_by", quota.owner.as_str(), quota.of_owner, now)
}

/// Counts a withheld mail of this store, in the write that records it as withheld.
pub fn count_withheld(write: Write, store: &StoreId, now: Timestamp) -> Write {
    let change = increment("withheld", Some(now));
    write.update(&day_key(OF_STORE, store.as_str(), now), change, Code::VersionConflict)
}

/// Adds one on the day of `at`, unless the limit is reached.
fn count(write: Write, of: &str, subject: &str, most: u32, at: Timestamp) -> Write {
    let change = increment("used", Some(at))
        .only_if("attribute_not_exists(#what) OR #what < :most")
        .value(":most", most);
    write.update(&day_key(of, subject, at), change, limit_reached(most, at))
}

/// The update that adds one to a counter, of a day or without end. It is in place: many may count at
/// once.
fn increment(what: &str, day: Option<Timestamp>) -> Change {
    let set = "SET #what = if_not_exists(#what, :none) + :one, entity = :entity, \
               #version = if_not_exists(#version, :none) + :one";
    let change = |set: &str| {
        Change::new(set)
            .name("#what", what)
            .name("#version", "version")
            .value(":none", 0)
            .value(":one", 1)
            .value(":entity", Counter::KIND)
    };
    match day {
        None => change(set),
        Some(at) => change(&format!("{set}, #ttl = :ttl"))
            .name("#ttl", "ttl")
            .value(":ttl", at.plus(DAY.saturating_mul(2)).seconds()),
    }
}

fn day_key(of: &str, subject: &str, at: Timestamp) -> Key {
    key::throttle(of, &seal::digest(&format!("{subject}\n{}", at.day())))
}

/// `429` with the seconds until the next UTC day.
fn limit_reached(most: u32, at: Timestamp) -> Problem {
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
    fn the_limit_grows_with_each_day_and_each_paid_order() {
        let since = Timestamp::from_millis(0);
        let quota = |hours: u32, paid: u32| {
            in_a_day(since, paid, since.plus(std::time::Duration::from_hours(hours.into())))
        };
        assert_eq!([quota(0, 0), quota(23, 0), quota(24, 0), quota(49, 3)], [50, 50, 60, 100]);
        assert_eq!(quota(24 * 365, 0), quota(24 * 3_650, 0));
        assert_eq!(quota(0, u32::MAX), u32::MAX);
        assert_eq!(in_a_day(since.plus(DAY), 0, since), FIRST_DAY_LIMIT);
    }

    #[test]
    fn a_reached_limit_returns_the_time_to_the_next_day() {
        let late =
            Timestamp::from_millis(1_767_225_600_000).minus(std::time::Duration::from_secs(5));
        let problem = limit_reached(FIRST_DAY_LIMIT, late);
        let wait = problem.headers().iter().find(|(name, _)| name == header::RETRY_AFTER);
        assert_eq!(wait.unwrap().1, "5");
        let next = late.plus(std::time::Duration::from_secs(5));
        assert_ne!(day_key("x", "s", late), day_key("x", "s", next));
    }
}
