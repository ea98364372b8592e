//! Passwords: reset by mail, update by link or by session.

use std::sync::Arc;

use axum::extract::State;
use commerce::caller;
use commerce::challenge::{self, Holder, Link, Purpose};
use commerce::event::{About, Event, MERCHANT_PASSWORD_UPDATED};
use commerce::fields::Email;
use commerce::key;
use commerce::mail::{Letter, Mail};
use commerce::merchant::{Merchant, MerchantStatus, MerchantView};
pub(crate) use commerce::password::{Guess, NewPassword};
use commerce::session::Session;
use commerce::throttle::{self, Kind, Subject};
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

use crate::signin::find;

/// The most sessions that are looked at to say how many ended.
const COUNTED_SESSIONS: usize = 1_000;

/// Judges a signed-in merchant's current password, counted like a sign-in: a stolen session must
/// not be a way to guess it.
///
/// # Errors
/// `invalid_credentials`, `too_many_attempts`.
pub(crate) async fn confirm(
    app: &App,
    account: &Merchant,
    guess: &Guess,
    inbound: &Inbound,
) -> Result<Subject, Problem> {
    let subject = Subject::new(Kind::SignIn, &account.email, &inbound.client_prefix());
    throttle::attempt(app, &subject, None, &[]).await?;
    if guess.matches(Some(&account.password_hash)).await {
        Ok(subject)
    } else {
        Err(Code::InvalidCredentials.detail("The current password is wrong."))
    }
}

/// `POST /v1/auth/password/reset`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct ResetRequest {
    /// The address of the account; the link is mailed there.
    email: Email,
}

/// `POST /v1/auth/password/reset` — mails a link that sets a new password. The answer and the
/// work are the same for an address without an account: a link is written that leads nowhere.
///
/// # Errors
/// `too_many_attempts`.
pub(crate) async fn reset(
    _: Public,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(ask): Body<ResetRequest>,
) -> Result<Answer, Problem> {
    let (_, _, account) = find(&app, Kind::Reset, &ask.email, &inbound, None).await?;
    let account = account.filter(|account| account.status == MerchantStatus::Active);
    send_link(&app, Purpose::Reset, account.as_ref()).await
}

/// Mails a link to the account, if there is one, and answers the same if there is none.
pub(crate) async fn send_link(
    app: &App,
    purpose: Purpose,
    account: Option<&Merchant>,
) -> Result<Answer, Problem> {
    let keys = app.secrets.keys().await?;
    let now = app.clock.now();
    let (link, token) = Link::begin(purpose, account, now);
    let mail = account.map(|account| {
        let letter = match purpose {
            Purpose::Reset => Letter::password_reset,
            Purpose::Verify => Letter::verify_email,
        };
        Mail::compose(&keys.seal, &letter(&account.email, &token, &app.config.base_url), now)
    });
    let answer = Answer::accepted(&json!({"expires_in": purpose.lifetime().as_secs()}));
    app.table
        .write()
        .create(&link, Code::VersionConflict)
        .also(mail.transpose()?, Write::emit)
        .answer(answer, now)
        .await
}

/// Who may change a password: whoever has a token from a mail, or a signed-in merchant.
#[derive(Debug, Clone)]
pub(crate) enum Changer {
    /// Somebody with a token, which the handler judges.
    Link(Public),
    /// A merchant with a session.
    Session(Box<caller::Merchant>),
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
        let merchant = caller::Merchant::authenticate(app, inbound).await?;
        Ok(Self::Session(Box::new(merchant)))
    }

    fn identity(&self) -> Identity {
        match self {
            Self::Link(public) => public.identity(),
            Self::Session(merchant) => merchant.identity(),
        }
    }
}

/// `POST /v1/auth/password/update`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct UpdateRequest {
    /// The token of a reset mail; without a session.
    #[deserr(default)]
    token: Option<Text<1, 200>>,
    /// The current password; with a session.
    #[deserr(default)]
    current_password: Option<Guess>,
    /// 8 to 128 characters, and not a common one.
    new_password: NewPassword,
    /// Whether the account's other sessions end; they do unless this is `false`. A reset always
    /// ends them.
    #[deserr(default)]
    revoke_other_sessions: Option<Flag>,
}

/// `POST /v1/auth/password/update` — a new password, by reset token or by session.
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
        Changer::Session(merchant) => by_session(&app, &inbound, &ask, *merchant).await,
    }
}

