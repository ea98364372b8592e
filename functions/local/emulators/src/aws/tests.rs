//! Tests of the emulators' guarantees beyond AWS's own behaviour.

use std::os::unix::fs::PermissionsExt;

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType,
    ScalarAttributeType, StreamSpecification, StreamViewType,
};
use aws_types::SdkConfig;
use aws_types::region::Region;

use std::fs;
use std::path::PathBuf;

use crate::remote::Elsewhere;

use super::*;

type Tested = Result<(), AnyError>;

fn config(endpoint: &str) -> SdkConfig {
    config_over(endpoint, egress::connector::http_client(std::time::Duration::from_secs(1)))
}

fn config_over(endpoint: &str, http: SharedHttpClient) -> SdkConfig {
    use aws_credential_types::provider::SharedCredentialsProvider;
    let credentials = Credentials::new("local", "local", None, None, "local");
    SdkConfig::builder()
        .endpoint_url(endpoint)
        .region(Region::new(REGION))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .http_client(http)
        .behavior_version(aws_sdk_dynamodb::config::BehaviorVersion::latest())
        .build()
}

/// A data directory of one test, removed at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("emulators-{}", uuid::Uuid::now_v7())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _: Result<(), _> = fs::remove_dir_all(&self.0);
    }
}

async fn with_table(emulators: &Emulators) -> Result<aws_sdk_dynamodb::Client, AnyError> {
    let client = aws_sdk_dynamodb::Client::new(&config(emulators.dynamodb_endpoint().unwrap()));
    let key = KeySchemaElement::builder().attribute_name("PK").key_type(KeyType::Hash);
    let attribute =
        AttributeDefinition::builder().attribute_name("PK").attribute_type(ScalarAttributeType::S);
    let stream = StreamSpecification::builder()
        .stream_enabled(true)
        .stream_view_type(StreamViewType::NewImage);
    client
        .create_table()
        .table_name("commerce")
        .billing_mode(BillingMode::PayPerRequest)
        .key_schema(key.build()?)
        .attribute_definitions(attribute.build()?)
        .stream_specification(stream.build()?)
        .send()
        .await?;
    Ok(client)
}

async fn put(client: &aws_sdk_dynamodb::Client, key: &str) -> Tested {
    let key = AttributeValue::S(key.to_owned());
    client.put_item().table_name("commerce").item("PK", key).send().await?;
    Ok(())
}

/// The key in each record's new image; none where there is no image.
fn keys(records: &[Value]) -> Vec<Option<&str>> {
    let key = "/dynamodb/NewImage/PK/S";
    records.iter().map(|record| record.pointer(key).and_then(Value::as_str)).collect()
}

#[tokio::test]
async fn the_stream_gives_each_record_once_in_order() -> Tested {
    let emulators = Emulators::start(None).await?;
    let client = with_table(&emulators).await?;
    for key in ["a", "b", "c"] {
        put(&client, key).await?;
    }
    let first = emulators.stream_records(2)?;
    assert_eq!(keys(&first), [Some("a"), Some("b")]);
    let record = first.first().ok_or("no record")?;
    for (field, value) in [
        ("/eventName", "INSERT"),
        ("/eventSource", "aws:dynamodb"),
        ("/awsRegion", REGION),
        ("/dynamodb/StreamViewType", "NEW_IMAGE"),
        ("/dynamodb/Keys/PK/S", "a"),
    ] {
        assert_eq!(record.pointer(field).and_then(Value::as_str), Some(value), "{field}");
    }
    assert_eq!(keys(&emulators.stream_records(100)?), [Some("c")]);
    assert_eq!(emulators.stream_records(100)?.len(), 0);
    emulators.stop().await;
    Ok(())
}

