//! `theme dev`: uploads the theme after each change. One address of this machine always leads to the newest preview.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use notify::{EventKind, RecursiveMode, Watcher as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::files::Files;
use super::remote::Remote;
use super::{push_once, report};
use crate::context::Context;
use crate::failure::Failure;

/// Where the newest preview is; another free port if that is taken.
const PORT: u16 = 9292;
/// Editors write a file in several steps.
const SETTLED: Duration = Duration::from_millis(200);

pub async fn run(context: &Context, root: &Path, open: bool, once: bool) -> Result<(), Failure> {
    let files = Files::read(root)?;
    let client = context.client().await?;
    let mut remote = Remote::open(&client, files.slug()?).await?;
    // From here on, so that no change is missed.
    let (_watcher, mut changes) = watch(root)?;
    let pushed = push_once(&mut remote, &files).await?;
    report(context, &pushed, false);
    let current =
        Arc::new(Mutex::new(pushed.preview.map(|preview| preview.url).unwrap_or_default()));
    if once {
        if open {
            show(context, &current.lock().map(|url| url.clone()).unwrap_or_default());
        }
        return Ok(());
    }
    let (listener, address) = listener().await?;
    context.output.note(&format!("The newest preview is always at {address} (Ctrl-C ends it)"));
    if open {
        show(context, &address);
    }
    let redirecting = redirect(listener, Arc::clone(&current));
    let pushing = async {
        loop {
            settle(&mut changes).await?;
            match push_change(context, &mut remote, root).await {
                Ok(Some(url)) => {
                    if let Ok(mut current) = current.lock() {
                        *current = url;
                    }
                }
                Ok(None) => {}
                // What is wrong with a theme is mended by the next change.
                Err(failure @ (Failure::NotSignedIn(_) | Failure::Usage(_))) => {
                    return Err(failure);
                }
                Err(failure) => context.output.failure(&failure),
            }
        }
    };
    tokio::select! {
        ended = pushing => ended,
        () = redirecting => Ok(()),
        _ = tokio::signal::ctrl_c() => {
            remote.end_preview().await;
            Ok(())
        }
    }
}

/// Uploads the theme if a file has changed. The address of its preview.
async fn push_change(
    context: &Context,
    remote: &mut Remote<'_>,
    root: &Path,
) -> Result<Option<String>, Failure> {
    let files = Files::read(root)?;
    if remote.changes(&files).await?.is_empty() {
        return Ok(None);
    }
    let pushed = push_once(remote, &files).await?;
    report(context, &pushed, false);
    Ok(pushed.preview.map(|preview| preview.url))
}

/// Watches the directory; a message for each change.
fn watch(
    root: &Path,
) -> Result<(notify::RecommendedWatcher, mpsc::UnboundedReceiver<()>), Failure> {
    let fault = |cause: notify::Error| Failure::Local(cause.to_string());
    let (sender, receiver) = mpsc::unbounded_channel();
    let heard = move |event: notify::Result<notify::Event>| {
        // To read is no change.
        if event.is_ok_and(|event| !matches!(event.kind, EventKind::Access(_))) {
            let _ = sender.send(());
        }
    };
    let mut watcher = notify::recommended_watcher(heard).map_err(fault)?;
    watcher.watch(root, RecursiveMode::Recursive).map_err(fault)?;
    Ok((watcher, receiver))
}

/// Waits for a change, and until no other follows for a moment.
async fn settle(changes: &mut mpsc::UnboundedReceiver<()>) -> Result<(), Failure> {
    let ended = || Failure::Local("The directory is not watched any more".into());
    changes.recv().await.ok_or_else(ended)?;
    while let Ok(more) = tokio::time::timeout(SETTLED, changes.recv()).await {
        more.ok_or_else(ended)?;
    }
    Ok(())
}

async fn listener() -> Result<(TcpListener, String), Failure> {
    let listener = match TcpListener::bind(("127.0.0.1", PORT)).await {
        Ok(listener) => listener,
        Err(_) => TcpListener::bind(("127.0.0.1", 0)).await?,
    };
    let address = format!("http://{}/", listener.local_addr()?);
    Ok((listener, address))
}

/// Answers every request with a redirect to the newest preview.
async fn redirect(listener: TcpListener, current: Arc<Mutex<String>>) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let url = current.lock().map(|url| url.clone()).unwrap_or_default();
        let answer = format!(
            "HTTP/1.1 302 Found\r\nLocation: {url}\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n\
             Content-Length: 0\r\nConnection: close\r\n\r\n"
        );
        let exchange = async {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(answer.as_bytes()).await;
            let _ = stream.shutdown().await;
        };
        // A connection that says nothing does not keep others waiting for long.
        let _ = tokio::time::timeout(Duration::from_secs(1), exchange).await;
    }
}

fn show(context: &Context, url: &str) {
    if let Err(cause) = open::that_detached(url) {
        context.output.note(&format!("No browser could be opened: {cause}"));
    }
}
