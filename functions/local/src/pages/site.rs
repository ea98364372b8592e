//! What the pages are made of.

use std::path::PathBuf;
use std::sync::Arc;

use services::Endpoints;
use services::config::Config;

use super::desk::Desk;
use crate::activity::Activity;
use crate::host_names::HostNames;

/// The address of the API that documents have, and that of the payment providers.
const DOCUMENTED: (&str, &str) = ("http://127.0.0.1:3000", "http://127.0.0.1:3100");
/// The address of the shops that documents have, behind a shop's name.
const SHOPS: &str = "localhost:3200";

/// Where the parts of the system are.
#[derive(Debug, Clone)]
pub(crate) struct Whereabouts {
    /// The base URL of the API.
    pub(crate) url: String,
    /// The names at which the system is served.
    pub(crate) names: HostNames,
    /// Whether others reach the system; then nothing private is shown.
    pub(crate) is_public: bool,
    /// The data directory; none in memory.
    pub(crate) data: Option<PathBuf>,
    /// The directory of mails; none if a server sends them.
    pub(crate) mails: Option<PathBuf>,
    /// Where the shops are: the domain below which each store has one, and their port.
    shops: (String, Option<u16>),
    /// Names and values of what a client of the emulators needs.
    pub(crate) endpoints: Vec<(&'static str, String)>,
}

impl Whereabouts {
    /// Those of a system with these settings.
    pub(crate) fn new(
        (url, is_public): (&str, bool),
        shops: (String, Option<u16>),
        data: Option<PathBuf>,
        config: &Config,
        aws: &Endpoints,
    ) -> Self {
        let services = [
            ("DynamoDB", aws.dynamodb.clone()),
            ("SQS", aws.sqs.clone()),
            ("Secrets Manager", aws.secrets_manager.clone()),
            ("Razorpay", Some(config.payment_base_urls.razorpay.clone())),
            ("Stripe", Some(config.payment_base_urls.stripe.clone())),
        ];
        let endpoints = services.into_iter().filter_map(|(name, url)| Some((name, url?)));
        Self {
            url: url.to_owned(),
            names: HostNames::of(
                std::iter::once(url).chain(config.admin_origins.iter().map(String::as_str)),
            ),
            is_public,
            shops,
            data,
            mails: config.mail.directory.clone(),
            endpoints: endpoints.collect(),
        }
    }

    /// The URL of a store's shop.
    pub(super) fn shop(&self, subdomain: &str) -> String {
        match &self.shops {
            // Behind a proxy that ends TLS.
            (domain, _) if self.is_public => format!("https://{subdomain}.{domain}"),
            (domain, Some(port)) => format!("http://{subdomain}.{domain}:{port}"),
            (domain, None) => format!("http://{subdomain}.{domain}"),
        }
    }

    /// A document with the addresses of this system.
    pub(super) fn in_place(&self, text: &str) -> String {
        let (api, providers) = DOCUMENTED;
        // In one pass: one's own port may be the other's documented one.
        let own = self.endpoints.iter().find_map(|(_, url)| url.strip_suffix("/stripe"));
        let port = self.shops.1.map(|port| format!("localhost:{port}"));
        let moved = |part: &str| {
            let part = part.replace(providers, own.unwrap_or(providers));
            part.replace(SHOPS, port.as_deref().unwrap_or(SHOPS))
        };
        text.split(api).map(moved).collect::<Vec<_>>().join(&self.url)
    }
}

/// What the pages are made of.
pub(crate) struct Site {
    pub(crate) desk: Desk,
    pub(crate) activity: Arc<Activity>,
    pub(crate) whereabouts: Whereabouts,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_the_addresses_of_the_system() {
        let places = Whereabouts {
            url: "http://127.0.0.1:3100".to_owned(),
            names: HostNames::of([]),
            is_public: false,
            shops: ("localhost".to_owned(), Some(3300)),
            data: None,
            mails: None,
            endpoints: vec![("Stripe", "http://127.0.0.1:3200/stripe".to_owned())],
        };
        let text = "http://127.0.0.1:3000/v1 http://127.0.0.1:3100/stripe http://x.localhost:3200";
        let moved = "http://127.0.0.1:3100/v1 http://127.0.0.1:3200/stripe http://x.localhost:3300";
        assert_eq!(places.in_place(text), moved);
    }
}
