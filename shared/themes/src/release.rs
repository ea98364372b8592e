//! Releases: published, immutable states of a store's theme.
//!
//! Releases are numbered within a store and theme, from 1 without a gap. A release's digest covers its
//! files and settings alone, not its number, time or author. So a rollback, which is a release of its
//! own, has the digest of the release that it restores.

use crate::canonical_json::canonical;
use crate::file::Digest;
use crate::settings::Content;

/// The domain separator of the digest: digests of other things never equal it.
const PURPOSE: &str = "theme-release-v1\n";

/// Computes the digest of a release: SHA-256 over the purpose, a line `path NUL sha256` for each file in
/// the order of the paths' bytes, an empty line, and the content as canonical JSON.
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

/// Why a rollback is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RollbackRejection {
    /// There is no such release.
    NotFound,
    /// The live release has the same content.
    AlreadyCurrent,
}

/// Validates a rollback from the release `head` to the release `target`, given their digests.
///
/// # Errors
/// `NotFound` for 0 and for a number above `head`; `AlreadyCurrent` for the head, and for a release with
/// the same content.
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
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_digest_depends_on_files_and_settings_but_not_on_their_order() {
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
    fn a_rollback_goes_to_an_earlier_release_with_other_content() {
        let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
        assert_eq!(rollback((3, &a), (1, &b)), Ok(()));
        assert_eq!(rollback((3, &a), (1, &a)), Err(RollbackRejection::AlreadyCurrent));
        assert_eq!(rollback((3, &a), (3, &a)), Err(RollbackRejection::AlreadyCurrent));
        assert_eq!(rollback((3, &a), (0, &b)), Err(RollbackRejection::NotFound));
        assert_eq!(rollback((3, &a), (4, &b)), Err(RollbackRejection::NotFound));
        assert_eq!(next(3), 4);
    }
}
