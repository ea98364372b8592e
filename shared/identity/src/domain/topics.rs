//! Topics of domains' events.

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::id::StoreId;
use core_types::sample_id;

use super::{DomainStatus, DomainView, Host};

core_types::topics! {
    DOMAIN_VERIFIED = "domain.verified", "domain", Some("read_store"), DomainView,
        "A domain was verified, and leads to the store.";
    DOMAIN_REMOVED = "domain.removed", "domain", Some("read_store"), DomainView,
        "A domain was removed from a store.";
}

impl Example for DomainView {
    fn example() -> Self {
        let host: Host = sample("shop.example.com");
        Self {
            id: host.clone(),
            store_id: sample_id!(StoreId),
            host,
            status: DomainStatus::Verified,
            primary: true,
            txt_name: "_commerce-challenge.shop.example.com".into(),
            txt_value: "commerce-domain-verification=uPq0c2".into(),
            verified_at: Some(EXAMPLE_TIME),
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 2,
        }
    }
}
