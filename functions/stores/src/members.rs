//! The people of a store: the list, what each may do, and their leave.

use axum::extract::State;
use core_types::event::Topic;
use core_types::id::{MemberId, MerchantId, StoreId};
use core_types::key;
use core_types::resource;
use core_types::scope::Scopes;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Json, NoContent, Page};
use gateway::request::{Body, IfMatch, Path, request};
use identity::member::{
    Changed, Grant, MEMBER_REMOVED, MEMBER_UPDATED, Member, MemberView, Role, Roster,
};
use identity::merchant::Merchant as Account;
use identity::store::{self, STORE_UPDATED, Store};
use platform::caller::{Admin, AnyMember, StoreMember};
use primitives::clock::Timestamp;
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::item::Key;
use table::{Write, retry};

/// A role, with the scopes of one that has its own.
///
/// # Errors
/// `required`, `scopes_not_allowed`, as faults of `scopes`.
pub(crate) fn granted(role: Role, scopes: Option<Scopes>) -> Result<Grant, FieldError> {
    match (role, scopes) {
        (Role::Staff, None) => {
            Err(FieldError::new("/scopes", "required", "Say what staff may do."))
        }
        (Role::Staff, Some(scopes)) => Ok(Grant { role, scopes }),
        (_, Some(scopes)) if !scopes.is_empty() => {
            let detail = "Only staff have scopes of their own.";
            Err(FieldError::new("/scopes", "scopes_not_allowed", detail))
        }
        _ => Ok(Grant { role, scopes: Scopes::NONE }),
    }
}

/// A store and its people, as they are. Where nothing is written of them its owner is alone, and it is
/// they who ask.
///
/// # Errors
/// `not_found`.
pub(crate) async fn load(
    services: &Services,
    id: &StoreId,
    asking: &Account,
) -> Result<(Store, Roster), Problem> {
    let (store_key, roster_key) = (key::store(id), key::members(id));
    let mut batch = services.table.get_many(&[&store_key, &roster_key]).await?;
    let store: Store = batch.take(&store_key)?.ok_or(Code::NotFound)?;
    let roster = Roster::of(&store, batch.take(&roster_key)?, &asking.email);
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
    let kept: Option<Roster> = app.table.get(&key::members(&caller.store.id)).await?;
    let Roster { members, .. } = Roster::of(&caller.store, kept, &caller.account.email);
    let found = paging.part(members, |member| member.id.to_string())?;
    // Names and addresses are the accounts' own, as they are by now.
    let keys: Vec<Key> =
        found.items.iter().filter_map(Member::merchant_id).map(key::merchant).collect();
    let mut batch = app.table.get_many_eventually(&keys.iter().collect::<Vec<_>>()).await?;
    let mut accounts: Vec<Account> = Vec::new();
    for key in &keys {
        accounts.extend(batch.take::<Account>(key)?);
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
pub async fn show(
    caller: Admin,
    State(app): State<App>,
    Path((_, id)): Path<(StoreId, MemberId)>,
) -> Result<Json<MemberView>, Problem> {
    let kept: Option<Roster> = app.table.get(&key::members(&caller.store.id)).await?;
    let roster = Roster::of(&caller.store, kept, &caller.account.email);
    let member = roster.member(&id)?;
    let account = account_of(&app, member).await?;
    let view = MemberView::of(member, &caller.store.id, account.as_ref(), app.clock.now());
    Ok(Json::new(&view).version(view.version))
}

/// What to change about a member, or about an invitation.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// What they are to the store; to or from `owner` takes an owner.
    role: Option<Role>,
    /// What they may do, as apps may; of `staff`, and only of them.
    scopes: Option<Scopes>,
}

impl UpdateRequest {
    /// What somebody may do from now on.
    fn apply(&self, before: &Grant) -> Result<Grant, Problem> {
        let role = self.role.unwrap_or(before.role);
        let kept =
            || (before.role == Role::Staff && role == Role::Staff).then(|| before.scopes.clone());
        let scopes = self.scopes.clone().or_else(kept);
        granted(role, scopes).map_err(|fault| Problem::invalid(vec![fault]))
    }
}

/// `PATCH /v1/stores/{id}/members/{member_id}` (`updateMember`): Update the role of a member.
///
/// The new role applies from their next request on. Invitations that they gave and could not give any more
/// end.
///
/// # Errors
/// `not_found`, `precondition_failed`, `insufficient_role`, `last_owner`; `required` and
/// `scopes_not_allowed` as faults of `scopes`.
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
            caller.grant.role.gives(role)?;
        }
        let now = app.clock.now();
        let account = account_of(&app, before).await?;
        let shown = |member: &Member| {
            let view = MemberView::of(member, &store.id, account.as_ref(), now);
            Json::new(&view).version(view.version)
        };
        if grant == before.grant {
            return Ok(shown(before));
        }
        let changed = roster.regrant(&store, before, &grant, now)?;
        may_still(caller, &roster, &[before.grant.role, grant.role])?;
        let answer = shown(&changed.member);
        let to = (Some(&grant), &MEMBER_UPDATED);
        written(&app, &store, account.as_ref(), &changed, to, now).answer(answer, now).await
    })
    .await
}

