//! The public tracking pages of carriers.

use core_types::fold::fold;

use super::fulfillment::Tracking;

/// Where in the address the number stands.
const NUMBER: &str = "{number}";

/// The carriers by what people call them, and their pages.
const CARRIERS: [(&[&str], &str); 15] = [
    (&["dhl"], "https://www.dhl.com/global-en/home/tracking.html?tracking-id={number}"),
    (&["ups", "united parcel service"], "https://www.ups.com/track?tracknum={number}"),
    (&["fedex", "federal express"], "https://www.fedex.com/fedextrack/?trknbr={number}"),
    (
        &["usps", "us postal service", "united states postal service"],
        "https://tools.usps.com/go/TrackConfirmAction?tLabels={number}",
    ),
    (&["dpd"], "https://tracking.dpd.de/status/en_US/parcel/{number}"),
    (&["gls"], "https://gls-group.com/GROUP/en/parcel-tracking/?match={number}"),
    (&["royal mail"], "https://www.royalmail.com/track-your-item#/tracking-results/{number}"),
    (
        &["colissimo", "la poste", "laposte"],
        "https://www.laposte.fr/outils/suivre-vos-envois?code={number}",
    ),
    (
        &["india post", "indiapost", "speed post"],
        "https://www.indiapost.gov.in/_layouts/15/dop.portal.tracking/trackconsignment.aspx?cn={number}",
    ),
    (&["delhivery"], "https://www.delhivery.com/track-v2/package/{number}"),
    (
        &["blue dart", "bluedart"],
        "https://www.bluedart.com/trackdartresultthirdparty?trackFor=0&trackNo={number}",
    ),
    (
        &["japan post", "日本郵便", "ゆうパック"],
        "https://trackings.post.japanpost.jp/services/srv/search/?requestNo1={number}&locale=en",
    ),
    (
        &["yamato", "クロネコヤマト", "ヤマト運輸"],
        "https://jizen.kuronekoyamato.co.jp/jizen/servlet/crjz.b.NQ0010?id={number}",
    ),
    (
        &["australia post", "auspost", "startrack"],
        "https://auspost.com.au/mypost/track/details/{number}",
    ),
    (
        &["canada post", "postes canada"],
        "https://www.canadapost-postescanada.ca/track-reperage/en#/search?searchFor={number}",
    ),
];

impl Tracking {
    /// The page on which the carrier shows the parcel, if its name is known.
    #[must_use]
    pub fn carriers_page(&self) -> Option<String> {
        tracking_url(self.company.as_deref()?, self.number.as_deref()?)
    }
}

/// The page on which a carrier shows a parcel, if its name is known: with words around it as well (`DHL Express`).
#[must_use]
pub fn tracking_url(carrier: &str, number: &str) -> Option<String> {
    let (carrier, number) = (words_of(carrier), number.trim());
    if number.is_empty() {
        return None;
    }
    let is_it = |name: &str| carrier.contains(&words_of(name));
    let (_, page) = CARRIERS.iter().find(|(names, _)| names.iter().any(|name| is_it(name)))?;
    Some(page.replace(NUMBER, &encoded(number)))
}

/// A name as whole words, each between blanks: `UPS` is not in `Groups`.
fn words_of(name: &str) -> String {
    let folded = fold(name);
    let words: Vec<&str> =
        folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

/// A text as a part of an address, with everything percent-encoded that has a meaning there.
fn encoded(text: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    encoded.replace('+', "%20")
}

/// The page of each carrier for a parcel.
#[cfg(test)]
pub(crate) fn pages(number: &str) -> impl Iterator<Item = String> {
    CARRIERS.iter().filter_map(move |(names, _)| tracking_url(names.first()?, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_carrier_has_a_page_for_a_parcel() {
        for (carrier, host) in [
            ("DHL", "www.dhl.com"),
            ("dhl express", "www.dhl.com"),
            ("UPS", "www.ups.com"),
            ("FedEx", "www.fedex.com"),
            ("USPS", "tools.usps.com"),
            ("DPD", "tracking.dpd.de"),
            ("GLS Germany", "gls-group.com"),
            ("Royal Mail", "www.royalmail.com"),
            ("La Poste", "www.laposte.fr"),
            ("Colissimo", "www.laposte.fr"),
            ("India Post", "www.indiapost.gov.in"),
            ("Delhivery", "www.delhivery.com"),
            ("Blue Dart", "www.bluedart.com"),
            ("Japan Post", "trackings.post.japanpost.jp"),
            ("日本郵便", "trackings.post.japanpost.jp"),
            ("Yamato (Kuroneko)", "jizen.kuronekoyamato.co.jp"),
            ("Australia Post", "auspost.com.au"),
            ("Canada Post", "www.canadapost-postescanada.ca"),
        ] {
            let url = tracking_url(carrier, "AB 12").unwrap_or_default();
            assert!(url.starts_with(&format!("https://{host}/")), "{carrier}: {url}");
            assert!(url.contains("AB%2012"), "{carrier}: {url}");
        }
    }

    #[test]
    fn an_unknown_carrier_and_no_number_have_no_page() {
        for (carrier, number) in [("Groups", "1"), ("", "1"), ("My cousin", "1"), ("UPS", " ")] {
            assert_eq!(tracking_url(carrier, number), None, "{carrier}");
        }
    }

    #[test]
    fn a_number_changes_nothing_else_of_the_address() {
        let url = tracking_url("UPS", "1Z&x=#/../{number}\"é").unwrap_or_default();
        let number = url.strip_prefix("https://www.ups.com/track?tracknum=");
        assert_eq!(number, Some("1Z%26x%3D%23%2F..%2F%7Bnumber%7D%22%C3%A9"));
        assert!(CARRIERS.iter().all(|(_, page)| page.starts_with("https://")));
        assert!(CARRIERS.iter().all(|(_, page)| page.matches(NUMBER).count() == 1));
    }
}
