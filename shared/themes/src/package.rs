//! Packages: a theme as a zip, read under bounds and validated whole.

use crate::archive;
use crate::file::{Digest, File};
use crate::finding::Finding;
use crate::findings::Findings;
use crate::manifest::{self, Manifest};
use crate::schema::Schema;

mod assemble;
mod json;
mod layout;
#[cfg(test)]
mod tests;

/// A theme as it was uploaded, with nothing wrong in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Package {
    /// What `theme.json` says.
    pub manifest: Manifest,
    /// What can be set.
    pub schema: Schema,
    /// Its files, by path.
    pub files: Vec<File>,
}

/// What came of reading a package.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// What was found, errors and warnings.
    pub findings: Vec<Finding>,
    /// How many are not listed.
    pub more: usize,
    /// The package, when there is no error among them.
    pub package: Option<Package>,
    /// How many bytes were unpacked to find that out.
    pub unpacked: u64,
}

/// Reads a package: at most 4 MiB, 1,000 entries, 32 MiB unpacked, and no entry that grows more than
/// a hundredfold, whatever the archive says of itself. Everything that is wrong is found at once.
pub fn read(zip: &[u8]) -> Reading {
    let mut findings = Findings::default();
    let archive = archive::open(zip, &mut findings);
    let unpacked = archive.unpacked;
    // Of an archive that says nothing reliable, nothing else is said.
    if archive.files.is_empty() && findings.has_errors() {
        let (findings, more) = findings.listed();
        return Reading { findings, more, package: None, unpacked };
    }
    let files = layout::place(archive.files, &mut findings);
    let manifest = assemble::value(&files, manifest::PATH, &mut findings)
        .and_then(|value| Manifest::read(&value, &mut findings));
    let schema = assemble::schema(&files, &mut findings);
    let package = if findings.has_errors() {
        None
    } else {
        let files = files.into_iter().filter_map(|(path, bytes)| Some(file(path, bytes?)));
        manifest.map(|manifest| Package { manifest, schema, files: files.collect() })
    };
    let (findings, more) = findings.listed();
    Reading { findings, more, package, unpacked }
}

fn file(path: String, bytes: Vec<u8>) -> File {
    let content_type = layout::content_type(&path);
    File { sha256: Digest::of(&bytes), bytes: bytes.into(), content_type, path }
}
