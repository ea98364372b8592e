//! Certification reports: what was promised, held against the evidence of a period, and signed for
//! whoever has to rely on it.

use axum::extract::State;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::page::Paging;
use gateway::problem::{Code, FieldError, Problem};
use gateway::reply::{Accepted, Either, Jose, Json, Page, TextOf};
use gateway::request::{Accept, Body, Given, Judgement, Path, Query, Ruled, Rules, request};
use gateway::{table, token};
use ground::id::{EvidenceId, MerchantId, ReportId};
use ground::key;
use ground::resource::load;
use ground::scope::ReadOperations;
use platform::caller::{Observer, Operator};
use reliability::evidence;
use reliability::report::{
    self, Chain, Control, Findings, Framework, LONGEST_PERIOD, Period, Report, ReportStatus,
    Verdict,
};
use serde::Serialize;

use crate::page::{self, Shown};

/// What the signed statement is (RFC 8725 §3.11): no access token, and no other statement.
const TYPE: &str = "certification-report+jwt";
/// Times that somebody else may append evidence before the report's own.
const ATTEMPTS: u32 = 20;

/// What is stated, signed.
#[derive(Debug, Serialize)]
struct ReportClaims<'a> {
    /// Issuer: this service.
    iss: &'a str,
    /// Subject: the report.
    sub: &'a ReportId,
    /// When it was signed, in epoch seconds.
    iat: i64,
    #[serde(flatten)]
    findings: &'a Findings,
}

ground::view! {
    /// A report in a list.
    ReportSummaryView of report: Report {
        id: ReportId,
        status: ReportStatus,
        framework: Framework = report.findings.framework,
        period: Period = report.findings.period,
        verdict: Verdict = report.findings.verdict,
        /// The record that says that it was issued.
        evidence_id: EvidenceId,
        issued_at: Timestamp,
        created_at: Timestamp = report.issued_at,
        updated_at: Timestamp = report.issued_at,
        version: u64 = 1,
    }
}

ground::view! {
    /// A report with its controls.
    ReportView of report: Report {
        id: ReportId,
        status: ReportStatus,
        framework: Framework = report.findings.framework,
        period: Period = report.findings.period,
        /// `met` when all controls are; `missed` when one is.
        verdict: Verdict = report.findings.verdict,
        /// What was promised, and what the evidence says of it.
        controls: Vec<Control> = report.findings.controls.clone(),
        /// The evidence as it was when the report was issued.
        chain: Chain = report.findings.chain.clone(),
        /// The record that says that it was issued.
        evidence_id: EvidenceId,
        /// The operator who had it issued.
        issued_by: MerchantId,
        issued_at: Timestamp,
        /// The findings, signed: a compact JWS (RFC 7515 §7.1, ES256).
        jws: String,
        created_at: Timestamp = report.issued_at,
        updated_at: Timestamp = report.issued_at,
        version: u64 = 1,
    }
}

/// `GET /v1/operations/certification-reports` (`listReports`): List certification reports.
///
/// Lists the reports, the newest first.
pub(crate) async fn list(
    _: Observer<ReadOperations>,
    State(app): State<App>,
    paging: Paging,
) -> Result<Page<ReportSummaryView>, Problem> {
    let (index, partition) = key::reports();
    let query = table::Query::index(index, partition).newest_first();
    let view = |report: Report| ReportSummaryView::from(&report);
    paging.answer(&app, &query, |_: &Report| true, view).await
}

/// From when until when, both included.
#[request]
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReportPeriod {
    /// From this time.
    from: Timestamp,
    /// Until this one, which has passed; at most 366 days later.
    to: Timestamp,
}

/// What to report on.
#[request]
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReportRequest {
    /// About which time.
    period: ReportPeriod,
    /// By whose words; the platform's own if left out.
    framework: Option<Framework>,
}

impl Rules for ReportRequest {
    async fn broken(given: Given<'_>, case: &Judgement<'_>) -> Vec<FieldError> {
        let Some(period) = given.get::<ReportPeriod>("period") else { return Vec::new() };
        let mut faults = Vec::new();
        if period.to > case.app.clock.now() {
            let detail = "Must have passed.";
            faults.push(FieldError::new("/period/to", "in_future", detail));
        }
        if period.from >= period.to {
            let detail = "Must be before `to`.";
            faults.push(FieldError::new("/period/from", "invalid_range", detail));
        } else if period.from.until(period.to) > LONGEST_PERIOD {
            let detail = "The period must be at most 366 days.";
            faults.push(FieldError::new("/period/from", "range_too_wide", detail));
        }
        faults
    }
}

/// `POST /v1/operations/certification-reports` (`createReport`): Create a certification report.
///
/// Issues a report over the evidence of a period.
///
/// It is signed, and recorded as evidence itself. Before it is, the whole chain of the evidence is walked.
///
/// # Errors
/// `version_conflict` when very much is recorded meanwhile.
pub(crate) async fn issue(
    caller: Operator,
    State(app): State<App>,
    Ruled(Body(ask)): Ruled<Body<ReportRequest>>,
) -> Result<Accepted<ReportView>, Problem> {
    let period = Period { from: ask.period.from, to: ask.period.to };
    let framework = ask.framework.unwrap_or(Framework::Internal);
    let (stated, chain) = report::gather(&app, period).await?;
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
    table::retry_up_to(ATTEMPTS, || async {
        let now = app.clock.now();
        let addition = evidence::addition(&app, record.clone(), now).await?;
        let addition = addition.ok_or_else(|| Problem::internal("a report's id is new"))?;
        let write = app.table.write().create(&report, Code::VersionConflict);
        let answer = Accepted::new(&ReportView::from(&report)).version(1);
        addition.put_into(write).answer(answer, now).await
    })
    .await
}

gateway::words! {
    /// How a report is shown.
    ReportFormat {
        /// As JSON, whatever `Accept` prefers.
        Json = "json",
        /// The signed findings alone: a compact JWS.
        Jws = "jws",
    }
}

/// How.
#[request]
#[derive(Debug)]
pub(crate) struct ReportQuery {
    /// `jws`: the signed findings alone.
    format: Option<ReportFormat>,
}

/// `GET /v1/operations/certification-reports/{id}` (`getReport`): Get a certification report.
///
/// Shows a report: as JSON, as a page, or as what was signed.
///
/// The page is for who accepts `text/html` rather than JSON. With `format=jws` it is the signed
/// findings alone, which verify with the keys of `GET /v1/app-store/oauth/jwks`.
///
/// # Errors
/// `not_found`.
pub(crate) async fn show(
    _: Observer<ReadOperations>,
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
        None => Either::Left(page::shown(&accept, || page::report::sheet(&report), json)),
    })
}
