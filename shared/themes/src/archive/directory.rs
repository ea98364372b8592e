//! Validates an archive's end record, and that its entries are contiguous.

use rawzip::ZipSliceArchive;

use super::entry::ZipEntry;
use super::little_endian::{u16_at, u32_at};
use crate::finding::{Code, Finding};
use crate::findings::Findings;

/// The size of the end record without its comment (PKWARE's ZIP application note, §4.3.16).
const END_SIZE: usize = 22;
/// The size of the ZIP64 pointer to the end record (PKWARE's ZIP application note, §4.3.15).
const ZIP64_POINTER_SIZE: usize = 20;
const END_SIGNATURE: &[u8] = b"PK\x05\x06";
const ZIP64_POINTER_SIGNATURE: &[u8] = b"PK\x06\x07";
const ENTRY_SIGNATURE: &[u8] = b"PK\x03\x04";

/// Validates the end record. With a problem here, nothing else in the archive is reliable.
pub(super) fn validate_end(
    zip: &[u8],
    archive: &ZipSliceArchive<&[u8]>,
) -> Vec<(Code, &'static str)> {
    let at = usize::try_from(archive.eocd_offset()).unwrap_or(usize::MAX);
    let end = zip.get(at..).unwrap_or_default();
    let half = |offset| u16_at(end, offset).unwrap_or(u16::MAX);
    let word = |offset| u32_at(end, offset).unwrap_or(u32::MAX);
    let (disk, directory_disk, here, all) = (half(4), half(6), half(8), half(10));
    let (size, offset, comment) = (word(12), word(16), half(20));
    let before = at.checked_sub(ZIP64_POINTER_SIZE).and_then(|start| zip.get(start..at));
    let long = before.is_some_and(|before| before.starts_with(ZIP64_POINTER_SIGNATURE));
    if long || here == u16::MAX || all == u16::MAX || size == u32::MAX || offset == u32::MAX {
        return vec![(Code::Zip64Rejected, "ZIP64 archives are not supported.")];
    }
    let mut problems = Vec::new();
    if disk != 0 || directory_disk != 0 || here != all {
        problems.push((Code::ArchiveMultiDisk, "Split archives are not supported."));
    }
    let remark = end.get(END_SIZE..).unwrap_or_default();
    if remark.len() > usize::from(comment) {
        problems.push((Code::DataAfterArchive, "There are bytes after the end of the archive."));
    } else if remark.windows(END_SIGNATURE.len()).any(|bytes| bytes == END_SIGNATURE) {
        problems.push((
            Code::ArchiveMalformed,
            "The archive's comment contains the signature of an archive's end.",
        ));
    }
    let directory_end = usize::try_from(size)
        .ok()
        .zip(usize::try_from(offset).ok())
        .and_then(|(size, offset)| offset.checked_add(size));
    if directory_end != Some(at) {
        let is_behind_something = !zip.starts_with(ENTRY_SIGNATURE) && all > 0;
        problems.push(if is_behind_something {
            (Code::DataBeforeArchive, "There are bytes before the archive.")
        } else {
            (Code::ArchiveMalformed, "The archive's directory is not at its declared position.")
        });
    }
    problems
}

/// Reports entries that overlap, and bytes that belong to no entry.
pub(super) fn validate_extents(
    entries: &[ZipEntry<'_>],
    directory: u64,
    is_complete: bool,
    findings: &mut Findings,
) {
    let mut extents: Vec<(u64, u64, &ZipEntry<'_>)> = entries
        .iter()
        .filter_map(|entry| entry.extent.map(|(start, end)| (start, end, entry)))
        .collect();
    extents.sort_by_key(|(start, end, _)| (*start, *end));
    // If an entry's bytes were not located, a gap may be theirs: gaps are not reported.
    let is_complete = is_complete && extents.len() == entries.len();
    let mut reached = 0;
    for (start, end, entry) in extents {
        let printable = entry.printable_name();
        if start < reached || end > directory {
            let detail = "The entry's data overlaps another entry.";
            findings.push(Finding::new(Code::EntriesOverlap, &printable, detail));
        } else if start > reached && is_complete {
            findings.push(if reached == 0 {
                Finding::new(Code::DataBeforeArchive, "", "There are bytes before the archive.")
            } else {
                Finding::new(
                    Code::HiddenData,
                    &printable,
                    "The bytes before the entry belong to no entry.",
                )
            });
        }
        reached = reached.max(end);
    }
    if is_complete && reached < directory && !entries.is_empty() {
        let detail = "The bytes before the directory belong to no entry.";
        findings.push(Finding::new(Code::HiddenData, "", detail));
    }
}
