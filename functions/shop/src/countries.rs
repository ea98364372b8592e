//! The countries of addresses, by the names that themes' forms have for them.

use std::sync::{Arc, LazyLock};

use identity::address::regions;
use shop_theme::Country;

/// The countries that the API accepts, a line each: the code and the English name of the Unicode CLDR (48), in the
/// order of its collation.
const NAMES: &str = include_str!("country_names.txt");

static ALL: LazyLock<Arc<[Country]>> = LazyLock::new(|| named().map(country).collect());

fn country((code, name): (&str, &str)) -> Country {
    let regions = regions(code).map(|(code, name)| (code.to_owned(), name.to_owned()));
    Country { code: code.to_owned(), name: name.to_owned(), regions: regions.collect() }
}

/// The codes of all countries with their names, by name.
pub(crate) fn named() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.lines().filter_map(|line| line.split_once(' '))
}

/// The name of a country; the code itself if it is none's.
pub(crate) fn name_of(code: &str) -> &str {
    named().find(|(known, _)| *known == code).map_or(code, |(_, name)| name)
}

/// All countries, by name.
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
    use primitives::fields::FromText as _;

    use super::*;

    #[test]
    fn a_country_is_found_by_its_name() {
        assert_eq!(code_of(" germany "), "DE");
        assert_eq!(code_of("DE"), "DE");
        assert_eq!(code_of("Atlantis"), "Atlantis");
        assert!(regions_json().contains("\"Karnataka\"") && !regions_json().contains('<'));
        let names: std::collections::BTreeSet<&str> =
            ALL.iter().map(|country| country.name.as_str()).collect();
        assert_eq!(names.len(), ALL.len(), "no two have one name");
    }

    #[test]
    fn every_country_of_the_api_is_listed_by_its_name() {
        let first: Vec<&str> = named().take(3).map(|(_, name)| name).collect();
        assert_eq!(first, ["Afghanistan", "Åland Islands", "Albania"]);
        for (code, name) in
            [("US", "United States"), ("CI", "Côte d’Ivoire"), ("TR", "Türkiye"), ("XK", "Kosovo")]
        {
            assert_eq!(name_of(code), name);
        }
        let is_accepted = |code: &str| core_types::fields::Country::from_text(code).is_ok();
        assert!(named().all(|(code, _)| is_accepted(code)));
        let letters = || 'A'..='Z';
        let codes = letters().flat_map(|one| letters().map(move |other| format!("{one}{other}")));
        assert_eq!(codes.filter(|code| is_accepted(code)).count(), named().count());
        assert_eq!(name_of("AC"), "AC");
    }
}
