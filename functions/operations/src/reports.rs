//! Certification reports: the service's targets compared with the evidence of a period, and signed.

use axum::extract::State;
use callers::{Operator, OperatorOrStore};
use core_types::id::{EvidenceId, MerchantId, ReportId};
use core_types::key;
use core_types::resource::load;
use core_types::scope::ReadOperations;
use crypto::token;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Accepted, Either, Jose, Json, Page, TextOf};
use gateway::request::{Accept, Body, Path, Query, RequestRules, Ruled, Validation};
use primitives::clock::Timestamp;
use primitives::input::{Given, request};
use primitives::problem::{Code, FieldError, Problem};
use reliability::evidence;
use reliability::report::{
    self, Chain, Control, Findings, Framework, LONGEST_PERIOD, Period, Report, ReportStatus,
    Verdict,
};
use serde::Serialize;

use crate::page::{self, Shown};

/// The `typ` of the signed statement (RFC 8725 §3.11), which is neither an access token nor another
/// statement.
const TYPE: &str = "certification-report+jwt";

/// The claims of the signed statement.
#[derive(Debug, Serialize)]
struct ReportClaims<'a> {
    /// The issuer: the base URL of this service.
    iss: &'a str,
    /// The subject: the id of the report.
    sub: &'a ReportId,
    /// When it was signed, in seconds since 1970.
    iat: i64,
    #[serde(flatten)]
    findings: &'a Findings,
}

core_types::view! {
    /// A report in a list.
    ReportSummaryView of report: Report {
        /// The id.
        id: ReportId,
        /// Always `issued`.
        status: ReportStatus,
        /// The framework whose criteria the controls name.
        framework: Framework = report.findings.framework,
        /// The period that it covers.
        period: Period = report.findings.period,
        /// `met` when all controls are met, `missed` when one is missed, otherwise `no_evidence`.
        verdict: Verdict = report.findings.verdict,
        /// The evidence record of its issue.
        evidence_id: EvidenceId,
        /// When it was issued.
        issued_at: Timestamp,
        /// The same as `issued_at`.
        created_at: Timestamp = report.issued_at,
        /// The same as `issued_at`: a report never changes.
        updated_at: Timestamp = report.issued_at,
        /// Always 1.
        version: u64 = 1,
    }
}

core_types::view! {
    /// A report with its controls.
    ReportView of report: Report {
        /// The id.
        id: ReportId,
        /// Always `issued`.
        status: ReportStatus,
        /// The framework whose criteria the controls name.
        framework: Framework = report.findings.framework,
        /// The period that it covers.
        period: Period = report.findings.period,
        /// `met` when all controls are met, `missed` when one is missed, otherwise `no_evidence`.
        verdict: Verdict = report.findings.verdict,
        /// Each target with its measurement.
        controls: Vec<Control> = report.findings.controls.clone(),
        /// The state of the evidence chain when the report was issued.
        chain: Chain = report.findings.chain.clone(),
        /// The evidence record of its issue.
        evidence_id: EvidenceId,
        /// The operator who created it.
        issued_by: MerchantId,
        /// When it was issued.
        issued_at: Timestamp,
        /// The signed findings: a compact JWS (RFC 7515 §7.1, ES256).
        jws: String,
        /// The same as `issued_at`.
        created_at: Timestamp = report.issued_at,
        /// The same as `issued_at`: a report never changes.
        updated_at: Timestamp = report.issued_at,
        /// Always 1.
        version: u64 = 1,
    }
}

/// `GET /v1/operations/certification-reports` (`listReports`): List certification reports.
///
/// The newest report comes first, without its controls. Reports cover the whole platform, so every store with
/// the scope sees all of them.
pub(crate) async fn list(
    _: OperatorOrStore<ReadOperations>,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<ReportSummaryView>, Problem> {
    let (index, partition) = key::reports();
    let query = table::Query::index(index, partition).newest_first();
    let view = |report: Report| ReportSummaryView::from(&report);
    paging.query(&app, &query, |_: &Report| true, view).await
}

/// A period of time, with both ends included.
#[request]
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReportPeriod {
    /// The start.
    from: Timestamp,
    /// The end: in the past, after `from` and at most 366 days later.
    to: Timestamp,
}

/// A report to create.
#[request]
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReportRequest {
    /// The period that it covers.
    period: ReportPeriod,
    /// The framework whose criteria the controls name; `internal` by default.
    framework: Option<Framework>,
}

impl RequestRules for ReportRequest {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        let Some(period) = given.get::<ReportPeriod>("period") else { return Vec::new() };
        let mut errors = Vec::new();
        if period.to > validation.app.clock.now() {
            let detail = "Must be in the past.";
            errors.push(FieldError::new("/period/to", "in_future", detail));
        }
        if period.from >= period.to {
            let detail = "Must be before `to`.";
            errors.push(FieldError::new("/period/from", "invalid_range", detail));
        } else if period.from.until(period.to) > LONGEST_PERIOD {
            let detail = "The period must be at most 366 days.";
            errors.push(FieldError::new("/period/from", "range_too_wide", detail));
        }
        errors
    }
}

