//! Keys of transfers and of personal data: imports, exports and the chunks of their files; redactions and
//! merges.

use primitives::clock::Timestamp;
use table::item::Key;

use super::{IndexKey, gsi5};
use crate::id::{CustomerId, ExportId, ImportId, RedactionId, StoreId};

/// An import.
pub fn import(id: &ImportId) -> Key {
    Key::new(format!("{IMPORTS}{id}"), "A")
}
/// The prefix of the partition keys of imports.
pub const IMPORTS: &str = "IMP#";
/// The findings of some rows of an import.
pub fn import_findings(id: &ImportId, page: u64) -> Key {
    Key::new(format!("{IMPORTS}{id}"), format!("{FINDINGS}{page:010}"))
}
/// The prefix of the sort keys of findings.
pub const FINDINGS: &str = "FND#";
/// The marker that a batch of rows of an import has been applied.
pub fn import_rows_done(id: &ImportId, row: u64) -> Key {
    Key::new(format!("{IMPORTS}{id}"), format!("ROW#{row:09}"))
}
/// The last row of an import that changed one object, by the digest of that object's identity.
pub fn import_last_row(id: &ImportId, digest: &str) -> Key {
    Key::new(format!("{IMPORTS}{id}"), format!("KEY#{digest}"))
}
/// The import that is running on a store.
pub fn import_under_way(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "IMP")
}
/// The imports of a store that were created and may be unfinished.
pub fn imports_unfinished(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "IMPS")
}
/// The exports of a store that were created and may be unfinished.
pub fn exports_unfinished(store: &StoreId) -> Key {
    Key::new(format!("STO#{store}"), "EXPS")
}
/// The partition of a store's imports, in the index that lists them.
pub fn imports_on(store: &StoreId) -> String {
    format!("STO#{store}#IMP")
}
/// A store's imports by time.
pub fn imports_of_store(store: &StoreId, at: Timestamp, id: &ImportId) -> IndexKey {
    gsi5(imports_on(store), format!("{at}#{id}"))
}
/// An export.
pub fn export(id: &ExportId) -> Key {
    Key::new(format!("{EXPORTS}{id}"), "A")
}
/// The prefix of the partition keys of exports.
pub const EXPORTS: &str = "EXP#";
/// The partition of a store's exports, in the index that lists them.
pub fn exports_on(store: &StoreId) -> String {
    format!("STO#{store}#EXP")
}
/// A store's exports by time.
pub fn exports_of_store(store: &StoreId, at: Timestamp, id: &ExportId) -> IndexKey {
    gsi5(exports_on(store), format!("{at}#{id}"))
}
/// A chunk of the file of an import or an export.
pub fn file_chunk(file: &str, place: &str) -> Key {
    Key::new(file_chunks(file), place)
}
/// The partition of the chunks of a file.
pub fn file_chunks(file: &str) -> String {
    format!("FIL#{file}")
}
/// A redaction of a customer.
pub fn redaction(id: &RedactionId) -> Key {
    Key::new(format!("{REDACTIONS}{id}"), "A")
}
/// The prefix of the partition keys of redactions.
pub const REDACTIONS: &str = "RED#";
/// A merge of a customer into another, in the partition of the remaining one.
pub fn merge(store: &StoreId, customer: &CustomerId, source: &CustomerId) -> Key {
    Key::new(format!("STO#{store}#CUS#{customer}"), format!("{MERGES}{source}"))
}
/// The prefix of the sort keys of merges.
pub const MERGES: &str = "MRG#";
