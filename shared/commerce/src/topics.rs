//! The catalogue of events: every topic, its entity, its scope and its data.

use std::marker::PhantomData;

use gateway::clock::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Entry, Example, Topic};
use crate::app::AppView;
use crate::app_review::AppReviewView;
use crate::category::CategoryView;
use crate::collection::CollectionView;
use crate::customer::{CustomerDeleted, CustomerView};
use crate::developer::DeveloperView;
use crate::fields::Email;
use crate::form::FormSubmissionView;
use crate::gift_card::{GiftCardMoved, GiftCardView};
use crate::id::{AppId, InstallationId, MerchantId, StoreId};
use crate::installation::{InstallationStatus, InstallationView};
use crate::inventory::AdjustmentView;
use crate::location::LocationView;
use crate::media::MediaView;
use crate::merchant::{MerchantStatus, MerchantView};
use crate::navigation::{MenuItem, MenuItemKind, MenuView};
use crate::order::OrderView;
use crate::order::fulfillment::FulfillmentView;
use crate::order::lines::LinesView;
use crate::order::refund::RefundView;
use crate::payment::PaymentView;
use crate::policy::{PolicyHandle, PolicySummary};
use crate::product::ProductView;
use crate::review::ReviewView;
use crate::settings::SettingsView;
use crate::store::StoreView;
use crate::submission::SubmissionView;
use crate::subscription::SubscriptionView;

macro_rules! topics {
    ($($constant:ident = $name:literal, $entity:literal, $scope:expr, $data:ty, $about:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $about)]
            pub const $constant: Topic<$data> = Topic {
                name: $name, entity: $entity, scope: $scope, about: $about, data: PhantomData,
            };
        )*

        /// Every topic, in document order.
        pub fn catalogue() -> Vec<Entry> {
            vec![$(Entry::of(&$constant)),*]
        }
    };
}

