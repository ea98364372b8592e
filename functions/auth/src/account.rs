//! The account: read, updated, deleted.

use axum::extract::State;
use core_types::fields::{Email, Locale, PersonName};
use core_types::key;
use core_types::mail::Mail;
use crypto::seal;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Accepted, Json};
use gateway::request::{Body, IfMatch, Raw};
use identity::account::Account;
use identity::authentication::{PresentedCode, confirm};
use identity::challenge::{Link, Purpose};
use identity::merchant::stores::{own_stores, stores_of};
use identity::merchant::{MERCHANT_DELETED, MERCHANT_UPDATED, Merchant, MerchantView, UniqueEmail};
use identity::notifications;
use identity::password::Guess;
use identity::throttle::Ceiling;
use platform::developer::{self, Developer};
use primitives::clock::Timestamp;
use primitives::fields::{Patch, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::Write;
use table::item::Item;

use crate::mfa;

/// `GET /v1/auth/me` (`getAccount`): Get the account of the signed-in merchant.
///
/// The response has the account, and whether its address and second factor are confirmed.
pub(crate) async fn get(
    caller: callers::Merchant,
    State(app): State<App>,
) -> Result<Json<MerchantView>, Problem> {
    Ok(to_response(&app, &caller.account))
}

fn to_response(services: &Services, account: &Merchant) -> Json<MerchantView> {
    Json::new(&MerchantView::of(account, &services.config)).version(account.version)
}

/// A change of the account.
#[request]
#[derive(Debug)]
pub(crate) struct UpdateAccountRequest {
    /// The person's name; `null` clears it.
    name: Patch<PersonName>,
    /// The language of mails; `null` clears it.
    locale: Patch<Locale>,
    /// A new e-mail address, which must be verified again.
    email: Option<Email>,
    /// The current password; required for a new address.
    current_password: Option<Guess>,
    /// A one-time code mailed to the account's current address, if it has no password; required for a new
    /// address.
    one_time_code: Option<PresentedCode>,
    /// A code of the second factor, if the account has one; required for a new address, to which one-time
    /// codes will be mailed.
    totp: Option<Text<1, 100>>,
}

/// `PATCH /v1/auth/me` (`updateAccount`): Update the account.
///
/// A new address requires the current password, or without one a one-time code of
/// `POST /v1/auth/signin/otp`, in `one_time_code`. It takes effect at once, unverified, and the former
/// address is notified if it was verified.
///
/// # Errors
/// `email_taken`, `invalid_credentials`, `mfa_required`, `invalid_or_expired_code`,
/// `too_many_attempts`.
pub(crate) async fn update(
    caller: callers::Merchant,
    State(app): State<App>,
    Raw(inbound): Raw,
    if_match: IfMatch,
    Body(input): Body<UpdateAccountRequest>,
) -> Result<Json<MerchantView>, Problem> {
    let account = caller.account;
    if_match.check(account.version)?;
    let now = app.clock.now();
    let mut next = account.changed(now);
    input.name.apply(&mut next.name);
    input.locale.apply(&mut next.locale);
    if let Some(email) = input.email {
        next.email = email;
    }
    let same =
        (&next.name, &next.locale, &next.email) == (&account.name, &account.locale, &account.email);
    if same {
        return Ok(to_response(&app, &account));
    }
    let write = app.table.write();
    // An address that differs in case alone is the same mailbox.
    let write = if next.email.normalized() == account.email.normalized() {
        write
    } else {
        let proof = (input.current_password.as_ref(), input.one_time_code.as_ref());
        let needed_to = "Required to change the e-mail address.";
        let confirmed = confirm(&app, &account, proof, needed_to, &inbound.client_prefix()).await?;
        let second_factor = mfa::ensure(&app, &account, input.totp.as_ref(), &inbound).await?;
        // Each change sends mails. Counted by id, because the address differs each time.
        let moves = Ceiling::of_mails("move_mails");
        moves.count_attempt(&app, &seal::digest(account.id.as_str()), |write| write).await?;
        next.email_verified = false;
        let write = move_claim(&app, write, &account, &next, now).await?;
        confirmed
            .add_use(write, now)
            .when_some(second_factor, |write, factor| factor.add_use(write))
    };
    next.save(write, Code::VersionConflict)
        .emit(next.event(&MERCHANT_UPDATED, &app.config, now))
        .answer(to_response(&app, &next), now)
        .await
}

/// Claims the next address, releases the former one, and mails both: a verification link to the next one,
/// and a notification to the former one if it was verified.
async fn move_claim(
    services: &Services,
    write: Write,
    former: &Merchant,
    next: &Merchant,
    now: Timestamp,
) -> Result<Write, Problem> {
    let key = services.secrets.mail_key().await?;
    let (link, token) = Link::begin(Purpose::Verify, Some(next), now);
    let content = notifications::verify_email(&next.email, &token, &services.config.base_url);
    // An unverified address may be a stranger's, who must not learn of this account.
    let notice = former.email_verified.then(|| {
        let content = notifications::email_changed(&former.email, &next.email, now);
        Mail::compose(&key, &content, now)
    });
    let former_key = key::unique_email(&former.email.normalized());
    let held = UniqueEmail::is_held_by(former);
    Ok(write
        .put_if(&UniqueEmail::of(next), UniqueEmail::is_free(now), Code::EmailTaken)
        .delete_if(&former_key, held, Code::VersionConflict)
        .create(&link, Code::VersionConflict)
        .emit(Mail::compose(&key, &content, now)?)
        .when_some(notice.transpose()?, Write::emit))
}

/// The deletion of the account.
#[request]
#[derive(Debug)]
pub(crate) struct DeleteAccountRequest {
    /// The current password, if the account has one (our choice: a stolen session must not suffice).
    current_password: Option<Guess>,
    /// A one-time code mailed to the account's address, if it has no password.
    one_time_code: Option<PresentedCode>,
    /// A code of the second factor, if the account has one.
    totp: Option<Text<1, 100>>,
}

/// The deletion of an account.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AccountDeletion {
    /// When the account is removed. Until then nobody else can claim its verified address.
    delete_at: Timestamp,
}

