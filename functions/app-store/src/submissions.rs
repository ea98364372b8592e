//! Submissions: a developer proposes a version of an app, an operator decides.

use axum::extract::State;
use callers::{Developer, Operator};
use core_types::event::Topic;
use core_types::fields::WebUrl;
use core_types::id::{AppId, SubmissionId};
use core_types::key;
use core_types::resource::{Resource, load};
use gateway::app::App;
use gateway::bridged;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Created, Json, Page};
use gateway::request::{Body, IfMatch, Path, Query, Ruled};
use platform::app::{AppClient, AppHosts, Category, CommerceApp, Listing};
use platform::review::{DecisionRequest, RejectionRequest};
use platform::submission::{
    self, APP_APPROVED, APP_CHANGES_REQUESTED, APP_REJECTED, APP_SUBMISSION_WITHDRAWN,
    APP_SUBMITTED, Proposal, Release, Submission, SubmissionStatus, SubmissionView, Surroundings,
};
use primitives::clock::Timestamp;
use primitives::fields::Text;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use replies::ResourceReply;
use services::Services;
use table::item::Index;
use table::retry;

use crate::developer_apps::load_own;

/// Filters of a list of submissions.
#[request]
#[derive(Debug)]
pub struct SubmissionsQuery {
    /// Only submissions in this status. The review queue has those in `submitted` by default.
    status: Option<SubmissionStatus>,
}

/// `GET /v1/app-store/developers/apps/{id}/submissions` (`listAppSubmissions`): List submissions of an app.
///
/// The newest submission comes first. Every status is listed, unless `status` selects one.
///
/// # Errors
/// `invalid_cursor`, `not_found`.
pub async fn list(
    developer: Developer,
    State(app): State<App>,
    Path(id): Path<AppId>,
    Query(query): Query<SubmissionsQuery>,
    paging: Paging,
) -> Result<Page<SubmissionView>, Problem> {
    load_own(&app, &developer, &id).await?;
    let wanted =
        table::Query::partition(key::app(&id).pk).begins_with(key::SUBMISSIONS).newest_first();
    let admits = |each: &Submission| query.status.is_none_or(|status| each.status == status);
    paging.query(&app, &wanted, admits, |each| each.view()).await
}

/// The proposed listing of the catalogue.
#[request]
#[derive(Debug, Clone)]
pub struct ListingRequest {
    /// The app's purpose in one sentence.
    tagline: Text<1, 120>,
    /// The description of the app: at least 50 characters.
    description: Text<1, 10_000>,
    /// The category of the catalogue.
    category: Category,
    /// The URL of the icon.
    icon_url: Option<WebUrl>,
    /// The URL of the privacy policy: https, and not on a loopback address.
    privacy_policy_url: WebUrl,
    /// The URL at which merchants get support.
    support_url: Option<WebUrl>,
    /// The price, in the developer's words.
    pricing: Text<1, 500>,
}

/// A version of an app to submit.
#[request]
#[derive(Debug, Clone)]
pub struct SubmitRequest {
    /// The version number (Semantic Versioning), higher than the approved one.
    version: Release,
    /// The proposed listing.
    listing: ListingRequest,
    /// The changes of this version, for merchants.
    changelog: Text<1, 5000>,
    /// The instructions with which an operator tests the app.
    test_instructions: Text<1, 5000>,
    /// The URL of a video that shows the app at work.
    screencast_url: Option<WebUrl>,
}

impl From<SubmitRequest> for Proposal {
    fn from(input: SubmitRequest) -> Self {
        Self {
            app_version: input.version,
            listing: Listing {
                tagline: input.listing.tagline.into(),
                description: input.listing.description.into(),
                category: input.listing.category,
                icon_url: input.listing.icon_url,
                privacy_policy_url: input.listing.privacy_policy_url,
                support_url: input.listing.support_url,
                pricing: input.listing.pricing.into(),
            },
            changelog: input.changelog.into(),
            test_instructions: input.test_instructions.into(),
            screencast_url: input.screencast_url,
        }
    }
}

/// `POST /v1/app-store/developers/apps/{id}/submissions` (`createAppSubmission`):
/// Submit a version of an app for review.
///
/// The submission has the listing of the request, and the app's configuration with its proposed changes.
/// Automatic checks run first; warnings pass, a failure rejects it. An operator then decides. An app has one
/// open submission at a time. It emits `app.submitted`.
///
/// # Errors
/// `not_found`, `submission_open`, `invalid_state_transition`; `account_disabled` for a suspended developer;
/// `checks_failed` with every check, and nothing written.
pub async fn submit(
    developer: Developer,
    State(app): State<App>,
    Path(id): Path<AppId>,
    Body(input): Body<SubmitRequest>,
) -> Result<Created<SubmissionView>, Problem> {
    developer.profile.ensure_may_publish()?;
    let proposal = Proposal::from(input);
    retry(|| async {
        let before = load_own(&app, &developer, &id).await?;
        before.ensure_may_submit()?;
        let client: Option<AppClient> = app.table.get(&key::client(&before.client_id)).await?;
        let webhook = match &before.webhook_url {
            Some(url) => app.egress.check(url).await.err(),
            None => None,
        };
        let is_ours = bridged::is_ours(&app.config, before.wanted().app_url.as_str());
        let hosts = AppHosts::of(app.config.loopback_apps);
        let around = Surroundings { webhook, is_ours, hosts };
        let checks = submission::run_checks(&before, client.as_ref(), around, &proposal);
        let now = app.clock.now();
        let made = Submission::open(&before, proposal.clone(), checks, now)?;
        let next = CommerceApp { open_submission_id: Some(made.id.clone()), ..before.changed(now) };
        next.save(app.table.write(), Code::VersionConflict)
            .create(&made, Code::VersionConflict)
            .put(&made.pointer())
            .emit(made.event(&APP_SUBMITTED, now))
            .answer(made.to_created_response(), now)
            .await
    })
    .await
}

