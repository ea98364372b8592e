//! A customer's password: reset by mail, update by link or by token.

use std::sync::Arc;

use axum::extract::State;
use commerce::caller;
use commerce::challenge::{self, Holder, Link, Purpose};
use commerce::customer::{self, Customer, CustomerSession};
use commerce::fields::Email;
use commerce::key;
use commerce::mail::{Letter, Mail};
use commerce::password::{Guess, NewPassword};
use commerce::throttle::{Kind, Subject};
use deserr::Deserr;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::caller::{Access, Caller, Identity, Public};
use gateway::clock::Timestamp;
use gateway::item::Item;
use gateway::problem::{Code, FieldError, Problem};
use gateway::request::{Body, Fault, FieldErrors, Flag, Inbound, Raw, Text};
use gateway::seal;
use gateway::table::{Change, Query, Write};
use serde_json::json;

use crate::customer::{confirm, find};
use crate::door::{Door, Said};

/// The most sessions that are looked at to say how many ended.
const COUNTED_SESSIONS: usize = 1_000;

/// `POST /v1/storefront/customer/password/reset`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct ResetRequest {
    /// The address of the account; the link is mailed there.
    email: Email,
}

/// `POST /v1/storefront/customer/password/reset` — mails a link that sets a new password. The
/// answer and the work are the same for an address without an account.
///
/// # Errors
/// `store_required`, `store_not_found`, `too_many_attempts`.
pub(crate) async fn reset(
    door: Door,
    State(app): State<App>,
    Raw(inbound): Raw,
    Said(ask): Said<ResetRequest>,
) -> Result<Answer, Problem> {
    let at = (&door.store, &ask.email);
    let (_, _, account) = find(&app, Kind::Reset, at, &inbound, None).await?;
    let account = account.filter(challenge::Account::is_active);
    let keys = app.secrets.keys().await?;
    let now = app.clock.now();
    let (link, token) = Link::begin(Purpose::Reset, account.as_ref(), now);
    let mail = account.map(|account| {
        let (shop, base_url) = (&door.store.subdomain, &app.config.base_url);
        let letter = Letter::customer_reset(&account.email, shop, &token, base_url);
        Mail::compose(&keys.seal, &letter, now)
    });
    let answer = Answer::accepted(&json!({"expires_in": Purpose::Reset.lifetime().as_secs()}));
    app.table
        .write()
        .create(&link, Code::VersionConflict)
        .also(mail.transpose()?, Write::emit)
        .answer(answer, now)
        .await
}

/// Who may change a password: whoever has a token from a mail, or a signed-in customer.
#[derive(Debug, Clone)]
pub(crate) enum Changer {
    /// Somebody with a token from a mail, which the handler judges.
    Link(Public),
    /// A customer with a session.
    Session(Box<caller::Customer>),
}

gateway::caller_argument!(Changer);

impl Caller for Changer {
    fn access() -> Access {
        Access::Public
    }

    async fn authenticate(app: &App, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        // A body that is no JSON is refused as such, whoever sent it.
        let by_link = inbound.json().map_or(true, |body| body.get("token").is_some());
        if by_link {
            return Public::authenticate(app, inbound).await.map(Self::Link);
        }
        let customer = caller::Customer::authenticate(app, inbound).await?;
        Ok(Self::Session(Box::new(customer)))
    }

    fn identity(&self) -> Identity {
        match self {
            Self::Link(public) => public.identity(),
            Self::Session(customer) => customer.identity(),
        }
    }
}

/// `POST /v1/storefront/customer/password/update`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct UpdateRequest {
    /// The token of a reset mail; without a session.
    #[deserr(default)]
    token: Option<Text<1, 200>>,
    /// The current password, if there is one; with a session.
    #[deserr(default)]
    current_password: Option<Guess>,
    /// 8 to 128 characters, and not a common one.
    new_password: NewPassword,
    /// Whether the account's other sessions end; they do unless this is `false`. A reset always
    /// ends them.
    #[deserr(default)]
    revoke_other_sessions: Option<Flag>,
}

/// `POST /v1/storefront/customer/password/update` — a new password, by reset token or by session.
///
/// # Errors
/// `invalid_or_expired_token`; `unauthenticated` with neither; `invalid_credentials`;
/// `too_many_attempts`.
pub(crate) async fn update(
    caller: Changer,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(ask): Body<UpdateRequest>,
) -> Result<Answer, Problem> {
    match caller {
        Changer::Link(_) => by_link(&app, &inbound, &ask).await,
        Changer::Session(customer) => by_session(&app, &inbound, &ask, *customer).await,
    }
}

