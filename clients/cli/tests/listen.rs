//! Events without a public address, and events that are made to happen.

use std::time::Duration;

use standardwebhooks::Webhook;
use support::{Behaviour, Gateway, Received, Receiver, Value, eventually, service_hmac};

use crate::cli::{Cli, Link, Running};

/// What a command prints when it has an event is of no matter; how long one waits for it is.
const SOON: Duration = Duration::from_secs(30);

async fn secret(cli: &Cli) -> String {
    cli.run(&["listen", "--print-secret"]).await.expect(0).out.trim().to_owned()
}

/// Starts listening, and waits until it has read where the list ends.
async fn listen(cli: &Cli, store: &str, args: &[&str]) -> Running {
    let state = cli.home.path().join(format!("config/listen-default-{store}.json"));
    let _ = std::fs::remove_file(&state);
    listen_on(cli, store, args).await
}

async fn listen_on(cli: &Cli, store: &str, args: &[&str]) -> Running {
    let running = cli.start(&[&["--json", "listen"], args].concat());
    let state = cli.home.path().join(format!("config/listen-default-{store}.json"));
    eventually(SOON, || async { state.exists().then_some(()) }).await;
    running
}

async fn trigger(cli: &Cli, event: &str) {
    cli.run(&["--quiet", "trigger", event]).await.expect(0);
}

fn types(requests: &[Received]) -> Vec<String> {
    let name = |request: &Received| request.json()["type"].as_str().unwrap().to_owned();
    requests.iter().map(name).collect()
}

#[tokio::test]
async fn events_are_forwarded_in_order_with_the_signature_of_a_delivery() {
    let gateway = Gateway::start().await;
    let (cli, _, store) = Cli::signed_in(&gateway).await;
    let receiver = Receiver::start().await;
    let url = receiver.url("/hook");
    let args = ["-f", &url, "--filter", "order.*,product.created", "-H", "X-Own: yes"];
    let mut listening = listen(&cli, &store.id, &args).await;
    trigger(&cli, "order.fulfilled").await;
    let heard = receiver.wait_for(4).await;
    let expected = ["product.created", "order.created", "order.paid", "order.fulfilled"];
    assert_eq!(types(&heard), expected);
    assert_eq!(listening.json().await["status"], 200);

    let secret = secret(&cli).await;
    let webhook = Webhook::new(&secret).unwrap();
    for request in &heard {
        webhook.verify(&request.body, &request.headers).expect("the signature holds");
        let at = request.header("x-service-timestamp");
        let hmac = service_hmac(&secret, at, &request.body);
        assert_eq!(request.header("x-service-hmac-sha256"), hmac);
        let body = request.json();
        assert_eq!(body["id"], request.header("webhook-id"));
        assert_eq!(body["id"], request.header("x-service-event-id"));
        assert_eq!(body["type"], request.header("x-service-event-type"));
        assert_eq!(body["store_id"], request.header("x-service-store-id"));
        assert_eq!(body["request_id"], request.header("x-service-request-id"));
        assert_eq!(request.header("x-service-attempt"), "1");
        assert_eq!((request.header("x-own"), request.path.as_str()), ("yes", "/hook"));
        let trace = format!("00-{}-", body["trace_id"].as_str().unwrap());
        assert!(request.header("traceparent").starts_with(&trace));
    }
    assert_eq!(listening.interrupt().await, 0);
}

#[tokio::test]
async fn a_forward_is_repeated_before_the_next_event() {
    let gateway = Gateway::start().await;
    let (cli, _, store) = Cli::signed_in(&gateway).await;
    let receiver = Receiver::start().await;
    receiver.next([Behaviour::Status(500), Behaviour::Close]);
    let url = receiver.url("/");
    let mut listening = listen(&cli, &store.id, &["-f", &url, "-e", "product.*"]).await;
    trigger(&cli, "product.updated").await;
    let heard = receiver.wait_for(4).await;
    let first = "product.created";
    assert_eq!(types(&heard), [first, first, first, "product.updated"]);
    let attempts: Vec<&str> = heard.iter().map(|it| it.header("x-service-attempt")).collect();
    assert_eq!(attempts, ["1", "2", "3", "1"]);
    let line = listening.json().await;
    assert_eq!((&line["attempts"], &line["accepted"]), (&3.into(), &true.into()));
}

