//! Every id of the platform: a prefix for the kind, and a `UUIDv7` (RFC 9562 §5.7) in 32 hex digits, so that
//! ids sort by creation.
//!
//! Ids of some kinds are derived ([`DERIVED`]), so that creating an object twice gives one object. They are a
//! `UUIDv8` (RFC 9562 §5.8) of a SHA-256. The id of an order and the ids of its payments begin with the
//! order's number, so that either leads to the order.

use primitives::id;
use table::canary;

primitives::ids! {
    /// A merchant account.
    MerchantId = "mer_";
    /// A merchant session.
    SessionId = "ses_";
    /// A store.
    StoreId = "sto_";
    /// A member of a store, or an invited person.
    MemberId = "mem_";
    /// A developer profile.
    DeveloperId = "dev_";
    /// An app.
    AppId = "app_";
    /// An installation of an app on a store.
    InstallationId = "ins_";
    /// A submission of an app for approval.
    SubmissionId = "sub_";
    /// A review.
    ReviewId = "rev_";
    /// A webhook subscription.
    SubscriptionId = "whs_";
    /// An event.
    EventId = "evt_";
    /// A webhook delivery.
    DeliveryId = "dlv_";
    /// A replay of deliveries.
    ReplayId = "rpl_";
    /// An incident.
    IncidentId = "inc_";
    /// A one-time-code challenge.
    ChallengeId = "otp_";
    /// A mail on its way.
    MailId = "mai_";
    /// A product.
    ProductId = "prd_";
    /// A variant of a product: the unit of stock and of sale.
    VariantId = "var_";
    /// A collection of products.
    CollectionId = "col_";
    /// A category of products.
    CategoryId = "cat_";
    /// A gift card.
    GiftCardId = "gft_";
    /// A discount.
    DiscountId = "dsc_";
    /// A shipping zone.
    ShippingZoneId = "shz_";
    /// A shipping rate of a zone.
    ShippingRateId = "shr_";
    /// A tax rate.
    TaxRateId = "txr_";
    /// A stock location.
    LocationId = "loc_";
    /// A customer of a store.
    CustomerId = "cus_";
    /// An address of a customer.
    AddressId = "adr_";
    /// A customer's session.
    CustomerSessionId = "cse_";
    /// A cart.
    CartId = "crt_";
    /// A line of a cart.
    CartLineId = "ctl_";
    /// An order.
    OrderId = "ord_";
    /// A line of an order.
    OrderItemId = "itm_";
    /// A fulfilment.
    FulfillmentId = "ful_";
    /// A refund.
    RefundId = "ref_";
    /// A payment.
    PaymentId = "pay_";
    /// A dispute of a payment.
    DisputeId = "dsp_";
    /// Evidence for a dispute, as it was sent to the provider.
    DisputeEvidenceId = "dse_";
    /// An image or other media.
    MediaId = "med_";
    /// A form submission.
    FormSubmissionId = "frm_";
    /// A wish of a customer.
    WishId = "wsh_";
    /// A movement of stock.
    MovementId = "mov_";
    /// A movement of a gift card's balance.
    GiftCardEntryId = "gte_";
    /// A theme of the marketplace, or a private one of its owner.
    ThemeId = "thm_";
    /// A package of a theme: one uploaded version.
    ThemePackageId = "pkg_";
    /// A theme on a store.
    InstalledThemeId = "tin_";
    /// A release of a theme on a store.
    ThemeReleaseId = "rel_";
    /// A preview session.
    PreviewSessionId = "prv_";
    /// A store's licence for a theme.
    ThemeLicenseId = "lic_";
    /// A purchase of a theme.
    ThemePurchaseId = "tpu_";
    /// A record of the reliability evidence.
    EvidenceId = "evd_";
    /// A certification report.
    ReportId = "rep_";
    /// A failover drill.
    DrillId = "drl_";
    /// A load test.
    LoadTestId = "lod_";
    /// An import.
    ImportId = "imp_";
    /// An export.
    ExportId = "exp_";
    /// A redaction of a customer.
    RedactionId = "red_";
    /// A merge of a customer into another.
    MergeId = "mrg_";
}

/// The kinds of ids that are derived, and their sources. Other ids of such a kind may still be minted: a
/// store's first location has a derived id, its further ones do not.
pub const DERIVED: &[(&str, &str)] = &[
    (InstallationId::PREFIX, "the store and the app: an app is installed once on a store"),
    (MemberId::PREFIX, "the store, for the owner that it opens with"),
    (LocationId::PREFIX, "the store, for the location that it opens with"),
    (CartLineId::PREFIX, "the cart, the variant and the properties: equal units are one line"),
    (OrderId::PREFIX, "the order's number, with which it begins, and a secret of the store"),
    (
        PaymentId::PREFIX,
        "the order, with whose number it begins; the provider's account, the amount, and how many \
         payments the order had, or which of its versions was marked as paid",
    ),
    (RefundId::PREFIX, "the order or the payment, and the idempotency key, or what was seen there"),
    (DisputeId::PREFIX, "the store, the provider, and the provider's id of the dispute"),
    (DisputeEvidenceId::PREFIX, "the dispute, who sends the evidence, and the idempotency key"),
    (
        RedactionId::PREFIX,
        "the store and the customer: somebody is forgotten once; or what a guest's address is known by there",
    ),
    (MergeId::PREFIX, "the store and the customer whose account it ends"),
    (DeliveryId::PREFIX, "the event and the subscription, and which replay it is of"),
    (ProductId::PREFIX, "the import and the row, for what an import makes"),
    (CustomerId::PREFIX, "the import and the row, for whom an import makes"),
    (MediaId::PREFIX, "the import, the row and the address, for an image that an import fetches"),
    (WishId::PREFIX, "the customer, the product and the variant"),
    (ThemeId::PREFIX, "the theme's slug, which is its own alone"),
    (
        InstalledThemeId::PREFIX,
        "the store and the theme's slug: a theme is installed once on a store",
    ),
    (ThemeReleaseId::PREFIX, "the store, the theme's slug and the release's number"),
    (EvidenceId::PREFIX, "the record's kind, what it is about, and the outcome: it is stated once"),
];

