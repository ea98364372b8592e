//! What is wrong with a package: everything at once, each with a code.

use primitives::size::{cut, escaped_len};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::findings::Findings;

/// Bytes of a path in a finding at most.
const MAX_PATH: usize = 255;
/// Bytes of a pointer in a finding at most.
const MAX_POINTER: usize = 300;
/// Bytes of a detail at most.
const MAX_DETAIL: usize = 500;

primitives::string_enum! {
    /// How bad a finding is.
    #[schemars(rename = "ThemeFindingSeverity")]
    Severity {
        /// The package cannot be taken.
        Error = "error",
        /// The package can be taken; its author should look at this.
        Warning = "warning",
    }
}

primitives::string_enum! {
    /// What was found in a package, by a stable name.
    #[schemars(rename = "ThemeFindingCode")]
    Code {
        /// More bytes than an upload may have.
        ArchiveTooLarge = "archive_too_large",
        /// No end of a zip's directory in it.
        NotAZip = "not_a_zip",
        /// Its directory is cut off or not readable.
        ArchiveMalformed = "archive_malformed",
        /// No files in it.
        ArchiveEmpty = "archive_empty",
        /// A part of an archive on several disks.
        ArchiveMultiDisk = "archive_multi_disk",
        /// The long format, which no package of this size needs.
        Zip64Rejected = "zip64_refused",
        /// More entries than a package may have.
        TooManyEntries = "too_many_entries",
        /// The directory has another number of entries than the archive says.
        EntryCountMismatch = "entry_count_mismatch",
        /// Bytes before the first entry.
        DataBeforeArchive = "data_before_archive",
        /// Bytes behind the archive's end.
        DataAfterArchive = "data_after_archive",
        /// Bytes between entries that belong to none.
        HiddenData = "hidden_data",
        /// Two entries share bytes.
        EntriesOverlap = "entries_overlap",
        /// The entry's own header says something else than the directory.
        HeaderMismatch = "header_mismatch",
        /// The entry's bytes are not there.
        EntryTruncated = "entry_truncated",
        /// The entry is encrypted.
        EntryEncrypted = "entry_encrypted",
        /// The entry is neither stored nor deflated.
        CompressionUnsupported = "compression_unsupported",
        /// The entry's compressed bytes are broken.
        DataCorrupt = "data_corrupt",
        /// The entry is longer or shorter than it says.
        SizeMismatch = "size_mismatch",
        /// The entry's checksum is not that of its bytes.
        ChecksumMismatch = "checksum_mismatch",
        /// The entry grows too much when it is unpacked.
        RatioExceeded = "ratio_exceeded",
        /// The files are more, unpacked, than a package may have.
        UnpackedTooLarge = "unpacked_too_large",
        /// The file is larger than one of its kind may be.
        FileTooLarge = "file_too_large",
        /// An archive in the archive.
        NestedArchive = "nested_archive",
        /// A symbolic link.
        Symlink = "symlink",
        /// A device, a pipe or a socket.
        SpecialFile = "special_file",
        /// A directory that has content, or a file whose name ends in a slash.
        DirectoryWithContent = "directory_with_content",
        /// No name.
        PathEmpty = "path_empty",
        /// The name is not UTF-8.
        PathNotUtf8 = "path_not_utf8",
        /// The name begins at a root.
        PathAbsolute = "path_absolute",
        /// The name begins with a drive.
        PathDrive = "path_drive",
        /// The name leads out of its directory.
        PathTraversal = "path_traversal",
        /// The name has an empty segment or one that is a single dot.
        PathNotNormal = "path_not_normal",
        /// A backslash in the name.
        PathBackslash = "path_backslash",
        /// A NUL in the name.
        PathNul = "path_nul",
        /// A control character in the name.
        PathControlCharacter = "path_control_character",
        /// A character in the name that a theme's files do not have.
        PathCharacter = "path_character",
        /// A name that some systems keep for devices, or that ends in a dot or a blank.
        PathReserved = "path_reserved",
        /// The name is too long or too deep.
        PathTooLong = "path_too_long",
        /// Two entries of the same name.
        PathDuplicate = "path_duplicate",
        /// Two names that differ by case alone.
        PathCaseTwin = "path_case_twin",
        /// A name that is a file's and a directory's.
        PathConflict = "path_conflict",
        /// What an operating system or an editor put there; left out.
        IgnoredFile = "ignored_file",
        /// A file outside a theme's directories; left out.
        OutsideDirectories = "outside_directories",
        /// A directory in one that has none.
        SubdirectoryRejected = "subdirectory_refused",
        /// A file of a kind that does not belong in its directory.
        FileTypeRejected = "file_type_refused",
        /// A file whose content is not what its name says.
        ContentMismatch = "content_mismatch",
        /// A text that is not UTF-8.
        TextNotUtf8 = "text_not_utf8",
        /// No `theme.json`.
        ManifestMissing = "manifest_missing",
        /// A field of `theme.json` is missing or not valid.
        ManifestInvalid = "manifest_invalid",
        /// A field of `theme.json` that nobody reads.
        ManifestUnknownField = "manifest_unknown_field",
        /// The slug is no handle.
        SlugInvalid = "slug_invalid",
        /// The slug is reserved.
        SlugReserved = "slug_reserved",
        /// The version is no semantic version.
        VersionInvalid = "version_invalid",
        /// The price is no amount of a currency.
        PriceInvalid = "price_invalid",
        /// No `layout/theme.*`.
        LayoutMissing = "layout_missing",
        /// No `templates/index.*`.
        IndexMissing = "index_missing",
        /// No `config/settings_schema.json`.
        SettingsSchemaMissing = "settings_schema_missing",
        /// No default language among several, or none that is called so.
        DefaultLocaleMissing = "default_locale_missing",
        /// Not JSON.
        JsonInvalid = "json_invalid",
        /// JSON of another shape than the file has.
        JsonShape = "json_shape",
        /// The first element is not the theme's description.
        ThemeInfoMissing = "theme_info_missing",
        /// A group of settings without a name.
        GroupInvalid = "group_invalid",
        /// More settings than a group or a section may have.
        TooManySettings = "too_many_settings",
        /// A setting without a type, or of a type that there is not.
        SettingTypeUnknown = "setting_type_unknown",
        /// A setting without an id, or with one that is no identifier.
        SettingIdInvalid = "setting_id_invalid",
        /// Two settings of the same id.
        SettingIdDuplicate = "setting_id_duplicate",
        /// A setting without a label.
        SettingLabelMissing = "setting_label_missing",
        /// A range without sense.
        SettingRangeInvalid = "setting_range_invalid",
        /// A choice without options, or with two of the same value.
        SettingOptionsInvalid = "setting_options_invalid",
        /// A default that the setting itself would reject.
        SettingDefaultInvalid = "setting_default_invalid",
        /// Something else of a setting is not what it should be.
        SettingInvalid = "setting_invalid",
        /// A member of a setting that nobody reads.
        SettingUnknownMember = "setting_unknown_member",
        /// More than one schema in a section or a block.
        SectionSchemaDuplicate = "section_schema_duplicate",
        /// A schema that is not closed.
        SectionSchemaUnclosed = "section_schema_unclosed",
        /// A section or a block without a schema: a merchant cannot add it.
        SectionSchemaMissing = "section_schema_missing",
        /// Something of a section's schema is not what it should be.
        SectionInvalid = "section_invalid",
        /// A block's type is missing, twice there, or not valid.
        BlockTypeInvalid = "block_type_invalid",
        /// A preset that its own section would reject.
        PresetInvalid = "preset_invalid",
        /// A template or a group refers to a section that there is not.
        SectionTypeUnknown = "section_type_unknown",
        /// A block of a type that its section does not take.
        BlockTypeUnknown = "block_type_unknown",
        /// An order that names what there is not, twice or not at all.
        OrderInvalid = "order_invalid",
        /// A value that its setting rejects.
        SettingValueInvalid = "setting_value_invalid",
        /// A value was changed to what is safe.
        SettingSanitized = "setting_sanitized",
        /// A value for a setting that there is not; left out.
        SettingUnknown = "setting_unknown",
        /// The content is larger than a draft may be.
        ContentTooLarge = "content_too_large",
        /// Findings that are not listed.
        MoreFindings = "more_findings",
    }
}

