//! Services that run elsewhere, in place of emulators: anything that speaks the APIs of `DynamoDB` with its streams, SQS
//! and Secrets Manager (docs/platform.md §9).

mod leases;
mod queues;
mod records;
mod shards;
mod stream;

use std::collections::BTreeSet;
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::DisplayErrorContext;
use aws_sdk_dynamodb::operation::create_table::CreateTableError;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection,
    ProjectionType, ScalarAttributeType, StreamSpecification, StreamViewType, TableDescription,
    TableStatus, TimeToLiveSpecification, TimeToLiveStatus,
};
use aws_types::SdkConfig;

use leases::Leases;
pub(crate) use queues::create_queue;
pub(crate) use stream::RemoteStream;
use table::item::Index;

use crate::TTL_ATTRIBUTE;
use crate::aws::REGION;
use crate::error::{AnyError, EmulatorError};

/// How long a new table is waited for.
const CREATION: Duration = Duration::from_mins(2);
/// The time between two looks at a table that is being created.
const LOOK: Duration = Duration::from_millis(200);
/// The key pair where the environment has none; services that verify no signature accept it.
const ANY_KEY: &str = "local";

/// The services that run elsewhere; those that are not named are emulated.
#[derive(Debug, Clone, Default)]
pub struct Elsewhere {
    /// The endpoint of `DynamoDB`.
    pub dynamodb: Option<String>,
    /// The endpoint of SQS.
    pub sqs: Option<String>,
    /// The endpoint of Secrets Manager.
    pub secrets: Option<String>,
    /// Who calls them; any key pair if none.
    pub credentials: Option<Credentials>,
    /// The region that calls are signed for; `us-east-1` if none.
    pub region: Option<String>,
    /// Whether other processes may read the table's stream, too: then each of its shards is read by the process that
    /// holds its lease.
    pub is_shared: bool,
}

impl Elsewhere {
    /// Reads the credentials and the region from the SDK's own variables.
    #[expect(clippy::disallowed_methods, reason = "the SDK's variables, read where it is built")]
    pub fn from_env() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let pair = text("AWS_ACCESS_KEY_ID").zip(text("AWS_SECRET_ACCESS_KEY"));
        let session = text("AWS_SESSION_TOKEN");
        Self {
            credentials: pair
                .map(|(key, secret)| Credentials::new(key, secret, session, None, "environment")),
            region: text("AWS_REGION").or_else(|| text("AWS_DEFAULT_REGION")),
            ..Self::default()
        }
    }

    pub(crate) fn credentials(&self) -> Credentials {
        let any = || Credentials::new(ANY_KEY, ANY_KEY, None, None, "embedded");
        self.credentials.clone().unwrap_or_else(any)
    }

    pub(crate) fn region(&self) -> &str {
        self.region.as_deref().unwrap_or(REGION)
    }
}

/// The table at an endpoint, with its stream.
pub(crate) struct RemoteTable {
    pub(crate) stream: RemoteStream,
}

impl RemoteTable {
    /// Opens the table at this endpoint, and creates it if it is missing.
    pub(crate) async fn open(
        sdk: &SdkConfig,
        endpoint: &str,
        name: &str,
        is_shared: bool,
    ) -> Result<Self, EmulatorError> {
        let client = client(sdk, endpoint);
        let opened = open(&client, name).await;
        let arn =
            opened.map_err(EmulatorError::while_trying(format!("open the table at {endpoint}")))?;
        let config = aws_sdk_dynamodbstreams::config::Builder::from(sdk);
        let config = config.endpoint_url(streams_endpoint(endpoint));
        let streams = aws_sdk_dynamodbstreams::Client::from_conf(config.build());
        let leases = is_shared.then(|| Leases::new(client, name));
        let stream = RemoteStream::new(streams, arn, leases);
        stream.begin().await.map_err(EmulatorError::while_trying(format!(
            "read the table's stream at {endpoint}"
        )))?;
        Ok(Self { stream })
    }
}

fn client(sdk: &SdkConfig, endpoint: &str) -> Client {
    let config = aws_sdk_dynamodb::config::Builder::from(sdk).endpoint_url(endpoint);
    Client::from_conf(config.build())
}

/// Creates the table at this endpoint, unless it exists.
pub(crate) async fn create_table(
    sdk: &SdkConfig,
    endpoint: &str,
    name: &str,
) -> Result<(), EmulatorError> {
    let opened = open(&client(sdk, endpoint), name).await;
    opened.map(drop).map_err(EmulatorError::while_trying(format!("open the table at {endpoint}")))
}

/// The endpoint of `DynamoDB` Streams: the table's own, except that AWS has a host for it.
fn streams_endpoint(endpoint: &str) -> String {
    let of_aws = endpoint.strip_prefix("https://").filter(|host| {
        host.starts_with("dynamodb.") && host.trim_end_matches('/').contains(".amazonaws.com")
    });
    of_aws.map_or_else(|| endpoint.to_owned(), |host| format!("https://streams.{host}"))
}

