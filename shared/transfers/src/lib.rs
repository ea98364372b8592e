//! Imports and exports of a store's files.
//!
//! - An [`import`] reads products, customers or stock from a file that was uploaded in parts.
//! - An [`export`] writes products, orders, customers or movements of stock into a file.
//! - [`people`]: deletes files with personal data when a person is redacted.
//! - [`unfinished`]: how many of them a store has at once.
//! - Files are stored in [`chunk`]s; [`csv`] is their CSV form, in the columns of Shopify's files.

pub mod chunk;
pub mod csv;
pub mod export;
pub mod import;
pub mod people;
pub mod unfinished;

primitives::string_enum! {
    /// The format of a file.
    FileFormat {
        /// Comma-separated values (RFC 4180), with the names of the columns in the first row.
        Csv = "csv",
        /// A JSON object on each line.
        Jsonl = "jsonl",
    }
}

impl FileFormat {
    /// The value of `Content-Type`.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Jsonl => "application/jsonl",
        }
    }
}
