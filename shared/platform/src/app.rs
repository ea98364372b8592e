//! Apps: what developers publish, and the OAuth client that each of them is.

mod configuration;
mod life;
pub mod publication;
pub(crate) mod samples;
mod stop;
mod topics;
mod view;

use std::net::IpAddr;
use std::time::Duration;

use core_types::fields::{Handle, WebUrl};
use core_types::id::{AppId, MerchantId, SubmissionId, SubscriptionId};
use core_types::key::{self, IndexKey};
use core_types::scope::Scopes;
use crypto::seal;
use crypto::signature::constant_time_eq;
use primitives::clock::{DAY, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use table::item::{Item, Key, Packing};

pub use configuration::Configuration;
pub use life::Suspension;
#[cfg(test)]
pub(crate) use life::tests::draft;
pub use publication::{
    APP_DELETED, APP_PUBLISHED, APP_RESUMED_BY_PLATFORM, APP_SUSPENDED_BY_PLATFORM, APP_UNPUBLISHED,
};
pub use stop::Stop;
pub use topics::*;
pub use view::AppView;

/// Apps one developer may have (our choice).
pub const MAX_APPS: usize = 100;
/// Redirect URIs one app may register.
pub const MAX_REDIRECT_URIS: usize = 10;
/// How long an old client secret still works after a rotation.
pub const SECRET_OVERLAP: Duration = DAY;

primitives::string_enum! {
    /// The status of an app.
    AppStatus {
        /// It was never published.
        Draft = "draft",
        /// It is in the catalogue.
        Published = "published",
        /// Its developer took it out of the catalogue; installations keep working.
        Unpublished = "unpublished",
        /// An operator suspended it: it cannot be installed or authorized, and its tokens are rejected.
        Suspended = "suspended",
        /// Its developer deleted it.
        Deleted = "deleted",
    }
}

primitives::string_enum! {
    /// A category of the app catalogue.
    #[schemars(rename = "AppCategory")]
    Category {
        /// Accounting, tax and reports.
        Finance = "finance",
        /// E-mail, ads and loyalty.
        Marketing = "marketing",
        /// Stock and fulfilment.
        Operations = "operations",
        /// Presentation and search of products.
        Merchandising = "merchandising",
        /// Customer support.
        Support = "support",
        /// Everything else.
        Other = "other",
    }
}

/// The listing of an app in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AppListing")]
pub struct Listing {
    /// What the app does, in one sentence.
    pub tagline: String,
    /// What the app does.
    pub description: String,
    /// The category.
    pub category: Category,
    /// The URL of the icon.
    pub icon_url: Option<WebUrl>,
    /// The URL of the privacy policy.
    pub privacy_policy_url: WebUrl,
    /// The URL at which merchants get support.
    pub support_url: Option<WebUrl>,
    /// The price, in the developer's words.
    pub pricing: String,
}

/// An app. What [`Configuration`] names is what is in force, as it was reviewed last.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CommerceApp {
    /// `app_…`; later ones sort after it.
    pub id: AppId,
    /// The developer's account.
    pub owner_id: MerchantId,
    /// The name merchants see.
    pub name: String,
    /// The readable name in URLs.
    pub slug: Handle,
    /// Where it runs: its own origin.
    pub app_url: WebUrl,
    /// Where merchants may be sent back to, compared byte for byte.
    pub redirect_uris: Vec<String>,
    /// What it may ask for.
    pub scopes: Scopes,
    /// Whether it runs inside the admin.
    pub embedded: bool,
    /// Where events about it go.
    pub webhook_url: Option<String>,
    /// The subscription behind `webhook_url`.
    pub webhook_subscription_id: Option<SubscriptionId>,
    /// The OAuth client id: `cli_…`.
    pub client_id: String,
    /// Whether it can keep a secret; a public client has none.
    pub confidential: bool,
    /// Whether authorization needs PKCE; always, for a public client.
    pub require_pkce: bool,
    /// Where it is in its life.
    pub status: AppStatus,
    /// What its developer wants it to be once that is reviewed; none when that is what it is.
    #[serde(default)]
    pub proposed: Option<Configuration>,
    /// Why operators have stopped it, while they have.
    #[serde(default)]
    pub suspension: Option<Suspension>,
    /// What the catalogue says.
    pub listing: Option<Listing>,
    /// The version that is approved.
    pub approved_version: Option<String>,
    /// The submission that operators are looking at.
    pub open_submission_id: Option<SubmissionId>,
    /// When it last entered the catalogue.
    pub published_at: Option<Timestamp>,
    /// Reviews. Like the other counters it is changed in place: see [`CommerceApp::COUNTED`].
    pub rating_count: u64,
    /// The sum of the stars.
    pub rating_sum: u64,
    /// Reviews by stars, from one star to five.
    pub stars: [u64; 5],
    /// Stores it is active on.
    pub active_installs: u64,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// Optimistic lock: one more with each write but those of counters.
    pub version: u64,
}

