//! Handlers that invite members to a store, and accept invitations.

use axum::extract::State;
use callers::{Admin, Merchant};
use core_types::fields::Email;
use core_types::key;
use core_types::mail::Mail;
use core_types::scope::Scopes;
use crypto::seal;
use delivery::mail::allowance::{self, MailQuota};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Created, Json};
use gateway::request::{Body, Ruled};
use identity::member::{
    MAX_MEMBERSHIPS, MEMBER_INVITED, MEMBER_JOINED, MemberView, Memberships, Role, Roster,
    UnverifiedInvitation, WRONG_INVITATIONS,
};
use identity::merchant::Merchant as MerchantAccount;
use identity::merchant::stores::stores_of;
use identity::notifications;
use identity::store::{Store, StoreStatus};
use primitives::fields::Text;
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::retry;

use crate::members::{granted, load};

/// An invitation to a store.
#[request]
#[derive(Debug, Clone)]
pub struct InviteRequest {
    /// The address to which the token is mailed.
    email: Email,
    /// The role; only an owner may invite an `owner`.
    role: Role,
    /// The scopes, the same as apps have; required for `staff`, and not allowed for other roles.
    scopes: Option<Scopes>,
}

impl Rules for InviteRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        let Some(role) = given.get::<Role>("role") else { return Vec::new() };
        // Malformed scopes have a field error already.
        let scopes = given.has("scopes").then(|| given.get::<Scopes>("scopes"));
        match (role, scopes) {
            (_, Some(None)) => Vec::new(),
            (role, scopes) => granted(role, scopes.flatten()).err().into_iter().collect(),
        }
    }
}

/// `POST /v1/stores/{id}/members` (`inviteMember`): Invite a member to a store.
///
/// The address gets a mail with a token that is valid for 7 days. Another invitation of the same address has
/// a new token, and replaces the earlier one. The event is `member.invited`.
///
/// # Errors
/// `insufficient_role` for an `owner`, and if an open invitation of the address is for one; `already_member`,
/// `member_limit`; `email_unverified` unless the inviter and the store's owner have proven their addresses;
/// `mail_limit`; `required` and `scopes_not_allowed` as field errors of `scopes`.
pub async fn create(
    caller: Admin,
    State(app): State<App>,
    Ruled(Body(input)): Ruled<Body<InviteRequest>>,
) -> Result<Created<MemberView>, Problem> {
    caller.grant.role.ensure_may_assign(input.role)?;
    // Mail to others requires an inviter with a proven address of their own.
    if !caller.account.email_verified {
        return Err(Code::EmailUnverified.into());
    }
    let grant = granted(input.role, input.scopes.clone())
        .map_err(|violation| Problem::invalid(vec![violation]))?;
    let key = app.secrets.mail_key().await?;
    let (caller, email, grant, key) = (&caller, &input.email, &grant, &key);
    retry(|| async {
        let (store, roster) = load(&app, &caller.store.id, &caller.account).await?;
        // The caller's role may have been lowered while this request waited for others.
        let current_role = roster.role_of(&caller.account.id).ok_or(Code::NotFound)?;
        current_role.ensure_may_assign(grant.role)?;
        // It also requires that the store's owner has a proven address.
        let quota = MailQuota::of(&app, &store).await?;
        if !quota.is_proven {
            return Err(Code::EmailUnverified.into());
        }
        let now = app.clock.now();
        // This replaces an open invitation of the address, which requires the right to grant its role.
        if let Some(open) = roster.open_invitation(email, now) {
            current_role.ensure_may_assign(open.grant.role)?;
        }
        let (roster, invited, token) = roster.invite(&caller.account.id, (email, grant), now)?;
        let until = invited.expires_at().unwrap_or(now);
        let message = notifications::invitation(
            email,
            (store.name.as_str(), grant.role),
            &token,
            &app.config.base_url,
            until,
        );
        let view = MemberView::of(&invited, &store.id, None, now);
        let write = allowance::count_invitation(app.table.write(), &quota, email, now);
        roster
            .write(write)
            .emit(invited.event(&MEMBER_INVITED, &store.id, None, now))
            .emit(Mail::compose(key, &message, now)?)
            .answer(Created::new(&view).version(view.version), now)
            .await
    })
    .await
}

