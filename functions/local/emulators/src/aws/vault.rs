//! Secrets Manager, with its secrets stored in a file.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use rustack_secretsmanager_core::config::SecretsManagerConfig;
use rustack_secretsmanager_core::handler::RustackSecretsManagerHandler;
use rustack_secretsmanager_core::provider::RustackSecretsManager;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::account::{ACCOUNT, REGION, REQUEST_ID};
use super::place::Place;
use crate::error::{AnyError, EmulatorError};

/// The file's name.
const FILE: &str = "secrets.json";

/// The secrets, and the file that stores them.
pub(super) struct Vault {
    provider: Arc<RustackSecretsManager>,
    handler: RustackSecretsManagerHandler,
    /// None if everything is in memory.
    file: Option<PathBuf>,
    /// Locked while a change is made and saved, so that the file has the changes in their order.
    changing: tokio::sync::Mutex<()>,
}

/// A secret in `secrets.json`, with the member names of the Secrets Manager API.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct SavedSecret {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    versions: Vec<SavedVersion>,
}

/// A version with a stage (`AWSCURRENT`, `AWSPREVIOUS`, …); other versions are not stored.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SavedVersion {
    version_id: String,
    version_stages: Vec<String>,
    /// Secret. Either this or the binary is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_string: Option<String>,
    /// Secret, in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret_binary: Option<String>,
}

impl Vault {
    pub(super) fn open(place: Place<'_>) -> Result<Self, EmulatorError> {
        let config = SecretsManagerConfig {
            skip_signature_validation: true,
            default_region: REGION.to_owned(),
            default_account_id: ACCOUNT.to_owned(),
        };
        let provider = Arc::new(RustackSecretsManager::new(config));
        let vault = Self {
            handler: RustackSecretsManagerHandler::new(Arc::clone(&provider)),
            provider,
            file: match place {
                Place::Directory(data) => Some(data.join(FILE)),
                Place::Memory | Place::CopyOf(_) => None,
            },
            changing: tokio::sync::Mutex::new(()),
        };
        if let Place::Directory(data) | Place::CopyOf(data) = place {
            let file = data.join(FILE);
            vault
                .load(&file)
                .map_err(EmulatorError::while_trying(format!("load {}", file.display())))?;
        }
        Ok(vault)
    }

    /// Loads the file. An unreadable file is an error, never an empty vault: it is the only copy.
    fn load(&self, file: &Path) -> Result<(), AnyError> {
        let saved: Vec<SavedSecret> = match fs::read(file) {
            Ok(bytes) => serde_json::from_slice(&bytes)?,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return self.save(),
            Err(cause) => return Err(cause.into()),
        };
        for secret in saved {
            let input = json!({ "Name": secret.name, "Description": secret.description });
            self.provider.handle_create_secret(serde_json::from_value(input)?)?;
            for version in secret.versions {
                let input = json!({
                    "SecretId": secret.name,
                    "ClientRequestToken": version.version_id,
                    "VersionStages": version.version_stages,
                    "SecretString": version.secret_string,
                    "SecretBinary": version.secret_binary,
                });
                self.provider.handle_put_secret_value(serde_json::from_value(input)?)?;
            }
        }
        Ok(())
    }

    /// Replaces the file atomically.
    fn save(&self) -> Result<(), AnyError> {
        let Some(file) = &self.file else {
            return Ok(());
        };
        let text = serde_json::to_vec_pretty(&self.snapshot()?)?;
        let draft = file.with_extension("json.new");
        // A draft that a crash has left may have another mode; `mode` applies to new files only.
        if let Err(cause) = fs::remove_file(&draft)
            && cause.kind() != ErrorKind::NotFound
        {
            return Err(cause.into());
        }
        let mut written =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        written.write_all(&text)?;
        written.sync_all()?;
        fs::rename(&draft, file)?;
        if let Some(directory) = file.parent() {
            File::open(directory)?.sync_all()?;
        }
        Ok(())
    }

    /// Every secret that is not scheduled for deletion.
    fn snapshot(&self) -> Result<Vec<SavedSecret>, AnyError> {
        let mut saved = Vec::new();
        let mut input = json!({});
        loop {
            let page = self.provider.handle_list_secrets(&serde_json::from_value(input)?)?;
            for listed in page.secret_list {
                let name = listed.name.ok_or("a secret without a name")?;
                let mut versions = Vec::new();
                for version in listed.secret_versions_to_stages.keys() {
                    versions.push(self.version(&name, version)?);
                }
                versions.sort_by(|a, b| a.version_stages.cmp(&b.version_stages));
                saved.push(SavedSecret { name, description: listed.description, versions });
            }
            match page.next_token {
                Some(next) => input = json!({ "NextToken": next }),
                None => return Ok(saved),
            }
        }
    }

    fn version(&self, name: &str, version: &str) -> Result<SavedVersion, AnyError> {
        let input = serde_json::from_value(json!({ "SecretId": name, "VersionId": version }))?;
        let found = self.provider.handle_get_secret_value(&input)?;
        Ok(serde_json::from_value(serde_json::to_value(found)?)?)
    }
}

/// Handles one call; a change is in the file before the response.
pub(super) async fn answer_secrets(
    State(vault): State<Arc<Vault>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    use rustack_secretsmanager_http::{dispatch, response, router};
    let operation = match router::resolve_operation(&headers) {
        Ok(operation) => operation,
        Err(rejection) => {
            return response::error_to_response(&rejection, REQUEST_ID).map(Body::new);
        }
    };
    let reads_only = ["Get", "BatchGet", "List", "Describe", "Validate"]
        .iter()
        .any(|verb| operation.as_str().starts_with(verb));
    let _changing = if reads_only { None } else { Some(vault.changing.lock().await) };
    let answer = match dispatch::dispatch_operation(&vault.handler, operation, body).await {
        Ok(answer) => answer,
        Err(rejection) => {
            return response::error_to_response(&rejection, REQUEST_ID).map(Body::new);
        }
    };
    if !reads_only && let Err(cause) = vault.save() {
        tracing::error!(%cause, "secrets not saved");
        // The SDK retries with the same token, which saves the same version again.
        let problem = r#"{"__type":"InternalServiceError","message":"not saved"}"#;
        return (StatusCode::INTERNAL_SERVER_ERROR, problem).into_response();
    }
    answer.map(Body::new)
}
