//! The members of a store as callers, by their role.

use std::marker::PhantomData;
use std::sync::Arc;

use gateway::caller::{Access, Caller, Identity};
use gateway::request::Inbound;
use identity::member::{Role, RoleGrant};
use identity::session::Session;
use identity::store::Store;
use primitives::problem::Problem;
use services::Services;

use super::{MemberAccess, MerchantAccount, credential, merchant_identity, open_store};

/// The minimum role that a route requires, as a type: `StoreMember<roles::Admin>`.
pub trait AtLeast: Clone + Send + Sync + 'static {
    /// The role.
    const ROLE: Role;
}

/// The roles as types.
pub mod roles {
    use identity::member::Role;

    use super::AtLeast;

    macro_rules! at_least {
        ($($(#[$doc:meta])* $name:ident = $role:ident;)*) => {$(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            pub struct $name;
            impl AtLeast for $name {
                const ROLE: Role = Role::$role;
            }
        )*};
    }

    at_least! {
        /// Owners.
        Owner = Owner;
        /// Owners and admins.
        Admin = Admin;
        /// Every member.
        Any = ReadOnly;
    }
}

/// A merchant with a live session, and the store that they name, of which they are a member with at least
/// this role.
#[derive(Debug, Clone)]
pub struct StoreMember<R> {
    /// The account of the session, active when it was read.
    pub account: MerchantAccount,
    /// The session of the token, valid when it was read.
    pub session: Session,
    /// The store that the request names, read with the session.
    pub store: Store,
    /// Their role and scopes on the store.
    pub grant: RoleGrant,
    role: PhantomData<R>,
}

/// An owner of the store.
pub type Owner = StoreMember<roles::Owner>;
/// An owner or an admin of the store.
pub type Admin = StoreMember<roles::Admin>;
/// A member of the store with any role.
pub type AnyMember = StoreMember<roles::Any>;

gateway::caller_argument!(StoreMember where R: AtLeast);

impl<R: AtLeast> StoreMember<R> {
    /// The member, if their role is sufficient.
    ///
    /// # Errors
    /// `insufficient_role`.
    pub(super) fn of(opened: MemberAccess) -> Result<Self, Problem> {
        let MemberAccess { account, session, store, grant } = opened;
        if grant.role.is_at_least(R::ROLE) {
            Ok(Self { account, session, store, grant, role: PhantomData })
        } else {
            Err(R::ROLE.insufficient())
        }
    }
}

impl<R: AtLeast> Caller for StoreMember<R> {
    fn access() -> Access {
        Access::Role(R::ROLE.as_str())
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(services, inbound)?;
        Self::of(open_store(services, &unverified, inbound).await?)
    }

    fn identity(&self) -> Identity {
        merchant_identity(&self.account.id, Some(&self.store.id))
    }
}
