//! The local system as whoever starts it meets it.

use local::{Options, System};
use support::{Gateway, Market, json};
use tokio::net::{TcpListener, TcpStream};

#[tokio::test]
async fn the_local_system_listens_only_when_ready() {
    Gateway::start().await;
    let mut system = System::prepare(Options::default()).await.unwrap();
    let address = system.url().trim_start_matches("http://").to_owned();
    let rejected = TcpStream::connect(&address).await.unwrap_err();
    assert_eq!(rejected.kind(), std::io::ErrorKind::ConnectionRefused);
    // What the demo is made with works before that.
    system.listen().unwrap();
    let health = reqwest::get(format!("{}/health", system.url())).await.unwrap();
    assert_eq!(health.status(), 200);
    system.stop().await;
}

#[tokio::test]
async fn a_port_conflict_names_the_port_and_its_option() {
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = taken.local_addr().unwrap().port();
    let mut options = Options { port: Some(port), ..Options::default() };
    let cause = System::start(options.clone()).await.err().unwrap().to_string();
    assert!(cause.contains(&port.to_string()) && cause.contains("--port"), "{cause}");
    options.port = Some(0);
    options.embedded.ports.sqs = port;
    let cause = System::start(options).await.err().unwrap().to_string();
    assert!(cause.contains(&port.to_string()) && cause.contains("--sqs-port"), "{cause}");
}

#[tokio::test]
async fn the_api_listens_on_ipv4_and_ipv6() {
    let gateway = Gateway::start().await;
    let port = gateway.url().rsplit(':').next().unwrap().to_owned();
    for address in ["127.0.0.1", "[::1]"] {
        let health = reqwest::get(format!("http://{address}:{port}/health")).await.unwrap();
        assert_eq!(health.status(), 200, "{address}");
    }
    // One socket for both, where it is told to.
    let host = Some("::".parse().unwrap());
    let system = System::start(Options { host, ..Options::default() }).await.unwrap();
    assert!(system.url().starts_with("http://127.0.0.1:"), "{}", system.url());
    let port = system.url().rsplit(':').next().unwrap().to_owned();
    for address in ["127.0.0.1", "[::1]"] {
        let health = reqwest::get(format!("http://{address}:{port}/health")).await.unwrap();
        assert_eq!(health.status(), 200, "{address}");
    }
    system.stop().await;
}

#[tokio::test]
async fn long_responses_are_compressed_by_accept_encoding() {
    let gateway = Gateway::start().await;
    let document = format!("{}/v1/openapi.json", gateway.url());
    let client = reqwest::Client::new();
    let plain = client.get(&document).send().await.unwrap();
    let tag = plain.headers()["etag"].to_str().unwrap().to_owned();
    assert!(plain.headers()["vary"].to_str().unwrap().contains("Accept-Encoding"));
    assert!(!plain.headers().contains_key("content-encoding"));
    let length = plain.bytes().await.unwrap().len();
    for (accepted, encoding) in [
        ("gzip", "gzip"),
        ("br", "br"),
        ("zstd", "zstd"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip;q=1, zstd;q=0.5", "gzip"),
    ] {
        let asked = client.get(&document).header("accept-encoding", accepted);
        let answer = asked.send().await.unwrap();
        assert_eq!(answer.headers()["content-encoding"], encoding, "{accepted}");
        let encoded = answer.headers()["etag"].to_str().unwrap().to_owned();
        assert_eq!(encoded, format!("{}-{encoding}\"", tag.trim_end_matches('"')));
        assert!(answer.bytes().await.unwrap().len() < length / 5, "{accepted}");
        // Whoever has it is told so, under the same tag.
        let again = client.get(&document).header("accept-encoding", accepted);
        let again = again.header("if-none-match", &encoded).send().await.unwrap();
        assert_eq!(
            (again.status().as_u16(), &again.headers()["etag"]),
            (304, &encoded.parse().unwrap())
        );
    }
    let short = client.get(format!("{}/health", gateway.url())).header("accept-encoding", "gzip");
    assert!(!short.send().await.unwrap().headers().contains_key("content-encoding"));
}

#[tokio::test]
async fn the_etag_of_a_compressed_object_is_its_version() {
    let market = Market::open().await;
    let (owner, path) = (&market.owner, format!("/v1/stores/{}", market.store.id));
    let found = owner.get(&path).await.expect(200);
    let version = found.header("etag").unwrap().trim_matches('"').to_owned();
    let rename =
        |tag: String| owner.patch(&path).header("if-match", &tag).json(json!({"name": "Renamed"}));
    rename("\"999-gzip\"".to_owned()).await.expect(412);
    rename(format!("\"{version}-gzip\"")).await.expect(200);
}
