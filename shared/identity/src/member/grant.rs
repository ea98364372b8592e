//! What somebody may do on a store.

use std::collections::BTreeMap;

use core_types::id::StoreId;
use core_types::scope::Scopes;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};

/// Stores of others that one account may be a member of (our choice): its item, which every request
/// of the merchant's reads, stays below four kilobytes for all but staff with many scopes on many.
pub const MAX_MEMBERSHIPS: usize = 50;

primitives::string_enum! {
    /// What a member is to a store.
    Role {
        /// Does everything.
        Owner = "owner",
        /// Does everything but give the store up, and make, change or remove owners.
        Admin = "admin",
        /// Does what chosen scopes name, as an app does.
        Staff = "staff",
        /// Sees what any scope lets see, and changes nothing.
        ReadOnly = "read_only",
    }
}

impl Role {
    /// Whether it may do whatever takes at least `least`. Staff and who only reads differ by scopes, not
    /// by rank.
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

    /// Whether it may make somebody this, or take it from them.
    ///
    /// # Errors
    /// `insufficient_role`, with the one that it takes.
    pub fn gives(self, role: Self) -> Result<(), Problem> {
        let least = if role == Self::Owner { Self::Owner } else { Self::Admin };
        if self.is_at_least(least) { Ok(()) } else { Err(least.required()) }
    }

    /// The rejection of whoever is less than this.
    pub fn required(self) -> Problem {
        Code::InsufficientRole.with("required_role", self.as_str())
    }
}

/// A role, with the scopes of one that has its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The role.
    pub role: Role,
    /// Those of staff; none of any other role.
    #[serde(default, skip_serializing_if = "Scopes::is_empty")]
    pub scopes: Scopes,
}

impl Grant {
    /// An owner's.
    pub const OWNER: Self = Self { role: Role::Owner, scopes: Scopes::NONE };

    /// Whether no scope is needed for anything.
    pub fn is_unlimited(&self) -> bool {
        self.role.is_at_least(Role::Admin)
    }

    /// Whether it allows what `scope` names.
    pub fn covers(&self, scope: &str) -> bool {
        match self.role {
            Role::Owner | Role::Admin => true,
            Role::Staff => self.scopes.cover(scope),
            Role::ReadOnly => scope.starts_with("read_"),
        }
    }

    /// What it allows as one text: scopes, `read_*` for all that read, or `*` for everything.
    pub fn in_words(&self) -> String {
        match self.role {
            Role::Owner | Role::Admin => "*".to_owned(),
            Role::Staff => self.scopes.to_string(),
            Role::ReadOnly => "read_*".to_owned(),
        }
    }

    /// What of these scopes it allows: an app that somebody uses does no more than they may.
    pub fn narrow(&self, scopes: &Scopes) -> Scopes {
        match self.role {
            Role::Owner | Role::Admin => scopes.clone(),
            Role::Staff => self.scopes.intersection(scopes),
            Role::ReadOnly => Scopes::every_read().intersection(scopes),
        }
    }
}

/// The stores of others that an account may act on. Written whole, under a revision of its own: the
/// account's version counts what its owner changes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memberships {
    /// One more with each write; 0 before the first.
    pub revision: u64,
    /// By store. Of a store that was deleted since, it may still be here.
    pub grants: BTreeMap<StoreId, Grant>,
}

impl Memberships {
    /// Whether there never was any.
    pub(crate) fn is_unwritten(&self) -> bool {
        self.revision == 0
    }

    /// The condition under which they are as they were read: over `#revision` and `:revision`.
    pub(crate) const UNCHANGED: &'static str =
        "attribute_not_exists(memberships) OR memberships.#revision = :revision";

    /// The next ones, with this grant on a store, or with none there.
    #[must_use]
    pub fn with(&self, store: &StoreId, grant: Option<&Grant>) -> Self {
        let mut next = Self { revision: self.revision.saturating_add(1), ..self.clone() };
        match grant {
            Some(grant) => next.grants.insert(store.clone(), grant.clone()),
            None => next.grants.remove(store),
        };
        next
    }

    /// The same revision, with what is on these stores alone.
    #[must_use]
    pub fn only(&self, stores: impl Fn(&StoreId) -> bool) -> Self {
        let mut kept = self.clone();
        kept.grants.retain(|store, _| stores(store));
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn staff(scopes: &str) -> Grant {
        Grant { role: Role::Staff, scopes: Scopes::normalize([scopes]).unwrap() }
    }

    fn of(role: Role) -> Grant {
        Grant { role, scopes: Scopes::NONE }
    }

    #[test]
    fn a_role_covers_what_it_says() {
        for (grant, covered) in [
            (Grant::OWNER, ["write_orders", "read_orders", "read_themes"].as_slice()),
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
    fn an_app_does_no_more_than_who_uses_it() {
        let of_app = Scopes::normalize(["write_orders read_themes"]).unwrap();
        let narrowed = |grant: &Grant| grant.narrow(&of_app).to_string();
        assert_eq!(narrowed(&of(Role::Admin)), "read_themes write_orders");
        assert_eq!(narrowed(&of(Role::ReadOnly)), "read_orders read_themes");
        assert_eq!(narrowed(&staff("read_orders write_themes")), "read_orders read_themes");
        assert_eq!(narrowed(&staff("read_products")), "");
    }

    #[test]
    fn owners_make_anybody_and_admins_all_but_owners() {
        for by in Role::ALL {
            for role in Role::ALL {
                let may = match by {
                    Role::Owner => true,
                    Role::Admin => *role != Role::Owner,
                    Role::Staff | Role::ReadOnly => false,
                };
                assert_eq!(by.gives(*role).is_ok(), may, "{by} {role}");
            }
        }
        assert!(Role::Staff.is_at_least(Role::ReadOnly) && Role::ReadOnly.is_at_least(Role::Staff));
        assert!(!Role::Admin.is_at_least(Role::Owner) && !Role::Staff.is_at_least(Role::Admin));
    }

    #[test]
    fn memberships_of_before_there_were_any_are_none() {
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