#[tokio::test]
async fn unwanted_records_of_the_stream_are_skipped() -> Tested {
    let scratch = Scratch::new();
    let emulators = Emulators::start(Some(&scratch.0)).await?;
    let client = with_table(&emulators).await?;
    let text = |text: &str| AttributeValue::S(text.to_owned());
    for (key, kind) in [("a", "order"), ("b", "event"), ("c", "order"), ("d", "event")] {
        let input = client.put_item().table_name("commerce").item("PK", text(key));
        input.item("entity", text(kind)).send().await?;
    }
    client.delete_item().table_name("commerce").key("PK", text("b")).send().await?;
    let news =
        || emulators.stream_records_of(1, |change, kind| change == "INSERT" && kind == "event");
    assert_eq!(keys(&news()?), [Some("b")]);
    assert_eq!(keys(&news()?), [Some("d")]);
    assert_eq!(news()?.len(), 0);
    put(&client, "e").await?;
    assert_eq!(news()?.len(), 0);
    assert_eq!(emulators.stream_records(100)?.len(), 0, "it was read");
    emulators.stop().await;
    Ok(())
}

#[tokio::test]
async fn a_backup_is_made_while_the_table_is_written() -> Tested {
    let (scratch, copy) = (Scratch::new(), Scratch::new());
    let emulators = Emulators::start(Some(&scratch.0)).await?;
    let client = with_table(&emulators).await?;
    put(&client, "before").await?;
    back_up(&scratch.0, &copy.0)?;
    put(&client, "after").await?;
    assert!(back_up(&scratch.0, &copy.0).is_err(), "there is one");
    assert!(back_up(&copy.0.join("none"), &scratch.0.join("none")).is_err(), "no table");
    emulators.stop().await;

    let restored = Emulators::start(Some(&copy.0)).await?;
    let client = aws_sdk_dynamodb::Client::new(&config(restored.dynamodb_endpoint().unwrap()));
    let items = client.scan().table_name("commerce").send().await?.items.unwrap_or_default();
    let found: Vec<_> = items.iter().filter_map(|item| item.get("PK")?.as_s().ok()).collect();
    assert_eq!(found, ["before"]);
    Ok(())
}

#[tokio::test]
async fn the_stream_of_a_file_keeps_little_of_what_was_read() -> Tested {
    let scratch = Scratch::new();
    let emulators = Emulators::start(Some(&scratch.0)).await?;
    let client = with_table(&emulators).await?;
    for round in 0..3 {
        for number in 0..200 {
            put(&client, &format!("{round}-{number}")).await?;
        }
        let mut read = 0;
        while let count @ 1.. = emulators.stream_records(100)?.len() {
            read += count;
        }
        assert_eq!(read, 200, "each once");
        assert!(emulators.stream_length()? < 200, "{}", emulators.stream_length()?);
    }
    emulators.stop().await;
    Ok(())
}

#[tokio::test]
async fn a_copy_in_memory_begins_as_its_directory_and_changes_nothing_there() -> Tested {
    let scratch = Scratch::new();
    let put = async |emulators: &Emulators, key: &str| {
        let client = aws_sdk_dynamodb::Client::new(&config(emulators.dynamodb_endpoint().unwrap()));
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let put = client.put_item().table_name("commerce").item("PK", text(key));
        put.item("SK", text("A")).send().await
    };
    let count = async |emulators: &Emulators| {
        let client = aws_sdk_dynamodb::Client::new(&config(emulators.dynamodb_endpoint().unwrap()));
        client.scan().table_name("commerce").send().await.map(|page| page.count())
    };
    let first = Emulators::start(Some(&scratch.0)).await?;
    first.create_table(&crate::table::table_definition("commerce"))?;
    put(&first, "one").await?;
    first.stop().await;
    let place = Place::CopyOf(&scratch.0);
    let copy = Emulators::start_on(place, Ports::default(), None, &Elsewhere::default()).await?;
    assert_eq!((count(&copy).await?, copy.stream_records(10)?.len()), (1, 0));
    put(&copy, "two").await?;
    assert_eq!((count(&copy).await?, copy.stream_records(10)?.len()), (2, 1));
    copy.stop().await;
    let again = Emulators::start(Some(&scratch.0)).await?;
    assert_eq!(count(&again).await?, 1);
    again.stop().await;
    Ok(())
}

