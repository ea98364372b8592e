//! The store of a merchant's request, and the merchant's grant on it.

use core_types::id::StoreId;
use core_types::key;
use gateway::request::Inbound;
use identity::member::RoleGrant;
use identity::merchant::stores::only_store;
use identity::session::Session;
use identity::store::{Store, StoreStatus};
use primitives::problem::Problem;
use services::Services;
use table::item::Key;

use super::named_store::{named_store, no_such_store};
use super::{MerchantAccount, open_session};

/// Loads a member's account, session, store and grant. A deleted store is rejected.
pub(super) async fn open_store(
    services: &Services,
    unverified: &str,
    inbound: &Inbound,
) -> Result<MemberAccess, Problem> {
    match open_any_store(services, unverified, inbound).await? {
        opened if opened.store.status == StoreStatus::Deleted => Err(no_such_store(inbound)),
        opened => Ok(opened),
    }
}

/// A member's account, session, store and grant.
pub(super) struct MemberAccess {
    pub(super) account: MerchantAccount,
    pub(super) session: Session,
    pub(super) store: Store,
    pub(super) grant: RoleGrant,
}

/// Loads a member's account, session, store and grant. The store may be deleted.
pub(super) async fn open_any_store(
    services: &Services,
    unverified: &str,
    inbound: &Inbound,
) -> Result<MemberAccess, Problem> {
    if named_store(inbound).is_none() {
        let (account, session, _) = open_session(services, unverified, &[]).await?;
        let (store, grant) = only_store(services, &account).await?;
        return Ok(MemberAccess { account, session, store, grant });
    }
    let (account, session, store) = open_session_and_store(services, unverified, inbound).await?;
    let granted = store.and_then(|store| account.grant_on(&store).map(|grant| (store, grant)));
    let (store, grant) = granted.ok_or_else(|| no_such_store(inbound))?;
    Ok(MemberAccess { account, session, store, grant })
}

/// Loads the account and the session of a token, and the store that the request names, of any owner. The
/// session is read even when the store's id is malformed, so that a stranger learns nothing.
pub(super) async fn open_session_and_store(
    services: &Services,
    unverified: &str,
    inbound: &Inbound,
) -> Result<(MerchantAccount, Session, Option<Store>), Problem> {
    let id = named_store(inbound).and_then(|named| StoreId::parse(&named));
    let store_key = id.as_ref().map(key::store);
    let more: Vec<&Key> = store_key.iter().collect();
    let (account, session, mut batch) = open_session(services, unverified, &more).await?;
    let store = store_key.map(|key| batch.take_recent::<Store>(&key)).transpose()?.flatten();
    Ok((account, session, store))
}
