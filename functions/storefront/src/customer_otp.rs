//! One-time codes by mail: they prove a new customer's address, and sign in a known one.

use axum::extract::State;
use commerce::challenge::{self, CODE_LIFETIME, Challenge, Holder};
use commerce::customer::{
    Application, Customer, CustomerView, FIRST_GENERATION, UniqueCustomerEmail,
};
use commerce::event::{CUSTOMER_CREATED, Event};
use commerce::fields::{Email, Phone, Subdomain};
use commerce::id::{ChallengeId, StoreId};
use commerce::key;
use commerce::mail::{Letter, Mail};
use commerce::password::NewPassword;
use commerce::session::CreatedVia;
use commerce::store::{Store, StoreStatus};
use commerce::storefront::open_store;
use commerce::throttle::{Kind, Subject, Throttle};
use deserr::Deserr;
use gateway::answer::Answer;
use gateway::app::App;
use gateway::caller::Public;
use gateway::password;
use gateway::problem::{Code, FieldError, Problem};
use gateway::request::{Body, Fault, FieldErrors, Flag, Inbound, Raw, Text};
use gateway::table::{Write, retry};
use http::StatusCode;
use serde_json::json;

use crate::customer::{admit, begin, find};
use crate::door::{Door, Said};

/// `POST /v1/storefront/customer/register`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct RegisterRequest {
    /// The address of the account.
    email: Email,
    /// 8 to 128 characters, and not a common one.
    password: NewPassword,
    /// The person's name.
    #[deserr(default)]
    name: Option<Text<1, 200>>,
    /// The person's telephone number.
    #[deserr(default)]
    phone: Option<Phone>,
    /// Whether the store may send advertisements.
    #[deserr(default)]
    accepts_marketing: Flag,
}

/// `POST /v1/storefront/customer/register` — mails a code that makes the account. Whoever has one
/// already is mailed that, with a code to sign in; the answer and the work are the same, so that
/// nobody learns who shops where.
///
/// # Errors
/// `store_required`, `store_not_found`, `too_many_attempts`.
pub(crate) async fn register(
    door: Door,
    State(app): State<App>,
    Raw(inbound): Raw,
    Said(ask): Said<RegisterRequest>,
) -> Result<Answer, Problem> {
    let id = ChallengeId::mint(app.clock.now());
    let at = (&door.store, &ask.email);
    // Kept under the kind of a sign-in code, so that `email` and `code` can verify it too.
    let (_, throttle, account) = find(&app, Kind::Code, at, &inbound, Some(&id)).await?;
    let application = Application {
        password_hash: ask.password.hash().await?,
        email: ask.email,
        name: ask.name.map(String::from),
        phone: ask.phone,
        accepts_marketing: ask.accepts_marketing.0,
    };
    let letter = match &account {
        None => Letter::customer_welcome,
        Some(_) => Letter::customer_known,
    };
    let to = application.email.clone();
    let store_id = door.store.id.clone();
    let holder = Holder::Applicant { store_id, application: Box::new(application) };
    let letter = |code: &str| Some(letter(&to, &door.store.subdomain, code));
    send_code(&app, id, (Some(holder), account.as_ref()), &throttle, letter).await
}

/// `POST /v1/storefront/customer/login/otp`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct CodeRequest {
    /// The address of the account; the code is mailed there.
    email: Email,
}

/// `POST /v1/storefront/customer/login/otp` — mails a code. For an address without an account the
/// answer and the work are the same: a challenge is written that nothing can pass.
///
/// # Errors
/// `store_required`, `store_not_found`; `too_many_attempts` before `resend_after` has passed.
pub(crate) async fn request(
    door: Door,
    State(app): State<App>,
    Raw(inbound): Raw,
    Said(ask): Said<CodeRequest>,
) -> Result<Answer, Problem> {
    let id = ChallengeId::mint(app.clock.now());
    let at = (&door.store, &ask.email);
    let (_, throttle, account) = find(&app, Kind::Code, at, &inbound, Some(&id)).await?;
    let account = account.filter(challenge::Account::is_active);
    let letter =
        |code: &str| account.as_ref().map(|account| Letter::one_time_code(&account.email, code));
    send_code(&app, id, (account.as_ref().map(Holder::of), account.as_ref()), &throttle, letter)
        .await
}

