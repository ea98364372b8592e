//! The secrets of a deployment: made and rotated on the operator's machine, and put into Secrets
//! Manager from there, so that no function needs the right to write them.

use emulators::AnyError;
use serde_json::{Map, Value};
use services::secrets::documents;

/// Fresh documents for every secret, by the secrets' names; all but the mail server's, which is
/// not ours to make up.
pub fn generate() -> Result<Map<String, Value>, AnyError> {
    Ok(documents::complete(Map::new())?)
}

/// The documents, as [`generate`] prints them, one rotation later. Others that are in the file, like
/// the mail server's, stay as they are.
///
/// # Errors
/// Text that is not these documents.
pub fn rotate(text: &str) -> Result<Map<String, Value>, AnyError> {
    let stored: Map<String, Value> = serde_json::from_str(text)?;
    documents::rotate(stored).map_err(|cause| {
        format!("{cause}: give all documents in one object, as --generate-keys prints them").into()
    })
}
