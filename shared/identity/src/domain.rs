//! Domains of a store's own: asked for, shown to be the store's by a TXT record, and from then on its
//! alone (docs/conventions.md §6).
//!
//! A store's domains are one item. That a host is one store's is an item of its own, put when it is
//! verified: nobody keeps a name from others by asking for it.

mod host;
mod topics;
mod view;

use core_types::event::{Event, EventSubject, Topic};
use core_types::id::StoreId;
use core_types::key;
use primitives::clock::Timestamp;
use table::item::{Item, Key, Packing};
use primitives::problem::{Code, Problem};
use crypto::seal;
use table::{Condition, Write};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::store::Store;

pub use host::Host;
pub use topics::*;
pub use view::{DomainStatus, DomainView};

/// Domains one store may have (our choice).
pub const MAX_DOMAINS: usize = 20;
/// The label below which a record shows whose a host is: beside the host's own records, which it does
/// not disturb (RFC 8552 §1.1).
const LABEL: &str = "_commerce-challenge";
/// What the record's text begins with.
const TEXT: &str = "commerce-domain-verification=";

/// A domain of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// The host.
    pub host: Host,
    /// What the record says: drawn for this store, and public once it is written.
    pub token: String,
    /// Whether customers are to be led there as soon as it is verified.
    #[serde(default)]
    pub wants_primary: bool,
    /// Since when it is known to be the store's.
    #[serde(default)]
    pub verified_at: Option<Timestamp>,
    /// When it was asked for.
    pub created_at: Timestamp,
    /// When something of it was changed last.
    pub updated_at: Timestamp,
    /// Starts at 1, and grows by 1 with each write.
    pub version: u64,
}

impl Domain {
    /// The name of the record.
    pub fn txt_name(&self) -> String {
        format!("{LABEL}.{}", self.host)
    }

    /// The text of the record.
    pub fn txt_value(&self) -> String {
        format!("{TEXT}{}", self.token)
    }

    /// What happened to it, with it and its store as they are now.
    pub fn event(&self, topic: &Topic<DomainView>, store: &Store, now: Timestamp) -> Event {
        let (entity, version) = (self.host.as_str(), self.version);
        let about = EventSubject { store: Some(&store.id), app: None, entity, version };
        Event::new(topic, about, &DomainView::of(self, store), now)
    }

    /// The same at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }
}

/// The domains of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domains {
    /// The store.
    pub store_id: StoreId,
    /// In the order in which they were asked for.
    pub domains: Vec<Domain>,
    /// One more with each write of any of them; 0 while nothing is written.
    version: u64,
}

impl Item for Domains {
    const KIND: &'static str = "domains";
    const PACKING: Option<Packing> = Some(Packing::WHOLE);
    fn key(&self) -> Key {
        key::domains(&self.store_id)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl Domains {
    /// Those of a store, by what is written of them.
    pub fn of(store: &StoreId, kept: Option<Self>) -> Self {
        kept.unwrap_or_else(|| Self { store_id: store.clone(), domains: Vec::new(), version: 0 })
    }

    /// The one of this host.
    ///
    /// # Errors
    /// `not_found`.
    pub fn domain(&self, host: &Host) -> Result<&Domain, Problem> {
        self.domains.iter().find(|domain| domain.host == *host).ok_or_else(|| Code::NotFound.into())
    }

    /// With one more, which is to be verified.
    ///
    /// # Errors
    /// `domain_taken` by the store itself, `domain_limit`.
    pub fn request(
        &self,
        host: &Host,
        wants_primary: bool,
        now: Timestamp,
    ) -> Result<(Self, Domain), Problem> {
        if self.domain(host).is_ok() {
            return Err(Code::DomainTaken.detail("The store has this domain already."));
        }
        if self.domains.len() >= MAX_DOMAINS {
            return Err(Code::DomainLimit.with("limit", MAX_DOMAINS));
        }
        let domain = Domain {
            host: host.clone(),
            token: seal::random_secret(),
            wants_primary,
            verified_at: None,
            created_at: now,
            updated_at: now,
            version: 1,
        };
        Ok((self.with(domain.clone()), domain))
    }

    /// Whether mails and redirects of the store may lead to a URL: its host is the store's, as a record
    /// has shown, or it is the platform's, below the domain of `base_url`.
    pub fn may_lead_to(&self, url: &str, base_url: &str) -> bool {
        let host_of = |url: &str| Some(Url::parse(url).ok()?.host_str()?.to_owned());
        let (Some(host), own) = (host_of(url), host_of(base_url)) else { return false };
        let is_stores = |host: &Host| {
            self.domains.iter().any(|one| one.host == *host && one.verified_at.is_some())
        };
        let is_platforms = |host: &Host| {
            own.as_deref().and_then(Host::of).is_some_and(|own| host.is_akin_to(&own))
        };
        own.as_ref() == Some(&host)
            || Host::of(&host).is_some_and(|host| is_stores(&host) || is_platforms(&host))
    }

    /// At its next version, with this one in place of the one of its host, or at the end.
    #[must_use]
    pub fn with(&self, domain: Domain) -> Self {
        let mut next = Self { version: self.version.saturating_add(1), ..self.clone() };
        match next.domains.iter_mut().find(|known| known.host == domain.host) {
            Some(known) => *known = domain,
            None => next.domains.push(domain),
        }
        next
    }

    /// At its next version, without this host.
    #[must_use]
    pub fn without(&self, host: &Host) -> Self {
        let mut next = Self { version: self.version.saturating_add(1), ..self.clone() };
        next.domains.retain(|domain| domain.host != *host);
        next
    }

    /// Adds its new version to a transaction.
    pub fn write(&self, write: Write) -> Write {
        write.create_or_replace(self, Code::VersionConflict)
    }

    /// Gives back what is verified of them, with the store.
    pub fn give_back(&self, write: Write) -> Write {
        if self.version == 0 {
            let none = Condition::new("attribute_not_exists(PK)");
            return write.delete_if(&self.key(), none, Code::VersionConflict);
        }
        let verified = self.domains.iter().filter(|domain| domain.verified_at.is_some());
        let write = write.delete_unchanged(self, Code::VersionConflict);
        verified
            .fold(write, |write, domain| UniqueHost::release(write, &domain.host, &self.store_id))
    }
}

/// The one store of a verified host.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UniqueHost {
    /// The host.
    pub host: Host,
    /// Whose it is.
    pub store_id: StoreId,
    /// Always 1: it is written whole, and never replaced.
    pub version: u64,
}

impl UniqueHost {
    /// Claims a host for a store, on condition that nobody has it.
    pub fn claim(write: Write, host: &Host, store: &StoreId) -> Write {
        let claim = Self { host: host.clone(), store_id: store.clone(), version: 1 };
        write.create(&claim, Code::DomainTaken)
    }

