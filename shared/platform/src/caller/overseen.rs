//! A store as whoever answers for it sees it: its owner, an app, or the platform.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use gateway::app::App;
use gateway::caller::{Access, Caller, Identity};
use gateway::problem::{Code, Problem};
use gateway::request::Inbound;
use ground::scope::Required;
use identity::store::StoreStatus;

use super::{StoreAccess, StoreActor, credential, looks_like_jwt, named, open_session_and_store};

/// The owner of a store, an app with scope `S` on it, or a platform operator who names it.
#[derive(Debug, Clone)]
pub struct OverseenStore<S>(StoreAccess<S>);

gateway::caller_argument!(OverseenStore where S: Required);

impl<S> Deref for OverseenStore<S> {
    type Target = StoreAccess<S>;

    fn deref(&self) -> &StoreAccess<S> {
        &self.0
    }
}

impl<S> OverseenStore<S> {
    /// Whether it is an operator who looks at somebody else's store.
    pub fn is_operator(&self) -> bool {
        matches!(&self.actor, StoreActor::Merchant(id) if *id != self.store.owner_id)
    }
}

impl<S: Required> Caller for OverseenStore<S> {
    fn access() -> Access {
        StoreAccess::<S>::access()
    }

    async fn authenticate(app: &App, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified = credential(app, inbound)?;
        if looks_like_jwt(&unverified) || named::named_store(inbound).is_none() {
            return StoreAccess::authenticate(app, inbound).await.map(Self);
        }
        let (account, _, store) = open_session_and_store(app, &unverified, inbound).await?;
        let admitted = store
            .filter(|store| store.status != StoreStatus::Deleted)
            .filter(|store| store.owner_id == account.id || account.is_operator(&app.config));
        let store = admitted.ok_or(Code::StoreNotOwned)?;
        Ok(Self(StoreAccess { store, actor: StoreActor::Merchant(account.id), scope: PhantomData }))
    }

    fn identity(&self) -> Identity {
        self.0.identity()
    }
}
