//! Handlers that list, update and delete form submissions.

use axum::extract::State;
use callers::StoreAccess;
use catalogue::form::{FormStatus, FormSubmission, FormSubmissionView};
use core_types::fields::Handle;
use core_types::id::FormSubmissionId;
use core_types::key;
use core_types::resource::load;
use core_types::scope::{ReadForms, WriteForms};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Json, NoContent, Page};
use gateway::request::{Body, IfMatch, Path, Query};
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use replies::ResourceReply;
use table::Condition;
use table::item::Item;

/// Submissions that one round trip inspects, and the most round trips of a page; then the page ends early,
/// with a cursor.
const AHEAD: (usize, u32) = (200, 10);

/// Filters of a list of form submissions.
#[request]
#[derive(Debug)]
pub(crate) struct ListQuery {
    /// Only submissions of this form.
    form: Option<Handle>,
    /// Only submissions with this status.
    status: Option<FormStatus>,
    /// Only submissions created at or after this time.
    since: Option<Timestamp>,
}

impl ListQuery {
    fn matches(&self, submission: &FormSubmission) -> bool {
        self.form.as_ref().is_none_or(|form| submission.form == *form)
            && self.since.is_none_or(|since| submission.created_at >= since)
    }

    /// The query by status, or for all submissions. Both are sorted by time, and end at `since`.
    fn query(&self, store: &Store) -> table::Query {
        let since = self.since.unwrap_or(store.created_at);
        let query = if let Some(status) = self.status {
            let all = key::list::form_submissions_by_status(&store.id, status.as_str());
            table::Query::list(all).between(since.to_string(), "~")
        } else {
            // An id begins with its time: 48 bits of milliseconds (RFC 9562 §5.7).
            let millis = since.millis().max(0);
            let prefix = format!("{}{}", key::FORM_SUBMISSIONS, FormSubmissionId::PREFIX);
            table::Query::partition(store.key().pk)
                .between(format!("{prefix}{millis:012x}"), format!("{prefix}~"))
        };
        query.newest_first().with_scan_limit(AHEAD.0, AHEAD.1)
    }
}

/// `GET /v1/form-submissions` (`listFormSubmissions`): List form submissions.
///
/// Submissions come newest first.
pub(crate) async fn list(
    access: StoreAccess<ReadForms>,
    State(app): State<App>,
    Query(filter): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<FormSubmissionView>, Problem> {
    let view = |submission: FormSubmission| FormSubmissionView::from(&submission);
    let query = filter.query(&access.store);
    paging.query(&app, &query, |submission| filter.matches(submission), view).await
}

/// `GET /v1/form-submissions/{id}` (`getFormSubmission`): Get a form submission.
///
/// The response has every field that the visitor sent.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get(
    access: StoreAccess<ReadForms>,
    State(app): State<App>,
    Path(id): Path<FormSubmissionId>,
) -> Result<Json<FormSubmissionView>, Problem> {
    let key = key::form_submission(&access.store.id, &id);
    load::<FormSubmission>(&app, &key).await.map(|submission| submission.to_response())
}

/// The changes of a form submission.
#[request]
#[derive(Debug)]
pub(crate) struct UpdateRequest {
    /// The new status.
    status: FormStatus,
}

/// `PATCH /v1/form-submissions/{id}` (`updateFormSubmission`): Update the status of a form submission.
///
/// The fields that the visitor sent never change.
///
/// # Errors
/// `not_found`.
pub(crate) async fn update(
    access: StoreAccess<WriteForms>,
    State(app): State<App>,
    Path(id): Path<FormSubmissionId>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<FormSubmissionView>, Problem> {
    let submission: FormSubmission =
        load(&app, &key::form_submission(&access.store.id, &id)).await?;
    if_match.check(submission.version)?;
    let now = app.clock.now();
    let Some(next) = submission.moved_to(input.status, now) else {
        return Ok(submission.to_response());
    };
    let write = app.table.write().replace(&next, Code::VersionConflict);
    write.answer(next.to_response(), now).await
}

/// `DELETE /v1/form-submissions/{id}` (`deleteFormSubmission`): Delete a form submission.
///
/// The submission is deleted permanently.
///
/// # Errors
/// `not_found`.
pub(crate) async fn delete(
    access: StoreAccess<WriteForms>,
    State(app): State<App>,
    Path(id): Path<FormSubmissionId>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let submission: FormSubmission =
        load(&app, &key::form_submission(&access.store.id, &id)).await?;
    if_match.check(submission.version)?;
    let is_there = Condition::new("attribute_exists(PK)");
    app.table
        .write()
        .delete_if(&submission.key(), is_there, Code::NotFound)
        .answer(NoContent::default(), app.clock.now())
        .await
}