    /// Gives a store's claim up.
    pub fn release(write: Write, host: &Host, store: &StoreId) -> Write {
        let held = Condition::is("store_id", store);
        write.delete_if(&key::unique_host(host.as_str()), held, Code::VersionConflict)
    }
}

impl Item for UniqueHost {
    const KIND: &'static str = "unique_host";
    fn key(&self) -> Key {
        key::unique_host(self.host.as_str())
    }
    fn version(&self) -> u64 {
        self.version
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_verified_hosts_and_the_platforms_own() {
        let (store, now) = (StoreId::derive(&["s"]), Timestamp::from_millis(0));
        let host = |text: &str| Host::of(text).unwrap();
        let (pending, _) =
            Domains::of(&store, None).request(&host("shop.example.org"), false, now).unwrap();
        let mut verified = pending.clone();
        verified.domains[0].verified_at = Some(now);
        let (own, local) = ("https://api.shops.example.com", "http://127.0.0.1:3000");
        let page = "https://shop.example.org/o/{order_id}?t={token}";
        assert!(!pending.may_lead_to(page, own) && verified.may_lead_to(page, own));
        for url in ["https://SHOP.example.org:8443/#{token}", "https://mine.shops.example.com/"] {
            assert!(verified.may_lead_to(url, own), "{url}");
        }
        for url in [
            "https://example.org/",
            "https://www.shop.example.org/",
            "https://shop.example.org.evil.net/",
            "https://evil.net/shop.example.org",
            "http://127.0.0.1/",
            "nonsense",
        ] {
            assert!(!verified.may_lead_to(url, own), "{url}");
        }
        assert!(pending.may_lead_to("http://127.0.0.1:9/x", local));
        assert!(!pending.may_lead_to("http://localhost/x", local));
    }

    #[test]
    fn a_store_asks_for_a_host_once_and_for_so_many() {
        let (store, now) = (StoreId::derive(&["s"]), Timestamp::from_millis(0));
        let host = |n: usize| Host::of(&format!("shop{n}.example.com")).unwrap();
        let mut domains = Domains::of(&store, None);
        for n in 0..MAX_DOMAINS {
            domains = domains.request(&host(n), false, now).unwrap().0;
        }
        let rejected = |host: &Host| domains.request(host, false, now).unwrap_err().code;
        assert_eq!(rejected(&host(1)), Code::DomainTaken);
        assert_eq!(rejected(&host(99)), Code::DomainLimit);
        let fewer = domains.without(&host(1));
        assert!(fewer.request(&host(99), true, now).is_ok());
        let first = domains.domain(&host(0)).unwrap();
        assert_eq!(first.txt_name(), "_commerce-challenge.shop0.example.com");
        assert!(first.txt_value().ends_with(&first.token));
        let stored = serde_json::to_value(&domains).unwrap();
        assert_eq!(serde_json::from_value::<Domains>(stored).unwrap(), domains);
    }
}
