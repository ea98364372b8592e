//! A customer's account: made, signed in to, looked at, given up.
//!
//! What a stranger can ask about an e-mail address costs the same work and gets the same answer
//! whether it has an account or not, registering included: an account comes into being when the
//! code that was mailed comes back ([`otp`](crate::customer_otp)).

use axum::extract::State;
use commerce::caller;
use commerce::customer::{
    self, AccountView, Customer, CustomerDeleted, CustomerSession, CustomerStatus, CustomerView,
    UniqueCustomerEmail,
};
use commerce::event::{CUSTOMER_DELETED, CUSTOMER_UPDATED, Event};
use commerce::fields::{Email, Phone};
use commerce::id::{ChallengeId, CustomerId, OrderId};
use commerce::key;
use commerce::mail::{Letter, Mail};
use commerce::order::shopper::ShopperOrderView;
use commerce::order::{Order, OrderStatus};
use commerce::password::Guess;
use commerce::session::CreatedVia;
use commerce::store::Store;
use commerce::throttle::{self, Kind, Subject, Throttle};
use deserr::Deserr;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::Item;
use gateway::page::Paging;
use gateway::problem::{Code, Problem};
use gateway::request::{Body, FieldErrors, Flag, IfMatch, Inbound, Patch, Path, Raw, Text};
use gateway::table::{Condition, Query, Write, retry};
use http::StatusCode;
use serde::Serialize;

use crate::door::{Door, Said};

/// Items of a customer that are looked at together when they leave.
const AT_ONCE: usize = 1_000;
/// How often, so that what takes for ever ends anyway.
const ROUNDS: u32 = 10;
/// Actions of one transaction.
const TOGETHER: usize = 100;

/// What a sign-in answers with.
#[derive(Debug, Serialize)]
pub(crate) struct SignedIn {
    /// The account.
    customer: AccountView,
    /// The token, which is shown this once.
    access_token: String,
    token_type: &'static str,
    /// Seconds until it ends.
    expires_in: i64,
    expires_at: Timestamp,
}

/// A session that begins with this request, and the answer that hands out its token.
pub(crate) fn begin(
    status: StatusCode,
    account: &Customer,
    via: CreatedVia,
    inbound: &Inbound,
    now: Timestamp,
) -> (CustomerSession, Answer) {
    let (session, token) = CustomerSession::begin(account, via, inbound.client_prefix(), now);
    let body = SignedIn {
        customer: account.into(),
        access_token: token,
        token_type: "Bearer",
        expires_in: now.seconds_until(session.expires_at),
        expires_at: session.expires_at,
    };
    (session, Answer::json(status, &body).no_store())
}

/// Counts an attempt of this kind, and finds the account of the address on the store. An unknown
/// address takes the same round trips.
pub(crate) async fn find(
    app: &App,
    kind: Kind,
    (store, email): (&Store, &Email),
    inbound: &Inbound,
    challenge: Option<&ChallengeId>,
) -> Result<(Subject, Throttle, Option<Customer>), Problem> {
    let subject = Subject::on_store(kind, &store.id, email, &inbound.client_prefix());
    let normalized = email.normalized();
    let email_key = key::unique_customer_email(&store.id, &normalized);
    let (throttle, mut batch) = throttle::attempt(app, &subject, challenge, &[&email_key]).await?;
    let claim: Option<UniqueCustomerEmail> = batch.take(&email_key)?;
    // A derived id is nobody's: accounts have minted ones.
    let nobody = || CustomerId::derive(&["nobody", &normalized]);
    let id = claim.map_or_else(nobody, |claim| claim.customer_id);
    let account: Option<Customer> = app.table.get(&key::customer(&store.id, &id)).await?;
    Ok((subject, throttle, account))
}

/// # Errors
/// `account_disabled`: asked only of who has proven to be its owner.
pub(crate) fn admit(account: Customer) -> Result<Customer, Problem> {
    match account.status {
        CustomerStatus::Active => Ok(account),
        CustomerStatus::Disabled => Err(Code::AccountDisabled.into()),
    }
}

/// `POST /v1/storefront/customer/login`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct LoginRequest {
    /// The address of the account.
    email: Email,
    /// The password.
    password: Guess,
}

