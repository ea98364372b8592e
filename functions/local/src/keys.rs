//! The secrets of a deployment: made and rotated on the operator's machine, and put into Secrets
//! Manager from there, so that no function needs the right to write them.

use gateway::embedded::AnyError;
use gateway::secrets::StoredKeys;
use gateway::token::KeySet;
use serde_json::{Value, json};

/// Fresh values for both secrets: `{"signing_keys": {…}, "keys": {…}}`.
pub fn generate() -> Result<Value, AnyError> {
    let signing = KeySet::generate();
    let keys = serde_json::to_value(StoredKeys::generate(&signing))?;
    both(&signing, &keys)
}

/// Both secrets, as [`generate`] prints them, one rotation later.
///
/// Only the signing keys change. The data key and the cursor key stay: what is sealed with them
/// would otherwise never open again.
///
/// # Errors
/// Text that is not both secrets.
pub fn rotate(text: &str) -> Result<Value, AnyError> {
    let stored: Value = serde_json::from_str(text)?;
    let part = |name: &str| {
        let found = stored.get(name).cloned();
        found.ok_or_else(|| format!("`{name}` is missing: give both secrets in one object"))
    };
    let signing = KeySet::from_secret(&part("signing_keys")?.to_string())?.rotate();
    let mut keys: StoredKeys = serde_json::from_value(part("keys")?)?;
    keys.jwks = signing.jwks();
    both(&signing, &serde_json::to_value(keys)?)
}

fn both(signing: &KeySet, keys: &Value) -> Result<Value, AnyError> {
    let signing: Value = serde_json::from_str(&signing.reveal())?;
    Ok(json!({ "signing_keys": signing, "keys": keys }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_moves_the_signing_keys_and_keeps_what_is_sealed() {
        let before = generate().unwrap();
        let after = rotate(&before.to_string()).unwrap();
        assert_eq!(after["signing_keys"]["previous"], before["signing_keys"]["current"]);
        assert_eq!(after["signing_keys"]["current"], before["signing_keys"]["next"]);
        assert_eq!(after["keys"]["data_key"], before["keys"]["data_key"]);
        assert_eq!(after["keys"]["cursor_key"], before["keys"]["cursor_key"]);
        assert_eq!(after["keys"]["jwks"]["keys"].as_array().unwrap().len(), 3);
        assert!(rotate(&before["signing_keys"].to_string()).is_err());
    }
}
