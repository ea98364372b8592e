//! Callers of routes about the platform as a whole: its operators, and each store as far as it is
//! concerned.

use std::sync::Arc;

use core_types::id::StoreId;
use core_types::scope::RequiredScope;
use gateway::caller::{Access, Caller, Identity};
use gateway::request::Inbound;
use identity::merchant::stores::only_store;
use identity::store::StoreStatus;
use primitives::problem::{Code, Problem};
use services::Services;

use super::named_store::named_store;
use super::{
    Operator, StoreAccess, StoreActor, StoreOrOperator, credential, looks_like_jwt, open_session,
    open_session_and_store,
};

/// A platform operator, who need not name a store; a member of a store whose role covers scope `S`; or an
/// app with that scope.
#[derive(Debug, Clone)]
pub enum OperatorOrStore<S> {
    /// An operator.
    Operator(Box<Operator>),
    /// A member or an app of a store.
    Store(Box<StoreAccess<S>>),
}

gateway::caller_argument!(OperatorOrStore where S: RequiredScope);

impl<S> OperatorOrStore<S> {
    /// Whether the caller may see an object of this store. An object without a store is the platform's,
    /// and visible to all.
    pub fn can_read(&self, store: Option<&StoreId>) -> bool {
        match self {
            Self::Operator(_) => true,
            Self::Store(access) => store.is_none_or(|store| *store == access.store.id),
        }
    }
}

impl<S: RequiredScope> Caller for OperatorOrStore<S> {
    fn access() -> Access {
        StoreOrOperator::<S>::access()
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(services, inbound)?;
        if looks_like_jwt(&unverified) {
            let access = StoreAccess::authenticate(services, inbound).await?;
            return Ok(Self::Store(Box::new(access)));
        }
        if named_store(inbound).is_none() {
            let (account, _, _) = open_session(services, &unverified, &[]).await?;
            if account.is_operator(&services.config) {
                return Ok(Self::Operator(Box::new(Operator { account })));
            }
            let (store, grant) = only_store(services, &account).await?;
            let actor = StoreActor::Merchant(account.id, grant);
            return Ok(Self::Store(Box::new(StoreAccess::of(store, actor)?)));
        }
        let (account, _, store) = open_session_and_store(services, &unverified, inbound).await?;
        let store = store.filter(|store| store.status != StoreStatus::Deleted);
        let store = store.ok_or(Code::StoreNotFound)?;
        if account.is_operator(&services.config) {
            return Ok(Self::Operator(Box::new(Operator { account })));
        }
        let grant = account.grant_on(&store).ok_or(Code::StoreNotFound)?;
        let actor = StoreActor::Merchant(account.id, grant);
        Ok(Self::Store(Box::new(StoreAccess::of(store, actor)?)))
    }

    fn identity(&self) -> Identity {
        match self {
            Self::Operator(operator) => operator.identity(),
            Self::Store(access) => access.identity(),
        }
    }
}
