//! Handlers of mail templates: a store's own texts of mails to shoppers, by language.

use axum::extract::State;
use callers::StoreAccess;
use core_types::event::{Event, Topic};
use core_types::fields::Locale;
use core_types::id::StoreId;
use core_types::key;
use core_types::scope::{ReadContent, WriteContent};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::page::Paging;
use gateway::reply::{Json, Page};
use gateway::request::{Body, IfMatch, Path};
use primitives::fields::Text;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use sales::notifications::{
    MAX_LANGUAGES, MailTemplate, NOTIFICATION_TEXT_DELETED, NOTIFICATION_TEXT_UPDATED,
    NotificationKind, NotificationText, NotificationTextView, NotificationTexts, RenderedMail,
};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;
use table::{Query, Write, retry};

use crate::configuration::written;

/// `GET /v1/stores/{id}/notifications` (`listMailTemplates`): List mail templates of a store.
///
/// Only templates that the store has written are listed.
///
/// # Errors
/// `invalid_cursor`.
pub(crate) async fn list(
    caller: StoreAccess<ReadContent>,
    State(app): State<App>,
    Path(_): Path<StoreId>,
    paging: Paging,
) -> Result<Page<NotificationTextView>, Problem> {
    let of_store = Query::partition(key::store(&caller.store.id).pk);
    let texts = of_store.begins_with(key::NOTIFICATION_TEXTS);
    let all: Vec<NotificationTexts> = app.table.all(&texts, NotificationKind::ALL.len()).await?;
    let views = all.iter().flat_map(NotificationTexts::views).collect();
    paging.slice(&app, views, |view: &NotificationTextView| view.id.clone()).await
}

async fn texts(
    services: &Services,
    store: &StoreId,
    kind: NotificationKind,
) -> Result<NotificationTexts, Problem> {
    let key = key::notification_texts(store, kind.as_str());
    Ok(services.table.get(&key).await?.unwrap_or_else(|| NotificationTexts::none(store, kind)))
}

fn to_response(text: &NotificationText, kind: NotificationKind) -> Json<NotificationTextView> {
    Json::new(&NotificationTextView::of(text, kind)).version(text.version)
}

/// `GET /v1/stores/{id}/notifications/{kind}/{locale}` (`getMailTemplate`): Get a mail template in a language.
///
/// Only a template that the store has written is found.
///
/// # Errors
/// `not_found`: there is no such mail, or the store has no template for it in this language.
pub(crate) async fn get(
    caller: StoreAccess<ReadContent>,
    State(app): State<App>,
    Path((_, kind, locale)): Path<(StoreId, NotificationKind, Locale)>,
) -> Result<Json<NotificationTextView>, Problem> {
    let texts = texts(&app, &caller.store.id, kind).await?;
    texts.get(&locale).map(|text| to_response(text, kind)).ok_or_else(|| Code::NotFound.into())
}

/// A mail template in one language.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct TextRequest {
    /// The subject. Placeholders are written `{{ order_number }}`.
    subject: Text<1, 200>,
    /// The text. `{% if link %} … {% else %} … {% endif %}` tests whether a placeholder has a value.
    body: Text<1, 4_000>,
}

impl From<TextRequest> for MailTemplate {
    fn from(input: TextRequest) -> Self {
        Self { subject: input.subject.into(), body: input.body.into() }
    }
}

/// Begins the write of a mail's templates, with the event about the one in one language.
fn save(
    services: &Services,
    texts: &NotificationTexts,
    topic: &Topic<NotificationTextView>,
    text: &NotificationText,
) -> Write {
    let view = NotificationTextView::of(text, texts.kind);
    let event = Event::new(topic, texts.subject_of(&view), &view, services.clock.now());
    written(services.table.write(), texts).emit(event)
}

