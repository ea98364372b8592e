//! Long work over what a store keeps of a person, page by page: one message stays with it for a while, and
//! after each page how far it has come is written down.

use std::time::Duration;

use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::item::Item;
use table::{WalkPlace, Write};
use tokio::time::Instant;

/// How long one message stays with a chunk of work.
const STAY: Duration = Duration::from_secs(10);
/// How long what is on its way out, or is being written by somebody else, is given.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a page came to.
pub(crate) enum Done {
    /// All of it; the part goes on there, if it does.
    All(Option<WalkPlace>),
    /// Something is being written by somebody else, or is on its way out.
    NotYet,
}

/// Work that knows at which part it is, and where there.
pub(crate) trait Walking: Item {
    /// Whether nothing more happens.
    fn is_over(&self) -> bool;
    /// The work after a page: at `place` of the same part, or at the next part, or over.
    fn advanced(&self, place: Option<WalkPlace>, now: Timestamp) -> Self;
    /// Adds what is announced of this version.
    fn tell(&self, write: Write) -> Write {
        write
    }
}

/// How a chunk of work goes on.
pub(crate) enum Next<W> {
    /// With its next page.
    Page(W),
    /// With another message then; none when it is over.
    Message(Option<Timestamp>),
}

/// One message's stay with a chunk of work.
pub(crate) struct Stay {
    began: Instant,
}

impl Stay {
    /// From now on.
    pub(crate) fn begin() -> Self {
        Self { began: Instant::now() }
    }

    /// Writes down what a page came to.
    ///
    /// # Errors
    /// `version_conflict` when somebody else has written the work; 503 when the table cannot be reached.
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
        let Done::All(place) = done else { return Ok(Next::Message(Some(now.plus(PATIENCE)))) };
        let work = work.advanced(place, now);
        save(services, &work).await?;
        if work.is_over() {
            tracing::info!(work = ?work.key(), "over");
            return Ok(Next::Message(None));
        }
        let is_long = self.began.elapsed() >= STAY;
        Ok(if is_long { Next::Message(Some(now)) } else { Next::Page(work) })
    }
}

/// Writes how far it has come.
pub(crate) async fn save<W: Walking>(services: &Services, work: &W) -> Result<(), Problem> {
    work.tell(services.table.write().replace(work, Code::VersionConflict)).commit().await
}
