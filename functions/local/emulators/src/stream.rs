//! What a reader of the table's stream hands on, wherever the table is.

use std::sync::{Arc, Weak};

use serde_json::Value;

/// Records of the stream, each in the form in which Lambda delivers it.
#[derive(Debug, Default)]
pub struct StreamRecords {
    /// The records, those of a partition in their order.
    pub records: Vec<Value>,
    /// Held until they were handled.
    pub unhandled: Unhandled,
}

/// Held, as clones, by those who handle records. Once all were dropped, a reader with a lease need not read the records
/// again, and neither does the process that takes the lease after it.
#[derive(Debug, Clone, Default)]
pub struct Unhandled(Arc<()>);

impl Unhandled {
    pub(crate) fn handling(&self) -> Handling {
        Handling(Arc::downgrade(&self.0))
    }
}

/// Tells whether records were handled. The default is of records that nobody has to handle.
#[derive(Debug, Clone, Default)]
pub(crate) struct Handling(Weak<()>);

impl Handling {
    pub(crate) fn is_handled(&self) -> bool {
        self.0.strong_count() == 0
    }
}
