//! An address as its country's post office has it printed.

use super::formats::{self, is_latin};
use super::{PostalAddress, country_names};

/// The format of countries whose own is not known.
const USUAL: &str = "%N%n%O%n%A%n%C %Z%n%S";
/// Countries whose family names come first in their own script.
const FAMILY_NAME_FIRST: [&str; 6] = ["CN", "HK", "JP", "KR", "MO", "TW"];

/// The parts of an address; a part that it does not have is empty.
#[derive(Debug, Clone, Copy, Default)]
pub struct AddressParts<'a> {
    /// The recipient's given name.
    pub first_name: &'a str,
    /// The recipient's family name.
    pub last_name: &'a str,
    /// The recipient's company.
    pub company: &'a str,
    /// Street and number.
    pub line1: &'a str,
    /// Floor, building, district.
    pub line2: &'a str,
    /// City.
    pub city: &'a str,
    /// The region, by its code where the country has a list.
    pub region: &'a str,
    /// Postal code.
    pub postal_code: &'a str,
    /// The country's code.
    pub country: &'a str,
}

impl<'a> From<&'a PostalAddress> for AddressParts<'a> {
    fn from(address: &'a PostalAddress) -> Self {
        let of = |part: &'a Option<String>| part.as_deref().unwrap_or_default();
        Self {
            first_name: of(&address.first_name),
            last_name: of(&address.last_name),
            company: of(&address.company),
            line1: &address.line1,
            line2: of(&address.line2),
            city: &address.city,
            region: of(&address.region),
            postal_code: of(&address.postal_code),
            country: address.country.as_str(),
        }
    }
}

