//! Resources of the domain ([`core_types::resource`]) as replies.
//!
//! The domain crates know no HTTP. A handler turns a resource into its reply by [`ResourceReply`], and changes
//! one by [`change`]:
//!
//! ```ignore
//! change::<Order>(&app, &key::order(&store.id, &id), if_match, &ORDER_CLOSED, |order, now| {
//!     order.close(now).map(Some) // `Ok(None)`: unchanged, and answered with its present state
//! })
//! .await // Result<Json<OrderView>, Problem>
//! ```

use core_types::event::Topic;
use core_types::resource::{self, Resource};
use gateway::idempotency::answering;
use gateway::reply::{Created, Json};
use gateway::request::IfMatch;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use services::Services;
use table::Write;
use table::item::Key;

/// A resource as a reply.
pub trait ResourceReply: Resource {
    /// 200 with the view, and the version as `ETag`.
    fn to_response(&self) -> Json<Self::View> {
        Json::new(&self.view()).version(self.version())
    }

    /// 201 with the view of a new resource, and the version as `ETag`.
    fn to_created_response(&self) -> Created<Self::View> {
        Created::new(&self.view()).version(self.version())
    }
}

impl<R: Resource> ResourceReply for R {}

/// [`resource::change`] for a handler: answers with the resource after the change.
///
/// # Errors
/// `not_found`, `precondition_failed`; the problems of `next`.
pub async fn change<R: Resource>(
    services: &Services,
    key: &Key,
    if_match: IfMatch,
    topic: &Topic<R::View>,
    next: impl Fn(&R, Timestamp) -> Result<Option<R>, Problem>,
) -> Result<Json<R::View>, Problem> {
    resource::change(services, key, if_match.0, topic, next, &answering(R::to_response)).await
}

/// [`resource::change_with`] for a handler: answers with the resource after the change.
///
/// # Errors
/// As [`change`]; the problems of the added writes.
pub async fn change_with<R: Resource>(
    services: &Services,
    key: &Key,
    if_match: IfMatch,
    topic: &Topic<R::View>,
    next: impl Fn(&R, Timestamp) -> Result<Option<R>, Problem>,
    extend: impl Fn(Write, (&R, &R), Timestamp) -> Write,
) -> Result<Json<R::View>, Problem> {
    let completion = answering(R::to_response);
    resource::change_with(services, key, if_match.0, topic, next, extend, &completion).await
}