impl Item for CommerceApp {
    const KIND: &'static str = "app";
    /// Packed but for what it is changed by in passing, and what that is on condition of.
    const PACKING: Option<Packing> = Some(Packing {
        plain: &[
            "status",
            "redirect_uris",
            "rating_count",
            "rating_sum",
            "stars",
            "active_installs",
        ],
        text: None,
    });
    fn key(&self) -> Key {
        key::app(&self.id)
    }
    fn version(&self) -> u64 {
        self.version
    }
    fn indexes(&self) -> Vec<IndexKey> {
        if self.status == AppStatus::Deleted {
            return Vec::new();
        }
        let category = self.listing.as_ref().map_or(Category::Other, |listing| listing.category);
        vec![
            key::apps_by_status(self.status.as_str(), category.as_str(), self.slug.as_str()),
            key::apps_of(&self.owner_id, self.created_at),
        ]
    }
}

impl CommerceApp {
    /// The app at its next version.
    #[must_use]
    pub fn changed(&self, now: Timestamp) -> Self {
        Self { updated_at: now, version: self.version.saturating_add(1), ..self.clone() }
    }

    /// Whether this URI is registered: byte for byte (RFC 9700 §2.1); for a loopback IP literal
    /// the port may differ (RFC 8252 §7.3) only if the URI is registered without one.
    pub fn allows_redirect(&self, unverified_uri: &str) -> bool {
        self.redirect_uris.iter().any(|registered| registered == unverified_uri)
    }

    /// The origin of the app's own server.
    pub fn origin(&self) -> Option<String> {
        let url = url::Url::parse(self.app_url.as_str()).ok()?;
        Some(url.origin().ascii_serialization())
    }

    /// Whether a merchant may choose it.
    pub fn is_published(&self) -> bool {
        self.status == AppStatus::Published
    }
}

/// Whether this registered URI leads to the merchant's own machine: for development only.
pub fn is_loopback(uri: &str) -> bool {
    let parsed = url::Url::parse(uri).ok();
    match parsed.as_ref().and_then(url::Url::host) {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(v4)) => IpAddr::V4(v4).is_loopback(),
        Some(url::Host::Ipv6(v6)) => IpAddr::V6(v6).is_loopback(),
        None => false,
    }
}

/// Validates a redirect URI that a developer wants to register: absolute, `https` (`http` only for
/// loopback), no fragment (RFC 6749 §3.1.2), no userinfo, no wildcard, nothing that a parser
/// would rewrite, so that comparing bytes compares destinations (docs/platform.md §5).
pub fn is_registrable_redirect(uri: &str) -> bool {
    let plain = uri.len() <= 2_048
        && uri.bytes().all(|b| {
            b.is_ascii_graphic() && !matches!(b, b'\\' | b'*' | b'#' | b'"' | b'<' | b'>')
        });
    let Some(parsed) = url::Url::parse(uri).ok().filter(|_| plain) else { return false };
    if parsed.host().is_none() {
        return false;
    }
    let loopback = is_loopback(uri);
    let scheme = parsed.scheme() == "https" || (parsed.scheme() == "http" && loopback);
    let normal = parsed.as_str() == uri || parsed.as_str().strip_suffix('/') == Some(uri);
    scheme && normal && parsed.username().is_empty() && parsed.password().is_none()
}

/// What authenticates an OAuth client: read with the code in one round trip.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AppClient {
    /// The OAuth client id: `cli_…`.
    pub client_id: String,
    /// The app that authenticates with it.
    pub app_id: AppId,
    /// Whether it must authenticate by a secret.
    pub confidential: bool,
    /// SHA-256 of its secrets, the newest first; secrets are 256 random bits, so that a slow hash
    /// would add nothing. An older one has an end.
    pub secrets: Vec<ClientSecret>,
    /// Optimistic lock: one more with each write.
    pub version: u64,
}

