//! Findings: all problems of a package, each with a stable code.

use primitives::size::{cut, escaped_len};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::findings::Findings;

/// The maximum length of a path in a finding, in bytes.
const MAX_PATH: usize = 255;
/// The maximum length of a pointer in a finding, in bytes.
const MAX_POINTER: usize = 300;
/// The maximum length of a detail, in bytes.
const MAX_DETAIL: usize = 500;

primitives::string_enum! {
    /// The severity of a finding.
    #[schemars(rename = "ThemeFindingSeverity")]
    Severity {
        /// The package is rejected.
        Error = "error",
        /// The package is accepted; its author should check this.
        Warning = "warning",
    }
}

primitives::string_enum! {
    /// The stable code of a finding.
    #[schemars(rename = "ThemeFindingCode")]
    Code {
        /// The archive is larger than a package may be.
        ArchiveTooLarge = "archive_too_large",
        /// There is no end record of a zip's directory.
        NotAZip = "not_a_zip",
        /// The directory is truncated or unreadable.
        ArchiveMalformed = "archive_malformed",
        /// The archive has no entries.
        ArchiveEmpty = "archive_empty",
        /// The archive is split over several disks.
        ArchiveMultiDisk = "archive_multi_disk",
        /// The archive uses ZIP64, which no package of this size needs.
        Zip64Rejected = "zip64_rejected",
        /// The archive has more entries than a package may have.
        TooManyEntries = "too_many_entries",
        /// The number of entries differs from the one that the end record declares.
        EntryCountMismatch = "entry_count_mismatch",
        /// There are bytes before the first entry.
        DataBeforeArchive = "data_before_archive",
        /// There are bytes after the archive's end.
        DataAfterArchive = "data_after_archive",
        /// There are bytes that belong to no entry.
        HiddenData = "hidden_data",
        /// Two entries share bytes.
        EntriesOverlap = "entries_overlap",
        /// The entry's local header differs from the directory.
        HeaderMismatch = "header_mismatch",
        /// The entry's header or data is missing.
        EntryTruncated = "entry_truncated",
        /// The entry is encrypted.
        EntryEncrypted = "entry_encrypted",
        /// The entry is neither stored nor deflated.
        CompressionUnsupported = "compression_unsupported",
        /// The entry's compressed data is corrupt.
        DataCorrupt = "data_corrupt",
        /// The entry's size differs from the declared one.
        SizeMismatch = "size_mismatch",
        /// The entry's checksum differs from the declared one.
        ChecksumMismatch = "checksum_mismatch",
        /// The entry's compression ratio is too high.
        RatioExceeded = "ratio_exceeded",
        /// The unpacked files together are larger than a package allows.
        UnpackedTooLarge = "unpacked_too_large",
        /// The file is too large for its type.
        FileTooLarge = "file_too_large",
        /// The file is an archive.
        NestedArchive = "nested_archive",
        /// The entry is a symbolic link.
        Symlink = "symlink",
        /// The entry is a device, a pipe or a socket.
        SpecialFile = "special_file",
        /// The directory has content, or the file's name ends in a slash.
        DirectoryWithContent = "directory_with_content",
        /// The name is empty.
        PathEmpty = "path_empty",
        /// The name is not UTF-8.
        PathNotUtf8 = "path_not_utf8",
        /// The name is absolute.
        PathAbsolute = "path_absolute",
        /// The name begins with a drive.
        PathDrive = "path_drive",
        /// The name has a `..` segment.
        PathTraversal = "path_traversal",
        /// The name has an empty segment or a `.` segment.
        PathNotNormal = "path_not_normal",
        /// The name has a backslash.
        PathBackslash = "path_backslash",
        /// The name has a NUL.
        PathNul = "path_nul",
        /// The name has a control character.
        PathControlCharacter = "path_control_character",
        /// The name has a character that is not allowed.
        PathCharacter = "path_character",
        /// The name has a segment that is a reserved device name, ends in a dot or a space, or begins
        /// with a space.
        PathReserved = "path_reserved",
        /// The name is too long, or has too many directories.
        PathTooLong = "path_too_long",
        /// Another entry has the same name.
        PathDuplicate = "path_duplicate",
        /// Another name differs by case alone.
        PathCaseTwin = "path_case_twin",
        /// The name is used for a file and a directory.
        PathConflict = "path_conflict",
        /// The file belongs to an operating system, an editor or version control; it was ignored.
        IgnoredFile = "ignored_file",
        /// The file is outside a theme's directories; it was ignored.
        OutsideDirectories = "outside_directories",
        /// The directory may not have subdirectories.
        SubdirectoryRejected = "subdirectory_rejected",
        /// The directory may not have files with this extension.
        FileTypeRejected = "file_type_rejected",
        /// The file's content does not match its extension.
        ContentMismatch = "content_mismatch",
        /// The text is not UTF-8, or has a NUL.
        TextNotUtf8 = "text_not_utf8",
        /// `theme.json` is missing, and cannot be derived.
        ManifestMissing = "manifest_missing",
        /// `theme.json` is missing; the theme's description stands in for it.
        ManifestDerived = "manifest_derived",
        /// A field of `theme.json` is missing or invalid.
        ManifestInvalid = "manifest_invalid",
        /// A field of `theme.json` is unknown.
        ManifestUnknownField = "manifest_unknown_field",
        /// The slug is not a valid handle.
        SlugInvalid = "slug_invalid",
        /// The slug is reserved.
        SlugReserved = "slug_reserved",
        /// The version is not a semantic version.
        VersionInvalid = "version_invalid",
        /// The price is not an amount with a currency.
        PriceInvalid = "price_invalid",
        /// `layout/theme.*` is missing.
        LayoutMissing = "layout_missing",
        /// `templates/index.*` is missing.
        IndexMissing = "index_missing",
        /// `config/settings_schema.json` is missing.
        SettingsSchemaMissing = "settings_schema_missing",
        /// No language is marked as the default (`en.default.json`).
        DefaultLocaleMissing = "default_locale_missing",
        /// The file is not JSON.
        JsonInvalid = "json_invalid",
        /// The JSON has the wrong shape.
        JsonShape = "json_shape",
        /// The first element is not a valid `theme_info`.
        ThemeInfoMissing = "theme_info_missing",
        /// A group of settings has no name.
        GroupInvalid = "group_invalid",
        /// A theme, a section or a block has too many settings, or its schemas are too large.
        TooManySettings = "too_many_settings",
        /// A setting has no type, or an unknown one; it is left out.
        SettingTypeUnknown = "setting_type_unknown",
        /// A setting has no id, or an invalid one.
        SettingIdInvalid = "setting_id_invalid",
        /// Two settings have the same id.
        SettingIdDuplicate = "setting_id_duplicate",
        /// A setting has no label.
        SettingLabelMissing = "setting_label_missing",
        /// A range's bounds or step are invalid.
        SettingRangeInvalid = "setting_range_invalid",
        /// A setting has no options, or two with the same value.
        SettingOptionsInvalid = "setting_options_invalid",
        /// A default is not a valid value of its setting.
        SettingDefaultInvalid = "setting_default_invalid",
        /// Another member of a setting is invalid.
        SettingInvalid = "setting_invalid",
        /// A member of a setting, a section or a block is unknown.
        SettingUnknownMember = "setting_unknown_member",
        /// A section or a block has more than one schema.
        SectionSchemaDuplicate = "section_schema_duplicate",
        /// A schema has no `{% endschema %}`.
        SectionSchemaUnclosed = "section_schema_unclosed",
        /// A section or a block has no schema: a merchant cannot add it.
        SectionSchemaMissing = "section_schema_missing",
        /// A member of a section's schema is invalid.
        SectionInvalid = "section_invalid",
        /// A block's type is missing, duplicate or invalid, or there are too many types.
        BlockTypeInvalid = "block_type_invalid",
        /// A preset is not valid content of its section.
        PresetInvalid = "preset_invalid",
        /// A template or a group refers to an unknown section.
        SectionTypeUnknown = "section_type_unknown",
        /// A section does not allow blocks of this type.
        BlockTypeUnknown = "block_type_unknown",
        /// An order names an unknown element, names one twice, or omits one.
        OrderInvalid = "order_invalid",
        /// A value is not valid for its setting.
        SettingValueInvalid = "setting_value_invalid",
        /// A value is none of its setting's options; the default stands in for it.
        SettingValueReplaced = "setting_value_replaced",
        /// A value was sanitized.
        SettingSanitized = "setting_sanitized",
        /// A value of an unknown setting; it was removed.
        SettingUnknown = "setting_unknown",
        /// The theme's own content is larger than a draft may be.
        ContentTooLarge = "content_too_large",
        /// The file is not valid Liquid: what it is on a page is an error message.
        LiquidInvalid = "liquid_invalid",
        /// A tag that does not exist; it is left out of the page.
        TagUnknown = "tag_unknown",
        /// A filter that does not exist; it passes its input on.
        FilterUnknown = "filter_unknown",
        /// A snippet, a section or a group of sections that the theme does not have.
        FileMissing = "file_missing",
        /// The number of findings that are not listed.
        MoreFindings = "more_findings",
    }
}

