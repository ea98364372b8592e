//! Documents: small entries of a store that are read together and rarely changed, in one item. Examples are
//! the shipping zones of a store and the tax rates of a country.
//!
//! A checkout reads a whole document, at the cost of its size. Changing an entry replaces the document on
//! condition of its version; the entry has a version of its own.

use core_types::event::{Event, EventSubject, Example, Topic};
use core_types::id::StoreId;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use primitives::version::ExpectedVersion;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::{Item, Key, Packing};
use table::{Completion, Write, retry};

/// An entry of a document.
pub trait PricingEntry: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync {
    /// The `entity` attribute of the document.
    const KIND: &'static str;
    /// The representation in responses and events.
    type View: Example + for<'a> From<&'a Self>;

    /// The key of the document that holds the entry.
    fn document_key(&self) -> Key;
    /// The subject of the entry's events.
    fn event_subject(&self) -> EventSubject<'_>;
    /// The entry at its next version.
    #[must_use]
    fn changed(&self, now: Timestamp) -> Self;

    /// Ensures that its document has room for the entry, and no other that it collides with.
    ///
    /// # Errors
    /// The entry's own.
    fn ensure_fits(&self, _document: &PricingDocument<Self>) -> Result<(), Problem> {
        Ok(())
    }

    /// An event of the entry.
    fn event(&self, topic: &Topic<Self::View>, now: Timestamp) -> Event {
        Event::new(topic, self.event_subject(), &Self::View::from(self), now)
    }
}

/// All entries of a document, stored in one item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "E: PricingEntry")]
pub struct PricingDocument<E> {
    /// Partition key.
    pk: String,
    /// Sort key.
    sk: String,
    /// The entries in the order of their creation.
    pub entries: Vec<E>,
    /// Grows by 1 with each write of any entry; 0 before the first.
    version: u64,
}

impl<E: PricingEntry> Item for PricingDocument<E> {
    const KIND: &'static str = E::KIND;
    const PACKING: Option<Packing> = Some(Packing::ALL);
    fn key(&self) -> Key {
        Key::new(self.pk.clone(), self.sk.clone())
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl<E: PricingEntry> PricingDocument<E> {
    /// An empty document, which is not stored yet.
    pub fn empty(key: Key) -> Self {
        Self { pk: key.pk, sk: key.sk, entries: Vec::new(), version: 0 }
    }

    /// Loads a document; an empty one if none is stored.
    ///
    /// # Errors
    /// 503.
    pub async fn load(services: &Services, key: Key) -> Result<Self, Problem> {
        Ok(services.table.get(&key).await?.unwrap_or_else(|| Self::empty(key)))
    }

    /// The entry of this id.
    ///
    /// # Errors
    /// `not_found`.
    pub fn entry(&self, id: &str) -> Result<&E, Problem> {
        let found = self.entries.iter().find(|entry| entry.event_subject().entity == id);
        found.ok_or_else(|| Code::NotFound.into())
    }

    /// All other entries: those that the entry of this id must not collide with.
    pub fn others<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a E> {
        self.entries.iter().filter(move |entry| entry.event_subject().entity != id)
    }

    /// The document at its next version: replaces the entry with the same id, or appends it.
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

    /// The document at its next version, without this entry.
    #[must_use]
    pub fn without(&self, id: &str) -> Self {
        let entries = self.others(id).cloned().collect();
        Self { entries, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// Adds the write of this document to a transaction, on condition of the version before it.
    pub fn write(&self, write: Write) -> Write {
        write.create_or_replace(self, Code::VersionConflict)
    }
}

/// Adds an entry to its document.
///
/// # Errors
/// Those of [`PricingEntry::ensure_fits`].
pub async fn add<E: PricingEntry, C: Completion<E>>(
    services: &Services,
    entry: E,
    topic: &Topic<E::View>,
    completion: &C,
) -> Result<C::Output, Problem> {
    let entry = &entry;
    retry(|| async move {
        let now = services.clock.now();
        let document = PricingDocument::load(services, entry.document_key()).await?;
        entry.ensure_fits(&document)?;
        let write = document.with(entry.clone()).write(services.table.write());
        completion.commit(write.emit(entry.event(topic, now)), entry, now).await
    })
    .await
}

/// Replaces an entry with the result of `next`; writes nothing if that is equal.
///
/// # Errors
/// `not_found`, `precondition_failed`; those of `next` and [`PricingEntry::ensure_fits`].
pub async fn change<E: PricingEntry, C: Completion<E>>(
    services: &Services,
    (key, id): (Key, &str),
    expected: ExpectedVersion,
    topic: &Topic<E::View>,
    next: impl Fn(&E) -> Result<E, Problem>,
    completion: &C,
) -> Result<C::Output, Problem> {
    let (key, next) = (&key, &next);
    retry(|| async move {
        let now = services.clock.now();
        let document = PricingDocument::<E>::load(services, key.clone()).await?;
        let before = document.entry(id)?;
        expected.check(before.event_subject().version)?;
        let wanted = next(before)?;
        if wanted == *before {
            return Ok(completion.unchanged(before));
        }
        let after = wanted.changed(now);
        after.ensure_fits(&document)?;
        let write = document.with(after.clone()).write(services.table.write());
        completion.commit(write.emit(after.event(topic, now)), &after, now).await
    })
    .await
}

/// Removes an entry from its document. The outcome is the entry at its last version.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub async fn remove<E: PricingEntry, C: Completion<E>>(
    services: &Services,
    (key, id): (Key, &str),
    expected: ExpectedVersion,
    topic: &Topic<E::View>,
    completion: &C,
) -> Result<C::Output, Problem> {
    let key = &key;
    retry(|| async move {
        let now = services.clock.now();
        let document = PricingDocument::<E>::load(services, key.clone()).await?;
        let before = document.entry(id)?;
        expected.check(before.event_subject().version)?;
        let removed = before.changed(now);
        let write = document.without(id).write(services.table.write());
        completion.commit(write.emit(removed.event(topic, now)), &removed, now).await
    })
    .await
}

/// The event subject of a store's entry.
pub(crate) fn subject_of<'a>(
    store: &'a StoreId,
    entity: &'a str,
    version: u64,
) -> EventSubject<'a> {
    EventSubject { store: Some(store), app: None, entity, version }
}
