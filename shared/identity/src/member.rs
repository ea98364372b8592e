//! The people of a store: its members, whom it has invited, and what each may do
//! (docs/conventions.md §6).
//!
//! A store's people are one item, its [`Roster`], so that whatever changes about them is one write under
//! one version: of two owners who leave at the same moment one does, and the other is the last. What
//! somebody may do lies in their own account as well ([`Memberships`]), written in the same
//! transaction: authentication reads the account anyway, and the roster never.

mod grant;
mod guesses;
mod roster;
mod token;
mod topics;
mod view;

pub use grant::{Grant, MAX_MEMBERSHIPS, Memberships, Role};
pub use guesses::WRONG_INVITATIONS;
pub use roster::{Changed, INVITED_FOR, MAX_MEMBERS, Member, Roster, Standing};
pub use token::UnverifiedInvitation;
pub use topics::*;
pub use view::{MemberStatus, MemberView};
