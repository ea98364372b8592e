//! Gift cards: a balance behind a code (docs/conventions.md §13).
//!
//! The code is returned once, when the card is issued. Only its HMAC, by which it is looked up, and its last
//! four characters are stored. Each change of a balance is written with a [`GiftCardEntry`], so the entries
//! always add up to the balance. Orders use [`debit`] and [`credit`], whose arithmetic and conditions are in
//! the write: concurrent orders cannot take a balance below zero. A merchant's change is computed from the
//! card that was read and written on condition of its version, because the response has the balance.

mod code;
mod entry;
mod find;
mod last_day;
mod orders;
mod samples;
mod topics;
mod view;

use core_types::event::EventSubject;
use core_types::fields::Email;
use core_types::id::{CustomerId, GiftCardId, StoreId};
use core_types::key;
use core_types::money::Money;
use crypto::seal::MacKey;
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::Item;

pub use code::{GiftCardCode, LastCharacters};
pub use entry::{GiftCardEntry, GiftCardEntryKind};
pub use find::{count_lookup, ensure_lookup, find, load};
pub use last_day::LastDay;
pub use orders::{credit, debit};
pub use topics::*;
pub use view::{
    GiftCardBalance, GiftCardEntryView, GiftCardMoved, GiftCardView, IssuedGiftCardView,
};

primitives::string_enum! {
    /// The status of a gift card.
    GiftCardStatus {
        /// It can be spent.
        Active = "active",
        /// The merchant has disabled it.
        Disabled = "disabled",
        /// Its last day has ended.
        Expired = "expired",
    }
}

/// The recipient of a gift card, and the message to them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Recipient {
    /// The address that the code is sent to.
    pub email: Email,
    /// The sender's message.
    pub message: Option<String>,
    /// When it is sent; at once if missing.
    pub send_at: Option<Timestamp>,
}

/// A gift card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "gift_card", key = key::gift_card(&self.store_id, &self.id))]
#[item(indexes = vec![key::gift_cards_of_store(&self.store_id, self.created_at, &self.id)])]
pub struct GiftCard {
    /// The id: `gft_` and 32 hexadecimal digits.
    pub id: GiftCardId,
    /// The store.
    pub store_id: StoreId,
    /// The balance at issue.
    pub initial_value: Money,
    /// The balance left.
    pub balance: Money,
    /// Active or disabled; [`GiftCard::status_at`] derives whether it has expired.
    pub status: GiftCardStatus,
    /// The HMAC of its code.
    pub code_hmac: String,
    /// The last four characters of its code.
    pub last_characters: String,
    /// The last day on which it can be spent, in the store's time zone.
    pub expires_on: Option<LastDay>,
    /// The end of that day, in the time zone that the store had when the day was set. Conditions of writes
    /// compare it with the time.
    pub expires_at: Option<Timestamp>,
    /// The customer who owns it.
    pub customer_id: Option<CustomerId>,
    /// The recipient that it is sent to.
    pub recipient: Option<Recipient>,
    /// The merchant's note.
    pub note: Option<String>,
    /// When it was disabled.
    pub disabled_at: Option<Timestamp>,
    /// When it was issued.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

/// The item that makes a code unique in its store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "unique_gift_card_code")]
#[item(key = key::unique_gift_card_code(&self.store_id, &self.code_hmac))]
pub struct UniqueGiftCardCode {
    /// The store.
    pub store_id: StoreId,
    /// The HMAC of the code.
    pub code_hmac: String,
    /// The gift card with the code.
    pub card_id: GiftCardId,
    /// Always 1: a code is never given to another card.
    pub version: u64,
}

/// The data of a gift card to issue.
#[derive(Debug, Clone)]
pub struct NewGiftCard {
    /// The balance at issue.
    pub initial_value: Money,
    /// The last day on which it can be spent.
    pub expires_on: Option<LastDay>,
    /// The customer who owns it.
    pub customer_id: Option<CustomerId>,
    /// The recipient that it is sent to.
    pub recipient: Option<Recipient>,
    /// The merchant's note.
    pub note: Option<String>,
}

impl GiftCard {
    /// Creates a card with this code.
    pub fn issue(
        store: &Store,
        issue: NewGiftCard,
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

    /// The HMAC that a code is looked up by. Its input begins with a prefix and the store, so that codes of
    /// different stores, and other uses of the key, never have the same HMAC.
    pub fn code_hmac(mac: &MacKey, store: &StoreId, code: &GiftCardCode) -> String {
        use base64::Engine;
        let tag = mac.tag(format!("gift-card\n{store}\n{}", code.canonical()).as_bytes());
        base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(tag)
    }

    /// The item that makes its code unique.
    pub fn unique_code(&self) -> UniqueGiftCardCode {
        UniqueGiftCardCode {
            store_id: self.store_id.clone(),
            code_hmac: self.code_hmac.clone(),
            card_id: self.id.clone(),
            version: 1,
        }
    }

    /// The status at `now`.
    pub fn status_at(&self, now: Timestamp) -> GiftCardStatus {
        match self.status {
            GiftCardStatus::Active if self.expires_at.is_some_and(|end| end <= now) => {
                GiftCardStatus::Expired
            }
            status => status,
        }
    }

    /// Ensures that the card can be spent now.
    ///
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

    /// Adds to the balance.
    ///
    /// # Errors
    /// `gift_card_disabled`, `gift_card_expired`; a field error of `amount` if the balance would be out of
    /// range.
    pub fn credited(&self, amount: &Money, now: Timestamp) -> Result<Self, Problem> {
        self.usable(now)?;
        let balance = self.balance.plus(amount).ok_or_else(|| {
            Problem::field("/amount", "out_of_range", "The balance would be too large.")
        })?;
        Ok(Self { balance, ..self.changed(now) })
    }

    /// Deducts from the balance.
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

    /// Enables a disabled card again.
    ///
    /// # Errors
    /// `invalid_state_transition` if it is not disabled.
    pub fn enabled(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status != GiftCardStatus::Disabled {
            return Err(Problem::state(self.status_at(now).as_str(), &["disable"]));
        }
        let (status, disabled_at) = (GiftCardStatus::Active, None);
        Ok(Self { status, disabled_at, ..self.changed(now) })
    }

    /// Disables the card. Its balance stays.
    ///
    /// # Errors
    /// `gift_card_disabled` if it is disabled already.
    pub fn disabled(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status == GiftCardStatus::Disabled {
            return Err(Code::GiftCardDisabled.into());
        }
        let (status, disabled_at) = (GiftCardStatus::Disabled, Some(now));
        Ok(Self { status, disabled_at, ..self.changed(now) })
    }

    /// The subject of the card's events.
    pub fn event_subject(&self) -> EventSubject<'_> {
        EventSubject {
            store: Some(&self.store_id),
            app: None,
            entity: self.id.as_str(),
            version: self.version,
        }
    }

    /// Removes the recipient and the note; returns none if it has neither.
    pub fn redacted(&self, now: Timestamp) -> Option<Self> {
        let has_personal_data = self.recipient.is_some() || self.note.is_some();
        has_personal_data.then(|| Self { recipient: None, note: None, ..self.changed(now) })
    }

    /// Moves the card to another account of the same person; returns none if `from` does not own it.
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
