//! Bodies from the command line: `title=Lamp`, `price.amount:=1200`, `variants.0.sku=L-1`.

use serde_json::{Map, Value};

use crate::failure::Failure;

/// The most elements that a number in a name makes.
const LONGEST_LIST: usize = 1000;

/// Sets the members that are named in a body.
pub fn set_all<'a>(
    body: &mut Value,
    fields: impl IntoIterator<Item = &'a str>,
) -> Result<(), Failure> {
    fields.into_iter().try_for_each(|field| set(body, field))
}

/// Sets one member: `name=text` or `name:=json`.
fn set(body: &mut Value, field: &str) -> Result<(), Failure> {
    let fault = |why: &str| Failure::Usage(format!("{field}: {why}"));
    let (name, text) =
        field.split_once('=').ok_or_else(|| fault("write name=text or name:=json"))?;
    let (name, value) = match name.strip_suffix(':') {
        Some(name) => (name, serde_json::from_str(text).map_err(|_| fault("this is no JSON"))?),
        None => (name, Value::String(text.to_owned())),
    };
    if name.is_empty() {
        return Err(fault("the name is missing"));
    }
    let mut place = body;
    for step in name.split('.') {
        place = below(place, step).ok_or_else(|| fault("it is part of no object or list"))?;
    }
    *place = value;
    Ok(())
}

/// The member of an object, or the element of a list, which is made if it is missing.
fn below<'v>(value: &'v mut Value, step: &str) -> Option<&'v mut Value> {
    let number = step.parse::<usize>().ok().filter(|number| *number < LONGEST_LIST);
    if value.is_null() {
        *value = if number.is_some() { Value::Array(Vec::new()) } else { Map::new().into() };
    }
    match value {
        Value::Object(members) => Some(members.entry(step).or_insert(Value::Null)),
        Value::Array(list) => {
            let number = number?;
            if list.len() <= number {
                list.resize(number.checked_add(1)?, Value::Null);
            }
            list.get_mut(number)
        }
        _ => None,
    }
}

/// Splits `name<mark>value`.
pub fn pair(text: &str, mark: char) -> Result<(String, String), Failure> {
    let (name, value) = text
        .split_once(mark)
        .ok_or_else(|| Failure::Usage(format!("{text}: write a name, {mark} and a value")))?;
    Ok((name.trim().to_owned(), value.trim_start_matches(' ').to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn body(fields: &[&str]) -> Result<Value, Failure> {
        let mut body = Value::Null;
        set_all(&mut body, fields.iter().copied()).map(|()| body)
    }

    #[test]
    fn a_text_is_a_text_and_json_is_json() {
        let fields = ["title=7", "n:=7", "tags:=[\"a\"]", "note=a=b", "variants.0.price.amount:=1"];
        let expected = json!({"title": "7", "n": 7, "tags": ["a"], "note": "a=b",
            "variants": [{"price": {"amount": 1}}]});
        assert_eq!(body(&fields).expect("a body"), expected);
    }

    #[test]
    fn what_cannot_be_set_is_wrong_usage() {
        for fields in
            [&["title"][..], &["=x"], &["n:=x"], &["a=1", "a.b=2"], &["l.999999:=1", "l.0:=1"]]
        {
            let is_usage = matches!(body(fields), Err(Failure::Usage(_)));
            assert!(is_usage || fields.len() == 2 && body(fields).is_ok(), "{fields:?}");
        }
        assert!(body(&["a=1", "a.b=2"]).is_err());
    }
}
