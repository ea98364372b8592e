//! Gift cards: a balance behind a code (docs/conventions.md §13).
//!
//! The code is shown once, when the card is issued; what is kept is its HMAC, by which it is
//! looked up, and its last four characters. Money leaves and enters a card only together with a
//! [`GiftCardEntry`], so the entries always add up to the balance. Orders use [`debit`] and
//! [`credit`], whose arithmetic and conditions are in the write: no number of parallel orders
//! takes a balance below zero. What a merchant does is decided over the card as read and written
//! under its version, because its answer says the balance.

mod code;
mod find;
mod orders;
mod samples;
mod topics;
mod view;

use core_types::event::EventSubject;
use core_types::fields::{Email, TimeZone};
use core_types::id::{CustomerId, GiftCardEntryId, GiftCardId, OrderId, StoreId};
use core_types::key::{self, IndexKey};
use core_types::money::Money;
use crypto::seal::MacKey;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::context::Context;
use primitives::fields::{Fault, FromText};
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key};

pub use code::GiftCardCode;
pub use find::{count_lookup, ensure_lookup, find};
pub use orders::{credit, debit};
pub use topics::*;
pub use view::{
    GiftCardBalance, GiftCardEntryView, GiftCardMoved, GiftCardView, IssuedGiftCardView,
};

primitives::string_enum! {
    /// Whether a card can be spent.
    GiftCardStatus {
        /// It can.
        Active = "active",
        /// Switched off for good.
        Disabled = "disabled",
        /// Its last day is over.
        Expired = "expired",
    }
}

primitives::string_enum! {
    /// What changed a balance.
    GiftCardEntryKind {
        /// The card was issued.
        Issued = "issued",
        /// Money was added by the merchant.
        Credited = "credited",
        /// Money was taken by the merchant.
        Debited = "debited",
        /// An order was paid with it.
        Redeemed = "redeemed",
        /// An order gave its money back.
        Returned = "returned",
    }
}

/// The last day that ends within the calendar in every zone: `9999-12-31` means never.
const NEVER: jiff::civil::Date = jiff::civil::date(9999, 12, 28);

/// A day of the calendar: `2027-12-31`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("format" = "date"))]
pub struct LastDay(String);

impl LastDay {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// When it is over where the store is; in UTC, if there is no such zone.
    pub fn end(&self, zone: &TimeZone) -> Option<Timestamp> {
        let zone = jiff::tz::TimeZone::get(zone.as_str()).unwrap_or(jiff::tz::TimeZone::UTC);
        let day: jiff::civil::Date = self.0.parse().ok()?;
        let next = day.min(NEVER).tomorrow().ok()?;
        let end = next.to_zoned(zone).ok()?.timestamp();
        Some(Timestamp::from_millis(end.as_millisecond()))
    }
}

impl FromText for LastDay {
    const EXPECTS: &'static str = "a date";

    fn from_text(text: &str) -> Result<Self, Fault> {
        let day = Self(text.trim().to_owned());
        if day.0.len() == 10 && day.end(&TimeZone::default()).is_some() {
            Ok(day)
        } else {
            Err(Fault::new("invalid_date", "Must be a date like `2027-12-31`."))
        }
    }
}

primitives::text_field!(LastDay);

/// Who a card is for, and what they are told with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recipient {
    /// Where the code is sent.
    pub email: Email,
    /// What the sender says.
    pub message: Option<String>,
    /// When it is sent; at once, unless said otherwise.
    pub send_at: Option<Timestamp>,
}

