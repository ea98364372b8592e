//! What an embedded system is started with.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use egress::{Egress, Policy};
use primitives::clock::Clock;
use services::config::{MailConfig, PaymentBaseUrls};

use crate::aws::{Place, Ports};
use crate::faults::{Faults, Plan};
use crate::remote::Elsewhere;
use crate::shadow::Shadow;

/// The visibility timeout of queues without one of their own: six times the time limit of a function of 30
/// seconds, as the template has it (docs/platform.md §2).
const VISIBILITY: Duration = Duration::from_mins(3);

/// The options of an embedded system.
#[derive(Debug, Clone)]
pub struct Options {
    /// The data directory; without one everything is in memory.
    pub data: Option<PathBuf>,
    /// A data directory that what is in memory is a copy of at first.
    pub copied_from: Option<PathBuf>,
    /// The ports of the emulators; 0 for any free one.
    pub ports: Ports,
    /// The changes that the table's stream records, each as `INSERT` of a kind of item; all of them if none
    /// are named. What nobody reads costs as much to write as the item itself.
    pub recorded: Option<BTreeSet<(String, String)>>,
    /// The base URL of the API, without a slash at the end.
    pub base_url: String,
    /// The domain below which every store has a shop.
    pub shop_domain: String,
    /// Origins that may call merchant routes from a browser.
    pub admin_origins: Vec<String>,
    /// E-mail addresses whose accounts are platform operators.
    pub operators: Vec<String>,
    /// The client for requests to other hosts.
    pub egress: Egress,
    /// The clock.
    pub clock: Clock,
    /// Whether published apps may run on loopback.
    pub loopback_apps: bool,
    /// Whether the client's address is taken from `X-Forwarded-For`.
    pub trust_proxy: bool,
    /// The delivery of mails.
    pub mail: MailConfig,
    /// The sender of mails.
    pub mail_from: String,
    /// The mail server, if mails go to no directory: `smtp://` or `smtps://`.
    pub mail_server: Option<String>,
    /// The base URLs of the payment providers.
    pub payment_base_urls: PaymentBaseUrls,
    /// The visibility timeout of received messages.
    pub visibility: Duration,
    /// Whether failover drills and load tests may run.
    pub drills_allowed: bool,
    /// Faults that are drawn at random between the functions and their table.
    pub faults: Option<Plan>,
    /// Faults that a test plans, instead of drawn ones.
    pub planned: Option<Faults>,
    /// The services that run elsewhere, and are not emulated.
    pub elsewhere: Elsewhere,
    /// The engine that every call of the table goes to as well.
    pub shadow: Option<Shadow>,
}

impl Options {
    pub(crate) fn place(&self) -> Place<'_> {
        match (&self.data, &self.copied_from) {
            (Some(directory), _) => Place::Directory(directory),
            (None, Some(directory)) => Place::CopyOf(directory),
            (None, None) => Place::Memory,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data: None,
            copied_from: None,
            ports: Ports::default(),
            recorded: None,
            base_url: "http://127.0.0.1:3000".to_owned(),
            shop_domain: "localhost".to_owned(),
            admin_origins: Vec::new(),
            operators: Vec::new(),
            egress: Egress::new(Policy::development()),
            clock: Clock::default(),
            loopback_apps: false,
            trust_proxy: false,
            mail: MailConfig::default(),
            mail_from: String::new(),
            mail_server: None,
            payment_base_urls: PaymentBaseUrls::default(),
            visibility: VISIBILITY,
            drills_allowed: true,
            faults: None,
            planned: None,
            elsewhere: Elsewhere::default(),
            shadow: None,
        }
    }
}
