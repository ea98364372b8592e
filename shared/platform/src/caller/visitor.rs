//! Who looks at a catalogue.

use std::marker::PhantomData;
use std::sync::Arc;

use gateway::app::App;
use gateway::caller::{Access, Caller, Identity, Public};
use gateway::problem::Problem;
use gateway::request::Inbound;

use super::{Owner, presents_credential};

/// When a catalogue is shown to a store's owner, and not just to anybody.
pub trait Personal: Clone + Send + Sync + 'static {
    /// Whether this request asks for what a store has.
    fn is_meant(inbound: &Inbound) -> bool;
}

/// With `installed=true`.
#[derive(Debug, Clone, Copy)]
pub struct WhenInstalled;

impl Personal for WhenInstalled {
    fn is_meant(inbound: &Inbound) -> bool {
        inbound.query_param("installed").as_deref() == Some("true")
    }
}

/// With `installed=true`, or where a request that presents a credential names a store.
#[derive(Debug, Clone, Copy)]
pub struct WhenNamed;

impl Personal for WhenNamed {
    fn is_meant(inbound: &Inbound) -> bool {
        let names_store = inbound.headers.contains_key("x-service-store-id")
            || inbound.query_param("store_id").is_some();
        WhenInstalled::is_meant(inbound) || (names_store && presents_credential(inbound))
    }
}

/// Anybody; or a store's owner, when that is meant, so that the page, its cursor and its cost are
/// theirs.
#[derive(Debug, Clone)]
pub struct Visitor<P> {
    owner: Option<Box<Owner>>,
    identity: Identity,
    personal: PhantomData<P>,
}

gateway::caller_argument!(Visitor where P: Personal);

impl<P> Visitor<P> {
    /// The owner of the store whose things are looked at, if it is one who looks.
    pub fn owner(&self) -> Option<&Owner> {
        self.owner.as_deref()
    }
}

impl<P: Personal> Caller for Visitor<P> {
    fn access() -> Access {
        Access::Public
    }

    async fn authenticate(app: &App, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let personal = PhantomData;
        if P::is_meant(inbound) {
            let owner = Owner::authenticate(app, inbound).await?;
            let identity = owner.identity();
            return Ok(Self { owner: Some(Box::new(owner)), identity, personal });
        }
        let identity = Public::authenticate(app, inbound).await?.identity();
        Ok(Self { owner: None, identity, personal })
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}