/// One secret of a client.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ClientSecret {
    /// SHA-256 of it.
    pub digest: String,
    /// Until when it works, once a newer one exists.
    pub expires_at: Option<Timestamp>,
}

impl Item for AppClient {
    const KIND: &'static str = "client";
    fn key(&self) -> Key {
        key::client(&self.client_id)
    }
    fn version(&self) -> u64 {
        self.version
    }
}

impl AppClient {
    /// Whether this secret authenticates the client now; a public client has none to give.
    pub fn is_authenticated_by(&self, unverified_secret: Option<&str>, now: Timestamp) -> bool {
        match (self.confidential, unverified_secret) {
            (false, given) => given.is_none(),
            (true, None) => false,
            (true, Some(given)) => {
                let digest = seal::digest(given);
                self.secrets.iter().any(|secret| {
                    secret.expires_at.is_none_or(|end| now < end)
                        && constant_time_eq(secret.digest.as_bytes(), digest.as_bytes())
                })
            }
        }
    }

    /// The client with a new secret; the one before works for [`SECRET_OVERLAP`] more.
    #[must_use]
    pub fn rotate(&self, secret: &str, now: Timestamp) -> Self {
        let new = ClientSecret { digest: seal::digest(secret), expires_at: None };
        let old = self.secrets.first().map(|old| ClientSecret {
            digest: old.digest.clone(),
            expires_at: Some(now.plus(SECRET_OVERLAP)),
        });
        Self {
            secrets: std::iter::once(new).chain(old).collect(),
            version: self.version.saturating_add(1),
            ..self.clone()
        }
    }
}

/// The one app of a slug.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UniqueSlug {
    /// The slug that is taken.
    pub slug: Handle,
    /// Whose it is.
    pub app_id: AppId,
    /// Always 1: it is written whole, and never replaced under its version.
    pub version: u64,
}

impl Item for UniqueSlug {
    const KIND: &'static str = "unique_app_slug";
    fn key(&self) -> Key {
        key::unique_app_slug(self.slug.as_str())
    }
    fn version(&self) -> u64 {
        self.version
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_former_secret_ends_with_its_day_and_the_one_before_it_at_once() {
        let now = core_types::event::EXAMPLE_TIME;
        let client = AppClient {
            client_id: "cli_a".into(),
            app_id: AppId::derive(&["a"]),
            confidential: true,
            secrets: vec![ClientSecret { digest: seal::digest("one"), expires_at: None }],
            version: 1,
        };
        let second = client.rotate("two", now);
        let last = now.plus(DAY).minus(Duration::from_millis(1));
        let end = now.plus(DAY);
        for (secret, at, good) in
            [("one", last, true), ("one", end, false), ("two", last, true), ("two", end, true)]
        {
            assert_eq!(second.is_authenticated_by(Some(secret), at), good, "{secret}");
        }
        assert!(!second.is_authenticated_by(None, now), "it has secrets");
        let third = second.rotate("three", now);
        assert!(!third.is_authenticated_by(Some("one"), now));
        assert!(third.is_authenticated_by(Some("two"), last));
        let public = AppClient { confidential: false, secrets: Vec::new(), ..client };
        assert!(public.is_authenticated_by(None, now));
        assert!(!public.is_authenticated_by(Some("one"), now));
    }

    #[test]
    fn only_redirect_uris_that_no_parser_rewrites_are_registered() {
        for good in [
            "https://app.example.com/callback",
            "https://app.example.com",
            "https://app.example.com/cb?tenant=1",
            "http://127.0.0.1:4000/cb",
            "http://localhost/cb",
            "http://[::1]:9/cb",
        ] {
            assert!(is_registrable_redirect(good), "{good}");
        }
        for bad in [
            "",
            "/cb",
            "app.example.com",
            "ftp://a.example",
            "http://app.example.com/cb",
            "https://app.example.com/cb#x",
            "https://u@app.example.com/",
            "https://u:p@app.example.com/",
            "https://*.example.com/",
            "https://app.example.com/../cb",
            "https://APP.example.com/",
            "https://app.example.com:443/",
            "https://app.example.com\\cb",
            "https://app.example.com/a b",
            "javascript:alert(1)",
            "https://",
            "data:text/html,x",
            "https://app.example.com/\u{e9}",
        ] {
            assert!(!is_registrable_redirect(bad), "{bad}");
        }
    }
}
