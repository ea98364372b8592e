//! Load: so many clients, each asking again as soon as it is answered; or so many requests a second.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

use crate::AnyError;
use crate::http::{Connection, Input, Reply};

/// What is not counted before each measurement.
const WARM_UP: Duration = Duration::from_millis(400);

/// Networks to ask from, a new one before the budget of the last is spent: a network has a budget, and a
/// bench that runs into it measures rejections.
#[derive(Debug, Default)]
pub struct Networks(AtomicU32);

impl Networks {
    /// Somewhere that nobody has asked from.
    fn next(&self) -> String {
        let number = self.0.fetch_add(1, Ordering::Relaxed);
        Ipv4Addr::from((11 << 24) + (number << 8) + 1).to_string()
    }
}

/// A kind of request.
pub struct Work {
    /// What the report calls it.
    pub name: &'static str,
    /// The request of this number.
    pub input: Box<dyn Fn(usize) -> Input + Send + Sync>,
    /// How many of them a network's budget pays.
    pub per_network: usize,
}

impl Work {
    /// Requests of this kind.
    pub fn new(
        name: &'static str,
        per_network: usize,
        input: impl Fn(usize) -> Input + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { name, input: Box::new(input), per_network })
    }
}

/// Whom to ask, and from where.
#[derive(Clone)]
pub struct Target {
    /// The API's host and port.
    pub address: String,
    /// The networks that are left.
    pub networks: Arc<Networks>,
    /// Requests so far, of all kinds.
    pub asked: Arc<AtomicUsize>,
}

/// A client, and the network it is on.
pub struct Client {
    target: Target,
    connection: Connection,
    network: String,
    left: usize,
}

impl Target {
    /// A client of its own.
    pub fn client(&self) -> Client {
        let connection = Connection::to(&self.address);
        Client { target: self.clone(), connection, network: String::new(), left: 0 }
    }
}

impl Client {
    /// Makes one request.
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

/// What was measured.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// How long it was measured.
    pub took: Duration,
    /// Each answer's microseconds, in order.
    pub micros: Vec<u64>,
}

impl Measured {
    /// Of these latencies.
    pub fn of(took: Duration, mut micros: Vec<u64>) -> Self {
        micros.sort_unstable();
        Self { took, micros }
    }

    /// Answers a second.
    pub fn rate(&self) -> u64 {
        let millis = u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX).max(1);
        self.count() * 1_000 / millis
    }

    /// Answers.
    pub fn count(&self) -> u64 {
        u64::try_from(self.micros.len()).unwrap_or(u64::MAX)
    }

    /// The latency that this many of a hundred stay within, in microseconds.
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

/// So many clients at once, for so long.
pub async fn closed(
    target: &Target,
    work: &Arc<Work>,
    clients: usize,
    long: Duration,
) -> Result<Measured, AnyError> {
    let counted_from = Instant::now() + WARM_UP;
    let until = counted_from + long;
    let mut running = JoinSet::new();
    for _ in 0..clients {
        let (mut client, work) = (target.client(), Arc::clone(work));
        running.spawn(async move {
            let mut micros = Vec::new();
            loop {
                let begun = Instant::now();
                if begun >= until {
                    return Ok::<_, AnyError>(micros);
                }
                client.send(&work).await?;
                if begun >= counted_from {
                    micros.push(micros_since(begun));
                }
            }
        });
    }
    let mut micros = Vec::new();
    while let Some(done) = running.join_next().await {
        micros.extend(done??);
    }
    Ok(Measured::of(long.max(counted_from.elapsed()), micros))
}

/// So many requests a second for so long, whether or not they are answered in time; each answer goes to
/// `answered` with the moment it came.
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
