//! The process of a function, and what the kernel says of it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::AnyError;

/// Of a log, what is shown when its process ends.
const LAST_WORDS: usize = 2_000;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// Resident memory, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// Now.
    pub now: u64,
    /// At most so far.
    pub most: u64,
}

/// A process. Dropping it kills it, and removes its log.
pub(crate) struct Process {
    id: u32,
    log: PathBuf,
    ended: watch::Receiver<bool>,
    _waiting: JoinSet<()>,
}

impl Process {
    pub(crate) fn start(
        binary: &Path,
        name: &str,
        api: SocketAddr,
        environment: &BTreeMap<String, String>,
    ) -> Result<Self, AnyError> {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let log = format!("function-{}-{number}.log", std::process::id());
        let log = std::env::temp_dir().join(log);
        let out = File::create(&log)?;
        let mut command = Command::new(binary);
        command
            .env_clear()
            .envs(of_lambda(name, api))
            .envs(environment)
            .stdin(Stdio::null())
            .stderr(out.try_clone()?)
            .stdout(out)
            .kill_on_drop(true);
        let spawned = command.spawn();
        let mut child = spawned.map_err(|cause| format!("{}: {cause}", binary.display()))?;
        let id = child.id().ok_or("the process has ended at once")?;
        let (tell, ended) = watch::channel(false);
        let mut waiting = JoinSet::new();
        waiting.spawn(async move {
            let _ = child.wait().await;
            let _ = tell.send(true);
        });
        Ok(Self { id, log, ended, _waiting: waiting })
    }

    /// Waits until it ends.
    pub(crate) async fn ended(&self) {
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }

    pub(crate) fn log(&self) -> String {
        fs::read(&self.log)
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    pub(crate) fn last_words(&self) -> String {
        let log = self.log();
        let from = log.len().saturating_sub(LAST_WORDS);
        log.chars().skip(from).collect()
    }

    pub(crate) fn memory(&self) -> Result<Memory, AnyError> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id))?;
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1_024)
        };
        let (now, most) = (bytes("VmRSS:"), bytes("VmHWM:"));
        let (now, most) = now.zip(most).ok_or("the kernel does not say what memory it has")?;
        Ok(Memory { now, most })
    }

    /// By the scheduler's own count, which has nanoseconds where `stat` has hundredths of a second. What a
    /// thread took that has ended since is missing.
    pub(crate) fn cpu(&self) -> Result<Duration, AnyError> {
        let mut total = Duration::ZERO;
        for thread in fs::read_dir(format!("/proc/{}/task", self.id))? {
            let counted = fs::read_to_string(thread?.path().join("schedstat"))?;
            let ran = counted.split_whitespace().next().and_then(|text| text.parse().ok());
            let ran = ran.ok_or("the kernel does not say what its threads took")?;
            total = total.saturating_add(Duration::from_nanos(ran));
        }
        Ok(total)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.log);
    }
}

/// What Lambda sets in every function's environment, as far as somebody reads it.
fn of_lambda(name: &str, api: SocketAddr) -> [(&'static str, String); 13] {
    [
        ("AWS_LAMBDA_RUNTIME_API", api.to_string()),
        ("AWS_LAMBDA_FUNCTION_NAME", name.to_owned()),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512".to_owned()),
        ("AWS_LAMBDA_FUNCTION_VERSION", "1".to_owned()),
        ("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand".to_owned()),
        ("AWS_LAMBDA_LOG_GROUP_NAME", "/functions".to_owned()),
        ("AWS_LAMBDA_LOG_STREAM_NAME", name.to_owned()),
        ("AWS_EXECUTION_ENV", "AWS_Lambda_rust".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_DEFAULT_REGION", "us-east-1".to_owned()),
        ("AWS_ACCESS_KEY_ID", "local".to_owned()),
        ("AWS_SECRET_ACCESS_KEY", "local".to_owned()),
        ("_HANDLER", "bootstrap".to_owned()),
    ]
}
