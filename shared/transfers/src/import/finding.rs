//! What is wrong with the rows of a file.

use gateway::clock::Timestamp;
use gateway::item::{Element, Item, Key};
use ground::id::ImportId;
use ground::key;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::piece::KEPT;

/// What is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The row, from 1, which holds the names of the columns in CSV. Of a product of several rows, the one
    /// that is at fault.
    pub row: u64,
    /// The column by its name; of a JSON line, a JSON Pointer into it. None when it is the row.
    pub column: Option<String>,
    /// What is wrong: the code of a field at fault, or of the problem that a request of the same would
    /// have been answered with.
    pub code: String,
    /// The same, for people.
    pub detail: String,
}

/// A page of findings.
#[derive(Debug, Serialize, Deserialize)]
pub struct Findings {
    /// Of this import.
    pub import_id: ImportId,
    /// The page.
    pub number: u64,
    /// What was found.
    pub findings: Vec<Finding>,
    /// When the import is forgotten.
    pub forgotten_at: Timestamp,
    /// From 1.
    pub version: u64,
}

impl Item for Findings {
    const KIND: &'static str = "import_findings";
    fn key(&self) -> Key {
        key::import_findings(&self.import_id, self.number)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn forget_at(&self) -> Option<Timestamp> {
        Some(self.forgotten_at)
    }
}

impl Findings {
    /// A page of an import that was asked for at this time.
    pub fn page(import: &ImportId, number: u64, findings: Vec<Finding>, asked: Timestamp) -> Self {
        let (import_id, forgotten_at) = (import.clone(), asked.plus(KEPT));
        Self { import_id, number, findings, forgotten_at, version: 1 }
    }
}

impl Element for Finding {
    type Holder = Findings;

    fn held_by(holder: Findings) -> Vec<Self> {
        holder.findings
    }
}
