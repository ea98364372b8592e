//! How often somebody may present a token of no invitation.

use primitives::clock::HOUR;

use crate::throttle::Ceiling;

/// Tokens that one account may present in an hour though there is no such invitation (our choice).
pub const WRONG_INVITATIONS: Ceiling = Ceiling { of: "wrong_invitations", most: 25, window: HOUR };