/// `PUT /v1/stores/{id}/notifications/{kind}/{locale}` (`setMailTemplate`): Create or replace a mail template.
///
/// Mails of this kind in this language then use the store's template.
///
/// # Errors
/// `not_found`: there is no such mail; `precondition_failed`; `language_limit`; `invalid_template`,
/// `unknown_placeholder`, `placeholder_not_allowed`, `placeholder_required`, `link_not_allowed` as field
/// errors of `/subject` and `/body`.
pub(crate) async fn put(
    caller: StoreAccess<WriteContent>,
    State(app): State<App>,
    Path((_, kind, locale)): Path<(StoreId, NotificationKind, Locale)>,
    if_match: IfMatch,
    Body(input): Body<TextRequest>,
) -> Result<Json<NotificationTextView>, Problem> {
    let wording = MailTemplate::from(input);
    wording.validate(kind)?;
    retry(|| async {
        let now = app.clock.now();
        let before = texts(&app, &caller.store.id, kind).await?;
        if_match.check(before.get(&locale).map_or(0, |text| text.version))?;
        let after = before.with(&locale, wording.clone(), now);
        if after.texts.len() > MAX_LANGUAGES {
            return Err(Code::LanguageLimit.with("limit", MAX_LANGUAGES));
        }
        let Some(text) = after.get(&locale) else { return Err(Code::NotFound.into()) };
        save(&app, &after, &NOTIFICATION_TEXT_UPDATED, text)
            .answer(to_response(text, kind), now)
            .await
    })
    .await
}

/// `DELETE /v1/stores/{id}/notifications/{kind}/{locale}` (`deleteMailTemplate`): Delete a mail template.
///
/// The platform's text is used again. The response is the deleted template.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub(crate) async fn delete(
    caller: StoreAccess<WriteContent>,
    State(app): State<App>,
    Path((_, kind, locale)): Path<(StoreId, NotificationKind, Locale)>,
    if_match: IfMatch,
) -> Result<Json<NotificationTextView>, Problem> {
    retry(|| async {
        let now = app.clock.now();
        let before = texts(&app, &caller.store.id, kind).await?;
        let Some(text) = before.get(&locale) else { return Err(Code::NotFound.into()) };
        if_match.check(text.version)?;
        let after = before.without(&locale);
        save(&app, &after, &NOTIFICATION_TEXT_DELETED, text)
            .answer(to_response(text, kind), now)
            .await
    })
    .await
}

/// A template to preview; omitted fields have the text that a mail would have.
#[request]
#[derive(Debug, Clone)]
pub(crate) struct PreviewRequest {
    /// The language of the reader; the store's by default.
    locale: Option<Locale>,
    /// The subject.
    subject: Option<Text<1, 200>>,
    /// The text.
    body: Option<Text<1, 4_000>>,
}

/// The preview of a mail.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "MailPreview")]
pub(crate) struct Preview {
    /// The kind of the mail.
    kind: NotificationKind,
    /// The template that was used.
    wording: MailTemplate,
    /// The rendered mail.
    rendered: RenderedMail,
    /// The placeholders that the mail can have, with their values in this preview.
    placeholders: Vec<PlaceholderView>,
}

/// A placeholder of a mail template.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PlaceholderView {
    /// Its name.
    name: &'static str,
    /// The value in a preview.
    sample: &'static str,
    /// Whether the body must contain it.
    required: bool,
}

/// `POST /v1/stores/{id}/notifications/{kind}/preview` (`previewMailTemplate`): Preview a mail template.
///
/// The template is rendered with sample values. Nothing is stored or mailed.
///
/// # Errors
/// `not_found`: there is no such mail; the field errors of `setMailTemplate`.
pub(crate) async fn preview(
    caller: StoreAccess<ReadContent>,
    State(app): State<App>,
    Path((_, kind)): Path<(StoreId, NotificationKind)>,
    Body(input): Body<PreviewRequest>,
) -> Result<Json<Preview>, Problem> {
    let texts = texts(&app, &caller.store.id, kind).await?;
    let used = texts.wording(input.locale.as_ref(), &caller.store.locale);
    let wording = MailTemplate {
        subject: input.subject.map_or(used.subject, String::from),
        body: input.body.map_or(used.body, String::from),
    };
    wording.validate(kind)?;
    let view = |one: &sales::notifications::Placeholder| PlaceholderView {
        name: one.name,
        sample: one.sample,
        required: kind.required() == Some(one.name),
    };
    let placeholders = kind.placeholders().iter().map(view).collect();
    let language = texts.language(input.locale.as_ref(), &caller.store.locale);
    let rendered = wording.preview(kind, &language)?;
    Ok(Json::new(&Preview { kind, wording, rendered, placeholders }))
}
