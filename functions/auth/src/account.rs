//! The account: read, changed, given up.

use axum::extract::State;
use core_types::fields::{Email, Locale, PersonName};
use core_types::key;
use core_types::mail::Mail;
use gateway::app::App;
use primitives::clock::Timestamp;
use table::item::Item;
use primitives::problem::{Code, Problem};
use gateway::reply::{Accepted, Json};
use gateway::request::{Body, IfMatch, Raw, request};
use primitives::fields::{Patch, Text};
use crypto::seal;
use table::Write;
use identity::account::Account;
use identity::authentication::{PresentedCode, confirm};
use identity::challenge::{Link, Purpose};
use identity::merchant::{MERCHANT_DELETED, MERCHANT_UPDATED, Merchant, MerchantView, UniqueEmail};
use identity::notifications;
use identity::password::Guess;
use identity::throttle::Ceiling;
use platform::caller;
use platform::developer::{self, Developer};
use schemars::JsonSchema;
use serde::Serialize;

use crate::mfa;

/// `GET /v1/auth/me` (`getAccount`): Get the account of the signed-in merchant.
///
/// The response has the account, and whether its address and second factor are confirmed.
pub(crate) async fn get(
    caller: caller::Merchant,
    State(app): State<App>,
) -> Result<Json<MerchantView>, Problem> {
    Ok(to_response(&app, &caller.account))
}

fn to_response(app: &App, account: &Merchant) -> Json<MerchantView> {
    Json::new(&MerchantView::of(account, &app.config)).version(account.version)
}

/// A change of the account.
#[request]
#[derive(Debug)]
pub(crate) struct UpdateAccountRequest {
    /// The person's name; `null` clears it.
    name: Patch<PersonName>,
    /// The language of mails; `null` clears it.
    locale: Patch<Locale>,
    /// Another address, which has to be verified again.
    email: Option<Email>,
    /// The current password; needed for another address.
    current_password: Option<Guess>,
    /// A one-time code to the account's present address, where it has no password; needed for
    /// another address.
    one_time_code: Option<PresentedCode>,
    /// A code of the second factor, if the account has one; needed for another address: one-time
    /// codes go there.
    totp: Option<Text<1, 100>>,
}

/// `PATCH /v1/auth/me` (`updateAccount`): Update the account.
///
/// Another address needs the current password, or where there is none a one-time code of
/// `POST /v1/auth/signin/otp`, in `one_time_code`; it takes effect at once, unverified, and the former
/// one is told.
///
/// # Errors
/// `email_taken`, `invalid_credentials`, `mfa_required`, `invalid_or_expired_code`,
/// `too_many_attempts`.
pub(crate) async fn update(
    caller: caller::Merchant,
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
    // Another case is the same mailbox.
    let write = if next.email.normalized() == account.email.normalized() {
        write
    } else {
        let proof = (input.current_password.as_ref(), input.one_time_code.as_ref());
        let needed_to = "Needed to change the e-mail address.";
        let confirmed = confirm(&app, &account, proof, needed_to, &inbound).await?;
        let shown = mfa::ensure(&app, &account, input.totp.as_ref(), &inbound).await?;
        // Each change mails somebody. By id: the address is another each time.
        let moves = Ceiling::of_mails("move_mails");
        moves.take(&app, &seal::digest(account.id.as_str()), |write| write).await?;
        next.email_verified = false;
        let write = moved(&app, write, &account, &next, now).await?;
        confirmed.spend(write, now).also(shown, |write, shown| shown.spend(write))
    };
    next.save(write, Code::VersionConflict)
        .emit(next.event(&MERCHANT_UPDATED, &app.config, now))
        .answer(to_response(&app, &next), now)
        .await
}

/// Moves the account's claim from the former address to the next one: one is claimed, the other
/// released, both are mailed.
async fn moved(
    app: &App,
    write: Write,
    former: &Merchant,
    next: &Merchant,
    now: Timestamp,
) -> Result<Write, Problem> {
    let key = app.secrets.mail_key().await?;
    let (link, token) = Link::begin(Purpose::Verify, Some(next), now);
    let content = notifications::verify_email(&next.email, &token, &app.config.base_url);
    // An address that was never proven may be a stranger's, who is not told of this account.
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
        .also(notice.transpose()?, Write::emit))
}

