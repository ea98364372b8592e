//! Passwords in requests: new ones, and guesses.

use std::fmt;

use crypto::password;
use crypto::password::{Password, PasswordError};
use primitives::fields::{FromText, Violation};
use primitives::problem::Problem;

/// A new password, validated by the password rules.
#[derive(Debug, Clone)]
pub struct NewPassword(Password);

impl NewPassword {
    /// The hash to store.
    pub async fn hash(&self) -> Result<String, Problem> {
        password::hash(&self.0).await.map_err(Problem::unavailable)
    }
}

impl FromText for NewPassword {
    const EXPECTS: &'static str = "a string";

    fn from_text(text: &str) -> Result<Self, Violation> {
        let detail = |error: PasswordError| format!("The password {error}.");
        Password::parse(text).map(Self).map_err(|error| Violation::new(error.code(), detail(error)))
    }
}

primitives::text_field!(NewPassword);
primitives::string_schema!(NewPassword: {"minLength": 8, "maxLength": 128});

/// A presented password: any text, not yet verified.
pub struct Guess(String);

impl Guess {
    /// Whether it matches the hash. Without a hash the work is the same.
    pub async fn matches(&self, hash: Option<&str>) -> bool {
        password::verify(&self.0, hash).await
    }
}

impl fmt::Debug for Guess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guess([redacted])")
    }
}

impl FromText for Guess {
    const EXPECTS: &'static str = "a string";

    fn from_text(text: &str) -> Result<Self, Violation> {
        // Passwords have at most 128 characters: this bounds the work of hashing.
        if text.len() > 1_024 {
            return Err(Violation::new("too_long", "Must have at most 1024 bytes."));
        }
        Ok(Self(text.to_owned()))
    }
}

primitives::text_field!(Guess);
primitives::string_schema!(Guess: {"maxLength": 1_024});
