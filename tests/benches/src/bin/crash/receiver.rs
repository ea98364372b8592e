//! The other side of webhooks: remembers every event that it was told of.

use std::collections::{HashMap, HashSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use benches::AnyError;
use benches::http::serve;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Events by their type and what they are about: their ids.
type Events = HashMap<(String, String), HashSet<String>>;

/// What was heard so far.
#[derive(Debug, Default)]
pub struct Heard {
    events: Mutex<Events>,
}

impl Heard {
    /// All of it.
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

/// Listens on an address of its own, for a host is what limits are counted by; its URL.
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