topics! {
    STORE_CREATED = "store.created", "store", Some("read_store"), StoreView,
        "A store was opened.";
    STORE_UPDATED = "store.updated", "store", Some("read_store"), StoreView,
        "A store's data changed.";
    STORE_ACTIVATED = "store.activated", "store", Some("read_store"), StoreView,
        "A store began to take orders.";
    STORE_PAUSED = "store.paused", "store", Some("read_store"), StoreView,
        "A store stopped taking orders.";
    STORE_CLOSED = "store.closed", "store", Some("read_store"), StoreView,
        "A store was shut.";
    STORE_REOPENED = "store.reopened", "store", Some("read_store"), StoreView,
        "A shut store came back, paused.";
    STORE_DELETED = "store.deleted", "store", Some("read_store"), StoreView,
        "A store was deleted; `store.redacted` follows in 30 days.";
    STORE_REDACTED = "store.redacted", "store", Some("read_store"), StoreView,
        "A deleted store's grace ended: remove what you hold of it.";
    STORE_SETTINGS_UPDATED = "store.settings_updated", "settings", Some("read_store"), SettingsView,
        "A store's settings changed.";
    NAVIGATION_UPDATED = "navigation.updated", "navigation", Some("read_content"), MenuView,
        "A navigation menu was made or changed.";
    NAVIGATION_DELETED = "navigation.deleted", "navigation", Some("read_content"), MenuView,
        "A navigation menu was removed.";
    POLICY_UPDATED = "policy.updated", "policy", Some("read_content"), PolicySummary,
        "A policy page was written or changed; fetch its text.";
    PRODUCT_CREATED = "product.created", "product", Some("read_products"), ProductView,
        "A product was made.";
    PRODUCT_UPDATED = "product.updated", "product", Some("read_products"), ProductView,
        "A product or one of its variants changed.";
    PRODUCT_ARCHIVED = "product.archived", "product", Some("read_products"), ProductView,
        "A product was put away; shoppers no longer see it.";
    PRODUCT_DELETED = "product.deleted", "product", Some("read_products"), ProductView,
        "A product that was never ordered was removed for good.";
    COLLECTION_CREATED = "collection.created", "collection", Some("read_products"), CollectionView,
        "A collection was made.";
    COLLECTION_UPDATED = "collection.updated", "collection", Some("read_products"), CollectionView,
        "A collection, or the list of its products, changed.";
    COLLECTION_DELETED = "collection.deleted", "collection", Some("read_products"), CollectionView,
        "A collection was removed; its products stay.";
    CATEGORY_CREATED = "category.created", "category", Some("read_products"), CategoryView,
        "A category was made.";
    CATEGORY_UPDATED = "category.updated", "category", Some("read_products"), CategoryView,
        "A category changed, or moved with all below it.";
    CATEGORY_DELETED = "category.deleted", "category", Some("read_products"), CategoryView,
        "A category was removed; its products lose it within minutes, which is not announced.";
    ORDER_CREATED = "order.created", "order", Some("read_orders"), OrderView,
        "An order was placed; its stock is set aside.";
    ORDER_UPDATED = "order.updated", "order", Some("read_orders"), OrderView,
        "An order's data changed.";
    ORDER_CONFIRMED = "order.confirmed", "order", Some("read_orders"), OrderView,
        "An order is to be honoured although its money comes later.";
    ORDER_AUTHORIZED = "order.authorized", "order", Some("read_orders"), OrderView,
        "A provider promised an order's money.";
    ORDER_PAID = "order.paid", "order", Some("read_orders"), OrderView,
        "All of an order's money came in.";
    ORDER_PARTIALLY_FULFILLED = "order.partially_fulfilled", "order", Some("read_orders"),
        OrderView, "Some of an order left.";
    ORDER_FULFILLED = "order.fulfilled", "order", Some("read_orders"), OrderView,
        "The last of an order left.";
    ORDER_REFUNDED = "order.refunded", "order", Some("read_orders"), OrderView,
        "Some or all of an order's money went back.";
    ORDER_HELD = "order.held", "order", Some("read_orders"), OrderView,
        "An order is kept from being fulfilled.";
    ORDER_RELEASED = "order.released", "order", Some("read_orders"), OrderView,
        "An order may be fulfilled again.";
    ORDER_CANCELLED = "order.cancelled", "order", Some("read_orders"), OrderView,
        "An order was called off.";
    ORDER_LINES_CANCELLED = "order.lines_cancelled", "order", Some("read_orders"), LinesView,
        "Units of an order that had not left were called off.";
    ORDER_LINES_RETURNED = "order.lines_returned", "order", Some("read_orders"), LinesView,
        "Units of an order that had left came back.";
    ORDER_EXPIRED = "order.expired", "order", Some("read_orders"), OrderView,
        "An order was not paid in time; its stock went back.";
    ORDER_CLOSED = "order.closed", "order", Some("read_orders"), OrderView,
        "An order is done with.";
    ORDER_REOPENED = "order.reopened", "order", Some("read_orders"), OrderView,
        "A closed order was taken up again.";
    FULFILLMENT_CREATED = "fulfillment.created", "fulfillment", Some("read_fulfillments"),
        FulfillmentView, "Lines of an order left.";
    FULFILLMENT_UPDATED = "fulfillment.updated", "fulfillment", Some("read_fulfillments"),
        FulfillmentView, "A fulfilment can be followed otherwise.";
    FULFILLMENT_DELIVERED = "fulfillment.delivered", "fulfillment", Some("read_fulfillments"),
        FulfillmentView, "A fulfilment is with the customer.";
    FULFILLMENT_CANCELLED = "fulfillment.cancelled", "fulfillment", Some("read_fulfillments"),
        FulfillmentView, "A fulfilment was called back; its lines are to be fulfilled again.";
    REFUND_CREATED = "refund.created", "refund", Some("read_refunds"), RefundView,
        "Money of an order is to go back.";
    REFUND_SUCCEEDED = "refund.succeeded", "refund", Some("read_refunds"), RefundView,
        "Money of an order has gone back.";
    REFUND_FAILED = "refund.failed", "refund", Some("read_refunds"), RefundView,
        "A provider refused to give money back.";
    PAYMENT_CREATED = "payment.created", "payment", Some("read_payments"), PaymentView,
        "A payment was opened with a provider.";
    PAYMENT_AUTHORIZED = "payment.authorized", "payment", Some("read_payments"), PaymentView,
        "A customer agreed to a payment; the money can be captured.";
    PAYMENT_CAPTURED = "payment.captured", "payment", Some("read_payments"), PaymentView,
        "The money of a payment was taken.";
    PAYMENT_FAILED = "payment.failed", "payment", Some("read_payments"), PaymentView,
        "An attempt to pay failed; the customer may try again.";
    PAYMENT_VOIDED = "payment.voided", "payment", Some("read_payments"), PaymentView,
        "A payment was given up before any money was taken.";
    PAYMENT_REFUNDED = "payment.refunded", "payment", Some("read_payments"), PaymentView,
        "Some or all of a payment's money went back.";
    LOCATION_CREATED = "location.created", "location", Some("read_locations"), LocationView,
        "A stock location was made.";
    LOCATION_UPDATED = "location.updated", "location", Some("read_locations"), LocationView,
        "A stock location's data changed.";
    LOCATION_DEACTIVATED = "location.deactivated", "location", Some("read_locations"), LocationView,
        "A stock location went out of use.";
    LOCATION_ACTIVATED = "location.activated", "location", Some("read_locations"), LocationView,
        "A stock location came into use again.";
    INVENTORY_ADJUSTED = "inventory.adjusted", "inventory_adjustment", Some("read_inventory"),
        AdjustmentView, "Stock was adjusted, set or moved by hand.";
    GIFT_CARD_CREATED = "gift_card.created", "gift_card", Some("read_gift_cards"), GiftCardView,
        "A gift card was issued; its code is in no event.";
    GIFT_CARD_UPDATED = "gift_card.updated", "gift_card", Some("read_gift_cards"), GiftCardView,
        "A gift card's data changed.";
    GIFT_CARD_DISABLED = "gift_card.disabled", "gift_card", Some("read_gift_cards"), GiftCardView,
        "A gift card was switched off for good.";
    GIFT_CARD_CREDITED = "gift_card.credited", "gift_card", Some("read_gift_cards"), GiftCardMoved,
        "Money was added to a gift card by hand.";
    GIFT_CARD_DEBITED = "gift_card.debited", "gift_card", Some("read_gift_cards"), GiftCardMoved,
        "Money was taken from a gift card by hand.";
    CUSTOMER_CREATED = "customer.created", "customer", Some("read_customers"), CustomerView,
        "A customer made an account, and proved their address.";
    CUSTOMER_UPDATED = "customer.updated", "customer", Some("read_customers"), CustomerView,
        "A customer's data changed.";
    CUSTOMER_DELETED = "customer.deleted", "customer", Some("read_customers"), CustomerDeleted,
        "A customer deleted their account: remove what you hold of them.";
    REVIEW_CREATED = "review.created", "review", Some("read_reviews"), ReviewView,
        "A customer reviewed a product; nobody sees it yet.";
    REVIEW_APPROVED = "review.approved", "review", Some("read_reviews"), ReviewView,
        "A store approved a review; it is shown and counts.";
    REVIEW_REJECTED = "review.rejected", "review", Some("read_reviews"), ReviewView,
        "A store rejected a review; it is not shown and does not count.";
    REVIEW_REPLIED = "review.replied", "review", Some("read_reviews"), ReviewView,
        "A store answered a review.";
    FORM_SUBMITTED = "form.submitted", "form_submission", Some("read_forms"), FormSubmissionView,
        "A visitor sent a form; never for what is certainly spam.";
    MEDIA_CREATED = "media.created", "media", Some("read_media"), MediaView,
        "An image was uploaded.";
    MEDIA_DELETED = "media.deleted", "media", Some("read_media"), MediaView,
        "An image was deleted.";
    APP_INSTALLED = "app.installed", "installation", None, InstallationView,
        "A merchant chose an app for a store.";
    APP_AUTHORIZED = "app.authorized", "installation", None, InstallationView,
        "A merchant granted an app scopes on a store.";
    APP_TOKEN_ISSUED = "app.token_issued", "installation", None, TokenIssued,
        "An app received an access token for a store.";
    APP_TOKENS_REVOKED = "app.tokens_revoked", "installation", None, InstallationView,
        "Every token of an installation was revoked.";
    APP_SUSPENDED = "app.suspended", "installation", None, InstallationView,
        "A merchant suspended an app on a store.";
    APP_RESUMED = "app.resumed", "installation", None, InstallationView,
        "A merchant resumed an app on a store.";
    APP_UNINSTALLED = "app.uninstalled", "installation", None, InstallationView,
        "A merchant removed an app from a store; its tokens are dead.";
    APP_CREATED = "app.created", "app", None, AppView,
        "A developer made an app.";
    APP_UPDATED = "app.updated", "app", None, AppView,
        "A developer changed an app.";
    APP_SECRET_ROTATED = "app.secret_rotated", "app", None, AppView,
        "An app has a new client secret; the one before works for 24 hours more.";
    APP_SUBMITTED = "app.submitted", "submission", None, SubmissionView,
        "A developer submitted a version of an app.";
    APP_SUBMISSION_WITHDRAWN = "app.submission_withdrawn", "submission", None, SubmissionView,
        "A developer took a submission back.";
    APP_APPROVED = "app.approved", "submission", None, SubmissionView,
        "An operator approved a version of an app.";
    APP_REJECTED = "app.rejected", "submission", None, SubmissionView,
        "An operator rejected a version of an app.";
    APP_CHANGES_REQUESTED = "app.changes_requested", "submission", None, SubmissionView,
        "An operator wants a version of an app changed.";
    APP_PUBLISHED = "app.published", "app", None, AppView,
        "An app entered the catalogue.";
    APP_UNPUBLISHED = "app.unpublished", "app", None, AppView,
        "An app left the catalogue; installations keep working.";
    APP_SUSPENDED_BY_PLATFORM = "app.suspended_by_platform", "app", None, AppView,
        "Operators stopped an app, on every store.";
    APP_RESUMED_BY_PLATFORM = "app.resumed_by_platform", "app", None, AppView,
        "Operators let a stopped app go on.";
    APP_DELETED = "app.deleted", "app", None, AppView,
        "A developer deleted an app.";
    APP_REVIEWED = "app.reviewed", "app_review", None, AppReviewView,
        "A store reviewed an app, or changed its review.";
    DEVELOPER_REGISTERED = "developer.registered", "developer", None, DeveloperView,
        "An account became a developer's.";
    DEVELOPER_UPDATED = "developer.updated", "developer", None, DeveloperView,
        "A developer's profile changed.";
    MERCHANT_CREATED = "merchant.created", "merchant", None, MerchantView,
        "An account was made.";
    MERCHANT_UPDATED = "merchant.updated", "merchant", None, MerchantView,
        "An account's data changed.";
    MERCHANT_PASSWORD_UPDATED = "merchant.password_updated", "merchant", None, MerchantView,
        "An account's password changed; its other sessions are dead.";
    MERCHANT_DELETED = "merchant.deleted", "merchant", None, MerchantView,
        "An account was deleted; it is removed in 30 days.";
    WEBHOOK_SUBSCRIPTION_DISABLED = "webhook_subscription.disabled", "webhook_subscription",
        Some("read_webhooks"), SubscriptionView,
        "The service switched a webhook subscription off: its receiver is gone, or keeps failing.";
}

