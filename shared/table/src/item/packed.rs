//! Packed items: all attributes that no expression uses are one attribute, deflated.
//!
//! A write is charged by the kilobyte, twice in a transaction, and most of an item's bytes are the names
//! of its attributes. Packed, an order of a few lines is one kilobyte instead of three. Attributes that
//! conditions, updates and filters name stay plain: [`Packing::plain`].
//!
//! An item has a mark whether it is packed, so that items from before and after packing are read alike.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::Attributes;
use super::joined::{Joined, Made};
use primitives::deflate::{deflate_after, inflate_after};
use primitives::problem::Problem;

/// The attribute that holds the others.
const PACKED: &str = "packed";
/// The keys that packed attributes may refer to: those of the item, and of the list of what it is about.
const KEYS: [&str; 2] = ["PK", "GSI6PK"];
/// The member that names the text behind them.
pub(super) const TEXT: &str = "_text";
/// The maximum unpacked size of an item: more than any item of 400 KB holds.
const MAX_UNPACKED: usize = 16 << 20;

/// The packing of an item.
#[derive(Debug, Clone, Copy)]
pub struct Packing {
    /// The attributes that stay as they are, besides keys, `version` and `ttl`.
    pub plain: &'static [&'static str],
    /// The attribute whose text is preserved byte by byte, and may itself be JSON. It is stored unquoted,
    /// so that the vocabulary matches it.
    pub text: Option<&'static str>,
    /// Whether what is packed refers to the partition keys in [`KEYS`] instead of repeating the ids in them. An
    /// update in place must not change those keys.
    pub keyed: bool,
}

impl Packing {
    /// Packs everything but keys and version.
    pub const ALL: Self = Self { plain: &[], text: None, keyed: false };

    pub(crate) fn is_plain(&self, name: &str) -> bool {
        name == "version" || self.plain.contains(&name)
    }
}

/// An item's attributes, packed, and the names of its plain attributes that are absent. `keys` are its keys.
pub(super) fn attributes(
    item: &impl Serialize,
    packing: Packing,
    keys: &Attributes,
) -> Result<(Attributes, Vec<String>), Problem> {
    let members = serde_json::to_value(item).map_err(Problem::internal)?;
    pack(members, packing, keys)
}

/// The text that packed attributes may refer to.
fn known_by(attributes: &Attributes) -> Vec<u8> {
    let keys = KEYS.iter().filter_map(|name| attributes.get(*name)?.as_s().ok());
    keys.flat_map(|key| key.bytes()).collect()
}

fn pack(
    members: Value,
    packing: Packing,
    keys: &Attributes,
) -> Result<(Attributes, Vec<String>), Problem> {
    let known = if packing.keyed { known_by(keys) } else { Vec::new() };
    let Value::Object(members) = members else {
        return Err(Problem::internal("an item to be packed is no JSON object"));
    };
    let (there, absent): (Map<_, _>, Map<_, _>) =
        members.into_iter().partition(|(_, value)| !value.is_null());
    let absent = absent.into_iter().map(|(name, _)| name).filter(|name| packing.is_plain(name));
    let (plain, mut packed): (Map<_, _>, Map<_, _>) =
        there.into_iter().partition(|(name, _)| packing.is_plain(name));
    let mut text = String::new();
    if let Some(name) = packing.text
        && let Some(Value::String(found)) = packed.remove(name)
    {
        packed.insert(TEXT.to_owned(), Value::from(name));
        text = found;
    }
    let mut bytes = serde_json::to_vec(&packed).map_err(Problem::internal)?;
    bytes.extend_from_slice(text.as_bytes());
    let mut all: Attributes = serde_dynamo::to_item(plain).map_err(Problem::internal)?;
    all.insert(PACKED.to_owned(), AttributeValue::B(Blob::new(deflate_after(&known, &bytes)?)));
    Ok((all, absent.collect()))
}

/// The packed members as JSON with the text behind it, and the members next to them. It is no part of [`read`], which is
/// compiled for each type.
fn opened(mut attributes: Attributes) -> Result<(String, Vec<Made>), Problem> {
    let packed = match attributes.remove(PACKED) {
        Some(AttributeValue::B(packed)) => {
            inflate_after(&known_by(&attributes), packed.as_ref(), MAX_UNPACKED)?
        }
        _ => b"{}".to_vec(),
    };
    let packed = String::from_utf8(packed).map_err(Problem::internal)?;
    let mut alongside = alongside(attributes)?;
    if packed.contains(TEXT) {
        let text =
            text(&packed)?.filter(|(name, _)| alongside.iter().all(|(other, _)| other != name));
        alongside.extend(text);
    }
    Ok((packed, alongside))
}

/// Reads an item from attributes, packed or not. Packed members are read from their JSON in one pass,
/// without an intermediate value.
pub(super) fn read<T: DeserializeOwned>(attributes: Attributes) -> Result<T, Problem> {
    let (packed, alongside) = opened(attributes)?;
    let mut packed = serde_json::Deserializer::from_str(&packed);
    T::deserialize(Joined { packed: &mut packed, alongside: &alongside }).map_err(Problem::internal)
}

/// An item as JSON, packed or not; bytes, which have no form in it, are left out.
///
/// # Errors
/// What is packed cannot be read.
pub fn unpacked(attributes: Attributes) -> Result<Map<String, Value>, Problem> {
    read(attributes)
}

