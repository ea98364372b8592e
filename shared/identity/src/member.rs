//! The members of a store, its open invitations, and their grants (docs/conventions.md §6).
//!
//! Members and invitations of a store are one item, its [`Roster`], so that every change is one versioned
//! write. Of two owners who leave concurrently one succeeds, and the other stays as the last owner.
//! Grants are also stored in the members' accounts ([`Memberships`]), by the same transaction:
//! authentication reads the account anyway, and never the roster.

mod grant;
mod guesses;
mod roster;
mod token;
mod topics;
mod view;

pub use grant::{MAX_MEMBERSHIPS, Memberships, Role, RoleGrant};
pub use guesses::WRONG_INVITATIONS;
pub use roster::{Changed, INVITED_FOR, MAX_MEMBERS, Member, MembershipState, Roster};
pub use token::UnverifiedInvitation;
pub use topics::*;
pub use view::{MemberStatus, MemberView};