#[tokio::test]
async fn a_stream_records_what_it_is_told_to() -> Tested {
    let scratch = Scratch::new();
    let recorded = [("INSERT", "event"), ("REMOVE", "order"), ("MODIFY", "level")];
    let recorded = recorded.map(|(change, kind)| (change.to_owned(), kind.to_owned())).into();
    for place in [Place::Directory(&scratch.0), Place::Memory] {
        let emulators =
            Emulators::start_on(place, Ports::default(), Some(&recorded), &Elsewhere::default())
                .await?;
        emulators.create_table(&crate::table::table_definition("commerce"))?;
        let client = aws_sdk_dynamodb::Client::new(&config(emulators.dynamodb_endpoint().unwrap()));
        let text = |text: &str| AttributeValue::S(text.to_owned());
        for kind in ["order", "event", "level"] {
            for value in ["before", "after"] {
                let input = client.put_item().table_name("commerce").item("PK", text(kind));
                let input = input.item("SK", text("A")).item("value", text(value));
                input.item("entity", text(kind)).send().await?;
            }
            let delete = client.delete_item().table_name("commerce").key("PK", text(kind));
            delete.key("SK", text("A")).send().await?;
        }
        let records = emulators.stream_records(100)?;
        let changes: Vec<_> =
            records.iter().filter_map(|record| record.get("eventName")?.as_str()).collect();
        assert_eq!(changes, ["REMOVE", "INSERT", "MODIFY"]);
        emulators.stop().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_restart_keeps_the_items_and_begins_a_new_stream() -> Tested {
    let scratch = Scratch::new();
    let emulators = Emulators::start(Some(&scratch.0)).await?;
    put(&with_table(&emulators).await?, "before").await?;
    emulators.stop().await;

    let emulators = Emulators::start(Some(&scratch.0)).await?;
    let client = aws_sdk_dynamodb::Client::new(&config(emulators.dynamodb_endpoint().unwrap()));
    put(&client, "after").await?;
    assert_eq!(client.scan().table_name("commerce").send().await?.count(), 2);
    assert_eq!(keys(&emulators.stream_records(100)?), [Some("after")]);
    Ok(())
}

#[tokio::test]
async fn a_table_of_another_version_is_not_used() -> Tested {
    let emulators = Emulators::start(None).await?;
    let definition = crate::table::table_definition("main");
    emulators.create_table(&definition)?;
    emulators.create_table(&definition)?;
    let mut newer = definition;
    let keys = newer.get_mut("AttributeDefinitions").and_then(Value::as_array_mut);
    keys.ok_or("no keys")?.push(json!({"AttributeName": "GSI99PK", "AttributeType": "S"}));
    let rejected = emulators.create_table(&newer).expect_err("it has other keys");
    assert!(format!("{rejected:?} {rejected}").contains("--reset"), "{rejected}");
    Ok(())
}

#[tokio::test]
async fn a_data_directory_serves_one_process() -> Tested {
    let scratch = Scratch::new();
    let first = Emulators::start(Some(&scratch.0)).await?;
    let rejected = Emulators::start(Some(&scratch.0)).await.err().ok_or("started")?;
    assert!(rejected.to_string().contains("another process is using it"), "{rejected}");
    first.stop().await;
    Emulators::start(Some(&scratch.0)).await?;
    Ok(())
}

#[tokio::test]
async fn a_message_that_is_never_deleted_ends_in_the_dead_letter_queue() -> Tested {
    let emulators = Emulators::start(None).await?;
    let queue = emulators.create_queue("deliveries", Duration::ZERO).await?;
    let again = emulators.create_queue("deliveries", Duration::ZERO).await?;
    assert_eq!(again.url, queue.url);
    let client = aws_sdk_sqs::Client::new(&config(emulators.sqs_endpoint().unwrap()));
    client.send_message().queue_url(&queue.url).message_body("hello").send().await?;
    for _ in 0..MAX_RECEIVE_COUNT {
        let got = client.receive_message().queue_url(&queue.url).send().await?;
        assert_eq!(got.messages().len(), 1);
    }
    let got = client.receive_message().queue_url(&queue.url).send().await?;
    assert_eq!(got.messages().len(), 0);
    let dead = client.receive_message().queue_url(&queue.dead_letter_url).wait_time_seconds(2);
    let dead = dead.send().await?;
    assert_eq!(dead.messages().first().and_then(|m| m.body()), Some("hello"));
    emulators.stop().await;
    Ok(())
}

#[tokio::test]
async fn a_secret_is_in_the_file_before_its_answer_and_back_after_a_restart() -> Tested {
    let scratch = Scratch::new();
    let emulators = Emulators::start(Some(&scratch.0)).await?;
    let client =
        aws_sdk_secretsmanager::Client::new(&config(emulators.secrets_endpoint().unwrap()));
    client.create_secret().name("keys").secret_string("old").send().await?;
    client.put_secret_value().secret_id("keys").secret_string("new").send().await?;
    let file = scratch.0.join("secrets.json");
    assert!(fs::read_to_string(&file)?.contains("\"new\""));
    assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
    drop(emulators);
    // The dropped server releases the lock at once: there is no request to wait for.
    let emulators = Emulators::start(Some(&scratch.0)).await?;
    let client =
        aws_sdk_secretsmanager::Client::new(&config(emulators.secrets_endpoint().unwrap()));
    for (stage, value) in [("AWSCURRENT", "new"), ("AWSPREVIOUS", "old")] {
        let found = client.get_secret_value().secret_id("keys").version_stage(stage);
        let found = found.send().await?;
        assert_eq!(found.secret_string(), Some(value));
        assert_eq!(found.version_stages(), [stage]);
    }
    Ok(())
}

#[tokio::test]
async fn a_damaged_secrets_file_is_an_error_and_is_left_alone() -> Tested {
    let scratch = Scratch::new();
    fs::create_dir_all(&scratch.0)?;
    fs::write(scratch.0.join("secrets.json"), "[{")?;
    assert!(Emulators::start(Some(&scratch.0)).await.is_err());
    assert_eq!(fs::read_to_string(scratch.0.join("secrets.json"))?, "[{");
    Ok(())
}

/// A client of this process, without a connection.
fn own_client(emulators: &Emulators) -> aws_sdk_dynamodb::Client {
    let config = config_over(emulators.dynamodb_endpoint().unwrap(), emulators.http_client());
    aws_sdk_dynamodb::Client::new(&config)
}

#[tokio::test]
async fn our_own_clients_read_what_anybody_wrote_before() -> Tested {
    let scratch = Scratch::new();
    let emulators = Emulators::start(Some(&scratch.0)).await?;
    let (others, own) = (with_table(&emulators).await?, own_client(&emulators));
    for number in 0..100 {
        let key = number.to_string();
        let writer = if number % 2 == 0 { &own } else { &others };
        put(writer, &key).await?;
        let input = own.get_item().table_name("commerce").key("PK", AttributeValue::S(key));
        assert!(input.send().await?.item.is_some(), "{number}");
    }
    Ok(())
}

#[tokio::test]
async fn a_write_of_our_own_clients_is_notified() -> Tested {
    let emulators = Emulators::start(None).await?;
    with_table(&emulators).await?;
    let writes = emulators.writes();
    let own = own_client(&emulators);
    own.scan().table_name("commerce").send().await?;
    let announced = |within| tokio::time::timeout(within, writes.notified());
    assert!(announced(Duration::ZERO).await.is_err(), "nothing was written");
    put(&own, "a").await?;
    announced(Duration::from_secs(10)).await?;
    assert_eq!(keys(&emulators.stream_records(10)?), [Some("a")]);
    Ok(())
}

#[tokio::test]
async fn our_own_clients_get_the_same_rejections() -> Tested {
    let emulators = Emulators::start(None).await?;
    let (others, own) = (with_table(&emulators).await?, own_client(&emulators));
    let rejection = |client: &aws_sdk_dynamodb::Client| {
        let key = AttributeValue::N("1".to_owned());
        let input = client.put_item().table_name("commerce").item("PK", key);
        async move { input.send().await.map_err(|cause| cause.into_service_error().to_string()) }
    };
    let (theirs, ours) = (rejection(&others).await, rejection(&own).await);
    assert_eq!(ours.as_ref().err(), theirs.as_ref().err());
    assert!(ours.is_err_and(|text| text.contains("ValidationException")));
    Ok(())
}

#[tokio::test]
async fn our_own_clients_end_with_the_emulators() -> Tested {
    let emulators = Emulators::start(None).await?;
    with_table(&emulators).await?;
    let own = own_client(&emulators);
    put(&own, "a").await?;
    emulators.stop().await;
    assert!(put(&own, "b").await.is_err());
    Ok(())
}

/// Sends bytes to an emulator, and returns the status line and what follows.
async fn exchange(endpoint: &str, request: &str) -> Result<String, AnyError> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let address = endpoint.strip_prefix("http://").ok_or("no http")?;
    let mut stream = tokio::net::TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer.to_lowercase())
}

