//! `cargo run -p local`: the whole system on this machine.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use egress::{Egress, Policy};
use emulators::AnyError;
use emulators::aws::Ports;
use emulators::faults::Plan;
use lexopt::Arg::{Long, Short};
use lexopt::ValueExt;
use local::log::{self, Form};
use local::names::RecordsFile;
use local::providers::Providers;
use local::{Options, System, demo, keys, openapi};
use primitives::clock::MINUTE;
use serde_json::Value;
use services::config::{MailConfig, PaymentBaseUrls};
use tokio::runtime::{Handle, Runtime};
use tokio::signal::unix::{SignalKind, signal};

const USAGE: &str = "\
The commerce gateway on this machine.

Usage: cargo run -p local -- [options]

  --port <port>          where the API listens on 127.0.0.1 (3000; 0 takes any free port)
  --providers-port <port>
                         where Razorpay and Stripe are played, unless RAZORPAY_BASE_URL and
                         STRIPE_BASE_URL name other places (3100; 0 takes any free port)
  --data <directory>     where everything is kept (.data); in its file `txt-records` are the TXT
                         records that domains are verified by, a line each: name and text
  --trust-proxy          believe the client's address that a proxy in front of this says
                         (the last entry of X-Forwarded-For)
  --log <text|json>      how the log looks: a short line a request, or JSON (text on a terminal, JSON
                         elsewhere)
  --faults <plan>        let calls of the table go wrong as they do in a deployment: `5%:42` of all
                         calls, from the seed 42; or, each at its own rate,
                         `throttle=5%,conflict=1%,lost=1%,slow=1%,stale=1%,short=1%,leftover=1%:42`
  --no-demo              make no demo store on the first start
  --reset                start with an empty directory
  --emulators-only       only the AWS endpoints, the payment providers and the pollers, for
                         `sam local start-api`: DynamoDB on 8000, SQS on 9324, Secrets Manager on
                         4566; --port is then where that listens
  --emulators-host <address>
                         where the AWS endpoints listen, and the payment providers beside loopback
                         (127.0.0.1): the address of Docker's bridge, 172.17.0.1, for containers on
                         Linux. Whoever reaches them reads and writes everything
  --dynamodb-port <port>, --sqs-port <port>, --secrets-port <port>
                         where those listen; 0 takes any free port
  --generate-keys        print fresh documents for a deployment's secrets, by name, and end
  --rotate-keys <file>   print the documents of that file (- for standard input) with the keys that
                         sign rotated, and end
  --event-types          print the catalogue of events of this build, and end
  --openapi              print the OpenAPI document of this build, from the sources in the current
                         directory, and end
  --help                 this text
";

/// The ports that `--emulators-only` takes: those of the well-known local servers.
const PORTS: Ports = Ports { host: Ipv4Addr::LOCALHOST, dynamodb: 8000, sqs: 9324, secrets: 4566 };

/// The command of the command line.
enum Command {
    Help,
    GenerateKeys,
    RotateKeys(OsString),
    EventTypes,
    OpenApi,
    Run(Run),
}

#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
struct Run {
    port: u16,
    providers_port: u16,
    data: PathBuf,
    with_demo: bool,
    trust_proxy: bool,
    reset: bool,
    with_api: bool,
    /// The address on which the AWS endpoints and the payment providers listen.
    emulators_host: Ipv4Addr,
    /// The ports of the AWS endpoints; any free port for those that are not named.
    aws: NamedPorts,
    log: Form,
    faults: Option<Plan>,
}

#[derive(Default)]
struct NamedPorts {
    dynamodb: Option<u16>,
    sqs: Option<u16>,
    secrets: Option<u16>,
}

impl NamedPorts {
    fn or(&self, others: Ports) -> Ports {
        Ports {
            host: others.host,
            dynamodb: self.dynamodb.unwrap_or(others.dynamodb),
            sqs: self.sqs.unwrap_or(others.sqs),
            secrets: self.secrets.unwrap_or(others.secrets),
        }
    }
}

fn main() -> ExitCode {
    match run_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            eprintln!("{cause}");
            ExitCode::FAILURE
        }
    }
}

/// Runs requests on threads of their own. In a deployment each function has its own machine; in one queue of
/// tasks, each step of a delivery would wait behind every running request.
fn run_all() -> Result<(), AnyError> {
    let (answering, rest) = (Runtime::new()?, Runtime::new()?);
    rest.block_on(start(answering.handle()))
}

