//! Errors of the API: RFC 9457 `application/problem+json` from a closed catalogue.
//!
//! A [`Problem`] has a public half (code, status, detail, field errors, typed extras) and a private cause,
//! which is logged once, at the edge, and never part of an answer.

mod errors;
mod transient;
mod written;

use std::borrow::Cow;

use http::{HeaderName, HeaderValue, header};
use serde_json::{Map, Value};

use crate::fields::Violation;

pub use errors::{FieldErrors, MAX_ERRORS};
pub use written::{OAuthError, RateLimitCost};

/// The base of every problem's `type` (docs/conventions.md §2).
pub const TYPE_BASE: &str = "https://errors.service.invalid/";

macro_rules! catalogue {
    ($($variant:ident = $status:literal $code:literal $title:literal;)*) => {
        /// Every problem code the service answers with.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = $title] $variant),* }

        impl Code {
            /// The whole catalogue, in document order.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// The stable, machine-readable name.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $code),* }
            }

            /// The HTTP status.
            pub const fn status(self) -> u16 {
                match self { $(Code::$variant => $status),* }
            }

            /// One sentence that is the same for every occurrence.
            pub const fn title(self) -> &'static str {
                match self { $(Code::$variant => $title),* }
            }
        }
    };
}

catalogue! {
    // 400: malformed, or a required header or parameter is missing
    InvalidJson = 400 "invalid_json" "The body is not valid JSON.";
    InvalidForm = 400 "invalid_form" "The body is not a valid form.";
    InvalidHeader = 400 "invalid_header" "A header has an invalid value.";
    InvalidCursor = 400 "invalid_cursor" "The cursor is stale, or belongs to another list: start again without one.";
    IdRequired = 400 "id_required" "The id of the object is required, in the body or the query.";
    HostRequired = 400 "host_required" "`host` or `subdomain` is required.";
    StoreRequired = 400 "store_required" "The store is required: send `X-Service-Store-Id` or `store_id`.";
    IdempotencyKeyRequired = 400 "idempotency_key_required" "This operation requires an Idempotency-Key header.";
    IdempotencyKeyInvalid = 400 "idempotency_key_invalid" "An Idempotency-Key must be 1 to 255 visible ASCII characters.";
    IdempotencyKeyTooShort = 400 "idempotency_key_too_short" "The Idempotency-Key of a caller without a credential must have at least 22 characters.";
    CostTooHigh = 400 "cost_too_high" "The request costs more than the bucket can hold: request less at once.";
    InvalidOrExpiredToken = 400 "invalid_or_expired_token" "The token is unknown, used or expired.";
    InvalidRedirectUri = 400 "invalid_redirect_uri" "The redirect URI is not registered for this app.";
    InvalidScope = 400 "invalid_scope" "A requested scope is unknown or not registered for this app.";
    UnsupportedResponseType = 400 "unsupported_response_type" "The only supported response type is `code`.";
    UnsupportedGrantType = 400 "unsupported_grant_type" "This endpoint does not support the grant type.";
    InvalidRequest = 400 "invalid_request" "The request lacks a parameter, repeats one, or has an invalid one.";
    InvalidGrant = 400 "invalid_grant" "The grant is invalid, expired, revoked, or was issued to another client.";
    InvalidTarget = 400 "invalid_target" "There is no such app, or the installation is another app's.";
    UnsupportedTokenType = 400 "unsupported_token_type" "Tokens of this type cannot be revoked.";
    UnauthorizedClient = 400 "unauthorized_client" "The client may not use this grant type.";
    AbsoluteUrlRejected = 400 "absolute_url_rejected" "The path must be relative to this API.";
    PathNotAllowed = 400 "path_not_allowed" "The bridge does not allow this path.";
    SignatureMismatch = 400 "signature_mismatch" "The signature does not match the signed content.";
    // 401
    Unauthenticated = 401 "unauthenticated" "A valid credential is required.";
    InvalidCredentials = 401 "invalid_credentials" "The e-mail or the password is wrong.";
    InvalidOrExpiredCode = 401 "invalid_or_expired_code" "The code is wrong, used or expired.";
    SessionInactive = 401 "session_inactive" "There is no active session for this credential.";
    InvalidToken = 401 "invalid_token" "The access token is invalid, expired or revoked.";
    InvalidClient = 401 "invalid_client" "Client authentication failed.";
    // 402
    LicenseRequired = 402 "license_required" "The store needs a licence for this theme.";
    // 403
    InsufficientScope = 403 "insufficient_scope" "The token lacks a scope that this operation requires.";
    InsufficientRole = 403 "insufficient_role" "The member's role on the store does not allow this.";
    NotInvited = 403 "not_invited" "The invitation is for another e-mail address.";
    AccountDisabled = 403 "account_disabled" "This account is disabled.";
    AppSuspended = 403 "app_suspended" "The app is suspended.";
    DeveloperRequired = 403 "developer_required" "This operation requires a developer profile.";
    OperatorRequired = 403 "operator_required" "This operation is for platform operators.";
    NotInstalled = 403 "not_installed" "Only a store that has installed the app may review it.";
    InstallationInactive = 403 "installation_inactive" "The installation is not active.";
    OriginNotAllowed = 403 "origin_not_allowed" "Cookie credentials are not allowed from this origin.";
    MfaRequired = 403 "mfa_required" "A second factor is required.";
    EmailUnverified = 403 "email_unverified" "Verify the e-mail address of the account first.";
    OwnerUnverified = 403 "owner_unverified" "The store cannot send mail until its owner has verified their e-mail address.";
    AccountRequired = 403 "account_required" "The store accepts orders only from signed-in customers.";
    DrillsDisabled = 403 "drills_disabled" "Failover drills are disabled in this deployment.";
    CanaryOnly = 403 "canary_only" "Load tests run only on the canary store, where the deployment enables them.";
    PurchaseRequired = 403 "purchase_required" "Only customers who bought the product may review it.";
    // 404
    NotFound = 404 "not_found" "There is no such resource.";
    StorefrontNotFound = 404 "storefront_not_found" "There is no such storefront.";
    StoreNotFound = 404 "store_not_found" "There is no such store.";
    AppNotPublished = 404 "app_not_published" "There is no such published app.";
    DeveloperProfileNotFound = 404 "developer_profile_not_found" "There is no developer profile for this account.";
    UnknownProvider = 404 "unknown_provider" "There is no payment provider of this name.";
    ThemeNotInstalled = 404 "theme_not_installed" "The theme is not installed on this store.";
    // 405
    MethodNotAllowed = 405 "method_not_allowed" "This path does not accept the method.";
    // 409
    AddressHasAccount = 409 "address_has_account" "The address belongs to a customer with an account.";
    CustomersNotMergeable = 409 "customers_not_mergeable" "The customers cannot be merged: `reasons` says why.";
    EmailTaken = 409 "email_taken" "The e-mail address is already in use.";
    PhoneTaken = 409 "phone_taken" "Another customer is identified by this telephone number.";
    MfaEnabled = 409 "mfa_enabled" "The account already has a second factor.";
    SubdomainTaken = 409 "subdomain_taken" "The subdomain is already in use.";
    DomainTaken = 409 "domain_taken" "The domain is already in use.";
    DomainLimit = 409 "domain_limit" "The store has reached its limit of domains.";
    LanguageLimit = 409 "language_limit" "The mail template has reached its limit of languages.";
    DomainPending = 409 "domain_pending" "The domain is not verified yet.";
    CurrencyLocked = 409 "currency_locked" "The currency can only change while the store is a draft without products and gift cards.";
    InvalidStateTransition = 409 "invalid_state_transition" "The resource's state does not allow this action.";
    OpenOrders = 409 "open_orders" "The store has open orders: fulfil or cancel them first.";
    OwnsActiveStores = 409 "owns_active_stores" "The account still owns stores: transfer or delete them first.";
    MemberOfStores = 409 "member_of_stores" "The account is still a member of stores: leave them first.";
    LastOwner = 409 "last_owner" "A store must keep at least one owner.";
    AlreadyMember = 409 "already_member" "The store already has a member with this account or address.";
    MemberLimit = 409 "member_limit" "The store has reached its limit of members and invitations.";
    MembershipLimit = 409 "membership_limit" "The account has reached its limit of memberships in other stores.";
    OwnsApps = 409 "owns_apps" "The account still owns apps: delete them first.";
    VersionConflict = 409 "version_conflict" "The resource was changed at the same time: read it again.";
    AlreadyInstalled = 409 "already_installed" "The app, or the theme, is already installed on this store.";
    AlreadyReviewed = 409 "already_reviewed" "There is a review by this author already: change that review.";
    AlreadyRegistered = 409 "already_registered" "This account already has a developer profile.";
    SlugTaken = 409 "slug_taken" "The slug is already in use.";
    AppLimit = 409 "app_limit" "The developer profile has reached its limit of apps.";
    AddressLimit = 409 "address_limit" "The customer has reached their limit of addresses.";
    WishlistLimit = 409 "wishlist_limit" "The wishlist has reached its limit of products.";
    MediaInUse = 409 "media_in_use" "The media is in use: remove the references to it first.";
    AppInstalled = 409 "app_installed" "The app is still installed on stores.";
    SubmissionOpen = 409 "submission_open" "The app already has an open submission.";
    NotApproved = 409 "not_approved" "The app has no approved submission.";
    SubscriptionLimit = 409 "subscription_limit" "The store has reached its limit of webhook subscriptions.";
    DeliveryInFlight = 409 "delivery_in_flight" "An attempt of this delivery is in progress.";
    PayloadExpunged = 409 "payload_expunged" "The payload of this delivery has been deleted.";
    ReplayRunning = 409 "replay_running" "A replay is already running on this store.";
    ImportRunning = 409 "import_running" "An import is already running on this store.";
    ImportTooLarge = 409 "import_too_large" "The parts of an import must not exceed 50 MB together.";
    PartsMissing = 409 "parts_missing" "The parts of an import must be numbered from 1 without a gap.";
    NoSecretRotation = 409 "no_secret_rotation" "There is no secret rotation in progress.";
    ExportLimit = 409 "export_limit" "The store has reached its limit of unfinished exports.";
    ImportLimit = 409 "import_limit" "The store has reached its limit of imports that are not started.";
    StoreLimit = 409 "store_limit" "The account has reached its limit of stores.";
    MenuLimit = 409 "menu_limit" "The store has reached its limit of menus.";
    HandleTaken = 409 "handle_taken" "The handle is already in use on this store.";
    SkuTaken = 409 "sku_taken" "The SKU is already in use on this store.";
    ProductHasOrders = 409 "product_has_orders" "The product was ordered: archive it instead.";
    LastVariant = 409 "last_variant" "A product must keep at least one variant.";
    VariantLimit = 409 "variant_limit" "The product has reached its limit of variants.";
    Cycle = 409 "cycle" "A category cannot be its own descendant.";
    HasChildren = 409 "has_children" "The category has subcategories: move or delete them first.";
    CategoryLimit = 409 "category_limit" "The store has reached its limit of categories.";
    CollectionAutomated = 409 "collection_automated" "The rules of an automated collection choose its products: change the rules instead.";
    RequestInProgress = 409 "request_in_progress" "A request with this Idempotency-Key is still in progress.";
    LocationLimit = 409 "location_limit" "The store has reached its limit of locations.";
    LocationHasStock = 409 "location_has_stock" "The location still has stock: send `move_stock_to`.";
    LocationInactive = 409 "location_inactive" "The location is not active.";
    LastActiveLocation = 409 "last_active_location" "A store must keep at least one active location.";
    ItemNotTracked = 409 "item_not_tracked" "The inventory of this item is not tracked.";
    InsufficientQuantity = 409 "insufficient_quantity" "The stock level has less than the requested quantity.";
    StaleQuantity = 409 "stale_quantity" "The current quantity differs from the one to compare with: read it again.";
    CodeTaken = 409 "code_taken" "Another gift card or discount already has this code.";
    DiscountLimit = 409 "discount_limit" "The store has reached its limit of automatic discounts.";
    ZoneLimit = 409 "zone_limit" "The store has reached its limit of shipping zones.";
    ZoneOverlap = 409 "zone_overlap" "Another shipping zone already covers one of these regions.";
    TaxRateExists = 409 "tax_rate_exists" "The store already has a rate of this name for the same region and class.";
    TaxRateLimit = 409 "tax_rate_limit" "The store has reached its limit of tax rates for the country.";
    InsufficientBalance = 409 "insufficient_balance" "The gift card's balance is lower than the amount.";
    GiftCardDisabled = 409 "gift_card_disabled" "The gift card is disabled.";
    GiftCardExpired = 409 "gift_card_expired" "The gift card has expired.";
    GiftCardUnusable = 409 "gift_card_unusable" "A gift card to credit is disabled or expired: send `unusable_gift_cards`.";
    OrderAlreadyPaid = 409 "order_already_paid" "The order has nothing left to pay.";
    OrderExpired = 409 "order_expired" "The order can no longer be paid: place a new one.";
    AmountMismatch = 409 "amount_mismatch" "The provider reports a different amount or currency than requested.";
    AmountNotSupported = 409 "amount_not_supported" "The payment provider does not support this amount of this currency.";
    NotCapturable = 409 "not_capturable" "The payment has no authorized amount to capture.";
    AmountExceedsAuthorized = 409 "amount_exceeds_authorized" "The amount exceeds the authorized amount.";
    AmountExceedsOutstanding = 409 "amount_exceeds_outstanding" "The amount exceeds the outstanding amount of the order.";
    ProviderNotConnected = 409 "provider_not_connected" "The store is not connected to this payment provider, or has disabled it.";
    ProviderInUse = 409 "provider_in_use" "Open payments still use this account.";
    PaymentNotCaptured = 409 "payment_not_captured" "The payment has no captured amount to refund.";
    PaymentDisputed = 409 "payment_disputed" "A dispute holds, or has taken, the amount to refund.";
    EvidencePending = 409 "evidence_pending" "Other evidence for this dispute is being submitted to the provider.";
    EvidencePastDue = 409 "evidence_past_due" "The provider's deadline for evidence in this dispute has passed.";
    RefundExceedsCaptured = 409 "refund_exceeds_captured" "The amount exceeds the refundable amount.";
    InsufficientStock = 409 "insufficient_stock" "There is not enough stock for one or more lines.";
    CartConverted = 409 "cart_converted" "The cart has become an order: `order_id` names it.";
    CartExists = 409 "cart_exists" "The customer has a cart at this store: `cart_id` names it.";
    PriceChanged = 409 "price_changed" "The total differs from the expected total.";
    TooManyProducts = 409 "too_many_products" "The store has too many products to filter them by options or to count them.";
    StoreNotReady = 409 "store_not_ready" "The store is not ready to sell: `missing` lists the requirements.";
    StoreNotAcceptingOrders = 409 "store_not_accepting_orders" "The store is not accepting orders.";
    NothingToFulfill = 409 "nothing_to_fulfill" "The order has nothing left to fulfil.";
    QuantityExceedsRemaining = 409 "quantity_exceeds_remaining" "The quantity exceeds the remaining units of a line.";
    OrderNotFulfillable = 409 "order_not_fulfillable" "The order's state does not allow fulfilment.";
    InsufficientCommitted = 409 "insufficient_committed" "The location has too little committed stock for the line.";
    NothingToRefund = 409 "nothing_to_refund" "The order has nothing left to refund.";
    AlreadyFulfilled = 409 "already_fulfilled" "Part of the order is already fulfilled.";
    VersionExists = 409 "version_exists" "The theme already has a package of this version: raise the version.";
    ThemeLimit = 409 "theme_limit" "The store has reached its limit of themes.";
    ThemeIsPublished = 409 "theme_is_published" "The theme is published on the storefront.";
    DraftConflict = 409 "draft_conflict" "The draft is not at the named version: read it again.";
    NoDraft = 409 "no_draft" "The theme has no draft: save one first.";
    ThemeCheckFailed = 409 "theme_check_failed" "The draft does not match the theme's schema.";
    AlreadyCurrent = 409 "already_current" "This release is already the published one.";
    AlreadyLicensed = 409 "already_licensed" "The store already has a licence for this theme.";
    ThemeIsFree = 409 "theme_is_free" "The theme is free and needs no purchase.";
    DrillRunning = 409 "drill_running" "A failover drill or a load test is running on the canary store.";
    IncidentOpen = 409 "incident_open" "An incident is open: no fault is injected until it is resolved.";
    NotForSale = 409 "not_for_sale" "The theme is not for sale.";
    PaymentPageMissing = 409 "payment_page_missing" "The store has no payment page, and its shop is not open.";
    // 410, 412, 413, 415, 416
    Gone = 410 "gone" "The resource is no longer available.";
    PreviewExpired = 410 "preview_expired" "The preview session has ended.";
    PreconditionFailed = 412 "precondition_failed" "The resource is not at the version in If-Match: read it again.";
    BodyTooLarge = 413 "body_too_large" "The body is larger than this path accepts.";
    UnsupportedMediaType = 415 "unsupported_media_type" "This path does not accept the content type.";
    RangeNotSatisfiable = 416 "range_not_satisfiable" "The content does not have the requested bytes.";
    // 421, 422
    MisdirectedRequest = 421 "misdirected_request" "The system is not served at this host: use its own address.";
    ChangeTooLarge = 422 "change_too_large" "The change affects too many variants at once.";
    ValidationFailed = 422 "validation_failed" "One or more fields are invalid.";
    IdempotencyKeyReused = 422 "idempotency_key_reused" "The Idempotency-Key was used for another request.";
    ChecksFailed = 422 "checks_failed" "One or more automatic checks failed.";
    CredentialsRejected = 422 "credentials_rejected" "The payment provider does not accept these credentials.";
    MediaTypeRejected = 422 "media_type_rejected" "The file is not a PNG, JPEG, WebP, GIF or AVIF image.";
    TxtNotFound = 422 "txt_not_found" "The TXT record that verifies the domain was not found.";
    NoShippingToAddress = 422 "no_shipping_to_address" "The store does not ship to this address.";
    BlastRadiusExceeded = 422 "blast_radius_exceeded" "The drill would exceed the allowed blast radius.";
    InvalidPackage = 422 "invalid_package" "The file is not a valid theme package.";
    // 429
    RateLimited = 429 "rate_limited" "The caller's budget is used up: wait for `Retry-After` seconds.";
    MailLimit = 429 "mail_limit" "The limit of mails of this kind is reached for today.";
    TooManyAttempts = 429 "too_many_attempts" "Too many attempts: wait for `Retry-After` seconds.";
    // 5xx
    Internal = 500 "internal_error" "The service failed: retry, or quote `request_id` to the operator.";
    AnswerTooLarge = 500 "answer_too_large" "The response is too large to be sent: request less at once.";
    AppUnreachable = 502 "app_unreachable" "The app's own server could not be reached.";
    ProviderError = 502 "provider_error" "The payment provider rejected the request or failed.";
    QueueUnreachable = 502 "queue_unreachable" "The queue did not accept the challenge message.";
    SourceUnreachable = 502 "source_unreachable" "The file could not be fetched from the source URL.";
    Unavailable = 503 "service_unavailable" "A part of the service is unavailable: retry.";
    LocationEmptying = 503 "location_emptying" "The location is still being emptied: retry.";
    BridgeTimeout = 504 "bridge_timeout" "The bridged request took too long.";
    ProviderTimeout = 504 "provider_timeout" "The payment provider did not answer in time.";
}

