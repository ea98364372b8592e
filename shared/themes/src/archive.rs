//! Reads zips under bounds (PKWARE's ZIP application note, version 6.3.10).
//!
//! Programs read malformed zips in different ways: one trusts the directory, another the local headers, a
//! third the first header it finds. So that every program reads the content that is validated here, an
//! archive must be plain. Its entries begin at the first byte, without gap or overlap; the local and the
//! central header of each agree; the directory follows directly.
//!
//! **Bounds.** An entry is unpacked into no more bytes than it declares and one more, and an entry that
//! declares too many is not unpacked at all.

use std::collections::BTreeMap;

use rawzip::{ZipArchive, ZipSliceArchive};

use crate::finding::{Code, Finding};
use crate::findings::Findings;
use entry::ZipEntry;

mod directory;
mod entry;
mod little_endian;
mod path;

/// The maximum size of a package, in bytes.
pub(crate) const MAX_ARCHIVE: usize = 4 << 20;
/// The maximum number of entries in a package.
pub(crate) const MAX_ENTRIES: usize = 1_000;
/// The maximum size of all files together, unpacked, in bytes.
pub(crate) const MAX_UNPACKED: u64 = 32 << 20;

/// The files of an archive.
#[derive(Default)]
pub(crate) struct Archive {
    /// The files with valid names, by name. A file without bytes could not be read: a finding says why.
    pub(crate) files: BTreeMap<String, Option<Vec<u8>>>,
    /// The number of bytes that were unpacked.
    pub(crate) unpacked: u64,
}

/// Reads an archive. Without an error among the findings every file has its bytes.
pub(crate) fn open(zip: &[u8], findings: &mut Findings) -> Archive {
    if zip.len() > MAX_ARCHIVE {
        let detail = "A package must have at most 4 MiB.";
        findings.push(Finding::new(Code::ArchiveTooLarge, "", detail));
        return Archive::default();
    }
    let Some(archive) = locate(zip, findings) else { return Archive::default() };
    let (entries, is_complete) = entries(zip, &archive, findings);
    let names = path::accepted(&entries, findings);
    for entry in &entries {
        entry.validate(findings);
    }
    let directory = archive.directory_offset();
    directory::validate_extents(&entries, directory, is_complete, findings);
    unpack(&entries, &names, findings)
}

/// Locates the directory by the archive's end record; none if that is invalid.
fn locate<'a>(zip: &'a [u8], findings: &mut Findings) -> Option<ZipSliceArchive<&'a [u8]>> {
    let mut reject = |code, detail: &str| findings.push(Finding::new(code, "", detail));
    let archive = match ZipArchive::from_slice(zip) {
        Ok(archive) => archive,
        Err(error) if matches!(error.kind(), rawzip::ErrorKind::MissingEndOfCentralDirectory) => {
            reject(Code::NotAZip, "The file is not a ZIP archive, or its end is cut off.");
            return None;
        }
        Err(error) => {
            reject(Code::ArchiveMalformed, &format!("The ZIP archive is damaged: {error}."));
            return None;
        }
    };
    let problems = directory::validate_end(zip, &archive);
    let is_readable = problems.is_empty();
    for (code, detail) in problems {
        reject(code, detail);
    }
    is_readable.then_some(archive)
}

/// Reads the directory's entries, at most [`MAX_ENTRIES`]. Returns them, and whether they are complete.
fn entries<'a>(
    zip: &'a [u8],
    archive: &'a ZipSliceArchive<&'a [u8]>,
    findings: &mut Findings,
) -> (Vec<ZipEntry<'a>>, bool) {
    let mut reject = |code, detail: String| findings.push(Finding::new(code, "", detail));
    let mut entries = Vec::new();
    for record in archive.entries() {
        match record {
            _ if entries.len() == MAX_ENTRIES => {
                reject(
                    Code::TooManyEntries,
                    format!("A package must have at most {MAX_ENTRIES} entries."),
                );
                return (entries, false);
            }
            Ok(record) => entries.push(ZipEntry::new(zip, archive, &record)),
            Err(error) => {
                reject(
                    Code::ArchiveMalformed,
                    format!("The archive's directory cannot be read: {error}."),
                );
                return (entries, false);
            }
        }
    }
    let declared = archive.entries_hint();
    if u64::try_from(entries.len()) != Ok(declared) {
        let detail = format!("The archive declares {declared} entries, but has {}.", entries.len());
        reject(Code::EntryCountMismatch, detail);
    }
    if entries.is_empty() {
        reject(Code::ArchiveEmpty, "The archive is empty.".to_owned());
    }
    (entries, true)
}

/// Unpacks every valid file, as long as the declared sizes fit into [`MAX_UNPACKED`].
fn unpack(
    entries: &[ZipEntry<'_>],
    names: &BTreeMap<usize, String>,
    findings: &mut Findings,
) -> Archive {
    let mut unpacked = Archive::default();
    let mut left = MAX_UNPACKED;
    for (index, name) in names {
        let Some(entry) = entries.get(*index) else { continue };
        let bytes = match (entry.is_whole(), left.checked_sub(entry.claimed)) {
            (false, _) => None,
            (true, Some(less)) => {
                left = less;
                let unpacked_entry = entry.unpack(&mut unpacked.unpacked);
                unpacked_entry
                    .map_err(|(code, detail)| findings.push(Finding::new(code, name, detail)))
                    .ok()
            }
            (true, None) => {
                if left > 0 {
                    let detail = "The files of a package must have at most 32 MiB together.";
                    findings.push(Finding::new(Code::UnpackedTooLarge, "", detail));
                }
                left = 0;
                None
            }
        };
        unpacked.files.insert(name.clone(), bytes);
    }
    unpacked
}
