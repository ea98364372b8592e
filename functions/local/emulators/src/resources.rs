//! The queues and secrets of a system, which are created where they are missing.

use std::time::Duration;

use aws_sdk_secretsmanager::operation::get_secret_value::GetSecretValueError;
use aws_types::SdkConfig;
use serde_json::{Map, json};

use services::Endpoints;
use services::secrets::documents;

use crate::SECRETS;
use crate::aws::{EmulatorError, Emulators, Queue};
use crate::error::AnyError;
use crate::remote::{self, Elsewhere};

/// Creates queues, here or elsewhere.
pub(crate) struct Queues<'a> {
    pub(crate) emulators: &'a Emulators,
    pub(crate) sdk: &'a SdkConfig,
    pub(crate) elsewhere: &'a Elsewhere,
    pub(crate) visibility: Duration,
}

impl Queues<'_> {
    /// Creates the queue of this name unless it exists.
    pub(crate) async fn queue(&self, name: &str) -> Result<Queue, EmulatorError> {
        let visibility = self.visibility;
        let Some(endpoint) = &self.elsewhere.sqs else {
            return self.emulators.create_queue(name, visibility).await;
        };
        let config = aws_sdk_sqs::config::Builder::from(self.sdk).endpoint_url(endpoint);
        remote::create_queue(&aws_sdk_sqs::Client::from_conf(config.build()), name, visibility)
            .await
    }
}

/// Creates the missing secrets, to fit the existing ones.
pub(crate) async fn create_secrets(
    sdk: &SdkConfig,
    endpoints: &Endpoints,
    mail_server: Option<&str>,
) -> Result<(), AnyError> {
    let mut config = aws_sdk_secretsmanager::config::Builder::from(sdk);
    config.set_endpoint_url(endpoints.secrets_manager.clone());
    let client = aws_sdk_secretsmanager::Client::from_conf(config.build());
    let mut known = Map::new();
    for name in documents::GENERATED {
        if let Some(text) = secret(&client, &format!("{SECRETS}{name}")).await? {
            known.insert(name.to_owned(), serde_json::from_str(&text)?);
        }
    }
    let mut wanted = documents::complete(known.clone())?;
    if let Some(url) = mail_server {
        wanted.insert(documents::MAIL_SERVER.to_owned(), json!({"url": url}));
    }
    for (name, document) in wanted.iter().filter(|(name, new)| known.get(*name) != Some(*new)) {
        let (id, text) = (format!("{SECRETS}{name}"), document.to_string());
        match secret(&client, &id).await? {
            Some(_) => {
                client.put_secret_value().secret_id(id).secret_string(text).send().await?;
            }
            None => {
                client.create_secret().name(id).secret_string(text).send().await?;
            }
        }
    }
    Ok(())
}

async fn secret(
    client: &aws_sdk_secretsmanager::Client,
    id: &str,
) -> Result<Option<String>, AnyError> {
    match client.get_secret_value().secret_id(id).send().await {
        Ok(found) => Ok(found.secret_string),
        Err(error) => match error.into_service_error() {
            GetSecretValueError::ResourceNotFoundException(_) => Ok(None),
            other => Err(other.into()),
        },
    }
}
