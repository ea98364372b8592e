//! Packages: themes as zips, read under bounds and validated completely.

use crate::archive;
use crate::file::{Digest, File};
use crate::finding::Finding;
use crate::findings::Findings;
use crate::manifest::{self, Manifest};
use crate::schema::Schema;

mod assemble;
pub(crate) mod json;
mod layout;
#[cfg(test)]
mod tests;

/// A valid uploaded theme.
#[derive(Debug, Clone, PartialEq)]
pub struct Package {
    /// The manifest, from `theme.json` or the theme's description.
    pub manifest: Manifest,
    /// Whether the theme has no `theme.json`, so that nobody chose its slug.
    pub is_manifest_derived: bool,
    /// The schema of its settings.
    pub schema: Schema,
    /// Its files, by path.
    pub files: Vec<File>,
}

/// The result of reading a package.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The listed findings: errors and warnings.
    pub findings: Vec<Finding>,
    /// The number of findings that are not listed.
    pub more: usize,
    /// The package, if no finding is an error.
    pub package: Option<Package>,
    /// The number of bytes that were unpacked.
    pub unpacked: u64,
}

/// Reads a package: at most 4 MiB, 1,000 entries, 32 MiB unpacked, and no entry that grows more than a
/// hundredfold, whatever its headers declare. All problems are found at once.
pub fn read(zip: &[u8]) -> Reading {
    read_with(zip, |_| Vec::new())
}

/// As [`read`]; `check` finds further problems in the files of a package that is valid.
pub fn read_with(zip: &[u8], check: impl FnOnce(&[File]) -> Vec<Finding>) -> Reading {
    let mut findings = Findings::default();
    let archive = archive::open(zip, &mut findings);
    let unpacked = archive.unpacked;
    // An unreadable archive has no further findings, as of missing files.
    if archive.files.is_empty() && findings.has_errors() {
        let (findings, more) = findings.listed();
        return Reading { findings, more, package: None, unpacked };
    }
    let files = layout::place(archive.files, &mut findings);
    let schema = assemble::schema(&files, &mut findings);
    let is_manifest_derived = !files.contains_key(manifest::PATH);
    let manifest = if is_manifest_derived {
        Manifest::derive(&schema.theme_info, &mut findings)
    } else {
        assemble::value(&files, manifest::PATH, &mut findings)
            .and_then(|value| Manifest::read(&value, &mut findings))
    };
    let package = if findings.has_errors() {
        None
    } else {
        let files = files.into_iter().filter_map(|(path, bytes)| Some(file(path, bytes?)));
        let files = files.collect();
        manifest.map(|manifest| Package { manifest, is_manifest_derived, schema, files })
    };
    if let Some(package) = &package {
        findings.extend(check(&package.files));
    }
    let (findings, more) = findings.listed();
    Reading { findings, more, package, unpacked }
}

fn file(path: String, bytes: Vec<u8>) -> File {
    let content_type = layout::content_type(&path);
    File { sha256: Digest::of(&bytes), bytes: bytes.into(), content_type, path }
}
