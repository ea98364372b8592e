//! Apps of developers, and the OAuth client of each app.

mod configuration;
mod life;
pub mod publication;
pub(crate) mod samples;
mod stop;
mod topics;
mod view;

use std::time::Duration;

use core_types::fields::{Slug, WebUrl};
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

/// The most apps of one developer (our choice).
pub const MAX_APPS: usize = 100;
/// The most redirect URIs of one app.
pub const MAX_REDIRECT_URIS: usize = 10;
/// The time for which an old client secret still works after a rotation.
pub const SECRET_OVERLAP: Duration = DAY;

primitives::string_enum! {
    /// The status of an app.
    AppStatus {
        /// It was never published.
        Draft = "draft",
        /// It is in the catalogue.
        Published = "published",
        /// Unpublished by its developer; installations keep working.
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
    /// The app's purpose in one sentence.
    pub tagline: String,
    /// The description of the app.
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

/// An app. The fields that [`Configuration`] names are those in force, as last reviewed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CommerceApp {
    /// `app_…`; later ones sort after it.
    pub id: AppId,
    /// The developer's account.
    pub owner_id: MerchantId,
    /// The name that merchants see.
    pub name: String,
    /// The readable name in URLs.
    pub slug: Slug,
    /// The URL at which it runs, on its own origin.
    pub app_url: WebUrl,
    /// The redirect URIs of authorizations, compared byte for byte.
    pub redirect_uris: Vec<String>,
    /// The scopes that it may request.
    pub scopes: Scopes,
    /// Whether it runs inside the admin.
    pub embedded: bool,
    /// The URL that `app.*` events about it are posted to.
    pub webhook_url: Option<String>,
    /// The subscription of `webhook_url`.
    pub webhook_subscription_id: Option<SubscriptionId>,
    /// The OAuth client id: `cli_…`.
    pub client_id: String,
    /// Whether it can keep a client secret; a public client has none.
    pub confidential: bool,
    /// Whether authorizations must use PKCE; always for a public client.
    pub require_pkce: bool,
    /// The status.
    pub status: AppStatus,
    /// The configuration that the next submission proposes; none if it is the one in force.
    #[serde(default)]
    pub proposed: Option<Configuration>,
    /// The suspension by operators, while it lasts.
    #[serde(default)]
    pub suspension: Option<Suspension>,
    /// The listing of the catalogue; none before the first approval.
    pub listing: Option<Listing>,
    /// The version that was approved last.
    pub approved_version: Option<String>,
    /// The submission that waits for an operator's decision.
    pub open_submission_id: Option<SubmissionId>,
    /// When it last entered the catalogue.
    pub published_at: Option<Timestamp>,
    /// The number of reviews. Like the other counters it is changed in place: see
    /// [`CommerceApp::COUNTED`].
    pub rating_count: u64,
    /// The sum of the stars of all reviews.
    pub rating_sum: u64,
    /// The numbers of reviews by stars, from one to five.
    pub stars: [u64; 5],
    /// The number of stores that it is active on.
    pub active_installs: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// The version for optimistic locking, incremented by each write except those of counters.
    pub version: u64,
}

impl Item for CommerceApp {
    const KIND: &'static str = "app";
    /// Packed, except for the attributes that in-place updates change, and those that conditions name.
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
        keyed: false,
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

    /// Whether this URI is registered, compared byte for byte (RFC 9700 §2.1). A loopback URI is no
    /// exception: its port must match too.
    pub fn allows_redirect(&self, unverified_uri: &str) -> bool {
        self.redirect_uris.iter().any(|registered| registered == unverified_uri)
    }

    /// The origin of the app's own server.
    pub fn origin(&self) -> Option<String> {
        let url = url::Url::parse(self.app_url.as_str()).ok()?;
        Some(url.origin().ascii_serialization())
    }

    /// Whether a merchant may install it.
    pub fn is_published(&self) -> bool {
        self.status == AppStatus::Published
    }
}

/// Whether this URI leads to the machine of whoever follows it.
pub fn is_loopback(uri: &str) -> bool {
    url::Url::parse(uri).is_ok_and(|url| egress::is_loopback(&url))
}

/// The hosts that a published app may run at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AppHosts {
    /// Public ones, by `https`.
    #[default]
    Public,
    /// Also the developer's own machine, by `http` as well: in a local system.
    PublicAndLoopback,
}

impl AppHosts {
    /// Those of a system where published apps may run on loopback, or may not.
    pub fn of(loopback_apps: bool) -> Self {
        if loopback_apps { Self::PublicAndLoopback } else { Self::Public }
    }

    /// Whether a published app may have this URL or redirect URI.
    pub fn allow(self, uri: &str) -> bool {
        is_public_https(uri) || (self == Self::PublicAndLoopback && is_loopback(uri))
    }
}

/// Whether this URL is on `https` and not on a loopback host.
pub fn is_public_https(uri: &str) -> bool {
    uri.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://")) && !is_loopback(uri)
}

/// Whether a developer may register this redirect URI: absolute, `https` (`http` only for loopback), no
/// fragment (RFC 6749 §3.1.2), no userinfo, no wildcard, and nothing that a parser would rewrite. So
/// comparing bytes compares destinations (docs/platform.md §5).
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

/// The credentials of an OAuth client, read together with the code in one round trip.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "client", key = key::client(&self.client_id))]
pub struct AppClient {
    /// The OAuth client id: `cli_…`.
    pub client_id: String,
    /// The app that authenticates with it.
    pub app_id: AppId,
    /// Whether it must authenticate by a secret.
    pub confidential: bool,
    /// SHA-256 of its secrets, the newest first. Secrets are 256 random bits, so a slow hash would add
    /// nothing. Older ones expire.
    pub secrets: Vec<ClientSecret>,
    /// The version for optimistic locking, incremented by each write.
    pub version: u64,
}

/// One secret of a client.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ClientSecret {
    /// SHA-256 of the secret.
    pub digest: String,
    /// When it expires, once a newer one exists.
    pub expires_at: Option<Timestamp>,
}

impl AppClient {
    /// Whether this secret authenticates the client now. A public client must give none.
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

    /// The client with a new secret; the one before expires after [`SECRET_OVERLAP`].
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

/// The claim of a slug by one app.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "unique_app_slug", key = key::unique_app_slug(self.slug.as_str()))]
pub struct UniqueSlug {
    /// The slug.
    pub slug: Slug,
    /// The app that has it.
    pub app_id: AppId,
    /// Always 1: the item is written whole, and never replaced by version.
    pub version: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_former_secret_works_for_a_day_and_older_ones_no_more() {
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
            "http://app.localhost:4000/cb",
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
