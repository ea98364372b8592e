//! Topics of merchants' events.

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::fields::Email;
use core_types::id::MerchantId;
use core_types::sample_id;

use super::{MerchantStatus, MerchantView};

core_types::topics! {
    MERCHANT_CREATED = "merchant.created", "merchant", None, MerchantView,
        "An account was created.";
    MERCHANT_UPDATED = "merchant.updated", "merchant", None, MerchantView,
        "An account's data changed.";
    MERCHANT_PASSWORD_UPDATED = "merchant.password_updated", "merchant", None, MerchantView,
        "An account's password changed; its other sessions were revoked.";
    MERCHANT_DELETED = "merchant.deleted", "merchant", None, MerchantView,
        "An account was deleted; its data is erased in 30 days.";
}

impl Example for MerchantView {
    fn example() -> Self {
        Self {
            id: sample_id!(MerchantId),
            email: sample::<Email>("ann@example.com"),
            email_verified: true,
            has_password: true,
            mfa_enabled: false,
            name: Some("Ann".into()),
            locale: None,
            status: MerchantStatus::Active,
            operator: false,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}
