//! The countries of addresses, by the names that themes' forms have for them.

use std::sync::{Arc, LazyLock};

use identity::address::{countries, regions};
use shop_theme::Country;

use crate::address::name_of;

static ALL: LazyLock<Arc<[Country]>> = LazyLock::new(|| {
    let mut all: Vec<Country> = countries().map(country).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all.into()
});

fn country(code: &str) -> Country {
    let regions = regions(code).map(|(code, name)| (code.to_owned(), name.to_owned()));
    Country { code: code.to_owned(), name: name_of(code).to_owned(), regions: regions.collect() }
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
}