/// The text that follows the packed members, if one of them names it.
fn text(packed: &str) -> Result<Option<Made>, Problem> {
    #[derive(Deserialize)]
    struct Named {
        #[serde(rename = "_text")]
        name: Option<String>,
    }
    let mut values = serde_json::Deserializer::from_str(packed).into_iter::<Named>();
    let Some(named) = values.next() else { return Ok(None) };
    let Some(name) = named.map_err(Problem::internal)?.name else { return Ok(None) };
    let text = packed.get(values.byte_offset()..).unwrap_or_default();
    Ok(Some((name, to_raw_value(text).map_err(Problem::internal)?)))
}

/// The plain attributes alongside the packed ones.
fn alongside(attributes: Attributes) -> Result<Vec<Made>, Problem> {
    let made = |(name, value)| {
        let json = match value {
            AttributeValue::B(_) => return Ok(None),
            AttributeValue::S(text) => to_raw_value(&text),
            AttributeValue::N(number) => RawValue::from_string(number),
            other => {
                let value: Value =
                    serde_dynamo::from_attribute_value(other).map_err(Problem::internal)?;
                to_raw_value(&value)
            }
        };
        Ok(Some((name, json.map_err(Problem::internal)?)))
    };
    attributes.into_iter().map(made).filter_map(Result::transpose).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Note {
        id: String,
        #[serde(default)]
        words: Vec<String>,
        state: String,
        #[serde(default)]
        why: Option<String>,
        parts: Vec<(String, i64)>,
        body: String,
        version: u64,
    }

    fn note() -> Note {
        Note {
            id: "ord_1".into(),
            words: Vec::new(),
            state: "open".into(),
            why: None,
            parts: vec![("a".into(), -1), ("b".into(), i64::MAX)],
            body: "{\"b\": 1.50,\t\"a\":\"{}\u{1f600}\"}".into(),
            version: u64::MAX,
        }
    }

    fn packed_as(note: &Note, packing: Packing) -> (Attributes, Vec<String>) {
        attributes(note, packing, &Attributes::new()).unwrap()
    }

    fn back(attributes: Attributes) -> Note {
        let json = unpacked(attributes.clone()).unwrap();
        let note: Note = read(attributes).unwrap();
        assert_eq!(serde_json::from_value::<Note>(json.into()).unwrap(), note);
        note
    }

    #[test]
    fn an_item_is_packed_except_for_attributes_in_conditions() {
        let packing = Packing { plain: &["state"], text: Some("body"), keyed: false };
        let (packed, absent) = packed_as(&note(), packing);
        assert!(absent.is_empty());
        let mut names: Vec<&str> = packed.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, [PACKED, "state", "version"]);
        assert_eq!(back(packed), note());
    }

    #[test]
    fn a_text_is_stored_byte_by_byte_whether_it_is_json_or_not() {
        for body in ["", "{}", "no JSON", "{\"a\":1}{\"a\":2}", " 1", "[1.0,1e2]"] {
            let note = Note { body: body.into(), ..note() };
            for text in [Some("body"), Some("why"), None] {
                let (packed, _) = packed_as(&note, Packing { text, ..Packing::ALL });
                assert_eq!(back(packed), note, "{body:?} {text:?}");
            }
        }
    }

    #[test]
    fn a_keyed_item_repeats_no_id_of_its_keys() {
        let id = "ord_01a21f315e307000800cf2de2496d41c";
        let text = |text: String| AttributeValue::S(text);
        let keys: Attributes = [
            ("PK".to_owned(), text(format!("STO#s#ORD#{id}"))),
            ("SK".to_owned(), text("A".into())),
            ("GSI3SK".to_owned(), text("moved in place".into())),
        ]
        .into();
        let note = Note { id: id.into(), ..note() };
        let keyed = Packing { keyed: true, ..Packing::ALL };
        let size = |attributes: &Attributes| attributes[PACKED].as_b().unwrap().as_ref().len();
        let (plain, _) = attributes(&note, Packing::ALL, &keys).unwrap();
        let (mut packed, _) = attributes(&note, keyed, &keys).unwrap();
        assert!(size(&packed) + 12 < size(&plain), "{} {}", size(&packed), size(&plain));
        packed.extend(keys);
        packed.remove("GSI3SK");
        assert_eq!(back(packed), note);
    }

    #[test]
    fn attributes_written_in_place_override_packed_ones() {
        let (mut packed, _) = packed_as(&note(), Packing::ALL);
        packed.insert("state".into(), AttributeValue::S("closed".into()));
        packed.insert("version".into(), AttributeValue::N("7".into()));
        let pair = [AttributeValue::S("c".into()), AttributeValue::N("-5".into())];
        packed.insert("parts".into(), AttributeValue::L(vec![AttributeValue::L(pair.into())]));
        packed.insert("why".into(), AttributeValue::Null(true));
        packed.insert("words".into(), AttributeValue::Ss(vec!["w".into()]));
        let (parts, words) = (vec![("c".into(), -5)], vec!["w".into()]);
        assert_eq!(
            back(packed),
            Note { state: "closed".into(), version: 7, parts, words, ..note() }
        );
    }

    #[test]
    fn unpacked_items_are_read_and_corrupt_ones_are_not() {
        let plain: Attributes = serde_dynamo::to_item(note()).unwrap();
        assert_eq!(back(plain), note());
        let (mut corrupted, _) = packed_as(&note(), Packing::ALL);
        corrupted.insert(PACKED.into(), AttributeValue::B(Blob::new(vec![1, 2, 3])));
        assert!(read::<Note>(corrupted).is_err());
    }
}
