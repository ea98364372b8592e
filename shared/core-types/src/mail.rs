//! Outgoing mails. Their texts are written next to the nouns they are about.
//!
//! A mail is written in the transaction that makes it necessary, so that neither exists without the other; or
//! it follows from an event ([`Notice`]), and is written when that is published. Its content is sealed: it
//! holds codes and tokens that are stored in readable form nowhere else. The table's stream puts a
//! [`MailMessage`] on the queue at once. A mail that is not sent when it is due is enqueued again by the
//! sweep. It is deleted once it is sent.

mod content;
mod notice;
mod plain;

use std::time::Duration;

use crypto::seal::SealKey;
use primitives::clock::{DAY, MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use services::queue::QueueName;
use table::Write;
use table::item::{Item, Key};
use table::outbox::{DueKind, Outgoing};

use crate::event::Event;
use crate::id::MailId;
use crate::key::{self, IndexKey};

pub use content::{AccountNews, Alert, GiftCardDelivery, MailContent};
pub use notice::Notice;
pub use plain::{holds_link, on_one_line, unlinked};

/// The queue of mails to send.
pub const QUEUE: QueueName = QueueName("MAIL_QUEUE_URL");
/// The longest wait of a mail on the queue before the sweep enqueues it again.
const QUEUE_GRACE: Duration = MINUTE;
/// The lease of a sender on a mail; longer than sending may take.
const LEASE: Duration = MINUTE.saturating_mul(2);
/// The most attempts before a mail fails (our choice).
const ATTEMPTS: u32 = 10;
/// The wait after the first failed attempt; it doubles.
const FIRST_WAIT: Duration = Duration::from_secs(5);
/// The longest wait, which is also the longest delay of an SQS message.
const LONGEST_WAIT: Duration = MINUTE.saturating_mul(15);

/// The queue message about a mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MailMessage {
    /// The mail.
    pub mail_id: MailId,
}

primitives::string_enum! {
    /// The status of a mail.
    MailState {
        /// Waiting to be sent.
        Pending = "pending",
        /// Being sent, by a sender whose lease ends at `due_at`.
        Sending = "sending",
        /// Failed for good.
        Failed = "failed",
        /// Not sent, because its store may not mail the recipient, or not today.
        Withheld = "withheld",
    }
}

/// An outgoing mail.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Mail {
    /// The id.
    pub id: MailId,
    /// The [`MailContent`], sealed.
    pub sealed: String,
    /// The status.
    pub state: MailState,
    /// Attempts to send it.
    pub attempts: u32,
    /// Whether it is counted in its day's mails: once, however often it is tried.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_counted: bool,
    /// Whether it is sent in the store's own text, though nobody has proven the recipient's address there: such mails are
    /// counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_own_text: bool,
    /// The problem code that it is withheld for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld_for: Option<String>,
    /// When the sweep processes it next.
    pub due_at: Timestamp,
    /// When its content expires, and sending it becomes useless.
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
        let waits = !matches!(self.state, MailState::Failed | MailState::Withheld);
        waits.then(|| DueKind::Mail.mark(self.id.as_str(), self.due_at)).into_iter().collect()
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

/// The next step with a mail.
#[derive(Debug, Clone)]
pub enum MailReadiness {
    /// Send it: this is the mail with its lease, to be written first.
    Send(Mail),
    /// Skip it: another sender has it, or it failed or is withheld.
    Leave,
    /// Delete it: its content has expired.
    Expired,
}

impl Mail {
    /// A mail with this content.
    pub fn compose(key: &SealKey, content: &MailContent, now: Timestamp) -> Result<Self, Problem> {
        Self::with_id(MailId::mint(now), key, content, now)
    }

