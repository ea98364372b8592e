//! The local system as whoever starts it meets it.

use local::{Options, System};
use support::Gateway;
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
