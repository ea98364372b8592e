//! What an address needs in its country: required fields, region codes, patterns of postal codes.
//!
//! The table, `formats.json`, is made by `update.py` from the address data that Google keeps for
//! libaddressinput; nothing is asked for at run time. A region is known by its code (ISO 3166-2
//! without the country) and by its names in the country's languages and in English; it is kept as
//! its code. Street, city and country are asked for in every country (our choice). Whether a
//! postal code lies in its region is not validated: borders of delivery are not those of states.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use gateway::request::Fault;
use regex_lite::Regex;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The format of a country's addresses.
#[derive(Debug, Deserialize)]
struct Format {
    /// A street, C city, S region, Z postal code: what an address needs.
    require: String,
    /// What a whole postal code matches.
    zip: Option<String>,
    /// That, compiled when it is needed first.
    #[serde(skip)]
    pattern: OnceLock<Option<Regex>>,
    /// A postal code that there is.
    example: Option<String>,
    /// Names of regions by code; where addresses name no region, or any, there are none.
    #[serde(default)]
    regions: BTreeMap<String, Vec<String>>,
}

/// A country's format, which is read when an address there is validated first.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Entry {
    text: Box<RawValue>,
    #[serde(skip)]
    read: OnceLock<Option<Format>>,
}

impl Entry {
    fn format(&self) -> Option<&Format> {
        // A test reads all of them.
        self.read.get_or_init(|| serde_json::from_str(self.text.get()).ok()).as_ref()
    }
}

static FORMATS: LazyLock<BTreeMap<String, Entry>> =
    LazyLock::new(|| serde_json::from_str(include_str!("formats.json")).unwrap_or_default());

/// A region and a postal code as they are kept.
pub type Kept = (Option<String>, Option<String>);

/// A region and a postal code as they are kept, or what is wrong with them: each with the name of
/// its field.
///
/// # Errors
/// `required`, `invalid_region`, `invalid_postal_code`.
pub fn validate(
    country: &str,
    region: Option<&str>,
    postal_code: Option<&str>,
) -> Result<Kept, Vec<(&'static str, Fault)>> {
    let Some(format) = FORMATS.get(country).and_then(Entry::format) else {
        return Ok((region.map(str::to_owned), postal_code.map(str::to_owned)));
    };
    let (region, postal_code) = (format.region(country, region), format.postal_code(postal_code));
    match (region, postal_code) {
        (Ok(region), Ok(postal_code)) => Ok((region, postal_code)),
        (region, postal_code) => {
            let region = region.err().map(|fault| ("region", fault));
            let postal_code = postal_code.err().map(|fault| ("postal_code", fault));
            Err(region.into_iter().chain(postal_code).collect())
        }
    }
}

/// The code of a region of a country, however it is named; of a country whose regions are not known,
/// what was given.
///
/// # Errors
/// `invalid_region`.
pub fn region_of(country: &str, given: &str) -> Result<String, Fault> {
    let Some(format) = FORMATS.get(country).and_then(Entry::format) else {
        return Ok(given.to_owned());
    };
    format.region(country, Some(given)).map(|code| code.unwrap_or_else(|| given.to_owned()))
}

impl Format {
    fn region(&self, country: &str, given: Option<&str>) -> Result<Option<String>, Fault> {
        let Some(given) = given else {
            let detail = format!("An address in {country} needs a region{}.", self.such_as());
            return self.unless_required('S', detail);
        };
        if self.regions.is_empty() {
            return Ok(Some(given.to_owned()));
        }
        let wanted = plain(given);
        let bare = wanted.strip_prefix(&plain(country)).filter(|_| given.contains('-'));
        let is_named = |(code, names): &(&String, &Vec<String>)| {
            let code = plain(code);
            let by_name = names.iter().any(|name| plain(name) == wanted);
            code == wanted || bare == Some(code.as_str()) || by_name
        };
        let found = self.regions.iter().find(is_named);
        found.map(|(code, _)| Some(code.clone())).ok_or_else(|| {
            let detail = format!("There is no such region of {country}{}.", self.such_as());
            Fault::new("invalid_region", detail)
        })
    }

    /// A region of the country, for who does not know how to write one.
    fn such_as(&self) -> String {
        let Some((code, names)) = self.regions.first_key_value() else { return String::new() };
        names.first().map_or(String::new(), |name| format!(", such as {code} ({name})"))
    }

