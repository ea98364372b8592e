//! Images of imported products: once all rows are read, those that are hosted elsewhere are fetched into the
//! store. The import has ended by then, and another may run.
//!
//! The file is read a second time, record by record. A product says itself which of its images are still
//! elsewhere, so a step that is repeated fetches what is missing. An image's id follows from the import, the
//! row and the address: it is stored once.

use std::collections::HashMap;
use std::time::Duration;

use catalogue::media::{self, Caption, FetchError, Media};
use catalogue::product::{self, Product, UniqueProductHandle};
use catalogue::workflows::save_product::host_images;
use core_types::id::{MediaId, ProductId};
use core_types::key;
use egress::SendError;
use futures_util::future::join_all;
use identity::store::Store;
use platform::authority::AuthorityCheck;
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::{Code, FieldError, Problem};
use serde_json::Value;
use services::Services;
use tokio::time::Instant;

use super::file::Chunks;
use super::finding::{Finding, Severity};
use super::progress::MAX_IMAGES;
use super::records::Record;
use super::sheet::{ReadOutcome, Sheet};
use super::step::{self, PageFindings};
use super::{ImageProgress, Import, OnExisting, RunProgress};
use crate::chunk;

/// The time for which one message fetches images.
const STAY: Duration = Duration::from_secs(10);
/// The maximum time to fetch an image.
const DEADLINE: Duration = Duration::from_secs(8);
/// The number of images fetched at once.
const AT_ONCE: usize = 4;
/// The number of records after which the progress is saved.
const RECORDS: usize = 50;

/// Whether a record has images.
pub(super) fn has_images(record: &Record) -> bool {
    record.body.get("images").and_then(Value::as_array).is_some_and(|images| !images.is_empty())
}

/// Fetches images for a while. Returns when the next step is due; none when all were tried.
///
/// # Errors
/// `version_conflict` when the import was written meanwhile; 503.
pub(super) async fn step(
    services: &Services,
    store: &Store,
    import: Import,
) -> Result<Option<Timestamp>, Problem> {
    let Some(images) = import.progress.images.clone() else { return Ok(None) };
    let progress = RunProgress { place: images.place.clone(), ..import.progress.clone() };
    let from = Import { progress, ..import.clone() };
    let mut sheet = Sheet::of(&from, Chunks::of(services, &from)).one_by_one();
    let mut authority = AuthorityCheck::of(import.authority.as_ref());
    let settings = step::cell_settings(store, &import);
    let mut work = ImageFetch { services, store, import: &import, began: Instant::now(), images };
    let mut found = PageFindings::default();
    for _ in 0..RECORDS {
        if authority.revocation(services).await?.is_some() || work.images.is_full() {
            work.images.is_over = true;
            break;
        }
        let ReadOutcome::Page(page) = sheet.page(&settings).await? else {
            work.images.is_over = true;
            break;
        };
        let mut is_done = true;
        for record in &page.records {
            let (findings, done) = work.record(record).await?;
            step::add(&mut found, findings);
            is_done &= done;
        }
        if is_done {
            (work.images.place, work.images.tried) = (page.place, 0);
            work.images.is_over = page.is_last;
        }
        if work.images.is_over || !is_done || work.began.elapsed() >= STAY {
            break;
        }
    }
    let (images, now) = (work.images, services.clock.now());
    let is_over = images.is_over;
    let next = import.fetching(images, now);
    step::save_progress(services, &import, next, found).await?;
    if is_over {
        chunk::delete_all(services, import.id.as_str()).await;
    }
    Ok((!is_over).then_some(now))
}

/// The fetching of one step.
struct ImageFetch<'a> {
    services: &'a Services,
    store: &'a Store,
    import: &'a Import,
    began: Instant,
    images: ImageProgress,
}

/// An image of a record.
struct RecordImage {
    /// Its number among the images of the record.
    number: usize,
    url: String,
    alt: Option<String>,
}

