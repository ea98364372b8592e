//! The files of a theme: read from a directory, compared by their digests, packed.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use serde_json::Value;

use crate::failure::Failure;
use crate::import::digest;

/// The manifest.
pub const MANIFEST: &str = "theme.json";
/// Where files of a theme are; others are no part of it.
pub const DIRECTORIES: [&str; 8] =
    ["assets", "blocks", "config", "layout", "locales", "sections", "snippets", "templates"];
/// The largest theme, unpacked: what is larger is no theme.
const LARGEST: u64 = 32 << 20;

/// The files of a theme, by their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<String, Vec<u8>>);

impl FromIterator<(String, Vec<u8>)> for Files {
    fn from_iter<T: IntoIterator<Item = (String, Vec<u8>)>>(files: T) -> Self {
        Self(files.into_iter().collect())
    }
}

/// What a manifest has of interest here.
#[derive(serde::Deserialize)]
struct Named<'a> {
    slug: &'a str,
}

/// How a file differs from the one that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Added(String),
    Changed(String),
    Removed(String),
}

impl Change {
    pub fn path(&self) -> &str {
        match self {
            Self::Added(path) | Self::Changed(path) | Self::Removed(path) => path,
        }
    }

    pub fn mark(&self) -> char {
        match self {
            Self::Added(_) => '+',
            Self::Changed(_) => '~',
            Self::Removed(_) => '-',
        }
    }

    pub fn word(&self) -> &'static str {
        match self {
            Self::Added(_) => "added",
            Self::Changed(_) => "changed",
            Self::Removed(_) => "removed",
        }
    }
}

impl Files {
    /// Reads a directory: the manifest, and what is in the directories of a theme.
    pub fn read(root: &Path) -> Result<Self, Failure> {
        let manifest = root.join(MANIFEST);
        if !manifest.is_file() {
            let text = format!("{} has no theme.json: commerce theme init", root.display());
            return Err(Failure::Local(text));
        }
        let mut files = Self::default();
        let mut size = 0;
        files.add(&manifest, MANIFEST.to_owned(), &mut size)?;
        for directory in DIRECTORIES {
            let path = root.join(directory);
            if path.is_dir() {
                files.add_all(&path, directory, &mut size)?;
            }
        }
        Ok(files)
    }

