//! The owner of a store that is being deleted.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use gateway::caller::{Access, Caller, Identity};
use gateway::request::Inbound;
use http::request::Parts;
use identity::store::StoreStatus;
use primitives::problem::{Code, Problem};
use services::Services;

use super::{Owner, credential, open_any_store};

/// The owner of a store that may be deleted already: for the request that deletes it, whose repetition
/// gets the stored response. Its handler never gets a deleted store.
#[derive(Debug, Clone)]
pub struct ClosingOwner(pub Owner);

impl Caller for ClosingOwner {
    fn access() -> Access {
        Owner::access()
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(services, inbound)?;
        Owner::of(open_any_store(services, &unverified, inbound).await?).map(Self)
    }

    fn identity(&self) -> Identity {
        self.0.identity()
    }
}

impl<S: Sync> FromRequestParts<S> for ClosingOwner {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Self>().cloned();
        let Self(owner) = caller.ok_or_else(|| Problem::internal("no caller in the request"))?;
        // The request is no repetition, or its stored response has expired.
        if owner.store.status == StoreStatus::Deleted {
            return Err(Code::NotFound.into());
        }
        Ok(Self(owner))
    }
}
