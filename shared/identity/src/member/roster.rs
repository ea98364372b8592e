//! The members and invitations of a store, and changes of them.

use core_types::event::{Event, EventSubject, Topic};
use core_types::fields::Email;
use core_types::id::{MemberId, MerchantId, StoreId};
use core_types::key;
use crypto::signature::constant_time_eq;
use primitives::clock::{DAY, Timestamp};
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use table::Write;
use table::item::Item;

use super::token;
use super::{MemberStatus, MemberView, Role, RoleGrant};
use crate::merchant::Merchant;
use crate::store::Store;

/// The maximum number of members and open invitations of a store (our choice).
pub const MAX_MEMBERS: usize = 100;
/// The period in which an invitation can be accepted.
pub const INVITED_FOR: std::time::Duration = DAY.saturating_mul(7);

/// Whether somebody is invited or has joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum MembershipState {
    /// They are invited: a token was mailed to them.
    Invited {
        /// SHA-256 of the token.
        digest: String,
        /// When it expires.
        expires_at: Timestamp,
    },
    /// They have joined as a member.
    Active {
        /// Their account.
        merchant_id: MerchantId,
        /// When they joined.
        joined_at: Timestamp,
    },
}

/// A member of a store, or an invitation of one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// `mem_…`; the same before and after the invitation is accepted.
    pub id: MemberId,
    /// The invited address, or that of the merchant who created the store. The member's account may have
    /// another address by now.
    pub email: Email,
    /// Their role and scopes.
    pub grant: RoleGrant,
    /// Whether they are invited or have joined.
    pub standing: MembershipState,
    /// The merchant who last invited them; none for the merchant who created the store.
    #[serde(default)]
    pub invited_by: Option<MerchantId>,
    /// When they were first invited.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Member {
    /// The status: active, invited or expired.
    pub fn status(&self, now: Timestamp) -> MemberStatus {
        match &self.standing {
            MembershipState::Active { .. } => MemberStatus::Active,
            MembershipState::Invited { expires_at, .. } if now < *expires_at => {
                MemberStatus::Invited
            }
            MembershipState::Invited { .. } => MemberStatus::Expired,
        }
    }

    /// The account of a member; none for an invitation.
    pub fn merchant_id(&self) -> Option<&MerchantId> {
        match &self.standing {
            MembershipState::Active { merchant_id, .. } => Some(merchant_id),
            MembershipState::Invited { .. } => None,
        }
    }

    /// When an invitation expires; none for a member.
    pub fn expires_at(&self) -> Option<Timestamp> {
        match &self.standing {
            MembershipState::Active { .. } => None,
            MembershipState::Invited { expires_at, .. } => Some(*expires_at),
        }
    }

    /// When a member joined; none for an invitation.
    pub fn joined_at(&self) -> Option<Timestamp> {
        match &self.standing {
            MembershipState::Active { joined_at, .. } => Some(*joined_at),
            MembershipState::Invited { .. } => None,
        }
    }

    /// An event of the member, with their present state.
    pub fn event(
        &self,
        topic: &Topic<MemberView>,
        store: &StoreId,
        account: Option<&Merchant>,
        now: Timestamp,
    ) -> Event {
        let (id, version) = (self.id.as_str(), self.version);
        let subject = EventSubject { store: Some(store), app: None, entity: id, version };
        Event::new(topic, subject, &MemberView::of(self, store, account, now), now)
    }

    /// Returns the member at their next version.
    fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    fn is_owner(&self) -> bool {
        self.merchant_id().is_some() && self.grant.role == Role::Owner
    }

    fn is_invited_at(&self, email: &Email) -> bool {
        self.merchant_id().is_none() && self.email.normalized() == email.normalized()
    }
}

/// The members and invitations of a store. A store that never invited anybody has no such item: its owner
/// is in the store's own item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "members", key = key::members(&self.store_id), packed)]
pub struct Roster {
    /// The store.
    pub store_id: StoreId,
    /// The members and invitations, in the order in which they were invited.
    pub members: Vec<Member>,
    /// One more with each write of any member; 0 before the first.
    version: u64,
}