    fn add_all(&mut self, directory: &Path, name: &str, size: &mut u64) -> Result<(), Failure> {
        let fault = |cause| Failure::file(directory, &cause);
        for entry in std::fs::read_dir(directory).map_err(fault)? {
            let entry = entry.map_err(fault)?;
            let file = entry.file_name();
            let file = file.to_string_lossy();
            // What editors and systems leave behind.
            if file.starts_with('.') || file.ends_with('~') {
                continue;
            }
            let name = format!("{name}/{file}");
            let kind = entry.file_type().map_err(fault)?;
            if kind.is_dir() {
                self.add_all(&entry.path(), &name, size)?;
            } else if kind.is_file() {
                self.add(&entry.path(), name, size)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, name: String, size: &mut u64) -> Result<(), Failure> {
        let bytes = std::fs::read(path).map_err(|cause| Failure::file(path, &cause))?;
        *size = size.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        if *size > LARGEST {
            return Err(Failure::Local("The theme has more than 32 MiB".into()));
        }
        self.0.insert(name, bytes);
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn paths(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    pub fn manifest(&self) -> Result<Value, Failure> {
        let bytes = self.0.get(MANIFEST).map_or(&[][..], Vec::as_slice);
        serde_json::from_slice(bytes)
            .map_err(|cause| Failure::Local(format!("theme.json: {cause}")))
    }

    /// The theme's name in URLs.
    pub fn slug(&self) -> Result<&str, Failure> {
        let bytes = self.0.get(MANIFEST).map_or(&[][..], Vec::as_slice);
        let named: Result<Named<'_>, _> = serde_json::from_slice(bytes);
        let is_slug = |slug: &&str| {
            !slug.is_empty() && slug.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        let slug = named.ok().map(|named| named.slug).filter(is_slug);
        slug.ok_or_else(|| Failure::Local("theme.json has no slug of letters, digits and -".into()))
    }

    /// The same with another version in the manifest.
    pub fn at_version(&self, version: &str) -> Result<Self, Failure> {
        let mut manifest = self.manifest()?;
        if let Some(members) = manifest.as_object_mut() {
            members.insert("version".to_owned(), version.into());
        }
        let mut files = self.clone();
        files.0.insert(MANIFEST.to_owned(), format!("{manifest:#}\n").into_bytes());
        Ok(files)
    }

    /// The digest of each file.
    pub fn digests(&self) -> BTreeMap<String, String> {
        self.0.iter().map(|(path, bytes)| (path.clone(), digest(bytes))).collect()
    }

    /// How these files differ from those that are there, by digest.
    pub fn changes_from(&self, there: &BTreeMap<String, String>) -> Vec<Change> {
        let here = self.digests();
        let changed = here.iter().filter_map(|(path, digest)| match there.get(path) {
            None => Some(Change::Added(path.clone())),
            Some(known) if known != digest => Some(Change::Changed(path.clone())),
            Some(_) => None,
        });
        let removed = there.keys().filter(|path| !here.contains_key(*path));
        changed.chain(removed.map(|path| Change::Removed(path.clone()))).collect()
    }

    /// The package: a zip of deflated files.
    pub fn zip(&self) -> Result<Vec<u8>, Failure> {
        let fault = |cause: rawzip::Error| Failure::Local(cause.to_string());
        let mut archive = ZipArchiveWriter::new(Vec::new());
        for (path, bytes) in &self.0 {
            let file = archive.new_file(path.as_str());
            let (mut entry, config) =
                file.compression_method(CompressionMethod::DEFLATE).start().map_err(fault)?;
            let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::default()));
            writer.write_all(bytes)?;
            let (encoder, descriptor) = writer.finish().map_err(fault)?;
            encoder.finish()?;
            entry.finish(descriptor).map_err(fault)?;
        }
        archive.finish().map_err(fault)
    }

    /// The paths of those files that are in the directory with another content.
    pub fn differing(&self, root: &Path) -> Result<Vec<String>, Failure> {
        let mut differing = Vec::new();
        for (path, bytes) in &self.0 {
            let place = root.join(path);
            if place.exists() {
                let here = std::fs::read(&place).map_err(|cause| Failure::file(&place, &cause))?;
                if here != *bytes {
                    differing.push(path.clone());
                }
            }
        }
        Ok(differing)
    }

    /// Writes the files below a directory. Paths that came over the network stay below it.
    pub fn write(&self, root: &Path, overwrites: bool) -> Result<(), Failure> {
        for (path, bytes) in &self.0 {
            let is_own = path == MANIFEST
                || path.split_once('/').is_some_and(|(first, _)| DIRECTORIES.contains(&first));
            let is_plain = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
            if !is_own || !is_plain || path.contains(['\\', '\0', ':']) {
                return Err(Failure::Local(format!("{path:?} is no path of a theme")));
            }
            let place = root.join(path);
            if !overwrites && place.exists() {
                continue;
            }
            let fault = |cause| Failure::file(&place, &cause);
            if let Some(directory) = place.parent() {
                std::fs::create_dir_all(directory).map_err(fault)?;
            }
            std::fs::write(&place, bytes).map_err(fault)?;
        }
        Ok(())
    }
}

/// The version to upload: the manifest's own, or if that is taken the next one of development. `1.2.0` is followed by
/// `1.2.1-dev.1`, which comes before `1.2.1`.
pub fn next_version(own: &str, taken: &[String]) -> String {
    if !taken.iter().any(|version| version == own) {
        return own.to_owned();
    }
    let prefix = match own.split_once("dev.") {
        // A development version that was pulled.
        Some((before, _)) if before.ends_with(['-', '.']) => format!("{before}dev."),
        _ if own.contains('-') => format!("{own}.dev."),
        _ => {
            let (minor, patch) = own.rsplit_once('.').unwrap_or((own, "0"));
            let patch = patch.parse::<u64>().unwrap_or(0).saturating_add(1);
            format!("{minor}.{patch}-dev.")
        }
    };
    let numbers =
        taken.iter().filter_map(|version| version.strip_prefix(&prefix)?.parse::<u64>().ok());
    let next = numbers.max().unwrap_or(0).saturating_add(1);
    format!("{prefix}{next}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: &[(&str, &str)]) -> Files {
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn files_are_compared_by_their_digests() {
        let there = files(&[("assets/a.css", "a"), ("assets/b.css", "b"), ("assets/c.css", "c")]);
        let here = files(&[("assets/a.css", "a"), ("assets/b.css", "B"), ("assets/d.css", "d")]);
        let expected = [
            Change::Changed("assets/b.css".into()),
            Change::Added("assets/d.css".into()),
            Change::Removed("assets/c.css".into()),
        ];
        assert_eq!(here.changes_from(&there.digests()), expected);
        assert_eq!(there.changes_from(&there.digests()), []);
    }

    #[test]
    fn a_taken_version_is_followed_by_the_next_one_of_development() {
        let taken =
            |versions: &[&str]| versions.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let next = |own, versions: &[&str]| next_version(own, &taken(versions));
        assert_eq!(next("1.0.0", &[]), "1.0.0");
        assert_eq!(next("1.0.0", &["1.0.0"]), "1.0.1-dev.1");
        assert_eq!(next("1.0.0", &["1.0.1-dev.9", "1.0.1-dev.10", "1.0.0"]), "1.0.1-dev.11");
        assert_eq!(next("1.0.1-dev.3", &["1.0.1-dev.3"]), "1.0.1-dev.4");
        assert_eq!(next("2.0.0-beta", &["2.0.0-beta"]), "2.0.0-beta.dev.1");
        assert_eq!(next("2.0.0-beta.dev.1", &["2.0.0-beta.dev.1"]), "2.0.0-beta.dev.2");
    }

    #[test]
    fn no_file_is_written_outside_the_directory() {
        let place = tempfile::tempdir().expect("a directory");
        let bad =
            ["../x", "/x", "assets/../../x", "assets//x", "other/x", "assets/..\\x", "assets/c:x"];
        for path in bad {
            assert!(files(&[(path, "x")]).write(place.path(), true).is_err(), "{path}");
        }
        files(&[("assets/sub/x.css", "x")]).write(place.path(), true).expect("it is written");
        assert!(place.path().join("assets/sub/x.css").is_file());
    }

    #[test]
    fn a_directory_is_read_without_what_is_no_part_of_the_theme() {
        let place = tempfile::tempdir().expect("a directory");
        super::super::starter::files("linen").write(place.path(), true).expect("it is written");
        for other in ["README.md", "assets/.DS_Store", "assets/theme.css~"] {
            std::fs::write(place.path().join(other), "x").expect("it is written");
        }
        let read = Files::read(place.path()).expect("it is read");
        assert_eq!(read, super::super::starter::files("linen"));
        assert_eq!(read.slug().expect("a slug"), "linen");
    }
}
