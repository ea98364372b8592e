//! The functions' code, called as Lambda calls it, by processes that a test holds in its hand.

use aws_lambda_events::event::sqs::{SqsEvent, SqsMessage};
use core_types::event::EventGroup;
use core_types::id::{ExportId, ImportId, RedactionId, StoreId};
use delivery::delivery::{Delivery, Speed};
use delivery::run::RunMessage;
use dispatcher::SweepReport;
use emulators::faults::Faults;
use gateway::app::App;
use primitives::problem::Problem;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::table::{key_of, read};
use crate::{Gateway, Instance};

/// A process over the same table, with a memory of its own.
#[derive(Clone)]
pub struct Process(App);

impl Gateway {
    /// A process with all settings and permissions.
    pub fn process(&self) -> Process {
        Process(self.app().clone())
    }

    /// A process all of whose messages are lost.
    pub fn process_without_queues(&self) -> Process {
        Process(self.system().embedded().app_without_queues())
    }

    /// A process with these faults between it and the table.
    pub fn process_over(&self, faults: &Faults) -> Process {
        Process(self.system().embedded().app_over(faults))
    }

    /// A process of the function of this name in the template, with its settings and permissions.
    pub fn function(&self, name: &str) -> Process {
        let functions = self.system().functions();
        Process(functions.named(name).expect("the template has it").app().clone())
    }
}

impl Process {
    pub(crate) fn of(app: App) -> Self {
        Self(app)
    }

    pub(crate) fn app(&self) -> &App {
        &self.0
    }

    /// Serves the API, until the instance is dropped.
    pub async fn serve(&self) -> Instance {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let router = local::routes().into_router(self.0.clone());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, router).await.expect("it serves") });
        Instance::new(url, tasks)
    }

    /// Does what the schedule has done once a minute.
    pub async fn sweep(&self) -> SweepReport {
        dispatcher::sweep(&self.0).await
    }

    /// Publishes the events of one transaction, as they were when the stream showed them.
    pub async fn publish(&self, group: &EventGroup) {
        dispatcher::publish(&self.0, group).await.expect("they are published");
    }

    /// Attempts a delivery, an item of the table, as its message has it done.
    pub async fn attempt(&self, delivery: &Value) {
        let message = read::<Delivery>(delivery).message();
        webhooks::attempt(&self.0, &message).await.expect("it is attempted");
    }

    /// Attempts the deliveries of a batch of messages; how many messages are to come again.
    pub async fn attempt_batch(&self, deliveries: &[&Value]) -> usize {
        let message = |(number, delivery): (usize, &&Value)| {
            let mut message = SqsMessage::default();
            message.message_id = Some(number.to_string());
            message.body = Some(delivery_message(delivery));
            message
        };
        let mut batch = SqsEvent::default();
        batch.records = deliveries.iter().enumerate().map(message).collect();
        webhooks::handle(&self.0, batch).await.batch_item_failures.len()
    }

    /// Attempts a delivery to a slow receiver.
    pub async fn attempt_slowly(&self, delivery: &Value) {
        let message = read::<Delivery>(delivery).message();
        let attempted = webhooks::attempt_at(&self.0, &message, Speed::Slow).await;
        attempted.expect("it is attempted");
    }

    /// Takes the next step of long work, of a kind (`replay`, `export` …) and an id.
    ///
    /// # Errors
    /// The step is to be taken again.
    pub async fn take_step(&self, kind: &str, id: &str) -> Result<(), Problem> {
        let message = json!({"kind": kind, "id": id});
        let message: RunMessage = serde_json::from_value(message).expect("a message");
        runner::take(&self.0, message).await
    }

    /// Takes the next step of the long work that this item is.
    ///
    /// # Errors
    /// The step is to be taken again.
    pub async fn take_step_of(&self, work: &Value) -> Result<(), Problem> {
        let message = RunMessage::of(&key_of(work)).expect("long work");
        runner::take(&self.0, message).await
    }

    /// A step of an import, without the message for the one after it.
    ///
    /// # Errors
    /// Somebody else was faster, or the table was.
    pub async fn step_import(&self, id: &str) -> Result<(), Problem> {
        let id = ImportId::parse(id).expect("an import's id");
        transfers::import::step(&self.0, &id).await.map(drop)
    }

    /// A step of an export, without the message for the one after it.
    ///
    /// # Errors
    /// Somebody else was faster, or the table was.
    pub async fn step_export(&self, id: &str) -> Result<(), Problem> {
        let id = ExportId::parse(id).expect("an export's id");
        transfers::export::step(&self.0, &id).await.map(drop)
    }

    /// A step of the merge of two customers that this item is, without the message for the one after it.
    ///
    /// # Errors
    /// Somebody else was faster, or the table was.
    pub async fn step_merge(&self, merge: &Value) -> Result<(), Problem> {
        privacy::merge::step(&self.0, &key_of(merge)).await.map(drop)
    }

    /// A step of a redaction, without the message for the one after it.
    ///
    /// # Errors
    /// Somebody else was faster, or the table was.
    pub async fn step_redaction(&self, id: &str) -> Result<(), Problem> {
        let id = RedactionId::parse(id).expect("a redaction's id");
        let files = transfers::people::forget;
        privacy::redaction::step(&self.0, &id, files).await.map(drop)
    }

    /// Deletes the files with data of people that a store has imported or exported.
    ///
    /// # Errors
    /// Somebody else was faster, or the table was.
    pub async fn forget_files(&self, store: &str) -> Result<(), Problem> {
        let store = StoreId::parse(store).expect("a store's id");
        transfers::people::forget(&self.0, &store).await.map(drop)
    }
}

/// The message for the next attempt of a delivery, an item of the table.
pub fn delivery_message(delivery: &Value) -> String {
    serde_json::to_string(&read::<Delivery>(delivery).message()).expect("a message")
}
