//! The inputs of an address, as its country writes addresses.

use identity::address::{has_postal_codes, regions};
use maud::{Markup, html};
use serde_json::Value;

use crate::countries::{name_of, named};
use crate::form::Fields;
use crate::notices::Notices;
use crate::values::text;
use crate::visit::Visit;
use crate::words::Words;

/// The members of an address, as their inputs are called within `ship[…]` and `bill[…]`.
pub(crate) const ADDRESS: [&str; 10] = [
    "first_name",
    "last_name",
    "company",
    "line1",
    "line2",
    "city",
    "region",
    "postal_code",
    "country",
    "phone",
];

/// An address of the form.
pub(crate) struct Address<'a> {
    /// `ship` or `bill`.
    pub(crate) name: &'static str,
    /// What was sent; it wins over what is stored.
    pub(crate) sent: &'a Fields,
    /// The stored address; null if there is none.
    pub(crate) stored: &'a Value,
    /// The country if neither names one.
    pub(crate) country: &'a str,
    pub(crate) notices: &'a Notices,
    /// The pointer of the address in a problem.
    pub(crate) pointer: &'static str,
}

impl Address<'_> {
    fn value(&self, member: &str) -> &str {
        let sent = self.sent.get(&format!("{}[{member}]", self.name));
        sent.unwrap_or_else(|| text(self.stored, member))
    }

    fn chosen_country(&self) -> &str {
        let country = self.value("country");
        if country.is_empty() { self.country } else { country }
    }

    /// Renders the inputs.
    pub(crate) fn render(&self, words: &Words) -> Markup {
        let country = self.chosen_country();
        let known: Vec<(&str, &str)> = regions(country).collect();
        let (postal, region) = names(country, words);
        let optional = Some(words.optional);
        html! {
            (self.country_select(country, words))
            div.pair {
                (self.input("first_name", (words.first_name, "given-name"), None))
                (self.input("last_name", (words.last_name, "family-name"), None))
            }
            (self.input("company", (words.company, "organization"), optional))
            (self.input("line1", (words.street, "address-line1"), None))
            (self.input("line2", (words.flat, "address-line2"), optional))
            div.pair {
                @if has_postal_codes(country) {
                    (self.input("postal_code", (postal, "postal-code"), None))
                }
                (self.input("city", (words.city, "address-level2"), None))
            }
            @if !known.is_empty() { (self.region_select((region, words.choose), &known)) }
            (self.input("phone", (words.phone, "tel"), optional))
        }
    }

    fn country_select(&self, chosen: &str, words: &Words) -> Markup {
        let id = format!("{}-country", self.name);
        html! {
            div.field {
                label for=(id) { (words.country) }
                select id=(id) name={ (self.name) "[country]" } autocomplete=(self.autocomplete("country"))
                    data-submits="delivery" {
                    @for (code, name) in named(words) { option value=(code) selected[code == chosen] { (name) } }
                }
                (self.error("country", &id))
            }
        }
    }

    fn region_select(&self, (label, choose): (&str, &str), known: &[(&str, &str)]) -> Markup {
        let (id, chosen) = (format!("{}-region", self.name), self.value("region"));
        html! {
            div.field {
                label for=(id) { (label) }
                select id=(id) name={ (self.name) "[region]" } autocomplete=(self.autocomplete("address-level1"))
                    aria-invalid=[self.mark("region")] aria-describedby=[self.described("region", &id)] {
                    option value="" { (choose) }
                    @for (code, name) in known {
                        option value=(code) selected[*code == chosen] { (name) }
                    }
                }
                (self.error("region", &id))
            }
        }
    }

    /// An input with its label and its purpose; what may be left out says so.
    fn input(
        &self,
        member: &str,
        (label, purpose): (&str, &str),
        optional: Option<&str>,
    ) -> Markup {
        let id = format!("{}-{member}", self.name);
        let kind = if member == "phone" { "tel" } else { "text" };
        html! {
            div.field {
                label for=(id) {
                    (label) @if let Some(optional) = optional { span.optional { " " (optional) } }
                }
                input id=(id) type=(kind) name={ (self.name) "[" (member) "]" } value=(self.value(member))
                    autocomplete=(self.autocomplete(purpose)) maxlength="255"
                    aria-invalid=[self.mark(member)] aria-describedby=[self.described(member, &id)];
                (self.error(member, &id))
            }
        }
    }

    fn autocomplete(&self, purpose: &str) -> String {
        let section = if self.name == "ship" { "shipping" } else { "billing" };
        format!("{section} {purpose}")
    }

    fn found(&self, member: &str) -> Option<&str> {
        self.notices.of(&format!("{}/{member}", self.pointer))
    }

    fn mark(&self, member: &str) -> Option<&'static str> {
        self.found(member).map(|_| "true")
    }

    fn described(&self, member: &str, id: &str) -> Option<String> {
        self.found(member).map(|_| format!("{id}-error"))
    }

    fn error(&self, member: &str, id: &str) -> Markup {
        html! {
            @if let Some(detail) = self.found(member) {
                p.error id={ (id) "-error" } { (detail) }
            }
        }
    }
}

/// What people of a country call a postal code and a region. Other languages than English have a word for all of them.
fn names(country: &str, words: &Words) -> (&'static str, &'static str) {
    if words.language != "en" {
        return (words.postal_code, words.region);
    }
    match country {
        "US" => ("ZIP code", "State"),
        "IN" => ("PIN code", "State"),
        "GB" | "AU" | "NZ" | "ZA" => ("Postcode", "State or territory"),
        "CA" => ("Postal code", "Province or territory"),
        _ => ("Postal code", "Region"),
    }
}

impl Visit {
    /// The name and address, as lines, of the place where a rate or an order is collected; empty if it is delivered.
    pub(crate) async fn pickup_place(&self, of: &Value) -> Vec<String> {
        let id = text(of, "location_id");
        if text(of, "kind") != "pickup" || id.is_empty() {
            return Vec::new();
        }
        let found = storefront::pickup_place(&self.shops.app, self.store(), id).await;
        let Ok(Some(place)) = found else { return Vec::new() };
        let name = text(&place, "name").to_owned();
        let address = place.get("address").map(|at| lines_of(at, self.words())).unwrap_or_default();
        std::iter::once(name).chain(address).collect()
    }
}

/// An address as its lines.
pub(crate) fn lines_of(address: &Value, words: &Words) -> Vec<String> {
    let joined = |members: &[&str]| {
        let texts = members.iter().map(|member| text(address, member)).filter(|it| !it.is_empty());
        texts.collect::<Vec<_>>().join(" ")
    };
    let country = name_of(text(address, "country"), words).to_owned();
    let lines = [
        joined(&["first_name", "last_name"]),
        joined(&["company"]),
        joined(&["line1"]),
        joined(&["line2"]),
        joined(&["postal_code", "city", "region"]),
        country,
    ];
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}