impl Code {
    /// How bad it is.
    pub const fn severity(self) -> Severity {
        match self {
            Self::IgnoredFile
            | Self::OutsideDirectories
            | Self::ManifestUnknownField
            | Self::DefaultLocaleMissing
            | Self::SettingLabelMissing
            | Self::SettingUnknownMember
            | Self::SectionSchemaMissing
            | Self::SettingSanitized
            | Self::SettingUnknown
            | Self::MoreFindings => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// Whether a package cannot be taken because of it.
    pub fn is_error(self) -> bool {
        self.severity() == Severity::Error
    }
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeFinding")]
pub struct Finding {
    /// What.
    pub code: Code,
    /// The file in the package; empty for the archive itself, and for what is no file's.
    pub path: String,
    /// Where in the file's JSON (RFC 6901); left out where it is not about a place in JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// How bad.
    pub severity: Severity,
    /// What to do about it, in one sentence.
    pub detail: String,
}

impl Finding {
    /// A finding about a file, or about the archive when the path is empty.
    pub fn new(code: Code, path: &str, detail: impl Into<String>) -> Self {
        let severity = code.severity();
        let mut detail = detail.into();
        cut(&mut detail, MAX_DETAIL);
        Self { code, path: printable(path), pointer: None, severity, detail }
    }

    /// The same, at a place of the file's JSON.
    #[must_use]
    pub fn at(self, pointer: impl Into<String>) -> Self {
        let mut pointer = pointer.into();
        cut(&mut pointer, MAX_POINTER);
        Self { pointer: Some(pointer), ..self }
    }

    /// Whether the package cannot be taken because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Bytes of its texts in JSON.
    pub(crate) fn written(&self) -> usize {
        let pointer = self.pointer.as_deref().unwrap_or_default();
        let texts = [&*self.path, pointer, &*self.detail].map(|text| escaped_len(text.as_bytes()));
        texts.into_iter().fold(0, usize::saturating_add)
    }
}

/// Whether there is an error among them.
pub fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(Finding::is_error)
}

/// A path as it can be printed: control characters escaped, cut to [`MAX_PATH`].
fn printable(path: &str) -> String {
    let escape = |c: char| -> String {
        if c.is_control() { c.escape_default().collect() } else { c.to_string() }
    };
    let mut shown = String::new();
    for chunk in path.chars().map(escape) {
        if shown.len().saturating_add(chunk.len()) > MAX_PATH {
            shown.push('…');
            break;
        }
        shown.push_str(&chunk);
    }
    shown
}

/// Where what is found in one file goes.
pub(crate) struct Report<'a> {
    path: &'a str,
    findings: &'a mut Findings,
}

impl<'a> Report<'a> {
    /// About the file at this path.
    pub(crate) fn about(path: &'a str, findings: &'a mut Findings) -> Self {
        Self { path, findings }
    }

