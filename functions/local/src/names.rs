//! TXT records of the local system, from a file instead of public name servers.

use std::path::PathBuf;

use egress::{ResolveTxt, Texts};

/// A file with a record in each line: its name, a space, its text. It is read again for each look-up; without
/// a file there are no records.
#[derive(Debug, Clone)]
pub struct RecordsFile(pub PathBuf);

impl ResolveTxt for RecordsFile {
    fn txt<'a>(&'a self, name: &'a str) -> Texts<'a> {
        Box::pin(async move {
            let records = match tokio::fs::read_to_string(&self.0).await {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
                records => records?,
            };
            let lines = records.lines().filter_map(|line| line.trim().split_once(' '));
            let own = lines.filter(|(of, _)| of.trim_end_matches('.').eq_ignore_ascii_case(name));
            Ok(own.map(|(_, text)| text.trim().to_owned()).collect())
        })
    }
}
