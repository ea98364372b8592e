//! Domains as they are shown.

use core_types::id::StoreId;
use primitives::clock::Timestamp;

use super::{Domain, Host};
use crate::store::Store;

primitives::string_enum! {
    /// Whether a domain is known to be the store's.
    DomainStatus {
        /// The record is to be written, and looked for.
        Pending = "pending",
        /// It leads to the store.
        Verified = "verified",
    }
}

core_types::view! {
    /// A domain of a store.
    DomainView of (domain: Domain, store: &Store) {
        /// The host: the name that it has already.
        id: Host = domain.host.clone(),
        /// The store.
        store_id: StoreId = store.id.clone(),
        /// The host, as IDNA writes it.
        host: Host,
        /// Whether it is known to be the store's.
        status: DomainStatus =
            domain.verified_at.map_or(DomainStatus::Pending, |_| DomainStatus::Verified),
        /// Whether customers are led there; of one that is pending, whether they will be.
        primary: bool = match domain.verified_at {
            Some(_) => store.primary_domain.as_ref() == Some(&domain.host),
            None => domain.wants_primary,
        },
        /// The name of the TXT record that shows whose the host is.
        txt_name: String = domain.txt_name(),
        /// The text of that record.
        txt_value: String = domain.txt_value(),
        /// Since when it is known to be the store's.
        verified_at: Option<Timestamp>,
        /// When it was asked for.
        created_at: Timestamp,
        /// When something of it was changed last.
        updated_at: Timestamp,
        /// What `If-Match` takes.
        version: u64,
    }
}
