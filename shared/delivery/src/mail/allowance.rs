//! How many mails stores may send in a day to people who have not proven their address to them (our choice).
//!
//! A new store could write to anybody: by gift cards, by invitations, by orders that it places in others'
//! names. So it takes a proven address of its owner's, and what goes to addresses that nobody has proven at
//! the store is counted together by UTC day: of one store, and of all stores of its owner ([`Room`]). There is
//! more room with each day of a store's age, and with each order that was paid through a provider with real
//! money. Besides, each kind has so many for one recipient, of all stores together.
//!
//! Cards and invitations are counted in the transaction that makes them, on the day that they are sent, and
//! rejected where there is no room. Mails about orders are counted in the write that marks them as counted, when
//! they are sent: an order is never rejected for its mail. One that has no room is withheld, and counted as
//! such. Codes to whoever asks for an account are the platform's words: they have a number of their own, so that
//! who asks for many keeps no order's mail back.

use core_types::fields::Email;
use core_types::id::{MerchantId, OrderId, StoreId};
use core_types::key;
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

/// Mails of a store to strangers on the day on which it is made.
pub const AT_FIRST: u32 = 50;
/// How many more with each day of its age.
pub const WITH_A_DAY: u32 = 10;
/// The age from which it is no more.
pub const GROWING_DAYS: u32 = 365;
/// How many more with each order that was paid.
pub const WITH_A_PAID_ORDER: u32 = 10;
/// All stores of a merchant together have as many times what a store of the account's age had.
pub const STORES: u32 = 2;

/// Gift cards that all stores may mail to one recipient in a day.
pub const TO_RECIPIENT: u32 = 10;
/// Invitations to its people that a store may mail in a day.
pub const INVITATIONS_OF_STORE: u32 = 100;
/// Invitations that all stores of a merchant may mail in a day.
pub const INVITATIONS_OF_MERCHANT: u32 = 200;
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
/// Such codes that all stores may mail to one recipient in a day.
pub const TO_STRANGER: u32 = 10;

/// What is counted of a store, and of an owner.
const OF_STORE: &str = "mails_of";
const OF_OWNER: &str = "mails_by";
const PAID_OF: &str = "paid_orders_of";

/// What a counter of a day or of paid orders holds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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

/// Read as an item, and written by changes alone.
impl Item for Counter {
    const KIND: &'static str = "mail_count";
    fn key(&self) -> Key {
        key::throttle(OF_STORE, "")
    }
    fn version(&self) -> u64 {
        self.version
    }
}

/// How many mails to strangers a store may send in a day, and all of its owner's stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    store: StoreId,
    owner: MerchantId,
    /// Whether the owner has proven their address: without that, none.
    pub is_proven: bool,
    of_store: u32,
    of_owner: u32,
}

impl Room {
    /// The room of a store: one round trip.
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
            of_owner: in_a_day(opened, of_owner, now).saturating_mul(STORES),
        })
    }

    /// One more mail to a stranger on the day of `at`. `mail_limit` rejects it.
    fn count(&self, write: Write, at: Timestamp) -> Write {
        let write = count(write, OF_STORE, self.store.as_str(), self.of_store, at);
        count(write, OF_OWNER, self.owner.as_str(), self.of_owner, at)
    }

    /// What has been sent to strangers today.
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

/// Mails to strangers of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// How many the store may send.
    pub limit: u32,
    /// How many are sent, or to be sent today.
    pub sent: u32,
    /// How many were not.
    pub withheld: u32,
    /// How many all stores of the owner may send.
    pub merchant_limit: u32,
    /// How many they have.
    pub merchant_sent: u32,
}

/// How many mails to strangers there may be in a day, since when there is somebody and so many orders were
/// paid.
fn in_a_day(since: Timestamp, paid: u32, now: Timestamp) -> u32 {
    let days = since.until(now).as_secs().checked_div(DAY.as_secs()).unwrap_or(0);
    let days = u32::try_from(days).unwrap_or(GROWING_DAYS).min(GROWING_DAYS);
    AT_FIRST
        .saturating_add(days.saturating_mul(WITH_A_DAY))
        .saturating_add(paid.saturating_mul(WITH_A_PAID_ORDER))
}

/// An order of a store was paid with real money: there is room for more mails. Written in the transaction that
/// publishes the event, which there is once.
#[derive(Debug, Clone)]
pub struct PaidOrder {
    /// The store.
    pub store: StoreId,
    /// Its owner.
    pub owner: MerchantId,
}

