//! Load: a number of clients that each send the next request after the response, or a rate of requests.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

use benches::AnyError;
use benches::http::{Connection, Input, Reply};

/// The warm-up before each measurement, which is not counted.
const WARM_UP: Duration = Duration::from_millis(400);

/// Client networks: a new one is used before the budget of the last is used up, so that rejections are not
/// measured.
#[derive(Debug, Default)]
pub struct Networks(AtomicU32);

impl Networks {
    /// An address of an unused network.
    fn next(&self) -> String {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        Ipv4Addr::from((11 << 24) + (number << 8) + 1).to_string()
    }
}

/// A kind of request.
pub struct Work {
    /// The name in the report.
    pub name: &'static str,
    /// Creates the request with this number.
    pub input: Box<dyn Fn(usize) -> Input + Send + Sync>,
    /// The number of these requests that a network's budget covers.
    pub per_network: usize,
}

impl Work {
    /// Creates a kind of request.
    pub fn new(
        name: &'static str,
        per_network: usize,
        input: impl Fn(usize) -> Input + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { name, input: Box::new(input), per_network })
    }
}

/// The API or a shop under load.
#[derive(Clone)]
pub struct Target {
    /// The address and port that are connected to.
    pub address: String,
    /// The host and port that are requested.
    pub host: String,
    /// The unused client networks.
    pub networks: Arc<Networks>,
    /// Requests so far, of all kinds.
    pub asked: Arc<AtomicUsize>,
}

/// A client with its network.
pub struct Client {
    target: Target,
    connection: Connection,
    network: String,
    left: usize,
}

impl Target {
    /// A new client.
    pub fn client(&self) -> Client {
        let connection = Connection::of_host(&self.address, &self.host);
        Client { target: self.clone(), connection, network: String::new(), left: 0 }
    }
}

impl Client {
    /// Sends one request.
    pub async fn send(&mut self, work: &Work) -> Result<Reply, AnyError> {
        if self.left == 0 {
            (self.network, self.left) = (self.target.networks.next(), work.per_network);
        }
        self.left -= 1;
        let number = self.target.asked.fetch_add(1, Ordering::Relaxed);
        let input = (work.input)(number).header("x-forwarded-for", &self.network);
        self.connection.send(&input).await?.success(work.name)
    }
}

/// A measurement.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// The duration of the measurement.
    pub took: Duration,
    /// The latency of each response in microseconds, sorted.
    pub micros: Vec<u64>,
}

impl Measured {
    /// The measurement with these latencies.
    pub fn of(took: Duration, mut micros: Vec<u64>) -> Self {
        micros.sort_unstable();
        Self { took, micros }
    }

    /// Responses a second.
    pub fn rate(&self) -> u64 {
        let millis = u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX).max(1);
        self.count() * 1_000 / millis
    }

    /// The number of responses.
    pub fn count(&self) -> u64 {
        u64::try_from(self.micros.len()).unwrap_or(u64::MAX)
    }

    /// This percentile of the latencies, in microseconds.
    pub fn percentile(&self, hundredth: usize) -> u64 {
        let place = (self.micros.len() * hundredth).div_ceil(100).saturating_sub(1);
        self.micros.get(place).copied().unwrap_or(0)
    }

    /// `p50 / p99` in milliseconds.
    pub fn latency(&self) -> String {
        format!("{} / {}", millis(self.percentile(50)), millis(self.percentile(99)))
    }
}

/// Microseconds as milliseconds: `0.42`, `4.2`, `42`.
pub fn millis(micros: u64) -> String {
    match micros {
        0..1_000 => format!("0.{:02}", micros / 10),
        1_000..10_000 => format!("{}.{}", micros / 1_000, micros % 1_000 / 100),
        _ => (micros / 1_000).to_string(),
    }
}

/// Microseconds since then.
pub fn micros_since(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// Runs concurrent clients for this time.
pub async fn closed(
    target: &Target,
    work: &Arc<Work>,
    clients: usize,
    long: Duration,
) -> Result<Measured, AnyError> {
    closed_with(target, work, clients, long, |_, _| ()).await
}

/// As [`closed`]; each response is given to `answered`, with its time.
pub async fn closed_with(
    target: &Target,
    work: &Arc<Work>,
    clients: usize,
    long: Duration,
    answered: impl Fn(Reply, Instant) + Clone + Send + 'static,
) -> Result<Measured, AnyError> {
    let counted_from = Instant::now() + WARM_UP;
    let until = counted_from + long;
    let mut running = JoinSet::new();
    for _ in 0..clients {
        let (mut client, work) = (target.client(), Arc::clone(work));
        let answered = answered.clone();
        running.spawn(async move {
            let mut micros = Vec::new();
            loop {
                let begun = Instant::now();
                if begun >= until {
                    return Ok::<_, AnyError>(micros);
                }
                let reply = client.send(&work).await?;
                if begun >= counted_from {
                    micros.push(micros_since(begun));
                }
                answered(reply, Instant::now());
            }
        });
    }
    let mut micros = Vec::new();
    while let Some(done) = running.join_next().await {
        micros.extend(done??);
    }
    Ok(Measured::of(long.max(counted_from.elapsed()), micros))
}

/// Sends requests at a rate for this time, regardless of the responses. Each response is given to `answered`,
/// with its time.
pub async fn paced(
    target: &Target,
    work: &Arc<Work>,
    per_second: u32,
    long: Duration,
    answered: impl Fn(Reply, Instant) + Clone + Send + 'static,
) -> Result<(), AnyError> {
    const CLIENTS: usize = 32;
    let (due, next) = mpsc::unbounded_channel::<()>();
    let next = Arc::new(Mutex::new(next));
    let mut running = JoinSet::new();
    for _ in 0..CLIENTS {
        let (mut client, work) = (target.client(), Arc::clone(work));
        let (next, answered) = (Arc::clone(&next), answered.clone());
        running.spawn(async move {
            while next.lock().await.recv().await.is_some() {
                let reply = client.send(&work).await?;
                answered(reply, Instant::now());
            }
            Ok::<_, AnyError>(())
        });
    }
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / per_second);
    let until = Instant::now() + long;
    while Instant::now() < until {
        ticks.tick().await;
        due.send(())?;
    }
    drop(due);
    while let Some(done) = running.join_next().await {
        done??;
    }
    Ok(())
}