/// The digits of the canary's ids: their time is before that of any minted id.
const CANARY: &str = "0000000000007000800000000000ca0a";

impl MerchantId {
    /// The account that owns the canary store.
    pub fn canary() -> Self {
        Self(format!("{}{CANARY}", Self::PREFIX))
    }
}

impl SubscriptionId {
    /// The canary store's webhook subscription.
    pub fn canary() -> Self {
        Self(format!("{}{CANARY}", Self::PREFIX))
    }
}

impl StoreId {
    /// The canary store: the only store that drills and load tests run on.
    pub fn canary() -> Self {
        Self(format!("{}{CANARY}", Self::PREFIX))
    }

    /// Whether it is the canary store.
    pub fn is_canary(&self) -> bool {
        self.as_str() == canary::STORE
    }
}

impl OrderId {
    /// The id of a store's order with this number (without the store's prefix, which may change). Without the
    /// store's secret it cannot be guessed: the id alone lets a shopper who returns from payment see the
    /// order.
    pub fn numbered(store: &StoreId, secret: &str, number: u64) -> Self {
        Self(id::derive_numbered(Self::PREFIX, number, &[secret, store.as_str()]))
    }

    /// The number of an order; meaningless for an id that [`OrderId::numbered`] did not make.
    pub fn number(&self) -> u64 {
        id::number_of(self.digits())
    }
}

impl PaymentId {
    /// The id of an order's payment, derived from the order and `parts`; it begins with the order's number.
    pub fn of_order(order: &OrderId, parts: &[&str]) -> Self {
        let parts: Vec<&str> =
            std::iter::once(order.as_str()).chain(parts.iter().copied()).collect();
        Self(id::derive_numbered(Self::PREFIX, order.number(), &parts))
    }

    /// The number of its order; meaningless for an id that [`PaymentId::of_order`] did not make.
    pub fn order_number(&self) -> u64 {
        id::number_of(self.digits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ids_of_an_order_and_of_its_payments_follow_from_its_number_and_lead_back_to_it() {
        let (store, other) = (StoreId::derive(&["a"]), StoreId::derive(&["b"]));
        let order = OrderId::numbered(&store, "secret", 1_001);
        assert_eq!((order.number(), &order), (1_001, &OrderId::numbered(&store, "secret", 1_001)));
        assert!(order < OrderId::numbered(&store, "secret", 1_002));
        assert_ne!(order, OrderId::numbered(&store, "another", 1_001));
        let foreign = OrderId::numbered(&other, "secret", 1_001);
        assert_ne!(order, foreign);
        let payment = PaymentId::of_order(&order, &["stripe", "0"]);
        assert_eq!(payment.order_number(), 1_001);
        assert_ne!(payment, PaymentId::of_order(&order, &["stripe", "1"]));
        let of_other = PaymentId::of_order(&foreign, &["stripe", "0"]);
        assert_ne!(payment, of_other, "another order of the same number");
        assert_eq!(PaymentId::parse(payment.as_str()), Some(payment));
    }

    #[test]
    fn the_canarys_ids_are_well_formed_and_its_stores_is_the_one_that_adapters_know() {
        let store = StoreId::canary();
        assert_eq!(store.as_str(), canary::STORE);
        assert!(store.is_canary() && !StoreId::derive(&["a"]).is_canary());
        assert_eq!(MerchantId::parse(MerchantId::canary().as_str()), Some(MerchantId::canary()));
        let subscription = SubscriptionId::canary();
        assert_eq!(SubscriptionId::parse(subscription.as_str()), Some(subscription));
    }

    #[test]
    fn prefixes_are_unique_and_include_those_of_derived_ids() {
        let kinds: std::collections::BTreeSet<_> = PREFIXES.iter().collect();
        assert_eq!(kinds.len(), PREFIXES.len());
        assert!(PREFIXES.iter().all(|prefix| prefix.len() == 4 && prefix.ends_with('_')));
        assert!(DERIVED.iter().all(|(prefix, _)| kinds.contains(prefix)));
    }

    #[test]
    fn a_minted_id_is_a_uuid_of_version_7_and_a_derived_one_of_version_8() {
        let minted = StoreId::mint(primitives::clock::Timestamp::from_millis(1_000));
        let derived = StoreId::derive(&["a"]);
        let version = |id: &StoreId| id.digits().as_bytes()[12];
        assert_eq!((version(&minted), version(&derived)), (b'7', b'8'));
    }
}
