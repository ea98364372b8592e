//! A store's own words for its mails, by language.

use std::collections::BTreeMap;

use core_types::event::{EXAMPLE_TIME, EventSubject, Example};
use core_types::fields::Locale;
use core_types::id::StoreId;
use core_types::key;
use core_types::mail::MailContent;
use primitives::clock::Timestamp;
use table::item::{Item, Key};
use primitives::problem::Problem;
use serde::{Deserialize, Serialize};

use super::built_in;
use super::kind::NotificationKind;
use super::template::{Rendered, Values, Wording};

core_types::topics! {
    NOTIFICATION_TEXT_UPDATED = "notification_text.updated", "notification_text",
        Some("read_content"), NotificationTextView, "A store changed the words of a mail, in a language.";
    NOTIFICATION_TEXT_DELETED = "notification_text.deleted", "notification_text",
        Some("read_content"), NotificationTextView,
        "A store removed its words of a mail, in a language.";
}

/// Languages of one mail.
pub const MAX_LANGUAGES: usize = 20;
/// The language of the words that are built in.
const BUILT_IN: &str = "en";

/// A store's words for a mail in a language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotificationText {
    /// What it says.
    #[serde(flatten)]
    pub wording: Wording,
    /// The language, as it was named.
    pub locale: Locale,
    /// When it was written first.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Counts writes of it.
    pub version: u64,
}

/// A store's words for a mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotificationTexts {
    /// Part of the key.
    pub store_id: StoreId,
    /// Which mail.
    pub kind: NotificationKind,
    /// By language, in lower case.
    pub texts: BTreeMap<String, NotificationText>,
    /// Optimistic lock: one more with each write.
    pub version: u64,
}

impl Item for NotificationTexts {
    const KIND: &'static str = "notification_texts";
    fn key(&self) -> Key {
        key::notification_texts(&self.store_id, self.kind.as_str())
    }
    fn version(&self) -> u64 {
        self.version
    }
}

fn in_lower_case(locale: &Locale) -> String {
    locale.as_str().to_ascii_lowercase()
}

/// The languages that serve who reads this one, best first.
fn serving(locale: &Locale) -> impl Iterator<Item = String> {
    let whole = in_lower_case(locale);
    let language = whole.split('-').next().unwrap_or_default().to_owned();
    let shorter = (language != whole).then_some(language);
    std::iter::once(whole).chain(shorter)
}

impl NotificationTexts {
    /// None yet: version 0.
    pub fn none(store: &StoreId, kind: NotificationKind) -> Self {
        Self { store_id: store.clone(), kind, texts: BTreeMap::new(), version: 0 }
    }

    /// The words in a language.
    pub fn get(&self, locale: &Locale) -> Option<&NotificationText> {
        self.texts.get(&in_lower_case(locale))
    }

    /// With these words in a language, in place of what was there.
    #[must_use]
    pub fn with(&self, locale: &Locale, wording: Wording, now: Timestamp) -> Self {
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

    /// Without its words in a language.
    #[must_use]
    pub fn without(&self, locale: &Locale) -> Self {
        let mut texts = self.texts.clone();
        texts.remove(&in_lower_case(locale));
        Self { texts, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// The words for who reads one language, at a store of another. Words that are built in serve who
    /// reads English before the store's language does.
    pub fn choose(&self, reader: Option<&Locale>, store: &Locale) -> Option<&NotificationText> {
        let wanted = reader.into_iter().flat_map(serving).collect::<Vec<_>>();
        let serves_reader = wanted.iter().find_map(|language| self.texts.get(language));
        if serves_reader.is_some() || wanted.iter().any(|language| language == BUILT_IN) {
            return serves_reader;
        }
        serving(store).find_map(|language| self.texts.get(&language))
    }

    /// The words for them, or those that are built in.
    pub fn wording(&self, reader: Option<&Locale>, store: &Locale) -> Wording {
        let chosen = self.choose(reader, store).map(|text| text.wording.clone());
        chosen.unwrap_or_else(|| built_in::wording(self.kind))
    }

    /// The mail that says it.
    ///
    /// # Errors
    /// `internal`.
    pub fn render(
        &self,
        reader: Option<&Locale>,
        store: &Locale,
        values: &Values,
    ) -> Result<Rendered, Problem> {
        self.wording(reader, store).render(self.kind, values)
    }

    /// What events say they are about.
    pub fn about<'a>(&'a self, view: &'a NotificationTextView) -> EventSubject<'a> {
        EventSubject {
            store: Some(&self.store_id),
            app: None,
            entity: &view.id,
            version: view.version,
        }
    }

    /// All of them, as they are shown.
    pub fn views(&self) -> impl Iterator<Item = NotificationTextView> {
        self.texts.values().map(|text| NotificationTextView::of(text, self.kind))
    }
}

impl Rendered {
    /// The mail to somebody.
    pub fn to(self, mail: MailContent) -> MailContent {
        MailContent { subject: self.subject, text: self.text, ..mail }
    }
}

core_types::view! {
    /// A store's words for a mail in a language.
    NotificationTextView of (text: NotificationText, kind: NotificationKind) {
        /// The mail and the language: what tells a store's texts apart.
        id: String = format!("{}.{}", kind.as_str(), in_lower_case(&text.locale)),
        /// Which mail.
        kind: NotificationKind = kind,
        /// The language.
        locale: Locale,
        /// The subject, with placeholders.
        subject: String = text.wording.subject.clone(),
        /// The text, with placeholders.
        body: String = text.wording.body.clone(),
        /// When it was written first.
        created_at: Timestamp,
        /// When it was changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
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
        let words = |text: &str| Wording { subject: text.to_owned(), body: text.to_owned() };
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