impl ImageFetch<'_> {
    /// Fetches the images of a record's product. Returns the findings, and whether all were tried.
    async fn record(&mut self, record: &Record) -> Result<(Vec<Finding>, bool), Problem> {
        let wanted = wanted(record);
        let mut findings = Vec::new();
        let Some(product) = self.product(record, wanted.is_empty()).await? else {
            return Ok((findings, true));
        };
        let is_elsewhere = |wanted: &&RecordImage| {
            let mut images = product.images.iter();
            images.any(|image| image.media_id.is_none() && image.url == wanted.url)
        };
        let left: Vec<&RecordImage> = wanted
            .iter()
            .filter(is_elsewhere)
            .filter(|wanted| wanted.number >= self.images.tried)
            .collect();
        for some in left.chunks(AT_ONCE) {
            if self.began.elapsed() >= STAY {
                return Ok((findings, false));
            }
            if self.images.is_full() {
                let detail = format!(
                    "An import fetches at most {MAX_IMAGES} images: this one and the rest keep \
                     their URLs."
                );
                findings.extend(finding(record, some.first(), "image_limit", &detail));
                return Ok((findings, true));
            }
            findings.extend(self.fetch(record, &product.id, some).await?);
            let last = some.last().map_or(0, |wanted| wanted.number);
            self.images.tried = last.saturating_add(1);
        }
        Ok((findings, true))
    }

    /// The product of a record that the import has written; none if it has not.
    async fn product(&self, record: &Record, is_bare: bool) -> Result<Option<Product>, Problem> {
        if is_bare || record.is_rejected() {
            return Ok(None);
        }
        let (services, store) = (self.services, &self.store.id);
        let id = self.import.product_id(record.row);
        if let Some((product, _)) = product::load(services, store, &id).await? {
            return Ok(Some(product));
        }
        let handle = record.body.get("handle").and_then(Value::as_str);
        let is_updated = self.import.on_existing == OnExisting::Update;
        let Some(handle) = handle.filter(|_| is_updated) else { return Ok(None) };
        let claim = key::unique_product_handle(store, handle);
        let Some(claim) = services.table.get::<UniqueProductHandle>(&claim).await? else {
            return Ok(None);
        };
        let found = product::load(services, store, &claim.product_id).await?;
        Ok(found.map(|(product, _)| product))
    }

    /// Fetches some images at once, and gives them to the product.
    async fn fetch(
        &mut self,
        record: &Record,
        product: &ProductId,
        some: &[&RecordImage],
    ) -> Result<Vec<Finding>, Problem> {
        let fetches = some.iter().map(|wanted| self.one(record, wanted));
        let results = join_all(fetches).await;
        let (mut hosted, mut findings) = (HashMap::new(), Vec::new());
        for (wanted, result) in some.iter().zip(results) {
            match result? {
                Ok(media) => {
                    self.images.count(&wanted.url, usize::try_from(media.size).ok());
                    hosted.insert(wanted.url.clone(), media);
                }
                Err((code, detail)) => {
                    self.images.count(&wanted.url, None);
                    findings.extend(finding(record, Some(wanted), code, &detail));
                }
            }
        }
        match host_images(self.services, &self.store.id, product, &hosted).await {
            Err(problem) if problem.code == Code::ChangeTooLarge => {
                let text = problem.text().to_owned();
                let all = some.iter().filter(|wanted| hosted.contains_key(&wanted.url));
                findings.extend(
                    all.filter_map(|wanted| {
                        finding(record, Some(wanted), "change_too_large", &text)
                    }),
                );
            }
            outcome => outcome?,
        }
        Ok(findings)
    }

    /// Fetches an image, and stores it. Why it could not be is a code and a detail.
    async fn one(
        &self,
        record: &Record,
        wanted: &RecordImage,
    ) -> Result<Result<Media, (&'static str, String)>, Problem> {
        if self.images.is_skipped(&wanted.url) {
            let detail = "The host has failed to answer several times.";
            return Ok(Err(("source_unreachable", detail.to_owned())));
        }
        let bytes = match media::fetch(self.services, &wanted.url, DEADLINE).await {
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err((code_of(error), error.to_string()))),
        };
        let row = record.row.to_string();
        let parts = [self.import.id.as_str(), row.as_str(), wanted.url.as_str()];
        let id = MediaId::derive_at(self.import.time_of(record.row), &parts);
        let (alt, source_url) = (wanted.alt.clone(), Some(wanted.url.clone()));
        let caption = Caption { alt, source_url };
        match media::create(self.services, self.store, (id, bytes.to_vec(), caption)).await {
            Err(problem) if problem.code == Code::MediaTypeRejected => {
                Ok(Err((problem.code.as_str(), problem.text().to_owned())))
            }
            made => made.map(Ok),
        }
    }
}

/// The images of a record, each address once.
fn wanted(record: &Record) -> Vec<RecordImage> {
    let images = record.body.get("images").and_then(Value::as_array);
    let mut all: Vec<RecordImage> = Vec::new();
    for (number, image) in images.into_iter().flatten().enumerate() {
        let text = |name: &str| image.get(name).and_then(Value::as_str).map(str::to_owned);
        let Some(url) = text("url") else { continue };
        if !all.iter().any(|known| known.url == url) {
            let alt = text("alt").filter(|alt| !alt.is_empty());
            all.push(RecordImage { number, url, alt });
        }
    }
    all
}

fn code_of(error: FetchError) -> &'static str {
    match error {
        FetchError::Send(SendError::Blocked(rejection)) => rejection.code(),
        FetchError::TooLarge => "body_too_large",
        FetchError::Send(_) | FetchError::Status(_) => "source_unreachable",
    }
}

/// A warning at the cell of an image.
fn finding(
    record: &Record,
    wanted: Option<&&RecordImage>,
    code: &'static str,
    detail: &str,
) -> Option<Finding> {
    let pointer = format!("/images/{}", wanted?.number);
    let detail = format!("{detail} The image keeps its URL.");
    let found = record.finding(&FieldError::new(pointer, code, detail))?;
    Some(Finding { severity: Severity::Warning, ..found })
}

impl Import {
    /// The ended import with this progress of its images.
    fn fetching(&self, images: ImageProgress, now: Timestamp) -> Self {
        let due_at = (!images.is_over).then(|| now.plus(MINUTE));
        Self { due_at, ..self.changed(now) }.with_images(Some(images))
    }

    /// Whether it has ended, and its images are being fetched.
    pub(super) fn is_fetching(&self) -> bool {
        let is_pending = |images: &ImageProgress| !images.is_over;
        self.status.is_over() && self.progress.images.as_ref().is_some_and(is_pending)
    }

    /// The import without the images that are left.
    pub(super) fn without_images(&self, now: Timestamp) -> Self {
        let ended = |images: &ImageProgress| ImageProgress { is_over: true, ..images.clone() };
        let images = self.progress.images.as_ref().map(ended);
        Self { due_at: None, ..self.changed(now) }.with_images(images)
    }
}
