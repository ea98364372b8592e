//! Roles and grants of a store's members.

use std::collections::BTreeMap;

use core_types::id::StoreId;
use core_types::scope::Scopes;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};

/// The maximum number of other merchants' stores of which an account is a member (our choice). Its item,
/// which every request of the merchant reads, stays below 4 KB except for staff with many scopes on many
/// stores.
pub const MAX_MEMBERSHIPS: usize = 50;

primitives::string_enum! {
    /// The role of a member on a store.
    Role {
        /// May do everything.
        Owner = "owner",
        /// May do everything except delete the store, and add, change or remove owners.
        Admin = "admin",
        /// May do what the member's scopes allow, like an app.
        Staff = "staff",
        /// May read what any scope allows to read, and change nothing.
        ReadOnly = "read_only",
    }
}

impl Role {
    /// Whether it has at least the rank of `least`. `Staff` and `ReadOnly` have the same rank and differ
    /// by scopes.
    pub fn is_at_least(self, least: Self) -> bool {
        self.rank() <= least.rank()
    }

    const fn rank(self) -> u8 {
        match self {
            Self::Owner => 0,
            Self::Admin => 1,
            Self::Staff | Self::ReadOnly => 2,
        }
    }

    /// Ensures that a member with this role may give `role` to others and take it from them.
    ///
    /// # Errors
    /// `insufficient_role`, with the `required_role`.
    pub fn ensure_may_assign(self, role: Self) -> Result<(), Problem> {
        let least = if role == Self::Owner { Self::Owner } else { Self::Admin };
        if self.is_at_least(least) { Ok(()) } else { Err(least.insufficient()) }
    }

    /// The problem of a caller below this role.
    pub fn insufficient(self) -> Problem {
        Code::InsufficientRole.with("required_role", self.as_str())
    }
}

/// A role, with the scopes of staff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleGrant {
    /// The role.
    pub role: Role,
    /// The scopes of staff; empty for every other role.
    #[serde(default, skip_serializing_if = "Scopes::is_empty")]
    pub scopes: Scopes,
}

impl RoleGrant {
    /// The grant of an owner.
    pub const OWNER: Self = Self { role: Role::Owner, scopes: Scopes::NONE };

    /// Whether it allows everything without scopes.
    pub fn is_unlimited(&self) -> bool {
        self.role.is_at_least(Role::Admin)
    }

    /// Whether it covers a scope.
    pub fn covers(&self, scope: &str) -> bool {
        match self.role {
            Role::Owner | Role::Admin => true,
            Role::Staff => self.scopes.cover(scope),
            Role::ReadOnly => scope.starts_with("read_"),
        }
    }

    /// The grant as text: scopes, `read_*` for all reading scopes, or `*` for everything.
    pub fn scope_string(&self) -> String {
        match self.role {
            Role::Owner | Role::Admin => "*".to_owned(),
            Role::Staff => self.scopes.to_string(),
            Role::ReadOnly => "read_*".to_owned(),
        }
    }

    /// The scopes among these that it covers: an app does no more for a member than the member may.
    pub fn narrow(&self, scopes: &Scopes) -> Scopes {
        match self.role {
            Role::Owner | Role::Admin => scopes.clone(),
            Role::Staff => self.scopes.intersection(scopes),
            Role::ReadOnly => Scopes::every_read().intersection(scopes),
        }
    }
}

/// An account's grants on other merchants' stores. Written whole, under a revision of its own, because the
/// account's version counts its owner's changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memberships {
    /// The number of writes; 0 before the first.
    pub revision: u64,
    /// The grants by store. That of a deleted store may remain.
    pub grants: BTreeMap<StoreId, RoleGrant>,
}

impl Memberships {
    /// Whether nothing was ever written.
    pub(crate) fn is_unwritten(&self) -> bool {
        self.revision == 0
    }

    /// The condition that they have not changed since they were read, with `#revision` and `:revision`.
    pub(crate) const UNCHANGED: &'static str =
        "attribute_not_exists(memberships) OR memberships.#revision = :revision";

    /// Returns the next revision with this grant on a store, or without one there.
    #[must_use]
    pub fn with(&self, store: &StoreId, grant: Option<&RoleGrant>) -> Self {
        let mut next = Self { revision: self.revision.saturating_add(1), ..self.clone() };
        match grant {
            Some(grant) => next.grants.insert(store.clone(), grant.clone()),
            None => next.grants.remove(store),
        };
        next
    }

    /// Returns the same revision, restricted to these stores.
    #[must_use]
    pub fn only(&self, stores: impl Fn(&StoreId) -> bool) -> Self {
        let mut restricted = self.clone();
        restricted.grants.retain(|store, _| stores(store));
        restricted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staff(scopes: &str) -> RoleGrant {
        RoleGrant { role: Role::Staff, scopes: Scopes::normalize([scopes]).unwrap() }
    }

    fn of(role: Role) -> RoleGrant {
        RoleGrant { role, scopes: Scopes::NONE }
    }

    #[test]
    fn each_role_covers_its_scopes() {
        for (grant, covered) in [
            (RoleGrant::OWNER, ["write_orders", "read_orders", "read_themes"].as_slice()),
            (of(Role::Admin), &["write_orders", "read_orders", "read_themes"]),
            (of(Role::ReadOnly), &["read_orders", "read_themes"]),
            (staff("write_orders"), &["write_orders", "read_orders"]),
            (staff("read_orders"), &["read_orders"]),
            (staff(""), &[]),
        ] {
            for scope in ["write_orders", "read_orders", "read_themes"] {
                assert_eq!(grant.covers(scope), covered.contains(&scope), "{grant:?} {scope}");
            }
        }
    }

    #[test]
    fn an_app_has_no_more_scopes_than_its_member() {
        let of_app = Scopes::normalize(["write_orders read_themes"]).unwrap();
        let narrowed = |grant: &RoleGrant| grant.narrow(&of_app).to_string();
        assert_eq!(narrowed(&of(Role::Admin)), "read_themes write_orders");
        assert_eq!(narrowed(&of(Role::ReadOnly)), "read_orders read_themes");
        assert_eq!(narrowed(&staff("read_orders write_themes")), "read_orders read_themes");
        assert_eq!(narrowed(&staff("read_products")), "");
    }

    #[test]
    fn owners_give_every_role_and_admins_all_but_owner() {
        for by in Role::ALL {
            for role in Role::ALL {
                let may = match by {
                    Role::Owner => true,
                    Role::Admin => *role != Role::Owner,
                    Role::Staff | Role::ReadOnly => false,
                };
                assert_eq!(by.ensure_may_assign(*role).is_ok(), may, "{by} {role}");
            }
        }
        assert!(Role::Staff.is_at_least(Role::ReadOnly) && Role::ReadOnly.is_at_least(Role::Staff));
        assert!(!Role::Admin.is_at_least(Role::Owner) && !Role::Staff.is_at_least(Role::Admin));
    }

    #[test]
    fn memberships_are_empty_before_the_first_write() {
        let none: Memberships = Memberships::default();
        let store = StoreId::derive(&["s"]);
        let one = none.with(&store, Some(&staff("read_orders")));
        let stored: Memberships =
            serde_json::from_value(serde_json::to_value(&one).unwrap()).unwrap();
        assert_eq!((stored.revision, stored.grants.len(), &stored), (1, 1, &one));
        assert!(none.is_unwritten() && !one.with(&store, None).is_unwritten());
        assert!(one.only(|_| false).grants.is_empty());
    }
}
