//! The countries of addresses, by the names of a shop's language. Themes' forms send the English ones.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use core_types::fold::fold;
use identity::address::regions;
use shop_theme::Country;

use crate::words::{LANGUAGES, Words};

static ALL: LazyLock<Arc<[Country]>> =
    LazyLock::new(|| named(Words::english()).map(country).collect());

fn country((code, name): (&str, &str)) -> Country {
    let regions = regions_of(code, Words::english()).into_iter();
    let regions = regions.map(|(code, name)| (code.to_owned(), name.to_owned()));
    let name = name.to_owned();
    Country { code: code.to_owned(), label: name.clone(), name, regions: regions.collect() }
}

/// The regions of a country, by name. The Japanese know their prefectures from north to south, as their codes are.
pub(crate) fn regions_of(country: &str, words: &Words) -> Vec<(&'static str, &'static str)> {
    let mut all: Vec<(&str, &str)> = regions(country).collect();
    if (country, words.language) != ("JP", "ja") {
        all.sort_by_cached_key(|(_, name)| fold(name));
    }
    all
}

/// What the regions of a country are called, and the sentence that asks for one.
fn of_regions(country: &str, words: &Words) -> (&'static str, &'static str) {
    let own = &words.regions;
    match country {
        "AU" | "BR" | "FM" | "IN" | "MX" | "MY" | "NG" | "PW" | "US" | "VE" => {
            (own.state, own.choose_state)
        }
        "AR" | "CA" | "CN" | "CR" | "CU" | "ES" | "ID" | "IQ" | "IR" | "IT" | "KP" | "KR"
        | "MZ" | "PG" | "PH" | "TH" | "TR" | "VN" => (own.province, own.choose_province),
        "JP" => (own.prefecture, own.choose_prefecture),
        "IE" | "TW" => (own.county, own.choose_county),
        "AE" => (own.emirate, own.choose_emirate),
        "CO" | "HN" | "NI" | "SV" | "UY" => (own.department, own.choose_department),
        _ => (words.region, own.choose_region),
    }
}

/// What people call a region of a country.
pub(crate) fn region_label(country: &str, words: &Words) -> &'static str {
    of_regions(country, words).0
}

/// The sentence that asks for a region of a country.
pub(crate) fn region_needed(country: &str, words: &Words) -> &'static str {
    of_regions(country, words).1
}

/// The codes of all countries with their names, by name.
pub(crate) fn named(words: &Words) -> impl Iterator<Item = (&'static str, &'static str)> {
    words.countries.lines().filter_map(|line| line.split_once(' '))
}

/// All countries, by their names in a language; forms send their English names.
pub(crate) fn all(words: &Words) -> Arc<[Country]> {
    static LABELLED: LazyLock<BTreeMap<&str, Arc<[Country]>>> =
        LazyLock::new(|| LANGUAGES.iter().map(|words| (words.language, labelled(words))).collect());
    Arc::clone(LABELLED.get(words.language).unwrap_or(&ALL))
}

fn labelled(words: &Words) -> Arc<[Country]> {
    let countries = named(words).filter_map(|(code, label)| {
        let english = ALL.iter().find(|country| country.code == code)?;
        Some(Country { label: label.to_owned(), ..english.clone() })
    });
    countries.collect()
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

    use identity::address::country_names::country_name;
    use primitives::fields::FromText as _;

    use super::*;

    fn name_of(code: &str, words: &Words) -> String {
        country_name(code, words.language)
    }

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
    fn regions_are_listed_by_name() {
        let of = |country: &str, locale: &str| {
            let words = Words::of(&core_types::fields::Locale::from_text(locale).unwrap());
            let names = regions_of(country, words).into_iter().map(|(_, name)| name);
            names.collect::<Vec<_>>()
        };
        for country in ["US", "IN", "CA", "MX"] {
            let names = of(country, "en");
            assert!(names.is_sorted_by_key(|name| fold(name)), "{names:?}");
        }
        let last = |country: &str| of(country, "de").last().copied();
        assert_eq!(last("US"), Some("Wyoming"));
        assert_eq!(of("JP", "ja").first(), Some(&"Hokkaido"));
        assert_eq!(of("JP", "en").first(), Some(&"Aichi"));
        assert!(regions_json().contains("\"Andhra Pradesh\",\"Arunachal Pradesh\""));
    }

    #[test]
    fn regions_are_called_as_in_their_country() {
        let of = |locale: &str| Words::of(&core_types::fields::Locale::from_text(locale).unwrap());
        for (country, locale, label, sentence) in [
            ("US", "en", "State", "Please choose a state."),
            ("JP", "en", "Prefecture", "Please choose a prefecture."),
            ("IN", "de", "Bundesstaat", "Bitte wählen Sie einen Bundesstaat."),
            ("CA", "fr", "Province", "Veuillez choisir une province."),
            ("CL", "es", "Provincia o región", "Elija una provincia o región."),
        ] {
            assert_eq!(region_label(country, of(locale)), label);
            assert_eq!(region_needed(country, of(locale)), sentence);
        }
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