#[tokio::test]
async fn a_restart_loses_no_event_and_repeats_none() {
    let gateway = Gateway::start().await;
    let (cli, _, store) = Cli::signed_in(&gateway).await;
    let receiver = Receiver::start().await;
    let url = receiver.url("/");
    let args = ["-f", &url, "-e", "product.*", "--since", "last"];
    trigger(&cli, "product.created").await;
    let mut listening = listen(&cli, &store.id, &args).await;
    trigger(&cli, "product.created").await;
    listening.line().await;
    listening.kill().await;
    trigger(&cli, "product.updated").await;
    let listening = listen_on(&cli, &store.id, &args).await;
    receiver.wait_for(3).await;
    trigger(&cli, "product.archived").await;
    let heard = receiver.wait_for(5).await;
    let expected = [
        "product.created",
        "product.created",
        "product.updated",
        "product.created",
        "product.archived",
    ];
    assert_eq!(types(&heard), expected);
    let mut ids: Vec<Value> = heard.iter().map(|request| request.json()["id"].clone()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 5);
    listening.kill().await;

    let mut all =
        cli.start(&["--json", "listen", "--print-only", "--since", "1h", "-e", "product.*"]);
    for name in ["product.created"].iter().chain(&expected) {
        let event = all.json().await;
        assert_eq!(
            (&event["type"], &event["store_id"]),
            (&(*name).into(), &store.id.clone().into())
        );
    }
}

#[tokio::test]
async fn a_lost_connection_loses_no_event() {
    let gateway = Gateway::start().await;
    let (merchant_cli, merchant, store) = Cli::signed_in(&gateway).await;
    let link = Link::to(&gateway).await;
    let cli = Cli::new(&link.url);
    cli.sign_in(&merchant).await;
    let receiver = Receiver::start().await;
    let url = receiver.url("/");
    let _listening = listen(&cli, &store.id, &["-f", &url, "-e", "product.*"]).await;
    trigger(&merchant_cli, "product.created").await;
    receiver.wait_for(1).await;
    link.cut();
    trigger(&merchant_cli, "product.updated").await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(receiver.requests().len(), 1);
    link.mend();
    let heard = receiver.wait_for(3).await;
    assert_eq!(types(&heard), ["product.created", "product.created", "product.updated"]);
}

#[tokio::test]
async fn every_event_of_the_list_happens_when_it_is_triggered() {
    let gateway = Gateway::start().await;
    let (cli, _, store) = Cli::signed_in(&gateway).await;
    let mut listening = listen(&cli, &store.id, &["--print-only"]).await;
    let list = cli.run(&["--json", "trigger", "--list"]).await.expect(0).json();
    let mut missing: Vec<String> = serde_json::from_value(list["data"].clone()).unwrap();
    assert!(missing.len() > 40);
    for event in missing.clone() {
        trigger(&cli, &event).await;
    }
    while !missing.is_empty() {
        let event = listening.json().await;
        missing.retain(|name| event["type"] != *name);
    }
    cli.run(&["trigger", "order.eaten"]).await.expect(2);
    let field = ["trigger", "order.created", "--override", "order:note=By hand", "--json"];
    let steps = cli.run(&field).await.expect(0).lines();
    assert_eq!(
        (&steps[1]["step"], &steps[1]["answer"]["note"]),
        (&"order".into(), &"By hand".into())
    );
    cli.run(&["trigger", "order.created", "--override", "refund:note=x"]).await.expect(2);
}

#[tokio::test]
async fn the_signing_secret_stays_and_is_written_for_its_owner_alone() {
    let gateway = Gateway::start().await;
    let (cli, _, store) = Cli::signed_in(&gateway).await;
    let first = secret(&cli).await;
    assert!(first.starts_with("whsec_"));
    let file = cli.path("secret");
    let listening = listen(&cli, &store.id, &["-f", "9", "--secret-file", &file]).await;
    assert_eq!(cli.read("secret"), first);
    assert_eq!(crate::cli::mode(file.as_ref()), 0o600);
    assert_eq!(listening.interrupt().await, 0);
    assert_eq!(secret(&cli).await, first);
    cli.run(&["listen"]).await.expect(2);
    cli.run(&["listen", "-f", "ftp://example.com"]).await.expect(2);
}
