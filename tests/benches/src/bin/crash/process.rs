//! The `local` process that is killed.

use std::fs::{self, File};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use benches::AnyError;
use benches::http::{Connection, Input};
use tokio::process::{Child, Command};

/// The longest start.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running `local`. Dropping it kills the process and removes its directory.
pub struct Local {
    binary: PathBuf,
    faults: Option<String>,
    data: PathBuf,
    process: Child,
    /// The address of its API, the same after each start.
    pub address: String,
}

impl Local {
    /// Starts it in an empty directory.
    pub async fn start(binary: &Path, faults: Option<&str>) -> Result<Self, AnyError> {
        let data = std::env::temp_dir().join(format!("crash-{}", std::process::id()));
        fs::create_dir_all(&data)?;
        // The port is free now, and is bound a moment later.
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let (binary, faults) = (binary.to_owned(), faults.map(str::to_owned));
        let process = spawn(&binary, &data, address.port(), faults.as_deref())?;
        let mut local = Self { binary, faults, data, process, address: address.to_string() };
        local.answers().await?;
        Ok(local)
    }

    /// `kill -9`.
    pub async fn kill(&mut self) -> Result<(), AnyError> {
        Ok(self.process.kill().await?)
    }

    /// Restarts it on the same directory, at the same address.
    pub async fn start_again(&mut self) -> Result<(), AnyError> {
        let port = self.address.rsplit(':').next().unwrap_or_default().parse()?;
        self.process = spawn(&self.binary, &self.data, port, self.faults.as_deref())?;
        self.answers().await
    }

    async fn answers(&mut self) -> Result<(), AnyError> {
        let begun = Instant::now();
        loop {
            let answer = Connection::to(&self.address).send(&Input::get("/health")).await;
            if answer.is_ok_and(|answer| answer.status == 200) {
                return Ok(());
            }
            let ended = self.process.try_wait()?;
            if ended.is_some() || begun.elapsed() > PATIENCE {
                let log = fs::read_to_string(self.data.join("log"))?;
                let rest: Vec<&str> = log.lines().rev().take(20).collect();
                return Err(format!("it does not start: {ended:?}\n{rest:#?}").into());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

fn spawn(binary: &Path, data: &Path, port: u16, faults: Option<&str>) -> Result<Child, AnyError> {
    let log = File::options().create(true).append(true).open(data.join("log"))?;
    let mut command = Command::new(binary);
    command
        .args(["--port", &port.to_string(), "--providers-port", "0"])
        .args(["--trust-proxy", "--no-demo", "--log", "json", "--data"])
        .arg(data.join("data"))
        .args(faults.iter().flat_map(|plan| ["--faults", plan]))
        .stderr(log.try_clone()?)
        .stdin(Stdio::null())
        .stdout(log)
        .kill_on_drop(true);
    Ok(command.spawn()?)
}

impl Drop for Local {
    fn drop(&mut self) {
        // If it fails, the runtime kills the process at its end.
        let _ = self.process.start_kill();
        let _ = fs::remove_dir_all(&self.data);
    }
}
