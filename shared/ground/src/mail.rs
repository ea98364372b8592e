//! Mails on their way, and their texts.
//!
//! A mail is written in the transaction that makes it necessary, so that neither exists without
//! the other. What it says is sealed: it holds codes and tokens that are kept nowhere else in
//! readable form. The table's stream puts [`Message`] on the queue at once; a mail that is not
//! sent when it is due is put there again by the sweep. It is deleted once it is sent.

pub mod allowance;
mod gift_card;
mod order;
mod plain;
mod sender;
mod storefront;

use std::time::Duration;

use gateway::app::App;
use gateway::clock::{DAY, MINUTE, Timestamp};
use gateway::item::{Item, Key};
use gateway::outbox::{Due, Outgoing};
use gateway::problem::{Code, Problem};
use gateway::seal::SealKey;
use gateway::table::Write;
use serde::{Deserialize, Serialize};

use crate::challenge::{CODE_LIFETIME, Purpose};
use crate::fields::Email;
use crate::gift_card::{GiftCard, GiftCardStatus};
use crate::id::{GiftCardId, MailId, StoreId};
use crate::key::{self, IndexKey};

pub use sender::Sender;

/// How long a mail may lie on the queue before the sweep puts it there again.
const QUEUE_GRACE: Duration = MINUTE;
/// How long a sender has a mail to itself. Longer than sending may take.
const LEASE: Duration = MINUTE.saturating_mul(2);
/// Attempts before a mail is given up (our choice).
const ATTEMPTS: u32 = 10;
/// Wait after the first failed attempt; it doubles.
const FIRST_WAIT: Duration = Duration::from_secs(5);
/// The longest wait: also the longest delay a queue takes.
const LONGEST_WAIT: Duration = MINUTE.saturating_mul(15);

/// What the queue carries about a mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The mail.
    pub mail_id: MailId,
}

gateway::words! {
    /// How far a mail has come.
    MailState {
        /// To be sent.
        Pending = "pending",
        /// Being sent by somebody who has it until `due_at`.
        Sending = "sending",
        /// Given up.
        Failed = "failed",
    }
}

/// A mail on its way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Mail {
    /// The id.
    pub id: MailId,
    /// The [`Letter`], sealed.
    pub sealed: String,
    /// How far it has come.
    pub state: MailState,
    /// Attempts to send it.
    pub attempts: u32,
    /// When the sweep looks after it.
    pub due_at: Timestamp,
    /// When it is of no more use: what it holds has expired.
    pub expires_at: Timestamp,
    /// When it was written.
    pub created_at: Timestamp,
    /// Counts writes.
    pub version: u64,
}

impl Item for Mail {
    const KIND: &'static str = "mail";
    fn key(&self) -> Key {
        key::mail(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        let waiting = self.state != MailState::Failed;
        waiting.then(|| Due::Mail.mark(self.id.as_str(), self.due_at)).into_iter().collect()
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.expires_at.plus(DAY))
    }
}

impl Outgoing for Mail {
    fn put_into(self, write: Write) -> Write {
        write.create(&self, Code::VersionConflict)
    }
}

/// What may be done with a mail now.
#[derive(Debug, Clone)]
pub enum Take {
    /// Send it: this is the mail with its lease, to be written first.
    Send(Mail),
    /// Leave it: somebody else has it, or it was given up.
    Leave,
    /// Remove it: it is of no more use.
    Expired,
}

impl Mail {
    /// A mail with this letter.
    pub fn compose(key: &SealKey, letter: &Letter, now: Timestamp) -> Result<Self, Problem> {
        let id = MailId::mint(now);
        let plain = serde_json::to_vec(letter).map_err(Problem::internal)?;
        Ok(Self {
            sealed: key.seal(&plain, id.as_str().as_bytes()),
            state: MailState::Pending,
            attempts: 0,
            due_at: now.plus(QUEUE_GRACE),
            expires_at: now.plus(letter.useful_for),
            created_at: now,
            version: 1,
            id,
        })
    }

    /// What it says.
    pub fn letter(&self, key: &SealKey) -> Result<Letter, Problem> {
        let plain = key.open(&self.sealed, self.id.as_str().as_bytes());
        let plain = plain.map_err(|error| Problem::internal(format!("{}: {error}", self.id)))?;
        serde_json::from_slice(&plain).map_err(Problem::internal)
    }

    /// Takes it for sending, so that two messages about it send it once.
    pub fn take(&self, now: Timestamp) -> Take {
        let taken = self.state == MailState::Sending && now < self.due_at;
        if taken || self.state == MailState::Failed {
            return Take::Leave;
        }
        if self.expires_at <= now {
            return Take::Expired;
        }
        Take::Send(Self {
            state: MailState::Sending,
            attempts: self.attempts.saturating_add(1),
            due_at: now.plus(LEASE),
            version: self.version.saturating_add(1),
            ..self.clone()
        })
    }

