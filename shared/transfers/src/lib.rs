//! Files in and out of a store.
//!
//! - An [`import`] reads products, customers or stock from a file that was uploaded in parts.
//! - An [`export`] writes products, orders, customers or movements of stock into a file.
//! - [`people`]: files with people's data are forgotten when one of them is.
//! - The files are kept in [`chunk`]s; [`csv`] is how they are written and read, in the columns that
//!   Shopify's files have.

pub mod chunk;
pub mod csv;
pub mod export;
pub mod import;
pub mod people;

primitives::string_enum! {
    /// How a file is written.
    FileFormat {
        /// Comma-separated values (RFC 4180), with the names of the columns in the first row.
        Csv = "csv",
        /// A JSON object on each line.
        Jsonl = "jsonl",
    }
}

impl FileFormat {
    /// As `Content-Type` says it.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv; charset=utf-8",
            Self::Jsonl => "application/jsonl",
        }
    }
}
