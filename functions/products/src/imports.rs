//! Handlers of imports of products, customers and stock from files.

use gateway::idempotency::Commit;
use std::sync::PoisonError;
use std::time::Duration;

use axum::extract::{FromRequestParts, State};
use callers::StoreAccess;
use core_types::id::ImportId;
use core_types::key;
use core_types::resource::load;
use core_types::scope::{ReadImports, RequiredScope, WriteImports};
use delivery::run::RunMessage;
use gateway::app::App;
use gateway::page::Paging;
use gateway::reply::{Accepted, Created, Json, Page};
use gateway::request::{Argument, Body, Path, Query, Raw, Reads, Validation};
use http::request::Parts;
use platform::actor::insufficient_scope;
use primitives::context::Context;
use primitives::fields::{Flag, FromText, Violation};
use primitives::input::request;
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::item::Index;
use table::retry;
use transfers::FileFormat;
use transfers::chunk;
use transfers::import::{
    Finding, Import, ImportInput, ImportKind, ImportStatus, ImportView, MAX_PARTS, OnExisting,
    UploadedPart,
};
use transfers::unfinished;

/// An import to create.
#[request]
#[derive(Debug)]
pub(crate) struct CreateRequest {
    /// The data to import.
    kind: ImportKind,
    /// The file format; CSV by default.
    format: Option<FileFormat>,
    /// Whether it is a dry run, which only validates the file. It can be started for real afterwards.
    dry_run: Flag,
    /// The handling of products and customers that exist already, by handle or e-mail address. By default
    /// they are a finding of their row.
    on_existing: Option<OnExisting>,
}

/// `POST /v1/imports` (`createImport`): Create an import.
///
/// Its file is uploaded in parts, and read once the import is started. An app also needs the scope to write
/// the imported data.
///
/// # Errors
/// `insufficient_scope`; `import_limit`: five imports of a store wait to be started.
pub(crate) async fn create(
    caller: StoreAccess<WriteImports>,
    State(app): State<App>,
    Body(input): Body<CreateRequest>,
) -> Result<Created<ImportView>, Problem> {
    let now = app.clock.now();
    if !caller.actor.may(input.kind.scope()) {
        return Err(insufficient_scope(input.kind.scope()));
    }
    let wanted = ImportInput {
        kind: input.kind,
        format: input.format.unwrap_or(FileFormat::Csv),
        dry_run: input.dry_run.0,
        on_existing: input.on_existing.unwrap_or(OnExisting::Fail),
    };
    let import = Import::new(wanted, &caller.store.id, caller.actor.id(), now);
    let answer = Created::new(&ImportView::from(&import)).version(import.version);
    let create =
        async || unfinished::create(&app, &import).await?.answer(answer.clone(), now).await;
    retry(create).await
}

/// Filters of a list of imports.
#[request]
#[derive(Debug)]
pub(crate) struct ListQuery {
    /// Only imports of this kind.
    kind: Option<ImportKind>,
    /// Only imports with this status.
    status: Option<ImportStatus>,
}

/// `GET /v1/imports` (`listImports`): List imports of a store.
///
/// Imports come newest first. An app sees the imports whose data it may write.
pub(crate) async fn list(
    caller: StoreAccess<ReadImports>,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<ImportView>, Problem> {
    let all = table::Query::index(Index::Gsi5, key::imports_on(&caller.store.id)).newest_first();
    let wanted = |import: &Import| {
        caller.actor.may(import.kind.scope())
            && query.kind.is_none_or(|kind| import.kind == kind)
            && query.status.is_none_or(|status| import.status == status)
    };
    paging.query(&app, &all, wanted, |import| ImportView::from(&import)).await
}

/// Loads an import of the store whose data the caller may write.
async fn find<S: RequiredScope>(
    services: &Services,
    caller: &StoreAccess<S>,
    id: &ImportId,
) -> Result<Import, Problem> {
    let import: Import = load(services, &key::import(id)).await?;
    let is_ours = import.store_id == caller.store.id && caller.actor.may(import.kind.scope());
    if is_ours { Ok(import) } else { Err(Code::NotFound.into()) }
}

fn to_response(import: &Import) -> Json<ImportView> {
    Json::new(&ImportView::from(import)).version(import.version)
}

/// `GET /v1/imports/{id}` (`getImport`): Get an import and its progress.
///
/// The response has its status and its progress.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get(
    caller: StoreAccess<ReadImports>,
    State(app): State<App>,
    Path(id): Path<ImportId>,
) -> Result<Json<ImportView>, Problem> {
    Ok(to_response(&find(&app, &caller, &id).await?))
}

/// `GET /v1/imports/{id}/findings` (`listImportFindings`): List findings of an import.
///
/// Findings come in the order of their rows, for the rows that were read so far.
///
/// # Errors
/// `not_found`, `invalid_cursor`.
pub(crate) async fn list_findings(
    caller: StoreAccess<ReadImports>,
    State(app): State<App>,
    Path(id): Path<ImportId>,
    paging: Paging,
) -> Result<Page<Finding>, Problem> {
    let import = find(&app, &caller, &id).await?;
    paging.query(&app, &import.findings(), |_: &Finding| true, |finding| finding).await
}

/// The number of a part, from 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartNumber(u32);

impl FromText for PartNumber {
    const EXPECTS: &'static str = "the number of a part";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let number = text.parse().ok().filter(|number| (1..=MAX_PARTS).contains(number));
        let number = number.and_then(|number: i64| u32::try_from(number).ok());
        let violation = || Violation::new("out_of_range", "Must be a part number from 1 to 50.");
        number.map(Self).ok_or_else(violation)
    }
}

