//! Which store a request names, and how one that it may not name is answered.

use core_types::id::StoreId;
use gateway::request::Inbound;
use primitives::problem::{Code, Problem};
use serde_json::Value;

/// The store a request names: path, header, query, body; of an owner's the first that is there counts.
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

/// Whether whatever the request says of a store, in its path, headers, query or body, names this
/// one. An app's token is for one store: what names another is rejected, also beside what does not.
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

/// What an unknown store, a foreign store and a malformed id are answered with, byte for byte.
pub(super) fn no_such_store(inbound: &Inbound) -> Problem {
    if names_store_in_path(inbound) { Code::NotFound.into() } else { Code::StoreNotOwned.into() }
}

fn names_store_in_path(inbound: &Inbound) -> bool {
    inbound.row.path.starts_with("/v1/stores/{id}")
}