    /// The mail after an attempt that failed, and how long to wait before the next; none when it
    /// is given up.
    pub fn after_failure(&self, permanent: bool, now: Timestamp) -> (Self, Option<Duration>) {
        let version = self.version.saturating_add(1);
        let doublings = self.attempts.saturating_sub(1);
        let wait = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(doublings)).min(LONGEST_WAIT);
        let again = !permanent && self.attempts < ATTEMPTS && now.plus(wait) < self.expires_at;
        if !again {
            return (Self { state: MailState::Failed, version, ..self.clone() }, None);
        }
        let due_at = now.plus(wait).plus(QUEUE_GRACE);
        (Self { state: MailState::Pending, due_at, version, ..self.clone() }, Some(wait))
    }
}

/// What a mail says, and to whom. Codes and tokens stand alone on their lines, after `Code: ` and
/// `Token: `; the text is ASCII with lines below 75 characters, so that it travels unencoded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// The recipient.
    pub to: Email,
    /// The store that it is from; the platform, where there is none.
    #[serde(default)]
    pub store_id: Option<StoreId>,
    /// The store's gift card that it brings: it is not sent when that cannot be spent.
    #[serde(default)]
    pub gift_card: Option<GiftCardId>,
    /// Whether it tells of the store's business in the store's words: it is sent for owners with a
    /// proven address alone.
    #[serde(default)]
    pub is_business: bool,
    /// The subject.
    pub subject: String,
    /// The text.
    pub text: String,
    /// How long it is worth sending.
    pub useful_for: Duration,
}

impl Letter {
    /// A one-time code for signing in.
    pub fn one_time_code(to: &Email, code: &str) -> Self {
        let text = format!(
            "Use this code to sign in. It is good for 10 minutes and works once.\n\n\
             Code: {code}\n\n\
             If you did not ask for it, do nothing: nobody can sign in without it.\n\
             Never tell it to anybody.\n"
        );
        Self::new(to, "Your sign-in code", text, CODE_LIFETIME)
    }

    /// A link that sets a new password.
    pub fn password_reset(to: &Email, token: &str, base_url: &str) -> Self {
        let text = format!(
            "Somebody asked for a new password for your account. To set one, send\n\
             this token and the new password to\n\n\
             \x20   POST {base_url}/v1/auth/password/update\n\
             \x20   {{\"token\": \"...\", \"new_password\": \"...\"}}\n\n\
             Token: {token}\n\n\
             It is good for 30 minutes and works once.\n\
             If you did not ask for it, do nothing: your password stays as it is.\n"
        );
        Self::new(to, "Set a new password", text, Purpose::Reset.lifetime())
    }

    /// A link that verifies the address.
    pub fn verify_email(to: &Email, token: &str, base_url: &str) -> Self {
        let text = format!(
            "This address was given for an account. To confirm that it is yours,\n\
             send this token to\n\n\
             \x20   POST {base_url}/v1/auth/email/verify\n\
             \x20   {{\"token\": \"...\"}}\n\n\
             Token: {token}\n\n\
             It is good for 24 hours and works once.\n\
             If you know nothing of such an account, do nothing.\n"
        );
        Self::new(to, "Confirm your e-mail address", text, Purpose::Verify.lifetime())
    }

    /// A notice that the account which was found at an address is its owner's alone from now on.
    pub fn address_proven(to: &Email, base_url: &str) -> Self {
        let text = format!(
            "You have confirmed this address for an account that was set up before,\n\
             perhaps by somebody else. Its password and every session have ended.\n\n\
             To sign in, ask for a one-time code. To set a password, ask for a\n\
             reset, or send one while you are signed in:\n\n\
             \x20   POST {base_url}/v1/auth/signin/otp\n\
             \x20   POST {base_url}/v1/auth/password/reset\n\
             \x20   POST {base_url}/v1/auth/password/update\n\n\
             What the account holds stays. Look through its stores and apps, and\n\
             delete what is not yours.\n"
        );
        Self::new(to, "Your address is confirmed", text, DAY)
    }

    /// A notice that the second factor was switched on or off.
    pub fn mfa_switched(to: &Email, on: bool, now: Timestamp) -> Self {
        let (is, from_now) = if on {
            ("on", "A code of your device, or a recovery code, is needed to sign in.")
        } else {
            ("off", "Signing in takes no code of a device any more.")
        };
        let text = format!(
            "Two-step sign-in of your account was switched {is} at\n{now}.\n\n\
             {from_now}\n\n\
             If that was not you, ask for a new password at once: setting it ends\n\
             every session.\n"
        );
        Self::new(to, &format!("Two-step sign-in is {is}"), text, DAY)
    }

    /// A notice that the password was changed.
    pub fn password_changed(to: &Email, now: Timestamp) -> Self {
        let text = format!(
            "The password of your account was changed at {now}.\n\n\
             If that was not you, ask for a new password at once: setting it ends\n\
             every session.\n"
        );
        Self::new(to, "Your password was changed", text, DAY)
    }

