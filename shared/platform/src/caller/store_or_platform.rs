//! Whoever looks at how things go: at a store's, or, as an operator, at the platform's.

use std::marker::PhantomData;
use std::sync::Arc;

use core_types::id::{MerchantId, StoreId};
use core_types::scope::Required;
use gateway::caller::{Access, Caller, Identity};
use gateway::request::Inbound;
use primitives::problem::Problem;
use services::Services;

use super::{
    OverseenStore, StoreAccess, credential, looks_like_jwt, merchant_identity, named, open_session,
};

/// A member of a store who may do what scope `S` names, an app with it, an operator who names the store;
/// or an operator who names none, and sees the platform.
#[derive(Debug, Clone)]
pub enum StoreOrPlatform<S> {
    /// Of a store.
    Store(Box<OverseenStore<S>>),
    /// Of the platform: the operator's account.
    Platform(MerchantId, PhantomData<S>),
}

gateway::caller_argument!(StoreOrPlatform where S: Required);

impl<S> StoreOrPlatform<S> {
    /// The store whose numbers they see, and no others; none of the platform's.
    pub fn store(&self) -> Option<&StoreId> {
        match self {
            Self::Store(overseen) => Some(&overseen.store.id),
            Self::Platform(..) => None,
        }
    }

    /// Whether they may see what concerns this store, or, where it is none, the platform.
    pub fn sees(&self, store: Option<&StoreId>) -> bool {
        self.store().is_none_or(|own| store == Some(own))
    }
}

impl<S: Required> Caller for StoreOrPlatform<S> {
    fn access() -> Access {
        StoreAccess::<S>::access()
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(services, inbound)?;
        if !looks_like_jwt(&unverified) && named::named_store(inbound).is_none() {
            let (account, _, _) = open_session(services, &unverified, &[]).await?;
            if account.is_operator(&services.config) {
                return Ok(Self::Platform(account.id, PhantomData));
            }
        }
        let overseen = OverseenStore::authenticate(services, inbound).await?;
        Ok(Self::Store(Box::new(overseen)))
    }

    fn identity(&self) -> Identity {
        match self {
            Self::Store(overseen) => overseen.identity(),
            Self::Platform(account, _) => merchant_identity(account, None),
        }
    }
}
