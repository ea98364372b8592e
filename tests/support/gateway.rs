//! A whole system for one test.

use std::path::PathBuf;
use std::sync::Once;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use core_types::event::{Event, EventGroup};
use emulators::TABLE;
use gateway::app::App;
use local::{Options, System};
use primitives::clock::{DAY, Timestamp};
use serde_json::Value;
use services::config::MailConfig;
use table::item::Attributes;
use tokio::task::JoinSet;

use crate::engine::Database;
use crate::{Browser, Client, Mailbox, Process, Reply, documented, eventually, trouble};

/// The account that is an operator once its address is proven.
pub const OPERATOR_EMAIL: &str = "operator@example.com";

static PROVIDER: Once = Once::new();

pub struct Gateway {
    system: System,
    http: reqwest::Client,
    mails: PathBuf,
    /// The last field: another system uses it afterwards.
    _database: Option<Database>,
}

/// An instance beside a [`Gateway`], until it is dropped.
pub struct Instance {
    pub url: String,
    _tasks: JoinSet<()>,
}

impl Instance {
    pub(crate) fn new(url: String, tasks: JoinSet<()>) -> Self {
        Self { url, _tasks: tasks }
    }
}

impl Gateway {
    /// In memory, on free ports, with its own clock; loopback receivers are allowed.
    pub async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// As [`Gateway::start`], with other options: another way out, a data directory.
    pub async fn start_with(change: impl FnOnce(&mut Options)) -> Self {
        PROVIDER.call_once(|| {
            let _ = rustls::crypto::ring::default_provider().install_default();
            lambda::log::init("error");
        });
        let mails = std::env::temp_dir().join(format!("mails-{}", uuid::Uuid::now_v7()));
        std::fs::create_dir_all(&mails).expect("a directory for mails");
        let mut options = Options {
            embedded: emulators::Options {
                operators: vec![OPERATOR_EMAIL.to_owned()],
                // Each client of a test says where it comes from.
                trust_proxy: true,
                mail: MailConfig { directory: Some(mails.clone()), ..MailConfig::default() },
                mail_from: "Commerce <no-reply@example.com>".to_owned(),
                faults: trouble::plan(),
                ..emulators::Options::default()
            },
            record_use: documented::notes("used").filter(|_| trouble::plan().is_none()),
            ..Options::default()
        };
        change(&mut options);
        let database = Box::pin(Database::open(options.embedded.data.as_deref())).await;
        if let Some(database) = &database {
            database.serve(&mut options.embedded);
        }
        let system = Box::pin(System::start(options)).await.expect("the system starts");
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(Duration::from_mins(2))
            .build()
            .expect("a client");
        trouble::meet(system.url(), system.embedded().faults());
        Self { system, http, mails, _database: database }
    }

    /// Somebody on a network of their own, without a credential.
    pub fn client(&self) -> Client {
        Client::new(self.http.clone(), self.url())
    }

    pub fn url(&self) -> &str {
        self.system.url()
    }

    /// A browser at the shop of this name.
    pub fn browser(&self, host: &str) -> Browser {
        let port = self.system.shop_port().expect("the shops have a port");
        Browser::new(self.http.clone(), port, host)
    }

    pub fn system(&self) -> &System {
        &self.system
    }

    /// The service with everything, as no function has it.
    pub fn app(&self) -> &App {
        self.system.app()
    }

    pub fn now(&self) -> Timestamp {
        self.app().clock.now()
    }

    /// The same system as another instance serves it: over the same table, with a memory of its own.
    pub async fn alongside(&self) -> Instance {
        let instance = Process::of(self.system.embedded().app_alongside()).serve().await;
        trouble::meet(&instance.url, self.system.embedded().faults());
        instance
    }

    /// Moves the clock; what becomes due by that waits for [`Gateway::sweep`].
    pub fn advance(&self, by: Duration) {
        self.system.advance(by);
    }

    /// Stops the clock where its day (UTC) lasts for more than this: of what is counted by the day, a
    /// test that moves the clock by less sees one day.
    pub fn stop_within_a_day(&self, more_than: Duration) {
        self.app().clock.stop();
        let day = i64::try_from(DAY.as_millis()).expect("a day is short");
        let left = day - self.now().millis().rem_euclid(day);
        let left = Duration::from_millis(left.unsigned_abs());
        if left <= more_than {
            self.advance(left);
        }
    }

    /// Does what the schedule does once a minute.
    pub async fn sweep(&self) -> dispatcher::SweepReport {
        self.settle().await;
        self.system.sweep().await
    }

    /// Looks how the platform is doing, as the schedule does once a minute.
    pub async fn look(&self) -> dispatcher::Watched {
        self.system.look().await.expect("there is a dispatcher")
    }

    /// Waits until no index is behind what was written so far, which only in a troubled run any is; after a
    /// test has written by itself, for its clients do so after each write of theirs.
    pub async fn settle(&self) {
        trouble::settle(self.url()).await;
    }

    /// Waits until every event is handed out, and no mail is on its way.
    pub async fn quiet(&self) {
        let is_on_its_way = |item: &Value| {
            let due = item["GSI3PK"].as_str().unwrap_or_default();
            due.starts_with("DUE#EVT") || due.starts_with("DUE#MAI")
        };
        let nothing = || async { (!self.items("").await.iter().any(is_on_its_way)).then_some(()) };
        eventually(Duration::from_mins(1), nothing).await;
    }

