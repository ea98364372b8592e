//! Which tracking links a mail may have: a carrier's own pages are safe, as no store can write them.

use core_types::fields::WebUrl;
use identity::domain::{Domains, Host};
use url::Url;

/// Registered domains of carriers. Only the carrier publishes pages below its domain; tracking services that
/// give each shop its own pages are left out.
const CARRIERS: &[&str] = &[
    "aramex.com",
    "auspost.com.au",
    "bluedart.com",
    "bpost.be",
    "canadapost-postescanada.ca",
    "canpar.com",
    "chronopost.fr",
    "colissimo.fr",
    "correos.es",
    "correios.com.br",
    "delhivery.com",
    "dhl.com",
    "dhl.de",
    "dpd.co.uk",
    "dpd.com",
    "dpd.de",
    "dtdc.com",
    "dtdc.in",
    "ecomexpress.in",
    "ekartlogistics.com",
    "evri.com",
    "fedex.com",
    "gls-group.com",
    "gls-group.eu",
    "gls-pakete.de",
    "indiapost.gov.in",
    "inpost.pl",
    "japanpost.jp",
    "kuronekoyamato.co.jp",
    "laposte.fr",
    "myhermes.de",
    "nzpost.co.nz",
    "ontrac.com",
    "parcelforce.com",
    "post.at",
    "post.ch",
    "poste.it",
    "posti.fi",
    "postnl.nl",
    "postnord.com",
    "purolator.com",
    "royalmail.com",
    "sagawa-exp.co.jp",
    "sf-express.com",
    "singpost.com",
    "tnt.com",
    "ups.com",
    "usps.com",
    "xpressbees.com",
    "yodel.co.uk",
];

/// Whether a mail may contain this link: to a carrier, to a host of the store, or to the platform.
pub fn may_be_followed(url: &str, domains: &Domains, base_url: &str) -> bool {
    let is_carriers = || {
        let url =
            Url::parse(url).ok().filter(|url| url.scheme() == "https" && url.port().is_none());
        let host = url.as_ref().and_then(|url| Host::of(url.host_str()?));
        let registered = host.as_ref().and_then(Host::registrable);
        registered.is_some_and(|name| CARRIERS.contains(&name))
    };
    <WebUrl as primitives::fields::FromText>::from_text(url).is_ok()
        && (domains.is_allowed_link(url, base_url) || is_carriers())
}

#[cfg(test)]
mod tests {
    use core_types::id::StoreId;
    use primitives::clock::Timestamp;

    use super::*;
    use crate::order::tracking::pages;

    #[test]
    fn a_tracking_link_leads_to_a_carrier_or_the_store() {
        let store = StoreId::derive(&["s"]);
        let host = Host::of("shop.example.org").unwrap();
        let now = Timestamp::from_millis(0);
        let (mut domains, _) = Domains::of(&store, None).add(&host, false, now).unwrap();
        domains.domains[0].verified_at = Some(now);
        let may = |url: &str| may_be_followed(url, &domains, "https://api.example.com");
        for url in [
            "https://www.dhl.com/track?id=1",
            "https://TOOLS.usps.com/go/1",
            "https://www.indiapost.gov.in/",
            "https://shop.example.org/track",
        ] {
            assert!(may(url), "{url}");
        }
        for url in [
            "https://dhl.com.evil.net/",
            "https://evil-dhl.com/",
            "https://dhl.com:8443/",
            "https://dhl.com@evil.net/",
            "https://evil.gov.in/",
            "http://www.dhl.com/",
        ] {
            assert!(!may(url), "{url}");
        }
    }

    #[test]
    fn the_pages_of_known_carriers_may_be_followed() {
        let domains = Domains::of(&StoreId::derive(&["s"]), None);
        let pages: Vec<String> = pages("JD 01").collect();
        assert!(pages.len() > 10);
        for page in pages {
            assert!(may_be_followed(&page, &domains, "https://api.example.com"), "{page}");
        }
    }

    #[test]
    fn every_carrier_is_a_registrable_domain() {
        for name in CARRIERS {
            assert_eq!(Host::of(name).unwrap().registrable(), Some(*name));
        }
    }
}