impl Code {
    /// A problem of this code, with `detail` for this occurrence.
    pub fn detail(self, detail: impl Into<Cow<'static, str>>) -> Problem {
        let mut problem = Problem::from(self);
        problem.detail = Some(detail.into());
        problem
    }

    /// A problem of this code with one typed extra member.
    pub fn with(self, name: &'static str, value: impl Into<Value>) -> Problem {
        Problem::from(self).with(name, value)
    }
}

/// One problem: a public part for the caller, and a cause for the log.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The entry of the catalogue.
    pub code: Code,
    detail: Option<Cow<'static, str>>,
    errors: FieldErrors,
    extras: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
    cause: Option<String>,
}

/// One invalid field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// RFC 6901 pointer into the body; for a query parameter, `/` and its name.
    pub pointer: String,
    /// The error, as code and detail.
    pub violation: Violation,
}

impl FieldError {
    /// An error of this code in the field at `pointer`.
    pub fn new(
        pointer: impl Into<String>,
        code: &'static str,
        detail: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::at(pointer, Violation::new(code, detail))
    }

    /// A violation by the field at `pointer`.
    pub fn at(pointer: impl Into<String>, violation: Violation) -> Self {
        Self { pointer: pointer.into(), violation }
    }
}

impl Problem {
    /// `422 validation_failed` over these fields.
    pub fn invalid(errors: impl Into<FieldErrors>) -> Self {
        Self { errors: errors.into(), ..Self::from(Code::ValidationFailed) }
    }