/// Creates the table unless it exists, and waits until it can be used. Returns the ARN of its stream.
async fn open(client: &Client, name: &str) -> Result<String, AnyError> {
    let deadline = tokio::time::sleep(CREATION);
    tokio::pin!(deadline);
    let table = loop {
        match describe(client, name).await? {
            Some(table) if is_active(&table) => break table,
            Some(_) => {}
            // It may have been on its way out when it was described first.
            None => create(client, name).await?,
        }
        tokio::select! {
            () = &mut deadline => return Err("the table was not created in time".into()),
            () = tokio::time::sleep(LOOK) => {}
        }
    };
    let named: BTreeSet<&str> =
        table.attribute_definitions().iter().map(AttributeDefinition::attribute_name).collect();
    if named != key_attributes().into_iter().collect() {
        return Err("the table is of another version".into());
    }
    enable_ttl(client, name).await?;
    Ok(table.latest_stream_arn.ok_or("the table has no stream")?)
}

fn is_active(table: &TableDescription) -> bool {
    let indexes = table.global_secondary_indexes();
    table.table_status() == Some(&TableStatus::Active)
        && indexes.iter().all(|index| index.index_status().is_none_or(|it| it.as_str() == "ACTIVE"))
}

async fn describe(client: &Client, name: &str) -> Result<Option<TableDescription>, AnyError> {
    match client.describe_table().table_name(name).send().await {
        Ok(found) => Ok(found.table),
        Err(cause) => match cause.into_service_error() {
            cause if cause.is_resource_not_found_exception() => Ok(None),
            cause => Err(DisplayErrorContext(cause).to_string().into()),
        },
    }
}

/// The attributes of all keys.
fn key_attributes() -> Vec<&'static str> {
    let keys = Index::ALL.map(Index::key_names);
    let keys = std::iter::once(("PK", "SK")).chain(keys);
    keys.flat_map(|(partition, sort)| [partition, sort]).collect()
}

/// Creates the table of [`crate::table_definition`].
async fn create(client: &Client, name: &str) -> Result<(), AnyError> {
    let mut creation = client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .set_key_schema(Some(key_schema(("PK", "SK"))?))
        .stream_specification(
            StreamSpecification::builder()
                .stream_enabled(true)
                .stream_view_type(StreamViewType::NewAndOldImages)
                .build()?,
        );
    for attribute in key_attributes() {
        let attribute = AttributeDefinition::builder().attribute_name(attribute);
        creation = creation
            .attribute_definitions(attribute.attribute_type(ScalarAttributeType::S).build()?);
    }
    for index in Index::ALL {
        let projected =
            if index.is_keys_only() { ProjectionType::KeysOnly } else { ProjectionType::All };
        let index = GlobalSecondaryIndex::builder()
            .index_name(index.name())
            .set_key_schema(Some(key_schema(index.key_names())?))
            .projection(Projection::builder().projection_type(projected).build());
        creation = creation.global_secondary_indexes(index.build()?);
    }
    match creation.send().await.map_err(aws_sdk_dynamodb::error::SdkError::into_service_error) {
        // Another process was faster.
        Ok(_) | Err(CreateTableError::ResourceInUseException(_)) => Ok(()),
        Err(cause) => Err(cause.into()),
    }
}

fn key_schema((partition, sort): (&str, &str)) -> Result<Vec<KeySchemaElement>, AnyError> {
    let part =
        |name: &str, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build();
    Ok(vec![part(partition, KeyType::Hash)?, part(sort, KeyType::Range)?])
}

/// Has items deleted after their time, unless that is so.
async fn enable_ttl(client: &Client, name: &str) -> Result<(), AnyError> {
    let found = client.describe_time_to_live().table_name(name).send().await?;
    let status = found.time_to_live_description().and_then(|it| it.time_to_live_status());
    if matches!(status, Some(TimeToLiveStatus::Enabled | TimeToLiveStatus::Enabling)) {
        return Ok(());
    }
    let wanted = TimeToLiveSpecification::builder().attribute_name(TTL_ATTRIBUTE).enabled(true);
    let update = client.update_time_to_live().table_name(name);
    if let Err(cause) = update.time_to_live_specification(wanted.build()?).send().await {
        // Another process may have just done it; and nothing relies on deletions.
        tracing::warn!(%cause, "time to live of the table not enabled");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::streams_endpoint;

    #[test]
    fn aws_has_another_host_for_streams() {
        for (table, streams) in [
            ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
            (
                "https://dynamodb.eu-west-1.amazonaws.com",
                "https://streams.dynamodb.eu-west-1.amazonaws.com",
            ),
            ("https://alternator.example.com:8043", "https://alternator.example.com:8043"),
        ] {
            assert_eq!(streams_endpoint(table), streams);
        }
    }
}
