//! Handlers that list, update and remove the members of a store.

use axum::extract::State;
use callers::{Admin, AnyMember, StoreMember};
use core_types::event::Topic;
use core_types::id::{MemberId, MerchantId, StoreId};
use core_types::key;
use core_types::resource;
use core_types::scope::Scopes;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Json, NoContent, Page};
use gateway::request::{Body, IfMatch, Path};
use identity::member::{
    Changed, MEMBER_REMOVED, MEMBER_UPDATED, Member, MemberView, Role, RoleGrant, Roster,
};
use identity::merchant::Merchant as MerchantAccount;
use identity::store::{self, STORE_UPDATED, Store};
use primitives::clock::Timestamp;
use primitives::input::request;
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::item::Key;
use table::{Write, retry};

/// The grant of a role, with scopes if it is `staff`.
///
/// # Errors
/// `required`, `scopes_not_allowed`, as field errors of `scopes`.
pub(crate) fn granted(role: Role, scopes: Option<Scopes>) -> Result<RoleGrant, FieldError> {
    match (role, scopes) {
        (Role::Staff, None) => Err(FieldError::new(
            "/scopes",
            "required",
            "`scopes` is required for the role `staff`.",
        )),
        (Role::Staff, Some(scopes)) => Ok(RoleGrant { role, scopes }),
        (_, Some(scopes)) if !scopes.is_empty() => {
            let detail = "`scopes` is only allowed for the role `staff`.";
            Err(FieldError::new("/scopes", "scopes_not_allowed", detail))
        }
        _ => Ok(RoleGrant { role, scopes: Scopes::NONE }),
    }
}

/// Loads a store and its members. A store without a stored roster has its owner as the only member, who
/// then is the caller.
///
/// # Errors
/// `not_found`.
pub(crate) async fn load(
    services: &Services,
    id: &StoreId,
    caller: &MerchantAccount,
) -> Result<(Store, Roster), Problem> {
    let (store_key, roster_key) = (key::store(id), key::members(id));
    let mut batch = services.table.get_many(&[&store_key, &roster_key]).await?;
    let store: Store = batch.take(&store_key)?.ok_or(Code::NotFound)?;
    let roster = Roster::of(&store, batch.take(&roster_key)?, &caller.email);
    Ok((store, roster))
}

/// `GET /v1/stores/{id}/members` (`listMembers`): List members of a store.
///
/// Members and open invitations come in the order in which they were invited.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: Admin,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<MemberView>, Problem> {
    let stored: Option<Roster> = app.table.get(&key::members(&caller.store.id)).await?;
    let Roster { members, .. } = Roster::of(&caller.store, stored, &caller.account.email);
    let found = paging.slice_unfinished(members, |member| member.id.to_string())?;
    // Names and addresses are read from the accounts, so that they are current.
    let keys: Vec<Key> =
        found.items.iter().filter_map(Member::merchant_id).map(key::merchant).collect();
    let mut batch = app.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
    let mut accounts: Vec<MerchantAccount> = Vec::new();
    for key in &keys {
        accounts.extend(batch.take::<MerchantAccount>(key)?);
    }
    let (store, now) = (&caller.store.id, app.clock.now());
    let view = |member: Member| {
        let account = accounts.iter().find(|account| Some(&account.id) == member.merchant_id());
        MemberView::of(&member, store, account, now)
    };
    paging.finish(&app, found, view).await
}

/// `GET /v1/stores/{id}/members/{member_id}` (`getMember`): Get a member or an invitation.
///
/// The response has the role and its scopes.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: Admin,
    State(app): State<App>,
    Path((_, id)): Path<(StoreId, MemberId)>,
) -> Result<Json<MemberView>, Problem> {
    let stored: Option<Roster> = app.table.get(&key::members(&caller.store.id)).await?;
    let roster = Roster::of(&caller.store, stored, &caller.account.email);
    let member = roster.member(&id)?;
    let account = account_of(&app, member).await?;
    let view = MemberView::of(member, &caller.store.id, account.as_ref(), app.clock.now());
    Ok(Json::new(&view).version(view.version))
}

