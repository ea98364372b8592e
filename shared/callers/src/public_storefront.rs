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
///
/// Networks may have many shoppers, as that of a carrier does. So whoever holds a cart or an order acts on it with a
/// budget beside the network's ([`budget_of`]).
pub fn anonymous_at(store: &StoreId, inbound: &Inbound) -> Identity {
    let anonymous = Identity::anonymous(inbound);
    let presented = |(kind, header): &(&str, &str)| {
        let token = inbound.header(header).filter(|token| token.len() >= GUEST_KEY)?;
        Some(format!("{kind}:{}", crypto::seal::digest(token)))
    };
    let token = TOKENS.iter().find_map(presented);
    let network = format!("{store}#{}", inbound.client_prefix());
    Identity {
        guest: anonymous.guest.filter(|_| token.is_none()),
        subject: budget_of(&network, inbound.row.path, token.as_deref()),
        principal: token.unwrap_or(anonymous.principal),
        store: Some(store.to_string()),
        tier: Tier::Public,
        scopes: None,
    }
}

/// Parts of the paths that act on a cart or an order, whose handlers verify the token.
const HELD: [&str; 3] = ["/carts/{id}", "/orders/{id}", "/payments/{provider}/"];

/// The budget of an anonymous request: the network's; with a token, for what it opens, one of sixteen beside it. A
/// network has no more than these seventeen, however many tokens it collects or makes up.
fn budget_of(network: &str, path: &str, token: Option<&str>) -> String {
    let is_held = HELD.iter().any(|part| path.contains(part));
    match token.filter(|_| is_held).and_then(|digest| digest.chars().next_back()) {
        Some(digit) => format!("{network}#{digit}"),
        None => network.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn tokens_of_a_network_share_sixteen_budgets() {
        let cart = "/v1/storefront/{subdomain}/carts/{id}/lines";
        let budget = |path: &str, token: &str| {
            budget_of("sto_1#10.0.0.0/24", path, Some(&crypto::seal::digest(token)))
        };
        let found: BTreeSet<String> =
            (0..1_000).map(|number: u32| budget(cart, &number.to_string())).collect();
        assert_eq!(found.len(), 16);
        assert_eq!(budget("/v1/storefront/{subdomain}/products", "a"), "sto_1#10.0.0.0/24");
        assert_eq!(budget_of("sto_1#10.0.0.0/24", cart, None), "sto_1#10.0.0.0/24");
    }
}
