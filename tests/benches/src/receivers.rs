//! The other side of webhooks: servers on loopback, each on an address of its own, for a host is what
//! limits are counted by.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::AnyError;
use crate::http::{Input, serve};
use crate::system::{Owner, text};

const SUBSCRIPTIONS: &str = "/v1/operations/webhook-subscriptions";
/// Nothing more is expected after so long without an arrival.
const QUIET: Duration = Duration::from_secs(5);

/// When an order was told of first, by its id and the receiver.
type Arrivals = HashMap<(String, usize), Instant>;

/// What a receiver does.
#[derive(Debug, Clone, Copy)]
pub enum Behaviour {
    /// Answers at once.
    Prompt,
    /// Answers after so long.
    Slow(Duration),
    /// Never answers.
    Hang,
}

/// Several of them. Dropping it ends them.
pub struct Receivers {
    arrivals: Arc<Mutex<Arrivals>>,
    urls: Vec<String>,
    subscriptions: Vec<String>,
    tasks: JoinSet<()>,
}

impl Receivers {
    /// One of each behaviour, on addresses of this network of 127.0.0.0/8.
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

    /// Subscribes each of them so many times to these events of the owner's store.
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

    /// Ends the subscriptions, and so the receivers.
    pub async fn unsubscribe(self, owner: &mut Owner) -> Result<(), AnyError> {
        for id in &self.subscriptions {
            let path = format!("{SUBSCRIPTIONS}/{id}");
            owner.send(Input { method: "DELETE", path, ..Input::default() }).await?;
        }
        Ok(())
    }

    /// What has come so far.
    pub fn arrivals(&self) -> MutexGuard<'_, Arrivals> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until so many have come to the first `among` of them, or none came for a while, or for so
    /// long.
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

/// The order that a delivery is about: the first id of one in it.
fn order_of(body: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(body).ok()?;
    let rest = text.get(text.find("\"ord_")? + 1..)?;
    Some(rest.get(..rest.find('"')?)?.to_owned())
}
