//! Handlers of policy pages.

use axum::extract::State;
use callers::StoreAccess;
use catalogue::policy::{
    POLICY_UPDATED, Policy, PolicyHandle, PolicySummary, PolicyText, PolicyView, SafeHtml,
};
use core_types::event::{Event, EventSubject};
use core_types::id::StoreId;
use core_types::key;
use core_types::resource::load;
use core_types::scope::{ReadContent, WriteContent};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::Json;
use gateway::request::{Body, IfMatch, Path};
use primitives::fields::{Flag, Text};
use primitives::input::request;
use primitives::problem::Problem;
use table::retry;

use crate::configuration::save;

/// `GET /v1/stores/{id}/policies/{handle}` (`getPolicy`): Get a policy page.
///
/// The page is returned whether it is published or not.
///
/// # Errors
/// `not_found`: it was never written, or there is no such policy.
pub async fn get(
    caller: StoreAccess<ReadContent>,
    State(app): State<App>,
    Path((_, handle)): Path<(StoreId, PolicyHandle)>,
) -> Result<Json<PolicyView>, Problem> {
    let key = key::policy(&caller.store.id, handle.as_str());
    load(&app, &key).await.map(|policy| to_response(&policy))
}

fn to_response(policy: &Policy) -> Json<PolicyView> {
    Json::new(&PolicyView::from(policy)).version(policy.version)
}

/// A policy page to create or replace.
#[request]
#[derive(Debug)]
pub struct PutRequest {
    /// The title of the page; by default that of its handle, such as `Refund policy`.
    title: Option<Text<1, 200>>,
    /// The text as HTML, at most 64 KiB; scripts and other active content are removed.
    body_html: SafeHtml,
    /// Whether it is published; true by default.
    published: Option<Flag>,
}

/// `PUT /v1/stores/{id}/policies/{handle}` (`setPolicy`): Create or replace a policy page.
///
/// The page is created or replaced as a whole, and its HTML is sanitized. The event is `policy.updated`.
///
/// # Errors
/// `not_found`: there is no such policy; `precondition_failed`.
pub async fn put(
    caller: StoreAccess<WriteContent>,
    State(app): State<App>,
    Path((_, handle)): Path<(StoreId, PolicyHandle)>,
    if_match: IfMatch,
    Body(input): Body<PutRequest>,
) -> Result<Json<PolicyView>, Problem> {
    let store = &caller.store.id;
    let now = app.clock.now();
    let wording = PolicyText {
        title: input.title.map(String::from),
        body_html: input.body_html,
        published: input.published.is_none_or(|flag| flag.0),
    };
    retry(|| async {
        let present = app.table.get(&key::policy(store, handle.as_str())).await?;
        let present = present.unwrap_or_else(|| Policy::blank(store, handle, now));
        if_match.check(present.version)?;
        let policy = present.with(wording.clone(), now);
        let subject = EventSubject {
            store: Some(store),
            app: None,
            entity: handle.as_str(),
            version: policy.version,
        };
        save(&app, store, &policy)
            .emit(Event::new(&POLICY_UPDATED, subject, &PolicySummary::from(&policy), now))
            .answer(to_response(&policy), now)
            .await
    })
    .await
}
