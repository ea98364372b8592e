//! Bodies of several parts (RFC 7578).

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::stream;

use super::Inbound;
use primitives::problem::{Code, Problem};

/// A part of a `multipart/form-data` body.
#[derive(Debug)]
pub struct FormPart {
    /// Its name; empty without one.
    pub name: String,
    /// Whether it is a file, and not a text.
    pub is_file: bool,
    /// Its content.
    pub bytes: Bytes,
}

/// The parts of a body with this content type.
///
/// # Errors
/// `invalid_form`.
pub async fn parts_of(content_type: &str, body: Bytes) -> Result<Vec<FormPart>, Problem> {
    let boundary = multer::parse_boundary(content_type).map_err(|_| Code::InvalidForm)?;
    let whole = stream::iter([Ok::<_, Infallible>(body)]);
    let mut form = multer::Multipart::new(whole, boundary);
    let mut found = Vec::new();
    while let Some(part) = form.next_field().await.map_err(|_| Code::InvalidForm)? {
        let name = part.name().unwrap_or_default().to_owned();
        let is_file = part.file_name().is_some();
        let bytes = part.bytes().await.map_err(|_| Code::InvalidForm)?;
        found.push(FormPart { name, is_file, bytes });
    }
    Ok(found)
}

impl Inbound {
    /// The parts of the body.
    ///
    /// # Errors
    /// `invalid_form`.
    pub async fn parts(&self) -> Result<Vec<FormPart>, Problem> {
        parts_of(self.header("content-type").unwrap_or_default(), self.body.clone()).await
    }
}
