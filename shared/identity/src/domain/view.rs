//! Responses about domains.

use core_types::id::StoreId;
use primitives::clock::Timestamp;

use super::{Domain, Host};
use crate::store::Store;

primitives::string_enum! {
    /// Whether a domain is verified.
    DomainStatus {
        /// The TXT record has not been found yet.
        Pending = "pending",
        /// It is verified and leads to the store.
        Verified = "verified",
    }
}

core_types::view! {
    /// A custom domain of a store.
    DomainView of (domain: Domain, store: &Store) {
        /// The id, which is the host.
        id: Host = domain.host.clone(),
        /// The store.
        store_id: StoreId = store.id.clone(),
        /// The host, normalized by IDNA.
        host: Host,
        /// Whether it is verified.
        status: DomainStatus =
            domain.verified_at.map_or(DomainStatus::Pending, |_| DomainStatus::Verified),
        /// Whether it is the primary domain; for a pending one, whether it will be.
        primary: bool = match domain.verified_at {
            Some(_) => store.primary_domain.as_ref() == Some(&domain.host),
            None => domain.wants_primary,
        },
        /// The name of the TXT record that verifies the domain.
        txt_name: String = domain.txt_name(),
        /// The text of that record.
        txt_value: String = domain.txt_value(),
        /// When it was verified.
        verified_at: Option<Timestamp>,
        /// When it was added.
        created_at: Timestamp,
        /// When it was last changed.
        updated_at: Timestamp,
        /// The version, for `If-Match`.
        version: u64,
    }
}
