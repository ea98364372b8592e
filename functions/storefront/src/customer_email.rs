//! A customer's change of e-mail address: requested with a session, completed with the code that is mailed
//! to the new address.
//!
//! The requester learns nothing about the new address. If it has an account at the store, the response and
//! the work are the same, its owner is notified, and no code passes.

use core_types::fields::Email;
use core_types::id::ChallengeId;
use core_types::key;
use core_types::mail::Mail;
use core_types::resource::Resource;
use gateway::idempotency::Commit;
use gateway::reply::{Accepted, Json, NoStore};
use gateway::request::Inbound;
use identity::account::Account;
use identity::authentication::code::{CodeSent, Sending};
use identity::authentication::{Confirmed, PresentedCode, code, confirm};
use identity::challenge::Challenge;
use identity::challenge_subject::ChallengeSubject;
use identity::customer::{AccountView, CUSTOMER_UPDATED, Customer, UniqueCustomerEmail};
use identity::notifications::customer as notifications;
use identity::password::Guess;
use identity::session::CreatedVia;
use identity::store::Store;
use identity::throttle::{self, Kind};
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use sales::order::guest::GuestOrders;
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::Write;
use table::outbox::Outgoing;

use crate::customer::{CustomerSignedIn, begin};

/// A requested change of address, to be written.
#[derive(Debug)]
pub(crate) struct Pending {
    email: Email,
    sending: Sending,
    confirmed: Confirmed,
    requested_at: Timestamp,
}

/// An account with a pending change of address.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AccountWithEmailChange {
    #[serde(flatten)]
    account: AccountView,
    email_change: EmailChange,
}

/// A pending change of address.
#[derive(Debug, Serialize, JsonSchema)]
struct EmailChange {
    /// The new address.
    email: Email,
    #[serde(flatten)]
    sent: CodeSent,
}

/// Mails a code to a new address. Requires the current password, or without one a code mailed to the
/// present address: a stolen token must not suffice. Attempts are counted by account, so that nobody can
/// send mails to many addresses. They have a throttle kind of their own, which stores no challenge: the
/// code cannot be redeemed by the address alone.
///
/// # Errors
/// `owner_unverified`; 422 without the password or the code; `invalid_credentials`,
/// `invalid_or_expired_code`; `too_many_attempts`.
pub(crate) async fn request(
    services: &Services,
    caller: &callers::Customer,
    email: Email,
    proof: (Option<&Guess>, Option<&PresentedCode>),
    inbound: &Inbound,
) -> Result<Pending, Problem> {
    let account = &caller.account;
    caller.store.ensure_owner_proven(services).await?;
    let needed_to = "Required to change the e-mail address.";
    let confirmed = confirm(services, account, proof, needed_to, &inbound.client_prefix()).await?;
    let requested_at = services.clock.now();
    let id = ChallengeId::mint(requested_at);
    let claim_key = Customer::claim_key(&account.store_id, &email.normalized());
    let counted = account.attempt_subject(Kind::Move, &inbound.client_prefix());
    let (throttle, mut batch) = throttle::attempt(services, &counted, None, &[&claim_key]).await?;
    let taken: Option<UniqueCustomerEmail> = batch.take(&claim_key)?;
    let challenge_subject = ChallengeSubject::EmailChange {
        store_id: account.store_id.clone(),
        customer_id: account.id.clone(),
        email: email.clone(),
        password_generation: account.password_generation,
    };
    let content = |code: &str| match taken {
        None => Some(notifications::email_change_code(&email, code)),
        Some(_) => Some(notifications::email_in_use(&email)),
    };
    let bound = (taken.is_none().then_some(challenge_subject), Some(account));
    let sending = Sending::new(services, id, bound, (&counted, &throttle), content).await?;
    Ok(Pending { email, sending, confirmed, requested_at })
}

impl Pending {
    /// The response: the unchanged account, and the pending change.
    pub(crate) fn answer(&self, account: &Customer) -> Accepted<AccountWithEmailChange> {
        let email_change = EmailChange { email: self.email.clone(), sent: self.sending.sent() };
        let account_with = AccountWithEmailChange { account: account.into(), email_change };
        Accepted::new(&account_with).version(account.version)
    }
}

impl Outgoing for Pending {
    fn put_into(self, write: Write) -> Write {
        self.confirmed.add_use(write.emit(self.sending), self.requested_at)
    }
}

/// Changes the account's address after its proof by code, and signs in. One transaction uses the code up,
/// claims the new address, releases the former one and notifies it. Every earlier session ends. The
/// password stays: whoever names the challenge gave the password when they requested it.
///
/// # Errors
/// `email_taken`: the address was claimed meanwhile, which its proven owner may learn;
/// `invalid_or_expired_code`, also when the password has changed; `account_disabled`.
pub(crate) async fn finish(
    services: &Services,
    challenge: &Challenge,
    challenge_subject: &ChallengeSubject,
    inbound: &Inbound,
) -> Result<NoStore<Json<CustomerSignedIn>>, Problem> {
    let ChallengeSubject::EmailChange { email, password_generation, .. } = challenge_subject else {
        return Err(Code::InvalidOrExpiredCode.into());
    };
    let former: Customer = code::account_of(services, challenge, challenge_subject).await?;
    if former.password_generation != *password_generation {
        return Err(Code::InvalidOrExpiredCode.into());
    }
    let now = services.clock.now();
    let account = former.moved(email.clone(), now);
    let notice = notice(services, &former, email, now).await?;
    let store: Option<Store> = services.table.get(&key::store(&account.store_id)).await?;
    let guests = store.and_then(|store| GuestOrders::of(&store, &account, now));
    let (session, answer) = begin(&account, CreatedVia::Otp, inbound, now);
    let write = account
        .claim_anew(code::consume(services, challenge, now), &former)
        .when_some(guests, |write, guests| write.put(&guests));
    account
        .save(write, Code::VersionConflict)
        .create(&session, Code::VersionConflict)
        .emit(account.event(&CUSTOMER_UPDATED, now))
        .when_some(notice, Write::emit)
        .answer(answer, now)
        .await
}

/// The notification to the former address.
async fn notice(
    services: &Services,
    former: &Customer,
    email: &Email,
    now: Timestamp,
) -> Result<Option<Mail>, Problem> {
    let Some(address) = &former.email else { return Ok(None) };
    let content = notifications::email_updated(address, email, now);
    let content = content.from_store(Some(&former.store_id));
    Mail::sealed(services, &content, now).await.map(Some)
}