/// `POST /v1/storefront/customer/login` — a token for the right password, bound to the store.
///
/// # Errors
/// `store_required`, `store_not_found`; `invalid_credentials`, the same for an unknown address;
/// `account_disabled`, only with the right password; `too_many_attempts`.
pub(crate) async fn login(
    door: Door,
    State(app): State<App>,
    Raw(inbound): Raw,
    Said(ask): Said<LoginRequest>,
) -> Result<Answer, Problem> {
    let at = (&door.store, &ask.email);
    let (subject, _, account) = find(&app, Kind::SignIn, at, &inbound, None).await?;
    let hash = account.as_ref().and_then(|account| account.password_hash.as_deref());
    let right = ask.password.matches(hash).await;
    let account = account.filter(|_| right).ok_or(Code::InvalidCredentials)?;
    let account = admit(account)?;
    let now = app.clock.now();
    let (session, answer) = begin(StatusCode::OK, &account, CreatedVia::Password, &inbound, now);
    app.table
        .write()
        .create(&session, Code::VersionConflict)
        .delete(&subject.key())
        .answer(answer, now)
        .await
}

/// `POST /v1/storefront/customer/logout`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct LogoutRequest {
    /// Whether to end every session of the account.
    #[deserr(default)]
    all: Flag,
}

/// `POST /v1/storefront/customer/logout` — ends the session; with `all`, every one, by raising
/// the credential generation.
pub(crate) async fn logout(
    caller: caller::Customer,
    State(app): State<App>,
    Body(ask): Body<LogoutRequest>,
) -> Result<Answer, Problem> {
    let session_key = caller.session.key();
    if !ask.all.0 {
        let write = app.table.write().delete(&session_key);
        return write.answer(Answer::no_content(), app.clock.now()).await;
    }
    retry(|| async {
        let now = app.clock.now();
        let account: Option<Customer> = app.table.get(&caller.account.key()).await?;
        let account = account.ok_or(Code::Unauthenticated)?.with_sessions_ended(now);
        customer::replace(app.table.write(), &account, Code::VersionConflict)
            .delete(&session_key)
            .answer(Answer::no_content(), now)
            .await
    })
    .await
}

fn shown(account: &Customer) -> Answer {
    Answer::ok(&AccountView::from(account)).version(account.version)
}

/// `GET /v1/storefront/customer/me` — the account.
pub(crate) async fn get(caller: caller::Customer) -> Result<Answer, Problem> {
    Ok(shown(&caller.account))
}

/// `PATCH /v1/storefront/customer/me`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct UpdateRequest {
    /// The person's name; `null` clears it.
    #[deserr(default)]
    name: Patch<Text<1, 200>>,
    /// The person's telephone number; `null` clears it.
    #[deserr(default)]
    phone: Patch<Phone>,
    /// Whether the store may send advertisements.
    #[deserr(default)]
    accepts_marketing: Option<Flag>,
}

/// `PATCH /v1/storefront/customer/me` — changes the account.
pub(crate) async fn update(
    caller: caller::Customer,
    State(app): State<App>,
    if_match: IfMatch,
    Body(ask): Body<UpdateRequest>,
) -> Result<Answer, Problem> {
    let account = caller.account;
    if_match.check(account.version)?;
    let now = app.clock.now();
    let mut next = account.changed(now);
    ask.name.apply(&mut next.name);
    ask.phone.apply(&mut next.phone);
    if let Some(accepts) = ask.accepts_marketing {
        next.accepts_marketing = accepts.0;
    }
    let fields = |account: &Customer| {
        (account.name.clone(), account.phone.clone(), account.accepts_marketing)
    };
    if fields(&next) == fields(&account) {
        return Ok(shown(&account));
    }
    let event = Event::new(&CUSTOMER_UPDATED, next.about(), &CustomerView::from(&next), now);
    customer::replace(app.table.write(), &next, Code::VersionConflict)
        .emit(event)
        .answer(shown(&next), now)
        .await
}

/// `DELETE /v1/storefront/customer/me`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct DeleteRequest {
    /// The current password, if the account has one (our choice: a stolen token must not be
    /// enough).
    #[deserr(default)]
    current_password: Option<Guess>,
}

