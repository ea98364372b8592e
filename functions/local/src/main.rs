//! `cargo run -p local`: the whole system on this machine.

mod arguments;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use arguments::{Command, PORTS, Run, USAGE, command};
use egress::{Egress, Policy};
use emulators::AnyError;
use emulators::aws::Ports;
use local::log;
use local::names::RecordsFile;
use local::providers::Providers;
use local::{Options, System, demo, keys, openapi};
use primitives::clock::MINUTE;
use serde_json::Value;
use services::config::{MailConfig, PaymentBaseUrls};
use tokio::runtime::{Handle, Runtime};
use tokio::signal::unix::{SignalKind, signal};

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
        Command::BackUp { data, to } => emulators::aws::back_up(&data, &to)?,
        Command::GenerateKeys => println!("{:#}", Value::Object(keys::generate()?)),
        Command::RotateKeys(file) => println!("{:#}", Value::Object(keys::rotate(&read(&file)?)?)),
        Command::EventTypes => print!("{}", commerce::event_types::written()),
        Command::OpenApi => println!("{:#}", openapi::document(Path::new("."))?),
        Command::Run(run) => Box::pin(serve(*run, answering)).await?,
    }
    Ok(())
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
    let (providers, payment_base_urls) = providers(&run).await?;
    let mut system = System::prepare(options(&run, payment_base_urls)?).await?;
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

/// The system that the command line describes.
fn options(run: &Run, payment_base_urls: PaymentBaseUrls) -> Result<Options, AnyError> {
    let ports = if run.with_api { Ports::default() } else { PORTS };
    let mut operators = run.operators.clone();
    operators.extend(run.with_demo.then(|| demo::OPERATOR.email.to_owned()));
    let mail_server = run.mail_server.as_ref().map(fs::read_to_string).transpose()?;
    let mail = match &mail_server {
        Some(_) => MailConfig::default(),
        None => MailConfig { directory: Some(run.data.join("mail")), print: true },
    };
    let policy = if run.public.is_some() { Policy::strict() } else { Policy::development() };
    Ok(Options {
        port: run.with_api.then_some(run.port),
        shop_port: run.with_api.then(|| run.shop_port()),
        host: run.host,
        base_url: run.public.clone(),
        embedded: emulators::Options {
            data: Some(run.data.clone()),
            ports: run.aws.or(Ports { host: run.emulators_host, ..ports }),
            base_url: format!("http://127.0.0.1:{}", run.port),
            shop_domain: run.shop_domain.clone(),
            admin_origins: run.admin_origins.clone(),
            operators,
            mail,
            mail_from: run.mail_from.clone(),
            mail_server: mail_server.map(|url| url.trim().to_owned()),
            payment_base_urls,
            loopback_apps: run.public.is_none(),
            trust_proxy: run.trust_proxy,
            drills_allowed: run.public.is_none(),
            faults: run.faults.clone(),
            egress: names(Egress::new(policy), run),
            elsewhere: run.elsewhere.clone(),
            ..emulators::Options::default()
        },
        has_stream: true,
        has_runner: true,
        has_backpressure: true,
        sweep_every: Some(MINUTE),
        record_use: None,
    })
}

/// The client for requests to others. Domains are verified by the names of a file, unless others use the system.
fn names(egress: Egress, run: &Run) -> Egress {
    match run.public {
        Some(_) => egress,
        None => egress.with_names(Arc::new(RecordsFile(run.data.join("txt-records")))),
    }
}

/// The payment providers that are played, if they are, and the base URLs of both.
async fn providers(run: &Run) -> Result<(Option<Providers>, PaymentBaseUrls), AnyError> {
    if run.public.is_some() {
        return Ok((None, PaymentBaseUrls::from_env().or(PaymentBaseUrls::default())));
    }
    play(run.emulators_host, run.providers_port).await
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
    let aws = system.embedded().endpoints();
    let mut text = String::new();
    if run.with_api {
        let _ = writeln!(text, "The API is at {url}\nIts start page is at {url}{}", local::START);
    }
    if run.with_demo && run.with_api {
        let port = system.shop_port().unwrap_or_default();
        let _ =
            writeln!(text, "The demo store sells at http://{}.localhost:{port}", demo::SUBDOMAIN);
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
        aws.dynamodb.as_deref().unwrap_or_default(),
        aws.sqs.as_deref().unwrap_or_default(),
        aws.secrets_manager.as_deref().unwrap_or_default(),
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
