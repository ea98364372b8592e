//! The address of a form: of the platform's own by the API's names, of a theme's by those of themes.

use serde_json::{Map, Value, json};

use super::errors::ADDRESS_FIELDS;
use crate::address::ADDRESS;
use crate::countries::code_of;
use crate::form::Fields;

/// The members that an address can be without.
const OPTIONAL: [&str; 7] =
    ["first_name", "last_name", "company", "line2", "region", "postal_code", "phone"];

/// The address that a form has, by the API's names. What the form does not have is left out, and so is what is blank.
pub(super) fn address(sent: &Fields) -> Map<String, Value> {
    let all = members(sent);
    all.filter(|(_, value)| !value.is_empty()).map(|(name, value)| (name, value.into())).collect()
}

/// The change of an address that a form is: what is blank in it is cleared.
pub(super) fn change(sent: &Fields) -> Map<String, Value> {
    let all = members(sent).map(|(name, value)| {
        let is_cleared = value.is_empty() && OPTIONAL.contains(&name.as_str());
        let value = if is_cleared { Value::Null } else { value.into() };
        (name, value)
    });
    let mut change: Map<String, Value> = all.collect();
    // A form without provinces is one of a country that has none.
    if change.contains_key("country") {
        change.entry("region").or_insert(Value::Null);
    }
    change
}

/// Whether a form makes its address the default.
pub(super) fn is_default(sent: &Fields) -> bool {
    sent.text("address[default]").is_some_and(|value| value != "0")
}

/// An address with the choice to be the default, which a form cannot take back.
pub(super) fn with_default(mut address: Map<String, Value>, sent: &Fields) -> Value {
    if is_default(sent) {
        address.insert("is_default".to_owned(), json!(true));
    }
    Value::Object(address)
}

fn members(sent: &Fields) -> impl Iterator<Item = (String, String)> + '_ {
    sent.within("ship").chain(sent.within("address")).filter_map(|(name, value)| {
        let of_theme = ADDRESS_FIELDS.iter().find(|(theme, ..)| *theme == name);
        let name = of_theme.map_or(name, |(_, of_api, _)| *of_api);
        let value = value.trim();
        let value = if name == "country" { code_of(value) } else { value };
        ADDRESS.contains(&name).then(|| (name.to_owned(), value.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_theme_names_the_members_of_an_address_in_its_own_way() {
        let sent = Fields::of_query(
            b"address[address1]=1+Main&address[zip]=+560001&address[country]=India&address[province]=Karnataka\
              &address[address2]=&address[x]=y&address[default]=1",
        );
        let expected = json!({
            "line1": "1 Main", "postal_code": "560001", "country": "IN", "region": "Karnataka",
        });
        assert_eq!(Value::Object(address(&sent)), expected);
        assert_eq!(change(&sent)["line2"], Value::Null);
        assert_eq!(with_default(Map::new(), &sent), json!({"is_default": true}));
        let own = Fields::of_query(b"ship[line1]=1+Main&ship[country]=IN&address[default]=0");
        assert_eq!(Value::Object(address(&own)), json!({"line1": "1 Main", "country": "IN"}));
        assert_eq!(change(&own)["region"], Value::Null);
        assert!(!is_default(&own));
    }
}
