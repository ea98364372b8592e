//! A function's binary as Lambda runs it: a process of its own, which asks a Runtime API for events.
//!
//! [`Function`] starts the binary with an environment and nothing else, hands it events, and says what
//! came of each: a payload, or why there is none. It also says what Lambda bills and nobody else sees: how
//! long the process took until it asked for its first event, its memory, and its CPU.
//!
//! The protocol is that of AWS's "Using the Lambda runtime API for custom runtimes", version 2018-06-01.
//! As Lambda does, a function is given one event at a time.
#![allow(
    clippy::disallowed_methods,
    reason = "the process is another one: it is measured in real time, and no clock is moved for it"
)]

mod api;
mod process;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use serde_json::Value;
use tokio::sync::oneshot;

use api::{Api, Outcome};
pub use process::Memory;
use process::Process;

/// A cause of any kind; whoever starts a function prints it.
pub type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// How long a function may take to ask for its first event, and to answer one. Lambda gives an `init` ten
/// seconds; a debug build on a machine that compiles is given more.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running function. Dropping it kills its process.
pub struct Function {
    api: Api,
    process: Process,
    ready_after: Duration,
}

/// Why an event has no payload.
#[derive(Debug, Clone, PartialEq)]
pub enum Failure {
    /// The function said so, with this error: `errorType` and `errorMessage`. It goes on.
    Rejected(Value),
    /// Its process has ended, with these last words.
    Ended(String),
    /// It did not answer within a minute.
    Late,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Rejected(error) => write!(f, "the function rejected the event: {error}"),
            Self::Ended(words) => write!(f, "the function's process has ended: {words}"),
            Self::Late => f.write_str("the function did not answer"),
        }
    }
}

impl std::error::Error for Failure {}

/// What `cargo lambda build` calls a binary, in a folder of the function's name.
const BOOTSTRAP: &str = "bootstrap";

/// The binary of this function in a directory, as `cargo lambda build` or `cargo build` has put it there.
pub fn binary(directory: &Path, name: &str) -> PathBuf {
    let built = directory.join(name);
    if built.is_dir() { built.join(BOOTSTRAP) } else { built }
}

fn name_of(binary: &Path) -> String {
    let named = if binary.ends_with(BOOTSTRAP) { binary.parent() } else { Some(binary) };
    named.and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned()
}

impl Function {
    /// Starts a binary with this environment, beside what Lambda sets itself, and waits until it asks for
    /// its first event.
    ///
    /// # Errors
    /// A binary that is not there, ends, or does not ask.
    pub async fn start(
        binary: &Path,
        environment: &BTreeMap<String, String>,
    ) -> Result<Self, AnyError> {
        let name = name_of(binary);
        let api = Api::start().await?;
        let begun = Instant::now();
        let process = Process::start(binary, &name, api.address(), environment)?;
        let asked = tokio::select! {
            asked = tokio::time::timeout(PATIENCE, api.first_asked()) => asked.ok(),
            () = process.ended() => None,
        };
        let Some(asked) = asked else {
            return Err(format!("{name} asks for no event: {}", process.last_words()).into());
        };
        Ok(Self { api, process, ready_after: asked.duration_since(begun) })
    }

    /// From the process's start to its first question for an event.
    pub fn ready_after(&self) -> Duration {
        self.ready_after
    }

    /// Hands it an event: these bytes, which Lambda would see to be JSON.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn invoke_bytes(&self, event: impl Into<Bytes>) -> Result<Value, Failure> {
        let (tell, told) = oneshot::channel();
        self.api.hand_over(event.into(), tell);
        let outcome = tokio::select! {
            outcome = tokio::time::timeout(PATIENCE, told) => outcome.map_err(|_| Failure::Late)?,
            () = self.process.ended() => return Err(Failure::Ended(self.process.last_words())),
        };
        match outcome {
            Ok(Outcome::Answered(payload)) => Ok(payload),
            Ok(Outcome::Failed(error)) => Err(Failure::Rejected(error)),
            Err(_) => Err(Failure::Ended(self.process.last_words())),
        }
    }

    /// Hands it an event.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn invoke(&self, event: &Value) -> Result<Value, Failure> {
        self.invoke_bytes(event.to_string()).await
    }

    /// What memory its process has.
    ///
    /// # Errors
    /// A process that has ended.
    pub fn memory(&self) -> Result<Memory, AnyError> {
        self.process.memory()
    }

    /// The CPU time that its threads have taken so far.
    ///
    /// # Errors
    /// A process that has ended.
    pub fn cpu(&self) -> Result<Duration, AnyError> {
        self.process.cpu()
    }

    /// What it has written so far: its log.
    pub fn log(&self) -> String {
        self.process.log()
    }
}