/// The end of the account.
#[request]
#[derive(Debug)]
pub(crate) struct DeleteAccountRequest {
    /// The current password, if the account has one (our choice: a stolen session must not be
    /// enough).
    current_password: Option<Guess>,
    /// A one-time code to the account's address, where it has no password.
    one_time_code: Option<PresentedCode>,
    /// A code of the second factor, if the account has one.
    totp: Option<Text<1, 100>>,
}

/// When a deleted account is removed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct AccountDeletion {
    /// Until then nobody else can take a proven address.
    delete_at: Timestamp,
}

/// `DELETE /v1/auth/me` (`deleteAccount`): Delete the account.
///
/// Every session ends now, it is removed in 30 days, and until then nobody else can take its address
/// (our choice). An address that was never proven is free at once, and nobody is told: it may be a
/// stranger's.
///
/// # Errors
/// `owns_active_stores`, `member_of_stores`, `owns_apps`, `invalid_credentials`, `mfa_required`,
/// `invalid_or_expired_code`, `too_many_attempts`.
pub(crate) async fn delete(
    caller: caller::Merchant,
    State(app): State<App>,
    Raw(inbound): Raw,
    if_match: IfMatch,
    Body(input): Body<DeleteAccountRequest>,
) -> Result<Accepted<AccountDeletion>, Problem> {
    let account = caller.account;
    if_match.check(account.version)?;
    no_stores(&app, &account).await?;
    developer::owns_no_apps(&app, &account.id).await?;
    let proof = (input.current_password.as_ref(), input.one_time_code.as_ref());
    let needed_to = "Needed to delete the account.";
    let confirmed = confirm(&app, &account, proof, needed_to, &inbound).await?;
    let shown = mfa::ensure(&app, &account, input.totp.as_ref(), &inbound).await?;
    let key = app.secrets.mail_key().await?;
    let now = app.clock.now();
    let gone = account.given_up(now);
    let delete_at = gone.delete_at.unwrap_or(now);
    let notice = account.email_verified.then(|| {
        let content = notifications::account_deleted(&gone.email, delete_at);
        Mail::compose(&key, &content, now)
    });
    let held = UniqueEmail::is_held_by(&account);
    let mut claim = UniqueEmail::of(&gone);
    if !account.email_verified {
        claim.released_at = Some(now);
    }
    // The transaction holds what was looked at above: a store may have been opened since, or an
    // app made.
    let write = Developer::has_no_apps(app.table.write(), &account.id, Code::VersionConflict);
    let write = match shown {
        Some(shown) => shown.end(write),
        None => write.delete(&key::mfa(&account.id)),
    };
    let outcome = gone
        .save_unless_owner(confirmed.spend(write, now), Code::VersionConflict)
        .put_if(&claim, held, Code::VersionConflict)
        .emit(gone.event(&MERCHANT_DELETED, &app.config, now))
        .also(notice.transpose()?, Write::emit)
        .answer(Accepted::new(&AccountDeletion { delete_at }), now)
        .await;
    match outcome {
        Err(problem) if problem.code == Code::VersionConflict => {
            let present: Option<Merchant> = app.table.get(&account.key()).await?;
            let present = present.unwrap_or(account);
            no_stores(&app, &present).await?;
            developer::owns_no_apps(&app, &present.id).await?;
            Err(problem)
        }
        outcome => outcome,
    }
}

/// # Errors
/// `owns_active_stores`, with the ones that are found: the account's own count is what holds; the
/// stores alone speak for an account from before they were counted. `member_of_stores`, with those of
/// others.
async fn no_stores(app: &App, account: &Merchant) -> Result<(), Problem> {
    let stores = caller::own_stores(app, account).await?;
    if account.stores > 0 || !stores.is_empty() {
        let ids: Vec<&str> = stores.iter().map(|store| store.id.as_str()).collect();
        return Err(Code::OwnsActiveStores.with("store_ids", ids));
    }
    if account.memberships.grants.is_empty() {
        return Ok(());
    }
    let stores = caller::stores_of(app, account).await?;
    let ids: Vec<&str> = stores.iter().map(|(store, _)| store.id.as_str()).collect();
    if ids.is_empty() { Ok(()) } else { Err(Code::MemberOfStores.with("store_ids", ids)) }
}
