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

use super::built_in::Wording;
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

/// The words of the built-in text: in the reader's language, else in the store's, else in English.
fn built_in(reader: Option<&Locale>, store: &Locale) -> &'static Wording {
    let serves_reader = reader.and_then(Wording::of);
    serves_reader.or_else(|| Wording::of(store)).unwrap_or(Wording::english())
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

    /// Chooses the store's text by the reader's language, then by the store's. None if a built-in text is better: a
    /// reader whose language has one gets that rather than a text in the store's language.
    pub fn choose(&self, reader: Option<&Locale>, store: &Locale) -> Option<&NotificationText> {
        let own = |locale| serving(locale).find_map(|language| self.texts.get(&language));
        let serves_reader = reader.and_then(own);
        if serves_reader.is_some() || reader.and_then(Wording::of).is_some() {
            return serves_reader;
        }
        own(store)
    }

    /// The chosen text, or the built-in one.
    pub fn wording(&self, reader: Option<&Locale>, store: &Locale) -> MailTemplate {
        let chosen = self.choose(reader, store).map(|text| text.wording.clone());
        chosen.unwrap_or_else(|| built_in(reader, store).text(self.kind))
    }

    /// The language of the chosen text, or of the built-in one.
    pub fn language(&self, reader: Option<&Locale>, store: &Locale) -> Locale {
        let chosen = self.choose(reader, store).map(|text| text.locale.clone());
        chosen.unwrap_or_else(|| built_in(reader, store).locale())
    }

    /// Renders the mail with the chosen text. `values` are written in the language that they are given: that of the
    /// text.
    ///
    /// # Errors
    /// `internal`.
    pub fn render(
        &self,
        reader: Option<&Locale>,
        store: &Locale,
        values: impl Fn(&Locale) -> TemplateValues,
    ) -> Result<RenderedMail, Problem> {
        let render = |wording: &MailTemplate, language: &Locale| {
            wording.render(self.kind, language, &values(language))
        };
        let own = self.choose(reader, store).map(|text| render(&text.wording, &text.locale));
        // A store's text that grows too long with the order is not sent.
        if let Some(Ok(rendered)) = own {
            return Ok(rendered);
        }
        let words = built_in(reader, store);
        render(&words.text(self.kind), &words.locale())
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
            wording: Wording::english().text(NotificationKind::OrderPlaced),
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
        for (reader, store, expected, language) in [
            (Some("de-at"), "fr", Some("de-AT"), "de-AT"),
            (Some("de-CH"), "fr", Some("de"), "de"),
            (Some("it"), "fr-CA", Some("fr"), "fr"),
            (None, "fr", Some("fr"), "fr"),
            (Some("en-IN"), "fr", None, "en"),
            (Some("ja"), "fr-CA", None, "ja"),
            (Some("ja"), "en", None, "ja"),
            (Some("it"), "es-MX", None, "es"),
            (None, "hi", None, "hi"),
            (Some("it"), "pt", None, "en"),
        ] {
            assert_eq!(chosen(reader, store).as_deref(), expected, "{reader:?} {store}");
            let reader = reader.map(locale);
            let found = texts.language(reader.as_ref(), &locale(store));
            assert_eq!(found, locale(language), "{reader:?} {store}");
            let mail = texts.render(reader.as_ref(), &locale(store), |given| {
                assert_eq!(*given, found);
                TemplateValues::default()
            });
            let lang = format!("<html lang=\"{found}\">");
            assert!(mail.unwrap().html.contains(&lang), "{reader:?} {store}");
        }
        let french = none.wording(Some(&locale("fr-BE")), &locale("de"));
        assert_eq!(french.subject, "Votre commande {{ order_number }}");
    }

    #[test]
    fn a_text_that_grows_too_long_gives_way_to_the_built_in_one_of_the_reader() {
        let locale = |text: &str| Locale::from_text(text).unwrap();
        let kind = NotificationKind::OrderCancelled;
        let long = MailTemplate { subject: "Lungo".to_owned(), body: "{{ reason }}".repeat(300) };
        let texts = NotificationTexts::none(&StoreId::derive(&["a"]), kind);
        let texts = texts.with(&locale("it"), long, Timestamp::from_millis(0));
        let mail = texts.render(Some(&locale("it")), &locale("de"), |language| {
            let reason =
                if *language == locale("it") { "x".repeat(300) } else { "kurz".to_owned() };
            vec![("reason", reason)].into()
        });
        assert!(mail.unwrap().text.contains("Grund: kurz"));
    }
}
