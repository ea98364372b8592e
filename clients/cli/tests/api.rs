//! Any request, its problems, and its retries.

use support::{Behaviour, Gateway, PASSWORD, Receiver, json, unique};

use crate::cli::Cli;

#[tokio::test]
async fn fields_become_json_and_lists_are_walked() {
    let gateway = Gateway::start().await;
    let (cli, ..) = Cli::signed_in(&gateway).await;
    for title in ["Lamp", "Desk", "Chair"] {
        let fields = [
            "api",
            "post",
            "v1/products",
            "-d",
            &format!("title={title}"),
            "-d",
            "tags:=[\"a\"]",
            "-d",
            "variants.0.price.amount:=1200",
            "-d",
            "variants.0.price.currency=INR",
            "--json",
        ];
        let made = cli.run(&fields).await.expect(0).json();
        assert_eq!(made["title"], title);
        assert_eq!(made["variants"][0]["price"], json!({"amount": 1200, "currency": "INR"}));
    }
    let all = cli.run(&["api", "GET", "/v1/products", "-q", "limit=1", "--paginate"]).await;
    assert_eq!(all.expect(0).lines().len(), 3);
    let page = cli.run(&["api", "GET", "/v1/products?limit=2", "-i"]).await.expect(0);
    assert!(page.out.starts_with("HTTP 200 OK\n") && page.out.contains("x-request-id: req_"));

    cli.write("desk.json", "{\"title\": \"From a file\"}");
    let made =
        cli.run(&["api", "post", "/v1/products", "-d", "@desk.json", "--json"]).await.expect(0);
    let id = made.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/products/{id}");
    let made =
        cli.fed(&["api", "patch", &path, "-d", "@-"], "{\"title\": \"Fed\"}").await.expect(0);
    assert!(made.out.contains("\n  \"title\": \"Fed\""), "{}", made.out);
    let stale = ["api", "patch", &path, "--data", "{\"title\":\"x\"}", "-H", "If-Match: \"1\""];
    cli.run(&stale).await.expect(4);
    cli.run(&["api", "delete", &path]).await.expect(0);
}

#[tokio::test]
async fn a_problem_is_readable_and_has_an_exit_code() {
    let gateway = Gateway::start().await;
    let (cli, ..) = Cli::signed_in(&gateway).await;
    let bad = ["api", "post", "/v1/products", "-d", "title=", "-d", "tags:=[1]"];
    let run = cli.run(&bad).await.expect(4);
    assert_eq!(run.out, "");
    for part in ["422, validation_failed", "/title  too_short", "/tags/0  invalid_type", "req_"] {
        assert!(run.err.contains(part), "{part}: {}", run.err);
    }
    let run = cli.run(&[&bad[..], &["--json"]].concat()).await.expect(4);
    let error: support::Value = serde_json::from_str(&run.err).unwrap();
    assert_eq!(error["error"]["problem"]["errors"].as_array().unwrap().len(), 2);
    cli.run(&["api", "get", "/v1/orders/ord_1"]).await.expect(6);
    cli.run(&["api", "get", "/v1/products", "-d", "title=x"]).await.expect(2);
    cli.run(&["api", "fetch", "/v1/products"]).await.expect(2);
    cli.run(&["api", "post", "/v1/products", "-d", "title"]).await.expect(2);
    cli.run(&["api", "get", "/v1/products", "-H", "Authorization: Bearer x"]).await.expect(2);
    cli.run(&["api", "post", "/v1/auth/session/refresh"]).await.expect(2);
    cli.run(&["api", "get", "/v1/auth/me", "--paginate"]).await.expect(2);
}

/// That no run prints a token is asserted by every run.
#[tokio::test]
async fn credentials_in_answers_are_hidden() {
    let gateway = Gateway::start().await;
    let (cli, merchant, _) = Cli::signed_in(&gateway).await;
    let fields = [format!("email={}", merchant.email), format!("password={PASSWORD}")];
    let signin = ["api", "post", "/v1/auth/signin", "-d", &fields[0], "-d", &fields[1]];
    for more in [&[][..], &["--json"], &["-i"]] {
        let run = cli.run(&[&signin[..], more].concat()).await.expect(0);
        assert!(run.out.contains("[hidden]"), "{}", run.out);
    }
    let token = cli.token();
    let echoed = ["api", "post", "/v1/products", "-d", &format!("title={token}")];
    assert!(cli.run(&echoed).await.expect(0).out.contains("[hidden]"));
    let echoed = ["api", "get", &format!("/v1/products/{token}")];
    cli.run(&echoed).await.expect(6);
    cli.write("config/profiles.json", &format!("{{\"profiles\": \"{token}\"}}"));
    cli.run(&["whoami"]).await.expect(1);
}

