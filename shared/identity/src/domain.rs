//! Custom domains of a store: added, verified by a TXT record, and from then on exclusive to the store
//! (docs/conventions.md §6).
//!
//! A store's domains are one item. The exclusive claim to a host is an item of its own, written when the
//! host is verified: a domain that is only added blocks nobody.

mod host;
mod topics;
mod view;

use core_types::event::{Event, EventSubject, Topic};
use core_types::id::StoreId;
use core_types::key;
use crypto::seal;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use table::item::Item;
use table::{Condition, Write};
use url::Url;

use crate::store::Store;

pub use host::Host;
pub use topics::*;
pub use view::{DomainStatus, DomainView};

/// The maximum number of domains of one store (our choice).
pub const MAX_DOMAINS: usize = 20;
/// The label of the TXT record, an underscored name that does not conflict with the host's own records
/// (RFC 8552 §1.1).
const LABEL: &str = "_commerce-challenge";
/// The prefix of the record's text.
const TEXT: &str = "commerce-domain-verification=";

/// A custom domain of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// The host.
    pub host: Host,
    /// The token in the record: random, and public once the record exists.
    pub token: String,
    /// Whether it becomes the primary domain when it is verified.
    #[serde(default)]
    pub wants_primary: bool,
    /// When it was verified.
    #[serde(default)]
    pub verified_at: Option<Timestamp>,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// From 1, one more with each write.
    pub version: u64,
}

impl Domain {
    /// The name of the TXT record.
    pub fn txt_name(&self) -> String {
        format!("{LABEL}.{}", self.host)
    }

    /// The text of the TXT record.
    pub fn txt_value(&self) -> String {
        format!("{TEXT}{}", self.token)
    }

    /// An event of the domain, with its present state.
    pub fn event(&self, topic: &Topic<DomainView>, store: &Store, now: Timestamp) -> Event {
        let (entity, version) = (self.host.as_str(), self.version);
        let subject = EventSubject { store: Some(&store.id), app: None, entity, version };
        Event::new(topic, subject, &DomainView::of(self, store), now)
    }

    /// Returns the domain at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }
}

/// The domains of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Item)]
#[item(kind = "domains", key = key::domains(&self.store_id), packed)]
pub struct Domains {
    /// The store.
    pub store_id: StoreId,
    /// The domains, in the order in which they were added.
    pub domains: Vec<Domain>,
    /// One more with each write of any domain; 0 before the first.
    version: u64,
}

impl Domains {
    /// The domains of a store, from the stored item if there is one.
    pub fn of(store: &StoreId, stored: Option<Self>) -> Self {
        stored.unwrap_or_else(|| Self { store_id: store.clone(), domains: Vec::new(), version: 0 })
    }

    /// Finds the domain of this host.
    ///
    /// # Errors
    /// `not_found`.
    pub fn domain(&self, host: &Host) -> Result<&Domain, Problem> {
        self.domains.iter().find(|domain| domain.host == *host).ok_or_else(|| Code::NotFound.into())
    }

