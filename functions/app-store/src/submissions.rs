//! Submissions: a developer proposes a version of an app, an operator decides.

use axum::extract::State;
use gateway::app::App;
use gateway::bridged;
use gateway::clock::Timestamp;
use gateway::item::Index;
use gateway::page::Paging;
use gateway::problem::{Code, Problem};
use gateway::reply::{Created, Json, Page};
use gateway::request::{Body, IfMatch, Path, Query, Ruled, Text, request};
use gateway::table::{self, retry};
use ground::event::Topic;
use ground::fields::WebUrl;
use ground::id::{AppId, SubmissionId};
use ground::key;
use ground::resource::{Resource, load};
use platform::app::{AppClient, Category, CommerceApp, Listing};
use platform::caller::{Developer, Operator};
use platform::review::{DecisionRequest, RefusalRequest};
use platform::submission::{
    self, APP_APPROVED, APP_CHANGES_REQUESTED, APP_REJECTED, APP_SUBMISSION_WITHDRAWN,
    APP_SUBMITTED, Proposal, Release, Submission, SubmissionStatus, SubmissionView, Surroundings,
};

use crate::developer_apps::own;

/// Which submissions.
#[request]
#[derive(Debug)]
pub struct SubmissionsQuery {
    /// Only this status.
    status: Option<SubmissionStatus>,
}

/// `GET /v1/app-store/developers/apps/{id}/submissions` (`listAppSubmissions`): List submissions of an app.
///
/// Lists the app's submissions, the newest first.
///
/// # Errors
/// `not_found`.
pub async fn list(
    developer: Developer,
    State(app): State<App>,
    Path(id): Path<AppId>,
    Query(query): Query<SubmissionsQuery>,
    paging: Paging,
) -> Result<Page<SubmissionView>, Problem> {
    own(&app, &developer, &id).await?;
    let wanted =
        table::Query::partition(key::app(&id).pk).begins_with(key::SUBMISSIONS).newest_first();
    let admits = |each: &Submission| query.status.is_none_or(|status| each.status == status);
    paging.answer(&app, &wanted, admits, |each| each.view()).await
}

/// What the catalogue is to say.
#[request]
#[derive(Debug, Clone)]
pub struct ListingRequest {
    /// One sentence.
    tagline: Text<1, 120>,
    /// What the app does.
    description: Text<1, 10_000>,
    /// Where the catalogue shows it.
    category: Category,
    /// The icon.
    icon_url: Option<WebUrl>,
    /// The privacy policy.
    privacy_policy_url: WebUrl,
    /// Where merchants ask for help.
    support_url: Option<WebUrl>,
    /// What it costs, in the developer's words.
    pricing: Text<1, 500>,
}

/// A version of an app.
#[request]
#[derive(Debug, Clone)]
pub struct SubmitRequest {
    /// Its number (Semantic Versioning); after the approved one.
    version: Release,
    /// What the catalogue is to say.
    listing: ListingRequest,
    /// What is new, for merchants.
    changelog: Text<1, 5000>,
    /// How an operator tries it.
    test_instructions: Text<1, 5000>,
    /// Where it is shown at work.
    screencast_url: Option<WebUrl>,
}

impl From<SubmitRequest> for Proposal {
    fn from(ask: SubmitRequest) -> Self {
        Self {
            app_version: ask.version,
            listing: Listing {
                tagline: ask.listing.tagline.into(),
                description: ask.listing.description.into(),
                category: ask.listing.category,
                icon_url: ask.listing.icon_url,
                privacy_policy_url: ask.listing.privacy_policy_url,
                support_url: ask.listing.support_url,
                pricing: ask.listing.pricing.into(),
            },
            changelog: ask.changelog.into(),
            test_instructions: ask.test_instructions.into(),
            screencast_url: ask.screencast_url,
        }
    }
}

/// `POST /v1/app-store/developers/apps/{id}/submissions` (`createAppSubmission`):
/// Submit a version of an app for review.
///
/// Every automatic check must let it pass. One submission at a time.
///
/// # Errors
/// `not_found`, `submission_open`, `invalid_state_transition`, `account_disabled`; `checks_failed` with every
/// check, and nothing written.
pub async fn submit(
    developer: Developer,
    State(app): State<App>,
    Path(id): Path<AppId>,
    Body(ask): Body<SubmitRequest>,
) -> Result<Created<SubmissionView>, Problem> {
    developer.profile.may_publish()?;
    let proposal = Proposal::from(ask);
    retry(|| async {
        let before = own(&app, &developer, &id).await?;
        before.may_submit()?;
        let client: Option<AppClient> = app.table.get(&key::client(&before.client_id)).await?;
        let webhook = match &before.webhook_url {
            Some(url) => app.egress.check(url).await.err(),
            None => None,
        };
        let is_ours = bridged::is_ours(&app.config, before.wanted().app_url.as_str());
        let around = Surroundings { webhook, is_ours };
        let checks = submission::checks(&before, client.as_ref(), around, &proposal);
        let now = app.clock.now();
        let made = Submission::open(&before, proposal.clone(), checks, now)?;
        let next = CommerceApp { open_submission_id: Some(made.id.clone()), ..before.changed(now) };
        next.save(app.table.write(), Code::VersionConflict)
            .create(&made, Code::VersionConflict)
            .put(&made.pointer())
            .emit(made.event(&APP_SUBMITTED, now))
            .answer(made.created(), now)
            .await
    })
    .await
}

