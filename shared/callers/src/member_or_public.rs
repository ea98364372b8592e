//! Callers of a public catalogue.

use std::marker::PhantomData;
use std::sync::Arc;

use gateway::caller::{Access, Caller, Identity, Public};
use gateway::request::Inbound;
use primitives::problem::Problem;
use services::Services;

use super::{AnyMember, presents_credential};

/// The condition on which a catalogue is returned for a member of a store, and not for the public.
pub trait MemberCondition: Clone + Send + Sync + 'static {
    /// Whether this request is about the data of a store.
    fn is_meant(inbound: &Inbound) -> bool;
}

/// A request with `installed=true`.
#[derive(Debug, Clone, Copy)]
pub struct IfInstalled;

impl MemberCondition for IfInstalled {
    fn is_meant(inbound: &Inbound) -> bool {
        inbound.query_param("installed").as_deref() == Some("true")
    }
}

/// A request with `installed=true`, or one that presents a credential and names a store.
#[derive(Debug, Clone, Copy)]
pub struct IfStoreNamed;

impl MemberCondition for IfStoreNamed {
    fn is_meant(inbound: &Inbound) -> bool {
        let names_store = inbound.headers.contains_key("x-service-store-id")
            || inbound.query_param("store_id").is_some();
        IfInstalled::is_meant(inbound) || (names_store && presents_credential(inbound))
    }
}

/// Anybody, or a member of a store when the condition holds: the page, its cursor and its cost are theirs
/// then.
#[derive(Debug, Clone)]
pub struct MemberOrPublic<P> {
    member: Option<Box<AnyMember>>,
    identity: Identity,
    personal: PhantomData<P>,
}

gateway::caller_argument!(MemberOrPublic where P: MemberCondition);

impl<P> MemberOrPublic<P> {
    /// The member for whose store the catalogue is returned; none for the public.
    pub fn member(&self) -> Option<&AnyMember> {
        self.member.as_deref()
    }
}

impl<P: MemberCondition> Caller for MemberOrPublic<P> {
    fn access() -> Access {
        Access::Public
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let personal = PhantomData;
        if P::is_meant(inbound) {
            let member = AnyMember::authenticate(services, inbound).await?;
            let identity = member.identity();
            return Ok(Self { member: Some(Box::new(member)), identity, personal });
        }
        let identity = Public::authenticate(services, inbound).await?.identity();
        Ok(Self { member: None, identity, personal })
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}