/// The token of an invitation.
#[request]
#[derive(Debug)]
pub struct AcceptRequest {
    /// The token from the mail.
    token: Text<1, 200>,
}

/// `POST /v1/stores/invitations/accept` (`acceptInvitation`): Accept an invitation to a store.
///
/// The merchant becomes a member of the store. Their proven address must be the invited one. The token can be
/// used once. The event is `member.joined`.
///
/// # Errors
/// `invalid_or_expired_token`, `too_many_attempts`; `not_invited` for another address,
/// `email_unverified`; `already_member`, `membership_limit`.
pub async fn accept(
    caller: Merchant,
    State(app): State<App>,
    Body(input): Body<AcceptRequest>,
) -> Result<Json<MemberView>, Problem> {
    let digest = seal::digest(caller.account.id.as_str());
    WRONG_INVITATIONS.ensure(&app, &digest).await?;
    let outcome = match UnverifiedInvitation::parse(input.token.as_str()) {
        None => Err(Code::InvalidOrExpiredToken.into()),
        Some(unverified) => retry(|| join(&app, &caller.account, &unverified)).await,
    };
    if outcome.as_ref().is_err_and(|problem| problem.code == Code::InvalidOrExpiredToken) {
        WRONG_INVITATIONS.count_attempt(&app, &digest, |write| write).await?;
    }
    outcome
}

async fn join(
    services: &Services,
    account: &MerchantAccount,
    unverified: &UnverifiedInvitation,
) -> Result<Json<MemberView>, Problem> {
    let rejected = || Problem::from(Code::InvalidOrExpiredToken);
    let (store_key, roster_key) =
        (key::store(&unverified.store_id), key::members(&unverified.store_id));
    let account_key = key::merchant(&account.id);
    let mut batch = services.table.get_many(&[&account_key, &store_key, &roster_key]).await?;
    let account: MerchantAccount = batch.take(&account_key)?.ok_or(Code::Unauthenticated)?;
    let store: Option<Store> = batch.take(&store_key)?;
    let store = store.filter(|store| store.status != StoreStatus::Deleted).ok_or_else(rejected)?;
    let roster: Roster = batch.take(&roster_key)?.ok_or_else(rejected)?;
    let now = services.clock.now();
    let invitation = roster.invitation(&unverified.digest, now).ok_or_else(rejected)?;
    let (roster, joined) = roster.accept(invitation, &account, now)?;
    let memberships =
        ensure_below_limit(services, &account).await?.with(&store.id, Some(&joined.grant));
    let view = MemberView::of(&joined, &store.id, Some(&account), now);
    account
        .write_memberships(roster.write(services.table.write()), &memberships)
        .emit(joined.event(&MEMBER_JOINED, &store.id, Some(&account), now))
        .answer(Json::new(&view).version(view.version), now)
        .await
}

/// The memberships of an account that may have another one; at the limit, those in deleted stores are
/// dropped.
///
/// # Errors
/// `membership_limit`.
async fn ensure_below_limit(
    services: &Services,
    account: &MerchantAccount,
) -> Result<Memberships, Problem> {
    let memberships = &account.memberships;
    if memberships.grants.len() < MAX_MEMBERSHIPS {
        return Ok(memberships.clone());
    }
    let live = stores_of(services, account).await?;
    let remaining = memberships.only(|id| live.iter().any(|(store, _)| store.id == *id));
    if remaining.grants.len() < MAX_MEMBERSHIPS {
        Ok(remaining)
    } else {
        Err(Code::MembershipLimit.with("limit", MAX_MEMBERSHIPS))
    }
}

#[cfg(test)]
mod tests {
    use primitives::input::read;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_invitation_requires_address_and_role() {
        let problem = read::<InviteRequest>(json!({})).unwrap_err();
        let mut pointers: Vec<_> = problem.errors().iter().map(|e| e.pointer.as_str()).collect();
        pointers.sort_unstable();
        assert_eq!(pointers, ["/email", "/role"]);
        let odd = json!({"email": "ann@example.com", "role": "boss", "scopes": "read_everything"});
        assert_eq!(read::<InviteRequest>(odd).unwrap_err().errors().len(), 2);
    }
}
