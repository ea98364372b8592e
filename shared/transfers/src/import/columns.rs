//! The columns of a file: which of them are read is said by their names, once for all rows.

use super::rows::Cell;

/// Ignored columns that are named.
const MAX_IGNORED: usize = 100;
/// Characters of a name that is shown.
const MAX_NAME: usize = 100;

/// A column that is read, among those of its kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(pub(super) usize);

/// The columns of a file.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// By their places in the file: the name, and what is read there.
    all: Vec<(String, Option<Slot>)>,
    is_header: bool,
}

impl Columns {
    /// Columns of these names; `of` knows those that are read.
    pub(super) fn of(names: &[String], of: impl Fn(&str) -> Option<Slot>) -> Self {
        let all = names.iter().map(|name| (name.clone(), of(name))).collect();
        Self { all, is_header: false }
    }

    /// The columns of a row that names them: each of its cells is read.
    pub(super) const fn unknown() -> Self {
        Self { all: Vec::new(), is_header: true }
    }

    /// How many there are, once that is known.
    pub(super) fn width(&self) -> Option<usize> {
        (!self.is_header).then_some(self.all.len())
    }

    /// The name of a place.
    pub(super) fn name(&self, place: usize) -> &str {
        self.all.get(place).map_or("", |(name, _)| name)
    }

    /// What is read at a place.
    pub(super) fn slot(&self, place: usize) -> Option<Slot> {
        self.all.get(place).and_then(|(_, slot)| *slot)
    }

    /// The first column that holds this.
    pub(super) fn first(&self, slot: Slot) -> Option<&str> {
        self.all.iter().find(|(_, own)| *own == Some(slot)).map(|(name, _)| name.as_str())
    }

    /// The names that are kept with an import: only of columns that are read, and so as short as those.
    pub(super) fn kept(&self) -> Vec<String> {
        let kept = |(name, slot): &(String, Option<Slot>)| slot.map(|_| name.clone());
        self.all.iter().map(|column| kept(column).unwrap_or_default()).collect()
    }

    /// The columns that are not read: the first of them, and how many.
    pub(super) fn ignored(&self) -> (Vec<String>, u64) {
        let ignored = || self.all.iter().filter(|(_, slot)| slot.is_none());
        let cut = |(name, _): &(String, Option<Slot>)| name.chars().take(MAX_NAME).collect();
        let count = u64::try_from(ignored().count()).unwrap_or(u64::MAX);
        (ignored().take(MAX_IGNORED).map(cut).collect(), count)
    }

    /// The cells of a row that are read, and whether the row is text. Of several columns that hold the same
    /// the first counts in which something stands.
    pub(super) fn cells(&self, bytes: &[u8], ends: &[usize]) -> (Vec<Cell>, bool) {
        let mut is_text = std::str::from_utf8(bytes).is_ok();
        let (mut cells, mut begin): (Vec<Cell>, usize) = (Vec::new(), 0);
        for (place, end) in ends.iter().enumerate() {
            let cell = bytes.get(begin..*end).unwrap_or_default();
            begin = *end;
            let slot = self.slot(place);
            if slot.is_none() && !self.is_header {
                continue;
            }
            is_text = is_text && std::str::from_utf8(cell).is_ok();
            let text = String::from_utf8_lossy(cell);
            let text = text.trim();
            let is_known = |cell: &Cell| !self.is_header && self.slot(cell.place) == slot;
            if self.is_header || (!text.is_empty() && !cells.iter().any(is_known)) {
                cells.push(Cell { place, text: text.to_owned() });
            }
        }
        (cells, is_text)
    }
}
