//! The command line.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use emulators::Elsewhere;
use emulators::aws::Ports;
use emulators::faults::Plan;
use lexopt::Arg::{Long, Short};
use lexopt::ValueExt;
use local::log::Form;

pub(crate) const USAGE: &str = "\
The commerce gateway on this machine.

Usage: cargo run -p local -- [options]

  --port <port>          where the API listens (3000; 0 takes any free port)
  --shop-port <port>     where the shops listen, each at its own name: http://demo-store.localhost:3200
                         (200 above the API's; 0 takes any free port)
  --shop-domain <domain> the domain below which every store has a shop, with --public (localhost)
  --host <address>       the address on which it listens, instead of 127.0.0.1 and ::1; `::` is every
                         address, of IPv4 as well
  --public <url>         run for others, who reach the API at this https URL: webhooks and payments go to
                         public addresses alone, and there are no demo store, no known passwords and no
                         played payment providers (docs/deploy.md)
  --operator <email>     the address of a platform operator; repeatable
  --admin-origin <origin>
                         an origin whose pages may call merchant routes from a browser, like
                         http://localhost:5173; repeatable
  --mail-server <file>   send mails by the server whose URL that file has, `smtps://user:password@host`,
                         instead of to files
  --mail-from <sender>   the sender of mails
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
  --dynamodb <url>, --sqs <url>, --secrets <url>
                         use the service at this endpoint instead of an emulator: anything that speaks
                         the API. The table, the queues and the secrets that are missing are created.
                         Several processes over one table are one platform: name all three for each,
                         and a directory of its own. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
                         AWS_REGION are used where they are set (docs/deploy.md)
  --backup <directory>   copy the table and the secrets there, while a system may be running, and end
  --generate-keys        print fresh documents for a deployment's secrets, by name, and end
  --rotate-keys <file>   print the documents of that file (- for standard input) with the keys that
                         sign rotated, and end
  --event-types          print the catalogue of events of this build, and end
  --openapi              print the OpenAPI document of this build, from the sources in the current
                         directory, and end
  --help                 this text
";

/// The ports that `--emulators-only` takes: those of the well-known local servers.
pub(crate) const PORTS: Ports =
    Ports { host: Ipv4Addr::LOCALHOST, dynamodb: 8000, sqs: 9324, secrets: 4566 };

/// The command of the command line.
pub(crate) enum Command {
    Help,
    GenerateKeys,
    BackUp { data: PathBuf, to: PathBuf },
    RotateKeys(OsString),
    EventTypes,
    OpenApi,
    Run(Box<Run>),
}

#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub(crate) struct Run {
    pub(crate) port: u16,
    /// The port of the shops, if it is not that of the API and 200.
    shop_port: Option<u16>,
    /// The domain below which every store has a shop.
    pub(crate) shop_domain: String,
    /// The address on which the API listens; both of loopback if none.
    pub(crate) host: Option<IpAddr>,
    /// The URL at which others reach the API.
    pub(crate) public: Option<String>,
    pub(crate) operators: Vec<String>,
    /// Origins that may call merchant routes from a browser.
    pub(crate) admin_origins: Vec<String>,
    pub(crate) mail_server: Option<PathBuf>,
    pub(crate) mail_from: String,
    pub(crate) providers_port: u16,
    pub(crate) data: PathBuf,
    pub(crate) with_demo: bool,
    pub(crate) trust_proxy: bool,
    pub(crate) reset: bool,
    pub(crate) with_api: bool,
    /// The address on which the AWS endpoints and the payment providers listen.
    pub(crate) emulators_host: Ipv4Addr,
    /// The ports of the AWS endpoints; any free port for those that are not named.
    pub(crate) aws: NamedPorts,
    pub(crate) log: Form,
    pub(crate) faults: Option<Plan>,
    /// The services that are not emulated.
    pub(crate) elsewhere: Elsewhere,
}

impl Run {
    /// The port of the shops: any free one, if the API takes any.
    pub(crate) fn shop_port(&self) -> u16 {
        let beside = if self.port == 0 { 0 } else { self.port.saturating_add(200) };
        self.shop_port.unwrap_or(beside)
    }
}

#[derive(Default)]
pub(crate) struct NamedPorts {
    dynamodb: Option<u16>,
    sqs: Option<u16>,
    secrets: Option<u16>,
}

