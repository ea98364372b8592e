//! The limit on wrong invitation tokens.

use primitives::clock::HOUR;

use crate::throttle::Ceiling;

/// The maximum number of unknown invitation tokens that an account may present in an hour (our choice).
pub const WRONG_INVITATIONS: Ceiling = Ceiling { of: "wrong_invitations", max: 25, window: HOUR };
