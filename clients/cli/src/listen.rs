//! `listen`: a store's events without a public address, read from its outbox and forwarded in their order.

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::args::Listen;
use crate::client::Client;
use crate::context::Context;
use crate::failure::Failure;
use crate::feed::{Feed, INTERVAL, Position, admits, created_at};
use crate::forward::{Event, Outcome, Receiver, new_secret};
use crate::output::{Output, Tone, plain};
use crate::profile::write_private;
use crate::request::Request;
use crate::secret::Secret;
use crate::time;

/// An event is written under the time at which its request began, and listed once that has ended.
const OVERLAP: SignedDuration = SignedDuration::from_secs(60);
/// The events of a store.
const EVENTS: &str = "/v1/operations/outbox";

pub async fn run(context: &Context, args: Listen) -> Result<(), Failure> {
    let secret = secret(context)?;
    if args.print_secret {
        show(context.output, &secret);
        return Ok(());
    }
    let client = context.client().await?;
    let receiver = match &args.forward_to {
        Some(to) => Some(Receiver::new(to, &secret, &args.headers, args.skip_verify)?),
        None => None,
    };
    let store = store_id(&client).await?;
    let state = state_name(context, &store);
    let feed = feed(context, &client, &args, &state).await?;
    announce(context, &args, receiver.as_ref(), &secret)?;
    let mut listening = Listening { context, client, receiver, store, state, feed, args };
    tokio::select! {
        ended = listening.run() => ended,
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}

/// The signing secret of the profile, which is made at first: a receiver is configured once.
fn secret(context: &Context) -> Result<Secret, Failure> {
    if let Some(secret) = context.profile()?.signing_secret {
        return Ok(secret);
    }
    let secret = new_secret()?;
    context.change_profile(|profile| profile.signing_secret = Some(secret.clone()))?;
    Ok(secret)
}

/// Prints the signing secret, which receivers of this machine need: of all secrets it alone is shown.
fn show(output: Output, secret: &Secret) {
    output.reveal(secret, &json!({"signing_secret": secret.reveal()}));
}

/// The store whose events are read: the chosen one, or the merchant's only one.
async fn store_id(client: &Client<'_>) -> Result<String, Failure> {
    if let Some(store) = client.store() {
        return Ok(store.to_owned());
    }
    let session = client.json(&Request::get("/v1/auth/custom/session")).await?;
    let only = session.pointer("/stores/0/id").and_then(Value::as_str).map(str::to_owned);
    match session.pointer("/stores/1") {
        None => only.ok_or_else(|| Failure::Usage("There is no store to listen to".into())),
        Some(_) => Err(Failure::Usage("Choose a store: commerce stores use, or --store".into())),
    }
}

/// The document with the position, of a profile at a store.
fn state_name(context: &Context, store: &str) -> String {
    let profile: String =
        context.profile_name().chars().filter(char::is_ascii_alphanumeric).collect();
    let store: String = store.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    format!("listen-{profile}-{store}.json")
}

async fn feed(
    context: &Context,
    client: &Client<'_>,
    args: &Listen,
    state: &str,
) -> Result<Feed, Failure> {
    let feed = Feed::new(Request::get(EVENTS), OVERLAP);
    match args.since.as_deref() {
        Some("last") => {
            let position: Position = context.directory.read(state)?;
            if position == Position::default() {
                feed.skipping_the_past(client).await
            } else {
                Ok(feed.at(position))
            }
        }
        Some(text) => Ok(feed.since(time::parse(text, Timestamp::now())?)),
        None => feed.skipping_the_past(client).await,
    }
}

/// Says that events are received from now on, and what they are signed with.
fn announce(
    context: &Context,
    args: &Listen,
    receiver: Option<&Receiver>,
    secret: &Secret,
) -> Result<(), Failure> {
    let output = &context.output;
    let Some(receiver) = receiver else {
        output.note("Ready (Ctrl-C ends it)");
        return Ok(());
    };
    match &args.secret_file {
        Some(path) => {
            write_private(path, secret.reveal().as_bytes())?;
            let path = path.display();
            output.note(&format!("Ready. The signing secret is in {path} (Ctrl-C ends it)"));
        }
        None => output.note_with("Ready. The signing secret is ", secret, " (Ctrl-C ends it)"),
    }
    output.note(&format!("Forwarding to {}", receiver.url));
    Ok(())
}

struct Listening<'c> {
    context: &'c Context,
    client: Client<'c>,
    receiver: Option<Receiver>,
    store: String,
    state: String,
    feed: Feed,
    args: Listen,
}

/// An event with its payload, which is forwarded as it came.
#[derive(Deserialize)]
struct WithPayload<'a> {
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