impl AddressParts<'_> {
    /// The lines of the address as its country writes it. The country is the last line, by its name in a language,
    /// unless it is `home`.
    pub fn lines(&self, language: &str, home: Option<&str>) -> Vec<String> {
        let is_local = [self.line1, self.city].iter().any(|part| !is_latin(part));
        let format = formats::printed(self.country, is_local).unwrap_or(USUAL);
        let lines = format.split("%n").map(|line| self.line(line, is_local));
        let lines = lines.flat_map(|line| line.lines().map(str::to_owned).collect::<Vec<_>>());
        let country = Some(self.country).filter(|country| Some(*country) != home);
        let country = country.map(|country| country_names::country_name(country, language));
        lines.chain(country).filter(|line| !line.is_empty()).collect()
    }

    /// A line of the format: what separates a part from one that is missing is left out.
    fn line(&self, format: &str, is_local: bool) -> String {
        let mut line = String::new();
        let mut fields = format.split('%');
        let mut separator = fields.next().unwrap_or_default();
        for field in fields {
            let (name, behind) = field.split_at_checked(1).unwrap_or_default();
            let value = self.value(name, is_local);
            // A sign before the first part belongs to that part: `〒`.
            if !value.is_empty() && (!line.is_empty() || !separator.trim().is_empty()) {
                line.push_str(separator);
            }
            line.push_str(&value);
            if !value.is_empty() || line.is_empty() {
                separator = behind;
            }
        }
        line.trim().to_owned()
    }

    fn value(&self, field: &str, is_local: bool) -> String {
        let joined = |parts: [&str; 2], by: &str| {
            let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
            parts.collect::<Vec<_>>().join(by)
        };
        let names = [self.first_name, self.last_name];
        let [first, last] = names;
        match field {
            "N" if is_local && FAMILY_NAME_FIRST.contains(&self.country) => {
                joined([last, first], " ")
            }
            "N" => joined(names, " "),
            "O" => self.company.to_owned(),
            "A" => joined([self.line1, self.line2], "\n"),
            "C" => self.city.to_owned(),
            "S" => self.printed_region(is_local).to_owned(),
            "Z" => self.postal_code.to_owned(),
            _ => String::new(),
        }
    }

    /// The region as addresses have it; empty if it is called as the city, which then stands for both.
    fn printed_region(&self, is_local: bool) -> &str {
        let name = formats::printed_region(self.country, self.region, is_local);
        if name.to_lowercase() == self.city.to_lowercase() { "" } else { name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(country: &'static str, parts: [&'static str; 5]) -> AddressParts<'static> {
        let [line1, city, region, postal_code, company] = parts;
        let names = AddressParts { first_name: "Ann", last_name: "Lee", ..AddressParts::default() };
        AddressParts { company, line1, city, region, postal_code, country, ..names }
    }

    #[test]
    fn an_address_has_the_lines_of_its_country() {
        for (country, parts, lines) in [
            (
                "US",
                ["1 Main St", "Austin", "TX", "78701", ""],
                "Ann Lee|1 Main St|Austin, TX 78701|United States",
            ),
            (
                "US",
                ["1 Main St", "Austin", "", "78701", ""],
                "Ann Lee|1 Main St|Austin, 78701|United States",
            ),
            (
                "DE",
                ["Weg 1", "Berlin", "", "10115", "Firma"],
                "Ann Lee|Firma|Weg 1|10115 Berlin|Germany",
            ),
            (
                "FR",
                ["1 rue A", "Paris", "", "75001", "SA"],
                "SA|Ann Lee|1 rue A|75001 Paris|France",
            ),
            (
                "IN",
                ["1 MG Road", "Bengaluru", "KA", "560001", ""],
                "Ann Lee|1 MG Road|Bengaluru 560001|Karnataka|India",
            ),
            (
                "GB",
                ["1 High St", "Leeds", "", "LS1 1AA", ""],
                "Ann Lee|1 High St|Leeds|LS1 1AA|United Kingdom",
            ),
            (
                "BR",
                ["Rua A, 1", "Campinas", "SP", "13010-111", ""],
                "Ann Lee|Rua A, 1|Campinas-SP|13010-111|Brazil",
            ),
            (
                "ES",
                ["Calle A", "Getafe", "M", "28901", ""],
                "Ann Lee|Calle A|28901 Getafe Madrid|Spain",
            ),
            ("ES", ["Calle A", "Madrid", "M", "28013", ""], "Ann Lee|Calle A|28013 Madrid|Spain"),
            ("CH", ["Weg 1", "Bern", "", "3000", ""], "Ann Lee|Weg 1|3000 Bern|Switzerland"),
            (
                "JP",
                ["1-2-3 Ginza", "Chuo-ku", "13", "104-0061", ""],
                "Ann Lee|1-2-3 Ginza|Chuo-ku, Tokyo 104-0061|Japan",
            ),
            (
                "JP",
                ["銀座1-2-3", "中央区", "13", "104-0061", "会社"],
                "〒104-0061|東京都中央区|銀座1-2-3|会社|Lee Ann|Japan",
            ),
            (
                "SG",
                ["1 Road", "Singapore", "", "018956", ""],
                "Ann Lee|1 Road|Singapore 018956|Singapore",
            ),
            ("AE", ["1 Road", "Dubai", "DU", "", ""], "Ann Lee|1 Road|Dubai|United Arab Emirates"),
            (
                "AG",
                ["1 Road", "St John's", "", "", ""],
                "Ann Lee|1 Road|St John's|Antigua & Barbuda",
            ),
        ] {
            assert_eq!(of(country, parts).lines("en", None).join("|"), lines, "{country}");
        }
    }

    #[test]
    fn a_country_is_named_abroad_in_the_readers_language() {
        let address = of("DE", ["Weg 1", "Berlin", "", "10115", ""]);
        let last = |language, home| address.lines(language, home).pop();
        assert_eq!(last("de-AT", Some("AT")).as_deref(), Some("Deutschland"));
        assert_eq!(last("ja", None).as_deref(), Some("ドイツ"));
        assert_eq!(last("it", Some("IT")).as_deref(), Some("GERMANY"));
        assert_eq!(last("de", Some("DE")).as_deref(), Some("10115 Berlin"));
        let second = AddressParts { line2: "2nd floor", ..address };
        assert_eq!(
            second.lines("de", Some("DE")),
            ["Ann Lee", "Weg 1", "2nd floor", "10115 Berlin"]
        );
    }

    #[test]
    fn every_country_prints_every_required_part() {
        for country in super::super::countries() {
            let address = of(country, ["Street 1", "Town", "Region", "12345", ""]);
            let lines = address.lines("en", None).join("\n");
            assert!(lines.contains("Ann Lee") && lines.contains("Street 1"), "{country}: {lines}");
            assert!(lines.contains("Town") && !lines.contains('%'), "{country}: {lines}");
            let has_code = lines.contains("12345");
            assert!(has_code || !formats::has_postal_codes(country), "{country}: {lines}");
        }
    }
}
