//! The steps of long work over a person's data: one message processes pages for a while, and saves the
//! progress after each page.

use std::time::Duration;

use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::Item;
use table::{WalkPosition, Write};
use tokio::time::Instant;

/// The longest time that one message processes pages.
const STAY_LENGTH: Duration = Duration::from_secs(10);
/// The wait before a page is repeated, because an item is being changed or an event is being published.
const RETRY_WAIT: Duration = Duration::from_secs(2);

/// The result of a page.
pub(crate) enum Done {
    /// The page is complete. The part continues at this position, if there is one.
    All(Option<WalkPosition>),
    /// The page has to be repeated: an item is being changed, or an event is being published.
    NotYet,
}

/// Long work with its progress: a part and a position in it.
pub(crate) trait Walking: Item {
    /// Whether it has ended.
    fn is_over(&self) -> bool;
    /// The work after a page: at `place` in the same part, else at the next part, else ended.
    fn advanced(&self, place: Option<WalkPosition>, now: Timestamp) -> Self;
    /// Adds the events of this version to a transaction.
    fn tell(&self, write: Write) -> Write {
        write
    }
}

/// The continuation of long work after a page.
pub(crate) enum Next<W> {
    /// The next page, by the same message.
    Page(W),
    /// Another message at this time; none if the work has ended.
    Message(Option<Timestamp>),
}

/// The time that one message has for pages.
pub(crate) struct Stay {
    began: Instant,
}

impl Stay {
    /// Begins now.
    pub(crate) fn begin() -> Self {
        Self { began: Instant::now() }
    }

    /// Saves the progress after a page, and returns how the work continues.
    ///
    /// # Errors
    /// `version_conflict` if the work was changed concurrently; 503.
    pub(crate) async fn after<W: Walking>(
        &self,
        services: &Services,
        work: W,
        page: Result<Done, Problem>,
    ) -> Result<Next<W>, Problem> {
        let done = match page {
            Err(problem) if problem.code == Code::VersionConflict => Done::NotYet,
            outcome => outcome?,
        };
        let now = services.clock.now();
        let Done::All(place) = done else { return Ok(Next::Message(Some(now.plus(RETRY_WAIT)))) };
        let work = work.advanced(place, now);
        save(services, &work).await?;
        if work.is_over() {
            tracing::info!(work = ?work.key(), "redaction or merge finished");
            return Ok(Next::Message(None));
        }
        let is_long = self.began.elapsed() >= STAY_LENGTH;
        Ok(if is_long { Next::Message(Some(now)) } else { Next::Page(work) })
    }
}

/// Saves the progress with its events.
pub(crate) async fn save<W: Walking>(services: &Services, work: &W) -> Result<(), Problem> {
    work.tell(services.table.write().replace(work, Code::VersionConflict)).commit().await
}