/// `POST /v1/operations/certification-reports` (`createReport`): Create a certification report.
///
/// The report compares the service's targets with the evidence of a period of at most 366 days. The evidence
/// chain is verified first. The report is signed, recorded as evidence and never changed. It is complete when
/// this request answers.
///
/// # Errors
/// `version_conflict` after too many concurrent records of evidence; `in_future`, `invalid_range`,
/// `range_too_wide` as field errors.
pub(crate) async fn create(
    caller: Operator,
    State(app): State<App>,
    Ruled(Body(input)): Ruled<Body<ReportRequest>>,
) -> Result<Accepted<ReportView>, Problem> {
    let period = Period { from: input.period.from, to: input.period.to };
    let framework = input.framework.unwrap_or(Framework::Internal);
    let (stated, chain) = report::collect(&app, period).await?;
    let findings = Findings::of(framework, period, &stated, &chain);
    let (issued_at, keys) = (app.clock.now(), app.secrets.receipt_keys().await?);
    let id = ReportId::mint(issued_at);
    let claims = ReportClaims {
        iss: &app.config.base_url,
        sub: &id,
        iat: issued_at.seconds(),
        findings: &findings,
    };
    let jws = token::sign_statement(&keys, TYPE, &claims).map_err(Problem::internal)?;
    let record = findings.record(&id);
    let report = Report {
        id,
        status: ReportStatus::Issued,
        findings,
        evidence_id: record.id(),
        issued_by: caller.account.id,
        issued_at,
        jws,
    };
    table::retry_up_to(evidence::ADDITION_ATTEMPTS, || async {
        let now = app.clock.now();
        let addition = evidence::addition(&app, record.clone(), now).await?;
        let addition = addition.ok_or_else(|| {
            Problem::internal("the evidence of a new report could not be appended")
        })?;
        let write = app.table.write().create(&report, Code::VersionConflict);
        let answer = Accepted::new(&ReportView::from(&report)).version(1);
        addition.put_into(write).answer(answer, now).await
    })
    .await
}

primitives::string_enum! {
    /// The format of a report.
    ReportFormat {
        /// JSON, regardless of `Accept`.
        Json = "json",
        /// Only the signed findings: a compact JWS.
        Jws = "jws",
    }
}

/// The format of the response.
#[request]
#[derive(Debug)]
pub(crate) struct ReportQuery {
    /// `json`, or `jws` for the signed findings alone. By default, `Accept` decides between JSON and HTML.
    format: Option<ReportFormat>,
}

/// `GET /v1/operations/certification-reports/{id}` (`getReport`): Get a certification report.
///
/// The report has every control with its target, its measurement and its evidence records. It is an HTML page
/// if `Accept` prefers `text/html` to JSON. With `format=jws` it is only the signed findings; verify them
/// with the keys of `GET /v1/app-store/oauth/jwks`.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get(
    _: OperatorOrStore<ReadOperations>,
    State(app): State<App>,
    Path(id): Path<ReportId>,
    Query(query): Query<ReportQuery>,
    accept: Accept,
) -> Result<Either<Shown<ReportView>, TextOf<Jose>>, Problem> {
    let report = load::<Report>(&app, &key::report(&id)).await?;
    let json = || Json::new(&ReportView::from(&report)).version(1);
    Ok(match query.format {
        Some(ReportFormat::Jws) => Either::Right(TextOf::new(report.jws)),
        Some(ReportFormat::Json) => Either::Left(Either::Left(json())),
        None => Either::Left(page::described(&accept, || page::report::sheet(&report), json)),
    })
}
