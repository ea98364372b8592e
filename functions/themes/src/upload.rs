//! The archive in an upload: the whole body, or a part of a form.

use axum::extract::FromRequestParts;
use bytes::Bytes;
use gateway::request::{Argument, Raw, Reads, Validation};
use http::request::Parts;
use primitives::problem::{Code, FieldError, Problem};
use schemars::JsonSchema;

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

    async fn validate(case: &mut Validation<'_>) -> Result<(), Problem> {
        let (archive, field_errors) = match case.inbound.media_type().as_str() {
            "application/zip" | "application/x-zip-compressed" | "application/octet-stream" => {
                (Some(case.inbound.body.clone()), Vec::new())
            }
            "multipart/form-data" => {
                let parts = case.inbound.parts().await?;
                file_of(parts.into_iter().map(|part| (part.name, part.bytes)))
            }
            // JSON has no archive: its members get the same field errors as a form's parts.
            "" | "application/json" => {
                let fields = case.body()?;
                let names = fields.as_object().map(|fields| fields.keys().cloned().collect());
                let names: Vec<String> = names.unwrap_or_default();
                let unread = names.into_iter().filter(|name| name != PART);
                file_of(unread.map(|name| (name, Bytes::new())))
            }
            _ => {
                let detail =
                    "Send the archive as `application/zip`, or as `file` of `multipart/form-data`.";
                return Err(Code::UnsupportedMediaType.detail(detail));
            }
        };
        case.add(field_errors);
        case.insert(archive.map(Self));
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
            let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
            let detail = format!("Unknown field; the only field is `{PART}`.");
            field_errors.push(FieldError::new(pointer, "unknown_field", detail));
        } else if file.replace(bytes).is_some() {
            let detail = "This field is given more than once.";
            field_errors.push(FieldError::new("/file", "duplicate_parameter", detail));
        }
    }
    if file.is_none() {
        field_errors.push(FieldError::new("/file", "required", "This field is required."));
    }
    (file, field_errors)
}
