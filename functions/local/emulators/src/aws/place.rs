//! Where an emulator keeps its data.

use std::path::Path;

/// Where the table and the secrets are.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// In memory.
    Memory,
    /// In memory, and at first as in this directory, which no process is using.
    CopyOf(&'a Path),
    /// In this directory, which is created (owner only) if it is absent: the table in `table.db`, the secrets in
    /// `secrets.json`.
    Directory(&'a Path),
}