async fn start(answering: &Handle) -> Result<(), AnyError> {
    match command(lexopt::Parser::from_env())? {
        Command::Help => print!("{USAGE}"),
        Command::GenerateKeys => println!("{:#}", Value::Object(keys::generate()?)),
        Command::RotateKeys(file) => println!("{:#}", Value::Object(keys::rotate(&read(&file)?)?)),
        Command::EventTypes => print!("{}", commerce::event_types::written()),
        Command::OpenApi => println!("{:#}", openapi::document(Path::new("."))?),
        Command::Run(run) => serve(run, answering).await?,
    }
    Ok(())
}

fn command(mut arguments: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut run = Run {
        port: 3000,
        providers_port: 3100,
        data: PathBuf::from(".data"),
        with_demo: true,
        trust_proxy: false,
        reset: false,
        with_api: true,
        emulators_host: Ipv4Addr::LOCALHOST,
        aws: NamedPorts::default(),
        log: Form::default_for_stdout(),
        faults: None,
    };
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("port") => run.port = arguments.value()?.parse()?,
            Long("providers-port") => run.providers_port = arguments.value()?.parse()?,
            Long("dynamodb-port") => run.aws.dynamodb = Some(arguments.value()?.parse()?),
            Long("sqs-port") => run.aws.sqs = Some(arguments.value()?.parse()?),
            Long("secrets-port") => run.aws.secrets = Some(arguments.value()?.parse()?),
            Long("log") => run.log = arguments.value()?.parse()?,
            Long("data") => run.data = arguments.value()?.into(),
            Long("faults") => run.faults = Some(arguments.value()?.parse()?),
            Long("trust-proxy") => run.trust_proxy = true,
            Long("no-demo") => run.with_demo = false,
            Long("reset") => run.reset = true,
            Long("emulators-only") => run.with_api = false,
            Long("emulators-host") => run.emulators_host = arguments.value()?.parse()?,
            Long("generate-keys") => return Ok(Command::GenerateKeys),
            Long("rotate-keys") => return Ok(Command::RotateKeys(arguments.value()?)),
            Long("event-types") => return Ok(Command::EventTypes),
            Long("openapi") => return Ok(Command::OpenApi),
            Long("help") | Short('h') => return Ok(Command::Help),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Command::Run(run))
}

fn read(file: &OsString) -> Result<String, AnyError> {
    if file == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    Ok(fs::read_to_string(file)?)
}

async fn serve(run: Run, answering: &Handle) -> Result<(), AnyError> {
    log::init(run.log);
    if run.reset {
        empty(&run.data)?;
    }
    let mails = run.data.join("mail");
    let (providers, payment_base_urls) = play(run.emulators_host, run.providers_port).await?;
    let ports = if run.with_api { Ports::default() } else { PORTS };
    let mut system = System::prepare(Options {
        port: run.with_api.then_some(run.port),
        embedded: emulators::Options {
            data: Some(run.data.clone()),
            ports: run.aws.or(Ports { host: run.emulators_host, ..ports }),
            base_url: format!("http://127.0.0.1:{}", run.port),
            operators: vec![demo::OPERATOR.email.to_owned()],
            mail: MailConfig { directory: Some(mails), print: true },
            mail_from: "Commerce <no-reply@localhost.example>".to_owned(),
            payment_base_urls,
            trust_proxy: run.trust_proxy,
            faults: run.faults.clone(),
            egress: Egress::new(Policy::development())
                .with_names(Arc::new(RecordsFile(run.data.join("txt-records")))),
            ..emulators::Options::default()
        },
        has_stream: true,
        has_runner: true,
        has_backpressure: true,
        sweep_every: Some(MINUTE),
        record_use: None,
    })
    .await?;
    let faults = system.embedded().faults().cloned();
    if run.with_demo {
        // The demo is created without faults.
        let hold = |is_held| {
            if let Some(faults) = &faults {
                faults.hold(is_held);
            }
        };
        hold(true);
        demo::seed(&system, providers.as_ref()).await?;
        hold(false);
    }
    system.listen_on(answering)?;
    println!("{}", greeting(&system, &run, providers.as_ref()));
    end_is_asked().await?;
    println!("Stopping.");
    if let Some(faults) = faults {
        println!("Of {} calls of the table went wrong: {:?}", faults.calls(), faults.happened());
    }
    system.stop().await;
    Ok(())
}

