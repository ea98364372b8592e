//! Sign-up, sign-in by password, sign-out.

use axum::extract::State;
use catalogue::location;
use core_types::fields::{Country, Currency, Email, Locale, PersonName, StoreName, Subdomain};
use core_types::mail::Notice;
use gateway::app::App;
use gateway::caller::Public;
use gateway::idempotency::Commit;
use gateway::idempotency::answering;
use gateway::reply::{Created, Json, NoContent, NoStore};
use gateway::request::{Body, Inbound, Raw, Ruled};
use identity::authentication::{self, SignOutRequest};
use identity::challenge::{self, Purpose};
use identity::merchant::{
    MERCHANT_CREATED, Merchant, MerchantView, Platform, Registration, UniqueEmail,
};
use identity::password::{Guess, NewPassword};
use identity::session::{CreatedVia, Session};
use identity::store::{NewStore, STORE_CREATED, Store, StoreView, UniqueSubdomain};
use primitives::clock::Timestamp;
use primitives::fields::{Flag, FromText, Text};
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::Write;
use table::item::Item;

use crate::mfa::{self, Second};
use crate::session::{self, SignedIn};

/// A new account, with an optional first store.
#[request]
#[derive(Debug)]
pub(crate) struct SignupRequest {
    /// The address of the account.
    email: Email,
    /// 8 to 128 characters, and not a common one.
    password: NewPassword,
    /// The person's name.
    name: Option<PersonName>,
    /// The language of mails, and the default one of the store.
    locale: Option<Locale>,
    /// The name of a first store; with `subdomain`.
    store_name: Option<StoreName>,
    /// The subdomain of the first store; with `store_name`.
    subdomain: Option<Subdomain>,
    /// The currency of the first store; `USD` unless given (our choice).
    currency: Option<Currency>,
    /// The country of the first store; `US` unless given (our choice).
    country: Option<Country>,
    /// Whether also to set the session cookie.
    cookie: Flag,
}

impl SignupRequest {
    /// The first store, if its name and its subdomain are given.
    fn first_store(&self) -> Result<Option<NewStore>, Problem> {
        // The rules reject one without the other.
        let (Some(name), Some(subdomain)) = (&self.store_name, &self.subdomain) else {
            return Ok(None);
        };
        Ok(Some(NewStore {
            name: name.clone().into(),
            subdomain: subdomain.clone(),
            currency: given_or(self.currency.clone(), "USD")?,
            country: given_or(self.country.clone(), "US")?,
            region: None,
            locale: self.locale.clone(),
            timezone: None,
        }))
    }
}

impl Rules for SignupRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        let of_store = ["store_name", "subdomain", "currency", "country"];
        if !of_store.into_iter().any(|name| given.has(name)) {
            return Vec::new();
        }
        let absent = ["store_name", "subdomain"].into_iter().filter(|name| !given.has(name));
        let detail = "Required to create the first store, with `store_name` and `subdomain`.";
        absent.map(|name| FieldError::new(format!("/{name}"), "required", detail)).collect()
    }
}

fn given_or<T: FromText>(given: Option<T>, otherwise: &str) -> Result<T, Problem> {
    match given {
        Some(given) => Ok(given),
        None => T::from_text(otherwise).map_err(|violation| Problem::internal(violation.detail)),
    }
}

/// `POST /v1/auth/signup` (`signUp`): Sign up a merchant.
///
/// Creates an account with a session, and optionally its first store.
///
/// All are written in one transaction (docs/data-model.md §10).
///
/// # Errors
/// `email_taken`, `subdomain_taken`.
pub(crate) async fn signup(
    _: Public,
    State(app): State<App>,
    Raw(inbound): Raw,
    Ruled(Body(input)): Ruled<Body<SignupRequest>>,
) -> Result<NoStore<Created<SignedIn>>, Problem> {
    let first_store = input.first_store()?;
    let password_hash = input.password.hash().await?;
    let now = app.clock.now();
    let registration = Registration {
        email: input.email,
        password_hash,
        name: input.name.map(String::from),
        locale: input.locale,
    };
    let mut account = Merchant::register(registration, now);
    let store = first_store.map(|new| Store::create(&account.id, new, now));
    account.stores = u64::from(store.is_some());
    account.newest_store_id = store.as_ref().map(|store| store.id.clone());
    let (session, token) = begin(&account, CreatedVia::Signup, &inbound, now);
    let view = MerchantView::of(&account, &app.config);
    // The dispatcher creates the link and its mail, so that the response does not wait for them.
    let created = account.event(&MERCHANT_CREATED, &app.config, now);
    let created = created.with_mail(Notice::ConfirmAddress);
    let opened = store.as_ref().map(|store| StoreView::of(store, &app.config.base_url));
    let body = SignedIn::new(view, &session, &token, opened, now);
    let answer = session::signed_in(&body, input.cookie.0);
    app.table
        .write()
        .put_if(&UniqueEmail::of(&account), UniqueEmail::is_free(now), Code::EmailTaken)
        .create(&account, Code::VersionConflict)
        .create(&session, Code::VersionConflict)
        .emit(created)
        .when_some(store, |write, store| {
            let free = UniqueSubdomain::is_free_for(&store.id, now);
            let write = write
                .put_if(&UniqueSubdomain::of(&store), free, Code::SubdomainTaken)
                .create(&store, Code::VersionConflict);
            let opened = store.event(&STORE_CREATED, &app.config.base_url, now);
            location::with_new_store(write, &store, now).emit(opened)
        })
        .answer(answer, now)
        .await
}

