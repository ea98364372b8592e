//! The forms of a storefront, like contact and newsletter.

use gateway::idempotency::Commit;
use std::sync::Arc;

use axum::extract::{FromRequestParts, State};
use callers::PublicStorefront;
use catalogue::form::{FORM_SUBMITTED, Filled, FormStatus, FormSubmission, MAX_BYTES, NEWSLETTER};
use core_types::fields::{Handle, Subdomain};
use core_types::id::FormSubmissionId;
use core_types::mail::Notice;
use core_types::resource::Resource;
use gateway::app::App;
use gateway::reply::Accepted;
use gateway::request::{Argument, FormPart, Inbound, Path, Raw, Reads};
use http::request::Parts;
use primitives::fields::escaped;
use primitives::problem::{Code, FieldError, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use table::Write;

/// The body of a submitted form, which the handler parses: JSON, or an HTML form in either encoding.
pub(crate) struct FormBody(Arc<Inbound>);

impl Argument for FormBody {
    const READS: Reads = Reads::BODY;

    gateway::describes! { |operation| {
        for encoding in ["application/x-www-form-urlencoded", "multipart/form-data"] {
            operation.takes_body::<std::collections::BTreeMap<String, String>>(encoding);
        }
        operation.takes_body::<Filled>("application/json");
    } }
}

impl<S: Sync> FromRequestParts<S> for FormBody {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let Raw(inbound) = Raw::from_request_parts(parts, state).await?;
        Ok(Self(inbound))
    }
}

/// The receipt of a submitted form.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FormReceipt {
    /// The submission's id.
    id: FormSubmissionId,
}

/// `POST /v1/storefront/{subdomain}/forms/{form}` (`submitForm`): Submit a form.
///
/// Accepts JSON, or an HTML form in either of the encodings that browsers send. Values of the same name, as
/// of checkboxes, are joined by `, `. Files are not accepted. A submission with its honeypot filled in gets
/// the same response, but is stored as spam without an event.
///
/// # Errors
/// `storefront_not_found`; `not_found` for an invalid form name; `body_too_large`;
/// `invalid_form`.
pub(crate) async fn submit(
    shop: PublicStorefront,
    State(app): State<App>,
    Path((_, form)): Path<(Subdomain, Handle)>,
    FormBody(inbound): FormBody,
) -> Result<Accepted<FormReceipt>, Problem> {
    if inbound.body.len() > MAX_BYTES {
        return Err(Code::BodyTooLarge.with("limit", MAX_BYTES));
    }
    let filled = filled(&inbound).await?;
    let now = app.clock.now();
    let source = inbound.client_prefix();
    let submission = FormSubmission::submit(&shop.store().id, form, filled, source, now);
    let wanted = submission.status != FormStatus::Spam;
    let event = wanted.then(|| submission.event(&FORM_SUBMITTED, now));
    let is_message = submission.form.as_str() != NEWSLETTER;
    let event =
        event.map(|event| if is_message { event.with_mail(Notice::FormSubmitted) } else { event });
    app.table
        .write()
        .create(&submission, Code::VersionConflict)
        .when_some(event, Write::emit)
        .answer(Accepted::new(&FormReceipt { id: submission.id.clone() }), now)
        .await
}

/// Reads the fields of a request: `{"fields": {…}}` as JSON, or an HTML form in either encoding.
///
/// # Errors
/// `validation_failed` with every field error; `invalid_form`.
async fn filled(inbound: &Inbound) -> Result<Filled, Problem> {
    match inbound.media_type().as_str() {
        "application/x-www-form-urlencoded" => {
            std::str::from_utf8(&inbound.body).map_err(|_| Code::InvalidForm)?;
            Filled::of_form(form_urlencoded::parse(&inbound.body).into_owned())
        }
        "multipart/form-data" => Filled::of_form(texts(inbound.parts().await?)?),
        _ => Filled::of_json(inbound.json()?.clone()),
    }
}

/// The names and texts of a form's parts. Browsers send an empty file where none was chosen.
fn texts(parts: Vec<FormPart>) -> Result<Vec<(String, String)>, Problem> {
    let (mut pairs, mut errors) = (Vec::new(), Vec::new());
    for FormPart { name, is_file, bytes } in parts {
        if is_file && !bytes.is_empty() {
            let pointer = format!("/{}", escaped(&name));
            errors.push(FieldError::new(
                pointer,
                "file_rejected",
                "Files are not allowed in a form.",
            ));
        } else if !is_file {
            pairs.push((name, String::from_utf8(bytes.into()).map_err(|_| Code::InvalidForm)?));
        }
    }
    if errors.is_empty() { Ok(pairs) } else { Err(Problem::invalid(errors)) }
}