/// `DELETE /v1/storefront/customer/me` — removes the account with its addresses, wishlist and
/// sessions, at once (our choice). Orders stay, as the store must keep them; reviews stay under
/// the first name they show.
///
/// **What a crash leaves behind.** Before the account itself is removed: an account with fewer
/// addresses and wishes, to be deleted again. After it: items that nobody can reach.
///
/// # Errors
/// `invalid_credentials`, `too_many_attempts`.
pub(crate) async fn delete(
    caller: caller::Customer,
    State(app): State<App>,
    Raw(inbound): Raw,
    if_match: IfMatch,
    Body(ask): Body<DeleteRequest>,
) -> Result<Answer, Problem> {
    let account = &caller.account;
    if_match.check(account.version)?;
    let subject = match (&account.password_hash, &ask.current_password) {
        (None, _) => None,
        (Some(_), None) => {
            let detail = "Needed to delete the account.";
            return Err(Problem::field("/current_password", "required", detail));
        }
        (Some(_), Some(guess)) => Some(confirm(&app, account, guess, &inbound).await?),
    };
    let keys = app.secrets.keys().await?;
    // The session stays until the account goes: whoever is refused below can try again.
    erase_belongings(&app, account, key::SESSIONS).await?;
    let now = app.clock.now();
    let letter = Letter::customer_deleted(&account.email, &caller.store.subdomain, now);
    let gone = CustomerDeleted { id: account.id.clone(), deleted_at: now };
    let email_key = key::unique_customer_email(&account.store_id, &account.email.normalized());
    let held = UniqueCustomerEmail::is_held_by(account);
    let is_there = Condition::new("attribute_exists(PK)");
    let answer = app
        .table
        .write()
        .delete_if(&account.key(), is_there, Code::Unauthenticated)
        .delete_if(&email_key, held, Code::VersionConflict)
        .also(subject, |write, subject| write.delete(&subject.key()))
        .emit(Event::new(&CUSTOMER_DELETED, account.about(), &gone, now))
        .emit(Mail::compose(&keys.seal, &letter, now)?)
        .answer(Answer::accepted(&gone), now)
        .await?;
    // What was added while the rest was removed; nothing can be added any more.
    erase_belongings(&app, account, "").await?;
    Ok(answer)
}

/// Judges a signed-in customer's current password, counted like a sign-in: a stolen token must not
/// be a way to guess it.
///
/// # Errors
/// `invalid_credentials`, `too_many_attempts`.
pub(crate) async fn confirm(
    app: &App,
    account: &Customer,
    guess: &Guess,
    inbound: &Inbound,
) -> Result<Subject, Problem> {
    let network = inbound.client_prefix();
    let subject = Subject::on_store(Kind::SignIn, &account.store_id, &account.email, &network);
    throttle::attempt(app, &subject, None, &[]).await?;
    if guess.matches(account.password_hash.as_deref()).await {
        Ok(subject)
    } else {
        Err(Code::InvalidCredentials.detail("The current password is wrong."))
    }
}

/// Removes everything of a customer's but the account itself and what `kept` begins sort keys.
async fn erase_belongings(app: &App, account: &Customer, kept: &str) -> Result<(), Problem> {
    let own = account.key();
    for _ in 0..ROUNDS {
        let mut keys = app.table.keys(&Query::partition(own.pk.clone()), AT_ONCE).await?;
        let all = keys.len();
        keys.retain(|key| *key != own && (kept.is_empty() || !key.sk.starts_with(kept)));
        for together in keys.chunks(TOGETHER) {
            let write = together.iter().fold(app.table.write(), Write::delete);
            write.commit().await?;
        }
        if all < AT_ONCE {
            break;
        }
    }
    Ok(())
}

/// `GET /v1/storefront/customer/orders` — the customer's orders, newest first; a merchant's drafts
/// are not among them.
pub(crate) async fn orders(
    caller: caller::Customer,
    State(app): State<App>,
    paging: Paging,
) -> Result<Answer, Problem> {
    let account = &caller.account;
    let any = OrderId::derive(&["any"]);
    let (index, place) =
        key::orders_of_customer(&account.store_id, &account.id, account.created_at, &any);
    let query = Query::index(index, place.pk).newest_first();
    let placed = |order: &Order| order.status != OrderStatus::Draft;
    let now = app.clock.now();
    paging.answer(&app, &query, placed, |order| ShopperOrderView::of(&order, now)).await
}

/// `GET /v1/storefront/customer/orders/{id}` — one of the customer's orders.
///
/// # Errors
/// `not_found`, also for somebody else's.
pub(crate) async fn order(
    caller: caller::Customer,
    State(app): State<App>,
    Path(id): Path<OrderId>,
) -> Result<Answer, Problem> {
    let account = &caller.account;
    let order: Option<Order> = app.table.get(&key::order(&account.store_id, &id)).await?;
    let own = |order: &Order| {
        order.customer_id.as_ref() == Some(&account.id) && order.status != OrderStatus::Draft
    };
    let order = order.filter(own).ok_or(Code::NotFound)?;
    let view = ShopperOrderView::of(&order, app.clock.now());
    Ok(Answer::ok(&view).version(order.version))
}
