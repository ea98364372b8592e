//! An import whose process is killed again and again. It wants `cargo build --bin local`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// Products of the file.
const MANY: usize = 50_000;
/// How often it is killed.
const KILLS: u64 = 5;
/// How long all of it may take.
const PATIENCE: Duration = Duration::from_mins(40);

/// A local system over a directory of its own.
struct Local {
    data: PathBuf,
    port: u16,
    process: Child,
    http: reqwest::Client,
    token: String,
}

impl Local {
    async fn start() -> Self {
        let data = std::env::temp_dir().join(format!("import-{}", std::process::id()));
        std::fs::create_dir_all(&data).unwrap();
        let port =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let process = spawn(&data, port);
        // Another test of this process may have done it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (http, token) = (reqwest::Client::new(), String::new());
        let mut local = Self { data, port, process, http, token };
        local.answers().await;
        let input = json!({
            "email": "many@example.com", "password": "a-password-of-many-1",
            "store_name": "Many", "subdomain": "many-products",
        });
        let session = local.send("POST", "/v1/auth/signup", input.to_string()).await;
        local.token.push_str(session["session"]["access_token"].as_str().unwrap());
        local
    }

    /// `kill -9`, and another one over the same directory.
    async fn killed(&mut self) {
        self.process.kill().await.unwrap();
        self.process = spawn(&self.data, self.port);
        self.answers().await;
    }

    async fn answers(&mut self) {
        let begun = Instant::now();
        while self.http.get(self.url("/health")).send().await.is_err() {
            assert!(begun.elapsed() < Duration::from_mins(1), "it does not start");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    async fn send(&self, method: &str, path: &str, body: impl Into<reqwest::Body>) -> Value {
        let method = method.parse().unwrap();
        let input = self.http.request(method, self.url(path)).body(body);
        let is_part = path.contains("/parts/");
        let kind = if is_part { "text/csv" } else { "application/json" };
        let input = input.header("content-type", kind);
        let answer = input.bearer_auth(&self.token).send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    }

    /// What `path` shows once `is` so.
    async fn once(&self, path: &str, is: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let shown = self.send("GET", path, "").await;
            if is(&shown) {
                return shown;
            }
            assert!(begun.elapsed() < PATIENCE, "{shown}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let _ = self.process.start_kill();
        let _ = std::fs::remove_dir_all(&self.data);
    }
}

fn spawn(data: &Path, port: u16) -> Child {
    let tests = std::env::current_exe().unwrap();
    let binary = tests.parent().and_then(Path::parent).unwrap().join("local");
    Command::new(binary)
        .args(["--port", &port.to_string(), "--providers-port", "0", "--no-demo", "--data"])
        .arg(data)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

#[tokio::test]
#[ignore = "writes for minutes"]
async fn an_import_of_fifty_thousand_products_survives_five_kills() {
    let mut local = Local::start().await;
    let mut file = "Handle,Title,Variant SKU,Variant Price\n".to_owned();
    for number in 0..MANY {
        let _ = writeln!(file, "p-{number},Product {number},S-{number},1.50");
    }
    let import = local.send("POST", "/v1/imports", json!({"kind": "products"}).to_string()).await;
    let path = format!("/v1/imports/{}", import["id"].as_str().unwrap());
    for (number, part) in (1..).zip(file.as_bytes().chunks(1 << 20)) {
        local.send("PUT", &format!("{path}/parts/{number}"), part.to_vec()).await;
    }
    local.send("POST", &format!("{path}/start"), "{}").await;
    let begun = Instant::now();
    let done = |shown: &Value| shown["progress"]["done"].as_u64().unwrap();
    for kill in 1..=KILLS {
        let at = u64::try_from(MANY).unwrap() * kill / (KILLS + 1);
        local.once(&path, |shown| done(shown) >= at).await;
        local.killed().await;
    }
    let over = local.once(&path, |shown| shown["status"] != "running").await;
    println!("{MANY} products, killed {KILLS} times: {:.0?}", begun.elapsed());
    assert_eq!(
        (over["status"].as_str(), over["progress"]["created"].as_u64()),
        (Some("succeeded"), u64::try_from(MANY).ok())
    );
    let input = json!({"kind": "products", "format": "jsonl"}).to_string();
    let export = local.send("POST", "/v1/exports", input).await;
    let path = format!("/v1/exports/{}", export["id"].as_str().unwrap());
    let export = local.once(&path, |shown| shown["status"] == "succeeded").await;
    assert_eq!(export["done"], json!(MANY));
    let (mut handles, mut rest) = (BTreeSet::new(), String::new());
    for part in export["parts"].as_array().unwrap() {
        let url = part["url"].as_str().unwrap();
        rest.push_str(&local.http.get(url).send().await.unwrap().text().await.unwrap());
    }
    for line in rest.lines() {
        let product: Value = serde_json::from_str(line).unwrap();
        handles.insert(product["handle"].as_str().unwrap().to_owned());
    }
    assert_eq!((handles.len(), rest.lines().count()), (MANY, MANY));
}
