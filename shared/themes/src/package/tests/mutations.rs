//! Tests that arbitrary input is validated within the bounds.

use proptest::prelude::*;

use super::zip::zip;
use super::{entries, read, theme};
use crate::finding;
use crate::findings::MAX_LISTED;

fn good() -> Vec<u8> {
    zip(&entries(&theme()))
}

/// Asserts the invariants of reading a package.
fn check_invariants(bytes: &[u8]) -> Result<(), TestCaseError> {
    let reading = read(bytes);
    prop_assert_eq!(reading.package.is_none(), finding::has_errors(&reading.findings));
    prop_assert!(reading.findings.len() <= MAX_LISTED + 1);
    prop_assert!(reading.unpacked <= (32 << 20) + 1_000);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_package_with_altered_bytes_is_validated(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12)) {
        let mut bytes = good();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check_invariants(&bytes)?;
    }

    #[test]
    fn a_package_with_altered_headers_is_validated(header in 0_usize..3, at in 0_usize..46, value in prop::sample::select(vec![0_u8, 1, 0x7f, 0x80, 0xff])) {
        let mut bytes = good();
        let signature: &[u8] = [b"PK\x03\x04".as_slice(), b"PK\x01\x02", b"PK\x05\x06"][header];
        let start = bytes.windows(4).position(|window| window == signature).unwrap();
        if let Some(byte) = bytes.get_mut(start.saturating_add(at)) {
            *byte = value;
        }
        check_invariants(&bytes)?;
    }

    #[test]
    fn a_cut_or_grown_package_is_validated(from in any::<prop::sample::Index>(), length in 0_usize..200, filler in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = good();
        let from = from.index(bytes.len());
        let to = bytes.len().min(from.saturating_add(length));
        bytes.splice(from..to, filler);
        check_invariants(&bytes)?;
    }

    #[test]
    fn any_bytes_are_validated(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        check_invariants(&bytes)?;
    }

    #[test]
    fn any_json_is_validated_in_any_file(text in "[\\[\\]{}\",:a-z0-9 .-]{0,200}", place in 0_usize..5) {
        let places = ["theme.json", "config/settings_schema.json", "config/settings_data.json", "templates/index.json", "sections/hero.liquid"];
        let mut files = theme();
        files.retain(|(name, _)| *name != places[place]);
        let text = if place == 4 { format!("{{% schema %}}{text}{{% endschema %}}") } else { text };
        files.push((places[place], text));
        check_invariants(&zip(&entries(&files)))?;
    }
}