impl NamedPorts {
    pub(crate) fn or(&self, others: Ports) -> Ports {
        Ports {
            host: others.host,
            dynamodb: self.dynamodb.unwrap_or(others.dynamodb),
            sqs: self.sqs.unwrap_or(others.sqs),
            secrets: self.secrets.unwrap_or(others.secrets),
        }
    }
}

pub(crate) fn command(mut arguments: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut run = Run {
        port: 3000,
        shop_port: None,
        shop_domain: "localhost".to_owned(),
        host: None,
        public: None,
        operators: Vec::new(),
        admin_origins: Vec::new(),
        mail_server: None,
        mail_from: "Commerce <no-reply@localhost.example>".to_owned(),
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
        elsewhere: Elsewhere { is_shared: true, ..Elsewhere::from_env() },
    };
    let mut backup = None;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("port") => run.port = arguments.value()?.parse()?,
            Long("shop-port") => run.shop_port = Some(arguments.value()?.parse()?),
            Long("shop-domain") => run.shop_domain = arguments.value()?.string()?,
            Long("host") => run.host = Some(arguments.value()?.parse()?),
            Long("public") => run.public = Some(arguments.value()?.parse_with(public_url)?),
            Long("operator") => run.operators.push(arguments.value()?.string()?),
            Long("admin-origin") => {
                run.admin_origins.push(arguments.value()?.parse_with(origin)?);
            }
            Long("mail-server") => run.mail_server = Some(arguments.value()?.into()),
            Long("mail-from") => run.mail_from = arguments.value()?.string()?,
            Long("providers-port") => run.providers_port = arguments.value()?.parse()?,
            Long("dynamodb-port") => run.aws.dynamodb = Some(arguments.value()?.parse()?),
            Long("sqs-port") => run.aws.sqs = Some(arguments.value()?.parse()?),
            Long("secrets-port") => run.aws.secrets = Some(arguments.value()?.parse()?),
            Long("dynamodb") => {
                run.elsewhere.dynamodb = Some(arguments.value()?.parse_with(endpoint)?);
            }
            Long("sqs") => run.elsewhere.sqs = Some(arguments.value()?.parse_with(endpoint)?),
            Long("secrets") => {
                run.elsewhere.secrets = Some(arguments.value()?.parse_with(endpoint)?);
            }
            Long("log") => run.log = arguments.value()?.parse()?,
            Long("data") => run.data = arguments.value()?.into(),
            Long("faults") => run.faults = Some(arguments.value()?.parse()?),
            Long("trust-proxy") => run.trust_proxy = true,
            Long("no-demo") => run.with_demo = false,
            Long("reset") => run.reset = true,
            Long("emulators-only") => run.with_api = false,
            Long("emulators-host") => run.emulators_host = arguments.value()?.parse()?,
            Long("backup") => backup = Some(arguments.value()?.into()),
            Long("generate-keys") => return Ok(Command::GenerateKeys),
            Long("rotate-keys") => return Ok(Command::RotateKeys(arguments.value()?)),
            Long("event-types") => return Ok(Command::EventTypes),
            Long("openapi") => return Ok(Command::OpenApi),
            Long("help") | Short('h') => return Ok(Command::Help),
            other => return Err(other.unexpected()),
        }
    }
    if let Some(to) = backup {
        return Ok(Command::BackUp { data: run.data, to });
    }
    run.with_demo &= run.public.is_none();
    Ok(Command::Run(Box::new(run)))
}

/// The base URL of a system that others reach: clients trust what is signed for it.
fn public_url(text: &str) -> Result<String, &'static str> {
    let url = text.trim_end_matches('/');
    url.starts_with("https://").then(|| origin(url)).ok_or("an https URL, please")?
}

/// An origin as browsers write it (RFC 6454 §6.2).
fn origin(text: &str) -> Result<String, &'static str> {
    let url = endpoint(text)?;
    let host = url.split_once("://").map_or("", |(_, host)| host);
    let is_origin = !host.contains(['/', '?', '#', '@', ',', ' ']) && url == url.to_lowercase();
    is_origin.then_some(url).ok_or("an origin without a path, please")
}

/// The endpoint of a service, without a slash at the end.
fn endpoint(text: &str) -> Result<String, &'static str> {
    let url = text.trim_end_matches('/');
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    rest.filter(|host| !host.is_empty())
        .map(|_| url.to_owned())
        .ok_or("an http or https URL, please")
}