/// The result of a change of a member or an invitation.
#[derive(Debug, Clone)]
pub struct Changed {
    /// The changed roster.
    pub roster: Roster,
    /// The changed member; after a removal, their last state.
    pub member: Member,
    /// The invitations that end, because the member may not give their roles any more.
    pub revoked: Vec<Member>,
    /// The new owner of the store's item, if the member owned it and is not an owner any more.
    pub heir: Option<MerchantId>,
}

impl Roster {
    /// The roster of a store, from the stored item if there is one. Otherwise it has the store's owner
    /// alone, with the address `owner`.
    pub fn of(store: &Store, stored: Option<Self>, owner: &Email) -> Self {
        stored.unwrap_or_else(|| {
            let opened = Member {
                id: MemberId::derive(&[store.id.as_str()]),
                email: owner.clone(),
                grant: RoleGrant::OWNER,
                standing: MembershipState::Active {
                    merchant_id: store.owner_id.clone(),
                    joined_at: store.created_at,
                },
                invited_by: None,
                created_at: store.created_at,
                updated_at: store.created_at,
                version: 1,
            };
            Self { store_id: store.id.clone(), members: vec![opened], version: 0 }
        })
    }

    /// Finds the member or invitation of this id.
    ///
    /// # Errors
    /// `not_found`.
    pub fn member(&self, id: &MemberId) -> Result<&Member, Problem> {
        self.members.iter().find(|member| member.id == *id).ok_or_else(|| Code::NotFound.into())
    }

    /// The role of an account on the store.
    pub fn role_of(&self, merchant: &MerchantId) -> Option<Role> {
        let mut members = self.members.iter();
        members.find(|it| it.merchant_id() == Some(merchant)).map(|member| member.grant.role)
    }

    /// Adds the write of this version to a transaction.
    pub fn write(&self, write: Write) -> Write {
        write.create_or_replace(self, Code::VersionConflict)
    }

    /// Returns the next version with this member added, or replaced by their id.
    fn with(&self, member: Member) -> Self {
        let mut next = Self { version: self.version.saturating_add(1), ..self.clone() };
        match next.members.iter_mut().find(|known| known.id == member.id) {
            Some(known) => *known = member,
            None => next.members.push(member),
        }
        next
    }

    /// Invites an address, or invites it again, which invalidates the earlier token. Also returns the
    /// token, which is mailed and not stored. Expired invitations are removed.
    ///
    /// # Errors
    /// `already_member`, `member_limit`.
    pub fn invite(
        &self,
        by: &MerchantId,
        (email, grant): (&Email, &RoleGrant),
        now: Timestamp,
    ) -> Result<(Self, Member, String), Problem> {
        let is_here = |member: &Member| {
            member.merchant_id().is_some() && member.email.normalized() == email.normalized()
        };
        if self.members.iter().any(is_here) {
            return Err(Code::AlreadyMember.into());
        }
        let (token, digest) = token::draw(&self.store_id);
        let before = self.members.iter().find(|member| member.is_invited_at(email));
        let new = || (MemberId::mint(now), now, 1);
        let renewed =
            |known: &Member| (known.id.clone(), known.created_at, known.changed(now).version);
        let (id, created_at, version) = before.map_or_else(new, renewed);
        let member = Member {
            id,
            email: email.clone(),
            grant: grant.clone(),
            standing: MembershipState::Invited { digest, expires_at: now.plus(INVITED_FOR) },
            invited_by: Some(by.clone()),
            created_at,
            updated_at: now,
            version,
        };
        let mut roster = self.clone();
        roster
            .members
            .retain(|known| known.id == member.id || known.status(now) != MemberStatus::Expired);
        let roster = roster.with(member.clone());
        if roster.members.len() > MAX_MEMBERS {
            return Err(Code::MemberLimit.with("limit", MAX_MEMBERS));
        }
        Ok((roster, member, token))
    }

