//! Books: small entries of a store that are read together and changed rarely, in one item: its
//! shipping zones, the tax rates of a country. A checkout reads a book at the price of its size; who
//! changes an entry replaces the book under its version, and the entry has a version of its own.

use core_types::event::{Event, EventSubject, Example, Topic};
use core_types::id::StoreId;
use gateway::app::App;
use primitives::clock::Timestamp;
use table::item::{Item, Key, Packing};
use primitives::problem::{Code, Problem};
use gateway::reply::{Created, Json, NoContent};
use gateway::request::IfMatch;
use table::{Write, retry};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What a book holds.
pub trait Entry: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync {
    /// The `entity` attribute of its book.
    const KIND: &'static str;
    /// How it is shown.
    type View: Example + for<'a> From<&'a Self>;

    /// The key of the book that it is in.
    fn document(&self) -> Key;
    /// What an event says it is about.
    fn event_subject(&self) -> EventSubject<'_>;
    /// The entry at its next version.
    #[must_use]
    fn changed(&self, now: Timestamp) -> Self;

    /// As it is shown, with its version as the `ETag`.
    fn to_response(&self) -> Json<Self::View> {
        Json::new(&Self::View::from(self)).version(self.event_subject().version)
    }

    /// What has happened to it.
    fn event(&self, topic: &Topic<Self::View>, now: Timestamp) -> Event {
        Event::new(topic, self.event_subject(), &Self::View::from(self), now)
    }
}

/// Entries in one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "E: Entry")]
pub struct Document<E> {
    /// Partition key.
    pk: String,
    /// Sort key.
    sk: String,
    /// In the order in which they were made.
    pub entries: Vec<E>,
    /// One more with each write of any of them; 0 while there is none.
    version: u64,
}

impl<E: Entry> Item for Document<E> {
    const KIND: &'static str = E::KIND;
    const PACKING: Option<Packing> = Some(Packing::WHOLE);
    fn key(&self) -> Key {
        Key::new(self.pk.clone(), self.sk.clone())
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl<E: Entry> Document<E> {
    /// The book of this key before anything is in it.
    pub fn empty(key: Key) -> Self {
        Self { pk: key.pk, sk: key.sk, entries: Vec::new(), version: 0 }
    }

    /// Reads a book.
    ///
    /// # Errors
    /// 503.
    pub async fn load(app: &App, key: Key) -> Result<Self, Problem> {
        Ok(app.table.get(&key).await?.unwrap_or_else(|| Self::empty(key)))
    }

    /// The entry of this id.
    ///
    /// # Errors
    /// `not_found`.
    pub fn entry(&self, id: &str) -> Result<&E, Problem> {
        let found = self.entries.iter().find(|entry| entry.event_subject().entity == id);
        found.ok_or_else(|| Code::NotFound.into())
    }

    /// The entries but the one of this id: those that another must not collide with.
    pub fn others<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a E> {
        self.entries.iter().filter(move |entry| entry.event_subject().entity != id)
    }

    /// The book at its next version, with this entry in place of the one of its id, or at the end.
    #[must_use]
    pub fn with(&self, entry: E) -> Self {
        let mut next = Self { version: self.version.saturating_add(1), ..self.clone() };
        let id = entry.event_subject().entity.to_owned();
        match next.entries.iter_mut().find(|known| known.event_subject().entity == id) {
            Some(known) => *known = entry,
            None => next.entries.push(entry),
        }
        next
    }

    /// The book at its next version, without this entry.
    #[must_use]
    pub fn without(&self, id: &str) -> Self {
        let entries = self.others(id).cloned().collect();
        Self { entries, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// Adds its new version to a transaction.
    pub fn write(&self, write: Write) -> Write {
        write.create_or_replace(self, Code::VersionConflict)
    }
}

/// Adds an entry to its book: `validate` says what the book has against it.
///
/// # Errors
/// What `validate` rejects with.
pub async fn add<E: Entry>(
    app: &App,
    entry: E,
    topic: &Topic<E::View>,
    validate: impl Fn(&Document<E>, &E) -> Result<(), Problem>,
) -> Result<Created<E::View>, Problem> {
    let (entry, validate) = (&entry, &validate);
    retry(|| async move {
        let now = app.clock.now();
        let document = Document::load(app, entry.document()).await?;
        validate(&document, entry)?;
        let created = Created::new(&E::View::from(entry)).version(entry.event_subject().version);
        document
            .with(entry.clone())
            .write(app.table.write())
            .emit(entry.event(topic, now))
            .answer(created, now)
            .await
    })
    .await
}

/// Changes an entry to what `next` makes of it, unless that is the same.
///
/// # Errors
/// `not_found`, `precondition_failed`; what `next` and `validate` reject with.
pub async fn change<E: Entry>(
    app: &App,
    (key, id): (Key, &str),
    if_match: IfMatch,
    topic: &Topic<E::View>,
    next: impl Fn(&E) -> Result<E, Problem>,
    validate: impl Fn(&Document<E>, &E) -> Result<(), Problem>,
) -> Result<Json<E::View>, Problem> {
    let (key, if_match, next, validate) = (&key, &if_match, &next, &validate);
    retry(|| async move {
        let now = app.clock.now();
        let document = Document::<E>::load(app, key.clone()).await?;
        let before = document.entry(id)?;
        if_match.check(before.event_subject().version)?;
        let wanted = next(before)?;
        if wanted == *before {
            return Ok(before.to_response());
        }
        let after = wanted.changed(now);
        validate(&document, &after)?;
        document
            .with(after.clone())
            .write(app.table.write())
            .emit(after.event(topic, now))
            .answer(after.to_response(), now)
            .await
    })
    .await
}

/// Takes an entry out of its book.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub async fn remove<E: Entry>(
    app: &App,
    (key, id): (Key, &str),
    if_match: IfMatch,
    topic: &Topic<E::View>,
) -> Result<NoContent, Problem> {
    let (key, if_match) = (&key, &if_match);
    retry(|| async move {
        let now = app.clock.now();
        let document = Document::<E>::load(app, key.clone()).await?;
        let before = document.entry(id)?;
        if_match.check(before.event_subject().version)?;
        let gone = before.changed(now);
        document
            .without(id)
            .write(app.table.write())
            .emit(gone.event(topic, now))
            .answer(NoContent::default(), now)
            .await
    })
    .await
}

/// What identifies an entry of a store.
pub(crate) fn about<'a>(store: &'a StoreId, entity: &'a str, version: u64) -> EventSubject<'a> {
    EventSubject { store: Some(store), app: None, entity, version }
}
