//! A store that its members, its apps and platform operators may access.

use std::ops::Deref;
use std::sync::Arc;

use core_types::scope::RequiredScope;
use gateway::caller::{Access, Caller, Identity};
use gateway::request::Inbound;
use identity::member::RoleGrant;
use identity::store::StoreStatus;
use platform::authority::Authority;
use primitives::problem::{Code, Problem};
use services::Services;

use super::{
    StoreAccess, StoreActor, credential, looks_like_jwt, named_store::named_store,
    open_session_and_store,
};

/// A member of a store whose role covers scope `S`, an app with that scope, or a platform operator who
/// names the store.
#[derive(Debug, Clone)]
pub struct StoreOrOperator<S> {
    access: StoreAccess<S>,
    by_operator: bool,
}

gateway::caller_argument!(StoreOrOperator where S: RequiredScope);

impl<S> Deref for StoreOrOperator<S> {
    type Target = StoreAccess<S>;

    fn deref(&self) -> &StoreAccess<S> {
        &self.access
    }
}

impl<S> StoreOrOperator<S> {
    /// Whether the caller is an operator on a store of others.
    pub fn is_operator(&self) -> bool {
        self.by_operator
    }
}

impl<S: RequiredScope> StoreOrOperator<S> {
    /// As [`StoreAccess::authority`]. That of an operator lasts as long as they are one.
    pub fn authority_or_operator(&self, scopes: &[&str]) -> Authority {
        match (&self.actor, self.is_operator()) {
            (StoreActor::Merchant(id, _), true) => Authority::of_operator(id, Some(&self.store.id)),
            _ => self.authority(scopes),
        }
    }
}

impl<S: RequiredScope> Caller for StoreOrOperator<S> {
    fn access() -> Access {
        StoreAccess::<S>::access()
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(services, inbound)?;
        if looks_like_jwt(&unverified) || named_store(inbound).is_none() {
            let access = StoreAccess::authenticate(services, inbound).await?;
            return Ok(Self { access, by_operator: false });
        }
        let (account, _, store) = open_session_and_store(services, &unverified, inbound).await?;
        let store = store.filter(|store| store.status != StoreStatus::Deleted);
        let store = store.ok_or(Code::StoreNotFound)?;
        let grant = account.grant_on(&store);
        let by_operator = account.is_operator(&services.config)
            && !grant.as_ref().is_some_and(|grant| grant.covers(S::SCOPE));
        if by_operator {
            // An operator may do everything on the row. `by_operator` distinguishes them from members.
            let actor = StoreActor::Merchant(account.id, RoleGrant::OWNER);
            return Ok(Self { access: StoreAccess::of(store, actor)?, by_operator });
        }
        let actor = StoreActor::Merchant(account.id, grant.ok_or(Code::StoreNotFound)?);
        Ok(Self { access: StoreAccess::of(store, actor)?, by_operator })
    }

    fn identity(&self) -> Identity {
        self.access.identity()
    }
}