    fn postal_code(&self, given: Option<&str>) -> Result<Option<String>, Fault> {
        let example = self.example.as_deref().unwrap_or_default();
        let Some(given) = given else {
            return self.unless_required('Z', format!("Must be a code such as {example}."));
        };
        let Some(pattern) = &self.zip else { return Ok(Some(given.to_owned())) };
        let code = given.trim().to_uppercase();
        // A code may be written in groups where its country writes it in one.
        let whole: String = code.split_whitespace().collect();
        let compile = || Regex::new(&format!("^(?:{pattern})$")).ok();
        let pattern = self.pattern.get_or_init(compile).as_ref();
        let matches = |code: &String| pattern.is_some_and(|pattern| pattern.is_match(code));
        [code, whole].into_iter().find(matches).map(Some).ok_or_else(|| {
            Fault::new("invalid_postal_code", format!("Must be a code such as {example}."))
        })
    }

    fn unless_required(&self, field: char, detail: String) -> Result<Option<String>, Fault> {
        if self.require.contains(field) { Err(Fault::new("required", detail)) } else { Ok(None) }
    }
}

/// A name without case, spaces and punctuation.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Kept = (Option<String>, Option<String>);

    fn kept(country: &str, region: &str, postal_code: &str) -> Result<Kept, Vec<String>> {
        let given = |text: &'static str| (!text.is_empty()).then_some(text);
        let (region, postal_code) = (region.to_owned().leak(), postal_code.to_owned().leak());
        let validated = validate(country, given(region), given(postal_code));
        let named = |(field, fault): (&str, Fault)| format!("{field}: {}", fault.code);
        validated.map_err(|faults| faults.into_iter().map(named).collect())
    }

    #[test]
    fn the_table_reads_and_its_own_examples_pass() {
        assert!(FORMATS.len() > 240);
        for (country, entry) in FORMATS.iter() {
            let format = entry.format().expect(country);
            if let Some(pattern) = &format.zip {
                Regex::new(pattern).expect(country);
                let example = format.example.as_deref().expect(country);
                assert!(format.postal_code(Some(example)).is_ok(), "{country}: {example}");
            }
            for (code, names) in &format.regions {
                for name in names.iter().chain([code]) {
                    let found = format.region(country, Some(name));
                    assert!(matches!(found, Ok(Some(_))), "{country}: {name}");
                }
                let iso = format!("{country}-{code}");
                assert_eq!(format.region(country, Some(&iso)).unwrap().as_ref(), Some(code));
            }
        }
    }

    #[test]
    fn addresses_need_what_their_country_needs() {
        let ok = |region: &str, postal_code: &str| {
            let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            Ok((some(region), some(postal_code)))
        };
        assert_eq!(kept("US", "california", "95014-1234"), ok("CA", "95014-1234"));
        assert_eq!(kept("CA", "Québec", "h3z 2y7"), ok("QC", "H3Z 2Y7"));
        assert_eq!(kept("IN", "Karnataka", "560001"), ok("KA", "560001"));
        assert_eq!(kept("IN", "TG", " 500 001 "), ok("TS", "500001"));
        assert_eq!(kept("GB", "", "sw1a 1aa"), ok("", "SW1A 1AA"));
        assert_eq!(kept("GB", "Kent", "ME1 1AA"), ok("Kent", "ME1 1AA"));
        assert_eq!(kept("AU", "nsw", "2060"), ok("NSW", "2060"));
        assert_eq!(kept("DE", "", "53225"), ok("", "53225"));
        assert_eq!(kept("AE", "Dubai", ""), ok("DU", ""));
        let wrong = |faults: &[&str]| Err(faults.iter().map(|f| (*f).to_owned()).collect());
        let both = ["region: required", "postal_code: required"];
        for country in ["US", "CA", "IN", "AU"] {
            assert_eq!(kept(country, "", ""), wrong(&both), "{country}");
        }
        let both = ["region: invalid_region", "postal_code: invalid_postal_code"];
        assert_eq!(kept("US", "Bavaria", "9501"), wrong(&both));
        assert_eq!(kept("CA", "TX", "H3Z 2Y"), wrong(&both));
        assert_eq!(kept("IN", "Punjabi", "5600012"), wrong(&both));
        assert_eq!(kept("GB", "", "95014"), wrong(&both[1..]));
        assert_eq!(kept("DE", "", ""), wrong(&["postal_code: required"]));
    }
}
