//! The secrets of a deployment. They are created and rotated on the operator's machine, and written to
//! Secrets Manager from there, so that no function needs permission to write them.

use emulators::AnyError;
use serde_json::{Map, Value};
use services::secrets::documents;

/// Generates documents for every secret, by the secrets' names, except the mail server's, which cannot be
/// generated.
pub fn generate() -> Result<Map<String, Value>, AnyError> {
    Ok(documents::complete(Map::new())?)
}

/// Rotates the signing keys of documents that [`generate`] made. Other documents in the text, like the mail
/// server's, stay as they are.
///
/// # Errors
/// The text does not contain these documents.
pub fn rotate(text: &str) -> Result<Map<String, Value>, AnyError> {
    let stored: Map<String, Value> = serde_json::from_str(text)?;
    documents::rotate(stored).map_err(|cause| {
        format!("{cause}: give all documents in one object, as --generate-keys prints them").into()
    })
}
