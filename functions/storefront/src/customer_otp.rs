//! One-time codes by mail: they prove the address of a new customer or the new address of a customer, and
//! sign in an existing one.

use axum::extract::State;
use core_types::fields::{Email, PersonName, Phone, Subdomain};
use core_types::id::{ChallengeId, StoreId};
use core_types::key;
use core_types::resource::Resource;
use gateway::app::App;
use gateway::caller::Public;
use gateway::idempotency::Commit;
use gateway::idempotency::answering;
use gateway::reply::{Accepted, Created, Either, Json, NoStore};
use gateway::request::{Body, Inbound, Raw, Ruled};
use identity::account::Account;
use identity::authentication::code::{self, ChallengeSelector, CodeSent, Sending};
use identity::authentication::{self, AccountLookup, MailRequest};
use identity::challenge::Challenge;
use identity::challenge_subject::{Application, ChallengeSubject};
use identity::customer::{
    CUSTOMER_CREATED, CUSTOMER_UPDATED, Customer, FIRST_GENERATION, UniqueCustomerEmail,
};
use identity::notifications;
use identity::password::NewPassword;
use identity::phone;
use identity::session::CreatedVia;
use identity::store::{Store, StoreStatus};
use identity::storefront::open_store;
use identity::throttle::Kind;
use primitives::fields::{Flag, Text};
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use sales::order::guest::GuestOrders;
use services::Services;
use table::retry;

use crate::customer::{CustomerSignedIn, begin};
use crate::customer_email;
use crate::store_in_body::{StoreBody, StoreInBody};

/// A registration.
#[request]
#[derive(Debug)]
pub(crate) struct RegisterCustomerRequest {
    /// The address of the account.
    email: Email,
    /// 8 to 128 characters, and not a common one.
    password: NewPassword,
    /// The person's name.
    name: Option<PersonName>,
    /// The person's telephone number.
    phone: Option<Phone>,
    /// Whether the store may send marketing.
    accepts_marketing: Flag,
}

/// `POST /v1/storefront/customer/register` (`registerCustomer`): Register a customer.
///
/// Mails a code that creates the account.
///
/// An address that has an account already is mailed a notice with a sign-in code. The response and the work
/// are the same, so that nobody learns who has an account.
///
/// # Errors
/// `store_required`, `storefront_not_found`, `owner_unverified`, `too_many_attempts`.
pub(crate) async fn register(
    named: StoreInBody,
    State(app): State<App>,
    Raw(inbound): Raw,
    StoreBody(input): StoreBody<RegisterCustomerRequest>,
) -> Result<Accepted<CodeSent>, Problem> {
    named.store.ensure_owner_proven(&app).await?;
    let id = ChallengeId::mint(app.clock.now());
    let at = (&named.store.id, &input.email);
    // Stored under the kind of a sign-in code, so that `email` and `code` can verify it, too.
    let AccountLookup::<Customer> { subject, throttle, account } =
        authentication::find(&app, Kind::Code, at, &inbound.client_prefix(), Some(&id)).await?;
    let application = Application {
        password_hash: Some(input.password.hash().await?),
        email: input.email,
        name: input.name.map(String::from),
        phone_e164: phone::e164_of(input.phone.as_ref(), &named.store.country),
        phone: input.phone,
        accepts_marketing: input.accepts_marketing.0,
    };
    let content = match &account {
        None => notifications::customer::registration_code,
        Some(_) => notifications::customer::account_exists,
    };
    let to = application.email.clone();
    let store_id = named.store.id.clone();
    let challenge_subject =
        ChallengeSubject::Applicant { store_id, application: Box::new(application) };
    let content = |code: &str| Some(content(&to, code));
    let bound = (Some(challenge_subject), account.as_ref());
    let sending = Sending::new(&app, id, bound, (&subject, &throttle), content).await?;
    sending.send(&app, &answering(Accepted::<CodeSent>::new)).await
}

