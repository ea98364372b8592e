//! What files are kept in: pieces that fit into items.

use std::time::Duration;

use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::{Item, Key, Octets};
use gateway::problem::{Code, Problem};
use gateway::table::{Condition, Query, Write};
use ground::key;
use serde::{Deserialize, Serialize};

/// Bytes of one piece (docs/data-model.md §1).
pub const PIECE: usize = 350_000;
/// Pieces of one transaction: below its limit of 4 MB.
const TOGETHER: usize = 8;
/// Pieces that are removed at once.
const REMOVED: usize = 100;
/// How long a file is kept after its import or export was asked for.
pub const KEPT: Duration = Duration::from_hours(7 * 24);

/// A piece of a file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Piece {
    /// The import or the export.
    pub file: String,
    /// Which piece: they sort as they follow each other.
    pub place: String,
    /// What it holds.
    pub bytes: Octets,
    /// When the file is forgotten.
    pub forgotten_at: Timestamp,
    /// Always 1: it is put, and deleted.
    pub version: u64,
}

impl Item for Piece {
    const KIND: &'static str = "file_piece";
    const HAS_OCTETS: bool = true;
    fn key(&self) -> Key {
        key::file_piece(&self.file, &self.place)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.forgotten_at)
    }
}

impl Piece {
    /// A piece of a file that was begun at this time.
    pub fn new(file: &str, place: String, bytes: Vec<u8>, begun: Timestamp) -> Self {
        let (file, forgotten_at) = (file.to_owned(), begun.plus(KEPT));
        Self { file, place, bytes: Octets(bytes), forgotten_at, version: 1 }
    }
}

/// Writes pieces, whatever was in their places.
///
/// # Errors
/// 503.
pub async fn write(app: &App, pieces: &[Piece]) -> Result<(), Problem> {
    for together in pieces.chunks(TOGETHER) {
        together.iter().fold(app.table.write(), Write::put).commit().await?;
    }
    Ok(())
}

/// Writes pieces of work that is still at the version that they were made of. Work that was given up since,
/// or is forgotten, has its pieces removed: none may come after that.
///
/// # Errors
/// `version_conflict`; 503.
pub async fn write_of<T: Item>(app: &App, work: &T, pieces: &[Piece]) -> Result<(), Problem> {
    for together in pieces.chunks(TOGETHER) {
        let is_unchanged = Condition::is_at(work.version());
        let write = app.table.write().check(&work.key(), is_unchanged, Code::VersionConflict);
        together.iter().fold(write, Write::put).commit().await?;
    }
    Ok(())
}

/// Removes the pieces at these places. What fails is forgotten with time.
pub async fn discard(app: &App, file: &str, places: &[String]) {
    for together in places.chunks(TOGETHER) {
        let delete = |write: Write, place: &String| write.delete(&key::file_piece(file, place));
        let deleted = together.iter().fold(app.table.write(), delete).commit().await;
        if let Err(problem) = deleted {
            tracing::warn!(cause = %problem, file, "pieces of a file were left over");
        }
    }
}

/// The bytes of these places, one after the other; none when one of them is gone.
///
/// # Errors
/// 503.
pub async fn read(app: &App, file: &str, places: &[String]) -> Result<Option<Vec<u8>>, Problem> {
    let keys: Vec<Key> = places.iter().map(|place| key::file_piece(file, place)).collect();
    let mut batch = app.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut bytes = Vec::new();
    for key in &keys {
        let Some(piece) = batch.take::<Piece>(key)? else { return Ok(None) };
        bytes.extend(piece.bytes.0);
    }
    Ok(Some(bytes))
}

/// Removes all pieces of a file.
///
/// # Errors
/// 503.
pub async fn erase(app: &App, file: &str) -> Result<(), Problem> {
    loop {
        let query = Query::partition(key::file_pieces(file));
        let keys = app.table.keys(&query, REMOVED).await?;
        if keys.is_empty() {
            return Ok(());
        }
        for key in &keys {
            app.table.write().delete(key).commit().await?;
        }
    }
}

/// The same. What fails is forgotten with time.
pub async fn remove(app: &App, file: &str) {
    if let Err(problem) = erase(app, file).await {
        tracing::warn!(cause = %problem, file, "pieces of a file were left over");
    }
}