/// `DELETE /v1/auth/me` (`deleteAccount`): Delete the account.
///
/// Every session ends at once, and the account is removed in 30 days. Until then nobody else can claim its
/// address (our choice). An unverified address is released at once and not notified: it may be a
/// stranger's.
///
/// # Errors
/// `owns_active_stores`, `member_of_stores`, `owns_apps`, `invalid_credentials`, `mfa_required`,
/// `invalid_or_expired_code`, `too_many_attempts`.
pub(crate) async fn delete(
    caller: callers::Merchant,
    State(app): State<App>,
    Raw(inbound): Raw,
    if_match: IfMatch,
    Body(input): Body<DeleteAccountRequest>,
) -> Result<Accepted<AccountDeletion>, Problem> {
    let account = caller.account;
    if_match.check(account.version)?;
    ensure_no_stores(&app, &account).await?;
    developer::owns_no_apps(&app, &account.id).await?;
    let proof = (input.current_password.as_ref(), input.one_time_code.as_ref());
    let needed_to = "Required to delete the account.";
    let confirmed = confirm(&app, &account, proof, needed_to, &inbound.client_prefix()).await?;
    let second_factor = mfa::ensure(&app, &account, input.totp.as_ref(), &inbound).await?;
    let key = app.secrets.mail_key().await?;
    let now = app.clock.now();
    let deleted = account.deleted(now);
    let delete_at = deleted.delete_at.unwrap_or(now);
    let notice = account.email_verified.then(|| {
        let content = notifications::account_deleted(&deleted.email, delete_at);
        Mail::compose(&key, &content, now)
    });
    let held = UniqueEmail::is_held_by(&account);
    let mut claim = UniqueEmail::of(&deleted);
    if !account.email_verified {
        claim.released_at = Some(now);
    }
    // The transaction repeats the checks above: a store or an app may have been created meanwhile.
    let write = Developer::require_no_apps(app.table.write(), &account.id, Code::VersionConflict);
    let write = match second_factor {
        Some(factor) => factor.end(write),
        None => write.delete(&key::mfa(&account.id)),
    };
    let outcome = deleted
        .save_if_deletable(confirmed.add_use(write, now), Code::VersionConflict)
        .put_if(&claim, held, Code::VersionConflict)
        .emit(deleted.event(&MERCHANT_DELETED, &app.config, now))
        .when_some(notice.transpose()?, Write::emit)
        .answer(Accepted::new(&AccountDeletion { delete_at }), now)
        .await;
    match outcome {
        Err(problem) if problem.code == Code::VersionConflict => {
            let present: Option<Merchant> = app.table.get(&account.key()).await?;
            let present = present.unwrap_or(account);
            ensure_no_stores(&app, &present).await?;
            developer::owns_no_apps(&app, &present.id).await?;
            Err(problem)
        }
        outcome => outcome,
    }
}

/// Ensures that the account owns no store and is a member of none. Its own count of stores decides; for an
/// account from before stores were counted, the stores found do.
///
/// # Errors
/// `owns_active_stores`, with the stores found; `member_of_stores`, with those of others.
async fn ensure_no_stores(services: &Services, account: &Merchant) -> Result<(), Problem> {
    let stores = own_stores(services, account).await?;
    if account.stores > 0 || !stores.is_empty() {
        let ids: Vec<&str> = stores.iter().map(|store| store.id.as_str()).collect();
        return Err(Code::OwnsActiveStores.with("store_ids", ids));
    }
    if account.memberships.grants.is_empty() {
        return Ok(());
    }
    let stores = stores_of(services, account).await?;
    let ids: Vec<&str> = stores.iter().map(|(store, _)| store.id.as_str()).collect();
    if ids.is_empty() { Ok(()) } else { Err(Code::MemberOfStores.with("store_ids", ids)) }
}
