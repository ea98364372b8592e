//! Several processes of the local system over one table, which are killed in turn. It wants `cargo build --bin local`,
//! and the engine at `SERVICE_TABLE`.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use emulators::Elsewhere;
use emulators::aws::{Emulators, Place, Ports};
use serde_json::{Value, json};
use support::{Receiver, eventually};
use tokio::process::{Child, Command};
use tokio::sync::{Mutex, RwLock};

const PROCESSES: usize = 3;
/// Products, each of which is an event and a delivery.
const PRODUCTS: usize = 900;
/// Products that are created at once.
const CLIENTS: usize = 6;
/// A message of a process that was killed comes back when its visibility ends, after three minutes.
const PATIENCE: Duration = Duration::from_mins(6);
/// Deliveries of a killed process that had been sent and not been recorded, at most, for each kill.
const IN_FLIGHT: usize = 10;

/// The services that the processes share, and their own directories.
struct Platform {
    table: String,
    emulators: Emulators,
    key: String,
    data: PathBuf,
}

impl Platform {
    async fn start() -> Self {
        let table = support::engine_endpoint().expect("SERVICE_TABLE says where the engine is");
        let elsewhere = Elsewhere { dynamodb: Some(table.clone()), ..Elsewhere::default() };
        let emulators =
            Emulators::start_on(Place::Memory, Ports::default(), None, &elsewhere).await;
        let emulators = emulators.unwrap();
        let key = uuid::Uuid::now_v7().simple().to_string();
        let data = std::env::temp_dir().join(&key);
        Self { table, emulators, key, data }
    }

    fn spawn(&self, number: usize, port: u16) -> Child {
        let tests = std::env::current_exe().unwrap();
        let binary = tests.parent().and_then(Path::parent).unwrap().join("local");
        Command::new(binary)
            .args(["--port", &port.to_string(), "--providers-port", "0", "--no-demo", "--data"])
            .arg(self.data.join(number.to_string()))
            .args(["--dynamodb", &self.table])
            .args(["--sqs", self.emulators.sqs_endpoint().unwrap()])
            .args(["--secrets", self.emulators.secrets_endpoint().unwrap()])
            .env("AWS_ACCESS_KEY_ID", &self.key)
            .env("AWS_SECRET_ACCESS_KEY", "any")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.data);
    }
}

/// The processes, and who sends to them.
struct Client {
    ports: Vec<u16>,
    http: reqwest::Client,
    token: RwLock<String>,
    next: AtomicUsize,
}

impl Client {
    fn new() -> Self {
        let port = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let listeners: Vec<_> = (0..PROCESSES).map(|_| port()).collect();
        let ports = listeners.iter().map(|it| it.local_addr().unwrap().port()).collect();
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (token, next) = (RwLock::default(), AtomicUsize::new(0));
        Self { ports, http: reqwest::Client::new(), token, next }
    }

    async fn is_up(&self, process: usize) {
        let url = format!("http://127.0.0.1:{}/health", self.ports[process]);
        let answers = || async { self.http.get(&url).send().await.ok().map(drop) };
        eventually(Duration::from_mins(1), answers).await;
    }

    /// Sends a request to the next process, and to the one after it while none answers.
    async fn post(&self, path: &str, input: &Value) -> Value {
        let key = uuid::Uuid::now_v7().to_string();
        let answered = || async {
            let place = self.next.fetch_add(1, Ordering::Relaxed) % self.ports.len();
            let url = format!("http://127.0.0.1:{}{path}", self.ports[place]);
            let request = self.http.post(url).header("idempotency-key", &key).json(input);
            let request = request.bearer_auth(self.token.read().await.as_str());
            let answer = request.send().await.ok()?;
            let status = answer.status().as_u16();
            let text = answer.text().await.ok()?;
            // Somebody else holds the key: the process that did was killed. Or it is to come back.
            if matches!(status, 409 | 429 | 503) {
                tokio::time::sleep(Duration::from_millis(500)).await;
                return None;
            }
            assert!(status < 300, "{path}: {status} {text}");
            Some(serde_json::from_str(&text).unwrap())
        };
        eventually(Duration::from_mins(2), answered).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "runs processes for minutes, over another engine"]
async fn processes_over_one_table_lose_and_double_nothing_when_killed_in_turn() {
    let (platform, client) = (Platform::start().await, Client::new());
    let mut processes = Vec::new();
    for number in 0..PROCESSES {
        processes.push(platform.spawn(number, client.ports[number]));
        // The first one makes the table, the queues and the secrets.
        client.is_up(number).await;
    }
    let input = json!({"email": "three@example.com", "password": "a-password-of-three-1",
        "store_name": "Three", "subdomain": "three-processes"});
    let session = client.post("/v1/auth/signup", &input).await;
    let token = session["session"]["access_token"].as_str().unwrap();
    token.clone_into(&mut *client.token.write().await);
    let receiver = Receiver::start().await;
    let input = json!({"url": receiver.url("/"), "event_types": ["product.created"]});
    client.post("/v1/operations/webhook-subscriptions", &input).await;

    let made = AtomicUsize::new(0);
    let processes = Mutex::new(processes);
    let write = |of: usize| {
        let (client, made) = (&client, &made);
        async move {
            for number in (of..PRODUCTS).step_by(CLIENTS) {
                let input = json!({"title": format!("Product {number}"),
                    "variants": [{"price": {"amount": 100, "currency": "USD"}}]});
                client.post("/v1/products", &input).await;
                made.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    // Each is killed once, in an order that is drawn, and started again after the others have taken over its share.
    let first = usize::from(uuid::Uuid::now_v7().as_bytes()[15]) % PROCESSES;
    let kill = async {
        for step in 0..PROCESSES {
            let at = PRODUCTS * (step + 1) / (PROCESSES + 1);
            let is_there = || async { (made.load(Ordering::Relaxed) >= at).then_some(()) };
            eventually(PATIENCE, is_there).await;
            let number = (first + step) % PROCESSES;
            let mut processes = processes.lock().await;
            processes[number].kill().await.unwrap();
            println!("killed process {number} after {at} products");
            tokio::time::sleep(Duration::from_secs(3)).await;
            processes[number] = platform.spawn(number, client.ports[number]);
            client.is_up(number).await;
        }
    };
    let writes = futures_util::future::join_all((0..CLIENTS).map(write));
    tokio::join!(writes, kill);

    // Each event has one delivery. What a killed process had sent and not recorded is sent again, as the same delivery.
    let deliveries = || {
        let mut deliveries: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for one in receiver.requests() {
            let id = one.header("x-service-delivery-id").to_owned();
            deliveries.entry(one.header("x-service-event-id").to_owned()).or_default().push(id);
        }
        deliveries
    };
    let all = || async { (deliveries().len() >= PRODUCTS).then_some(()) };
    eventually(PATIENCE, all).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let deliveries = deliveries();
    assert_eq!(deliveries.len(), PRODUCTS, "an event for each product");
    let again = receiver.requests().len() - PRODUCTS;
    println!("{PRODUCTS} events, {again} deliveries sent again");
    for (event, mut ids) in deliveries {
        ids.dedup();
        assert_eq!(ids.len(), 1, "{event} has one delivery");
    }
    assert!(again <= IN_FLIGHT * PROCESSES, "{again} deliveries were sent twice");
}
