//! Identifiers: a prefix that names the kind and a `UUIDv7` in 32 hex digits
//! (docs/conventions.md §1).

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, Ordering};

use sha2::{Digest, Sha256};

use crate::clock::Timestamp;

/// The number of ids that this process has minted.
static MINTED: AtomicU32 = AtomicU32::new(0);

/// The random bytes of an id.
const RANDOM: usize = 10;

thread_local! {
    /// Random bytes for the next ids, and the number of ids they suffice for: one system call per id would be
    /// three per request.
    static SUPPLY: RefCell<([[u8; RANDOM]; 64], usize)> = const { RefCell::new(([[0; RANDOM]; 64], 0)) };
}

/// Mints an id: `prefix` and a `UUIDv7` of `now`. Ids sort by creation, also those of one process within one
/// millisecond (26 bits of a counter, RFC 9562 §6.2, method 1).
pub fn mint(prefix: &str, now: Timestamp) -> String {
    let mut random = random();
    let count = MINTED.fetch_add(1, Ordering::Relaxed);
    // The version takes the upper half of the first byte, the variant two bits of the third.
    let [first, second, third, fourth, ..] = &mut random;
    [_, _, *first, *second] = (count >> 14).to_be_bytes();
    [_, _, *third, *fourth] = (count & 0x3fff).to_be_bytes();
    let millis = u64::try_from(now.millis()).unwrap_or(0);
    let uuid = uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid();
    format!("{prefix}{}", uuid.simple())
}

/// The random bytes of one id; no other id gets them.
fn random() -> [u8; RANDOM] {
    SUPPLY.with_borrow_mut(|(supply, left)| {
        if *left == 0 {
            // A failing system generator leaves zeroes. The time and the counter still make ids unique,
            // and every secret comes from `seal::random_secret`, never from an id.
            let _ = getrandom::fill(supply.as_flattened_mut());
            *left = supply.len();
        }
        *left = left.saturating_sub(1);
        supply.get(*left).copied().unwrap_or_default()
    })
}

/// Derives an id from `parts`, so that a repeated write addresses the same item.
pub fn derive(prefix: &str, parts: &[&str]) -> String {
    custom(prefix, follow(parts))
}

/// The largest number that an id can begin with: the 48 bits before a UUID's version.
pub const MAX_NUMBER: u64 = u64::MAX >> 16;

/// As [`derive`], with a number up to [`MAX_NUMBER`] in front of the digest: ids of the kind sort by it, and
/// [`number_of`] reads it.
pub fn derive_numbered(prefix: &str, number: u64, parts: &[&str]) -> String {
    let written = number.to_string();
    let all: Vec<&str> = std::iter::once(written.as_str()).chain(parts.iter().copied()).collect();
    let mut bytes = follow(&all);
    let [_, _, number @ ..] = number.to_be_bytes();
    for (to, from) in bytes.iter_mut().zip(number) {
        *to = from;
    }
    custom(prefix, bytes)
}

/// The number that an id begins with; meaningless for an id that [`derive_numbered`] did not make.
pub fn number_of(digits: &str) -> u64 {
    let number = digits.get(..12).unwrap_or_default();
    u64::from_str_radix(number, 16).unwrap_or_default()
}

/// The first 16 bytes of a SHA-256 over the parts, each with its length.
fn follow(parts: &[&str]) -> [u8; 16] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.len().to_be_bytes());
        hasher.update(part.as_bytes());
    }
    let mut bytes = [0_u8; 16];
    for (to, from) in bytes.iter_mut().zip(hasher.finalize()) {
        *to = from;
    }
    bytes
}

/// A `UUIDv8` of these bytes; version and variant are in the seventh and ninth.
fn custom(prefix: &str, bytes: [u8; 16]) -> String {
    format!("{prefix}{}", uuid::Builder::from_custom_bytes(bytes).into_uuid().simple())
}