/// Writes a challenge and the mail with its code, if there is somebody to write to.
async fn send_code(
    app: &App,
    id: ChallengeId,
    (holder, account): (Option<Holder>, Option<&Customer>),
    throttle: &Throttle,
    letter: impl FnOnce(&str) -> Option<Letter>,
) -> Result<Answer, Problem> {
    let keys = app.secrets.keys().await?;
    let code = challenge::six_digits();
    let hash = password::hash_code(&code).await.map_err(Problem::unavailable)?;
    let now = app.clock.now();
    let mail = letter(&code).map(|letter| Mail::compose(&keys.seal, &letter, now));
    let body = json!({
        "challenge_id": id,
        "channel": "email",
        "expires_in": CODE_LIFETIME.as_secs(),
        "resend_after": now.seconds_until(throttle.next_at),
    });
    let challenge = Challenge::begin(id, holder, hash, now).bound_to(account);
    app.table
        .write()
        .create(&challenge, Code::VersionConflict)
        .also(mail.transpose()?, Write::emit)
        .answer(Answer::accepted(&body), now)
        .await
}

/// `POST /v1/storefront/customer/login/otp/verify`
#[derive(Debug, Deserr)]
#[deserr(error = FieldErrors, deny_unknown_fields)]
pub(crate) struct VerifyRequest {
    /// The challenge that the code answers.
    #[deserr(default)]
    challenge_id: Option<Text<1, 100>>,
    /// Instead of the challenge: the address the code was mailed to. Means the newest challenge
    /// that the same network asked for at the store.
    #[deserr(default)]
    email: Option<Email>,
    /// The store; with `email`.
    #[deserr(default)]
    subdomain: Option<Subdomain>,
    /// The store; with `email`.
    #[deserr(default)]
    store_id: Option<StoreId>,
    /// The code. Any text is judged, so that a malformed one costs a try like a wrong one.
    code: Text<1, 100>,
}

/// `POST /v1/storefront/customer/login/otp/verify` — a token for the right code, once; and before
/// it the account, for who has applied for one.
///
/// The try is counted first, by a write of its own (traps 17). Of several right answers at the
/// same moment the one that uses the challenge up begins a session.
///
/// # Errors
/// `invalid_or_expired_code`, for every way to fail; `account_disabled`, only with the right code;
/// `store_required`, with `email` alone.
pub(crate) async fn verify(
    _: Public,
    State(app): State<App>,
    Raw(inbound): Raw,
    Body(ask): Body<VerifyRequest>,
) -> Result<Answer, Problem> {
    let failed = Code::InvalidOrExpiredCode;
    let id = named_challenge(&app, &ask, &inbound).await?.ok_or(failed)?;
    let challenge_key = key::challenge(&id);
    let try_it = Challenge::count_try(app.clock.now());
    app.table.write().update(&challenge_key, try_it, failed).commit().await?;
    let challenge: Challenge = app.table.get(&challenge_key).await?.ok_or(failed)?;
    let right = password::verify_code(ask.code.as_str(), Some(&challenge.code_hash)).await;
    let holder = challenge.holder.clone().filter(|_| right).ok_or(failed)?;
    retry(|| async {
        let now = app.clock.now();
        let used = app.table.write().update(&challenge_key, challenge::use_up(now), failed);
        match &holder {
            Holder::Merchant { .. } => Err(failed.into()),
            Holder::Customer { store_id, customer_id } => {
                let known: Option<Customer> =
                    app.table.get(&key::customer(store_id, customer_id)).await?;
                let known = known.filter(|account| challenge.fits(account));
                sign_in(known.ok_or(failed)?, used, &inbound, &app).await
            }
            Holder::Applicant { store_id, application } => {
                match account_of(&app, store_id, application).await? {
                    None => enroll(store_id, application, used, &inbound, &app).await,
                    Some(known) if opens(&challenge, &known) => {
                        sign_in(known, used, &inbound, &app).await
                    }
                    Some(_) => Err(failed.into()),
                }
            }
        }
    })
    .await
}

