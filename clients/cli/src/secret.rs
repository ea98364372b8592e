//! Credentials, which no output, error or log ever contains.

use std::fmt;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

/// What stands where a credential would.
pub const MASK: &str = "[hidden]";

static KNOWN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A credential. It is masked in everything that is printed from then on.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Secret(String);

impl Secret {
    /// The credential itself, to be sent or stored.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        // A short one would mask words.
        if text.len() >= 12
            && let Ok(mut known) = KNOWN.lock()
            && !known.contains(&text)
        {
            known.push(text.clone());
        }
        Self(text)
    }
}

impl From<Secret> for String {
    fn from(secret: Secret) -> Self {
        secret.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

/// The text without the credentials that are known.
pub fn masked(text: &str) -> String {
    let Ok(known) = KNOWN.lock() else { return MASK.to_owned() };
    known.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), MASK))
}

/// Random bytes in hexadecimal digits.
pub fn random_hex<const BYTES: usize>() -> String {
    let mut bytes = [0; BYTES];
    #[expect(clippy::expect_used, reason = "without random numbers nothing here is safe")]
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_secret_is_masked_wherever_it_is_printed() {
        let secret = Secret::from("mst_0123456789abcdef".to_owned());
        assert_eq!(masked("Bearer mst_0123456789abcdef!"), "Bearer [hidden]!");
        assert_eq!(format!("{secret:?}"), "[hidden]");
    }
}
