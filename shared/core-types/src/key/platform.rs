//! Keys of the app platform.

use primitives::clock::Timestamp;
use table::item::Key;

use super::{IndexKey, gsi1, gsi2, gsi5, list};
use crate::id::{AppId, InstallationId, MerchantId, ReviewId, StoreId, SubmissionId};

/// A merchant's developer profile, in the merchant's partition.
pub fn developer(id: &MerchantId) -> Key {
    Key::new(format!("MER#{id}"), "DEV")
}
/// An app.
pub fn app(id: &AppId) -> Key {
    Key::new(format!("APP#{id}"), "A")
}
/// The partition of the apps of a catalogue status.
pub fn apps_of_status(status: &str) -> String {
    format!("APPCAT#{status}")
}
/// Apps of a catalogue status, by category and slug.
pub fn apps_by_status(status: &str, category: &str, slug: &str) -> IndexKey {
    gsi5(apps_of_status(status), format!("{category}#{slug}"))
}
/// A mark that stops an app, for the installations of one shard.
pub fn app_stop(id: &AppId, shard: char) -> Key {
    Key::new(format!("APP#{id}#STOP#{shard}"), "A")
}
/// A developer's apps, by creation.
pub fn apps_of(developer: &MerchantId, created: Timestamp) -> IndexKey {
    list::apps_of(developer).entry(created.to_string())
}
/// The uniqueness item of a client id: its app, and the data that authenticates the client.
pub fn client(client_id: &str) -> Key {
    Key::new(format!("UQ#CLI#{client_id}"), "U")
}
/// The uniqueness item of an app's slug.
pub fn unique_app_slug(slug: &str) -> Key {
    Key::new(format!("UQ#APPSLUG#{slug}"), "U")
}
/// A submission of an app.
pub fn submission(app: &AppId, id: &SubmissionId) -> Key {
    Key::new(format!("APP#{app}"), format!("SUB#{id}"))
}
/// The prefix of the sort keys of submissions.
pub const SUBMISSIONS: &str = "SUB#";
/// The partition of the submissions of a status: the operators' queue.
pub fn submissions_of_status(status: &str) -> String {
    format!("SUBQ#{status}")
}
/// Submissions of a status, by time.
pub fn submissions_by_status(status: &str, at: Timestamp, id: &SubmissionId) -> IndexKey {
    gsi1(submissions_of_status(status), format!("{at}#{id}"))
}
/// A submission by its id, for submissions that have no lookup item.
pub fn submission_by_id(id: &SubmissionId) -> IndexKey {
    gsi2(format!("SUB#{id}"), "A")
}
/// The lookup item of a submission, which operators name by its id alone.
pub fn submission_pointer(id: &SubmissionId) -> Key {
    Key::new(format!("SUB#{id}"), "A")
}
/// A store's review of an app: one for each pair.
pub fn app_review(app: &AppId, store: &StoreId) -> Key {
    Key::new(format!("APP#{app}"), format!("REV#{store}"))
}
/// The partition of an app's reviews.
pub fn reviews_on_app(app: &AppId) -> String {
    format!("APP#{app}#REV")
}
/// An app's reviews, by time.
pub fn reviews_of_app(app: &AppId, at: Timestamp, id: &ReviewId) -> IndexKey {
    gsi1(reviews_on_app(app), format!("{at}#{id}"))
}
/// A review by its id, for reviews that have no lookup item.
pub fn app_review_by_id(id: &ReviewId) -> IndexKey {
    gsi2(format!("REV#{id}"), "A")
}
/// The lookup item of a review: the developer who answers it does not name its store.
pub fn app_review_pointer(app: &AppId, id: &ReviewId) -> Key {
    Key::new(format!("APP#{app}"), format!("RID#{id}"))
}
/// An installation. Its id is derived from store and app, so the upsert is one keyed write.
pub fn installation(id: &InstallationId) -> Key {
    Key::new(format!("INS#{id}"), "A")
}
/// The partition of a store's installations.
pub fn installations_on(store: &StoreId) -> String {
    format!("STO#{store}#INS")
}
/// A store's installations, by app.
pub fn installations_of_store(store: &StoreId, app: &AppId) -> IndexKey {
    gsi5(installations_on(store), app.as_str())
}
/// An authorization code with its grant, by its digest.
pub fn code(digest: &str) -> Key {
    Key::new(format!("COD#{digest}"), "A")
}
/// An app token, by its digest.
pub fn app_token(digest: &str) -> Key {
    Key::new(format!("TOK#{digest}"), "A")
}
/// A refresh token, by its digest.
pub fn refresh_token(digest: &str) -> Key {
    Key::new(format!("RTK#{digest}"), "A")
}
/// The counters of an app and a UTC day, on one of 16 shards, so that a busy app is not one hot item.
pub fn app_usage(app: &AppId, at: Timestamp, shard: char) -> Key {
    Key::new(app_usage_of(app), format!("{}#{shard}", at.day()))
}
/// The partition of an app's counters, by day: a dashboard's range is one query.
pub fn app_usage_of(app: &AppId) -> String {
    format!("MET#APP#{app}")
}
/// The counters of a subject and an hour.
pub fn usage(subject: &str, at: Timestamp) -> Key {
    let hour: String = at.to_string().chars().skip(11).take(2).collect();
    Key::new(format!("MET#{subject}#{}", at.day()), hour)
}
