//! The columns of a file: their names decide, once for all rows, which of them are read.

use super::records::Decimals;
use super::rows::Cell;

/// The most ignored columns that are named.
const MAX_IGNORED: usize = 100;
/// The most characters of a name in a response.
const MAX_NAME: usize = 100;

/// A column that is read, by its index among the columns of the kind of import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) index: usize,
    /// Whether all columns with this slot are read, not just the first with a value.
    pub(super) is_repeated: bool,
}

/// The shop system whose columns a file has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Layout {
    /// Shopify, as in the exports of a store.
    #[default]
    Shopify,
    /// WooCommerce.
    WooCommerce,
    /// Shopify's stock, with a column for each location.
    StockByLocation,
}

/// The columns of a file.
#[derive(Debug, Default)]
pub(super) struct Columns {
    layout: Layout,
    decimals: Decimals,
    /// The name of each column in the file, and the slot it is read into.
    all: Vec<(String, Option<Slot>)>,
    is_header: bool,
}

impl Columns {
    /// Columns of these names; `of` returns the slots of those that are read.
    pub(super) fn of(names: &[String], of: impl Fn(&str) -> Option<Slot>) -> Self {
        let all = names.iter().map(|name| (name.clone(), of(name))).collect();
        let (layout, decimals) = (Layout::default(), Decimals::default());
        Self { layout, decimals, all, is_header: false }
    }

    /// The columns, of this shop system.
    pub(super) fn in_layout(self, layout: Layout) -> Self {
        Self { layout, ..self }
    }

    /// The shop system whose columns they are.
    pub(super) const fn layout(&self) -> Layout {
        self.layout
    }

    /// The columns, whose numbers have this sign before their decimals.
    pub(super) fn with_decimals(self, decimals: Decimals) -> Self {
        Self { decimals, ..self }
    }

    /// The sign before the decimals of their numbers.
    pub(super) const fn decimals(&self) -> Decimals {
        self.decimals
    }

    /// The columns of a header row: all of its cells are read.
    pub(super) const fn unknown() -> Self {
        let (layout, decimals) = (Layout::Shopify, Decimals::Point);
        Self { layout, decimals, all: Vec::new(), is_header: true }
    }

    /// The number of columns, once it is known.
    pub(super) fn width(&self) -> Option<usize> {
        (!self.is_header).then_some(self.all.len())
    }

    /// The name of the column at this place.
    pub(super) fn name(&self, place: usize) -> &str {
        self.all.get(place).map_or("", |(name, _)| name)
    }

    /// The slot of the column at this place; none when it is ignored.
    pub(super) fn slot(&self, place: usize) -> Option<Slot> {
        self.all.get(place).and_then(|(_, slot)| *slot)
    }

    /// The name of the first column with this slot.
    pub(super) fn first(&self, slot: Slot) -> Option<&str> {
        self.all.iter().find(|(_, own)| *own == Some(slot)).map(|(name, _)| name.as_str())
    }

    /// The names of all columns with this slot.
    pub(super) fn names(&self, slot: Slot) -> Vec<String> {
        let own = self.all.iter().filter(|(_, own)| *own == Some(slot));
        own.map(|(name, _)| name.clone()).collect()
    }

    /// The columns without those of these names, which are not read.
    pub(super) fn without(self, names: &[String]) -> Self {
        let unread = |(name, slot): (String, Option<Slot>)| {
            let is_read = !names.contains(&name);
            (name, slot.filter(|_| is_read))
        };
        Self { all: self.all.into_iter().map(unread).collect(), ..self }
    }

    /// The names that are stored with an import: only those of columns that are read, which bounds their
    /// length.
    pub(super) fn header_names(&self) -> Vec<String> {
        let read_name = |(name, slot): &(String, Option<Slot>)| slot.map(|_| name.clone());
        self.all.iter().map(|column| read_name(column).unwrap_or_default()).collect()
    }

    /// The first of the ignored columns, and the number of all.
    pub(super) fn ignored(&self) -> (Vec<String>, u64) {
        let ignored = || self.all.iter().filter(|(_, slot)| slot.is_none());
        let cut = |(name, _): &(String, Option<Slot>)| name.chars().take(MAX_NAME).collect();
        let count = u64::try_from(ignored().count()).unwrap_or(u64::MAX);
        (ignored().take(MAX_IGNORED).map(cut).collect(), count)
    }

    /// The cells of a row that are read, and whether the row is valid UTF-8. Of several columns with one
    /// slot the first non-empty one counts.
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
            let is_once = slot.is_some_and(|slot| !slot.is_repeated);
            let is_known = |cell: &Cell| is_once && self.slot(cell.place) == slot;
            if self.is_header || (!text.is_empty() && !cells.iter().any(is_known)) {
                // A name of a column is read as it is.
                let text = if self.is_header { text.into() } else { crate::csv::unguarded(text) };
                cells.push(Cell { place, text: text.into_owned() });
            }
        }
        (cells, is_text)
    }
}