/// A token was issued; never the token itself.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TokenIssued {
    /// The installation.
    pub installation_id: InstallationId,
    /// The app.
    pub app_id: AppId,
    /// The store.
    pub store_id: StoreId,
    /// How it was granted: `authorization_code`, `refresh_token`, `token_exchange`.
    pub grant_type: String,
    /// What it may do.
    pub scopes: Vec<String>,
    /// When it ends.
    pub expires_at: Timestamp,
}

/// The time of every example.
pub(crate) const EXAMPLE_TIME: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// A sample of a text type that cannot be built but by parsing.
pub(crate) fn sample<T: gateway::request::FromText>(text: &str) -> T {
    match T::from_text(text) {
        Ok(value) => value,
        Err(fault) => unreachable!("the sample `{text}` is refused: {}", fault.detail),
    }
}

/// A sample id.
macro_rules! sample_id {
    ($id:ident) => {
        $id::derive(&["example"])
    };
}
#[allow(unused_imports)]
pub(crate) use sample_id;

impl Example for MenuView {
    fn example() -> Self {
        Self {
            id: sample("main"),
            handle: sample("main"),
            items: vec![MenuItem {
                title: sample("Refunds"),
                kind: MenuItemKind::Policy,
                reference: Some(sample("refund")),
                url: None,
                children: Vec::new(),
            }],
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}

impl Example for PolicySummary {
    fn example() -> Self {
        Self {
            id: PolicyHandle::Refund,
            handle: PolicyHandle::Refund,
            title: PolicyHandle::Refund.title().into(),
            published: true,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}

impl Example for InstallationView {
    fn example() -> Self {
        Self {
            id: sample_id!(InstallationId),
            store_id: sample_id!(StoreId),
            app_id: sample_id!(AppId),
            status: InstallationStatus::Active,
            scopes: vec!["read_products".into(), "write_orders".into()],
            status_reason: None,
            installed_at: Some(EXAMPLE_TIME),
            uninstalled_at: None,
            allowed_actions: vec!["suspend", "uninstall"],
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 3,
        }
    }
}

impl Example for TokenIssued {
    fn example() -> Self {
        Self {
            installation_id: sample_id!(InstallationId),
            app_id: sample_id!(AppId),
            store_id: sample_id!(StoreId),
            grant_type: "authorization_code".into(),
            scopes: vec!["read_products".into()],
            expires_at: EXAMPLE_TIME,
        }
    }
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
