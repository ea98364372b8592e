//! Zips, read under bounds (PKWARE's ZIP application note, version 6.3.10).
//!
//! Programs read broken zips in different ways: one believes the directory, another the headers
//! beside the data, a third what it finds first. So that what is validated here is what anybody else
//! would see, an archive must be plain: entries from its first byte on, one after the other without
//! gap or overlap, each said to be the same by both of its headers, and the directory right behind
//! them.
//!
//! **Bounds.** Nothing is believed before it was counted: no entry is given more room than it claims,
//! and none that claims too much is unpacked at all.

use std::collections::BTreeMap;

use rawzip::{ZipArchive, ZipSliceArchive};

use crate::finding::{Code, Finding};
use crate::findings::Findings;
use entry::Entry;

mod directory;
mod entry;
mod path;

/// Bytes of a package.
pub(crate) const MAX_ARCHIVE: usize = 4 << 20;
/// Entries of a package.
pub(crate) const MAX_ENTRIES: usize = 1_000;
/// Bytes of all files, unpacked.
pub(crate) const MAX_UNPACKED: u64 = 32 << 20;
/// How many bytes one byte may become.
pub(crate) const MAX_RATIO: u64 = 100;

/// What is in an archive.
#[derive(Default)]
pub(crate) struct Archive {
    /// Every file that has a good name, by that; with its bytes, unless they could not be read, which
    /// a finding then says.
    pub(crate) files: BTreeMap<String, Option<Vec<u8>>>,
    /// How many bytes were unpacked.
    pub(crate) unpacked: u64,
}

/// Reads an archive. Without an error among the findings every file has its bytes.
pub(crate) fn open(zip: &[u8], findings: &mut Findings) -> Archive {
    if zip.len() > MAX_ARCHIVE {
        let detail = "A package has at most 4 MiB.";
        findings.push(Finding::new(Code::ArchiveTooLarge, "", detail));
        return Archive::default();
    }
    let Some(archive) = located(zip, findings) else { return Archive::default() };
    let (entries, is_complete) = entries(zip, &archive, findings);
    let names = path::accepted(&entries, findings);
    for entry in &entries {
        entry.validate(findings);
    }
    let directory = archive.directory_offset();
    directory::validate_extents(&entries, directory, is_complete, findings);
    unpack(&entries, &names, findings)
}

/// The archive, if its end says where everything is.
fn located<'a>(zip: &'a [u8], findings: &mut Findings) -> Option<ZipSliceArchive<&'a [u8]>> {
    let mut reject = |code, detail: &str| findings.push(Finding::new(code, "", detail));
    let archive = match ZipArchive::from_slice(zip) {
        Ok(archive) => archive,
        Err(error) if matches!(error.kind(), rawzip::ErrorKind::MissingEndOfCentralDirectory) => {
            reject(Code::NotAZip, "The end of a zip's directory is not in it.");
            return None;
        }
        Err(error) => {
            reject(Code::ArchiveMalformed, &format!("Its end cannot be read: {error}."));
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

/// The entries of the directory, as many as there may be, and whether that is all of them.
fn entries<'a>(
    zip: &'a [u8],
    archive: &'a ZipSliceArchive<&'a [u8]>,
    findings: &mut Findings,
) -> (Vec<Entry<'a>>, bool) {
    let mut reject = |code, detail: String| findings.push(Finding::new(code, "", detail));
    let mut entries = Vec::new();
    for record in archive.entries() {
        match record {
            _ if entries.len() == MAX_ENTRIES => {
                reject(
                    Code::TooManyEntries,
                    format!("A package has at most {MAX_ENTRIES} entries."),
                );
                return (entries, false);
            }
            Ok(record) => entries.push(Entry::new(zip, archive, &record)),
            Err(error) => {
                reject(Code::ArchiveMalformed, format!("Its directory cannot be read: {error}."));
                return (entries, false);
            }
        }
    }
    let said = archive.entries_hint();
    if u64::try_from(entries.len()) != Ok(said) {
        let detail = format!("It says that it has {said} entries, and has {}.", entries.len());
        reject(Code::EntryCountMismatch, detail);
    }
    if entries.is_empty() {
        reject(Code::ArchiveEmpty, "There is nothing in it.".to_owned());
    }
    (entries, true)
}

/// Unpacks every file that has a good name and of which nothing bad is known, as long as there is
/// room for what it claims.
fn unpack(
    entries: &[Entry<'_>],
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
                    let detail = "The files of a package have at most 32 MiB together.";
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
