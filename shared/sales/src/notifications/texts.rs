//! A store's own mail texts, by language.

use std::collections::BTreeMap;

use core_types::event::{EXAMPLE_TIME, EventSubject, Example};
use core_types::fields::Locale;
use core_types::id::StoreId;
use core_types::key;
use core_types::mail::MailContent;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};
use table::item::Item;

use super::built_in;
use super::kind::NotificationKind;
use super::template::{MailTemplate, RenderedMail, TemplateValues};

core_types::topics! {
    NOTIFICATION_TEXT_UPDATED = "notification_text.updated", "notification_text",
        Some("read_content"), NotificationTextView, "A store changed a mail template, in a language.";
    NOTIFICATION_TEXT_DELETED = "notification_text.deleted", "notification_text",
        Some("read_content"), NotificationTextView,
        "A store removed its mail template, in a language.";
}

/// The languages that one mail can have texts in.
pub const MAX_LANGUAGES: usize = 20;
/// The language of the built-in texts.
const BUILT_IN: &str = "en";

/// A store's text of a mail in one language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotificationText {
    /// The subject and body.
    #[serde(flatten)]
    pub wording: MailTemplate,
    /// The language, as the request spelled it.
    pub locale: Locale,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Grows by 1 with each write of this text.
    pub version: u64,
}

/// A store's texts of one mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "notification_texts")]
#[item(key = key::notification_texts(&self.store_id, self.kind.as_str()))]
pub struct NotificationTexts {
    /// The store.
    pub store_id: StoreId,
    /// The mail.
    pub kind: NotificationKind,
    /// The texts by language, in lower case.
    pub texts: BTreeMap<String, NotificationText>,
    /// The optimistic lock: grows by 1 with each write.
    pub version: u64,
}

fn in_lower_case(locale: &Locale) -> String {
    locale.as_str().to_ascii_lowercase()
}

/// The languages to choose from for a reader of this one, best first: `de-at`, then `de`.
fn serving(locale: &Locale) -> impl Iterator<Item = String> {
    let whole = in_lower_case(locale);
    let language = whole.split('-').next().unwrap_or_default().to_owned();
    let shorter = (language != whole).then_some(language);
    std::iter::once(whole).chain(shorter)
}

impl NotificationTexts {
    /// No texts yet: version 0.
    pub fn none(store: &StoreId, kind: NotificationKind) -> Self {
        Self { store_id: store.clone(), kind, texts: BTreeMap::new(), version: 0 }
    }

    /// The text in exactly this language.
    pub fn get(&self, locale: &Locale) -> Option<&NotificationText> {
        self.texts.get(&in_lower_case(locale))
    }

