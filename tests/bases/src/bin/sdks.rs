//! The least that can do what a function does: `lambda_http`, and the three SDKs. Of every request it reads
//! one item and one secret, one after the other, as a function's first request has to; a queue is ready,
//! and not asked.
#![allow(clippy::disallowed_methods, reason = "there is nothing here but the environment")]

use std::collections::HashMap;
use std::env;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_dynamodb::config::BehaviorVersion;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_types::SdkConfig;
use aws_types::region::Region;
use lambda_http::{Error, Request, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let text = |name: &str| env::var(name).unwrap_or_default();
    let url = |name: &str| env::var(name).ok().filter(|url| !url.is_empty());
    let credentials = Credentials::new(
        text("AWS_ACCESS_KEY_ID"),
        text("AWS_SECRET_ACCESS_KEY"),
        url("AWS_SESSION_TOKEN"),
        None,
        "environment",
    );
    let http = aws_smithy_http_client::Builder::new()
        .tls_provider(Provider::Rustls(CryptoMode::Ring))
        .build_https();
    let sdk = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(text("AWS_REGION")))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .http_client(http)
        .build();
    let mut dynamodb = aws_sdk_dynamodb::config::Builder::from(&sdk);
    dynamodb.set_endpoint_url(url("AWS_ENDPOINT_URL_DYNAMODB"));
    let dynamodb = aws_sdk_dynamodb::Client::from_conf(dynamodb.build());
    let mut secrets = aws_sdk_secretsmanager::config::Builder::from(&sdk);
    secrets.set_endpoint_url(url("AWS_ENDPOINT_URL_SECRETS_MANAGER"));
    let secrets = aws_sdk_secretsmanager::Client::from_conf(secrets.build());
    let mut sqs = aws_sdk_sqs::config::Builder::from(&sdk);
    sqs.set_endpoint_url(url("AWS_ENDPOINT_URL_SQS"));
    let sqs = aws_sdk_sqs::Client::from_conf(sqs.build());
    let (dynamodb, secrets, sqs) = (&dynamodb, &secrets, &sqs);
    lambda_http::run(service_fn(|request: Request| async move {
        let key = |text: &str| AttributeValue::S(text.to_owned());
        let item = dynamodb
            .get_item()
            .table_name(env::var("TABLE_NAME")?)
            .key("PK", key("NOBODY#1"))
            .key("SK", key("A"))
            .send()
            .await?;
        let secret =
            secrets.get_secret_value().secret_id(env::var("SHARED_KEYS_SECRET")?).send().await?;
        if request.method() == "POST" {
            sqs.send_message().queue_url(env::var("WEBHOOK_QUEUE_URL")?).send().await?;
        }
        let read = secret.secret_string().unwrap_or_default().len();
        Ok::<_, Error>(format!("{} {read}", item.item().map_or(0, HashMap::len)))
    }))
    .await
}
