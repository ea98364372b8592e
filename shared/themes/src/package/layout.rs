//! The layout of a theme: its directories, and the files allowed in each.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Code, Finding};
use crate::findings::Findings;
use crate::manifest;

/// Files by path. A file without bytes could not be read or is invalid: a finding says why.
pub(super) type Files = BTreeMap<String, Option<Vec<u8>>>;

/// The maximum size of a Liquid file in bytes.
const MAX_LIQUID: usize = 256 << 10;
/// The maximum size of a JSON file in bytes.
const MAX_JSON: usize = 1 << 20;
/// The maximum size of any other file in bytes.
const MAX_ASSET: usize = 4 << 20;

/// A directory of a theme: its name, the extensions of its files, and whether it may have subdirectories.
struct Directory {
    name: &'static str,
    endings: &'static [&'static str],
    is_deep: bool,
}

const ASSETS: &[&str] = &[
    "avif",
    "bmp",
    "css",
    "eot",
    "gif",
    "glb",
    "ico",
    "jpeg",
    "jpg",
    "js",
    "json",
    "liquid",
    "m4v",
    "map",
    "md",
    "mjs",
    "mov",
    "mp3",
    "mp4",
    "ogg",
    "otf",
    "pdf",
    "png",
    "scss",
    "svg",
    "ts",
    "tsx",
    "ttf",
    "txt",
    "vtt",
    "wav",
    "webm",
    "webmanifest",
    "webp",
    "woff",
    "woff2",
    "xml",
];

const DIRECTORIES: &[Directory] = &[
    Directory { name: "assets", endings: ASSETS, is_deep: true },
    Directory { name: "blocks", endings: &["liquid"], is_deep: false },
    Directory { name: "config", endings: &["json"], is_deep: false },
    Directory { name: "layout", endings: &["liquid"], is_deep: false },
    Directory { name: "locales", endings: &["json"], is_deep: false },
    Directory { name: "sections", endings: &["json", "liquid"], is_deep: false },
    Directory { name: "snippets", endings: &["liquid"], is_deep: false },
    Directory { name: "templates", endings: &["json", "liquid"], is_deep: true },
];

