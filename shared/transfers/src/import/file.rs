//! The file of an import: its parts, and the pieces that these are kept in.

use gateway::app::App;
use gateway::problem::Problem;
use gateway::seal;
use serde::{Deserialize, Serialize};

use super::Import;
use crate::piece::{self, PIECE, Piece};

/// Pieces that are read at once.
const READ_AT_ONCE: usize = 4;

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// SHA-256 of its bytes, in hex: its pieces are named by it, so that two uploads of one part never
    /// mix.
    pub sha256: String,
    /// How many bytes.
    pub bytes: u64,
}

impl Part {
    /// What these bytes are.
    pub fn of(bytes: &[u8]) -> Self {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        Self { sha256: seal::digest_of(bytes), bytes: length }
    }

    fn place(&self, number: u32, piece: usize) -> String {
        format!("{number:02}#{}#{piece:03}", self.sha256)
    }

    /// Writes its pieces.
    ///
    /// # Errors
    /// 503.
    pub async fn write(
        &self,
        app: &App,
        (import, number): (&Import, u32),
        bytes: &[u8],
    ) -> Result<(), Problem> {
        let piece = |(count, bytes): (usize, &[u8])| {
            let place = self.place(number, count);
            Piece::new(import.id.as_str(), place, bytes.to_vec(), import.created_at)
        };
        let pieces: Vec<Piece> = bytes.chunks(PIECE).enumerate().map(piece).collect();
        piece::write(app, &pieces).await
    }
}

/// Some of a file, from one of its bytes on.
#[derive(Debug, Default)]
pub(super) struct Window {
    begin: u64,
    bytes: Vec<u8>,
    /// Whether the file ends with it.
    pub(super) is_last: bool,
}

impl Window {
    /// What there is from this byte on.
    pub(super) fn from(&self, byte: u64) -> &[u8] {
        let offset = byte.checked_sub(self.begin).and_then(|offset| usize::try_from(offset).ok());
        offset.and_then(|offset| self.bytes.get(offset..)).unwrap_or_default()
    }

    /// The file from this byte on, further than this window goes.
    ///
    /// # Errors
    /// 503; `internal` when a piece is gone.
    pub(super) async fn further(
        &self,
        app: &App,
        import: &Import,
        byte: u64,
    ) -> Result<Self, Problem> {
        let known = self.from(byte).to_vec();
        let length = u64::try_from(known.len()).unwrap_or(u64::MAX);
        let (begin, end) = (byte, byte.saturating_add(length));
        let (places, offset, reached) = import.places(end);
        let found = piece::read(app, import.id.as_str(), &places).await?;
        let found = found.ok_or_else(|| Problem::internal("a piece of the file is gone"))?;
        let mut bytes = known;
        bytes.extend(found.get(offset..).unwrap_or_default());
        Ok(Self { begin, bytes, is_last: reached >= import.bytes() })
    }
}

impl Import {
    /// The places of the next pieces from a byte on, where in the first of them it is, and where they end.
    fn places(&self, byte: u64) -> (Vec<String>, usize, u64) {
        let size = u64::try_from(PIECE).unwrap_or(u64::MAX);
        let (mut places, mut offset, mut begin) = (Vec::new(), 0, 0_u64);
        for (number, part) in &self.parts {
            let count = part.bytes.div_ceil(size);
            for piece in 0..count {
                let length = size.min(part.bytes.saturating_sub(piece.saturating_mul(size)));
                let end = begin.saturating_add(length);
                if end > byte && places.len() < READ_AT_ONCE {
                    if places.is_empty() {
                        offset = usize::try_from(byte.saturating_sub(begin)).unwrap_or(0);
                    }
                    places.push(part.place(*number, usize::try_from(piece).unwrap_or(0)));
                } else if end > byte {
                    return (places, offset, begin);
                }
                begin = end;
            }
        }
        (places, offset, begin)
    }
}
