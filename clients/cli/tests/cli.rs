//! The binary, run as a process with a configuration of its own.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use support::{Gateway, Merchant, PASSWORD, Store, Value, eventually};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, ChildStdout, Command};
use tokio::task::JoinSet;

/// Every token of a merchant's session begins with this.
const TOKEN: &str = "mst_";

/// A user of the command line.
pub struct Cli {
    pub home: TempDir,
    api: String,
}

/// What a run has printed, and its exit code.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    /// Demands an exit code, and goes on.
    #[track_caller]
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        self
    }

    /// Standard output as one JSON document.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|cause| panic!("{cause}: {}", self.out))
    }

    /// Standard output as a JSON document a line.
    #[track_caller]
    pub fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect("a document")).collect()
    }
}

impl Cli {
    /// A user who has not signed in.
    pub fn new(api: &str) -> Self {
        Self { home: tempfile::tempdir().expect("a directory"), api: api.to_owned() }
    }

    /// A merchant who has signed in, their store open.
    pub async fn signed_in(gateway: &Gateway) -> (Self, Merchant, Store) {
        let merchant = Merchant::sign_up(gateway).await;
        let store = merchant.open_shop().await;
        let cli = Self::new(gateway.url());
        cli.sign_in(&merchant).await;
        (cli, merchant, store)
    }

    pub async fn sign_in(&self, merchant: &Merchant) {
        self.fed(&["login", "--email", &merchant.email], &format!("{PASSWORD}\n")).await.expect(0);
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_commerce"));
        command.args(args).env_clear().env("HOME", self.home.path()).env("COMMERCE_API", &self.api);
        command.env("COMMERCE_CONFIG_DIR", self.home.path().join("config"));
        command.current_dir(self.home.path()).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub async fn run(&self, args: &[&str]) -> Run {
        self.fed(args, "").await
    }

    /// Runs a command that reads this.
    pub async fn fed(&self, args: &[&str], input: &str) -> Run {
        finish(self.command(args), input).await
    }

    /// Starts a command that goes on until it is dropped.
    pub fn start(&self, args: &[&str]) -> Running {
        let mut command = self.command(args);
        let mut child = command.stderr(Stdio::null()).spawn().expect("it starts");
        let out = child.stdout.take().expect("its output");
        Running { child, lines: BufReader::new(out).lines() }
    }

    pub fn path(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }

    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.home.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(&path, text).expect("it is written");
        path.display().to_string()
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.home.path().join(name)).expect("it is there")
    }

    /// The profile's file.
    pub fn profiles(&self) -> Value {
        serde_json::from_str(&self.read("config/profiles.json")).expect("JSON")
    }

    pub fn token(&self) -> String {
        let token = self.profiles()["profiles"]["default"]["session"]["token"].clone();
        token.as_str().expect("a token").to_owned()
    }
}

/// Runs a command to its end. No run prints a token.
pub async fn finish(mut command: Command, input: &str) -> Run {
    let mut child = command.spawn().expect("it starts");
    let mut stdin = child.stdin.take().expect("its input");
    stdin.write_all(input.as_bytes()).await.expect("it reads");
    drop(stdin);
    let output = tokio::time::timeout(Duration::from_mins(2), child.wait_with_output()).await;
    let output = output.expect("it ends").expect("it ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    let run = Run {
        code: output.status.code().expect("a code"),
        out: text(output.stdout),
        err: text(output.stderr),
    };
    assert!(!run.out.contains(TOKEN) && !run.err.contains(TOKEN), "a token: {run:?}");
    run
}

/// A command that goes on. Dropping it ends it.
pub struct Running {
    pub child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Running {
    /// The next line of standard output.
    pub async fn line(&mut self) -> String {
        let line = tokio::time::timeout(Duration::from_secs(30), self.lines.next_line()).await;
        let line = line.expect("a line in time").expect("a line").expect("a line");
        assert!(!line.contains(TOKEN), "a token: {line}");
        line
    }

    pub async fn json(&mut self) -> Value {
        serde_json::from_str(&self.line().await).expect("a document")
    }

    /// Interrupts it, as Ctrl-C does; its exit code.
    pub async fn interrupt(mut self) -> i32 {
        let id = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().await.expect("kill");
        assert!(sent.success());
        self.child.wait().await.expect("it ends").code().expect("a code")
    }

    pub async fn kill(mut self) {
        self.child.kill().await.expect("it ends");
    }
}

/// A way to the API that can be cut.
pub struct Link {
    pub url: String,
    is_up: Arc<AtomicBool>,
    _tasks: JoinSet<()>,
}

impl Link {
    pub async fn to(gateway: &Gateway) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let target = gateway.url().trim_start_matches("http://").to_owned();
        let is_up = Arc::new(AtomicBool::new(true));
        let mut tasks = JoinSet::new();
        tasks.spawn(pass(listener, target, Arc::clone(&is_up)));
        Self { url, is_up, _tasks: tasks }
    }

    pub fn cut(&self) {
        self.is_up.store(false, Ordering::SeqCst);
    }

    pub fn mend(&self) {
        self.is_up.store(true, Ordering::SeqCst);
    }
}

async fn pass(listener: TcpListener, target: String, is_up: Arc<AtomicBool>) {
    let mut connections = JoinSet::new();
    while let Ok((mut near, _)) = listener.accept().await {
        let (target, is_up) = (target.clone(), Arc::clone(&is_up));
        connections.spawn(async move {
            let is_cut = || async { (!is_up.load(Ordering::SeqCst)).then_some(()) };
            if is_cut().await.is_some() {
                return;
            }
            let mut far = TcpStream::connect(target).await.expect("the gateway");
            let passing = tokio::io::copy_bidirectional(&mut near, &mut far);
            tokio::select! {
                _ = passing => {}
                () = eventually(Duration::from_mins(5), is_cut) => {}
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

/// The permissions of a file.
pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}