/// A gift card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GiftCard {
    /// `gft_` and 32 hexadecimal digits.
    pub id: GiftCardId,
    /// The store that it belongs to.
    pub store_id: StoreId,
    /// What it was issued with.
    pub initial_value: Money,
    /// What is left.
    pub balance: Money,
    /// Active or disabled; [`GiftCard::status_at`] tells whether it has expired.
    pub status: GiftCardStatus,
    /// HMAC of its code.
    pub code_hmac: String,
    /// The last four characters of its code.
    pub last_characters: String,
    /// The last day it can be spent, where the store is.
    pub expires_on: Option<LastDay>,
    /// When that day is over: what conditions compare with. The store's time zone counted when the
    /// day was set.
    pub expires_at: Option<Timestamp>,
    /// The customer it belongs to.
    pub customer_id: Option<CustomerId>,
    /// Who it was sent to.
    pub recipient: Option<Recipient>,
    /// The merchant's note.
    pub note: Option<String>,
    /// When it was disabled.
    pub disabled_at: Option<Timestamp>,
    /// When it was issued.
    pub created_at: Timestamp,
    /// When it changed last.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Item for GiftCard {
    const KIND: &'static str = "gift_card";
    fn key(&self) -> Key {
        key::gift_card(&self.store_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        vec![key::gift_cards_of_store(&self.store_id, self.created_at, &self.id)]
    }
}

/// The one card of a code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UniqueGiftCardCode {
    /// The store that it belongs to.
    pub store_id: StoreId,
    /// HMAC of the code.
    pub code_hmac: String,
    /// The id of the gift card.
    pub card_id: GiftCardId,
    /// Always 1: a code is never given to another card.
    pub version: u64,
}