    /// The mail that follows from an event, with the event's time. Its id is derived from the event's, so
    /// that there is one, and mails sort as their events do.
    ///
    /// # Errors
    /// 500 when it cannot be sealed.
    pub fn of_event(event: &Event, key: &SealKey, content: &MailContent) -> Result<Self, Problem> {
        // Ids of events that happened together may end alike, and due work is sharded by the last digit. So
        // the last two digits are exchanged with the two before them.
        let shuffled = |digits: &str| {
            let (head, tail) = digits.split_at_checked(28)?;
            let (before, last) = tail.split_at_checked(2)?;
            MailId::parse(&format!("{}{head}{last}{before}", MailId::PREFIX))
        };
        let id = shuffled(event.id.digits());
        let id =
            id.ok_or_else(|| Problem::internal("an event's id cannot be turned into a mail's"))?;
        Self::with_id(id, key, content, event.created_at)
    }

    fn with_id(
        id: MailId,
        key: &SealKey,
        content: &MailContent,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        let plain = serde_json::to_vec(content).map_err(Problem::internal)?;
        Ok(Self {
            sealed: key.seal_deflated(&plain, id.as_str().as_bytes())?,
            state: MailState::Pending,
            attempts: 0,
            is_counted: false,
            has_own_text: false,
            withheld_for: None,
            due_at: now.plus(QUEUE_GRACE),
            expires_at: now.plus(content.useful_for),
            created_at: now,
            version: 1,
            id,
        })
    }

    /// As [`Mail::compose`], under the deployment's key.
    ///
    /// # Errors
    /// 503 when the key is unavailable.
    pub async fn sealed(
        services: &Services,
        content: &MailContent,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        Self::compose(&*services.secrets.mail_key().await?, content, now)
    }

    /// Opens the sealed content.
    pub fn content(&self, key: &SealKey) -> Result<MailContent, Problem> {
        let plain = key.open_deflated(&self.sealed, self.id.as_str().as_bytes());
        let plain = plain.map_err(|error| Problem::internal(format!("{}: {error}", self.id)))?;
        serde_json::from_slice(&plain).map_err(Problem::internal)
    }

    /// Takes the lease for sending, so that two queue messages send the mail once.
    pub fn readiness(&self, now: Timestamp) -> MailReadiness {
        let taken = self.state == MailState::Sending && now < self.due_at;
        if taken || matches!(self.state, MailState::Failed | MailState::Withheld) {
            return MailReadiness::Leave;
        }
        if self.expires_at <= now {
            return MailReadiness::Expired;
        }
        MailReadiness::Send(Self {
            state: MailState::Sending,
            attempts: self.attempts.saturating_add(1),
            due_at: now.plus(LEASE),
            version: self.version.saturating_add(1),
            ..self.clone()
        })
    }

    /// The mail, counted in its day's mails.
    #[must_use]
    pub fn counted(&self) -> Self {
        let version = self.version.saturating_add(1);
        Self { is_counted: true, version, ..self.clone() }
    }

    /// The mail, counted and in the store's own text.
    #[must_use]
    pub fn counted_in_own_text(&self) -> Self {
        Self { has_own_text: true, ..self.counted() }
    }

    /// The mail, withheld for this problem.
    #[must_use]
    pub fn withheld(&self, code: Code) -> Self {
        let (version, withheld_for) =
            (self.version.saturating_add(1), Some(code.as_str().to_owned()));
        Self { state: MailState::Withheld, withheld_for, version, ..self.clone() }
    }

    /// The mail after a failed attempt, and the wait before the next; none when it failed for good.
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

    /// The mail, to be sent at `at`: the sweep finds it then.
    #[must_use]
    pub fn scheduled(self, at: Timestamp) -> Self {
        let later = self.created_at.until(at);
        Self { due_at: self.due_at.max(at), expires_at: self.expires_at.plus(later), ..self }
    }

