//! The store of a request without a session: `subdomain` or `store_id` in the body.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use callers::anonymous_at;
use core_types::id::StoreId;
use core_types::key;
use deserr::Deserr;
use gateway::caller::{Access, Caller, Identity};
use gateway::request::{Argument, Described, Inbound, Raw, Reads, Validation};
use http::request::Parts;
use identity::store::{Store, StoreStatus};
use identity::storefront::open_store;
use primitives::fields::{FieldErrors, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use serde_json::Value;
use services::Services;

/// The members of a body that name the store.
const MEMBERS: [&str; 2] = ["store_id", "subdomain"];

/// An anonymous caller at the store that the body names.
#[derive(Debug, Clone)]
pub(crate) struct StoreInBody {
    /// The store.
    pub(crate) store: Store,
    identity: Identity,
}

gateway::caller_argument!(StoreInBody);

impl Caller for StoreInBody {
    fn access() -> Access {
        Access::Public
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let member = |name: &str| match inbound.json().ok()?.get(name)? {
            Value::String(text) => Some(text.clone()),
            _ => None,
        };
        let store = match MEMBERS.map(member) {
            [Some(id), _] => by_id(services, &id).await?,
            [None, Some(subdomain)] => open_store(services, &subdomain).await?.store.clone(),
            // A body that is not JSON is rejected as such.
            [None, None] => {
                let missing = || Code::StoreRequired.detail("Send `store_id` or `subdomain`.");
                return Err(inbound.json().err().unwrap_or_else(missing));
            }
        };
        let identity = anonymous_at(&store.id, inbound);
        Ok(Self { store, identity })
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}

/// Loads the store of this id, if its storefront is open, as by subdomain.
async fn by_id(services: &Services, id: &str) -> Result<Store, Problem> {
    let id = StoreId::parse(id).ok_or(Code::StorefrontNotFound)?;
    let store: Option<Store> = services.table.get(&key::store(&id)).await?;
    store
        .filter(|store| matches!(store.status, StoreStatus::Active | StoreStatus::Paused))
        .ok_or_else(|| Code::StorefrontNotFound.into())
}

/// A JSON body without the members that name the store, which the caller has read.
#[derive(Debug)]
pub(crate) struct StoreBody<T>(pub(crate) T);

/// The members of the body that name the store.
#[request]
#[derive(Debug)]
#[allow(dead_code, reason = "only its schema is used")]
struct StoreMembers {
    /// The store's id.
    store_id: Option<StoreId>,
    /// The store's subdomain.
    subdomain: Option<Text<1, 63>>,
}

impl<T: Deserr<FieldErrors> + Described + Send + 'static> Argument for StoreBody<T> {
    const READS: Reads = Reads::BODY;

    gateway::describes! { |operation| { operation.takes_body_with::<T, StoreMembers>(); } }

    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        let mut fields = validation.body()?;
        if let Value::Object(object) = &mut fields {
            object.retain(|name, _| !MEMBERS.contains(&name.as_str()));
        }
        let read = validation.read(fields).map(Self);
        validation.insert(read);
        Ok(())
    }
}

impl<S: Sync, T: Send + 'static> FromRequestParts<S> for StoreBody<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        inbound.take()
    }
}