impl Item for UniqueGiftCardCode {
    const KIND: &'static str = "unique_gift_card_code";
    fn key(&self) -> Key {
        key::unique_gift_card_code(&self.store_id, &self.code_hmac)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

/// A movement of a card's balance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GiftCardEntry {
    /// `gte_` and 32 hexadecimal digits.
    pub id: GiftCardEntryId,
    /// The store that it belongs to.
    pub store_id: StoreId,
    /// The id of the gift card.
    pub card_id: GiftCardId,
    /// What changed the balance.
    pub kind: GiftCardEntryKind,
    /// How much came in, or went out.
    pub amount: Money,
    /// The order it is part of.
    pub order_id: Option<OrderId>,
    /// Why, in the merchant's words.
    pub reason: Option<String>,
    /// Who did it.
    pub actor: Option<String>,
    /// When.
    pub created_at: Timestamp,
    /// Always 1: a ledger is only appended to.
    pub version: u64,
}

impl Item for GiftCardEntry {
    const KIND: &'static str = "gift_card_entry";
    fn key(&self) -> Key {
        key::gift_card_entry(&self.store_id, &self.card_id, &self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl GiftCardEntryKind {
    /// Whether it takes money from the card.
    pub const fn takes(self) -> bool {
        matches!(self, Self::Debited | Self::Redeemed)
    }
}

impl GiftCardEntry {
    /// An entry of this card, by whoever makes the current request.
    pub fn new(
        (store, card): (&StoreId, &GiftCardId),
        kind: GiftCardEntryKind,
        amount: &Money,
        now: Timestamp,
    ) -> Self {
        Self {
            id: GiftCardEntryId::mint(now),
            store_id: store.clone(),
            card_id: card.clone(),
            kind,
            amount: amount.clone(),
            order_id: None,
            reason: None,
            actor: Context::current().map(|context| context.principal()).filter(|p| !p.is_empty()),
            created_at: now,
            version: 1,
        }
    }

    /// The entry as part of an order.
    fn of_order(self, order: &OrderId) -> Self {
        Self { order_id: Some(order.clone()), ..self }
    }
}

/// What a merchant says about a card to issue.
#[derive(Debug, Clone)]
pub struct Issue {
    /// What it is worth.
    pub initial_value: Money,
    /// The last day it can be spent.
    pub expires_on: Option<LastDay>,
    /// The customer it belongs to.
    pub customer_id: Option<CustomerId>,
    /// Who it is sent to.
    pub recipient: Option<Recipient>,
    /// A note.
    pub note: Option<String>,
}

impl GiftCard {
    /// A new card with this code.
    pub fn issue(
        store: &Store,
        issue: Issue,
        code: &GiftCardCode,
        mac: &MacKey,
        now: Timestamp,
    ) -> Self {
        Self {
            id: GiftCardId::mint(now),
            store_id: store.id.clone(),
            balance: issue.initial_value.clone(),
            initial_value: issue.initial_value,
            status: GiftCardStatus::Active,
            code_hmac: Self::code_hmac(mac, &store.id, code),
            last_characters: code.last_characters(),
            expires_at: issue.expires_on.as_ref().and_then(|day| day.end(&store.timezone)),
            expires_on: issue.expires_on,
            customer_id: issue.customer_id,
            recipient: issue.recipient,
            note: issue.note,
            disabled_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        }
    }

    /// What a code is looked up by. The key also signs cursors; the words in front keep the two
    /// apart.
    pub fn code_hmac(mac: &MacKey, store: &StoreId, code: &GiftCardCode) -> String {
        use base64::Engine;
        let tag = mac.tag(format!("gift-card\n{store}\n{}", code.canonical()).as_bytes());
        base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(tag)
    }

    /// The item that makes its code its own.
    pub fn unique_code(&self) -> UniqueGiftCardCode {
        UniqueGiftCardCode {
            store_id: self.store_id.clone(),
            code_hmac: self.code_hmac.clone(),
            card_id: self.id.clone(),
            version: 1,
        }
    }

    /// Whether it can be spent now.
    pub fn status_at(&self, now: Timestamp) -> GiftCardStatus {
        match self.status {
            GiftCardStatus::Active if self.expires_at.is_some_and(|end| end <= now) => {
                GiftCardStatus::Expired
            }
            status => status,
        }
    }

    /// # Errors
    /// `gift_card_disabled`, `gift_card_expired`.
    pub fn usable(&self, now: Timestamp) -> Result<(), Problem> {
        match self.status_at(now) {
            GiftCardStatus::Active => Ok(()),
            GiftCardStatus::Disabled => Err(Code::GiftCardDisabled.into()),
            GiftCardStatus::Expired => {
                let day = self.expires_on.as_ref().map(LastDay::as_str);
                Err(Code::GiftCardExpired.with("expires_on", day))
            }
        }
    }

    /// The card with more money on it.
    ///
    /// # Errors
    /// `gift_card_disabled`, `gift_card_expired`; a fault of `amount` when the balance would leave
    /// its range.
    pub fn credited(&self, amount: &Money, now: Timestamp) -> Result<Self, Problem> {
        self.usable(now)?;
        let balance = self.balance.plus(amount).ok_or_else(|| {
            Problem::field("/amount", "out_of_range", "The balance would be too large.")
        })?;
        Ok(Self { balance, ..self.changed(now) })
    }

    /// The card with less money on it.
    ///
    /// # Errors
    /// `gift_card_disabled`, `gift_card_expired`, `insufficient_balance`.
    pub fn debited(&self, amount: &Money, now: Timestamp) -> Result<Self, Problem> {
        self.usable(now)?;
        let short = || {
            let balance = serde_json::to_value(&self.balance).unwrap_or_default();
            Code::InsufficientBalance.with("balance", balance)
        };
        let balance = self.balance.minus(amount).ok_or_else(short)?;
        Ok(Self { balance, ..self.changed(now) })
    }

    /// The card switched off for good; its balance stays on record.
    ///
    /// # Errors
    /// `gift_card_disabled` when it is already.
    pub fn disabled(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status == GiftCardStatus::Disabled {
            return Err(Code::GiftCardDisabled.into());
        }
        let (status, disabled_at) = (GiftCardStatus::Disabled, Some(now));
        Ok(Self { status, disabled_at, ..self.changed(now) })
    }

    /// What an event says it is about.
    pub fn event_subject(&self) -> EventSubject<'_> {
        EventSubject {
            store: Some(&self.store_id),
            app: None,
            entity: self.id.as_str(),
            version: self.version,
        }
    }

    /// The card without whom it was sent to and what was noted of it; none when there is nothing of that.
    pub fn redacted(&self, now: Timestamp) -> Option<Self> {
        let is_told = self.recipient.is_some() || self.note.is_some();
        is_told.then(|| Self { recipient: None, note: None, ..self.changed(now) })
    }

    /// The card as another account's, of the same person; none when it is not that account's.
    pub fn handed_over(&self, from: &CustomerId, to: &CustomerId, now: Timestamp) -> Option<Self> {
        let is_theirs = self.customer_id.as_ref() == Some(from);
        is_theirs.then(|| Self { customer_id: Some(to.clone()), ..self.changed(now) })
    }

    /// The card at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }
}

#[cfg(test)]
mod tests;
