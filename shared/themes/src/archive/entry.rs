//! An entry of an archive: its two headers and its bytes.

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress};
use rawzip::extra_fields::ExtraFieldId;
use rawzip::{CompressionMethod, ZipFileHeaderRecord, ZipSliceArchive, ZipSliceEntry};

use super::little_endian::{u16_at, u32_at};
use crate::finding::{Code, Finding};
use crate::findings::Findings;

/// Bit 0: encrypted; bit 6: strong encryption; bit 13: masked header values (PKWARE's ZIP application note,
/// §4.4.4).
const ENCRYPTED: u16 = 1 | 1 << 6 | 1 << 13;
/// Bit 5: compressed patched data, which is not a file (PKWARE's ZIP application note, §4.4.4).
const PATCH: u16 = 1 << 5;
/// Bit 3: sizes and checksum are in a descriptor after the data.
const DESCRIPTOR: u16 = 1 << 3;
/// The bits that must be equal in both headers: all but the compressor's hints (bits 1 and 2).
const SIGNIFICANT: u16 = !(1 << 1 | 1 << 2);
/// The mask of the file type in a Unix mode; below it, types of files.
const TYPE: u32 = 0o170_000;
const SYMLINK: u32 = 0o120_000;
const REGULAR: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;

/// The maximum compression ratio of an entry.
const MAX_RATIO: u64 = 100;
/// The size of an empty deflate stream, in bytes.
const EMPTY_STREAM: u64 = 2;

/// A finding without its path.
type Problem = (Code, &'static str);

/// An entry of an archive.
pub(super) struct ZipEntry<'a> {
    /// The name, as in the directory.
    pub(super) name: &'a [u8],
    /// The declared unpacked size, in bytes.
    pub(super) claimed: u64,
    /// The range from its local header to the end of its data, if they are in the archive.
    pub(super) extent: Option<(u64, u64)>,
    data: &'a [u8],
    crc: u32,
    method: CompressionMethod,
    problems: Vec<Problem>,
}

impl<'a> ZipEntry<'a> {
    /// Reads and validates both headers.
    pub(super) fn new(
        zip: &'a [u8],
        archive: &'a ZipSliceArchive<&'a [u8]>,
        record: &ZipFileHeaderRecord<'a>,
    ) -> Self {
        let mut problems = Vec::new();
        validate_record(zip, record, &mut problems);
        let (data, extent) = if let Ok(entry) = archive.get_entry(record.wayfinder()) {
            let extent = validate_local(zip, record, &entry, &mut problems);
            (entry.data(), Some(extent))
        } else {
            problems.push((Code::EntryTruncated, "The entry's header or data is missing."));
            (&[][..], None)
        };
        let (name, claimed) = (record.file_path().as_bytes(), record.uncompressed_size_hint());
        let packed = u64::try_from(data.len()).unwrap_or(u64::MAX);
        if name.ends_with(b"/") && (claimed > 0 || packed > EMPTY_STREAM) {
            problems.push((Code::DirectoryWithContent, "A directory entry must have no data."));
        }
        if claimed > packed.max(1).saturating_mul(MAX_RATIO) {
            problems.push((Code::RatioExceeded, "The entry's compression ratio exceeds 100."));
        }
        let (crc, method) = (record.crc32(), record.compression_method());
        Self { name, claimed, extent, data, crc, method, problems }
    }

    /// Whether it is a directory: its name ends in a slash.
    pub(super) fn is_directory(&self) -> bool {
        self.name.ends_with(b"/")
    }

    /// The name as UTF-8, with replacement characters.
    pub(super) fn printable_name(&self) -> String {
        String::from_utf8_lossy(self.name).into_owned()
    }

    /// Adds its problems to the findings.
    pub(super) fn validate(&self, findings: &mut Findings) {
        let printable = self.printable_name();
        findings.extend(
            self.problems.iter().map(|(code, detail)| Finding::new(*code, &printable, *detail)),
        );
    }

