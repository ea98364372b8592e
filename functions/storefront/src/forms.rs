//! The forms of a storefront: contact, newsletter, whatever the theme has.

use axum::extract::State;
use catalogue::form::{
    FORM_SUBMITTED, Filled, FormStatus, FormSubmission, FormSubmissionView, MAX_BYTES,
};
use gateway::answer::Answer;
use gateway::app::App;
use gateway::problem::{Code, Problem};
use gateway::request::{FromText, Whole};
use gateway::table::Write;
use ground::event::Event;
use ground::fields::Handle;
use identity::storefront::Shopfront;
use serde_json::json;

/// `POST /v1/storefront/{subdomain}/forms/{form}` — takes what a visitor filled in: JSON or an HTML
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
) -> Result<Answer, Problem> {
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
    let view = FormSubmissionView::from(&submission);
    let event = wanted.then(|| Event::new(&FORM_SUBMITTED, submission.about(), &view, now));
    app.table
        .write()
        .create(&submission, Code::VersionConflict)
        .also(event, Write::emit)
        .answer(Answer::accepted(&json!({"id": submission.id})), now)
        .await
}
