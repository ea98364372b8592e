//! Signing in and out, and the profile.

use std::time::Duration;

use support::clock::HOUR;
use support::{Gateway, Merchant, PASSWORD, json};
use tokio::io::AsyncWriteExt;
use totp_rs::Totp;

use crate::cli::{Cli, finish, mode};

#[tokio::test]
async fn a_merchant_signs_in_by_password_and_out_again() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_shop().await;
    let cli = Cli::new(gateway.url());
    cli.run(&["whoami"]).await.expect(3);
    cli.fed(&["login", "--email", &merchant.email], "wrong\n").await.expect(3);
    let signed = cli.fed(&["login"], &format!("{}\n{PASSWORD}\n", merchant.email)).await.expect(0);
    assert!(signed.out.contains(&store.subdomain) && !signed.out.contains(PASSWORD));

    let me = cli.run(&["--json", "whoami"]).await.expect(0).json();
    assert_eq!(me["email"], merchant.email);
    assert_eq!(me["store"], json!({"id": store.id, "subdomain": store.subdomain}));
    let config = cli.home.path().join("config");
    assert_eq!((mode(&config), mode(&config.join("profiles.json"))), (0o700, 0o600));

    let token = cli.token();
    cli.run(&["logout"]).await.expect(0);
    cli.run(&["whoami"]).await.expect(3);
    gateway.client().with_token(&token).get("/v1/auth/me").await.expect(401);
    assert!(!cli.read("config/profiles.json").contains(&token));
}

#[tokio::test]
async fn a_merchant_signs_in_by_a_mailed_code() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let cli = Cli::new(gateway.url());
    let mut child = cli.command(&["login", "--code", "--email", &merchant.email]).spawn().unwrap();
    let code = gateway.mailbox(&merchant.email).code().await;
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{code}\n").as_bytes()).await.unwrap();
    assert!(child.wait().await.unwrap().success());
    let me = cli.run(&["whoami", "--json"]).await.expect(0).json();
    assert_eq!(me["email"], merchant.email);
}

#[tokio::test]
async fn a_second_factor_is_asked_for() {
    let gateway = Gateway::start().await;
    gateway.app().clock.stop();
    let merchant = Merchant::sign_up(&gateway).await;
    merchant.prove(&gateway).await;
    let input = json!({"current_password": PASSWORD});
    let shown = merchant.post("/v1/auth/mfa/totp").json(input).await.expect(201);
    let device = Totp::from_url(shown.str("/secret_uri")).unwrap();
    let code = || device.generate(u64::try_from(gateway.now().seconds()).unwrap()).to_string();
    let input = json!({"code": code()});
    merchant.post("/v1/auth/mfa/totp/confirm").json(input).await.expect(200);
    gateway.advance(Duration::from_secs(30));

    let cli = Cli::new(gateway.url());
    let login = ["login", "--email", &merchant.email];
    cli.fed(&login, &format!("{PASSWORD}\n{}\n", code())).await.expect(0);
    gateway.advance(Duration::from_secs(30));
    let mut child = cli.command(&["login", "--code", "--email", &merchant.email]).spawn().unwrap();
    let mailed = gateway.mailbox(&merchant.email).code().await;
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{mailed}\n{}\n", code()).as_bytes()).await.unwrap();
    assert!(child.wait().await.unwrap().success());
    cli.run(&["whoami"]).await.expect(0);
}

#[tokio::test]
async fn a_token_comes_from_standard_input_or_the_environment() {
    let gateway = Gateway::start().await;
    let merchant = Merchant::sign_up(&gateway).await;
    let cli = Cli::new(gateway.url());
    cli.fed(&["login", "--token"], "not-a-session-of-anybody\n").await.expect(3);
    let mut command = cli.command(&["whoami", "--json"]);
    command.env("COMMERCE_TOKEN", merchant.token());
    assert_eq!(finish(command, "").await.expect(0).json()["email"], merchant.email);
    cli.run(&["whoami"]).await.expect(3);
    cli.fed(&["login", "--token"], &format!("{}\n", merchant.token())).await.expect(0);
    cli.run(&["whoami"]).await.expect(0);
    // The session that is there does not stand in for a bad token.
    cli.fed(&["login", "--token"], "not-a-session-of-anybody\n").await.expect(3);
    assert_eq!(cli.token(), merchant.token());
}

#[tokio::test]
async fn an_old_token_is_exchanged_once_by_many_commands_at_once() {
    let gateway = Gateway::start().await;
    let (cli, ..) = Cli::signed_in(&gateway).await;
    let old = cli.token();
    let mut profiles = cli.profiles();
    profiles["profiles"]["default"]["session"]["issued_at"] = json!("2020-01-01T00:00:00Z");
    cli.write("config/profiles.json", &profiles.to_string());
    let runs = support::race(4, || cli.run(&["api", "get", "/v1/auth/me"])).await;
    assert!(runs.iter().all(|run| run.code == 0), "{runs:?}");
    assert_ne!(cli.token(), old);
    gateway.client().with_token(&old).get("/v1/auth/me").await.expect(401);
    assert_eq!(mode(&cli.home.path().join("config/profiles.json")), 0o600);
}

#[tokio::test]
async fn an_ended_session_asks_to_sign_in_again() {
    let gateway = Gateway::start().await;
    let (cli, ..) = Cli::signed_in(&gateway).await;
    gateway.advance(HOUR * 13);
    let run = cli.run(&["stores", "list"]).await.expect(3);
    assert!(run.err.contains("commerce login"), "{}", run.err);
}

#[tokio::test]
async fn a_session_is_sent_to_its_own_api_alone() {
    let gateway = Gateway::start().await;
    let (cli, ..) = Cli::signed_in(&gateway).await;
    let receiver = support::Receiver::start().await;
    let other = receiver.url("");
    cli.run(&["--api", &other, "whoami"]).await.expect(3);
    cli.run(&["--api", "http://api.example.com", "login"]).await.expect(2);
    cli.run(&["--api", "https://api.example.com", "login", "--demo"]).await.expect(2);
    assert_eq!(receiver.connections(), 0);
}

#[tokio::test]
async fn profiles_and_stores_are_chosen_by_name() {
    let gateway = Gateway::start().await;
    let (cli, merchant, first) = Cli::signed_in(&gateway).await;
    let second = merchant.open_store().await;
    let stores = cli.run(&["--json", "stores", "list"]).await.expect(0).json();
    assert_eq!(stores["data"].as_array().unwrap().len(), 2);
    cli.run(&["stores", "use", "nobodys"]).await.expect(2);
    cli.run(&["stores", "use", &second.subdomain]).await.expect(0);
    let product = ["api", "post", "/v1/products", "-d", "title=Lamp", "--json"];
    let made = cli.run(&product).await.expect(0).json();
    assert_eq!(made["store_id"], second.id);
    let made = cli.run(&[&product[..], &["--store", &first.subdomain]].concat()).await.expect(0);
    assert_eq!(made.json()["store_id"], first.id);
    cli.run(&["--profile", "other", "whoami"]).await.expect(3);
}
