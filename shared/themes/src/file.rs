//! Files of a theme, named by their digests.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::Sha256;

/// A SHA-256 digest, written as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// The error of a text that is not 64 lower-case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidDigest;

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest as _;
        Self(Sha256::digest(bytes).into())
    }

    /// The 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !is_hex || text.len() != 64 {
            return Err(InvalidDigest);
        }
        let mut bytes = [0; 32];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).map_err(|_| InvalidDigest)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| InvalidDigest)?;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for InvalidDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a digest is 64 lower-case hex digits")
    }
}

impl std::error::Error for InvalidDigest {}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

primitives::string_schema!(Digest: {"pattern": "^[0-9a-f]{64}$"});

/// A file of a package, with its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The path in the theme: `assets/theme.css`.
    pub path: String,
    /// SHA-256 of the bytes.
    pub sha256: Digest,
    /// The bytes.
    pub bytes: Bytes,
    /// The content type, by the file's extension.
    pub content_type: &'static str,
}

impl File {
    /// The file without its bytes.
    pub fn reference(&self) -> FileRef {
        FileRef {
            path: self.path.clone(),
            sha256: self.sha256,
            size: u64::try_from(self.bytes.len()).unwrap_or(u64::MAX),
            content_type: self.content_type.to_owned(),
        }
    }
}

/// A reference to a file of a theme's version: its path, digest and metadata.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ThemeFile")]
pub struct FileRef {
    /// The path in the theme: `assets/theme.css`.
    pub path: String,
    /// SHA-256 of the bytes.
    pub sha256: Digest,
    /// The size in bytes.
    pub size: u64,
    /// The content type.
    pub content_type: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_parsed_in_its_canonical_form_alone() {
        let digest = Digest::of(b"abc");
        let text = digest.to_string();
        // FIPS 180-2, appendix B.1.
        assert_eq!(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(text.parse(), Ok(digest));
        assert_eq!(serde_json::from_value::<Digest>(text.clone().into()).unwrap(), digest);
        for odd in [text.to_uppercase(), format!("{text}0"), "+".repeat(64), "é".repeat(32)] {
            assert_eq!(odd.parse::<Digest>(), Err(InvalidDigest));
        }
    }
}
