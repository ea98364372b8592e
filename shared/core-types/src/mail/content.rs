//! What a mail says, and to whom.

use std::time::Duration;

use primitives::clock::Timestamp;
use serde::{Deserialize, Serialize};

use crate::fields::Email;
use crate::id::{GiftCardId, StoreId};

/// A gift card that a mail delivers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GiftCardDelivery {
    /// The card.
    pub id: GiftCardId,
    /// Its code in readable form.
    pub code: String,
}

/// What a mail tells a merchant of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alert {
    /// A new order.
    Order,
    /// A message that was sent through a form.
    Message,
    /// A customer's request for a copy of their data.
    DataRequest,
}

/// What a mail tells customers about their account at a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AccountNews {
    /// A code that signs in.
    SignInCode {
        /// The code in readable form.
        code: String,
    },
    /// A code that proves a new customer's address.
    RegistrationCode {
        /// The code in readable form.
        code: String,
    },
    /// Instead of [`Self::RegistrationCode`], for an address that has an account: a code that signs in.
    AccountExists {
        /// The code in readable form.
        code: String,
    },
    /// A code that proves the new address of an account.
    EmailChangeCode {
        /// The code in readable form.
        code: String,
    },
    /// Instead of [`Self::EmailChangeCode`], for an address that has an account of its own.
    EmailInUse,
    /// A link to the page that sets a new password.
    PasswordReset {
        /// The URL, with the token.
        link: String,
        /// The token, if the reset was requested through the API.
        token: Option<String>,
    },
    /// The password was changed.
    PasswordUpdated {
        /// When.
        at: Timestamp,
    },
    /// The address was changed; said to the former one.
    EmailUpdated {
        /// When.
        at: Timestamp,
        /// The new address, masked.
        email: String,
    },
    /// The account was deleted.
    Deleted {
        /// When.
        at: Timestamp,
    },
}

/// The content and recipient of a mail. In built-in texts codes and tokens are on lines of their own, after a label, such as
/// `Code: ` and `Token: ` in English. Texts are UTF-8; sending chooses the transfer encoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailContent {
    /// The recipient.
    pub to: Email,
    /// The store that sends it; none for the platform.
    #[serde(default)]
    pub store_id: Option<StoreId>,
    /// The store's gift card that it delivers. Its subject and text are written at sending, and it is not
    /// sent if the card cannot be spent.
    #[serde(default)]
    pub gift_card: Option<GiftCardDelivery>,
    /// What it tells a customer about their account. Its subject and text are written at sending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountNews>,
    /// Whether it is about the store's business, in the store's words: it is sent only if the store's owner
    /// has a proven address.
    #[serde(default)]
    pub is_business: bool,
    /// Whether nobody has proven the recipient's address at the store. Such mails have a daily limit per
    /// store, and one over all stores of a merchant.
    #[serde(default, rename = "is_to_stranger")]
    pub is_to_unverified: bool,
    /// Whether it requests a payment; such mails have a daily limit per store.
    #[serde(default, rename = "asks_to_pay")]
    pub is_payment_request: bool,
    /// What it tells a merchant of. Such mails have daily limits per recipient.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert: Option<Alert>,
    /// The subject.
    pub subject: String,
    /// The text.
    pub text: String,
    /// The same as HTML, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    /// The time for which it is useful after it was written.
    pub useful_for: Duration,
}

impl MailContent {
    /// A content of the platform itself.
    pub fn new(to: &Email, subject: &str, text: String, useful_for: Duration) -> Self {
        Self {
            to: to.clone(),
            store_id: None,
            gift_card: None,
            account: None,
            is_business: false,
            is_to_unverified: false,
            is_payment_request: false,
            alert: None,
            subject: subject.to_owned(),
            text,
            html: None,
            useful_for,
        }
    }

    /// News for a customer of a store about their account.
    pub fn about_account(to: &Email, news: AccountNews, useful_for: Duration) -> Self {
        Self { account: Some(news), ..Self::new(to, "", String::new(), useful_for) }
    }

    /// The content, sent by this store to its customers: the store's name is the sender's, and replies go to
    /// the store.
    #[must_use]
    pub fn from_store(self, store: Option<&StoreId>) -> Self {
        Self { store_id: store.cloned().or(self.store_id), ..self }
    }

    /// The content, marked as news of this kind for a merchant.
    #[must_use]
    pub fn as_alert(self, alert: Alert) -> Self {
        Self { alert: Some(alert), ..self }
    }

    /// The content, for an address that nobody has proven yet.
    #[must_use]
    pub fn for_unverified(self) -> Self {
        Self { is_to_unverified: true, ..self }
    }

    /// The content, marked as the store's business.
    #[must_use]
    pub fn of_business(self, store: &StoreId) -> Self {
        Self { is_business: true, ..self.from_store(Some(store)) }
    }
}
