//! The `local` under load: a process with a directory of its own.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::load::{Networks, Target};
use benches::AnyError;
use benches::http::{Connection, Input};

/// The longest start.
const PATIENCE: Duration = Duration::from_mins(2);
/// The wait before a rate-limited request is repeated.
const RESTORED: Duration = Duration::from_millis(100);
/// The beginning of its greeting, which it prints when it listens.
const GREETING: &str = "The API is at http://";
/// The beginning of the line that names its shop.
const SHOP: &str = "The demo store sells at http://";

/// A running `local`. Dropping it kills the process and removes its directory.
pub struct System {
    process: Child,
    data: PathBuf,
    /// The API.
    pub target: Target,
    /// The demo store's shop.
    pub shop: Target,
    /// The time from its start to its first response, with the creation of its demo store.
    pub start: Duration,
}

impl System {
    /// Starts this binary in an empty directory.
    pub async fn start(binary: &Path) -> Result<Self, AnyError> {
        let data = std::env::temp_dir().join(format!("bench-{}", std::process::id()));
        fs::create_dir_all(&data)?;
        let log = data.join("log");
        let begun = Instant::now();
        let process = Command::new(binary)
            .args(["--port", "0", "--providers-port", "0", "--trust-proxy", "--log", "json"])
            .arg("--data")
            .arg(data.join("data"))
            .stdout(File::create(&log)?)
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()?;
        let (address, shop) = loop {
            let said = fs::read_to_string(&log)?;
            let find = |start| {
                let line = said.lines().find_map(|line| line.strip_prefix(start));
                line.map(|rest| rest.trim().trim_end_matches('/').to_owned())
            };
            if let Some(found) = find(GREETING).zip(find(SHOP)) {
                break found;
            }
            if begun.elapsed() > PATIENCE {
                return Err("it does not start".into());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        let health = Connection::to(&address).send(&Input::get("/health")).await?;
        health.success("health")?;
        let start = begun.elapsed();
        let networks = Arc::new(Networks::default());
        let target = Target { host: address.clone(), address, networks, asked: Arc::default() };
        let port = shop.rsplit(':').next().unwrap_or_default();
        let shop = Target { address: format!("127.0.0.1:{port}"), host: shop, ..target.clone() };
        Ok(Self { process, data, target, shop, start })
    }

    /// The endpoints of its emulators, by the SDKs' environment variables.
    pub fn endpoints(&self) -> Result<Vec<(String, String)>, AnyError> {
        let said = fs::read_to_string(self.data.join("log"))?;
        let pairs = said.lines().filter_map(|line| line.split_once('='));
        let pairs = pairs.filter(|(name, _)| name.starts_with("AWS_ENDPOINT_URL_"));
        Ok(pairs.map(|(name, url)| (name.to_owned(), url.trim().to_owned())).collect())
    }

    /// Bytes of the table's file.
    pub fn table_bytes(&self) -> Result<u64, AnyError> {
        Ok(fs::metadata(self.data.join("data").join("table.db"))?.len())
    }

    /// Resident memory in megabytes: now, and at most so far.
    pub fn memory(&self) -> Result<(u64, u64), AnyError> {
        let id = self.process.id().ok_or("it has ended")?;
        let status = fs::read_to_string(format!("/proc/{id}/status"))?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        let (now, most) = (field("VmRSS:"), field("VmHWM:"));
        let kilobytes = now.zip(most).ok_or("the kernel does not say how much memory it has")?;
        Ok((kilobytes.0 / 1_024, kilobytes.1 / 1_024))
    }
}

impl Drop for System {
    fn drop(&mut self) {
        // If it fails, the runtime kills the process at its end.
        let _ = self.process.start_kill();
        let _ = fs::remove_dir_all(&self.data);
    }
}

/// A merchant at their store.
pub struct Owner {
    connection: Connection,
    token: String,
    /// The store's id.
    pub store: String,
}

impl Owner {
    /// Signs in, with the merchant's first store, or with a new one at this subdomain.
    pub async fn sign_in(
        target: &Target,
        (email, password): (&str, &str),
        subdomain: &str,
    ) -> Result<Self, AnyError> {
        let connection = Connection::to(&target.address);
        let mut owner = Self { connection, token: String::new(), store: String::new() };
        let input = json!({"email": email, "password": password});
        let session = owner.send(Input::post("/v1/auth/signin", input)).await?;
        owner.token = text(&session, "/session/access_token")?;
        let stores = owner.send(Input::get("/v1/stores")).await?;
        owner.store = if let Some(id) = stores.pointer("/data/0/id").and_then(Value::as_str) {
            id.to_owned()
        } else {
            let input = json!({
                "name": "Another Shop", "subdomain": subdomain, "currency": "INR", "country": "IN",
            });
            text(&owner.send(Input::post("/v1/stores", input)).await?, "/id")?
        };
        Ok(owner)
    }

    /// The headers of the merchant's requests to the store.
    pub fn headers(&self) -> Vec<(&'static str, String)> {
        let token = ("authorization", format!("Bearer {}", self.token));
        vec![token, ("x-service-store-id", self.store.clone())]
    }

    /// Sends a request as the merchant, to the store. It is repeated while the budget, which the creation of
    /// the demo has used up, is too low.
    pub async fn send(&mut self, mut input: Input) -> Result<Value, AnyError> {
        if !self.token.is_empty() {
            input = input.header("authorization", format!("Bearer {}", self.token));
        }
        if !self.store.is_empty() {
            input = input.header("x-service-store-id", &self.store);
        }
        let what = format!("{} {}", input.method, input.path);
        let mut reply = self.connection.send(&input).await?;
        while reply.status == 429 {
            tokio::time::sleep(RESTORED).await;
            reply = self.connection.send(&input).await?;
        }
        let reply = reply.success(&what)?;
        if reply.body.is_empty() { Ok(Value::Null) } else { reply.json() }
    }
}

/// The text at a JSON pointer.
pub fn text(value: &Value, pointer: &str) -> Result<String, AnyError> {
    let found = value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    found.ok_or_else(|| format!("no text at {pointer} in {value}").into())
}