    /// `422 validation_failed` for one field.
    pub fn field(pointer: &str, code: &'static str, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::invalid(vec![FieldError::new(pointer, code, detail)])
    }

    /// `409 invalid_state_transition` with the current state and the actions it allows.
    pub fn state(current: &str, allowed_actions: &[&str]) -> Self {
        Code::InvalidStateTransition
            .with("current", current)
            .with("allowed_actions", allowed_actions)
    }

    /// `503`: a dependency failed; `cause` is for the log alone.
    pub fn unavailable(cause: impl std::fmt::Display) -> Self {
        Self::from(Code::Unavailable).because(cause).header(header::RETRY_AFTER, "1")
    }

    /// `500`: a defect of ours; `cause` is for the log alone.
    pub fn internal(cause: impl std::fmt::Display) -> Self {
        Self::from(Code::Internal).because(cause)
    }

    /// Adds a typed extra member.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.extras.insert(name.to_owned(), value.into());
        self
    }

    /// Adds an answer header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    /// Records the private cause.
    #[must_use]
    pub fn because(mut self, cause: impl std::fmt::Display) -> Self {
        self.cause = Some(cause.to_string());
        self
    }

    /// The extra member of this name.
    pub fn extra(&self, name: &str) -> Option<&Value> {
        self.extras.get(name)
    }

    /// The field errors.
    pub fn errors(&self) -> &FieldErrors {
        &self.errors
    }

    /// The same problem with at most `most` field errors.
    #[must_use]
    pub fn with_errors_at_most(mut self, most: usize) -> Self {
        self.errors = self.errors.at_most(most, Clone::clone);
        self
    }

    /// The answer headers of this problem.
    pub fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// The text for this occurrence, or the title.
    pub fn text(&self) -> &str {
        self.detail.as_deref().unwrap_or(self.code.title())
    }

    /// Logs the private cause: called once, where the problem becomes an answer.
    pub fn log(&self) {
        if let Some(cause) = &self.cause {
            tracing::error!(code = self.code.as_str(), cause, "internal error");
        }
    }
}

impl From<Code> for Problem {
    fn from(code: Code) -> Self {
        let mut headers = Vec::new();
        let challenge = match code {
            Code::InvalidToken => Some("Bearer error=\"invalid_token\""),
            Code::InvalidClient => Some("Basic realm=\"oauth\", charset=\"UTF-8\""),
            _ if code.status() == 401 => Some("Bearer"),
            _ => None,
        };
        if let Some(challenge) = challenge {
            headers.push((header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge)));
        }
        Self {
            code,
            detail: None,
            errors: FieldErrors::default(),
            extras: Map::new(),
            headers,
            cause: None,
        }
    }
}

impl From<Vec<FieldError>> for Problem {
    fn from(errors: Vec<FieldError>) -> Self {
        Self::invalid(errors)
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.cause.as_deref().unwrap_or(self.text()))
    }
}

impl std::error::Error for Problem {}