    /// Whether it is too early to send it.
    pub fn waits(&self, now: Timestamp) -> bool {
        now.plus(QUEUE_GRACE) < self.due_at
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use primitives::fields::FromText;
    use schemars::JsonSchema;

    use super::*;
    use crate::event::{EventSubject, Example, Topic};
    use crate::fields::Email;

    const USEFUL_FOR: Duration = MINUTE.saturating_mul(10);

    fn content() -> MailContent {
        let to = Email::from_text("ann@example.com").unwrap();
        MailContent::new(&to, "Your sign-in code", "Code: 042137\n".into(), USEFUL_FOR)
    }

    #[test]
    fn a_mail_is_readable_with_the_key_and_nowhere_else() {
        let (key, now) = (SealKey::generate(), Timestamp::from_millis(0));
        let mail = Mail::compose(&key, &content(), now).unwrap();
        assert_eq!(mail.content(&key).unwrap(), content());
        assert!(mail.content(&SealKey::generate()).is_err());
        let moved = Mail { id: MailId::mint(now), ..mail };
        assert!(moved.content(&key).is_err());
    }

    #[derive(Serialize, JsonSchema)]
    struct Opened {}

    impl Example for Opened {
        fn example() -> Self {
            Self {}
        }
    }

    const OPENED: Topic<Opened> =
        Topic::new("store.created", "store", None, "A store was created.");

    #[test]
    fn a_mail_follows_from_an_event_as_one_that_sorts_and_is_dated_as_that() {
        let key = SealKey::generate();
        let event = |millis: i64| {
            let subject = EventSubject { store: None, app: None, entity: "x", version: 1 };
            Event::new(&OPENED, subject, &Opened {}, Timestamp::from_millis(millis))
        };
        let mail = |event: &Event| Mail::of_event(event, &key, &content()).unwrap();
        let events: Vec<Event> = (0..64).map(|n| event(1_795_244_400_000 + n)).collect();
        let mails: Vec<Mail> = events.iter().map(mail).collect();
        assert!(mails.iter().map(|mail| &mail.id).is_sorted());
        for (event, first) in events.iter().zip(&mails) {
            assert_eq!((&mail(event).id, first.created_at), (&first.id, event.created_at));
        }
        // Whatever the ids of events end in, mails are spread over the shards of due work.
        let shards: BTreeSet<_> =
            mails.iter().map(|mail| mail.id.as_str().chars().last()).collect();
        assert!(shards.len() > 4, "{shards:?}");
    }

    #[test]
    fn a_mail_is_sent_by_one_worker_until_its_lease_ends() {
        let now = Timestamp::from_millis(0);
        let mail = Mail::compose(&SealKey::generate(), &content(), now).unwrap();
        let MailReadiness::Send(taken) = mail.readiness(now) else { panic!("{mail:?}") };
        assert_eq!((taken.attempts, taken.version), (1, 2));
        assert!(matches!(taken.readiness(now.plus(MINUTE)), MailReadiness::Leave));
        assert!(matches!(taken.readiness(now.plus(LEASE)), MailReadiness::Send(_)));
        assert!(matches!(taken.readiness(now.plus(USEFUL_FOR)), MailReadiness::Expired));
    }

    #[test]
    fn a_failed_attempt_is_repeated_while_the_mail_is_of_use() {
        let now = Timestamp::from_millis(0);
        let mail = Mail::compose(&SealKey::generate(), &content(), now).unwrap();
        let MailReadiness::Send(taken) = mail.readiness(now) else { panic!("{mail:?}") };
        let (again, wait) = taken.after_failure(false, now);
        assert_eq!((again.state, wait), (MailState::Pending, Some(FIRST_WAIT)));
        assert_eq!(again.indexes().len(), 1);
        let (failed, wait) = taken.after_failure(true, now);
        assert_eq!((failed.state, wait), (MailState::Failed, None));
        assert!(failed.indexes().is_empty());
        let late = now.plus(USEFUL_FOR);
        assert_eq!(taken.after_failure(false, late).1, None);
        let withheld = taken.counted().withheld(Code::MailLimit);
        assert_eq!((withheld.version, withheld.withheld_for.as_deref()), (4, Some("mail_limit")));
        assert!(
            withheld.indexes().is_empty()
                && matches!(withheld.readiness(now), MailReadiness::Leave)
        );
    }
}