#[tokio::test]
async fn a_request_is_sent_again_when_it_is_asked_for_with_the_same_key() {
    let server = Receiver::start().await;
    let wait = vec![("Retry-After".to_owned(), "1".to_owned())];
    let kind = ("Content-Type".to_owned(), "application/json".to_owned());
    server.next([
        Behaviour::Answer(429, wait.clone(), b"{}".to_vec()),
        Behaviour::Close,
        Behaviour::Answer(503, wait, b"{}".to_vec()),
        Behaviour::Answer(200, vec![kind], b"{\"ok\":true}".to_vec()),
    ]);
    let cli = Cli::new(server.url("").as_str());
    let run = cli.run(&["api", "post", "/v1/products", "-d", "title=Lamp"]).await.expect(0);
    assert_eq!(run.json(), json!({"ok": true}));
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    let keys = requests.iter().map(|request| request.header("idempotency-key").to_owned());
    let keys: std::collections::BTreeSet<String> = keys.collect();
    assert!(keys.len() == 1 && keys.iter().all(|key| key.len() >= 22), "{keys:?}");

    // Whoever is to wait for an hour is told so at once.
    let wait = vec![("Retry-After".to_owned(), "3600".to_owned())];
    server.next([Behaviour::Answer(429, wait, b"{}".to_vec())]);
    cli.run(&["api", "get", "/v1/products"]).await.expect(4);
    server.now(Behaviour::Close);
    let run = cli.run(&["--json", "api", "get", "/v1/products"]).await.expect(5);
    assert!(run.out.is_empty() && run.err.contains("\"kind\":\"unreachable\""), "{}", run.err);
}

#[tokio::test]
async fn a_shell_completes_the_commands() {
    let cli = Cli::new("http://127.0.0.1:1");
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = cli.run(&["completion", shell]).await.expect(0).out;
        assert!(script.contains("commerce") && script.contains("trigger"), "{shell}");
    }
    cli.run(&["completion", "tcsh"]).await.expect(2);
    let help = cli.run(&["--help"]).await.expect(0).out;
    assert!(help.contains("Exit codes:"), "{help}");
}

#[tokio::test]
async fn logs_say_what_has_happened_and_who_did_it() {
    let gateway = Gateway::start().await;
    let (cli, merchant, store) = Cli::signed_in(&gateway).await;
    let receiver = Receiver::that(Behaviour::Status(500)).await;
    let input = json!({"url": receiver.url("/hook"), "event_types": ["product.*"]});
    let owner = merchant.at(&store);
    owner.post("/v1/operations/webhook-subscriptions").json(input).await.expect(201);
    let mut following = cli.start(&["--json", "logs", "--follow", "-n", "0", "-e", "product.*"]);
    let input = json!({"title": unique("Lamp")});
    // It follows from some moment on, which nothing says.
    let followed = loop {
        owner.post("/v1/products").json(input.clone()).await.expect(201);
        let line = tokio::time::timeout(std::time::Duration::from_secs(2), following.json());
        if let Ok(line) = line.await {
            break line;
        }
    };
    assert_eq!(followed["action"], "product.created");
    let last = ["logs", "-n", "1", "-e", "product.*", "--since", "1h"];
    let last = cli.run(&last).await.expect(0).out;
    assert!(last.contains("product.created") && last.contains(&merchant.id), "{last}");
    receiver.wait_for_event("product.created").await;
    let failed = support::eventually(std::time::Duration::from_secs(30), || async {
        let run =
            cli.run(&["--json", "logs", "deliveries", "--status", "retrying"]).await.expect(0);
        run.lines().first().cloned()
    });
    let failed = failed.await;
    assert_eq!(failed["last_status_code"], 500);
    let id = failed["id"].as_str().unwrap();
    let attempts = cli.run(&["logs", "attempts", id]).await.expect(0).out;
    assert!(attempts.contains("HTTP 500") && attempts.contains("server_error"), "{attempts}");
    cli.run(&["logs", "attempts"]).await.expect(2);
    cli.run(&["logs", "events", "--status", "retrying"]).await.expect(2);
}