    /// Adds a domain, which must then be verified. Returns the domains and the new one.
    ///
    /// # Errors
    /// `domain_taken`: the store itself has it; `domain_limit`.
    pub fn add(
        &self,
        host: &Host,
        wants_primary: bool,
        now: Timestamp,
    ) -> Result<(Self, Domain), Problem> {
        if self.domain(host).is_ok() {
            return Err(Code::DomainTaken.detail("The store already has this domain."));
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

    /// Whether mails and redirects of the store may lead to a URL: its host is a verified domain of the
    /// store, or in the registered domain of the platform's `base_url`.
    pub fn is_allowed_link(&self, url: &str, base_url: &str) -> bool {
        let host_of = |url: &str| Some(Url::parse(url).ok()?.host_str()?.to_owned());
        let (Some(host), own) = (host_of(url), host_of(base_url)) else { return false };
        let is_stores = |host: &Host| {
            self.domains.iter().any(|one| one.host == *host && one.verified_at.is_some())
        };
        let is_platforms = |host: &Host| {
            own.as_deref()
                .and_then(Host::of)
                .is_some_and(|own| host.shares_registrable_domain(&own))
        };
        own.as_ref() == Some(&host)
            || Host::of(&host).is_some_and(|host| is_stores(&host) || is_platforms(&host))
    }

    /// Returns the next version with this domain added, or replaced by its host.
    #[must_use]
    pub fn with(&self, domain: Domain) -> Self {
        let mut next = Self { version: self.version.saturating_add(1), ..self.clone() };
        match next.domains.iter_mut().find(|known| known.host == domain.host) {
            Some(known) => *known = domain,
            None => next.domains.push(domain),
        }
        next
    }

    /// Returns the next version without this host.
    #[must_use]
    pub fn without(&self, host: &Host) -> Self {
        let mut next = Self { version: self.version.saturating_add(1), ..self.clone() };
        next.domains.retain(|domain| domain.host != *host);
        next
    }

    /// Adds the write of this version to a transaction.
    pub fn write(&self, write: Write) -> Write {
        write.create_or_replace(self, Code::VersionConflict)
    }

    /// Adds the deletion of all domains and the release of their verified hosts, when the store is deleted.
    pub fn release_all(&self, write: Write) -> Write {
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

/// A store's exclusive claim to a verified host.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "unique_host", key = key::unique_host(self.host.as_str()))]
pub struct UniqueHost {
    /// The host.
    pub host: Host,
    /// The store.
    pub store_id: StoreId,
    /// Always 1: a claim is never replaced.
    pub version: u64,
}

impl UniqueHost {
    /// Adds the claim of a host, on condition that no store has it.
    pub fn claim(write: Write, host: &Host, store: &StoreId) -> Write {
        let claim = Self { host: host.clone(), store_id: store.clone(), version: 1 };
        write.create(&claim, Code::DomainTaken)
    }

    /// Adds the release of a store's claim.
    pub fn release(write: Write, host: &Host, store: &StoreId) -> Write {
        let held = Condition::is("store_id", store);
        write.delete_if(&key::unique_host(host.as_str()), held, Code::VersionConflict)
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
            Domains::of(&store, None).add(&host("shop.example.org"), false, now).unwrap();
        let mut verified = pending.clone();
        verified.domains[0].verified_at = Some(now);
        let (own, local) = ("https://api.shops.example.com", "http://127.0.0.1:3000");
        let page = "https://shop.example.org/o/{order_id}?t={token}";
        assert!(!pending.is_allowed_link(page, own) && verified.is_allowed_link(page, own));
        for url in ["https://SHOP.example.org:8443/#{token}", "https://mine.shops.example.com/"] {
            assert!(verified.is_allowed_link(url, own), "{url}");
        }
        for url in [
            "https://example.org/",
            "https://www.shop.example.org/",
            "https://shop.example.org.evil.net/",
            "https://evil.net/shop.example.org",
            "http://127.0.0.1/",
            "nonsense",
        ] {
            assert!(!verified.is_allowed_link(url, own), "{url}");
        }
        assert!(pending.is_allowed_link("http://127.0.0.1:9/x", local));
        assert!(!pending.is_allowed_link("http://localhost/x", local));
    }

    #[test]
    fn a_store_adds_a_host_once_up_to_the_limit() {
        let (store, now) = (StoreId::derive(&["s"]), Timestamp::from_millis(0));
        let host = |n: usize| Host::of(&format!("shop{n}.example.com")).unwrap();
        let mut domains = Domains::of(&store, None);
        for n in 0..MAX_DOMAINS {
            domains = domains.add(&host(n), false, now).unwrap().0;
        }
        let rejected = |host: &Host| domains.add(host, false, now).unwrap_err().code;
        assert_eq!(rejected(&host(1)), Code::DomainTaken);
        assert_eq!(rejected(&host(99)), Code::DomainLimit);
        let fewer = domains.without(&host(1));
        assert!(fewer.add(&host(99), true, now).is_ok());
        let first = domains.domain(&host(0)).unwrap();
        assert_eq!(first.txt_name(), "_commerce-challenge.shop0.example.com");
        assert!(first.txt_value().ends_with(&first.token));
        let stored = serde_json::to_value(&domains).unwrap();
        assert_eq!(serde_json::from_value::<Domains>(stored).unwrap(), domains);
    }
}