/// Content types by extension. Templates, sources and XML, which could run scripts, are served as plain text.
const TYPES: &[(&str, &str)] = &[
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("css", "text/css; charset=utf-8"),
    ("eot", "application/vnd.ms-fontobject"),
    ("gif", "image/gif"),
    ("glb", "model/gltf-binary"),
    ("ico", "image/x-icon"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript; charset=utf-8"),
    ("json", "application/json"),
    ("liquid", "text/plain; charset=utf-8"),
    ("m4v", "video/mp4"),
    ("map", "application/json"),
    ("md", "text/plain; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("ogg", "audio/ogg"),
    ("otf", "font/otf"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("scss", "text/plain; charset=utf-8"),
    ("svg", "image/svg+xml"),
    ("ts", "text/plain; charset=utf-8"),
    ("tsx", "text/plain; charset=utf-8"),
    ("ttf", "font/ttf"),
    ("txt", "text/plain; charset=utf-8"),
    ("vtt", "text/vtt; charset=utf-8"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webmanifest", "application/manifest+json"),
    ("webp", "image/webp"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
    ("xml", "text/plain; charset=utf-8"),
];

/// The extension of a path, in lower case.
pub(super) fn ending(path: &str) -> String {
    path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default()
}

/// The content type of a file, by its extension.
pub(super) fn content_type(path: &str) -> &'static str {
    let ending = ending(path);
    let found = TYPES.iter().find(|(known, _)| *known == ending);
    found.map_or("application/octet-stream", |(_, content_type)| content_type)
}

/// The name of a file in a directory without its extension: `hero` of `sections/hero.liquid`.
pub(super) fn stem<'a>(path: &'a str, directory: &str, ending: &str) -> Option<&'a str> {
    let name = path.strip_prefix(directory)?.strip_prefix('/')?;
    name.strip_suffix(ending)?.strip_suffix('.')
}

/// Returns the files of a theme, without an enclosing folder. Files outside a theme's directories are left
/// out with a warning; misplaced and invalid ones are reported.
pub(super) fn place(files: Files, findings: &mut Findings) -> Files {
    let wrapper = wrapper(&files);
    let mut placed = Files::new();
    let mut outside = Outside::default();
    for (path, bytes) in files {
        let path = match &wrapper {
            Some(wrapper) => path.strip_prefix(wrapper.as_str()).unwrap_or(&path).to_owned(),
            None => path,
        };
        match validate(&path, bytes.as_deref()) {
            Ok(()) => {
                placed.insert(path, bytes);
            }
            Err((Code::OutsideDirectories, _)) => outside.add(path),
            Err((code, detail)) => {
                let finding = Finding::new(code, &path, detail);
                if finding.is_error() {
                    // It counts as present, although it is invalid.
                    placed.insert(path, None);
                }
                findings.push(finding);
            }
        }
    }
    outside.report(findings);
    require(&placed, findings);
    placed
}

/// The files outside a theme's directories: an archive of a repository has many.
#[derive(Default)]
struct Outside {
    /// The number of files of each folder.
    folders: BTreeMap<String, usize>,
    /// The files in no folder.
    files: Vec<String>,
}

impl Outside {
    fn add(&mut self, path: String) {
        match path.split_once('/') {
            Some((top, _)) => {
                let count = self.folders.entry(format!("{top}/")).or_default();
                *count = count.saturating_add(1);
            }
            None => self.files.push(path),
        }
    }

    /// Reports each folder once, and the files in none together.
    fn report(self, findings: &mut Findings) {
        let mut say = |path: &str, ignored: &str| {
            let detail = format!("Not in a directory of a theme; {ignored} ignored.");
            findings.push(Finding::new(Code::OutsideDirectories, path, detail));
        };
        for (folder, count) in self.folders {
            let ignored = match count {
                1 => "its file was".to_owned(),
                count => format!("its {count} files were"),
            };
            say(&folder, &ignored);
        }
        if let Some((first, others)) = self.files.split_first() {
            match others {
                [] => say(first, "the file was"),
                others => say(first, &format!("the file and {} were", others.join(", "))),
            }
        }
    }
}

/// The folder that encloses all files, as `theme-main/` in an archive of a repository.
fn wrapper(files: &Files) -> Option<String> {
    let tops: BTreeSet<&str> =
        files.keys().map(|path| path.split_once('/').map_or("", |(top, _)| top)).collect();
    let top = *tops.first().filter(|_| tops.len() == 1)?;
    let is_own = top.is_empty() || DIRECTORIES.iter().any(|directory| directory.name == top);
    (!is_own).then(|| format!("{top}/"))
}

fn validate(path: &str, bytes: Option<&[u8]>) -> Result<(), (Code, String)> {
    let ending = ending(path);
    if path != manifest::PATH {
        let parts = path.split_once('/');
        let known = parts.and_then(|(top, _)| DIRECTORIES.iter().find(|known| known.name == top));
        let Some((directory, (_, name))) = known.zip(parts) else {
            let detail = "Not in a directory of a theme; the file was ignored.";
            return Err((Code::OutsideDirectories, detail.to_owned()));
        };
        let file = name.rsplit('/').next().unwrap_or_default();
        if file.starts_with('.') {
            let detail = "A hidden file is no part of a theme; it was ignored.";
            return Err((Code::IgnoredFile, detail.to_owned()));
        }
        if !directory.is_deep && name.contains('/') {
            let detail = format!("Subdirectories are not allowed in `{}`.", directory.name);
            return Err((Code::SubdirectoryRejected, detail));
        }
        if is_archive(&ending, bytes.unwrap_or_default()) {
            return Err((Code::NestedArchive, "Archives are not allowed in a package.".to_owned()));
        }
        if !directory.endings.contains(&ending.as_str()) {
            let endings = directory.endings.join(", ");
            let detail = format!("Files in `{}` must end in one of: {endings}.", directory.name);
            return Err((Code::FileTypeRejected, detail));
        }
    }
    let most = match ending.as_str() {
        "liquid" => MAX_LIQUID,
        "json" => MAX_JSON,
        _ => MAX_ASSET,
    };
    if bytes.is_some_and(|bytes| bytes.len() > most) {
        let detail = format!("A file that ends in `{ending}` must have at most {most} bytes.");
        return Err((Code::FileTooLarge, detail));
    }
    bytes.map_or(Ok(()), |bytes| validate_content(&ending, bytes))
}

fn is_archive(ending: &str, bytes: &[u8]) -> bool {
    const ENDINGS: &[&str] = &["7z", "bz2", "gz", "jar", "rar", "tar", "tgz", "xz", "zip", "zst"];
    const MAGIC: &[&[u8]] = &[
        b"PK\x03\x04",
        b"PK\x05\x06",
        b"Rar!\x1a\x07",
        b"7z\xbc\xaf\x27\x1c",
        b"\x1f\x8b\x08",
        b"\xfd7zXZ\x00",
        b"\x28\xb5\x2f\xfd",
    ];
    ENDINGS.contains(&ending) || MAGIC.iter().any(|magic| bytes.starts_with(magic))
}

/// Validates that a file's content matches its extension: text is UTF-8, others begin with their signature.
fn validate_content(ending: &str, bytes: &[u8]) -> Result<(), (Code, String)> {
    let at = |offset: usize, magic: &[u8]| {
        bytes.get(offset..).is_some_and(|bytes| bytes.starts_with(magic))
    };
    let is_so = match ending {
        "png" => at(0, b"\x89PNG\r\n\x1a\n"),
        "jpg" | "jpeg" => at(0, b"\xff\xd8\xff"),
        "gif" => at(0, b"GIF87a") || at(0, b"GIF89a"),
        "webp" => at(0, b"RIFF") && at(8, b"WEBP"),
        "avif" | "m4v" | "mov" | "mp4" => at(4, b"ftyp"),
        "bmp" => at(0, b"BM"),
        "eot" => at(34, b"LP"),
        "glb" => at(0, b"glTF"),
        "mp3" => at(0, b"ID3") || at(0, b"\xff"),
        "ogg" => at(0, b"OggS"),
        "pdf" => at(0, b"%PDF-"),
        "wav" => at(0, b"RIFF") && at(8, b"WAVE"),
        "ico" => at(0, b"\0\0\x01\0"),
        "webm" => at(0, b"\x1a\x45\xdf\xa3"),
        "woff" => at(0, b"wOFF"),
        "woff2" => at(0, b"wOF2"),
        "otf" => at(0, b"OTTO"),
        "ttf" => at(0, b"\0\x01\0\0") || at(0, b"true"),
        _ => {
            return match std::str::from_utf8(bytes) {
                Ok(text) if !text.contains('\0') => Ok(()),
                _ => Err((Code::TextNotUtf8, "Must be UTF-8 text without NUL.".to_owned())),
            };
        }
    };
    if is_so {
        return Ok(());
    }
    Err((Code::ContentMismatch, format!("The content is not that of a `{ending}` file.")))
}

/// Reports missing files that every theme must have.
fn require(files: &Files, findings: &mut Findings) {
    let any = |start: &str| {
        files.keys().any(|path| {
            path.strip_prefix(start).is_some_and(|rest| matches!(rest, "liquid" | "json"))
        })
    };
    let rules = [
        (any("layout/theme."), Code::LayoutMissing, "layout/theme.liquid"),
        (any("templates/index."), Code::IndexMissing, "templates/index.json"),
        (
            files.contains_key(crate::schema::read::PATH),
            Code::SettingsSchemaMissing,
            crate::schema::read::PATH,
        ),
    ];
    for (_, code, path) in rules.into_iter().filter(|(is_there, ..)| !is_there) {
        findings.push(Finding::new(code, path, "The file is required in every theme."));
    }
}