    /// Finds the open invitation of this address.
    pub fn open_invitation(&self, email: &Email, now: Timestamp) -> Option<&Member> {
        self.members.iter().find(|member| {
            member.is_invited_at(email) && member.status(now) == MemberStatus::Invited
        })
    }

    /// Finds the open invitation whose token has this digest.
    pub fn invitation(&self, presented: &str, now: Timestamp) -> Option<&Member> {
        self.members.iter().find(|member| match &member.standing {
            MembershipState::Invited { digest, expires_at } => {
                constant_time_eq(digest.as_bytes(), presented.as_bytes()) && now < *expires_at
            }
            MembershipState::Active { .. } => false,
        })
    }

    /// Accepts an invitation for an account, which must have proven the invited address.
    ///
    /// # Errors
    /// `not_invited`, `email_unverified`, `already_member`.
    pub fn accept(
        &self,
        invitation: &Member,
        account: &Merchant,
        now: Timestamp,
    ) -> Result<(Self, Member), Problem> {
        if invitation.email.normalized() != account.email.normalized() {
            return Err(Code::NotInvited.into());
        }
        if !account.email_verified {
            return Err(Code::EmailUnverified.into());
        }
        if self.role_of(&account.id).is_some() {
            return Err(Code::AlreadyMember.into());
        }
        let standing = MembershipState::Active { merchant_id: account.id.clone(), joined_at: now };
        let joined = Member { standing, ..invitation.changed(now) };
        Ok((self.with(joined.clone()), joined))
    }

    /// Changes the grant of a member or an invitation.
    ///
    /// # Errors
    /// `last_owner`.
    pub fn regrant(
        &self,
        store: &Store,
        before: &Member,
        grant: &RoleGrant,
        now: Timestamp,
    ) -> Result<Changed, Problem> {
        let member = Member { grant: grant.clone(), ..before.changed(now) };
        let role = member.merchant_id().map(|_| grant.role);
        self.with(member.clone()).apply_consequences(store, before, member, role)
    }

    /// Removes a member or an invitation.
    ///
    /// # Errors
    /// `last_owner`.
    pub fn remove(
        &self,
        store: &Store,
        before: &Member,
        now: Timestamp,
    ) -> Result<Changed, Problem> {
        let mut rest = Self { version: self.version.saturating_add(1), ..self.clone() };
        rest.members.retain(|member| member.id != before.id);
        rest.apply_consequences(store, before, before.changed(now), None)
    }

    /// Applies the consequences of a changed or lost role. Open invitations that the member may not give
    /// any more are revoked, so that nobody comes back by their own invitation. A store whose owner
    /// leaves belongs to the owner who joined first.
    ///
    /// # Errors
    /// `last_owner`.
    fn apply_consequences(
        mut self,
        store: &Store,
        before: &Member,
        member: Member,
        role: Option<Role>,
    ) -> Result<Changed, Problem> {
        let mut heir = None;
        if before.is_owner() && role != Some(Role::Owner) {
            let owners = self.members.iter().filter(|member| member.is_owner());
            let longest = owners.min_by_key(|member| member.joined_at());
            let longest = longest.and_then(Member::merchant_id).ok_or(Code::LastOwner)?;
            heir = (before.merchant_id() == Some(&store.owner_id)).then(|| longest.clone());
        }
        let ends = |open: &Member| {
            let is_theirs =
                open.invited_by.is_some() && open.invited_by.as_ref() == before.merchant_id();
            let may = role.is_some_and(|role| role.ensure_may_assign(open.grant.role).is_ok());
            open.merchant_id().is_none() && is_theirs && !may
        };
        let (revoked, members) = self.members.into_iter().partition(ends);
        self.members = members;
        Ok(Changed { roster: self, member, revoked, heir })
    }
}

#[cfg(test)]
mod tests;
