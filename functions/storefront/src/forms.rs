//! The forms of a storefront: contact, newsletter, whatever the theme has.

use axum::extract::State;
use catalogue::form::{FORM_SUBMITTED, Filled, FormStatus, FormSubmission, MAX_BYTES};
use gateway::app::App;
use gateway::problem::{Code, Problem};
use gateway::reply::Accepted;
use gateway::request::{FromText, Whole};
use gateway::table::Write;
use ground::fields::Handle;
use ground::id::FormSubmissionId;
use ground::resource::Resource;
use identity::storefront::Shopfront;
use schemars::JsonSchema;
use serde::Serialize;

/// A form that was taken.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FormReceipt {
    /// The submission's id.
    id: FormSubmissionId,
}

/// `POST /v1/storefront/{subdomain}/forms/{form}`: takes what a visitor filled in: JSON or an HTML
/// form, in either of the encodings that browsers send; texts of one name, as boxes to tick have,
/// are joined by `, `. A form takes no files. A submission with its honeypot filled in gets the
/// same answer, and is filed as spam without telling anybody.
///
/// # Errors
/// `store_not_found`; `not_found` for what cannot be a form's name; `body_too_large`;
/// `invalid_form`.
pub(crate) async fn submit(
    shop: Shopfront,
    State(app): State<App>,
    Whole(inbound): Whole,
) -> Result<Accepted<FormReceipt>, Problem> {
    let form = inbound.param("form").unwrap_or_default();
    let form = Handle::from_text(form).map_err(|_| Code::NotFound)?;
    if inbound.body.len() > MAX_BYTES {
        return Err(Code::BodyTooLarge.with("limit", MAX_BYTES));
    }
    let filled = Filled::read(&inbound).await?;
    let now = app.clock.now();
    let source = inbound.client_prefix();
    let submission = FormSubmission::submit(&shop.store().id, form, filled, source, now);
    let wanted = submission.status != FormStatus::Spam;
    let event = wanted.then(|| submission.event(&FORM_SUBMITTED, now));
    app.table
        .write()
        .create(&submission, Code::VersionConflict)
        .also(event, Write::emit)
        .answer(Accepted::new(&FormReceipt { id: submission.id.clone() }), now)
        .await
}
