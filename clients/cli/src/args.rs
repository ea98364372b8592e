//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::failure::EXIT_CODES;

/// The command line of the commerce platform.
#[derive(Debug, Parser)]
#[command(name = "commerce", version, after_help = EXIT_CODES, propagate_version = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// The profile to act with.
    #[arg(
        long,
        global = true,
        env = "COMMERCE_PROFILE",
        default_value = "default",
        value_name = "NAME"
    )]
    pub profile: String,
    /// The address of the API; by default the profile's, or `http://127.0.0.1:3000`.
    #[arg(long, global = true, env = "COMMERCE_API", value_name = "URL")]
    pub api: Option<String>,
    /// The store to act on, by its id or subdomain; by default the profile's.
    #[arg(long, global = true, env = "COMMERCE_STORE", value_name = "STORE")]
    pub store: Option<String>,
    /// Print JSON: one document, or for a stream a document a line.
    #[arg(long, global = true)]
    pub json: bool,
    /// Print results alone.
    #[arg(short = 'Q', long, global = true)]
    pub quiet: bool,
    /// The directory with the profiles; by default `commerce` in the platform's configuration directory.
    #[arg(long, global = true, env = "COMMERCE_CONFIG_DIR", value_name = "DIR")]
    pub config_dir: Option<PathBuf>,
    /// A credential to use instead of the profile's session. It is taken from the environment alone.
    #[arg(skip)]
    pub token: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Sign in, and store the session in the profile.
    Login(Login),
    /// End the session and remove it from the profile.
    Logout,
    /// Show the account, the store and the API that commands act with.
    Whoami,
    /// List stores, or choose one.
    #[command(subcommand)]
    Stores(Stores),
    /// Send any request to the API.
    Api(Api),
    /// Receive the events of a store, and forward them to a local receiver.
    Listen(Listen),
    /// Make an event happen by real requests.
    Trigger(Trigger),
    /// Show what has happened: events, deliveries, an app's access log.
    Logs(Logs),
    /// Write, check, upload and publish a theme.
    #[command(subcommand)]
    Theme(Theme),
    /// Import a file of products, customers or stock.
    Import(Import),
    /// Export data to a file.
    Export(Export),
    /// Print a completion script for a shell.
    Completion {
        #[arg(value_enum)]
        shell: Shell,
    },
}

#[derive(Debug, Args)]
pub struct Login {
    /// The e-mail address of the account; asked for if it is missing.
    #[arg(long)]
    pub email: Option<String>,
    /// Sign in with a code that is mailed instead of a password.
    #[arg(long, conflicts_with_all = ["token", "demo"])]
    pub code: bool,
    /// Read the token of a session from standard input.
    #[arg(long, conflicts_with_all = ["demo", "email"])]
    pub token: bool,
    /// Sign in as the demo merchant of a local system.
    #[arg(long, conflicts_with = "email")]
    pub demo: bool,
}

#[derive(Debug, Subcommand)]
pub enum Stores {
    /// List the stores that the account may act on.
    List,
    /// Act on this store from now on.
    Use {
        /// Its id or its subdomain.
        store: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "UPPER")]
pub enum Verb {
    Get,
    Post,
    Patch,
    Put,
    Delete,
}

#[derive(Debug, Args)]
pub struct Api {
    #[arg(value_enum, ignore_case = true)]
    pub method: Verb,
    /// The path, such as /v1/products.
    pub path: String,
    /// A field of the body: `name=text`, `name:=json`, and with dots what is deeper: `price.amount:=1200`. `@FILE`
    /// is the whole body, `@-` standard input.
    #[arg(short = 'd', long = "field", value_name = "FIELD")]
    pub fields: Vec<String>,
    /// The whole body as JSON.
    #[arg(long, value_name = "JSON", conflicts_with = "fields")]
    pub data: Option<String>,
    /// A query parameter.
    #[arg(short, long = "query", value_name = "NAME=VALUE")]
    pub query: Vec<String>,
    /// A header, such as `If-Match: "3"`.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// The idempotency key of a write; by default a random one.
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<String>,
    /// Print every item of a list, of all pages, a line each.
    #[arg(long)]
    pub paginate: bool,
    /// Print the status and the headers as well.
    #[arg(short, long)]
    pub include: bool,
}

#[derive(Debug, Args)]
pub struct Listen {
    /// Where to forward events: a URL, `host:port/path` or a port of this machine.
    #[arg(short, long, value_name = "URL", required_unless_present_any = ["print_only", "print_secret"])]
    pub forward_to: Option<String>,
    /// The types of events, such as `order.*,product.created`; by default all.
    #[arg(
        short = 'e',
        long,
        visible_alias = "events",
        value_name = "TYPES",
        value_delimiter = ','
    )]
    pub filter: Vec<String>,
    /// Print each event, and forward none.
    #[arg(long, conflicts_with = "forward_to")]
    pub print_only: bool,
    /// Begin with events since this time, or so long ago (`10m`, `2h`), or `last`: where the last run ended.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Print the signing secret, and exit.
    #[arg(long)]
    pub print_secret: bool,
    /// Write the signing secret to this file, instead of printing it.
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    /// A header to forward in addition.
    #[arg(short = 'H', long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Accept any certificate of the receiver.
    #[arg(long)]
    pub skip_verify: bool,
}

