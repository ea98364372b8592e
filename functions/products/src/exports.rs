//! Handlers of exports of a store's data into files.

use gateway::idempotency::Commit;
use std::time::Duration;

use axum::extract::State;
use callers::StoreAccess;
use core_types::id::ExportId;
use core_types::key;
use core_types::resource::load;
use core_types::scope::{ReadExports, RequiredScope, WriteExports};
use delivery::run::RunMessage;
use gateway::app::App;
use gateway::caller::Public;
use gateway::page::Paging;
use gateway::reply::{Accepted, File, Json, Page, Reply};
use gateway::request::{Body, Path, Query, Ruled};
use http::header;
use platform::actor::insufficient_scope;
use primitives::clock::Timestamp;
use primitives::fields::{Int, Text, Written};
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::item::Index;
use table::retry;
use transfers::FileFormat;
use transfers::chunk;
use transfers::export::{
    CHUNKS_OF_PART, Export, ExportKind, ExportStatus, ExportView, Link, start_next,
};
use transfers::unfinished;

primitives::string_enum! {
    /// The data to export. The data of one customer are exported by `requestCustomerData`.
    #[schemars(rename = "ExportableKind")]
    Exported {
        /// Products with their variants.
        Products = "products",
        /// Orders with their lines.
        Orders = "orders",
        /// Customers.
        Customers = "customers",
        /// Stock, by product and location.
        Inventory = "inventory",
        /// Movements of stock, by product.
        Movements = "movements",
    }
}

impl From<Exported> for ExportKind {
    fn from(exported: Exported) -> Self {
        match exported {
            Exported::Products => Self::Products,
            Exported::Orders => Self::Orders,
            Exported::Customers => Self::Customers,
            Exported::Inventory => Self::Inventory,
            Exported::Movements => Self::Movements,
        }
    }
}

/// Ensures that the caller may read the data in exports of this kind.
fn ensure_may_read<S: RequiredScope>(
    caller: &StoreAccess<S>,
    kind: ExportKind,
) -> Result<(), Problem> {
    match kind.scopes().iter().find(|scope| !caller.actor.may(scope)) {
        Some(missing) => Err(insufficient_scope(missing)),
        None => Ok(()),
    }
}

/// An export to create.
#[request]
#[derive(Debug)]
pub(crate) struct CreateRequest {
    /// The data to export.
    kind: Exported,
    /// The file format; CSV by default.
    format: Option<FileFormat>,
    /// Only entries that were created at this time or later.
    since: Option<Timestamp>,
    /// Only entries that were created before this time.
    until: Option<Timestamp>,
}

impl Rules for CreateRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        let time = |name| given.get::<Timestamp>(name);
        let is_reversed = time("since").zip(time("until")).is_some_and(|(from, to)| to <= from);
        let violation = || FieldError::new("/until", "invalid_range", "Must be after `since`.");
        is_reversed.then(violation).into_iter().collect()
    }
}

/// `POST /v1/exports` (`createExport`): Create an export.
///
/// The data are written into a file in the background. An app also needs the scope to read the exported data.
///
/// # Errors
/// `insufficient_scope`; `invalid_range` as a field error; `export_limit`: a store has five unfinished exports.
pub(crate) async fn create(
    caller: StoreAccess<WriteExports>,
    State(app): State<App>,
    Ruled(Body(input)): Ruled<Body<CreateRequest>>,
) -> Result<Accepted<ExportView>, Problem> {
    let now = app.clock.now();
    let kind = input.kind.into();
    ensure_may_read(&caller, kind)?;
    let what = (kind, input.format.unwrap_or(FileFormat::Csv));
    let range = (input.since, input.until);
    let export = Export::new(&caller.store.id, what, range, caller.actor.id(), now);
    let export = export.on_behalf_of(caller.authority(kind.scopes()));
    let answer = Accepted::new(&ExportView::from(&export)).version(export.version);
    let answer =
        retry(async || unfinished::create(&app, &export).await?.answer(answer.clone(), now).await)
            .await?;
    RunMessage::Export { id: export.id }.send(&app, Duration::ZERO).await;
    Ok(answer)
}

/// Filters of a list of exports.
#[request]
#[derive(Debug)]
pub(crate) struct ListQuery {
    /// Only exports of this kind.
    kind: Option<ExportKind>,
    /// Only exports with this status.
    status: Option<ExportStatus>,
}

