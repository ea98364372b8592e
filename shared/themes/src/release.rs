//! Releases: what a storefront shows, by content that never changes.
//!
//! A release is numbered in its store and theme, from 1 and without a gap. Its content is named by a
//! digest over its files and settings and nothing else: not its number, its time or its author. So a
//! rollback, which is a release of its own, has the digest of the one that it goes back to.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::file::Digest;
use crate::settings::Content;

/// What the digest is of, so that it is never that of something else.
const PURPOSE: &str = "theme-release-v1\n";

/// The digest of a release: SHA-256 over the purpose, a line `path NUL sha256` for each file in the
/// order of the paths' bytes, an empty line, and the content as [`canonical`] JSON.
pub fn content_sha256<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a Digest)>,
    content: &Content,
) -> Digest {
    let mut files: Vec<(&str, &Digest)> = files.into_iter().collect();
    files.sort_unstable();
    let lines: Vec<String> =
        files.iter().map(|(path, sha256)| format!("{path}\0{sha256}\n")).collect();
    let text = format!("{PURPOSE}{}\n{}", lines.concat(), canonical(content));
    Digest::of(text.as_bytes())
}

/// A value as JSON that is the same whenever the value is: without blanks, members in the order of
/// their names' bytes.
pub fn canonical(value: &impl Serialize) -> String {
    // What is serialized here has text as keys and no number that JSON lacks.
    serde_json::to_value(value).map(sorted).unwrap_or_default().to_string()
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut members: Vec<(String, Value)> = object.into_iter().collect();
            members.sort_unstable_by(|a, b| a.0.cmp(&b.0));
            members
                .into_iter()
                .map(|(name, value)| (name, sorted(value)))
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}

/// Why a release cannot be gone back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RollbackRejection {
    /// There is no such release.
    NotFound,
    /// What is shown now is the same.
    AlreadyCurrent,
}

/// Whether one can go back to the release `target`, where the last is `head` and the two have these
/// digests.
///
/// # Errors
/// `NotFound` for a number that was not given yet; `AlreadyCurrent` for the head, and for one of the
/// same content.
pub fn rollback(
    (head, current): (u64, &Digest),
    (target, wanted): (u64, &Digest),
) -> Result<(), RollbackRejection> {
    if target == 0 || target > head {
        return Err(RollbackRejection::NotFound);
    }
    if target == head || current == wanted {
        return Err(RollbackRejection::AlreadyCurrent);
    }
    Ok(())
}

/// The number of the release after this one.
pub const fn next(head: u64) -> u64 {
    head.saturating_add(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_release_is_named_by_its_files_and_settings_in_any_order() {
        let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
        let content = |settings: Value| Content {
            settings: settings.as_object().cloned().unwrap(),
            ..Content::default()
        };
        let one = content(json!({"x": 1, "y": {"b": [1, 2], "a": null}}));
        let same = content(json!({"y": {"a": null, "b": [1, 2]}, "x": 1}));
        let digest = content_sha256([("a", &a), ("b", &b)], &one);
        assert_eq!(content_sha256([("b", &b), ("a", &a)], &same), digest);
        let others = [
            content_sha256([("a", &b), ("b", &a)], &one),
            content_sha256([("a", &a)], &one),
            content_sha256([("a", &a), ("c", &b)], &one),
            content_sha256([("a", &a), ("b", &b)], &content(json!({"x": 2}))),
            content_sha256(
                [("a", &a), ("b", &b)],
                &content(json!({"x": 1, "y": {"b": [2, 1], "a": null}})),
            ),
        ];
        assert!(others.iter().all(|other| *other != digest));
    }

    #[test]
    fn the_digest_is_the_documented_one() {
        let text = format!(
            "theme-release-v1\nassets/a.css\0{}\n\n{{\"order\":[],\"sections\":{{}},\"settings\":{{\"b\":1}}}}",
            Digest::of(b"x")
        );
        let content = Content {
            settings: json!({"b": 1}).as_object().cloned().unwrap(),
            ..Content::default()
        };
        let digest = content_sha256([("assets/a.css", &Digest::of(b"x"))], &content);
        assert_eq!(digest, Digest::of(text.as_bytes()));
    }

    #[test]
    fn one_goes_back_to_what_was_and_is_not() {
        let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
        assert_eq!(rollback((3, &a), (1, &b)), Ok(()));
        assert_eq!(rollback((3, &a), (1, &a)), Err(RollbackRejection::AlreadyCurrent));
        assert_eq!(rollback((3, &a), (3, &a)), Err(RollbackRejection::AlreadyCurrent));
        assert_eq!(rollback((3, &a), (0, &b)), Err(RollbackRejection::NotFound));
        assert_eq!(rollback((3, &a), (4, &b)), Err(RollbackRejection::NotFound));
        assert_eq!(next(3), 4);
    }
}