    /// Whether it has no known problem, so that it can be unpacked.
    pub(super) fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }

    /// Unpacks its bytes: at most the declared size and one more. Adds the number of unpacked bytes to
    /// `count`.
    pub(super) fn unpack(&self, count: &mut u64) -> Result<Vec<u8>, Problem> {
        const SIZE: Problem =
            (Code::SizeMismatch, "The entry's size differs from the declared one.");
        let claimed = usize::try_from(self.claimed).map_err(|_| SIZE)?;
        let bytes = if self.method == CompressionMethod::STORE {
            if self.data.len() != claimed {
                return Err(SIZE);
            }
            self.data.to_vec()
        } else {
            self.inflate(claimed, count)?
        };
        if self.method == CompressionMethod::STORE {
            *count = count.saturating_add(self.claimed);
        }
        if bytes.len() != claimed {
            return Err(SIZE);
        }
        if rawzip::crc32(&bytes) != self.crc {
            return Err((
                Code::ChecksumMismatch,
                "The entry's checksum differs from the declared one.",
            ));
        }
        Ok(bytes)
    }

    /// Inflates the data into a buffer of one byte more than is declared.
    fn inflate(&self, claimed: usize, count: &mut u64) -> Result<Vec<u8>, Problem> {
        let mut bytes = vec![0; claimed.saturating_add(1)];
        let flags = TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
        let mut inflater = Box::new(DecompressorOxide::new());
        let (status, read, written) = decompress(&mut inflater, self.data, &mut bytes, 0, flags);
        *count = count.saturating_add(u64::try_from(written).unwrap_or(u64::MAX));
        bytes.truncate(written);
        match status {
            TINFLStatus::Done if read < self.data.len() => {
                Err((Code::HiddenData, "There are bytes after the entry's compressed data."))
            }
            // The caller rejects an excess by the length.
            TINFLStatus::Done | TINFLStatus::HasMoreOutput => Ok(bytes),
            _ => Err((Code::DataCorrupt, "The entry's compressed data is corrupt.")),
        }
    }
}

/// Validates the directory's record of an entry.
fn validate_record(zip: &[u8], record: &ZipFileHeaderRecord<'_>, problems: &mut Vec<Problem>) {
    let flags = record.flags().bits();
    if flags & ENCRYPTED != 0 || record.compression_method() == CompressionMethod::AES {
        problems.push((Code::EntryEncrypted, "Encrypted entries are not allowed."));
    }
    let known = [CompressionMethod::STORE, CompressionMethod::DEFLATE];
    if !known.contains(&record.compression_method()) || flags & PATCH != 0 {
        problems.push((Code::CompressionUnsupported, "The entry must be stored or deflated."));
    }
    let at = usize::try_from(record.central_directory_offset()).unwrap_or(usize::MAX);
    let header = zip.get(at..).unwrap_or_default();
    let words = [20, 24, 42].map(|offset| u32_at(header, offset));
    let disk = u16_at(header, 34);
    let is_long = record.extra_fields().any(|(id, _)| id == ExtraFieldId::ZIP64);
    if is_long || words.contains(&Some(u32::MAX)) || disk == Some(u16::MAX) {
        problems.push((Code::Zip64Rejected, "ZIP64 entries are not supported."));
    } else if disk != Some(0) {
        problems.push((
            Code::ArchiveMultiDisk,
            "The entry is on another disk: split archives are not supported.",
        ));
    }
    // The declared host system is ignored: an unpacker may apply the Unix mode anyway.
    match (record.external_attributes() >> 16) & TYPE {
        0 | REGULAR | DIRECTORY => {}
        SYMLINK => problems.push((Code::Symlink, "Symbolic links are not allowed.")),
        _ => problems.push((Code::SpecialFile, "Only files and directories are allowed.")),
    }
}

/// Validates an entry's local header against the directory's record. Returns the range of the entry.
fn validate_local(
    zip: &[u8],
    record: &ZipFileHeaderRecord<'_>,
    entry: &ZipSliceEntry<'_>,
    problems: &mut Vec<Problem>,
) -> (u64, u64) {
    let local = entry.local_header();
    let flags = record.flags().bits();
    let mut is_same = local.file_path().as_bytes() == record.file_path().as_bytes()
        && local.compression_method() == record.compression_method()
        && (local.flags().bits() ^ flags) & SIGNIFICANT == 0;
    let (_, mut end) = entry.compressed_data_range();
    if flags & DESCRIPTOR == 0 {
        is_same &= local.crc32() == record.crc32()
            && local.compressed_size_hint() == record.compressed_size_hint()
            && local.uncompressed_size_hint() == record.uncompressed_size_hint();
    } else if let Ok(Some(said)) = entry.data_descriptor() {
        is_same &= said.crc32() == record.crc32()
            && said.compressed_size() == record.compressed_size_hint()
            && said.uncompressed_size() == record.uncompressed_size_hint();
        end = end.saturating_add(descriptor_length(zip, end));
    } else {
        is_same = false;
    }
    if !is_same {
        let detail = "The entry's local header differs from the archive's directory.";
        problems.push((Code::HeaderMismatch, detail));
    }
    (record.local_header_offset(), end)
}

/// The size of the descriptor after the data: its signature is optional (PKWARE's ZIP application note,
/// §4.3.9.3).
fn descriptor_length(zip: &[u8], at: u64) -> u64 {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    let is_signed = zip.get(at..).is_some_and(|bytes| bytes.starts_with(b"PK\x07\x08"));
    if is_signed { 16 } else { 12 }
}
