//! Receivers of webhooks: servers on loopback, each on an address of its own, because limits are counted by
//! host.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::system::{Owner, text};
use benches::AnyError;
use benches::http::{Input, serve};

const SUBSCRIPTIONS: &str = "/v1/operations/webhook-subscriptions";
/// The time without an arrival after which no more are expected.
const QUIET: Duration = Duration::from_secs(5);

/// The first arrival of a delivery, by the order's id and the receiver.
type Arrivals = HashMap<(String, usize), Instant>;

/// The behaviour of a receiver.
#[derive(Debug, Clone, Copy)]
pub enum Behaviour {
    /// Answers at once.
    Prompt,
    /// Answers after this time.
    Slow(Duration),
    /// Never answers.
    Hang,
}

/// Several receivers. Dropping it ends them.
pub struct Receivers {
    arrivals: Arc<Mutex<Arrivals>>,
    urls: Vec<String>,
    subscriptions: Vec<String>,
    tasks: JoinSet<()>,
}

impl Receivers {
    /// Starts a receiver for each behaviour, on addresses of 127.0.`network`.0/24.
    pub async fn start(network: u8, behaviours: &[Behaviour]) -> Result<Self, AnyError> {
        let mut receivers = Self {
            arrivals: Arc::default(),
            urls: Vec::new(),
            subscriptions: Vec::new(),
            tasks: JoinSet::new(),
        };
        for (place, behaviour) in behaviours.iter().enumerate() {
            let host = Ipv4Addr::new(127, 0, network, u8::try_from(place + 1)?);
            let listener = TcpListener::bind(SocketAddr::from((host, 0))).await?;
            receivers.urls.push(format!("http://{}", listener.local_addr()?));
            let arrivals = Arc::clone(&receivers.arrivals);
            receivers.tasks.spawn(receive(listener, place, *behaviour, arrivals));
        }
        Ok(receivers)
    }

    /// Subscribes each receiver `times` times to these events of the owner's store.
    pub async fn subscribe(
        &mut self,
        owner: &mut Owner,
        events: &str,
        times: usize,
    ) -> Result<(), AnyError> {
        for url in &self.urls {
            for time in 0..times {
                let input = json!({"url": format!("{url}/{time}"), "event_types": [events]});
                let made = owner.send(Input::post(SUBSCRIPTIONS, input)).await?;
                self.subscriptions.push(text(&made, "/id")?);
            }
        }
        Ok(())
    }

    /// Deletes the subscriptions, and ends the receivers.
    pub async fn unsubscribe(self, owner: &mut Owner) -> Result<(), AnyError> {
        for id in &self.subscriptions {
            let path = format!("{SUBSCRIPTIONS}/{id}");
            owner.send(Input { method: "DELETE", path, ..Input::default() }).await?;
        }
        Ok(())
    }

    /// The arrivals so far.
    pub fn arrivals(&self) -> MutexGuard<'_, Arrivals> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `count` deliveries have arrived at the first `among` receivers, but stops after [`QUIET`]
    /// without an arrival, or after `long`.
    pub async fn wait_for(&self, count: usize, among: usize, long: Duration) {
        let (until, mut last, mut seen) = (Instant::now() + long, Instant::now(), 0);
        loop {
            let now = self.arrivals().keys().filter(|(_, receiver)| *receiver < among).count();
            if now > seen {
                (last, seen) = (Instant::now(), now);
            }
            if now >= count || last.elapsed() > QUIET || Instant::now() > until {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

async fn receive(
    listener: TcpListener,
    place: usize,
    behaviour: Behaviour,
    arrivals: Arc<Mutex<Arrivals>>,
) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let arrivals = Arc::clone(&arrivals);
        connections.spawn(serve(stream, move |body| {
            if let Some(order) = order_of(&body) {
                let mut arrivals = arrivals.lock().unwrap_or_else(PoisonError::into_inner);
                arrivals.entry((order, place)).or_insert_with(Instant::now);
            }
            async move {
                match behaviour {
                    Behaviour::Prompt => Some(200),
                    Behaviour::Slow(long) => {
                        tokio::time::sleep(long).await;
                        Some(200)
                    }
                    Behaviour::Hang => None,
                }
            }
        }));
        while connections.try_join_next().is_some() {}
    }
}

/// The order of a delivery: the first order id in its body.
fn order_of(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    let rest = text.get(text.find("\"ord_")? + 1..)?;
    Some(rest.get(..rest.find('"')?)?.to_owned())
}
