//! A customer's change of address: asked for by the owner who is signed in, done once the code
//! that is mailed to the new address comes back.
//!
//! Whoever asks learns nothing of the new address: for one that has an account at the store the
//! answer and the work are the same, its owner is told, and no code passes.

use core_types::fields::Email;
use core_types::id::ChallengeId;
use core_types::key;
use core_types::mail::Mail;
use core_types::resource::Resource;
use gateway::app::App;
use primitives::clock::Timestamp;
use table::outbox::Outgoing;
use primitives::problem::{Code, Problem};
use gateway::reply::{Accepted, Json, NoStore};
use gateway::request::Inbound;
use table::Write;
use identity::account::Account;
use identity::authentication::code::{CodeSent, Sending};
use identity::authentication::{Confirmed, PresentedCode, code, confirm};
use identity::challenge::Challenge;
use identity::customer::{AccountView, CUSTOMER_UPDATED, Customer, UniqueCustomerEmail};
use identity::holder::ChallengeSubject;
use identity::notifications;
use identity::password::Guess;
use identity::session::CreatedVia;
use identity::store::Store;
use identity::throttle::{self, Kind};
use platform::caller;
use sales::order::guest::GuestOrders;
use schemars::JsonSchema;
use serde::Serialize;

use crate::customer::{CustomerSignedIn, begin};

/// A change of address that waits for its code.
#[derive(Debug)]
pub(crate) struct Pending {
    email: Email,
    sending: Sending,
    confirmed: Confirmed,
    asked_at: Timestamp,
}

/// An account whose address is about to change.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AccountWithEmailChange {
    #[serde(flatten)]
    account: AccountView,
    email_change: EmailChange,
}

/// What is told of a change of address that waits for its code.
#[derive(Debug, Serialize, JsonSchema)]
struct EmailChange {
    /// The address to be.
    email: Email,
    #[serde(flatten)]
    sent: CodeSent,
}

/// Mails a code to another address. It takes the current password, or a code to the present address
/// where there is none: a stolen token must not be enough. Counted by account, so that nobody has
/// mails sent to one address after the other; and under a kind of its own, which remembers no
/// challenge, so that the code does not sign in whoever knows nothing but the address.
///
/// # Errors
/// `owner_unverified`; 422 without the password or the code; `invalid_credentials`, `invalid_or_expired_code`;
/// `too_many_attempts`.
pub(crate) async fn request(
    app: &App,
    caller: &caller::Customer,
    email: Email,
    proof: (Option<&Guess>, Option<&PresentedCode>),
    inbound: &Inbound,
) -> Result<Pending, Problem> {
    let account = &caller.account;
    caller.store.ensure_owner_proven(app).await?;
    let needed_to = "Needed to change the e-mail address.";
    let confirmed = confirm(app, account, proof, needed_to, inbound).await?;
    let asked_at = app.clock.now();
    let id = ChallengeId::mint(asked_at);
    let claim_key = Customer::claim_key(&account.store_id, &email.normalized());
    let counted = account.attempted(Kind::Move, inbound);
    let (throttle, mut batch) = throttle::attempt(app, &counted, None, &[&claim_key]).await?;
    let taken: Option<UniqueCustomerEmail> = batch.take(&claim_key)?;
    let holder = ChallengeSubject::EmailChange {
        store_id: account.store_id.clone(),
        customer_id: account.id.clone(),
        email: email.clone(),
        password_generation: account.password_generation,
    };
    let shop = &caller.store.subdomain;
    let content = |code: &str| match taken {
        None => Some(notifications::customer::moves(&email, shop, code)),
        Some(_) => Some(notifications::customer::stays(&email, shop)),
    };
    let bound = (taken.is_none().then_some(holder), Some(account));
    let sending = Sending::new(app, id, bound, (&counted, &throttle), content).await?;
    Ok(Pending { email, sending, confirmed, asked_at })
}

impl Pending {
    /// What is told of it: the account as it is, and what waits.
    pub(crate) fn answer(&self, account: &Customer) -> Accepted<AccountWithEmailChange> {
        let email_change = EmailChange { email: self.email.clone(), sent: self.sending.sent() };
        let account_with = AccountWithEmailChange { account: account.into(), email_change };
        Accepted::new(&account_with).version(account.version)
    }
}

impl Outgoing for Pending {
    fn put_into(self, write: Write) -> Write {
        self.confirmed.spend(write.emit(self.sending), self.asked_at)
    }
}

/// Moves the account to the address that the right code has proven, and signs in. One transaction:
/// the code is used up, one address is claimed and the other released, the former one is told. What
/// came before the proof ends: every session but the one that begins here. The password stays, for
/// who names the challenge is who gave it when they asked.
///
/// # Errors
/// `email_taken`: the address was claimed meanwhile, which its owner may know;
/// `invalid_or_expired_code`, also when the password has changed; `account_disabled`.
pub(crate) async fn finish(
    app: &App,
    challenge: &Challenge,
    holder: &ChallengeSubject,
    inbound: &Inbound,
) -> Result<NoStore<Json<CustomerSignedIn>>, Problem> {
    let ChallengeSubject::EmailChange { email, password_generation, .. } = holder else {
        return Err(Code::InvalidOrExpiredCode.into());
    };
    let former: Customer = code::owner(app, challenge, holder).await?;
    if former.password_generation != *password_generation {
        return Err(Code::InvalidOrExpiredCode.into());
    }
    let now = app.clock.now();
    let account = former.moved(email.clone(), now);
    let notice = notice(app, &former, &account, now).await?;
    let store: Option<Store> = app.table.get(&key::store(&account.store_id)).await?;
    let guests = store.map(|store| GuestOrders::of(&store, &account, now));
    let (session, answer) = begin(&account, CreatedVia::Otp, inbound, now);
    let former_key = key::unique_customer_email(&former.store_id, &former.email.normalized());
    let held = UniqueCustomerEmail::is_held_by(&former);
    let write = code::used(app, challenge, now)
        .create(&UniqueCustomerEmail::of(&account), Code::EmailTaken)
        .delete_if(&former_key, held, Code::VersionConflict)
        .also(guests, |write, guests| write.put(&guests));
    account
        .save(write, Code::VersionConflict)
        .create(&session, Code::VersionConflict)
        .emit(account.event(&CUSTOMER_UPDATED, now))
        .emit(notice)
        .answer(answer, now)
        .await
}

/// The mail that tells the former address.
async fn notice(
    app: &App,
    former: &Customer,
    account: &Customer,
    now: Timestamp,
) -> Result<Mail, Problem> {
    let content = notifications::email_changed(&former.email, &account.email, now)
        .from_store(Some(&account.store_id));
    Mail::sealed(app, &content, now).await
}