/// Begins a session for this request, and returns it with its token.
pub(crate) fn begin(
    account: &Merchant,
    via: CreatedVia,
    inbound: &Inbound,
    now: Timestamp,
) -> (Session, String) {
    Session::begin(account, via, inbound.client_prefix(), inbound.header("user-agent"), now)
}

/// A sign-in.
#[request]
#[derive(Debug)]
pub(crate) struct SigninRequest {
    /// The address of the account.
    email: Option<Email>,
    /// The password.
    password: Option<Guess>,
    /// Instead of both: the token of a `mfa_required` problem.
    mfa_token: Option<Text<1, 200>>,
    /// A code of the authenticator app or a recovery code, if the account has a second factor. Any text is
    /// accepted and validated.
    totp: Option<Text<1, 100>>,
    /// Whether also to set the session cookie.
    cookie: Flag,
}

/// The credentials of a sign-in.
enum First<'a> {
    /// The first factor: address and password.
    Password(&'a Email, &'a Guess),
    /// A token of the first factor, and a code of the second one.
    Token(&'a str, &'a Text<1, 100>),
}

impl SigninRequest {
    /// Returns the given credentials: exactly one kind of them.
    fn first(&self) -> Result<First<'_>, Problem> {
        let violation =
            |pointer: &str, code, detail: &'static str| FieldError::new(pointer, code, detail);
        let required = |pointer| violation(pointer, "required", "This field is required.");
        let given = [("/email", self.email.is_some()), ("/password", self.password.is_some())];
        let errors: Vec<FieldError> = match (&self.email, &self.password, &self.mfa_token) {
            (Some(email), Some(password), None) => return Ok(First::Password(email, password)),
            (None, None, Some(token)) => match &self.totp {
                Some(totp) => return Ok(First::Token(token.as_str(), totp)),
                None => vec![required("/totp")],
            },
            (_, _, None) => {
                let absent = given.into_iter().filter(|(_, given)| !given);
                absent.map(|(pointer, _)| required(pointer)).collect()
            }
            (_, _, Some(_)) => {
                let detail = "Cannot be given with `mfa_token`.";
                let extra = given.into_iter().filter(|(_, given)| *given);
                extra.map(|(pointer, _)| violation(pointer, "not_with_token", detail)).collect()
            }
        };
        Err(Problem::invalid(errors))
    }
}

/// `POST /v1/auth/signin` (`signIn`): Sign in with a password.
///
/// Begins a session. An account with a second factor also requires its code, in this request or in a later
/// one with the token of `mfa_required`.
///
/// # Errors
/// `invalid_credentials`, the same for an unknown address; `account_disabled` and `mfa_required`, only
/// with the right password; `invalid_or_expired_code`, `invalid_or_expired_token`;
/// `too_many_attempts`.
pub(crate) async fn signin(
    _: Public,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(input): Body<SigninRequest>,
) -> Result<NoStore<Json<SignedIn>>, Problem> {
    let begun = app.table.write();
    let (account, write, totp) = match input.first()? {
        First::Password(email, password) => {
            let at = (&Platform, email);
            let (account, subject): (Merchant, _) =
                authentication::by_password(&app, at, password, &inbound.client_prefix()).await?;
            (account, begun.delete(&subject.key()), input.totp.as_ref())
        }
        First::Token(token, totp) => {
            let (link, account) =
                authentication::follow::<Merchant>(&app, Purpose::Mfa, token).await?;
            let used = challenge::use_up(app.clock.now());
            let write = begun.update(&link.key(), used, Code::InvalidOrExpiredToken);
            (account, write, Some(totp))
        }
    };
    let second = mfa::second(&app, &account, totp, &inbound).await?;
    let by = (CreatedVia::Password, second);
    finish(&app, &account, write, by, &inbound, input.cookie.0).await
}

/// Completes a sign-in after the right first factor: with a session, or by requiring the second factor.
/// `write` uses up the first factor.
pub(crate) async fn finish(
    services: &Services,
    account: &Merchant,
    write: Write,
    (via, second): (CreatedVia, Second),
    inbound: &Inbound,
    cookie: bool,
) -> Result<NoStore<Json<SignedIn>>, Problem> {
    let now = services.clock.now();
    let (write, via) = match second {
        Second::NotNeeded => (write, via),
        Second::Right(proof) => (proof.add_use(write), CreatedVia::Mfa),
        Second::Missing => return Err(mfa::begin_second_step(write, account, now).await),
    };
    let (session, token) = begin(account, via, inbound, now);
    let view = MerchantView::of(account, &services.config);
    let body = SignedIn::new(view, &session, &token, None, now);
    write
        .create(&session, Code::VersionConflict)
        .answer(session::signed_in(&body, cookie), now)
        .await
}

/// `POST /v1/auth/signout` (`signOut`): Sign out.
///
/// Ends the session, and with it the embedded tokens bound to it.
///
/// With `all`, every session of the account ends.
pub(crate) async fn signout(
    caller: callers::Merchant,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(input): Body<SignOutRequest>,
) -> Result<NoContent, Problem> {
    let completion = answering(|(): &()| session::without_cookie(NoContent::default(), &inbound));
    let session = (&caller.account, &caller.session);
    authentication::sign_out(&app, session, &input, &completion).await
}