impl Code {
    /// The severity of findings with this code.
    pub const fn severity(self) -> Severity {
        match self {
            Self::IgnoredFile
            | Self::OutsideDirectories
            | Self::ManifestDerived
            | Self::ManifestUnknownField
            | Self::DefaultLocaleMissing
            | Self::SettingTypeUnknown
            | Self::SettingLabelMissing
            | Self::SettingUnknownMember
            | Self::SectionSchemaMissing
            | Self::SettingValueReplaced
            | Self::SettingSanitized
            | Self::SettingUnknown
            | Self::LiquidInvalid
            | Self::TagUnknown
            | Self::FilterUnknown
            | Self::FileMissing
            | Self::MoreFindings => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// Whether it is an error, so that the package is rejected.
    pub fn is_error(self) -> bool {
        self.severity() == Severity::Error
    }
}

/// A problem in a package or a draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeFinding")]
pub struct Finding {
    /// The code.
    pub code: Code,
    /// The file in the package; empty for the archive itself, and in a draft.
    pub path: String,
    /// The JSON pointer (RFC 6901) in the file's JSON; absent if the finding has no place in JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// The severity.
    pub severity: Severity,
    /// The problem, in one sentence.
    pub detail: String,
}

impl Finding {
    /// Creates a finding about a file, or about the archive if the path is empty.
    pub fn new(code: Code, path: &str, detail: impl Into<String>) -> Self {
        let severity = code.severity();
        let mut detail = detail.into();
        cut(&mut detail, MAX_DETAIL);
        Self { code, path: printable(path), pointer: None, severity, detail }
    }

    /// Adds a JSON pointer.
    #[must_use]
    pub fn at(self, pointer: impl Into<String>) -> Self {
        let mut pointer = pointer.into();
        cut(&mut pointer, MAX_POINTER);
        Self { pointer: Some(pointer), ..self }
    }

    /// Whether it is an error, so that the package is rejected.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The size of its texts in JSON, in bytes.
    pub(crate) fn written(&self) -> usize {
        let pointer = self.pointer.as_deref().unwrap_or_default();
        let texts = [&*self.path, pointer, &*self.detail].map(|text| escaped_len(text.as_bytes()));
        texts.into_iter().fold(0, usize::saturating_add)
    }
}

/// Whether any finding is an error.
pub fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(Finding::is_error)
}

/// Returns a printable path: control characters escaped, cut to [`MAX_PATH`].
fn printable(path: &str) -> String {
    let escape = |c: char| -> String {
        if c.is_control() { c.escape_default().collect() } else { c.to_string() }
    };
    let mut printable = String::new();
    for chunk in path.chars().map(escape) {
        if printable.len().saturating_add(chunk.len()) > MAX_PATH {
            printable.push('…');
            break;
        }
        printable.push_str(&chunk);
    }
    printable
}

/// Collects the findings of one file.
pub(crate) struct FileFindings<'a> {
    path: &'a str,
    findings: &'a mut Findings,
}

impl<'a> FileFindings<'a> {
    /// The findings of the file at this path.
    pub(crate) fn new(path: &'a str, findings: &'a mut Findings) -> Self {
        Self { path, findings }
    }

    /// Adds a finding at a pointer of the file's JSON.
    pub(crate) fn say(&mut self, code: Code, pointer: &str, detail: impl Into<String>) {
        self.findings.push(Finding::new(code, self.path, detail).at(pointer));
    }

    /// Adds a finding about the file.
    pub(crate) fn say_of_file(&mut self, code: Code, detail: impl Into<String>) {
        self.findings.push(Finding::new(code, self.path, detail));
    }

    /// Counts further findings of a code without listing them.
    pub(crate) fn count(&mut self, code: Code, more: usize) {
        if more > 0 {
            self.findings.count(code, more);
        }
    }
}

/// Appends a member's name to a pointer (RFC 6901 §3).
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
    fn control_characters_of_a_path_are_escaped() {
        assert_eq!(printable("a\u{1b}[2J\0b"), "a\\u{1b}[2J\\u{0}b");
        assert_eq!(printable(&"é".repeat(300)).chars().count(), 128);
    }
}