/// `GET /v1/exports` (`listExports`): List exports of a store.
///
/// Exports come newest first, without download links. An app sees the exports whose data it may read.
pub(crate) async fn list(
    caller: StoreAccess<ReadExports>,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<ExportView>, Problem> {
    let all = table::Query::index(Index::Gsi5, key::exports_on(&caller.store.id)).newest_first();
    let wanted = |export: &Export| {
        ensure_may_read(&caller, export.kind).is_ok()
            && query.kind.is_none_or(|kind| export.kind == kind)
            && query.status.is_none_or(|status| export.status == status)
    };
    paging.query(&app, &all, wanted, |export| ExportView::from(&export)).await
}

/// Loads an export of the store whose data the caller may read.
async fn find<S: RequiredScope>(
    services: &Services,
    caller: &StoreAccess<S>,
    id: &ExportId,
) -> Result<Export, Problem> {
    let export: Export = load(services, &key::export(id)).await?;
    let is_ours =
        export.store_id == caller.store.id && ensure_may_read(caller, export.kind).is_ok();
    if is_ours { Ok(export) } else { Err(Code::NotFound.into()) }
}

/// `GET /v1/exports/{id}` (`getExport`): Get an export and its download links.
///
/// The response has a signed download link for each part of the file.
///
/// # Errors
/// `not_found`.
pub(crate) async fn get(
    caller: StoreAccess<ReadExports>,
    State(app): State<App>,
    Path(id): Path<ExportId>,
) -> Result<Json<ExportView>, Problem> {
    let export = find(&app, &caller, &id).await?;
    let keys = app.secrets.keys().await?;
    let mut view = ExportView::from(&export);
    for part in &mut view.parts {
        let link = Link::new(&export.id, part.number, app.clock.now());
        part.url = Some(link.url(&keys.downloads, &app.config.base_url));
    }
    Ok(Json::new(&view).version(export.version))
}

/// `POST /v1/exports/{id}/cancel` (`cancelExport`): Cancel an export.
///
/// The parts that were written so far are deleted.
///
/// # Errors
/// `not_found`; `invalid_state_transition` when it is over.
pub(crate) async fn cancel(
    caller: StoreAccess<WriteExports>,
    State(app): State<App>,
    Path(id): Path<ExportId>,
) -> Result<Json<ExportView>, Problem> {
    let (app, caller, id) = (&app, &caller, &id);
    let answer = retry(|| async move {
        let now = app.clock.now();
        let cancelled = find(app, caller, id).await?.cancelled(now)?;
        let answer = Json::new(&ExportView::from(&cancelled)).version(cancelled.version);
        cancelled.save(app.table.write()).answer(answer, now).await
    })
    .await?;
    chunk::delete_all(app, id.as_str()).await;
    start_next(app, &caller.store.id).await;
    Ok(answer)
}

/// The query of a download link.
#[request]
#[derive(Debug)]
pub(crate) struct PartQuery {
    /// When the link expires, in seconds since 1970.
    expires: Written<Int<0, 99_999_999_999>>,
    /// The signature of the link.
    signature: Text<1, 100>,
}

/// `GET /v1/exports/{id}/parts/{part}` (`downloadExportPart`): Download a part of an export.
///
/// The signed link from `getExport` is the only credential that is needed.
///
/// # Errors
/// `invalid_or_expired_token`; `not_found` when the file was deleted.
pub(crate) async fn get_part(
    _: Public,
    State(app): State<App>,
    Path((id, part)): Path<(ExportId, PartNumber)>,
    Query(query): Query<PartQuery>,
) -> Result<File, Problem> {
    let (keys, now) = (app.secrets.keys().await?, app.clock.now());
    let link = Link { export: &id, part: part.0, expires: query.expires.0.0 };
    link.check(query.signature.as_str(), &keys.downloads, now)?;
    let export: Export = load(&app, &key::export(&id)).await?;
    let number = usize::try_from(part.0).unwrap_or(0).checked_sub(1).ok_or(Code::NotFound)?;
    let chunks = export.parts().nth(number).map(<[u32]>::len).ok_or(Code::NotFound)?;
    let first = number.saturating_mul(CHUNKS_OF_PART);
    let places: Vec<String> = (first..first.saturating_add(chunks)).map(Export::chunk).collect();
    let bytes = chunk::read(&app, id.as_str(), &places).await?.ok_or(Code::NotFound)?;
    let (kind, extension) = (export.kind, export.format);
    let name = format!("attachment; filename=\"{kind}-{}.{extension}\"", export.created_at.day());
    Ok(File::new(export.format.content_type(), bytes).map(|answer| {
        answer
            .header(header::CONTENT_DISPOSITION, &name)
            .header(header::CACHE_CONTROL, gateway::answer::PRIVATE)
    }))
}

/// The number of a part, from 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartNumber(u64);

impl primitives::fields::FromText for PartNumber {
    const EXPECTS: &'static str = "the number of a part";

    fn from_text(text: &str) -> Result<Self, primitives::fields::Violation> {
        let number = text.parse().ok().filter(|number| (1..=1_000_000).contains(number));
        let violation =
            || primitives::fields::Violation::new("out_of_range", "Must be a part number.");
        number.map(Self).ok_or_else(violation)
    }
}

primitives::text_field!(PartNumber);
primitives::string_schema!(PartNumber: {"pattern": "^[1-9][0-9]{0,6}$"});