/// The changes of a member or of an invitation.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The role; only an owner may change it to or from `owner`.
    role: Option<Role>,
    /// The scopes, the same as apps have; required for `staff`, and not allowed for other roles.
    scopes: Option<Scopes>,
}

impl UpdateRequest {
    /// The grant after the change.
    fn apply(&self, before: &RoleGrant) -> Result<RoleGrant, Problem> {
        let role = self.role.unwrap_or(before.role);
        let unchanged =
            || (before.role == Role::Staff && role == Role::Staff).then(|| before.scopes.clone());
        let scopes = self.scopes.clone().or_else(unchanged);
        granted(role, scopes).map_err(|violation| Problem::invalid(vec![violation]))
    }
}

/// `PATCH /v1/stores/{id}/members/{member_id}` (`updateMember`): Update the role of a member.
///
/// The new role applies from the member's next request on. Open invitations by the member that the new role
/// could not give are revoked. The event is `member.updated`; an update without a difference sends none.
///
/// # Errors
/// `not_found`, `precondition_failed`, `insufficient_role`, `last_owner`; `required` and
/// `scopes_not_allowed` as field errors of `scopes`.
pub async fn update(
    caller: Admin,
    State(app): State<App>,
    Path((_, id)): Path<(StoreId, MemberId)>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<MemberView>, Problem> {
    let (caller, id, if_match, input) = (&caller, &id, &if_match, &input);
    retry(|| async {
        let (store, roster) = load(&app, &caller.store.id, &caller.account).await?;
        let before = roster.member(id)?;
        if_match.check(before.version)?;
        let grant = input.apply(&before.grant)?;
        for role in [before.grant.role, grant.role] {
            caller.grant.role.ensure_may_assign(role)?;
        }
        let now = app.clock.now();
        let account = account_of(&app, before).await?;
        let to_response = |member: &Member| {
            let view = MemberView::of(member, &store.id, account.as_ref(), now);
            Json::new(&view).version(view.version)
        };
        if grant == before.grant {
            return Ok(to_response(before));
        }
        let changed = roster.regrant(&store, before, &grant, now)?;
        ensure_may_still_assign(caller, &roster, &[before.grant.role, grant.role])?;
        let answer = to_response(&changed.member);
        let to = (Some(&grant), &MEMBER_UPDATED);
        written(&app, &store, account.as_ref(), &changed, to, now).answer(answer, now).await
    })
    .await
}

/// `DELETE /v1/stores/{id}/members/{member_id}` (`deleteMember`): Remove a member or an invitation.
///
/// A removed member has no access from their next request on, and their open invitations are revoked. Any
/// member may remove themselves. If the owner to whom the store belongs is removed, it then belongs to the
/// owner who has been a member for the longest time. The event is `member.removed`.
///
/// # Errors
/// `not_found`, `precondition_failed`, `insufficient_role`, `last_owner`.
pub async fn delete(
    caller: AnyMember,
    State(app): State<App>,
    Path((_, id)): Path<(StoreId, MemberId)>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let (caller, id, if_match) = (&caller, &id, &if_match);
    retry(|| async {
        let (store, roster) = load(&app, &caller.store.id, &caller.account).await?;
        let found = roster.member(id);
        let leaves = found.as_ref().is_ok_and(|it| it.merchant_id() == Some(&caller.account.id));
        if !leaves {
            // Checked before `not_found`, so that other members do not learn which ids exist.
            caller.grant.role.ensure_may_assign(Role::ReadOnly)?;
        }
        let before = found?;
        if_match.check(before.version)?;
        if !leaves {
            caller.grant.role.ensure_may_assign(before.grant.role)?;
        }
        let now = app.clock.now();
        let changed = roster.remove(&store, before, now)?;
        if !leaves {
            ensure_may_still_assign(caller, &roster, &[before.grant.role])?;
        }
        let account = account_of(&app, before).await?;
        let to = (None, &MEMBER_REMOVED);
        written(&app, &store, account.as_ref(), &changed, to, now)
            .answer(NoContent::default(), now)
            .await
    })
    .await
}

/// Ensures that the caller's current role may still give these roles: it may have been lowered while this
/// request waited for others.
///
/// # Errors
/// `not_found` if the caller is no longer a member, or `insufficient_role`.
fn ensure_may_still_assign<R>(
    caller: &StoreMember<R>,
    roster: &Roster,
    over: &[Role],
) -> Result<(), Problem> {
    let current_role = roster.role_of(&caller.account.id).ok_or(Code::NotFound)?;
    over.iter().try_for_each(|role| current_role.ensure_may_assign(*role))
}

/// Loads the account of a member; none for an invitation.
async fn account_of(
    services: &Services,
    member: &Member,
) -> Result<Option<MerchantAccount>, Problem> {
    let Some(id) = member.merchant_id() else { return Ok(None) };
    resource::load(services, &key::merchant(id)).await.map(Some)
}

/// Begins the write of a change: the roster, the memberships of the member's account, the store's owner if
/// it changes, and the events.
fn written(
    services: &Services,
    store: &Store,
    account: Option<&MerchantAccount>,
    changed: &Changed,
    (grant, topic): (Option<&RoleGrant>, &Topic<MemberView>),
    now: Timestamp,
) -> Write {
    let write = changed.roster.write(services.table.write());
    let gives_up = changed.heir.is_some();
    let write = write.when_some(account, |write, account| {
        let memberships = account.memberships.with(&store.id, grant);
        account.replace_memberships(write, &memberships, gives_up)
    });
    let write = write.when_some(changed.heir.as_ref(), |write, heir| {
        inherited(services, write, (store, heir), now)
    });
    let write = write.emit(changed.member.event(topic, &store.id, account, now));
    changed.revoked.iter().fold(write, |write, revoked| {
        write.emit(revoked.event(&MEMBER_REMOVED, &store.id, None, now))
    })
}

/// Adds the transfer of a store to another of its owners.
fn inherited(
    services: &Services,
    write: Write,
    (store, heir): (&Store, &MerchantId),
    now: Timestamp,
) -> Write {
    let store = Store { owner_id: heir.clone(), ..store.changed(now) };
    let write = store::replace(write, &store);
    MerchantAccount::count_new_store(write, &store, Code::VersionConflict).emit(store.event(
        &STORE_UPDATED,
        &services.config.base_url,
        now,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(role: Role, scopes: &str) -> RoleGrant {
        RoleGrant { role, scopes: Scopes::normalize([scopes]).unwrap() }
    }

    fn request(role: Option<Role>, scopes: Option<&str>) -> UpdateRequest {
        let scopes = scopes.map(|scopes| Scopes::normalize([scopes]).unwrap());
        UpdateRequest { role, scopes }
    }

    #[test]
    fn only_staff_have_scopes() {
        let staff = grant(Role::Staff, "read_orders");
        let admin = grant(Role::Admin, "");
        for (before, input, after) in [
            (&staff, request(None, None), Some(staff.clone())),
            (&staff, request(None, Some("write_orders")), Some(grant(Role::Staff, "write_orders"))),
            (&staff, request(Some(Role::Admin), None), Some(admin.clone())),
            (&admin, request(Some(Role::Staff), Some("read_orders")), Some(staff.clone())),
            (&admin, request(Some(Role::Staff), None), None),
            (&admin, request(None, Some("read_orders")), None),
            (&admin, request(Some(Role::ReadOnly), Some("")), Some(grant(Role::ReadOnly, ""))),
        ] {
            assert_eq!(input.apply(before).ok(), after, "{before:?} {input:?}");
        }
    }
}
