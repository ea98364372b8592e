//! The receiver of webhooks, which records every event.

use std::collections::{HashMap, HashSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use benches::AnyError;
use benches::http::serve;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// The ids of events, by their type and subject.
type Events = HashMap<(String, String), HashSet<String>>;

/// The events that were received so far.
#[derive(Debug, Default)]
pub struct Heard {
    events: Mutex<Events>,
}

impl Heard {
    /// All received events.
    pub fn events(&self) -> MutexGuard<'_, Events> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, body: &[u8]) -> Option<()> {
        let event: Value = serde_json::from_slice(body).ok()?;
        let text = |pointer: &str| event.pointer(pointer)?.as_str().map(str::to_owned);
        let key = (text("/type")?, text("/entity/id")?);
        self.events().entry(key).or_default().insert(text("/id")?);
        Some(())
    }
}

/// Starts a receiver on an address of its own, because limits are counted by host. Returns its URL.
pub async fn listen(
    number: u8,
    heard: &Arc<Heard>,
    tasks: &mut JoinSet<()>,
) -> Result<String, AnyError> {
    let host = Ipv4Addr::new(127, 0, 77, number);
    let listener = TcpListener::bind(SocketAddr::from((host, 0))).await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let heard = Arc::clone(heard);
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let heard = Arc::clone(&heard);
            connections.spawn(serve(stream, move |body| {
                let status = if heard.hear(&body).is_some() { 200 } else { 400 };
                async move { Some(status) }
            }));
            while connections.try_join_next().is_some() {}
        }
    });
    Ok(url)
}