    /// Says that there is this at a place of the file's JSON.
    pub(crate) fn say(&mut self, code: Code, pointer: &str, detail: impl Into<String>) {
        self.findings.push(Finding::new(code, self.path, detail).at(pointer));
    }

    /// Says that there is this in the file.
    pub(crate) fn say_of_file(&mut self, code: Code, detail: impl Into<String>) {
        self.findings.push(Finding::new(code, self.path, detail));
    }

    /// Counts further findings of a code.
    pub(crate) fn count(&mut self, code: Code, more: usize) {
        if more > 0 {
            self.findings.count(code, more);
        }
    }
}

/// A member's name as a segment of a pointer (RFC 6901 §3).
pub(crate) fn below(pointer: &str, member: &str) -> String {
    format!("{pointer}/{}", member.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_documented_under_its_severity() {
        let page = include_str!("../../../docs/conventions.md");
        let (_, section) = page.split_once("\n## 15. Themes\n").unwrap();
        for code in Code::ALL {
            let name = format!("`{code}`");
            let rows = section.lines().filter(|line| line.starts_with('|') && line.contains(&name));
            let warned: Vec<bool> = rows.map(|row| row.starts_with("| warnings |")).collect();
            assert_eq!(warned, [code.severity() == Severity::Warning], "{code}");
        }
    }

    #[test]
    fn a_path_is_shown_without_what_a_terminal_would_obey() {
        assert_eq!(printable("a\u{1b}[2J\0b"), "a\\u{1b}[2J\\u{0}b");
        assert_eq!(printable(&"é".repeat(300)).chars().count(), 128);
    }
}