    /// A notice to the former address that the account has another one.
    pub fn email_changed(former: &Email, current: &Email, now: Timestamp) -> Self {
        let text = format!(
            "The e-mail address of your account was changed at\n\
             {now} to {}.\n\
             This address can no longer be used to sign in.\n\n\
             If that was not you, contact support at once.\n",
            current.masked()
        );
        Self::new(former, "Your e-mail address was changed", text, DAY)
    }

    /// A notice that the account is going to be removed.
    pub fn account_deleted(to: &Email, delete_at: Timestamp) -> Self {
        let text = format!(
            "Your account was deleted. It can no longer be used, and everything it\n\
             holds is removed after {delete_at}.\n\n\
             If that was not you, contact support before then.\n"
        );
        Self::new(to, "Your account was deleted", text, DAY)
    }

    fn new(to: &Email, subject: &str, text: String, useful_for: Duration) -> Self {
        let (to, subject) = (to.clone(), subject.to_owned());
        let is_business = false;
        Self { to, store_id: None, gift_card: None, is_business, subject, text, useful_for }
    }

    /// The letter as the store's, which is told to its customers: its name stands for who wrote
    /// it, and answers go to it.
    #[must_use]
    pub fn from_store(self, store: Option<&StoreId>) -> Self {
        Self { store_id: store.cloned().or(self.store_id), ..self }
    }

    /// The letter as one about the store's business.
    #[must_use]
    fn of_business(self, store: &StoreId) -> Self {
        Self { is_business: true, ..self.from_store(Some(store)) }
    }

    /// Whether it is still worth sending: what it brings may be worth nothing by now.
    ///
    /// # Errors
    /// 503.
    pub async fn is_wanted(&self, app: &App) -> Result<bool, Problem> {
        let (Some(store), Some(card)) = (&self.store_id, &self.gift_card) else { return Ok(true) };
        let card: Option<GiftCard> = app.table.get(&key::gift_card(store, card)).await?;
        let now = app.clock.now();
        Ok(card.is_some_and(|card| card.status_at(now) == GiftCardStatus::Active))
    }
}

#[cfg(test)]
mod tests {
    use gateway::request::FromText;

    use super::*;

    fn letter() -> Letter {
        Letter::one_time_code(&Email::from_text("ann@example.com").unwrap(), "042137")
    }

    #[test]
    fn a_mail_is_readable_with_the_key_and_nowhere_else() {
        let (key, now) = (SealKey::generate(), Timestamp::from_millis(0));
        let mail = Mail::compose(&key, &letter(), now).unwrap();
        assert_eq!(mail.letter(&key).unwrap(), letter());
        assert!(mail.letter(&SealKey::generate()).is_err());
        let moved = Mail { id: MailId::mint(now), ..mail };
        assert!(moved.letter(&key).is_err());
    }

    #[test]
    fn a_mail_is_taken_once_until_its_lease_ends() {
        let now = Timestamp::from_millis(0);
        let mail = Mail::compose(&SealKey::generate(), &letter(), now).unwrap();
        let Take::Send(taken) = mail.take(now) else { panic!("{mail:?}") };
        assert_eq!((taken.attempts, taken.version), (1, 2));
        assert!(matches!(taken.take(now.plus(MINUTE)), Take::Leave));
        assert!(matches!(taken.take(now.plus(LEASE)), Take::Send(_)));
        assert!(matches!(taken.take(now.plus(CODE_LIFETIME)), Take::Expired));
    }

    #[test]
    fn a_failed_attempt_is_repeated_while_the_mail_is_of_use() {
        let now = Timestamp::from_millis(0);
        let mail = Mail::compose(&SealKey::generate(), &letter(), now).unwrap();
        let Take::Send(taken) = mail.take(now) else { panic!("{mail:?}") };
        let (again, wait) = taken.after_failure(false, now);
        assert_eq!((again.state, wait), (MailState::Pending, Some(FIRST_WAIT)));
        assert_eq!(again.indexes().len(), 1);
        let (given_up, wait) = taken.after_failure(true, now);
        assert_eq!((given_up.state, wait), (MailState::Failed, None));
        assert!(given_up.indexes().is_empty());
        let late = now.plus(CODE_LIFETIME);
        assert_eq!(taken.after_failure(false, late).1, None);
    }

    #[test]
    fn every_text_travels_unencoded() {
        let to = Email::from_text("ann@example.com").unwrap();
        let (now, token) = (Timestamp::from_millis(0), gateway::seal::random_secret());
        for letter in [
            letter(),
            Letter::password_reset(&to, &token, "https://api.example.com"),
            Letter::verify_email(&to, &token, "https://api.example.com"),
            Letter::address_proven(&to, "https://api.example.com"),
            Letter::mfa_switched(&to, true, now),
            Letter::mfa_switched(&to, false, now),
            Letter::password_changed(&to, now),
            Letter::email_changed(&to, &to, now),
            Letter::account_deleted(&to, now),
        ] {
            assert!(letter.text.is_ascii() && letter.subject.is_ascii());
            assert!(letter.text.lines().all(|line| line.len() < 75), "{}", letter.text);
        }
    }
}
