//! The capabilities of payment providers that the rules of payments and orders depend on.

/// The capabilities of a provider. Each provider states all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is one question")]
pub struct Capabilities {
    /// Whether it is called over the network and sends webhooks. Otherwise the merchant takes and returns the
    /// money, and says so.
    pub is_online: bool,
    /// Whether a voided payment can be authorized again under its reference, as another payment.
    pub authorizes_anew: bool,
    /// Whether a part of an authorization can be captured; otherwise all of it or nothing.
    pub captures_in_part: bool,
    /// Whether several payments can be made under one reference.
    pub has_several_payments: bool,
}

/// A provider that states its capabilities.
pub trait Capable {
    /// The capabilities.
    const CAPABILITIES: Capabilities;
}