    pub fn mailbox(&self, address: &str) -> Mailbox {
        Mailbox::new(self.mails.clone(), address)
    }

    /// `GET`, as a stranger.
    pub async fn get(&self, path: &str) -> Reply {
        self.client().get(path).await
    }

    /// Every item whose partition key begins with `prefix`, as plain JSON: what is in the table,
    /// whatever the API says.
    pub async fn items(&self, prefix: &str) -> Vec<Value> {
        self.scan(prefix).await.into_iter().map(plain).collect()
    }

    /// Every item that the table has not yet to forget, and the bytes of files in it: all that can be read.
    pub async fn everything(&self) -> Vec<(Value, String)> {
        let read = |item: Attributes| {
            let bytes = item.values().filter_map(|value| value.as_b().ok());
            let files =
                bytes.map(|bytes| String::from_utf8_lossy(bytes.as_ref()).into_owned()).collect();
            (plain(item), files)
        };
        let now = self.now().millis() / 1_000;
        let is_kept = |(item, _): &(Value, String)| item["ttl"].as_i64().is_none_or(|at| now < at);
        self.scan("").await.into_iter().map(read).filter(is_kept).collect()
    }

    async fn scan(&self, prefix: &str) -> Vec<Attributes> {
        let client = self.system.embedded().dynamodb();
        let mut items = Vec::new();
        let mut start = None;
        loop {
            let page = client
                .scan()
                .table_name(TABLE)
                .filter_expression("begins_with(PK, :prefix)")
                .expression_attribute_values(":prefix", AttributeValue::S(prefix.to_owned()))
                .consistent_read(true)
                .set_exclusive_start_key(start)
                .send()
                .await
                .expect("the table answers");
            items.extend(page.items.unwrap_or_default());
            start = page.last_evaluated_key.filter(|key| !key.is_empty());
            if start.is_none() {
                return items;
            }
        }
    }

    /// Every item whose partition key begins with `prefix`, with what it takes in the table.
    pub async fn stored(&self, prefix: &str) -> Vec<Stored> {
        let items = self.scan(prefix).await.into_iter();
        items.map(|item| Stored { bytes: size(&item), json: plain(item) }).collect()
    }

    /// The items of this kind (the `entity` attribute) whose partition key begins with `prefix`.
    pub async fn items_of(&self, kind: &str, prefix: &str) -> Vec<Value> {
        let mut items = self.items(prefix).await;
        items.retain(|item| item["entity"] == kind);
        items
    }

    /// The events of each transaction, as they are stored.
    pub async fn event_groups(&self) -> Vec<EventGroup> {
        let items = self.items_of("event", "EVT#").await.into_iter();
        items.map(|item| serde_json::from_value(item).expect("events are read")).collect()
    }

    /// Every event, the oldest first.
    pub async fn all_events(&self) -> Vec<Event> {
        let groups = self.event_groups().await.into_iter();
        let mut events: Vec<Event> = groups.flat_map(EventGroup::into_events).collect();
        events.sort_by(|one, other| one.id.cmp(&other.id));
        events
    }

    /// The bodies of the events of this name, as receivers would get them, oldest first.
    pub async fn events(&self, name: &str) -> Vec<Value> {
        let mut events = self.all_events().await;
        events.retain(|event| event.name == name);
        let body = |event: Event| serde_json::from_str(&event.body);
        events.into_iter().map(|event| body(event).expect("an event's body is JSON")).collect()
    }

    /// How many items the table holds that a request writes, and not the limits around it or the
    /// pollers behind it, which write the link of a sign-up: a rejected request must not change it.
    pub async fn count(&self) -> usize {
        let alongside = ["RLB#", "IDM#", "THR#", "MAI#", "DLV#", "PLC#", "MET#", "SHF#"];
        let mut items = self.items("").await;
        items.retain(|item| {
            let key = item["PK"].as_str().unwrap_or_default();
            let is_pollers = item["entity"] == "link" && item["purpose"] == "verify";
            let is_index = key.ends_with("#FCT");
            !is_pollers && !is_index && !alongside.iter().any(|prefix| key.starts_with(prefix))
        });
        items.len()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        trouble::write_down(self.system.embedded().faults());
        let _ = std::fs::remove_dir_all(&self.mails);
    }
}

/// An item, and its size as DynamoDB counts it.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    pub bytes: usize,
    /// Its attributes, unpacked.
    pub json: Value,
}

impl Stored {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.json[name].as_str()
    }

    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        self.get(name).expect("the attribute is a text").to_owned()
    }
}

/// An item as JSON, as it was before it was packed.
fn plain(item: Attributes) -> Value {
    table::item::unpacked(item).expect("an item unpacks").into()
}

/// The bytes of names and values.
fn size(item: &Attributes) -> usize {
    item.iter().map(|(name, value)| name.len() + size_of(value)).sum()
}

fn size_of(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        // Two digits a byte, and one more.
        AttributeValue::N(digits) => digits.len().div_ceil(2) + 1,
        AttributeValue::L(list) => list.iter().map(|one| size_of(one) + 1).sum::<usize>() + 3,
        AttributeValue::M(map) => size(map) + map.len() + 3,
        AttributeValue::Ss(set) => set.iter().map(String::len).sum(),
        _ => 1,
    }
}