/// `GET /v1/app-store/developers/apps/{id}/submissions/{sid}` (`getAppSubmission`):
/// Get a submission of an app.
///
/// The response has the submitted proposal, the results of the automatic checks, the status and the
/// operator's notes.
///
/// # Errors
/// `not_found`.
pub async fn get(
    developer: Developer,
    State(app): State<App>,
    Path((id, submission_id)): Path<(AppId, SubmissionId)>,
) -> Result<Json<SubmissionView>, Problem> {
    load_own(&app, &developer, &id).await?;
    let found: Submission = load(&app, &key::submission(&id, &submission_id)).await?;
    Ok(found.to_response())
}

/// `POST /v1/app-store/developers/apps/{id}/submissions/{sid}/withdraw` (`withdrawAppSubmission`):
/// Withdraw a submission.
///
/// Only a submission that waits for a decision can be withdrawn. The app can then be submitted again. It
/// emits `app.submission_withdrawn`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`.
pub async fn withdraw(
    developer: Developer,
    State(app): State<App>,
    Path((id, submission_id)): Path<(AppId, SubmissionId)>,
) -> Result<Json<SubmissionView>, Problem> {
    retry(|| async {
        let owned = load_own(&app, &developer, &id).await?;
        let before: Submission = load(&app, &key::submission(&id, &submission_id)).await?;
        let now = app.clock.now();
        let after = before.withdraw(now)?;
        save(&app, &owned, &after, &APP_SUBMISSION_WITHDRAWN, now).await
    })
    .await
}

/// Writes a decided or withdrawn submission, and applies it to its app.
async fn save(
    services: &Services,
    owned: &CommerceApp,
    after: &Submission,
    topic: &Topic<SubmissionView>,
    now: Timestamp,
) -> Result<Json<SubmissionView>, Problem> {
    after
        .applied_to(owned, now)
        .save(services.table.write(), Code::VersionConflict)
        .replace(after, Code::VersionConflict)
        .emit(after.event(topic, now))
        .answer(after.to_response(), now)
        .await
}

/// `GET /v1/app-store/submissions` (`listSubmissions`): List app submissions in the review queue.
///
/// For operators: the submissions that wait for a decision, the oldest first, or those in the requested
/// `status`.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list_all(
    _: Operator,
    State(app): State<App>,
    Query(query): Query<SubmissionsQuery>,
    paging: Paging,
) -> Result<Page<SubmissionView>, Problem> {
    let status = query.status.unwrap_or(SubmissionStatus::Submitted);
    let wanted = table::Query::index(Index::Gsi1, key::submissions_of_status(status.as_str()));
    paging.query(&app, &wanted, |_| true, |each: Submission| each.view()).await
}

/// `POST /v1/app-store/submissions/{sid}/approve` (`approveSubmission`): Approve an app submission.
///
/// The submitted listing, configuration and version take effect at once, also for a published app. An app
/// that is not published stays so until its developer publishes it. Changes that the developer made after
/// submitting stay proposed. It emits `app.approved`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub async fn approve(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<SubmissionId>,
    if_match: IfMatch,
    Body(input): Body<DecisionRequest>,
) -> Result<Json<SubmissionView>, Problem> {
    let decision = SubmissionDecision { status: SubmissionStatus::Approved, topic: &APP_APPROVED };
    decide(&operator, &app, &id, if_match, decision, &input.notes()).await
}

/// `POST /v1/app-store/submissions/{sid}/reject` (`rejectSubmission`): Reject an app submission with reasons.
///
/// At least one note is required, which is returned to the developer with the submission. The app stays as it
/// is, and can be submitted again. It emits `app.rejected`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub async fn reject(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<SubmissionId>,
    if_match: IfMatch,
    Ruled(Body(input)): Ruled<Body<RejectionRequest>>,
) -> Result<Json<SubmissionView>, Problem> {
    let decision = SubmissionDecision { status: SubmissionStatus::Rejected, topic: &APP_REJECTED };
    decide(&operator, &app, &id, if_match, decision, &input.notes()).await
}

/// `POST /v1/app-store/submissions/{sid}/request-changes` (`requestSubmissionChanges`):
/// Request changes to an app submission.
///
/// At least one note is required, which says what the developer has to change. It ends this submission; the
/// developer creates a new one. It emits `app.changes_requested`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub async fn request_changes(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<SubmissionId>,
    if_match: IfMatch,
    Ruled(Body(input)): Ruled<Body<RejectionRequest>>,
) -> Result<Json<SubmissionView>, Problem> {
    let status = SubmissionStatus::ChangesRequested;
    let decision = SubmissionDecision { status, topic: &APP_CHANGES_REQUESTED };
    decide(&operator, &app, &id, if_match, decision, &input.notes()).await
}

/// The decision on a submission, with the topic of its event.
#[derive(Clone, Copy)]
struct SubmissionDecision {
    status: SubmissionStatus,
    topic: &'static Topic<SubmissionView>,
}

async fn decide(
    operator: &Operator,
    services: &Services,
    id: &SubmissionId,
    if_match: IfMatch,
    decision: SubmissionDecision,
    notes: &[String],
) -> Result<Json<SubmissionView>, Problem> {
    retry(|| async {
        let now = services.clock.now();
        let before = Submission::find(services, id).await?;
        if_match.check(before.version)?;
        let by = &operator.account.id;
        let after = before.decide(decision.status, notes.to_vec(), by, now)?;
        let submitted: CommerceApp = load(services, &key::app(&after.app_id)).await?;
        save(services, &submitted, &after, decision.topic, now).await
    })
    .await
}
