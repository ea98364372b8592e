//! Callers of reports: for a store, or, as an operator, for the platform.

use std::marker::PhantomData;
use std::sync::Arc;

use core_types::id::{MerchantId, StoreId};
use core_types::scope::RequiredScope;
use gateway::caller::{Access, Caller, Identity};
use gateway::request::Inbound;
use primitives::problem::Problem;
use services::Services;

use super::named_store::named_store;
use super::{
    StoreAccess, StoreOrOperator, credential, looks_like_jwt, merchant_identity, open_session,
};

/// A member of a store whose role covers scope `S`, an app with that scope, or an operator who names the
/// store; or an operator who names none, for the platform.
#[derive(Debug, Clone)]
pub enum StoreOrPlatform<S> {
    /// The caller is concerned with one store.
    Store(Box<StoreOrOperator<S>>),
    /// The caller is an operator, concerned with the platform: their account.
    Platform(MerchantId, PhantomData<S>),
}

gateway::caller_argument!(StoreOrPlatform where S: RequiredScope);

impl<S> StoreOrPlatform<S> {
    /// The only store whose data the caller sees; none for the platform.
    pub fn store(&self) -> Option<&StoreId> {
        match self {
            Self::Store(overseen) => Some(&overseen.store.id),
            Self::Platform(..) => None,
        }
    }

    /// Whether the caller may see an object of this store, or, without a store, of the platform.
    pub fn can_read(&self, store: Option<&StoreId>) -> bool {
        self.store().is_none_or(|own| store == Some(own))
    }
}

impl<S: RequiredScope> Caller for StoreOrPlatform<S> {
    fn access() -> Access {
        StoreAccess::<S>::access()
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(services, inbound)?;
        if !looks_like_jwt(&unverified) && named_store(inbound).is_none() {
            let (account, _, _) = open_session(services, &unverified, &[]).await?;
            if account.is_operator(&services.config) {
                return Ok(Self::Platform(account.id, PhantomData));
            }
        }
        let overseen = StoreOrOperator::authenticate(services, inbound).await?;
        Ok(Self::Store(Box::new(overseen)))
    }

    fn identity(&self) -> Identity {
        match self {
            Self::Store(overseen) => overseen.identity(),
            Self::Platform(account, _) => merchant_identity(account, None),
        }
    }
}
