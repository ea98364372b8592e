//! The store that a request names, and the rejection of another one.

use core_types::id::StoreId;
use gateway::request::Inbound;
use primitives::problem::{Code, Problem};
use serde_json::Value;

/// The store that a request names, for a merchant: the first of path, header, query and body.
pub(super) fn named_store(inbound: &Inbound) -> Option<String> {
    let from_path =
        names_store_in_path(inbound).then(|| inbound.param("id")).flatten().map(str::to_owned);
    let from_header = || inbound.header("x-service-store-id").map(str::to_owned);
    let from_query = || inbound.query_param("store_id");
    let from_body = || match inbound.form_or_json(None).ok()?.get("store_id")? {
        Value::String(id) => Some(id.clone()),
        _ => None,
    };
    from_path.or_else(from_header).or_else(from_query).or_else(from_body)
}

/// Whether all of path, headers, query and body name this store or none. An app's token is for one store:
/// a request that names another one anywhere is rejected.
pub(super) fn names_no_other_store(inbound: &Inbound, store: &StoreId) -> bool {
    let own = |named: &str| named == store.as_str();
    let path = !names_store_in_path(inbound) || inbound.param("id").is_none_or(own);
    let mut headers = inbound.headers.get_all("x-service-store-id").iter();
    let mut query = url::form_urlencoded::parse(inbound.query.as_bytes());
    let names_own =
        |body: &Value| body.get("store_id").is_none_or(|id| id.as_str().is_some_and(own));
    let body = || match inbound.media_type().as_str() {
        "application/x-www-form-urlencoded" => {
            inbound.form_or_json(None).map_or(true, |form| names_own(&form))
        }
        _ => inbound.json().map_or(true, names_own),
    };
    path && headers.all(|value| value.as_bytes() == store.as_str().as_bytes())
        && query.all(|(name, value)| name != "store_id" || own(&value))
        && body()
}

/// The rejection of an unknown store, a store of others and a malformed id: the same for all, byte for
/// byte.
pub(super) fn no_such_store(inbound: &Inbound) -> Problem {
    if names_store_in_path(inbound) { Code::NotFound.into() } else { Code::StoreNotFound.into() }
}

fn names_store_in_path(inbound: &Inbound) -> bool {
    inbound.row.path.starts_with("/v1/stores/{id}")
}