impl Listening<'_> {
    /// Receives events until it is ended.
    async fn run(&mut self) -> Result<(), Failure> {
        self.save()?;
        let mut is_lost = false;
        loop {
            match self.feed.poll(&self.client).await {
                Ok(events) => {
                    if std::mem::take(&mut is_lost) {
                        self.context.output.note("Connected again");
                    }
                    for event in events {
                        self.receive(&event).await?;
                    }
                }
                // What happens meanwhile is received afterwards.
                Err(failure) if is_temporary(&failure) => {
                    is_lost = true;
                    self.context.output.note(&format!("Connection lost: {}", failure.text()));
                }
                Err(failure) => return Err(failure),
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Prints an event, forwards it, and remembers that. An event that the receiver does not accept is given up.
    /// Whoever kills this in between gets the event again, as of any delivery.
    async fn receive(&mut self, event: &Value) -> Result<(), Failure> {
        let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_wanted = admits(&self.args.filter, text("type")) && text("status") != "discarded";
        let outcome = if is_wanted { self.forward(event).await? } else { None };
        self.feed.done(event);
        self.save()?;
        // Who reads that it was received may rely on it.
        if let (Some(receiver), Some(outcome)) = (&self.receiver, outcome) {
            self.print_outcome(event, receiver, &outcome);
        }
        Ok(())
    }

    /// Loads the payload of an event, prints the event, and forwards it if there is a receiver and a payload.
    async fn forward(&self, event: &Value) -> Result<Option<Outcome>, Failure> {
        let id = event.get("id").and_then(Value::as_str).unwrap_or_default();
        let whole = match self.client.patiently(&Request::get(format!("{EVENTS}/{id}"))).await {
            Ok(reply) => reply.text(),
            // It expired meanwhile.
            Err(Failure::Rejected(problem)) if problem.status == 404 => String::new(),
            Err(failure) => return Err(failure),
        };
        let payload = serde_json::from_str::<WithPayload<'_>>(&whole).ok();
        let payload = payload.and_then(|whole| whole.payload).map(RawValue::get);
        self.print_event(event, payload);
        let (Some(receiver), Some(body)) = (&self.receiver, payload) else { return Ok(None) };
        receiver.forward(Event { summary: event, body, store: &self.store }).await.map(Some)
    }

    fn print_event(&self, event: &Value, payload: Option<&str>) {
        let output = &self.context.output;
        if output.json {
            if self.receiver.is_none() {
                output.item(payload.unwrap_or(&event.to_string()));
            }
            return;
        }
        let text = |name: &str| plain(event.get(name).and_then(Value::as_str).unwrap_or("-"));
        let at = output.toned(Tone::Faint, created_at(event));
        let entity = event.pointer("/entity/id").and_then(Value::as_str).unwrap_or_default();
        let note =
            if payload.is_none() { "  (its payload may not be read, or was removed)" } else { "" };
        let line = format!("{at}  --> {}  {}  [{}]{note}", text("type"), plain(entity), text("id"));
        output.line(&line, &Value::Null);
    }

    fn print_outcome(&self, event: &Value, receiver: &Receiver, outcome: &Outcome) {
        let output = &self.context.output;
        let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or("-");
        let tone = if outcome.is_accepted() { Tone::Good } else { Tone::Bad };
        let answer = match (outcome.status, &outcome.error) {
            (Some(status), _) => status.to_string(),
            (None, error) => error.clone().unwrap_or_default(),
        };
        let tries =
            if outcome.tries > 1 { format!(", {} tries", outcome.tries) } else { String::new() };
        let line = format!(
            "{}  <-- [{}] POST {} {} ms{tries}  [{}]",
            output.toned(Tone::Faint, created_at(event)),
            output.toned(tone, &answer),
            receiver.url,
            outcome.millis,
            text("id")
        );
        let document = json!({
            "event_id": text("id"), "type": text("type"), "created_at": created_at(event),
            "url": receiver.url.as_str(), "status": outcome.status, "error": outcome.error,
            "duration_ms": u64::try_from(outcome.millis).unwrap_or(u64::MAX), "attempts": outcome.tries,
            "accepted": outcome.is_accepted(),
        });
        output.line(&line, &document);
    }

    fn save(&self) -> Result<(), Failure> {
        self.context.directory.write(&self.state, self.feed.position())
    }
}

/// Whether the API may answer a later poll.
fn is_temporary(failure: &Failure) -> bool {
    match failure {
        Failure::Unreachable(_) => true,
        Failure::Rejected(problem) => problem.status >= 500 || problem.status == 429,
        _ => false,
    }
}