/// `DELETE /v1/stores/{id}/members/{member_id}` (`deleteMember`): Remove a member or an invitation.
///
/// Whoever is removed is let in no more, from their next request on; invitations that they gave end. Any
/// member may remove themselves. A store that belonged to an owner who goes belongs to the owner who is
/// longest there.
///
/// # Errors
/// `not_found`, `precondition_failed`, `insufficient_role`, `last_owner`.
pub async fn remove(
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
            // Who may remove nobody learns of nobody.
            caller.grant.role.gives(Role::ReadOnly)?;
        }
        let before = found?;
        if_match.check(before.version)?;
        if !leaves {
            caller.grant.role.gives(before.grant.role)?;
        }
        let now = app.clock.now();
        let changed = roster.remove(&store, before, now)?;
        if !leaves {
            may_still(caller, &roster, &[before.grant.role])?;
        }
        let account = account_of(&app, before).await?;
        let to = (None, &MEMBER_REMOVED);
        written(&app, &store, account.as_ref(), &changed, to, now)
            .answer(NoContent::default(), now)
            .await
    })
    .await
}

/// Demands that the caller may still do it: they may have become less while this request waited for
/// others.
///
/// # Errors
/// `not_found`, as with their next request, or `insufficient_role`.
fn may_still<R>(caller: &StoreMember<R>, roster: &Roster, over: &[Role]) -> Result<(), Problem> {
    let present = roster.role_of(&caller.account.id).ok_or(Code::NotFound)?;
    over.iter().try_for_each(|role| present.gives(*role))
}

/// The account of a member; none of who is invited.
async fn account_of(services: &Services, member: &Member) -> Result<Option<Account>, Problem> {
    let Some(id) = member.merchant_id() else { return Ok(None) };
    resource::load(services, &key::merchant(id)).await.map(Some)
}

/// Begins the write of a change: the people, what the account of whom it is about may do from now on, to
/// whom the store belongs, and what is announced of it.
fn written(
    services: &Services,
    store: &Store,
    account: Option<&Account>,
    changed: &Changed,
    (grant, topic): (Option<&Grant>, &Topic<MemberView>),
    now: Timestamp,
) -> Write {
    let write = changed.roster.write(services.table.write());
    let gives_up = changed.heir.is_some();
    let write = write.also(account, |write, account| {
        let memberships = account.memberships.with(&store.id, grant);
        account.is_regranted(write, &memberships, gives_up)
    });
    let write = write
        .also(changed.heir.as_ref(), |write, heir| inherited(services, write, (store, heir), now));
    let write = write.emit(changed.member.event(topic, &store.id, account, now));
    changed.revoked.iter().fold(write, |write, revoked| {
        write.emit(revoked.event(&MEMBER_REMOVED, &store.id, None, now))
    })
}

/// Says that a store belongs to another of its owners from now on.
fn inherited(
    services: &Services,
    write: Write,
    (store, heir): (&Store, &MerchantId),
    now: Timestamp,
) -> Write {
    let store = Store { owner_id: heir.clone(), ..store.changed(now) };
    let write = store::replace(write, &store);
    Account::one_store_more(write, &store, Code::VersionConflict).emit(store.event(
        &STORE_UPDATED,
        &services.config.base_url,
        now,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(role: Role, scopes: &str) -> Grant {
        Grant { role, scopes: Scopes::normalize([scopes]).unwrap() }
    }

    fn asked(role: Option<Role>, scopes: Option<&str>) -> UpdateRequest {
        let scopes = scopes.map(|scopes| Scopes::normalize([scopes]).unwrap());
        UpdateRequest { role, scopes }
    }

    #[test]
    fn staff_have_scopes_and_nobody_else_does() {
        let staff = grant(Role::Staff, "read_orders");
        let admin = grant(Role::Admin, "");
        for (before, input, after) in [
            (&staff, asked(None, None), Some(staff.clone())),
            (&staff, asked(None, Some("write_orders")), Some(grant(Role::Staff, "write_orders"))),
            (&staff, asked(Some(Role::Admin), None), Some(admin.clone())),
            (&admin, asked(Some(Role::Staff), Some("read_orders")), Some(staff.clone())),
            (&admin, asked(Some(Role::Staff), None), None),
            (&admin, asked(None, Some("read_orders")), None),
            (&admin, asked(Some(Role::ReadOnly), Some("")), Some(grant(Role::ReadOnly, ""))),
        ] {
            assert_eq!(input.apply(before).ok(), after, "{before:?} {input:?}");
        }
    }
}
