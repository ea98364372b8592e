//! One sequence, from its first step to what must be true in the end.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;

use core_types::key;
use emulators::AnyError;
use futures_util::future::join_all;
use identity::merchant::Merchant;
use identity::session::{CreatedVia, Session};
use local::providers::{Event, Verdict, WEBHOOK_SECRET};
use primitives::clock::Timestamp;
use primitives::problem::Code;
use serde_json::{Value, json};

use crate::base::Base;
use crate::client::{Call, Reply, text};
use crate::model::{Model, pick};
use crate::plant::{Plant, Planted};
use crate::step::{Sequence, Step, Trouble};
use crate::world::{Scratch, World};

/// Rounds of due work after which a system is not at rest.
const ROUNDS: u32 = 60;
/// The seconds of a day.
const A_DAY: u32 = 86_400;
/// The longest time to wait for due work: what is due later is waited for by people.
const LONG: Duration = Duration::from_hours(24 * 45);

/// A sequence that is run.
pub(crate) struct Run<'a> {
    pub(crate) base: &'a Base,
    pub(crate) world: World,
    pub(crate) model: RefCell<Model>,
    pub(crate) planted: RefCell<Planted>,
    /// Whether nobody else does anything during this step.
    pub(crate) is_alone: Cell<bool>,
    /// What was wrong.
    pub(crate) wrong: RefCell<Vec<String>>,
    answers: RefCell<BTreeMap<String, u64>>,
    /// When its first step was taken.
    pub(crate) begun: Timestamp,
    token: RefCell<String>,
    seed: u64,
    keys: RefCell<u32>,
}

/// What came of a sequence.
#[derive(Debug, Clone, Default)]
pub struct Ran {
    /// What was wrong.
    pub wrong: Vec<String>,
    /// How often each route gave each status.
    pub answers: BTreeMap<String, u64>,
}

/// Runs a sequence.
///
/// # Errors
/// The system does not start.
pub async fn run(base: &Base, sequence: &Sequence, plant: Option<Plant>) -> Result<Ran, AnyError> {
    let files = Scratch::with(&base.files)?;
    let world = Box::pin(World::copied_from(files.path())).await?;
    // The store was set up in the hours before.
    world.advance(Duration::from_hours(2));
    // What the stream would tell of the setup was told.
    while world.stream(u64::MAX, false, Trouble::None).await > 0 {}
    let run = Run {
        base,
        begun: world.clock.now(),
        world,
        model: RefCell::new(Model::of(base)),
        planted: RefCell::new(Planted::of(plant)),
        is_alone: Cell::default(),
        wrong: RefCell::default(),
        answers: RefCell::default(),
        token: RefCell::new(base.token.clone()),
        seed: sequence.seed,
        keys: RefCell::default(),
    };
    for group in sequence.groups() {
        run.group(&group).await;
    }
    run.settle().await;
    run.check().await;
    let ran = Ran { wrong: run.wrong.take(), answers: run.answers.take() };
    drop(run);
    drop(files);
    Ok(ran)
}

/// A time until something is due.
struct Wait {
    time: Duration,
    /// Whether all that is due waits for orders that people must finish.
    is_for_people: bool,
}

