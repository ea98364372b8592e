//! Errors of the API: RFC 9457 `application/problem+json` from a closed catalogue.
//!
//! A [`Problem`] has a public half (code, status, detail, field errors, typed extras) and a
//! private cause, which goes to the log once, at the edge, and never into an answer.

mod errors;
mod passing;
mod written;

use std::borrow::Cow;

use http::{HeaderName, HeaderValue, header};
use serde_json::{Map, Value};

use crate::fields::Fault;

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
    InvalidCursor = 400 "invalid_cursor" "The cursor is stale, or belongs to another list.";
    IdRequired = 400 "id_required" "Name the object by `id`, in the body or the query.";
    HostRequired = 400 "host_required" "Name the storefront's host or its subdomain.";
    StoreRequired = 400 "store_required" "Name the store in a header, the query or the body.";
    IdempotencyKeyRequired = 400 "idempotency_key_required" "This operation needs an Idempotency-Key header.";
    IdempotencyKeyInvalid = 400 "idempotency_key_invalid" "An Idempotency-Key is 1 to 255 visible ASCII characters.";
    IdempotencyKeyTooShort = 400 "idempotency_key_too_short" "The Idempotency-Key of a caller without a credential has at least 22 characters.";
    CostTooHigh = 400 "cost_too_high" "The request costs more than the bucket can ever hold.";
    InvalidOrExpiredToken = 400 "invalid_or_expired_token" "The token is unknown, used or expired.";
    InvalidRedirectUri = 400 "invalid_redirect_uri" "The redirect URI is not registered for this app.";
    InvalidScope = 400 "invalid_scope" "A requested scope is unknown or not registered for this app.";
    UnsupportedResponseType = 400 "unsupported_response_type" "The only response type is `code`.";
    UnsupportedGrantType = 400 "unsupported_grant_type" "The grant type is not supported here.";
    InvalidRequest = 400 "invalid_request" "The request lacks a parameter, repeats one, or has an invalid one.";
    InvalidGrant = 400 "invalid_grant" "The grant is invalid, expired, revoked, or was issued to another client.";
    InvalidTarget = 400 "invalid_target" "The requested target is not valid.";
    UnsupportedTokenType = 400 "unsupported_token_type" "Tokens of this type cannot be revoked.";
    UnauthorizedClient = 400 "unauthorized_client" "The client may not use this grant type.";
    AbsoluteUrlRejected = 400 "absolute_url_refused" "The path must be relative to this API.";
    PathNotAllowed = 400 "path_not_allowed" "This path cannot be reached through the bridge.";
    SignatureMismatch = 400 "signature_mismatch" "The signature does not match what it should cover.";
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
    InsufficientScope = 403 "insufficient_scope" "The token lacks a scope this operation needs.";
    InsufficientRole = 403 "insufficient_role" "The member's role on the store does not allow this.";
    NotInvited = 403 "not_invited" "The invitation is for another e-mail address.";
    AccountDisabled = 403 "account_disabled" "This account is disabled.";
    AppSuspended = 403 "app_suspended" "The app is suspended.";
    NotDeveloper = 403 "developer_required" "This operation needs a developer profile.";
    OperatorRequired = 403 "operator_required" "This operation is for platform operators.";
    NotInstalled = 403 "not_installed" "Only a store that has installed the app may review it.";
    InstallationInactive = 403 "installation_inactive" "The installation is not active.";
    CrossOrigin = 403 "origin_not_allowed" "This origin may not use a cookie credential.";
    MfaRequired = 403 "mfa_required" "A second factor is needed.";
    EmailUnverified = 403 "email_unverified" "Confirm the e-mail address of the account first.";
    OwnerUnverified = 403 "owner_unverified" "The store mails nobody yet: its owner has to confirm their e-mail address first.";
    AccountRequired = 403 "account_required" "The store takes orders only from customers who are signed in.";
    ProductionLocked = 403 "production_locked" "This deployment lets no failover drill run.";
    SandboxOnly = 403 "sandbox_only" "Load tests run on the canary store alone, where the deployment lets them.";
    PurchaseRequired = 403 "purchase_required" "Only who has bought the product may review it.";
    // 404
    NotFound = 404 "not_found" "There is no such resource.";
    StoreNotFound = 404 "store_not_found" "There is no such storefront.";
    StoreNotOwned = 404 "store_not_owned" "There is no such store.";
    AppNotPublished = 404 "app_not_published" "There is no such published app.";
    NotRegistered = 404 "not_registered" "There is no developer profile for this account.";
    UnknownProvider = 404 "unknown_provider" "The store takes no payments through this provider.";
    ThemeNotInstalled = 404 "theme_not_installed" "The theme is not installed on this store.";
    // 405
    MethodNotAllowed = 405 "method_not_allowed" "This path does not accept the method.";
    // 409
    AddressHasAccount = 409 "address_has_account" "A customer has proven the address.";
    CustomersNotMergeable = 409 "customers_not_mergeable" "The customers cannot be merged.";
    EmailTaken = 409 "email_taken" "The e-mail address is already in use.";
    PhoneTaken = 409 "phone_taken" "A customer without an e-mail address has this telephone number.";
    MfaEnabled = 409 "mfa_enabled" "The account has a second factor already.";
    SubdomainTaken = 409 "subdomain_taken" "The subdomain is already in use.";
    DomainTaken = 409 "domain_taken" "The domain is already in use.";
    DomainLimit = 409 "domain_limit" "The store has reached its number of domains.";
    LanguageLimit = 409 "language_limit" "The mail has reached its number of languages.";
    DomainPending = 409 "domain_pending" "The domain is not verified yet.";
    CurrencyLocked = 409 "currency_locked" "The currency can only change while the store is a draft without products and gift cards.";
    InvalidStateTransition = 409 "invalid_state_transition" "The resource's state does not allow this.";
    OpenOrders = 409 "open_orders" "The store has open orders.";
    OwnsActiveStores = 409 "owns_active_stores" "The account still owns stores.";
    MemberOfStores = 409 "member_of_stores" "The account is still a member of stores.";
    LastOwner = 409 "last_owner" "A store keeps at least one owner.";
    AlreadyMember = 409 "already_member" "There is a member of the store with this account or address already.";
    MemberLimit = 409 "member_limit" "The store has reached its number of members and invitations.";
    MembershipLimit = 409 "membership_limit" "The account has reached its number of stores of others.";
    OwnsApps = 409 "owns_apps" "The account still owns apps.";
    VersionConflict = 409 "version_conflict" "The resource changed at the same time; read it again.";
    AlreadyInstalled = 409 "already_installed" "The app, or the theme, is already installed on this store.";
    AlreadyReviewed = 409 "already_reviewed" "There is a review of this by you already.";
    AlreadyRegistered = 409 "already_registered" "This account already has a developer profile.";
    SlugTaken = 409 "slug_taken" "The slug is already in use.";
    AppLimit = 409 "app_limit" "The developer profile has reached its number of apps.";
    AddressLimit = 409 "address_limit" "The customer has reached their number of addresses.";
    WishlistLimit = 409 "wishlist_limit" "The wishlist has reached its number of products.";
    MediaInUse = 409 "media_in_use" "The media is shown somewhere; take it away there first.";
    AppInstalled = 409 "app_installed" "The app is still installed on stores.";
    SubmissionOpen = 409 "submission_open" "The app already has an open submission.";
    NotApproved = 409 "not_approved" "The app has no approved submission.";
    SubscriptionLimit = 409 "subscription_limit" "The store has reached its number of webhook subscriptions.";
    DeliveryInFlight = 409 "delivery_in_flight" "The delivery is being attempted right now.";
    PayloadExpunged = 409 "payload_expunged" "The payload of this delivery has been removed.";
    ReplayRunning = 409 "replay_running" "A replay is under way on this store.";
    ImportRunning = 409 "import_running" "An import is under way on this store.";
    ImportTooLarge = 409 "import_too_large" "The parts of an import are 50 MB at most.";
    PartsMissing = 409 "parts_missing" "The parts of an import are numbered from 1, without a gap.";
    NoSecretRotation = 409 "no_secret_rotation" "There is no secret rotation in progress.";
    ExportLimit = 409 "export_limit" "The store has reached its number of unfinished exports.";
    ImportLimit = 409 "import_limit" "The store has reached its number of imports that wait to be started.";
    StoreLimit = 409 "store_limit" "The account has reached its number of stores.";
    MenuLimit = 409 "menu_limit" "The store has reached its number of menus.";
    HandleTaken = 409 "handle_taken" "The handle is already in use on this store.";
    SkuTaken = 409 "sku_taken" "The SKU is already in use on this store.";
    ProductInUse = 409 "product_in_use" "The product was ordered: archive it instead.";
    LastVariant = 409 "last_variant" "A product has at least one variant.";
    ChangeTooLarge = 422 "change_too_large" "The change touches too many variants at once.";
    VariantLimit = 409 "variant_limit" "The product has reached its number of variants.";
    Cycle = 409 "cycle" "A category cannot be below itself.";
    HasChildren = 409 "has_children" "There are categories below this one.";
    CategoryLimit = 409 "category_limit" "The store has reached its number of categories.";
    CollectionAutomated = 409 "collection_automated" "The products of an automated collection are chosen by its rules.";
    RequestInProgress = 409 "request_in_progress" "A request with this Idempotency-Key is still running.";
    LocationLimit = 409 "location_limit" "The store has reached its number of locations.";
    LocationHasStock = 409 "location_has_stock" "The location still holds stock; name where it moves to.";
    LocationInactive = 409 "location_inactive" "The location is not active.";
    LastActiveLocation = 409 "last_active_location" "A store keeps at least one active location.";
    ItemNotTracked = 409 "item_not_tracked" "The stock of this item is not counted.";
    InsufficientQuantity = 409 "insufficient_quantity" "There is not as much as the change takes.";
    StaleQuantity = 409 "stale_quantity" "The quantity is not what the request compares it with.";
    CodeTaken = 409 "code_taken" "The code belongs to a gift card, or a discount, already.";
    DiscountLimit = 409 "discount_limit" "The store has reached its number of automatic discounts.";
    ZoneLimit = 409 "zone_limit" "The store has reached its number of shipping zones.";
    ZoneOverlap = 409 "zone_overlap" "Another shipping zone covers one of these places as well.";
    TaxRateExists = 409 "tax_rate_exists" "The store has a rate of this name for the same place and class.";
    TaxRateLimit = 409 "tax_rate_limit" "The store has reached its number of tax rates for the country.";
    InsufficientBalance = 409 "insufficient_balance" "The gift card holds less than this amount.";
    GiftCardDisabled = 409 "gift_card_disabled" "The gift card is disabled.";
    GiftCardExpired = 409 "gift_card_expired" "The gift card has expired.";
    GiftCardUnusable = 409 "gift_card_unusable" "Gift cards that would be refunded cannot be used: choose where the money goes.";
    OrderAlreadyPaid = 409 "order_already_paid" "There is nothing left to pay for this order.";
    OrderExpired = 409 "order_expired" "The order can no longer be paid.";
    AmountMismatch = 409 "amount_mismatch" "The provider reports another amount or currency than was asked for.";
    AmountNotSupported = 409 "amount_not_supported" "The payment provider does not take this amount of this currency.";
    NotCapturable = 409 "not_capturable" "The payment holds nothing that can be captured.";
    AmountExceedsAuthorized = 409 "amount_exceeds_authorized" "The amount is more than was authorized.";
    AmountExceedsOutstanding = 409 "amount_exceeds_outstanding" "The amount is more than is left to pay for the order.";
    ProviderNotConnected = 409 "provider_not_connected" "The store has no account with this payment provider.";
    ProviderInUse = 409 "provider_in_use" "Payments through this account are still open.";
    PaymentNotCaptured = 409 "payment_not_captured" "Nothing was taken by this payment that could go back.";
    PaymentDisputed = 409 "payment_disputed" "A dispute holds the money that would go back, or has taken it.";
    EvidencePending = 409 "evidence_pending" "Other evidence for this dispute is on its way to the provider.";
    EvidencePastDue = 409 "evidence_past_due" "The time in which the provider takes evidence for this dispute is over.";
    RefundExceedsCaptured = 409 "refund_exceeds_captured" "More would go back than can still be refunded.";
    InsufficientStock = 409 "insufficient_stock" "There is not enough stock for one or more lines.";
    PriceChanged = 409 "price_changed" "The total is not what was expected.";
    StoreNotReady = 409 "store_not_ready" "The store lacks what it needs to sell: `missing` names it.";
    StoreNotAcceptingOrders = 409 "store_not_accepting_orders" "The store takes no orders now.";
    NothingToFulfill = 409 "nothing_to_fulfill" "Nothing of the order is left to be fulfilled.";
    QuantityExceedsRemaining = 409 "quantity_exceeds_remaining" "A line does not have so many units left.";
    OrderNotFulfillable = 409 "order_not_fulfillable" "The order cannot be fulfilled in its state.";
    InsufficientCommitted = 409 "insufficient_committed" "The location does not hold the stock of this line.";
    NothingToRefund = 409 "nothing_to_refund" "Nothing is left to refund.";
    AlreadyFulfilled = 409 "already_fulfilled" "Something of the order has already left.";
    VersionExists = 409 "version_exists" "There is a package of this version of the theme already.";
    ThemeLimit = 409 "theme_limit" "The store has reached its number of themes.";
    ThemeIsPublished = 409 "theme_is_published" "The theme is the one that the storefront shows.";
    DraftConflict = 409 "draft_conflict" "The draft is not at the version that was named.";
    NoDraft = 409 "no_draft" "The theme has no draft.";
    ThemeCheckFailed = 409 "theme_check_failed" "The draft does not fit the theme.";
    AlreadyCurrent = 409 "already_current" "The storefront shows this already.";
    AlreadyLicensed = 409 "already_licensed" "The store has a licence for this theme.";
    ThemeIsFree = 409 "theme_is_free" "The theme costs nothing.";
    DrillRunning = 409 "drill_running" "A failover drill or a load test is running on the canary store.";
    IncidentOpen = 409 "incident_open" "There is an open incident; nothing is made to fail meanwhile.";
    NotForSale = 409 "not_for_sale" "The theme cannot be bought now.";
    PaymentPageMissing = 409 "payment_page_missing" "The store's settings name no page on which an order is paid.";
    // 410, 412, 413, 415
    Gone = 410 "gone" "The resource is no longer available.";
    PreviewExpired = 410 "preview_expired" "The preview session is over.";
    PreconditionFailed = 412 "precondition_failed" "The resource is not at the version named by If-Match.";
    BodyTooLarge = 413 "body_too_large" "The body is larger than this path accepts.";
    UnsupportedMediaType = 415 "unsupported_media_type" "This path does not accept the content type.";
    // 422
    ValidationFailed = 422 "validation_failed" "One or more fields are invalid.";
    IdempotencyKeyReused = 422 "idempotency_key_reused" "The Idempotency-Key was used for another request.";
    ChecksFailed = 422 "checks_failed" "One or more automatic checks failed.";
    CredentialsRejected = 422 "credentials_rejected" "The payment provider does not accept these credentials.";
    MediaTypeRejected = 422 "media_type_refused" "The file is not a PNG, JPEG, WebP, GIF or AVIF image.";
    TxtNotFound = 422 "txt_not_found" "The TXT record that shows whose the domain is was not found.";
    NoShippingToAddress = 422 "no_shipping_to_address" "The store does not send to this address.";
    BlastRadiusExceeded = 422 "blast_radius_exceeded" "The drill could touch more than it may.";
    InvalidPackage = 422 "invalid_package" "The file is not a theme that can be taken.";
    // 429
    RateLimited = 429 "rate_limited" "The budget for this caller is used up for now.";
    MailLimit = 429 "mail_limit" "No more mail of this kind may be sent today.";
    TooManyAttempts = 429 "too_many_attempts" "Too many attempts; wait before the next.";
    // 5xx
    Internal = 500 "internal_error" "The service failed to answer; the failure is recorded.";
    AnswerTooLarge = 500 "answer_too_large" "The answer is larger than can be sent; ask for less at once.";
    AppUnreachable = 502 "app_unreachable" "The app's own server could not be reached.";
    ProviderError = 502 "provider_error" "The payment provider rejected the request or failed.";
    QueueUnreachable = 502 "queue_unreachable" "The queue did not take the challenge.";
    SourceUnreachable = 502 "source_unreachable" "The source URL did not deliver the file.";
    Unavailable = 503 "service_unavailable" "A part of the service is unavailable; try again.";
    LocationEmptying = 503 "location_emptying" "The location is still being emptied; send the request again.";
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
    /// What is wrong with it, as code and detail.
    pub fault: Fault,
}

impl FieldError {
    /// An error of this code in the field at `pointer`.
    pub fn new(
        pointer: impl Into<String>,
        code: &'static str,
        detail: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self { pointer: pointer.into(), fault: Fault::new(code, detail) }
    }
}

impl Problem {
    /// `422 validation_failed` over these fields.
    pub fn invalid(errors: impl Into<FieldErrors>) -> Self {
        Self { errors: errors.into(), ..Self::from(Code::ValidationFailed) }
    }

    /// `422 validation_failed` for one field.
    pub fn field(pointer: &str, code: &'static str, detail: impl Into<Cow<'static, str>>) -> Self {
        Self::invalid(vec![FieldError { pointer: pointer.into(), fault: Fault::new(code, detail) }])
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
    pub fn naming(mut self, most: usize) -> Self {
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
            tracing::error!(code = self.code.as_str(), cause, "problem");
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