/// Whether `text` is `prefix` and 32 lower-case hex digits.
pub fn is_well_formed(prefix: &str, text: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|rest| {
        rest.len() == 32 && rest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Defines id types: `ids! { /// A store. StoreId = "sto_"; }`.
#[macro_export]
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $prefix:literal;)*) => {
        /// The prefixes of all kinds, each unique.
        pub const PREFIXES: &[&str] = &[$($prefix),*];
        $(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The prefix of every id of this kind.
            pub const PREFIX: &'static str = $prefix;

            /// Mints an id that sorts by `now`.
            pub fn mint(now: $crate::clock::Timestamp) -> Self {
                Self($crate::id::mint(Self::PREFIX, now))
            }

            /// Derives the id of `parts`: the same parts give the same id.
            pub fn derive(parts: &[&str]) -> Self {
                Self($crate::id::derive(Self::PREFIX, parts))
            }

            /// Derives the id of `parts` that sorts by `at`, among minted ids.
            pub fn derive_at(at: $crate::clock::Timestamp, parts: &[&str]) -> Self {
                let millis = u64::try_from(at.millis()).unwrap_or(0);
                Self($crate::id::derive_numbered(Self::PREFIX, millis, parts))
            }

            /// Parses an id; `None` when the prefix or the digits are wrong.
            pub fn parse(text: &str) -> Option<Self> {
                $crate::id::is_well_formed(Self::PREFIX, text).then(|| Self(text.to_owned()))
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The 32 hex digits without the prefix.
            pub fn digits(&self) -> &str {
                self.0.strip_prefix(Self::PREFIX).unwrap_or(&self.0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                let text = String::deserialize(d)?;
                Self::parse(&text).ok_or_else(|| serde::de::Error::custom("malformed id"))
            }
        }

        impl $crate::fields::FromText for $name {
            const EXPECTS: &'static str = concat!("an id that begins with ", $prefix);
            fn from_text(text: &str) -> Result<Self, $crate::fields::Violation> {
                Self::parse(text).ok_or_else(|| $crate::fields::Violation::new(
                    "invalid_id", concat!("Must be an id that begins with `", $prefix, "`.")))
            }
        }
        $crate::text_field!($name);

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($name).into() }
            fn inline_schema() -> bool { true }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "pattern": concat!("^", $prefix, "[0-9a-f]{32}$")
                })
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn minted_ids_sort_by_time_and_derived_ids_repeat() {
        let early = mint("sto_", Timestamp::from_millis(1_000));
        let late = mint("sto_", Timestamp::from_millis(2_000));
        assert!(early < late && is_well_formed("sto_", &early));
        let next = mint("sto_", Timestamp::from_millis(1_000));
        assert!(early < next && next < late, "in the order in which they were made");
        assert_eq!(derive("ins_", &["a", "bc"]), derive("ins_", &["a", "bc"]));
        assert_ne!(derive("ins_", &["a", "bc"]), derive("ins_", &["ab", "c"]));
        assert!(!is_well_formed("sto_", &early.to_uppercase()));
    }

    #[test]
    fn ids_share_no_random_digits() {
        let ids = (0..10_000).map(|_| mint("", Timestamp::from_millis(1_000)));
        let random: HashSet<String> = ids.map(|id| id[20..].to_owned()).collect();
        assert_eq!(random.len(), 10_000);
    }

    #[test]
    fn a_numbered_id_is_derived_sorts_by_its_number_and_reveals_it() {
        let of = |number| derive_numbered("ord_", number, &["store"]);
        let numbers = [0, 1, 1_001, 0xffff_ffff, MAX_NUMBER];
        let ids = numbers.map(of);
        assert!(ids.is_sorted());
        for (number, id) in numbers.into_iter().zip(&ids) {
            let digits = id.strip_prefix("ord_").unwrap();
            assert!(is_well_formed("ord_", id), "{id}");
            assert_eq!((number_of(digits), &digits[12..13]), (number, "8"), "{id}");
        }
        assert_eq!(of(7), derive_numbered("ord_", 7, &["store"]));
        let other = derive_numbered("ord_", 7, &["another"]);
        assert_ne!(of(7), other);
        assert_eq!(of(7)[..16], other[..16], "the number alone comes first");
        assert_ne!(of(7)[20..], of(8)[20..], "one of them says nothing about the next");
        assert_eq!(number_of("no digits"), 0);
    }
}