/// `POST /v1/storefront/customer/login/otp` (`requestCustomerSignInCode`): Request a sign-in code for a customer.
///
/// For an address without an account the response and the work are the same: a challenge is written that no
/// code passes.
///
/// # Errors
/// `store_required`, `storefront_not_found`; `too_many_attempts` before `resend_after` has passed.
pub(crate) async fn request(
    named: StoreInBody,
    State(app): State<App>,
    Raw(inbound): Raw,
    StoreBody(input): StoreBody<MailRequest>,
) -> Result<Accepted<CodeSent>, Problem> {
    let (at, network) = ((&named.store.id, &input.email), inbound.client_prefix());
    let completion = answering(Accepted::<CodeSent>::new);
    code::request::<Customer, _>(&app, at, &network, &completion).await
}

/// A one-time code to verify.
#[request]
#[derive(Debug)]
pub(crate) struct VerifyCustomerCodeRequest {
    /// The challenge that the code answers.
    challenge_id: Option<Text<1, 100>>,
    /// Instead of the challenge: the address that the code was mailed to. It stands for the newest
    /// challenge requested from the same network at the store.
    email: Option<Email>,
    /// The store's subdomain; with `email`.
    subdomain: Option<Subdomain>,
    /// The store's id; with `email`.
    store_id: Option<StoreId>,
    /// The code. Any text is accepted, so that a malformed code counts as an attempt like a wrong one.
    code: Text<1, 100>,
}

impl Rules for VerifyCustomerCodeRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        ChallengeSelector::violations(given)
    }
}

/// A session; with 201 if the account was created with it.
type VerifyReply = Either<NoStore<Json<CustomerSignedIn>>, NoStore<Created<CustomerSignedIn>>>;

/// `POST /v1/storefront/customer/login/otp/verify` (`verifyCustomerCode`): Sign in a customer with a mailed code.
///
/// Begins a session. A code is redeemed once.
///
/// The code of a registration also creates the account; the code of an address change also changes the
/// address.
///
/// A request by `challenge_id` comes from the applicant. A request by `email` alone may come from somebody
/// else in the same network: then the new account has no password until they set one.
///
/// # Errors
/// `invalid_or_expired_code`, for every failure; `account_disabled` and `email_taken`, only
/// with the right code; `store_required` and `storefront_not_found`, with `email` alone;
/// `too_many_attempts`, when the account's ceiling of validated codes is reached.
pub(crate) async fn verify(
    _: Public,
    State(app): State<App>,
    Raw(inbound): Raw,
    Ruled(Body(input)): Ruled<Body<VerifyCustomerCodeRequest>>,
) -> Result<VerifyReply, Problem> {
    let by_address = input.email.is_some();
    let id = match ChallengeSelector::new(input.challenge_id, input.email)? {
        ChallengeSelector::Challenge(id) => id,
        ChallengeSelector::SentTo(email) => {
            let store = match (&input.store_id, &input.subdomain) {
                (Some(id), _) => id.clone(),
                (None, Some(name)) => open_store(&app, name.as_str()).await?.store.id.clone(),
                (None, None) => {
                    return Err(Code::StoreRequired.detail("Send `store_id` or `subdomain`."));
                }
            };
            let network = inbound.client_prefix();
            code::newest(&app, &Customer::attempt_subject_at(Kind::Code, &store, &email, &network))
                .await?
        }
    };
    let (challenge, challenge_subject) = code::validate(&app, id, &input.code).await?;
    retry(|| async {
        match &challenge_subject {
            ChallengeSubject::Merchant { .. } => Err(Code::InvalidOrExpiredCode.into()),
            ChallengeSubject::Customer { .. } => {
                let known = code::account_of(&app, &challenge, &challenge_subject).await?;
                sign_in(known, &challenge, &inbound, &app).await.map(Either::Left)
            }
            ChallengeSubject::EmailChange { .. } => {
                let done =
                    customer_email::finish(&app, &challenge, &challenge_subject, &inbound).await;
                done.map(Either::Left)
            }
            ChallengeSubject::Applicant { store_id, application } => {
                match account_of(&app, store_id, application).await? {
                    None => {
                        let application = application.as_proven(by_address);
                        let done = enroll(store_id, &application, &challenge, &inbound, &app).await;
                        done.map(Either::Right)
                    }
                    Some(known) if opens(&challenge, &known) => {
                        let done = sign_in(known.admit()?, &challenge, &inbound, &app).await;
                        done.map(Either::Left)
                    }
                    Some(_) => Err(Code::InvalidOrExpiredCode.into()),
                }
            }
        }
    })
    .await
}

