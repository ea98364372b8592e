//! The archive in an upload: the whole body, or a part of a form.

use axum::extract::FromRequestParts;
use bytes::Bytes;
use gateway::request::{Argument, Raw, Reads, Validation};
use http::request::Parts;
use primitives::problem::{Code, FieldError, Problem};
use schemars::JsonSchema;
use serde_json::Map;

/// The name of the form's part with the archive.
const PART: &str = "file";

/// The form of an upload.
#[derive(Debug, JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is used")]
struct ArchiveForm {
    /// The archive.
    #[schemars(extend("contentMediaType" = "application/zip"))]
    file: String,
}

/// The archive of a package.
#[derive(Debug)]
pub(crate) struct Archive(pub(crate) Bytes);

impl Argument for Archive {
    const READS: Reads = Reads::BODY;

    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        let (archive, field_errors) = match validation.inbound.media_type().as_str() {
            "application/zip" | "application/x-zip-compressed" | "application/octet-stream" => {
                (Some(validation.inbound.body.clone()), Vec::new())
            }
            "multipart/form-data" => {
                let parts = validation.inbound.parts().await?;
                file_of(parts.into_iter().map(|part| (part.name, part.bytes)))
            }
            // JSON has no archive: its members get the same field errors as a form's parts.
            "" | "application/json" => {
                let fields = validation.body()?;
                let names = fields.as_object().into_iter().flat_map(Map::keys);
                let unknown = names.filter(|name| *name != PART).map(|name| unknown_field(name));
                let file = if fields.get(PART).is_some() { not_a_file() } else { missing_file() };
                (None, unknown.chain([file]).collect())
            }
            _ => {
                let detail =
                    "Send the archive as `application/zip`, or as `file` of `multipart/form-data`.";
                return Err(Code::UnsupportedMediaType.detail(detail));
            }
        };
        validation.add(field_errors);
        validation.insert(archive.map(Self));
        Ok(())
    }

    gateway::describes! { |operation| {
        operation.takes_bytes("application/zip");
        operation.takes_bytes("application/octet-stream");
        operation.takes_body::<ArchiveForm>("multipart/form-data");
        operation.rejects(&[Code::UnsupportedMediaType]);
    } }
}

impl<S: Sync> FromRequestParts<S> for Archive {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        inbound.take()
    }
}

/// Returns the archive among the parts, and the field errors.
fn file_of(parts: impl IntoIterator<Item = (String, Bytes)>) -> (Option<Bytes>, Vec<FieldError>) {
    let (mut file, mut field_errors) = (None, Vec::new());
    for (name, bytes) in parts {
        if name != PART {
            field_errors.push(unknown_field(&name));
        } else if file.replace(bytes).is_some() {
            let detail = "This field is given more than once.";
            field_errors.push(FieldError::new("/file", "duplicate_parameter", detail));
        }
    }
    if file.is_none() {
        field_errors.push(missing_file());
    }
    (file, field_errors)
}

fn unknown_field(name: &str) -> FieldError {
    let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
    let detail = format!("Unknown field; the only field is `{PART}`.");
    FieldError::new(pointer, "unknown_field", detail)
}

fn missing_file() -> FieldError {
    FieldError::new("/file", "required", "This field is required.")
}

fn not_a_file() -> FieldError {
    let detail = "Send the archive as `application/zip`, or as `file` of `multipart/form-data`.";
    FieldError::new("/file", "invalid_type", detail)
}
