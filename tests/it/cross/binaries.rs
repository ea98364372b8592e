//! The functions' binaries, each a process under a Lambda Runtime API with the emulators behind it: what
//! the tests beside these do with the code in their own process holds of what is deployed as well.
//!
//! They are ignored, for they need the binaries, which `cargo test` does not build: `.ci/run` and `just binaries`
//! run them with those that are deployed, whose directory `FUNCTION_BINARIES` names; without that, they are
//! those of `cargo build --bins`.

mod end_to_end;
mod logs;
mod malformed_events;

use runtime_api::{Failure, Function};
use support::{Deployed, Value, json};

use super::methods;
use super::samples::samples;

/// What a message says in the samples that nobody can read.
const POISON: &str = "not a message";

/// What a function is fed with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Requests.
    Family,
    /// Messages of a queue.
    Queue,
    /// The table's stream, messages, and the schedule.
    Dispatcher,
}

impl Kind {
    fn of(binary: &str) -> Self {
        match binary {
            "dispatcher" => Self::Dispatcher,
            "webhooks" | "mail" | "runner" => Self::Queue,
            "shop" => Self::Family,
            family => {
                assert!(local::families().iter().any(|(name, _)| *name == family), "{family}");
                Self::Family
            }
        }
    }

    /// Holds what came of an event that this function is made for: an answer of a request that is no
    /// fault of ours; of a batch exactly the messages that nobody can read.
    fn validate(self, what: &str, event: &Value, outcome: Result<Value, Failure>) {
        let payload = outcome.unwrap_or_else(|cause| panic!("{what}: {cause}"));
        if self == Self::Family {
            let status = payload["statusCode"].as_u64();
            let status = status.unwrap_or_else(|| panic!("{what}: no answer: {payload}"));
            assert!((200..500).contains(&status), "{what}: {payload}");
            return;
        }
        let Some(records) = event["Records"].as_array() else {
            return assert!(payload.is_object(), "{what}: no report of a sweep: {payload}");
        };
        let poison = records.iter().filter(|record| record["body"] == POISON);
        let failures: Vec<_> =
            poison.map(|record| json!({"itemIdentifier": record["messageId"]})).collect();
        assert_eq!(payload["batchItemFailures"], json!(failures), "{what}");
    }
}

/// That nothing in it panicked: a debug build catches a panic, rejects the event and goes on, and a release
/// build ends.
fn never_panicked(name: &str, function: &Function) {
    let log = function.log();
    assert!(!log.contains("panicked at"), "{name}: {log}");
}

#[tokio::test]
#[ignore = "needs the functions' binaries"]
async fn every_binary_handles_every_sample_event() {
    let deployed = Deployed::start().await;
    for (name, binary) in deployed.functions() {
        let (kind, function) = (Kind::of(binary), deployed.function(name).await);
        let samples = samples(binary);
        assert!(!samples.is_empty(), "events/{binary} is empty");
        for (sample, event) in samples {
            let what = format!("{name}: events/{binary}/{sample}.json");
            kind.validate(&what, &event, function.invoke(&event).await);
        }
        never_panicked(name, function);
    }
}

#[tokio::test]
#[ignore = "needs the functions' binaries"]
async fn every_binary_answers_unauthenticated_requests_to_every_route() {
    let deployed = Deployed::start().await;
    for (name, binary) in deployed.functions() {
        let families = local::families();
        let Some((_, routes)) = families.iter().find(|(family, _)| *family == binary) else {
            continue;
        };
        let function = deployed.function(name).await;
        for row in routes.rows() {
            let path = row.path.replace(['{', '}'], "");
            let event = malformed_events::http_api(row.method.as_str(), &path);
            let what = format!("{name}: {} {}", row.method, row.path);
            Kind::Family.validate(&what, &event, function.invoke(&event).await);
        }
        never_panicked(name, function);
    }
}

#[tokio::test]
#[ignore = "needs the functions' binaries"]
async fn malformed_events_do_not_crash_a_binary() {
    let deployed = Deployed::start().await;
    for (name, binary) in deployed.functions() {
        let (kind, function) = (Kind::of(binary), deployed.function(name).await);
        if kind == Kind::Family {
            malformed_events::requests_are_answered(name, binary, function).await;
        }
        malformed_events::others_are_rejected_or_reported(name, kind, function).await;
        // It is the same process, and it is well.
        let (sample, event) = samples(binary).swap_remove(0);
        kind.validate(
            &format!("{name}: {sample}, at the end"),
            &event,
            function.invoke(&event).await,
        );
        never_panicked(name, function);
    }
}

#[tokio::test]
#[ignore = "needs the functions' binaries"]
async fn binaries_answer_unrouted_requests_like_the_local_system() {
    let deployed = Deployed::start().await;
    let client = deployed.client();
    methods::another_method(&client).await;
    methods::an_unknown_path(&client).await;
    methods::head(&client).await;
    methods::a_preflight(&client, deployed.admin_origin()).await;
}