/// Loads the account that an applicant already has, if any.
async fn account_of(
    services: &Services,
    store: &StoreId,
    application: &Application,
) -> Result<Option<Customer>, Problem> {
    let email_key = key::unique_customer_email(store, &application.email.normalized());
    let claim: Option<UniqueCustomerEmail> = services.table.get(&email_key).await?;
    let Some(claim) = claim else { return Ok(None) };
    let known = services.table.get(&key::customer(store, &claim.customer_id)).await?;
    // Deleted between the two reads: retried.
    known.map(Some).ok_or_else(|| Code::VersionConflict.into())
}

/// Whether an applicant's code signs in to the account that has the address by now. Like any code, it signs
/// in to an account that existed before. An account that another code to the same address has created
/// meanwhile is signed in to until its credential generation changes.
fn opens(challenge: &Challenge, account: &Customer) -> bool {
    let created_meanwhile = challenge.email.is_empty();
    challenge.is_valid_for(account)
        || (created_meanwhile && account.credential_generation == FIRST_GENERATION)
}

/// Signs in to an existing account.
async fn sign_in(
    account: Customer,
    challenge: &Challenge,
    inbound: &Inbound,
    services: &Services,
) -> Result<NoStore<Json<CustomerSignedIn>>, Problem> {
    let now = services.clock.now();
    let (session, answer) = begin(&account, CreatedVia::Otp, inbound, now);
    // The code also proves the address of an account that the store has created.
    let store: Option<Store> = services.table.peek(&key::store(&account.store_id)).await?;
    let guests = match store.and_then(|store| GuestOrders::of(&store, &account, now)) {
        Some(work) => work.if_any(services).await?,
        None => None,
    };
    let proven = account.newly_proven(now);
    code::consume(services, challenge, now)
        .when_some(guests, |write, guests| write.put(&guests))
        .when_some(proven, |write, proven| {
            let event = proven.event(&CUSTOMER_UPDATED, now);
            proven.save(write, Code::VersionConflict).emit(event)
        })
        .create(&session, Code::VersionConflict)
        .delete(&account.attempt_subject(Kind::Code, &inbound.client_prefix()).key())
        .answer(answer, now)
        .await
}

/// Creates the account of an application and its first session in one transaction.
async fn enroll(
    store: &StoreId,
    application: &Application,
    challenge: &Challenge,
    inbound: &Inbound,
    services: &Services,
) -> Result<NoStore<Created<CustomerSignedIn>>, Problem> {
    let store: Option<Store> = services.table.get(&key::store(store)).await?;
    let store = store.filter(|store| store.status != StoreStatus::Deleted);
    let store = store.ok_or(Code::InvalidOrExpiredCode)?;
    let now = services.clock.now();
    let account = Customer::register(&store.id, &store.currency, application.clone(), now);
    let (session, answer) = begin(&account, CreatedVia::Signup, inbound, now);
    account
        .claim_or(code::consume(services, challenge, now), Code::VersionConflict)
        .create(&account, Code::VersionConflict)
        .create(&session, Code::VersionConflict)
        .when_some(GuestOrders::of(&store, &account, now), |write, guests| write.put(&guests))
        .delete(&account.attempt_subject(Kind::Code, &inbound.client_prefix()).key())
        .emit(account.event(&CUSTOMER_CREATED, now))
        .answer(answer, now)
        .await
}
