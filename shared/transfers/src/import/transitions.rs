//! The states of an import: what it becomes, and what is written with it.

use core_types::end_reason::EndReason;
use core_types::key;
use platform::authority::Authority;
use primitives::clock::{MINUTE, Timestamp};
use primitives::problem::{Code, Problem};
use table::{Condition, Write};

use super::{
    ImageProgress, Import, ImportPosition, ImportStatus, ImportUnderWay, MAX_BYTES, Parents,
    RunProgress, UploadedPart,
};

impl Import {
    pub(super) fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    pub(super) fn with_images(mut self, images: Option<ImageProgress>) -> Self {
        self.progress.images = images;
        self
    }

    fn rejected(&self) -> Problem {
        Problem::state(self.status.as_str(), &self.allowed_actions())
    }

    /// The import with a part of its file, replacing one of the same number.
    ///
    /// # Errors
    /// `invalid_state_transition` unless it waits for its parts; `import_too_large`.
    pub fn with_part(
        &self,
        number: u32,
        part: UploadedPart,
        now: Timestamp,
    ) -> Result<Self, Problem> {
        if self.status != ImportStatus::Uploading {
            return Err(self.rejected());
        }
        let mut next = self.changed(now);
        next.parts.insert(number, part);
        if next.bytes() > MAX_BYTES {
            return Err(Code::ImportTooLarge.with("limit", MAX_BYTES));
        }
        Ok(next)
    }

    /// The size of the file, in bytes.
    pub fn bytes(&self) -> u64 {
        self.parts.values().map(|part| part.bytes).sum()
    }

    /// The import started anew from its first row.
    ///
    /// # Errors
    /// `invalid_state_transition`; `parts_missing` when there is none, or a number is left out.
    pub fn started(&self, dry_run: bool, principal: &str, now: Timestamp) -> Result<Self, Problem> {
        if !matches!(self.status, ImportStatus::Uploading | ImportStatus::Checked) {
            return Err(self.rejected());
        }
        if self.parts.is_empty() || !self.parts.keys().copied().eq((1..).take(self.parts.len())) {
            return Err(Code::PartsMissing.into());
        }
        Ok(Self {
            dry_run,
            principal: principal.to_owned(),
            status: ImportStatus::Running,
            runs: self.runs.saturating_add(1),
            progress: RunProgress::begin(),
            due_at: Some(now.plus(MINUTE)),
            started_at: Some(now),
            finished_at: None,
            ..self.changed(now)
        })
    }

    /// The import with the authority on whose behalf it writes.
    #[must_use]
    pub fn on_behalf_of(self, authority: Authority) -> Self {
        Self { authority: Some(authority), ..self }
    }

    /// The import cancelled because the principal that started it may no longer write. Rows already
    /// imported stay.
    #[must_use]
    pub fn revoked(&self, reason: EndReason, now: Timestamp) -> Self {
        Self { status_reason: Some(reason), ..self.ended(ImportStatus::Cancelled, now) }
    }

    /// The import failed by a permanent error, without its larger fields.
    #[must_use]
    pub fn failed_permanently(&self, reason: EndReason, now: Timestamp) -> Self {
        let (header, parents) = (Vec::new(), Parents::default());
        let mut ended = self.ended(ImportStatus::Failed, now);
        let place = ImportPosition { header, parents, ..self.progress.place.clone() };
        (ended.progress.place, ended.progress.ignored_columns) = (place, Vec::new());
        Self { status_reason: Some(reason), ..ended }
    }

    /// The import cancelled. Rows already imported stay.
    ///
    /// # Errors
    /// `invalid_state_transition` when it has ended.
    pub fn cancelled(&self, now: Timestamp) -> Result<Self, Problem> {
        if self.status.is_over() {
            return Err(self.rejected());
        }
        Ok(self.ended(ImportStatus::Cancelled, now))
    }

    /// The import after its last row. Its images are fetched next.
    pub(super) fn read(&self, now: Timestamp) -> Self {
        let RunProgress { counts, findings_count, warnings_count, .. } = &self.progress;
        let right = counts.all() > counts.failed;
        let errors = findings_count.saturating_sub(*warnings_count);
        let status = match (self.dry_run, errors, right) {
            (true, ..) => ImportStatus::Checked,
            (false, 0, _) => ImportStatus::Succeeded,
            (false, _, true) => ImportStatus::Partial,
            (false, _, false) => ImportStatus::Failed,
        };
        let images = self.progress.images.clone().filter(|_| status != ImportStatus::Failed);
        let due_at = images.as_ref().map(|_| now.plus(MINUTE));
        Self { due_at, ..self.ended(status, now) }.with_images(images)
    }

    fn ended(&self, status: ImportStatus, now: Timestamp) -> Self {
        let (due_at, finished_at) = (None, Some(now));
        Self { status, due_at, finished_at, ..self.changed(now) }.with_images(None)
    }

    /// Adds the start of the import, on condition that no other is under way on its store
    /// (`import_running`).
    pub fn begin(&self, write: Write) -> Write {
        let (store_id, import_id) = (self.store_id.clone(), self.id.clone());
        let under_way = ImportUnderWay { store_id, import_id, version: 1 };
        write.create(&under_way, Code::ImportRunning).replace(self, Code::VersionConflict)
    }

    /// Adds the replacement of `before` by this import. When it is not running, it also adds the event;
    /// when `before` was running, it admits another import on the store.
    pub fn save(&self, before: &Self, write: Write) -> Write {
        let write = write.replace(self, Code::VersionConflict);
        if self.status == ImportStatus::Running {
            return write;
        }
        let was_running = before.status == ImportStatus::Running;
        let under_way = key::import_under_way(&self.store_id);
        let is_ours = Condition::is("import_id", self.id.as_str());
        write
            .when_some(was_running.then_some(()), |write, ()| {
                write.delete_if(&under_way, is_ours, Code::VersionConflict)
            })
            .emit(self.finished())
    }
}