primitives::text_field!(PartNumber);
primitives::string_schema!(PartNumber: {"pattern": "^([1-9]|[1-4][0-9]|50)$"});

/// The accepted media types of a part.
const MEDIA_TYPES: [&str; 5] = [
    "text/csv",
    "application/jsonl",
    "application/x-ndjson",
    "application/json",
    "application/octet-stream",
];

/// The bytes of a part.
pub(crate) struct Bytes(bytes::Bytes);

impl Argument for Bytes {
    const READS: Reads = Reads::BODY;

    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        let kind = validation.inbound.media_type();
        if !kind.is_empty() && !MEDIA_TYPES.contains(&kind.as_str()) {
            return Err(
                Code::UnsupportedMediaType.detail("Send `text/csv` or `application/jsonl`.")
            );
        }
        if validation.inbound.body.is_empty() {
            let detail = "The body must not be empty.";
            validation.add(vec![FieldError::new("/", "required", detail)]);
        }
        Ok(())
    }

    gateway::describes! { |operation| {
        for kind in ["text/csv", "application/jsonl", "application/octet-stream"] {
            operation.takes_bytes(kind);
        }
        operation.rejects(&[Code::UnsupportedMediaType]);
    } }
}

impl<S: Sync> FromRequestParts<S> for Bytes {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        Ok(Self(inbound.body.clone()))
    }
}

/// `PUT /v1/imports/{id}/parts/{part}` (`uploadImportPart`): Upload a part of an import file.
///
/// A part has at most 4 MiB, and replaces an earlier part with the same number. The file is the concatenation
/// of its parts, which may be split anywhere; it has at most 50 MB.
///
/// # Errors
/// `not_found`; `import_too_large`; `invalid_state_transition` once the import is started.
pub(crate) async fn put_part(
    caller: StoreAccess<WriteImports>,
    State(app): State<App>,
    Path((id, PartNumber(number))): Path<(ImportId, PartNumber)>,
    Bytes(bytes): Bytes,
) -> Result<Json<ImportView>, Problem> {
    let part = UploadedPart::of(&bytes, app.clock.now());
    let import = find(&app, &caller, &id).await?;
    import.with_part(number, part.clone(), app.clock.now())?;
    part.write(&app, (&import, number), &bytes).await?;
    let replaced = std::sync::Mutex::new(None);
    let (shared, caller, id, new, old) = (&app, &caller, &id, &part, &replaced);
    let outcome = retry(|| async move {
        let now = shared.clock.now();
        let before = find(shared, caller, id).await?;
        let next = before.with_part(number, new.clone(), now)?;
        let replaced = before.parts.get(&number).cloned();
        *old.lock().unwrap_or_else(PoisonError::into_inner) = replaced;
        let write = shared.table.write().replace(&next, Code::VersionConflict);
        write.answer(to_response(&next), now).await
    })
    .await;
    // Discards the bytes that are not, or no longer, part of the file. After a server error it is unknown
    // whether the part was written.
    let left_over = match &outcome {
        Ok(_) => replaced.into_inner().unwrap_or_else(PoisonError::into_inner),
        Err(problem) if problem.code.status() < 500 => Some(part),
        Err(_) => None,
    };
    if let Some(part) = left_over {
        part.discard(&app, (&import, number)).await;
    }
    outcome
}

/// The options for starting an import.
#[request]
#[derive(Debug)]
pub(crate) struct StartRequest {
    /// Whether it is a dry run. By default the first start follows the import's `dry_run`, and a start after
    /// a dry run is real.
    dry_run: Option<Flag>,
}

/// `POST /v1/imports/{id}/start` (`startImport`): Start an import.
///
/// After the start, further parts are rejected.
///
/// # Errors
/// `not_found`; `import_running`: a store runs one import at a time; `parts_missing`;
/// `invalid_state_transition`.
pub(crate) async fn start(
    caller: StoreAccess<WriteImports>,
    State(app): State<App>,
    Path(id): Path<ImportId>,
    Body(input): Body<StartRequest>,
) -> Result<Accepted<ImportView>, Problem> {
    let principal = Context::current().map(|context| context.principal()).unwrap_or_default();
    let (app, caller, id, principal) = (&app, &caller, &id, &principal);
    let dry_run = input.dry_run.map(|flag| flag.0);
    let answer = retry(|| async move {
        let now = app.clock.now();
        let before = find(app, caller, id).await?;
        let as_before = before.dry_run && before.status == ImportStatus::Uploading;
        let next = before.started(dry_run.unwrap_or(as_before), principal, now)?;
        let next = next.on_behalf_of(caller.authority(&[before.kind.scope()]));
        let answer = Accepted::new(&ImportView::from(&next)).version(next.version);
        next.begin(app.table.write()).answer(answer, now).await
    })
    .await?;
    RunMessage::Import { id: id.clone() }.send(app, Duration::ZERO).await;
    Ok(answer)
}

/// `POST /v1/imports/{id}/cancel` (`cancelImport`): Cancel an import.
///
/// Rows that were imported so far stay.
///
/// # Errors
/// `not_found`; `invalid_state_transition` when it is over.
pub(crate) async fn cancel(
    caller: StoreAccess<WriteImports>,
    State(app): State<App>,
    Path(id): Path<ImportId>,
) -> Result<Json<ImportView>, Problem> {
    let (app, caller, id) = (&app, &caller, &id);
    let answer = retry(|| async move {
        let now = app.clock.now();
        let before = find(app, caller, id).await?;
        let next = before.cancelled(now)?;
        next.save(&before, app.table.write()).answer(to_response(&next), now).await
    })
    .await?;
    chunk::delete_all(app, id.as_str()).await;
    Ok(answer)
}
