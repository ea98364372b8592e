//! All the people of a store, and what becomes of them.

use core_types::event::{Event, EventSubject, Topic};
use core_types::fields::Email;
use core_types::id::{MemberId, MerchantId, StoreId};
use core_types::key;
use primitives::clock::{DAY, Timestamp};
use table::item::{Item, Key, Packing};
use primitives::problem::{Code, Problem};
use crypto::signature::constant_time_eq;
use table::Write;
use serde::{Deserialize, Serialize};

use super::token;
use super::{Grant, MemberStatus, MemberView, Role};
use crate::merchant::Merchant;
use crate::store::Store;

/// Members and open invitations that one store may have (our choice).
pub const MAX_MEMBERS: usize = 100;
/// How long an invitation can be accepted.
pub const INVITED_FOR: std::time::Duration = DAY.saturating_mul(7);

/// How far somebody is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Standing {
    /// They were mailed a token.
    Invited {
        /// SHA-256 of the token.
        digest: String,
        /// When it can no longer be used.
        expires_at: Timestamp,
    },
    /// They are a member.
    Active {
        /// Their account.
        merchant_id: MerchantId,
        /// Since when.
        joined_at: Timestamp,
    },
}

/// A member of a store, or somebody who is invited to be one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// `mem_…`; the same before and after the invitation is accepted.
    pub id: MemberId,
    /// The address that was invited, or that the store was opened with: a member's account may have
    /// another by now.
    pub email: Email,
    /// What they may do.
    pub grant: Grant,
    /// Whether they have accepted.
    pub standing: Standing,
    /// Who invited them last; nobody, where they opened the store.
    #[serde(default)]
    pub invited_by: Option<MerchantId>,
    /// When they were invited first.
    pub created_at: Timestamp,
    /// When something of it was changed last.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Member {
    /// Whether they are a member, or could still become one.
    pub fn status(&self, now: Timestamp) -> MemberStatus {
        match &self.standing {
            Standing::Active { .. } => MemberStatus::Active,
            Standing::Invited { expires_at, .. } if now < *expires_at => MemberStatus::Invited,
            Standing::Invited { .. } => MemberStatus::Expired,
        }
    }

    /// Their account, once they are a member.
    pub fn merchant_id(&self) -> Option<&MerchantId> {
        match &self.standing {
            Standing::Active { merchant_id, .. } => Some(merchant_id),
            Standing::Invited { .. } => None,
        }
    }

    /// Until when they may accept.
    pub fn expires_at(&self) -> Option<Timestamp> {
        match &self.standing {
            Standing::Active { .. } => None,
            Standing::Invited { expires_at, .. } => Some(*expires_at),
        }
    }

    /// Since when they are a member.
    pub fn joined_at(&self) -> Option<Timestamp> {
        match &self.standing {
            Standing::Active { joined_at, .. } => Some(*joined_at),
            Standing::Invited { .. } => None,
        }
    }

    /// What happened to them, with them as they are now.
    pub fn event(
        &self,
        topic: &Topic<MemberView>,
        store: &StoreId,
        account: Option<&Merchant>,
        now: Timestamp,
    ) -> Event {
        let (id, version) = (self.id.as_str(), self.version);
        let about = EventSubject { store: Some(store), app: None, entity: id, version };
        Event::new(topic, about, &MemberView::of(self, store, account, now), now)
    }

    /// The same at its next version.
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

/// The people of a store. One that nobody was ever invited to has none written: its owner is in the
/// store's own item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roster {
    /// The store.
    pub store_id: StoreId,
    /// In the order in which they were invited.
    pub members: Vec<Member>,
    /// One more with each write of any of them; 0 while nothing is written.
    version: u64,
}

