//! Links to the parts of a file.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use core_types::id::ExportId;
use crypto::seal::MacKey;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};

/// The lifetime of a link.
const VALIDITY: Duration = Duration::from_mins(15);

/// A signed link: whoever has it can download one part, until it expires.
#[derive(Debug)]
pub struct Link<'a> {
    /// The export.
    pub export: &'a ExportId,
    /// The part, from 1.
    pub part: u64,
    /// When it expires, in seconds since 1970.
    pub expires: i64,
}

impl<'a> Link<'a> {
    /// A link that is valid from now on.
    pub fn new(export: &'a ExportId, part: u64, now: Timestamp) -> Self {
        Self { export, part, expires: now.plus(VALIDITY).seconds() }
    }

    fn signed_text(&self) -> String {
        format!("{}\n{}\n{}", self.export, self.part, self.expires)
    }

    /// The signed URL.
    pub fn url(&self, key: &MacKey, base_url: &str) -> String {
        let signature = BASE64_URL_SAFE_NO_PAD.encode(key.tag(self.signed_text().as_bytes()));
        let Self { export, part, expires } = self;
        format!(
            "{base_url}/v1/exports/{export}/parts/{part}?expires={expires}&signature={signature}"
        )
    }

    /// Checks the signature and the expiry.
    ///
    /// # Errors
    /// `invalid_or_expired_token`.
    pub fn check(&self, signature: &str, key: &MacKey, now: Timestamp) -> Result<(), Problem> {
        let tag = BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
        if key.verify(self.signed_text().as_bytes(), &tag) && now.seconds() < self.expires {
            return Ok(());
        }
        Err(Code::InvalidOrExpiredToken.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_valid_for_its_part_until_it_expires() {
        let (key, now) = (MacKey::generate(), Timestamp::from_millis(1_000_000));
        let id = ExportId::derive(&["one"]);
        let url = Link::new(&id, 2, now).url(&key, "https://api.example.com");
        let (_, signature) = url.rsplit_once('=').unwrap();
        let link = |part, expires| Link { export: &id, part, expires };
        let expires = now.plus(VALIDITY).seconds();
        assert!(link(2, expires).check(signature, &key, now).is_ok());
        for (other, at) in [
            (link(1, expires), now),
            (link(2, expires + 1), now),
            (link(2, expires), now.plus(VALIDITY)),
        ] {
            assert!(other.check(signature, &key, at).is_err());
        }
        assert!(link(2, expires).check("", &key, now).is_err());
    }
}
