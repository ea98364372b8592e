//! The countries of addresses, by the names of a shop's language. Themes' forms have the English ones.

use std::sync::{Arc, LazyLock};

use identity::address::regions;
use shop_theme::Country;

use crate::words::Words;

static ALL: LazyLock<Arc<[Country]>> =
    LazyLock::new(|| named(Words::english()).map(country).collect());

fn country((code, name): (&str, &str)) -> Country {
    let regions = regions(code).map(|(code, name)| (code.to_owned(), name.to_owned()));
    Country { code: code.to_owned(), name: name.to_owned(), regions: regions.collect() }
}

/// The codes of all countries with their names, by name.
pub(crate) fn named(words: &Words) -> impl Iterator<Item = (&'static str, &'static str)> {
    words.countries.lines().filter_map(|line| line.split_once(' '))
}

/// The name of a country; the code itself if it is none's.
pub(crate) fn name_of<'a>(code: &'a str, words: &Words) -> &'a str {
    named(words).find(|(known, _)| *known == code).map_or(code, |(_, name)| name)
}

/// All countries, by their English names.
pub(crate) fn all() -> Arc<[Country]> {
    Arc::clone(&ALL)
}

/// The code of a country that a form names; what was sent if it is none.
pub(crate) fn code_of(sent: &str) -> &str {
    let sent = sent.trim();
    let found = ALL.iter().find(|country| country.name.eq_ignore_ascii_case(sent));
    found.map_or(sent, |country| country.code.as_str())
}

/// The names of the regions of each country that has some, as JSON: `{"India": ["Assam", …]}`.
pub(crate) fn regions_json() -> &'static str {
    static JSON: LazyLock<String> = LazyLock::new(|| {
        let with_regions = ALL.iter().filter(|country| !country.regions.is_empty());
        let pairs = with_regions.map(|country| {
            let names = country.regions.iter().map(|(_, name)| name.as_str());
            (country.name.clone(), names.collect::<Vec<_>>().into())
        });
        let all: serde_json::Map<String, serde_json::Value> = pairs.collect();
        serde_json::Value::Object(all).to_string()
    });
    &JSON
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use primitives::fields::FromText as _;

    use super::*;

    #[test]
    fn a_country_is_found_by_its_name() {
        assert_eq!(code_of(" germany "), "DE");
        assert_eq!(code_of("DE"), "DE");
        assert_eq!(code_of("Atlantis"), "Atlantis");
        assert!(regions_json().contains("\"Karnataka\"") && !regions_json().contains('<'));
        let names: BTreeSet<&str> = ALL.iter().map(|country| country.name.as_str()).collect();
        assert_eq!(names.len(), ALL.len(), "no two have one name");
    }

    #[test]
    fn every_country_of_the_api_is_listed_by_its_name() {
        let english = Words::english();
        let first: Vec<&str> = named(english).take(3).map(|(_, name)| name).collect();
        assert_eq!(first, ["Afghanistan", "Åland Islands", "Albania"]);
        for (code, name) in
            [("US", "United States"), ("CI", "Côte d’Ivoire"), ("TR", "Türkiye"), ("XK", "Kosovo")]
        {
            assert_eq!(name_of(code, english), name);
        }
        let is_accepted = |code: &str| core_types::fields::Country::from_text(code).is_ok();
        assert!(named(english).all(|(code, _)| is_accepted(code)));
        let letters = || 'A'..='Z';
        let codes = letters().flat_map(|one| letters().map(move |other| format!("{one}{other}")));
        assert_eq!(codes.filter(|code| is_accepted(code)).count(), named(english).count());
        assert_eq!(name_of("AC", english), "AC");
    }

    #[test]
    fn every_language_names_every_country() {
        let codes = |words: &Words| named(words).map(|(code, _)| code).collect::<BTreeSet<_>>();
        let all = codes(Words::english());
        for (locale, germany) in [
            ("de", "Deutschland"),
            ("fr", "Allemagne"),
            ("es", "Alemania"),
            ("ja", "ドイツ"),
            ("hi", "जर्मनी"),
        ] {
            let words = Words::of(&core_types::fields::Locale::from_text(locale).unwrap());
            assert_eq!(codes(words), all, "{locale}");
            assert_eq!(name_of("DE", words), germany);
        }
    }
}