#[derive(Debug, Args)]
pub struct Trigger {
    /// The type of the event, such as `order.paid`.
    #[arg(required_unless_present = "list")]
    pub event: Option<String>,
    /// List the events that can be triggered.
    #[arg(long, conflicts_with = "event")]
    pub list: bool,
    /// A field of a step's request: `order:email=a@example.com`, `product:variants.0.price.amount:=500`.
    #[arg(long = "override", value_name = "STEP:FIELD", value_delimiter = None)]
    pub overrides: Vec<String>,
    /// Do not ask, although the store is not of this machine.
    #[arg(short, long)]
    pub yes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogSource {
    /// What happened in the store, and who did it.
    Events,
    /// Deliveries of webhooks.
    Deliveries,
    /// The attempts of one delivery.
    Attempts,
    /// The access log of an app's installation.
    App,
}

#[derive(Debug, Args)]
pub struct Logs {
    #[arg(value_enum, default_value = "events")]
    pub source: LogSource,
    /// The delivery (`dlv_…`) of `attempts`, or the installation (`ins_…`) of `app`.
    pub id: Option<String>,
    /// Go on with what happens from now on.
    #[arg(short, long)]
    pub follow: bool,
    /// The types of events, such as `order.*`.
    #[arg(
        short = 'e',
        long,
        visible_alias = "events",
        value_name = "TYPES",
        value_delimiter = ','
    )]
    pub filter: Vec<String>,
    /// Only about this object, such as `ord_…`.
    #[arg(long, value_name = "ID")]
    pub entity: Option<String>,
    /// Only deliveries in this status.
    #[arg(long)]
    pub status: Option<String>,
    /// Since this time, or so long ago (`10m`, `2h`).
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// At most so many of what has happened.
    #[arg(short = 'n', long, default_value_t = 50)]
    pub limit: usize,
}

#[derive(Debug, Subcommand)]
pub enum Theme {
    /// Write a small theme that is complete.
    Init {
        /// The theme's slug; unique on the platform.
        slug: String,
        /// The directory; by default named like the theme.
        #[arg(long)]
        path: Option<PathBuf>,
    },
    /// Validate a theme, and change nothing.
    Check(ThemePath),
    /// Upload a theme that has changed, and move the store's draft to it.
    Push {
        #[command(flatten)]
        theme: ThemePath,
        /// Say what would be uploaded.
        #[arg(long)]
        dry_run: bool,
    },
    /// Download the files of the store's draft, or of what is live.
    Pull {
        #[command(flatten)]
        theme: ThemePath,
        /// The theme's slug; by default that of theme.json in the directory.
        #[arg(long)]
        slug: Option<String>,
        /// What is published, instead of the draft.
        #[arg(long)]
        live: bool,
        /// Overwrite files that differ.
        #[arg(long)]
        force: bool,
    },
    /// Upload the theme after each change, and show a preview.
    Dev {
        #[command(flatten)]
        theme: ThemePath,
        /// Open the preview in a browser.
        #[arg(long)]
        open: bool,
        /// Upload once, and exit.
        #[arg(long)]
        once: bool,
    },
    /// Publish the store's draft.
    Publish {
        #[command(flatten)]
        theme: ThemePath,
        /// A message about the release.
        #[arg(short, long)]
        message: Option<String>,
        /// Do not ask.
        #[arg(short, long)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub struct ThemePath {
    /// The directory of the theme.
    #[arg(long, default_value = ".")]
    pub path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportKind {
    Products,
    Customers,
    Inventory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Csv,
    Jsonl,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnExisting {
    Fail,
    Skip,
    Update,
}

#[derive(Debug, Args)]
pub struct Import {
    /// The file; with --resume it is needed only while it is being uploaded.
    #[arg(required_unless_present = "resume")]
    pub file: Option<PathBuf>,
    /// What the file has.
    #[arg(long, value_enum, required_unless_present = "resume")]
    pub kind: Option<ImportKind>,
    /// The format; by default by the file's name.
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// What happens to products and customers that exist.
    #[arg(long, value_enum, default_value = "fail")]
    pub on_existing: OnExisting,
    /// Only validate the file.
    #[arg(long)]
    pub dry_run: bool,
    /// Go on with this import (`imp_…`). An interrupted upload of the same file goes on by itself.
    #[arg(long, value_name = "IMPORT")]
    pub resume: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportKind {
    Products,
    Orders,
    Customers,
    Inventory,
    Movements,
}

#[derive(Debug, Args)]
pub struct Export {
    #[arg(value_enum)]
    pub kind: ExportKind,
    /// The file, `-` for standard output; by default named like the data.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The format; by default by the file's name, or CSV.
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Only what was created at this time or later, or so long ago (`30d`).
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only what was created before this time.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
}

/// The word of a value on the command line, which is the API's.
pub fn word<T: ValueEnum + Copy>(value: T) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