    /// Adds or replaces the text in a language.
    #[must_use]
    pub fn with(&self, locale: &Locale, wording: MailTemplate, now: Timestamp) -> Self {
        let before = self.get(locale);
        let text = NotificationText {
            wording,
            locale: locale.clone(),
            created_at: before.map_or(now, |before| before.created_at),
            updated_at: now,
            version: before.map_or(1, |before| before.version.saturating_add(1)),
        };
        let mut texts = self.texts.clone();
        texts.insert(in_lower_case(locale), text);
        Self { texts, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// Removes the text in a language.
    #[must_use]
    pub fn without(&self, locale: &Locale) -> Self {
        let mut texts = self.texts.clone();
        texts.remove(&in_lower_case(locale));
        Self { texts, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// Chooses the text by the reader's language, then by the store's. A reader of English gets the built-in
    /// text rather than one in the store's language.
    pub fn choose(&self, reader: Option<&Locale>, store: &Locale) -> Option<&NotificationText> {
        let wanted = reader.into_iter().flat_map(serving).collect::<Vec<_>>();
        let serves_reader = wanted.iter().find_map(|language| self.texts.get(language));
        if serves_reader.is_some() || wanted.iter().any(|language| language == BUILT_IN) {
            return serves_reader;
        }
        serving(store).find_map(|language| self.texts.get(&language))
    }

    /// The chosen text, or the built-in one.
    pub fn wording(&self, reader: Option<&Locale>, store: &Locale) -> MailTemplate {
        let chosen = self.choose(reader, store).map(|text| text.wording.clone());
        chosen.unwrap_or_else(|| built_in::wording(self.kind))
    }

    /// The language of the chosen text, or of the built-in one.
    pub fn language(&self, reader: Option<&Locale>, store: &Locale) -> Locale {
        self.choose(reader, store).map(|text| text.locale.clone()).unwrap_or_default()
    }

    /// Renders the mail with the chosen text.
    ///
    /// # Errors
    /// `internal`.
    pub fn render(
        &self,
        reader: Option<&Locale>,
        store: &Locale,
        values: &TemplateValues,
    ) -> Result<RenderedMail, Problem> {
        let chosen = self.choose(reader, store);
        let own = chosen.map(|text| text.wording.render(self.kind, &text.locale, values));
        match own {
            Some(Ok(rendered)) => Ok(rendered),
            // A store's text that grows too long with the order is not sent.
            Some(Err(_)) | None => {
                built_in::wording(self.kind).render(self.kind, &Locale::default(), values)
            }
        }
    }

    /// The subject of the events of a text.
    pub fn subject_of<'a>(&'a self, view: &'a NotificationTextView) -> EventSubject<'a> {
        EventSubject {
            store: Some(&self.store_id),
            app: None,
            entity: &view.id,
            version: view.version,
        }
    }

    /// All texts as responses.
    pub fn views(&self) -> impl Iterator<Item = NotificationTextView> {
        self.texts.values().map(|text| NotificationTextView::of(text, self.kind))
    }
}

impl RenderedMail {
    /// Fills the subject, text and HTML into a mail.
    pub fn to(self, mail: MailContent) -> MailContent {
        MailContent { subject: self.subject, text: self.text, html: Some(self.html), ..mail }
    }
}

core_types::view! {
    /// A store's text of a mail in one language.
    NotificationTextView of (text: NotificationText, kind: NotificationKind) {
        /// The mail and the language, unique within the store.
        id: String = format!("{}.{}", kind.as_str(), in_lower_case(&text.locale)),
        /// The mail.
        kind: NotificationKind = kind,
        /// The language.
        locale: Locale,
        /// The subject, with placeholders.
        subject: String = text.wording.subject.clone(),
        /// The text, with placeholders.
        body: String = text.wording.body.clone(),
        /// When it was created.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version for `If-Match`.
        version: u64,
    }
}

impl Example for NotificationTextView {
    fn example() -> Self {
        let text = NotificationText {
            wording: built_in::wording(NotificationKind::OrderPlaced),
            locale: Locale::default(),
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        };
        Self::of(&text, NotificationKind::OrderPlaced)
    }
}

#[cfg(test)]
mod tests {
    use primitives::fields::FromText;

    use super::*;

    #[test]
    fn the_nearest_language_is_chosen() {
        let now = Timestamp::from_millis(0);
        let locale = |text: &str| Locale::from_text(text).unwrap();
        let words = |text: &str| MailTemplate { subject: text.to_owned(), body: text.to_owned() };
        let none = NotificationTexts::none(&StoreId::derive(&["a"]), NotificationKind::OrderPlaced);
        let texts = ["fr", "de", "de-AT"].iter().fold(none.clone(), |texts, language| {
            texts.with(&locale(language), words(language), now)
        });
        let chosen = |reader: Option<&str>, store: &str| {
            let reader = reader.map(locale);
            texts.choose(reader.as_ref(), &locale(store)).map(|text| text.wording.subject.clone())
        };
        for (reader, store, expected) in [
            (Some("de-at"), "fr", Some("de-AT")),
            (Some("de-CH"), "fr", Some("de")),
            (Some("ja"), "fr-CA", Some("fr")),
            (None, "fr", Some("fr")),
            (Some("en-IN"), "fr", None),
            (Some("ja"), "en", None),
        ] {
            assert_eq!(chosen(reader, store).as_deref(), expected, "{reader:?} {store}");
        }
        let built_in = none.wording(Some(&locale("fr")), &locale("fr"));
        assert_eq!(built_in, built_in::wording(NotificationKind::OrderPlaced));
    }
}