/// Token → used, password, credential generation + 1: one transaction. It also proves the
/// address, and lets the owner sign in without waiting out other people's guesses.
async fn by_link(app: &App, inbound: &Inbound, ask: &UpdateRequest) -> Result<Answer, Problem> {
    let token = token_alone(ask)?;
    let refused = Code::InvalidOrExpiredToken;
    let link: Option<Link> = app.table.get(&key::link(&seal::digest(token))).await?;
    let link = link.ok_or(refused)?;
    let owner = link.leads_to(Purpose::Reset, app.clock.now()).and_then(Holder::merchant);
    let owner = owner.ok_or(refused)?;
    let account: Option<Merchant> = app.table.get(&key::merchant(owner)).await?;
    let account = account.filter(|account| link.fits(account)).ok_or(refused)?;
    let hash = ask.new_password.hash().await?;
    let now = app.clock.now();
    let ended = live_sessions(app, &account, now).await?.len();
    let next = Merchant { email_verified: true, ..account.with_password(hash, now) };
    let subject = Subject::new(Kind::SignIn, &account.email, &inbound.client_prefix());
    let write = app.table.write().update(&link.key(), challenge::use_up(now), refused);
    let write = next.save(write, Code::VersionConflict).delete(&subject.key());
    announced(app, write, &next, now).await?.answer(updated(ended), now).await
}

/// The token, if it is all that authorizes the request.
fn token_alone(ask: &UpdateRequest) -> Result<&str, Problem> {
    let given = [
        ("/current_password", ask.current_password.is_some()),
        ("/revoke_other_sessions", ask.revoke_other_sessions.is_some()),
    ];
    let mut errors: Vec<FieldError> = given
        .into_iter()
        .filter(|(_, given)| *given)
        .map(|(pointer, _)| {
            let fault = Fault::new("not_with_token", "Cannot be given with `token`.");
            FieldError { pointer: pointer.to_owned(), fault }
        })
        .collect();
    match &ask.token {
        Some(token) if errors.is_empty() => Ok(token.as_str()),
        Some(_) => Err(Problem::invalid(errors)),
        None => {
            let fault = Fault::new("required", "This field is required.");
            errors.push(FieldError { pointer: "/token".to_owned(), fault });
            Err(Problem::invalid(errors))
        }
    }
}

/// The current session outlives the change: it is moved to the new credential generation in the
/// same transaction. With `revoke_other_sessions: false` the generation stays, and all live on.
async fn by_session(
    app: &App,
    inbound: &Inbound,
    ask: &UpdateRequest,
    caller: caller::Merchant,
) -> Result<Answer, Problem> {
    let guess = ask.current_password.as_ref().ok_or_else(|| {
        Problem::field("/current_password", "required", "This field is required.")
    })?;
    let subject = confirm(app, &caller.account, guess, inbound).await?;
    let hash = ask.new_password.hash().await?;
    let now = app.clock.now();
    let revoke = ask.revoke_other_sessions.is_none_or(|flag| flag.0);
    let account = &caller.account;
    let next = if revoke {
        account.with_password(hash, now)
    } else {
        account.with_password_alone(hash, now)
    };
    let mut ended = if revoke { live_sessions(app, account, now).await? } else { Vec::new() };
    ended.retain(|session| session.id != caller.session.id);
    let write = next
        .save(app.table.write(), Code::VersionConflict)
        .update(&caller.session.key(), moved_to(&next), Code::Unauthenticated)
        .delete(&subject.key());
    announced(app, write, &next, now).await?.answer(updated(ended.len()), now).await
}

/// Moves a session to the account's credential generation. In place, because a session's use is
/// recorded behind its reader's back.
fn moved_to(account: &Merchant) -> Change {
    Change::new("SET credential_generation = :generation, #version = #version + :one")
        .only_if("attribute_exists(PK)")
        .name("#version", "version")
        .value(":generation", account.credential_generation)
        .value(":one", 1)
}

/// Adds what tells of a new password: the event, and a mail to the owner.
async fn announced(
    app: &App,
    write: Write,
    account: &Merchant,
    now: Timestamp,
) -> Result<Write, Problem> {
    let keys = app.secrets.keys().await?;
    let letter = Letter::password_changed(&account.email, now);
    let entity = account.id.as_str();
    let about = About { store: None, app: None, entity, version: account.version };
    let view = MerchantView::of(account, &app.config);
    let event = Event::new(&MERCHANT_PASSWORD_UPDATED, about, &view, now);
    Ok(write.emit(event).emit(Mail::compose(&keys.seal, &letter, now)?))
}

fn updated(sessions_revoked: usize) -> Answer {
    Answer::ok(&json!({"updated": true, "sessions_revoked": sessions_revoked}))
}

async fn live_sessions(
    app: &App,
    account: &Merchant,
    now: Timestamp,
) -> Result<Vec<Session>, Problem> {
    let query = Query::partition(account.key().pk).begins_with(key::SESSIONS).newest_first();
    let mut sessions: Vec<Session> = app.table.all(&query, COUNTED_SESSIONS).await?;
    sessions.retain(|session| session.is_alive(account, now));
    Ok(sessions)
}