/// Token → used, password, credential generation + 1: one transaction. It also lets the owner sign
/// in without waiting out other people's guesses.
async fn by_link(app: &App, inbound: &Inbound, ask: &UpdateRequest) -> Result<Answer, Problem> {
    let token = token_alone(ask)?;
    let refused = Code::InvalidOrExpiredToken;
    let link: Option<Link> = app.table.get(&key::link(&seal::digest(token))).await?;
    let link = link.ok_or(refused)?;
    let holder = link.leads_to(Purpose::Reset, app.clock.now()).and_then(Holder::customer);
    let (store, customer) = holder.ok_or(refused)?;
    let account: Option<Customer> = app.table.get(&key::customer(store, customer)).await?;
    let account = account.filter(|account| link.fits(account)).ok_or(refused)?;
    let hash = ask.new_password.hash().await?;
    let now = app.clock.now();
    let ended = live_sessions(app, &account, now).await?.len();
    let next = account.with_password(hash, now);
    let network = inbound.client_prefix();
    let subject = Subject::on_store(Kind::SignIn, &account.store_id, &account.email, &network);
    let write = app.table.write().update(&link.key(), challenge::use_up(now), refused);
    let write = customer::replace(write, &next, Code::VersionConflict).delete(&subject.key());
    announced(app, write, &next, now).await?.answer(updated(ended), now).await
}

/// The token, if it is all that authorizes the request.
fn token_alone(ask: &UpdateRequest) -> Result<&str, Problem> {
    let given = [
        ("/current_password", ask.current_password.is_some()),
        ("/revoke_other_sessions", ask.revoke_other_sessions.is_some()),
    ];
    let fault = |pointer: &str, code, detail: &'static str| FieldError {
        pointer: pointer.to_owned(),
        fault: Fault::new(code, detail),
    };
    let extra = given.into_iter().filter(|(_, given)| *given);
    let mut errors: Vec<FieldError> = extra
        .map(|(pointer, _)| fault(pointer, "not_with_token", "Cannot be given with `token`."))
        .collect();
    match &ask.token {
        Some(token) if errors.is_empty() => return Ok(token.as_str()),
        Some(_) => {}
        None => errors.push(fault("/token", "required", "This field is required.")),
    }
    Err(Problem::invalid(errors))
}

/// The current session outlives the change: it is moved to the new credential generation in the
/// same transaction. With `revoke_other_sessions: false` the generation stays, and all live on.
async fn by_session(
    app: &App,
    inbound: &Inbound,
    ask: &UpdateRequest,
    caller: caller::Customer,
) -> Result<Answer, Problem> {
    let account = &caller.account;
    let subject = match (&account.password_hash, &ask.current_password) {
        (None, _) => None,
        (Some(_), Some(guess)) => Some(confirm(app, account, guess, inbound).await?),
        (Some(_), None) => {
            let detail = "This field is required.";
            return Err(Problem::field("/current_password", "required", detail));
        }
    };
    let hash = ask.new_password.hash().await?;
    let now = app.clock.now();
    let revoke = ask.revoke_other_sessions.is_none_or(|flag| flag.0);
    let next = if revoke {
        account.with_password(hash, now)
    } else {
        account.with_password_alone(hash, now)
    };
    let mut ended = if revoke { live_sessions(app, account, now).await? } else { Vec::new() };
    ended.retain(|session| session.id != caller.session.id);
    let moved = Change::new("SET credential_generation = :generation")
        .only_if("attribute_exists(PK)")
        .value(":generation", next.credential_generation);
    let write = customer::replace(app.table.write(), &next, Code::VersionConflict)
        .update(&caller.session.key(), moved, Code::Unauthenticated)
        .also(subject, |write, subject| write.delete(&subject.key()));
    announced(app, write, &next, now).await?.answer(updated(ended.len()), now).await
}

/// Adds the mail that tells the owner of a new password.
async fn announced(
    app: &App,
    write: Write,
    account: &Customer,
    now: Timestamp,
) -> Result<Write, Problem> {
    let keys = app.secrets.keys().await?;
    let letter = Letter::password_changed(&account.email, now);
    Ok(write.emit(Mail::compose(&keys.seal, &letter, now)?))
}

fn updated(sessions_revoked: usize) -> Answer {
    Answer::ok(&json!({"updated": true, "sessions_revoked": sessions_revoked}))
}

async fn live_sessions(
    app: &App,
    account: &Customer,
    now: Timestamp,
) -> Result<Vec<CustomerSession>, Problem> {
    let query = Query::partition(account.key().pk).begins_with(key::SESSIONS).newest_first();
    let mut sessions: Vec<CustomerSession> = app.table.all(&query, COUNTED_SESSIONS).await?;
    sessions.retain(|session| session.is_alive(account, now));
    Ok(sessions)
}