impl Run<'_> {
    /// Takes steps at once.
    async fn group(&self, steps: &[&Step]) {
        self.world.trouble(self.seed, steps);
        self.is_alone.set(steps.len() == 1);
        join_all(steps.iter().map(|step| self.take(step))).await;
        self.world.calm();
        self.collect();
        self.plant().await;
        let seconds = steps.iter().map(|step| step.seconds).max().unwrap_or(1);
        self.world.advance(Duration::from_secs(seconds.into()));
        // A delivery lives for five days: of longer times the schedule does not miss all.
        if seconds > A_DAY {
            self.world.sweep(Trouble::None).await;
        }
    }

    /// Takes what the providers have to tell into the mailbag.
    pub(crate) fn collect(&self) {
        self.model.borrow_mut().mailbag.extend(self.world.providers.take_events());
    }

    /// A key that nobody has used.
    pub(crate) fn key(&self, step: u32) -> String {
        let mut keys = self.keys.borrow_mut();
        *keys = keys.saturating_add(1);
        format!("simulation-{}-step-{step}-{keys}", self.seed)
    }

    /// Something is wrong.
    pub(crate) fn fail(&self, what: impl Into<String>) {
        self.wrong.borrow_mut().push(what.into());
    }

    /// Sends a request until it has an answer, which must not be a server error.
    pub(crate) async fn call(&self, call: Call, trouble: Trouble) -> Reply {
        let (reply, failed) = self.send(&call, trouble).await;
        let answer = format!("{} {} {}", reply.status, call.method, without_ids(&call.path));
        let mut answers = self.answers.borrow_mut();
        let count = answers.entry(answer).or_default();
        *count = count.saturating_add(1);
        drop(answers);
        if reply.status >= 500 {
            let (method, path, status) = (&call.method, &call.path, reply.status);
            self.fail(format!("{method} {path} is {status} after {failed} more: {}", reply.json));
        }
        reply
    }

    /// As [`Self::call`], by the merchant.
    pub(crate) async fn merchant(&self, call: Call, trouble: Trouble) -> Reply {
        let store = self.base.store.clone();
        let call = call.header("x-service-store-id", store);
        let with = |token: String| call.clone().header("authorization", format!("Bearer {token}"));
        let token = self.token.borrow().clone();
        let reply = self.call(with(token), trouble).await;
        if reply.status != 401 {
            return reply;
        }
        let Some(token) = self.sign_in().await else { return reply };
        self.token.replace(token.clone());
        self.call(with(token), trouble).await
    }

    /// Signs the merchant in again, but for the password: its hash alone would take a fifth of all time.
    async fn sign_in(&self) -> Option<String> {
        let (table, now) = (&self.world.embedded.app().table, self.world.clock.now());
        let account: Merchant = table.get(&key::merchant(&self.base.merchant)).await.ok()??;
        let (session, token) =
            Session::begin(&account, CreatedVia::Password, String::new(), None, now);
        table.write().create(&session, Code::VersionConflict).commit().await.ok()?;
        Some(token)
    }

    /// The merchant does something under a key of this step.
    pub(crate) async fn act(&self, step: &Step, path: String, body: Value) -> Reply {
        let call = Call::post(path, body).header("idempotency-key", self.key(step.number));
        self.merchant(call, step.trouble).await
    }

    /// A provider posts an event.
    pub(crate) async fn tell(&self, event: &Event, trouble: Trouble) -> Reply {
        let webhook = event.sign(WEBHOOK_SECRET, self.world.clock.now());
        let (subdomain, provider) = (self.base.subdomain, webhook.provider);
        let path = format!("/v1/storefront/{subdomain}/payments/{provider}/webhook");
        let mut call = Call::new(http::Method::POST, path).from(250);
        call = call.bytes("application/json", webhook.body);
        for (name, value) in webhook.headers {
            call = call.header(name, value);
        }
        self.call(call, trouble).await
    }

    /// Everything that is on its way arrives, and everything that is due is done.
    async fn settle(&self) {
        self.world.calm();
        self.world.receiver.fail(0);
        self.end_at_providers();
        // Whether redactions have looked for open orders since anything has happened.
        let mut has_asked = false;
        for _ in 0..ROUNDS {
            self.collect();
            let events = std::mem::take(&mut self.model.borrow_mut().mailbag);
            for event in events {
                let reply = self.tell(&event, Trouble::None).await;
                if !reply.is_success() {
                    let body = String::from_utf8_lossy(&event.body).into_owned();
                    self.fail(format!(
                        "a provider's event is {}: {}: {body}",
                        reply.status, reply.json
                    ));
                }
                self.world.advance(Duration::from_secs(1));
            }
            while self.world.stream(0, false, Trouble::None).await > 0 {}
            let worked = self.world.queues(false, false, Trouble::None).await;
            self.end_at_providers();
            self.collect();
            if worked > 0 || !self.model.borrow().mailbag.is_empty() {
                has_asked = false;
                continue;
            }
            let Some(wait) = self.wait().await else { return };
            if has_asked && wait.is_for_people {
                return;
            }
            has_asked = wait.is_for_people;
            self.world.advance(wait.time);
            self.world.sweep(Trouble::None).await;
        }
        self.fail(format!("never at rest; still due: {:?}", self.world.due().await));
    }

    /// How long to wait for what is due next, and within a day of it; none if nobody waits for it.
    async fn wait(&self) -> Option<Wait> {
        let now = self.world.clock.now();
        let due = self.world.due().await;
        let first = due.iter().map(|one| one.at).min()?;
        if now.until(first) > LONG {
            return None;
        }
        let mut is_for_people = true;
        for one in &due {
            is_for_people &= self.world.waiting_redaction(one).await.is_some();
        }
        let day = first.plus(Duration::from_secs(A_DAY.into()));
        let last = due.iter().map(|one| one.at).filter(|at| *at < day).max()?;
        let time = now.until(last).saturating_add(Duration::from_secs(1));
        Some(Wait { time, is_for_people })
    }

    /// Refunds, debits and disputes that are under way at the providers end well.
    fn end_at_providers(&self) {
        let providers = &self.world.providers;
        for dispute in std::mem::take(&mut self.model.borrow_mut().disputes) {
            // One that was lost stays lost.
            drop(providers.decide_dispute(&dispute, Verdict::Win));
        }
        for refund in providers.refunds() {
            if refund.get("status") == Some(&json!("pending")) {
                drop(providers.finish_refund(&text(&refund, "/id"), true));
            }
        }
        for payment in providers.payments() {
            if payment.get("status") == Some(&json!("processing")) {
                drop(providers.end_debit(&text(&payment, "/id"), true));
            }
        }
    }

    /// A copy of one of these of the model.
    pub(crate) fn one<T: Clone>(&self, of: impl Fn(&Model) -> &Vec<T>, number: u64) -> Option<T> {
        pick(of(&self.model.borrow()), number)
    }
}

/// A path with `…` for each id, and without its query.
fn without_ids(path: &str) -> String {
    let path = path.split('?').next().unwrap_or_default();
    let part = |part: &str| {
        let is_id = part.len() > 30 && part.contains('_');
        if is_id { "…".to_owned() } else { part.to_owned() }
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}