/// Starts emulated payment providers, unless the environment names both. Returns them with the base URLs of
/// both. Their data is lost with the process: an earlier payment cannot be paid, captured or refunded any
/// more.
async fn play(host: Ipv4Addr, port: u16) -> Result<(Option<Providers>, PaymentBaseUrls), AnyError> {
    let named = PaymentBaseUrls::from_env();
    if !named.razorpay.is_empty() && !named.stripe.is_empty() {
        return Ok((None, named));
    }
    let deadline = named.deadline;
    let started =
        Providers::start(local::providers::Options { host, port, deadline, ..Default::default() });
    let providers = started.await.map_err(|cause| {
        format!(
            "the payment providers cannot listen on {host} and port {port}: {cause}; choose another \
                 port with --providers-port"
        )
    })?;
    let base_urls = named.or(providers.base_urls());
    Ok((Some(providers), base_urls))
}

/// The greeting: the URLs, the demo accounts, and requests to try.
fn greeting(system: &System, run: &Run, providers: Option<&Providers>) -> String {
    let url = system.url();
    let aws = system.embedded().emulators();
    let mut text = String::new();
    if run.with_api {
        let _ = writeln!(text, "The API is at {url}\nIts start page is at {url}{}", local::START);
    }
    if run.with_demo && run.with_api {
        let _ = writeln!(text, "The demo store is at {url}{}/{}", local::SHOPS, demo::SUBDOMAIN);
    }
    if let Some(providers) = providers {
        let _ = writeln!(text, "Payment providers are played at {}", providers.url());
    }
    let _ = write!(
        text,
        "\nData in {}; mails in {}\nAWS_ENDPOINT_URL_DYNAMODB={}\nAWS_ENDPOINT_URL_SQS={}\n\
         AWS_ENDPOINT_URL_SECRETS_MANAGER={}\n",
        run.data.display(),
        run.data.join("mail").display(),
        aws.dynamodb_endpoint(),
        aws.sqs_endpoint(),
        aws.secrets_endpoint(),
    );
    if providers.is_some() {
        let PaymentBaseUrls { razorpay, stripe, .. } = &system.app().config.payment_base_urls;
        let _ = writeln!(text, "RAZORPAY_BASE_URL={razorpay}\nSTRIPE_BASE_URL={stripe}");
    }
    if let Some(faults) = system.embedded().faults() {
        let _ = writeln!(text, "\nCalls of the table go wrong: {faults}");
    }
    if run.with_demo {
        for (role, who) in [
            ("Merchant", demo::MERCHANT),
            ("Operator", demo::OPERATOR),
            ("Customer", demo::CUSTOMER),
        ] {
            let _ = write!(text, "\n{role}: {} / {}", who.email, who.password);
        }
        let _ = writeln!(text, "\nStore:    {}", demo::SUBDOMAIN);
    }
    if run.with_api {
        let [first, second, third] = suggestions(url, run.with_demo);
        let _ = write!(text, "\nTry:\n  curl {first}\n  curl {second}\n  curl {third}\n");
    }
    text
}

/// Requests to try with `curl`.
fn suggestions(url: &str, has_demo: bool) -> [String; 3] {
    let health = format!("{url}/health");
    if has_demo {
        let who = demo::MERCHANT;
        let input = serde_json::json!({"email": who.email, "password": who.password});
        return [
            health,
            format!("{url}/v1/storefront/{}/products", demo::SUBDOMAIN),
            format!("{url}/v1/auth/signin -H 'Content-Type: application/json' -d '{input}'"),
        ];
    }
    let (second, third) = ("operations/event-types", "app-store/oauth/metadata");
    [health, format!("{url}/v1/{second}"), format!("{url}/v1/{third}")]
}

/// Waits for Ctrl-C or SIGTERM.
async fn end_is_asked() -> Result<(), AnyError> {
    let mut terminated = signal(SignalKind::terminate())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted?,
        _ = terminated.recv() => {}
    }
    Ok(())
}

/// Removes the files of a local system from its directory, and no others. Fails while another process uses
/// it.
fn empty(data: &Path) -> Result<(), AnyError> {
    match File::open(data.join("lock")) {
        Ok(lock) => lock.try_lock().map_err(|_| "another process is using the data directory")?,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(()),
        Err(cause) => return Err(cause.into()),
    }
    for name in ["table.db", "table.db-wal", "table.db-shm", "secrets.json", "mail"] {
        let path = data.join(name);
        let removed =
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        if let Err(cause) = removed
            && cause.kind() != ErrorKind::NotFound
        {
            return Err(cause.into());
        }
    }
    Ok(())
}