/// `GET /v1/app-store/developers/apps/{id}/submissions/{sid}` (`getAppSubmission`): Get a submission of an app.
///
/// The response has its status and the reviewer's notes.
///
/// # Errors
/// `not_found`.
pub async fn show(
    developer: Developer,
    State(app): State<App>,
    Path((id, submission_id)): Path<(AppId, SubmissionId)>,
) -> Result<Json<SubmissionView>, Problem> {
    own(&app, &developer, &id).await?;
    let found: Submission = load(&app, &key::submission(&id, &submission_id)).await?;
    Ok(found.shown())
}

/// `POST /v1/app-store/developers/apps/{id}/submissions/{sid}/withdraw` (`withdrawAppSubmission`):
/// Withdraw a submission.
///
/// The app can then be changed and submitted again.
///
/// # Errors
/// `not_found`, `invalid_state_transition`.
pub async fn withdraw(
    developer: Developer,
    State(app): State<App>,
    Path((id, submission_id)): Path<(AppId, SubmissionId)>,
) -> Result<Json<SubmissionView>, Problem> {
    retry(|| async {
        let owned = own(&app, &developer, &id).await?;
        let before: Submission = load(&app, &key::submission(&id, &submission_id)).await?;
        let now = app.clock.now();
        let after = before.withdraw(now)?;
        save(&app, &owned, &after, &APP_SUBMISSION_WITHDRAWN, now).await
    })
    .await
}

/// Writes an ended submission, and the app as it leaves it.
async fn save(
    app: &App,
    owned: &CommerceApp,
    after: &Submission,
    topic: &Topic<SubmissionView>,
    now: Timestamp,
) -> Result<Json<SubmissionView>, Problem> {
    after
        .applied_to(owned, now)
        .save(app.table.write(), Code::VersionConflict)
        .replace(after, Code::VersionConflict)
        .emit(after.event(topic, now))
        .answer(after.shown(), now)
        .await
}

/// `GET /v1/app-store/submissions` (`listSubmissions`): List app submissions in the review queue.
///
/// Lists the operators' queue, the oldest first.
///
/// Those that wait, unless another status is asked for.
pub async fn queue(
    _: Operator,
    State(app): State<App>,
    Query(query): Query<SubmissionsQuery>,
    paging: Paging,
) -> Result<Page<SubmissionView>, Problem> {
    let status = query.status.unwrap_or(SubmissionStatus::Submitted);
    let wanted = table::Query::index(Index::Gsi1, key::submissions_of_status(status.as_str()));
    paging.answer(&app, &wanted, |_| true, |each: Submission| each.view()).await
}

/// `POST /v1/app-store/submissions/{sid}/approve` (`approveSubmission`): Approve an app submission.
///
/// What was submitted becomes the app's listing, configuration and approved version, and a published
/// app changes with it. A first approval does
/// not publish; its developer does.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub async fn approve(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<SubmissionId>,
    if_match: IfMatch,
    Body(ask): Body<DecisionRequest>,
) -> Result<Json<SubmissionView>, Problem> {
    let decision = SubmissionDecision { status: SubmissionStatus::Approved, topic: &APP_APPROVED };
    decide(&operator, &app, &id, if_match, decision, &ask.notes()).await
}

/// `POST /v1/app-store/submissions/{sid}/reject` (`rejectSubmission`): Reject an app submission with reasons.
///
/// The developer reads the reasons with the submission.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub async fn reject(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<SubmissionId>,
    if_match: IfMatch,
    Ruled(Body(ask)): Ruled<Body<RefusalRequest>>,
) -> Result<Json<SubmissionView>, Problem> {
    let decision = SubmissionDecision { status: SubmissionStatus::Rejected, topic: &APP_REJECTED };
    decide(&operator, &app, &id, if_match, decision, &ask.notes()).await
}

/// `POST /v1/app-store/submissions/{sid}/request-changes` (`requestSubmissionChanges`):
/// Request changes to an app submission.
///
/// Asks for changes, to be submitted anew.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`.
pub async fn request_changes(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<SubmissionId>,
    if_match: IfMatch,
    Ruled(Body(ask)): Ruled<Body<RefusalRequest>>,
) -> Result<Json<SubmissionView>, Problem> {
    let status = SubmissionStatus::ChangesRequested;
    let decision = SubmissionDecision { status, topic: &APP_CHANGES_REQUESTED };
    decide(&operator, &app, &id, if_match, decision, &ask.notes()).await
}

/// How a submission ends, and what is announced.
#[derive(Clone, Copy)]
struct SubmissionDecision {
    status: SubmissionStatus,
    topic: &'static Topic<SubmissionView>,
}

async fn decide(
    operator: &Operator,
    app: &App,
    id: &SubmissionId,
    if_match: IfMatch,
    decision: SubmissionDecision,
    notes: &[String],
) -> Result<Json<SubmissionView>, Problem> {
    retry(|| async {
        let now = app.clock.now();
        let before = Submission::find(app, id).await?;
        if_match.check(before.version)?;
        let by = &operator.account.id;
        let after = before.decide(decision.status, notes.to_vec(), by, now)?;
        let submitted: CommerceApp = load(app, &key::app(&after.app_id)).await?;
        save(app, &submitted, &after, decision.topic, now).await
    })
    .await
}
