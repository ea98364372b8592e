//! Validates the names of an archive's entries.

use std::collections::BTreeMap;

use super::entry::ZipEntry;
use crate::finding::{Code, Finding};
use crate::findings::Findings;

/// The maximum length of a path in bytes (our choice).
const MAX_PATH: usize = 200;
/// The maximum number of segments of a path, including a folder around everything.
const MAX_DEPTH: usize = 6;
/// Device names that Windows reserves (learn.microsoft.com, "Naming Files, Paths, and Namespaces").
const DEVICES: &[&str] = &["con", "prn", "aux", "nul", "com", "lpt"];

/// Returns the valid file names by the index of their entries, and reports problems of the others. Files
/// of operating systems and editors are left out with a warning.
pub(super) fn accepted(
    entries: &[ZipEntry<'_>],
    findings: &mut Findings,
) -> BTreeMap<usize, String> {
    let mut names = BTreeMap::new();
    let mut used = UsedNames::default();
    for (index, entry) in entries.iter().enumerate() {
        let printable = entry.printable_name();
        let problems = validate(entry.name);
        let is_good = problems.is_empty();
        findings.extend(
            problems.into_iter().map(|(code, detail)| Finding::new(code, &printable, detail)),
        );
        if !is_good {
            continue;
        }
        let clash = used.claim(printable.trim_end_matches('/'), entry.is_directory());
        if let Some((code, detail)) = clash {
            findings.push(Finding::new(code, &printable, detail));
        } else if is_system_file(&printable) {
            if !entry.is_directory() {
                let detail = "A file of an operating system or an editor; it was ignored.";
                findings.push(Finding::new(Code::IgnoredFile, &printable, detail));
            }
        } else if !entry.is_directory() {
            names.insert(index, printable);
        }
    }
    names
}

/// Returns all problems of a name.
fn validate(name: &[u8]) -> Vec<(Code, &'static str)> {
    let Ok(name) = std::str::from_utf8(name) else {
        return vec![(Code::PathNotUtf8, "The name must be UTF-8.")];
    };
    let path = name.strip_suffix('/').unwrap_or(name);
    if path.is_empty() && !name.starts_with('/') {
        return vec![(Code::PathEmpty, "The name must not be empty.")];
    }
    let drive = path.as_bytes().get(1) == Some(&b':')
        && path.starts_with(|first: char| first.is_ascii_alphabetic());
    let segments = || path.split('/');
    let is_normal = |segment: &str| !matches!(segment, "" | ".");
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "/ ._-@+()[]~,=".contains(c);
    let has_own_code = |c: char| c == '\\' || c.is_control();
    let rules = [
        (
            name.starts_with('/') || name.starts_with('\\'),
            Code::PathAbsolute,
            "The name must be a relative path.",
        ),
        (drive, Code::PathDrive, "The name must not begin with a drive letter."),
        (name.contains('\\'), Code::PathBackslash, "Directories must be separated by `/`."),
        (name.contains('\0'), Code::PathNul, "The name must not contain NUL."),
        (
            name.chars().any(|c| c.is_control() && c != '\0'),
            Code::PathControlCharacter,
            "The name must not contain control characters.",
        ),
        (is_traversal(path), Code::PathTraversal, "The name must not contain `..`."),
        (
            !segments().skip(usize::from(name.starts_with('/'))).all(is_normal),
            Code::PathNotNormal,
            "The name must not have an empty segment or `.`.",
        ),
        (
            !path.chars().all(|c| is_allowed(c) || has_own_code(c)) && !drive,
            Code::PathCharacter,
            "The name must only have ASCII letters, digits, spaces and . _ - @ + ( ) [ ] ~ , =",
        ),
        (
            segments().any(is_reserved),
            Code::PathReserved,
            "The name must not be a reserved device name, and must not end in a dot or a space.",
        ),
        (
            path.len() > MAX_PATH || segments().count() > MAX_DEPTH,
            Code::PathTooLong,
            "The name must have at most 200 bytes and five directories.",
        ),
    ];
    rules
        .into_iter()
        .filter(|(is_wrong, ..)| *is_wrong)
        .map(|(_, code, detail)| (code, detail))
        .collect()
}

/// Whether a segment is `..`, including backslashes as separators and percent-encoding.
fn is_traversal(path: &str) -> bool {
    let plain = path.to_ascii_lowercase();
    let plain = plain.replace("%2e", ".").replace("%2f", "/").replace("%5c", "/");
    plain.split(['/', '\\']).any(|segment| segment == "..")
}

fn is_reserved(segment: &str) -> bool {
    let stem = segment.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let device = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let numbered = matches!(device, "com" | "lpt");
    let is_device = DEVICES.contains(&device)
        && if numbered { stem.len() == 4 } else { stem.len() == device.len() };
    let is_dots = matches!(segment, "." | "..");
    is_device || (!is_dots && segment.ends_with(['.', ' '])) || segment.starts_with(' ')
}

/// Whether a path is a file of macOS, Windows or version control.
fn is_system_file(path: &str) -> bool {
    let is_system_name = |segment: &str| {
        matches!(segment, "__MACOSX" | ".DS_Store" | "Thumbs.db" | "desktop.ini" | ".git")
            || segment.starts_with("._")
    };
    path.split('/').any(is_system_name)
}

/// The names in use. By the lower-case name: the name as written, whether it is a directory, and whether
/// an entry has it (not only a parent of one).
#[derive(Default)]
struct UsedNames(BTreeMap<String, (String, bool, bool)>);

impl UsedNames {
    /// Claims a name and its parent directories. Returns the conflict, if any.
    fn claim(&mut self, path: &str, is_directory: bool) -> Option<(Code, &'static str)> {
        let ends = path.match_indices('/').map(|(at, _)| at);
        for above in ends.filter_map(|at| path.get(..at)) {
            if let Some(clash) = self.enter(above, true, false) {
                return Some(clash);
            }
        }
        self.enter(path, is_directory, true)
    }

    fn enter(
        &mut self,
        path: &str,
        is_directory: bool,
        is_entry: bool,
    ) -> Option<(Code, &'static str)> {
        let new = (path.to_owned(), is_directory, is_entry);
        let (old, was_directory, was_entry) = match self.0.entry(path.to_ascii_lowercase()) {
            std::collections::btree_map::Entry::Vacant(place) => {
                place.insert(new);
                return None;
            }
            std::collections::btree_map::Entry::Occupied(place) => place.into_mut(),
        };
        let clash = if old.as_str() != path {
            (Code::PathCaseTwin, "Another name differs only in case.")
        } else if *was_directory != is_directory {
            (Code::PathConflict, "The name is both a file's and a directory's.")
        } else if *was_entry && is_entry {
            (Code::PathDuplicate, "Another entry has the same name.")
        } else {
            *was_entry |= is_entry;
            return None;
        };
        Some(clash)
    }
}
