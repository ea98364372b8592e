//! The inputs of an address, as its country writes addresses.

mod needs;

use identity::address::{AddressParts, has_postal_codes};
use maud::{Markup, html};
use serde_json::Value;

use crate::countries::{named, region_label, regions_of};
use crate::form::Fields;
use crate::notices::Notices;
use crate::values::text;
use crate::visit::Visit;
use crate::words::Words;

pub(crate) use needs::{Needs, is_blank};

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
    /// What it must have.
    pub(crate) needs: Needs,
}

/// An input of an address: its member, its label, and its purpose for a browser.
type Input<'a> = (&'a str, &'a str, &'a str);

impl Address<'_> {
    fn value(&self, member: &str) -> &str {
        let sent = self.sent.get(&format!("{}[{member}]", self.name));
        sent.unwrap_or_else(|| text(self.stored, member))
    }

    fn chosen_country(&self) -> &str {
        let country = self.value("country");
        if country.is_empty() { self.country } else { country }
    }

    /// Renders the inputs. What may be left out says so.
    pub(crate) fn render(&self, words: &Words) -> Markup {
        let country = self.chosen_country();
        let known = regions_of(country, words);
        let needed = self.needs.members(country);
        let input = |input: Input<'_>| self.input(input, &needed, words);
        let postal = postal_label(country, words);
        let region = region_label(country, words);
        html! {
            (self.country_select(country, words))
            div.pair {
                (input(("first_name", words.first_name, "given-name")))
                (input(("last_name", words.last_name, "family-name")))
            }
            (input(("company", words.company, "organization")))
            (input(("line1", words.street, "address-line1")))
            (input(("line2", words.flat, "address-line2")))
            div.pair {
                @if has_postal_codes(country) { (input(("postal_code", postal, "postal-code"))) }
                (input(("city", words.city, "address-level2")))
            }
            @if !known.is_empty() { (self.region_select(region, &known, &needed, words)) }
            // Some countries need a region, and there is no list of theirs.
            @else if Needs::PLACE.members(country).contains(&"region") { (input(("region", region, "address-level1"))) }
            (input(("phone", words.phone, "tel")))
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

    fn region_select(
        &self,
        label: &str,
        known: &[(&str, &str)],
        needed: &[&str],
        words: &Words,
    ) -> Markup {
        let (id, chosen) = (format!("{}-region", self.name), self.value("region"));
        html! {
            div.field {
                label for=(id) { (label) (self.optional("region", needed, words)) }
                select id=(id) name={ (self.name) "[region]" } autocomplete=(self.autocomplete("address-level1"))
                    required[needed.contains(&"region")]
                    aria-invalid=[self.mark("region")] aria-describedby=[self.described("region", &id)] {
                    option value="" { (words.choose) }
                    @for (code, name) in known {
                        option value=(code) selected[*code == chosen] { (name) }
                    }
                }
                (self.error("region", &id))
            }
        }
    }

    /// An input with its label and its purpose.
    fn input(&self, input: Input<'_>, needed: &[&str], words: &Words) -> Markup {
        let (member, label, purpose) = input;
        let id = format!("{}-{member}", self.name);
        let kind = if member == "phone" { "tel" } else { "text" };
        html! {
            div.field {
                label for=(id) { (label) (self.optional(member, needed, words)) }
                input id=(id) type=(kind) name={ (self.name) "[" (member) "]" } value=(self.value(member))
                    autocomplete=(self.autocomplete(purpose)) maxlength="255" required[needed.contains(&member)]
                    aria-invalid=[self.mark(member)] aria-describedby=[self.described(member, &id)];
                (self.error(member, &id))
            }
        }
    }

    /// What a label says of an input that may be left out. Where the whole address may be, none says so.
    fn optional(&self, member: &str, needed: &[&str], words: &Words) -> Markup {
        let is_of_place = matches!(member, "line1" | "city" | "postal_code" | "region");
        let is_optional = !needed.contains(&member) && (self.needs.place || !is_of_place);
        html! { @if is_optional { span.optional { " " (words.optional) } } }
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

/// What people of a country call a postal code. Other languages than English have a word for all of them.
fn postal_label(country: &str, words: &Words) -> &'static str {
    if words.language != "en" {
        return words.postal_code;
    }
    match country {
        "US" => "ZIP code",
        "IN" => "PIN code",
        "GB" | "AU" | "NZ" | "ZA" => "Postcode",
        _ => words.postal_code,
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
    let of = |member| text(address, member);
    let parts = AddressParts {
        first_name: of("first_name"),
        last_name: of("last_name"),
        company: of("company"),
        line1: of("line1"),
        line2: of("line2"),
        city: of("city"),
        region: of("region"),
        postal_code: of("postal_code"),
        country: of("country"),
    };
    parts.lines(words.language, None)
}

/// The lines of an address as a page has them. Each is isolated: a name may have characters that turn the text around it.
pub(crate) fn shown_lines(lines: &[String]) -> Markup {
    html! { address { @for line in lines { bdi { (line) } br; } } }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rendered(needs: Needs, stored: &Value, notices: &Notices) -> String {
        let sent = Fields::default();
        let address = Address {
            name: "ship",
            sent: &sent,
            stored,
            country: "US",
            notices,
            pointer: "/shipping_address",
            needs,
        };
        address.render(Words::english()).into_string()
    }

    fn field<'a>(page: &'a str, id: &str) -> &'a str {
        let at = page.find(&format!("<label for=\"{id}\"")).expect(id);
        page[at..].split("</div>").next().unwrap()
    }

    #[test]
    fn required_inputs_say_so_and_others_are_optional() {
        let none = Notices::default();
        let page = rendered(Needs::RECIPIENT, &Value::Null, &none);
        for id in ["last_name", "line1", "city", "postal_code", "region"] {
            let field = field(&page, &format!("ship-{id}"));
            assert!(field.contains(" required") && !field.contains("(optional)"), "{field}");
        }
        for id in ["first_name", "company", "line2", "phone"] {
            let field = field(&page, &format!("ship-{id}"));
            assert!(!field.contains(" required") && field.contains("(optional)"), "{field}");
        }
        let digital = rendered(Needs::default(), &Value::Null, &none);
        assert!(!digital.contains(" required"), "{digital}");
        assert!(!field(&digital, "ship-city").contains("(optional)"));
    }

    #[test]
    fn a_needed_region_without_a_list_is_typed() {
        let stored = json!({"country": "CR"});
        let page = rendered(Needs::PLACE, &stored, &Notices::default());
        assert!(field(&page, "ship-region").contains("<input id=\"ship-region\""), "{page}");
    }

    #[test]
    fn a_line_that_turns_the_text_round_is_isolated() {
        let address = json!({"first_name": "\u{202e}Ada", "line1": "1 Main", "country": "US"});
        let lines = lines_of(&address, Words::english());
        let shown = shown_lines(&lines).into_string();
        assert!(shown.contains("<bdi>\u{202e}Ada</bdi><br><bdi>1 Main</bdi><br>"), "{shown}");
    }
}
