//! Who makes something for every store: a merchant, whichever store they look at, or an app for one.

use std::marker::PhantomData;
use std::sync::Arc;

use gateway::app::App;
use gateway::caller::{Access, Caller, Identity};
use gateway::problem::Problem;
use gateway::request::Inbound;
use ground::id::MerchantId;
use ground::scope::Required;

use super::{Merchant, StoreAccess, credential, looks_like_jwt, named};

/// A merchant with a live session, who names no store; or a member who may do what scope `S` names, or an
/// app with it, on a store, for whom it belongs to.
#[derive(Debug, Clone)]
pub struct Maker<S> {
    /// The merchant.
    pub merchant_id: MerchantId,
    identity: Identity,
    scope: PhantomData<S>,
}

gateway::caller_argument!(Maker where S: Required);

impl<S: Required> Caller for Maker<S> {
    fn access() -> Access {
        StoreAccess::<S>::access()
    }

    async fn authenticate(app: &App, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(app, inbound)?;
        if looks_like_jwt(&unverified) || named::named_store(inbound).is_some() {
            let access = StoreAccess::<S>::authenticate(app, inbound).await?;
            let merchant_id = access.store.owner_id.clone();
            return Ok(Self { merchant_id, identity: access.identity(), scope: PhantomData });
        }
        let merchant = Merchant::authenticate(app, inbound).await?;
        let identity = merchant.identity();
        Ok(Self { merchant_id: merchant.account.id, identity, scope: PhantomData })
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}