/// The account that an applicant has by now.
async fn account_of(
    app: &App,
    store: &StoreId,
    application: &Application,
) -> Result<Option<Customer>, Problem> {
    let email_key = key::unique_customer_email(store, &application.email.normalized());
    let claim: Option<UniqueCustomerEmail> = app.table.get(&email_key).await?;
    let Some(claim) = claim else { return Ok(None) };
    let known = app.table.get(&key::customer(store, &claim.customer_id)).await?;
    // Given up between the two reads: look again.
    known.map(Some).ok_or_else(|| Code::VersionConflict.into())
}

/// Whether an applicant's code opens the account they have by now: one they had already, as any
/// code does; one that another code to the same address has made meanwhile, until something ends
/// every session of it.
fn opens(challenge: &Challenge, account: &Customer) -> bool {
    let made_meanwhile = challenge.email.is_empty();
    challenge.fits(account) || (made_meanwhile && account.credential_generation == FIRST_GENERATION)
}

/// A session of an account that is known.
async fn sign_in(
    account: Customer,
    write: Write,
    inbound: &Inbound,
    app: &App,
) -> Result<Answer, Problem> {
    let account = admit(account)?;
    let now = app.clock.now();
    let network = inbound.client_prefix();
    let subject = Subject::on_store(Kind::Code, &account.store_id, &account.email, &network);
    let (session, answer) = begin(StatusCode::OK, &account, CreatedVia::Otp, inbound, now);
    write.create(&session, Code::VersionConflict).delete(&subject.key()).answer(answer, now).await
}

/// The account that was applied for, and its first session: one transaction.
async fn enroll(
    store: &StoreId,
    application: &Application,
    write: Write,
    inbound: &Inbound,
    app: &App,
) -> Result<Answer, Problem> {
    let store: Option<Store> = app.table.get(&key::store(store)).await?;
    let store = store.filter(|store| store.status != StoreStatus::Deleted);
    let store = store.ok_or(Code::InvalidOrExpiredCode)?;
    let now = app.clock.now();
    let account = Customer::register(&store.id, &store.currency, application.clone(), now);
    let (session, answer) = begin(StatusCode::CREATED, &account, CreatedVia::Signup, inbound, now);
    let network = inbound.client_prefix();
    let subject = Subject::on_store(Kind::Code, &store.id, &account.email, &network);
    let event = Event::new(&CUSTOMER_CREATED, account.about(), &CustomerView::from(&account), now);
    write
        .create(&UniqueCustomerEmail::of(&account), Code::VersionConflict)
        .create(&account, Code::VersionConflict)
        .create(&session, Code::VersionConflict)
        .delete(&subject.key())
        .emit(event)
        .answer(answer, now)
        .await
}

/// The challenge that a request means; `None` when there is none such.
async fn named_challenge(
    app: &App,
    ask: &VerifyRequest,
    inbound: &Inbound,
) -> Result<Option<ChallengeId>, Problem> {
    match (&ask.challenge_id, &ask.email) {
        (Some(id), None) => Ok(ChallengeId::parse(id.as_str())),
        (None, Some(email)) => {
            let store_id = match (&ask.store_id, &ask.subdomain) {
                (Some(id), _) => id.clone(),
                (None, Some(name)) => open_store(app, name.as_str()).await?.store.id.clone(),
                (None, None) => return Err(Code::StoreRequired.into()),
            };
            let network = inbound.client_prefix();
            let subject = Subject::on_store(Kind::Code, &store_id, email, &network);
            let throttle: Option<Throttle> = app.table.get(&subject.key()).await?;
            Ok(throttle.and_then(|throttle| throttle.challenge_id))
        }
        (None, None) | (Some(_), Some(_)) => {
            let fault = Fault::new("required", "Give either `challenge_id` or `email`.");
            let at =
                |pointer: &str| FieldError { pointer: pointer.to_owned(), fault: fault.clone() };
            Err(Problem::invalid(vec![at("/challenge_id"), at("/email")]))
        }
    }
}
