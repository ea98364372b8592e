//! The configuration of an app that operators review.
//!
//! The app's own fields are the configuration in force. Before the first approval the developer changes
//! them directly. From then on changes wait in `proposed` for a submission. A submission holds its
//! proposal by value, so that an operator approves exactly what they reviewed.

use core_types::fields::WebUrl;
use core_types::scope::Scopes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CommerceApp;

/// The reviewed configuration of an app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AppConfiguration")]
pub struct Configuration {
    /// The URL at which the app runs.
    pub app_url: WebUrl,
    /// The redirect URIs of authorizations.
    pub redirect_uris: Vec<String>,
    /// The scopes that the app may request.
    #[schemars(with = "Vec<String>")]
    pub scopes: Scopes,
    /// Whether the app runs inside the admin.
    pub embedded: bool,
    /// Whether authorizations must use PKCE.
    pub require_pkce: bool,
}

impl Configuration {
    /// The names of the fields that differ from another configuration.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        [
            ("app_url", self.app_url != other.app_url),
            ("redirect_uris", self.redirect_uris != other.redirect_uris),
            ("scopes", self.scopes != other.scopes),
            ("embedded", self.embedded != other.embedded),
            ("require_pkce", self.require_pkce != other.require_pkce),
        ]
        .into_iter()
        .filter_map(|(name, differs)| differs.then_some(name))
        .collect()
    }
}

impl CommerceApp {
    /// The configuration in force.
    pub fn configuration(&self) -> Configuration {
        Configuration {
            app_url: self.app_url.clone(),
            redirect_uris: self.redirect_uris.clone(),
            scopes: self.scopes.clone(),
            embedded: self.embedded,
            require_pkce: self.require_pkce,
        }
    }

    /// The configuration that the developer wants, and that the next submission proposes.
    pub fn wanted(&self) -> Configuration {
        self.proposed.clone().unwrap_or_else(|| self.configuration())
    }

    /// The app with this configuration in force.
    #[must_use]
    pub fn configured(self, now: Configuration) -> Self {
        let Configuration { app_url, redirect_uris, scopes, embedded, require_pkce } = now;
        Self { app_url, redirect_uris, scopes, embedded, require_pkce, ..self }
    }

    /// The app after its developer wants this configuration. It is in force at once while no version is
    /// approved, and by a submission from then on. Only requiring PKCE is in force at once in any case:
    /// it withdraws nothing from anybody (our choice).
    #[must_use]
    pub fn wants(self, wanted: Configuration) -> Self {
        if self.approved_version.is_none() {
            return Self { proposed: None, ..self.configured(wanted) };
        }
        let in_force = Self { require_pkce: self.require_pkce || wanted.require_pkce, ..self };
        let differs = wanted != in_force.configuration();
        Self { proposed: differs.then_some(wanted), ..in_force }
    }

    /// The app after this configuration was approved. Later changes by the developer wait for the next
    /// submission.
    #[must_use]
    pub fn approved(self, reviewed: Configuration) -> Self {
        let wanted = self.wanted();
        let approved = Self { proposed: None, ..self.configured(reviewed) };
        // PKCE may have been required since the submission, and is in force already.
        let require_pkce = approved.require_pkce || wanted.require_pkce;
        let approved = Self { require_pkce, ..approved };
        let differs = wanted != approved.configuration();
        Self { proposed: differs.then_some(wanted), ..approved }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::draft;

    fn other(app: &CommerceApp) -> Configuration {
        let redirect_uris = vec!["https://b.example.com/cb".into()];
        Configuration { redirect_uris, embedded: !app.embedded, ..app.configuration() }
    }

    #[test]
    fn a_change_is_in_force_at_once_only_before_the_first_approval() {
        let wanted = other(&draft());
        let changed = draft().wants(wanted.clone());
        assert_eq!((changed.configuration(), changed.proposed), (wanted.clone(), None));
        let approved = CommerceApp { approved_version: Some("1.0.0".into()), ..draft() };
        let changed = approved.clone().wants(wanted.clone());
        assert_eq!(changed.configuration(), approved.configuration());
        assert_eq!(changed.wanted(), wanted);
        let back = changed.clone().wants(approved.configuration());
        assert_eq!(back.proposed, None, "nothing is proposed that is in force");
        assert_eq!(wanted.differences(&approved.configuration()), ["redirect_uris", "embedded"]);
        let reviewed = changed.approved(wanted.clone());
        assert_eq!((reviewed.configuration(), reviewed.proposed), (wanted, None));
    }

    #[test]
    fn an_approval_applies_to_the_submitted_configuration() {
        let submitted = draft().configuration();
        let since = draft().wants(other(&draft()));
        let approved = since.clone().approved(submitted.clone());
        assert_eq!(approved.configuration(), submitted);
        assert_eq!(approved.proposed, Some(since.configuration()));
    }

    #[test]
    fn pkce_is_required_at_once_and_dropped_by_a_review_only() {
        let lax =
            CommerceApp { require_pkce: false, approved_version: Some("1".into()), ..draft() };
        let before = lax.configuration();
        let strict = lax.wants(Configuration { require_pkce: true, ..before.clone() });
        assert!(strict.require_pkce && strict.proposed.is_none());
        assert!(strict.clone().approved(before.clone()).require_pkce, "submitted before");
        let laxer = strict.wants(before.clone());
        assert!(laxer.require_pkce && laxer.proposed.is_some());
        assert!(!laxer.approved(before).require_pkce);
    }
}