#[tokio::test]
async fn pages_of_the_web_reach_no_emulator() -> Tested {
    let emulators = Emulators::start(None).await?;
    let _client = with_table(&emulators).await?;
    let endpoints =
        [emulators.dynamodb_endpoint(), emulators.sqs_endpoint(), emulators.secrets_endpoint()];
    for endpoint in endpoints.into_iter().flatten() {
        let call = |host: &str, header: &str| {
            format!(
                "POST / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{header}\
                 Content-Type: application/json\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n\
                 Content-Length: 2\r\n\r\n{{}}"
            )
        };
        for (method, host, header, status) in [
            ("POST", "127.0.0.1", "Origin: https://evil.example\r\n", "403"),
            ("POST", "127.0.0.1", "Origin: null\r\n", "403"),
            ("OPTIONS", "127.0.0.1", "Origin: https://evil.example\r\n", "403"),
            ("POST", "rebound.example:8000", "", "421"),
        ] {
            let request = call(host, header).replacen("POST", method, 1);
            let answer = exchange(endpoint, &request).await?;
            assert!(answer.starts_with(&format!("http/1.1 {status}")), "{request}\n{answer}");
            assert!(!answer.contains("access-control-allow-origin"), "{answer}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn the_tables_server_answers_rare_and_malformed_calls() -> Tested {
    let emulators = Emulators::start(None).await?;
    let client = with_table(&emulators).await?;
    put(&client, "a").await?;
    let tables = client.list_tables().send().await?;
    assert_eq!(tables.table_names(), ["commerce"]);
    let statement = client.execute_statement().statement("SELECT * FROM commerce");
    assert_eq!(statement.send().await?.items().len(), 1);
    let malformed = client.get_item().table_name("commerce").send().await;
    let rejected = malformed.err().ok_or("it has no key")?.into_service_error();
    assert_eq!(rejected.meta().code(), Some("ValidationException"), "{rejected:?}");
    let endpoint = emulators.dynamodb_endpoint().ok_or("no endpoint")?;
    let get = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert!(exchange(endpoint, get).await?.contains("healthy"));
    let unsigned = get.replacen("GET", "POST", 1);
    assert!(exchange(endpoint, &unsigned).await?.starts_with("http/1.1 400"));
    emulators.stop().await;
    Ok(())
}