impl Outgoing for PaidOrder {
    fn put_into(self, write: Write) -> Write {
        let subjects = [self.store.as_str(), self.owner.as_str()];
        subjects.iter().fold(write, |write, subject| {
            write.update(
                &Counter::key_of_paid(subject),
                one_more("used", None),
                Code::VersionConflict,
            )
        })
    }
}

/// Counts a gift card of a store to this recipient, in the transaction that makes it.
/// `mail_limit` rejects it.
pub fn count_gift_card(write: Write, room: &Room, to: &Email, at: Timestamp) -> Write {
    count(room.count(write, at), "gift_mails_to", &to.normalized(), TO_RECIPIENT, at)
}

/// Counts an invitation to the people of a store, in the transaction that makes it. `mail_limit`
/// rejects it.
pub fn count_invitation(write: Write, room: &Room, to: &Email, at: Timestamp) -> Write {
    let write = room.count(write, at);
    let write = count(write, "invitations_of", room.store.as_str(), INVITATIONS_OF_STORE, at);
    let write = count(write, "invitations_by", room.owner.as_str(), INVITATIONS_OF_MERCHANT, at);
    count(write, "invitations_to", &to.normalized(), INVITATIONS_TO_RECIPIENT, at)
}

/// Counts a mail about an order to this recipient; as one to a stranger, and for its store, where it asks
/// for money. `mail_limit` rejects it.
pub fn count_about_order(
    write: Write,
    to: &Email,
    (stranger, asked_by): (Option<&Room>, Option<&StoreId>),
    now: Timestamp,
) -> Write {
    let write = write.also(stranger, |write, room| room.count(write, now));
    let write = write.also(asked_by, |write, store| {
        count(write, "payment_mails_of", store.as_str(), ASKING_TO_PAY, now)
    });
    count(write, "order_mails_to", &to.normalized(), ABOUT_ORDERS, now)
}

/// Counts that a merchant has a mail sent again that asks for this order's money, in the transaction
/// that announces it. `mail_limit` rejects it.
pub fn count_asked_again(write: Write, order: &OrderId, at: Timestamp) -> Write {
    count(write, "payment_mails_about", order.as_str(), ABOUT_PAYMENT, at)
}

/// Counts a code of this store to this recipient, who has not proven the address there. `mail_limit`
/// rejects it.
pub fn count_code(write: Write, store: &StoreId, to: &Email, now: Timestamp) -> Write {
    let write = count(write, "stranger_mails_of", store.as_str(), TO_STRANGERS, now);
    count(write, "stranger_mails_to", &to.normalized(), TO_STRANGER, now)
}

/// Counts a mail of this store that is withheld, in the write that says so.
pub fn count_withheld(write: Write, store: &StoreId, now: Timestamp) -> Write {
    let change = one_more("withheld", Some(now));
    write.update(&day_key(OF_STORE, store.as_str(), now), change, Code::VersionConflict)
}

/// One more on the day of `at`, if there is room.
fn count(write: Write, of: &str, subject: &str, most: u32, at: Timestamp) -> Write {
    let change = one_more("used", Some(at))
        .only_if("attribute_not_exists(#what) OR #what < :most")
        .value(":most", most);
    write.update(&day_key(of, subject, at), change, full(most, at))
}

/// The change that counts one more, of a day or for good. In place: many may count at once.
fn one_more(what: &str, day: Option<Timestamp>) -> Change {
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
    fn there_is_more_room_with_each_day_and_each_paid_order() {
        let since = Timestamp::from_millis(0);
        let room = |hours: u32, paid: u32| {
            in_a_day(since, paid, since.plus(std::time::Duration::from_hours(hours.into())))
        };
        assert_eq!([room(0, 0), room(23, 0), room(24, 0), room(49, 3)], [50, 50, 60, 100]);
        assert_eq!(room(24 * 365, 0), room(24 * 3_650, 0));
        assert_eq!(room(0, u32::MAX), u32::MAX);
        assert_eq!(in_a_day(since.plus(DAY), 0, since), AT_FIRST);
    }

    #[test]
    fn a_full_day_says_when_the_next_begins() {
        let late =
            Timestamp::from_millis(1_767_225_600_000).minus(std::time::Duration::from_secs(5));
        let problem = full(AT_FIRST, late);
        let wait = problem.headers().iter().find(|(name, _)| name == header::RETRY_AFTER);
        assert_eq!(wait.unwrap().1, "5");
        let next = late.plus(std::time::Duration::from_secs(5));
        assert_ne!(day_key("x", "s", late), day_key("x", "s", next));
    }
}
