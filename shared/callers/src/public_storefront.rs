//! The storefront of a path, for anybody.

use std::sync::Arc;

use core_types::id::StoreId;
use gateway::budget::Tier;
use gateway::caller::{Access, Caller, Identity};
use gateway::idempotency::GUEST_KEY;
use gateway::request::Inbound;
use identity::store::Store;
use identity::storefront::{OpenStore, open_store};
use primitives::problem::Problem;
use services::Services;

/// A storefront of the path, for an anonymous caller.
#[derive(Debug, Clone)]
pub struct PublicStorefront {
    /// The store of the subdomain, up to [`CACHE_TIME`](identity::storefront::CACHE_TIME) old.
    pub open: Arc<OpenStore>,
    /// The subdomain of the request.
    pub requested: String,
    identity: Identity,
}

gateway::caller_argument!(PublicStorefront);

impl PublicStorefront {
    /// The store.
    pub fn store(&self) -> &Store {
        &self.open.store
    }
}

impl Caller for PublicStorefront {
    fn access() -> Access {
        Access::Public
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let requested = inbound.param("subdomain").unwrap_or_default().to_owned();
        let open = open_store(services, &requested).await?;
        let identity = anonymous_at(&open.store.id, inbound);
        Ok(Self { open, requested, identity })
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}

/// The principals that a token identifies, and its header.
const TOKENS: [(&str, &str); 2] =
    [("order_token", "x-service-order-token"), ("cart_token", "x-service-cart-token")];

/// An anonymous caller at a store: identified by network, with a budget of this store alone
/// (docs/conventions.md §5).
///
/// A caller with the token of an order or a cart is identified by that: an idempotent response never goes to
/// somebody with another token. A value too short for a token is ignored, and its sender is a
/// guest.
pub fn anonymous_at(store: &StoreId, inbound: &Inbound) -> Identity {
    let anonymous = Identity::anonymous(inbound);
    let presented = |(kind, header): &(&str, &str)| {
        let token = inbound.header(header).filter(|token| token.len() >= GUEST_KEY)?;
        Some(format!("{kind}:{}", crypto::seal::digest(token)))
    };
    let token = TOKENS.iter().find_map(presented);
    Identity {
        guest: anonymous.guest.filter(|_| token.is_none()),
        principal: token.unwrap_or(anonymous.principal),
        store: Some(store.to_string()),
        subject: format!("{store}#{}", inbound.client_prefix()),
        tier: Tier::Public,
        scopes: None,
    }
}