impl Item for Roster {
    const KIND: &'static str = "members";
    const PACKING: Option<Packing> = Some(Packing::WHOLE);
    fn key(&self) -> Key {
        key::members(&self.store_id)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

/// What a change makes of a store's people.
#[derive(Debug, Clone)]
pub struct Changed {
    /// All of them.
    pub roster: Roster,
    /// Whom it is about, as they are now, or were last.
    pub member: Member,
    /// Invitations that end with it: of whoever could not give them any more.
    pub revoked: Vec<Member>,
    /// To whom the store belongs from now on, when whom it belonged to is no owner any more.
    pub heir: Option<MerchantId>,
}

impl Roster {
    /// The people of a store, by what is written of them; before anything is, its owner, whose address
    /// this is.
    pub fn of(store: &Store, kept: Option<Self>, owner: &Email) -> Self {
        kept.unwrap_or_else(|| {
            let opened = Member {
                id: MemberId::derive(&[store.id.as_str()]),
                email: owner.clone(),
                grant: Grant::OWNER,
                standing: Standing::Active {
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

    /// The one of this id.
    ///
    /// # Errors
    /// `not_found`.
    pub fn member(&self, id: &MemberId) -> Result<&Member, Problem> {
        self.members.iter().find(|member| member.id == *id).ok_or_else(|| Code::NotFound.into())
    }

    /// What an account is to the store.
    pub fn role_of(&self, merchant: &MerchantId) -> Option<Role> {
        let mut members = self.members.iter();
        members.find(|it| it.merchant_id() == Some(merchant)).map(|member| member.grant.role)
    }

    /// Adds its new version to a transaction.
    pub fn write(&self, write: Write) -> Write {
        write.create_or_replace(self, Code::VersionConflict)
    }

    /// At its next version, with this one in place of the one of its id, or at the end.
    fn with(&self, member: Member) -> Self {
        let mut next = Self { version: self.version.saturating_add(1), ..self.clone() };
        match next.members.iter_mut().find(|known| known.id == member.id) {
            Some(known) => *known = member,
            None => next.members.push(member),
        }
        next
    }

    /// Invites an address, or invites it again: what was mailed before is of no more use. Also gives
    /// the token, which is mailed and kept nowhere. Those who let their time pass make room.
    ///
    /// # Errors
    /// `already_member`, `member_limit`.
    pub fn invite(
        &self,
        by: &MerchantId,
        (email, grant): (&Email, &Grant),
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
        let anew = || (MemberId::mint(now), now, 1);
        let again =
            |known: &Member| (known.id.clone(), known.created_at, known.changed(now).version);
        let (id, created_at, version) = before.map_or_else(anew, again);
        let member = Member {
            id,
            email: email.clone(),
            grant: grant.clone(),
            standing: Standing::Invited { digest, expires_at: now.plus(INVITED_FOR) },
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

    /// The invitation of this address that can still be accepted.
    pub fn open_invitation(&self, email: &Email, now: Timestamp) -> Option<&Member> {
        self.members.iter().find(|member| {
            member.is_invited_at(email) && member.status(now) == MemberStatus::Invited
        })
    }

    /// The invitation whose token has this digest, while it can be accepted.
    pub fn invitation(&self, presented: &str, now: Timestamp) -> Option<&Member> {
        self.members.iter().find(|member| match &member.standing {
            Standing::Invited { digest, expires_at } => {
                constant_time_eq(digest.as_bytes(), presented.as_bytes()) && now < *expires_at
            }
            Standing::Active { .. } => false,
        })
    }

    /// The invitation, accepted by this account: it is one of an address that it has proven.
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
        let standing = Standing::Active { merchant_id: account.id.clone(), joined_at: now };
        let joined = Member { standing, ..invitation.changed(now) };
        Ok((self.with(joined.clone()), joined))
    }

    /// The member, or the invitation, with another grant.
    ///
    /// # Errors
    /// `last_owner`.
    pub fn regrant(
        &self,
        store: &Store,
        before: &Member,
        grant: &Grant,
        now: Timestamp,
    ) -> Result<Changed, Problem> {
        let member = Member { grant: grant.clone(), ..before.changed(now) };
        let role = member.merchant_id().map(|_| grant.role);
        self.with(member.clone()).without_what_ends(store, before, member, role)
    }

    /// All but this member, or this invitation.
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
        rest.without_what_ends(store, before, before.changed(now), None)
    }

    /// What else becomes of it when somebody is something else from now on: whoever may not give an
    /// invitation any more leaves none behind that they would come back by, and a store belongs to one
    /// of its owners, the longest there.
    ///
    /// # Errors
    /// `last_owner`.
    fn without_what_ends(
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
            let may = role.is_some_and(|role| role.gives(open.grant.role).is_ok());
            open.merchant_id().is_none() && is_theirs && !may
        };
        let (revoked, members) = self.members.into_iter().partition(ends);
        self.members = members;
        Ok(Changed { roster: self, member, revoked, heir })
    }
}

#[cfg(test)]
mod tests;
