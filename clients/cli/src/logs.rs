//! `logs`: what has happened, a line each.

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::args::{LogSource, Logs};
use crate::client::Client;
use crate::context::Context;
use crate::failure::Failure;
use crate::feed::{Feed, INTERVAL, admits, created_at};
use crate::output::{Output, Tone, plain};
use crate::request::Request;
use crate::time;

/// Deliveries change for minutes after they were created; changes of older ones are not followed.
const OVERLAP: SignedDuration = SignedDuration::from_mins(10);

pub async fn run(context: &Context, args: Logs) -> Result<(), Failure> {
    let client = context.client().await?;
    let request = request(&args)?;
    let since =
        args.since.as_deref().map(|text| time::parse(text, Timestamp::now())).transpose()?;
    // Begun before the past is read, so that nothing happens between the two.
    let mut feed = if args.follow { Some(feed(&client, &request, &args).await?) } else { None };
    for item in past(&client, &request, &args, since).await? {
        print(context.output, args.source, &item);
        if let Some(feed) = &mut feed {
            feed.done(&item);
        }
    }
    let Some(feed) = feed else { return Ok(()) };
    tokio::select! {
        ended = follow(context, &client, feed, &args) => ended,
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}

/// The list of a source, with the filters that the API has.
fn request(args: &Logs) -> Result<Request, Failure> {
    let of = |what: &str| args.id.clone().ok_or_else(|| Failure::Usage(format!("Name {what}")));
    if let (LogSource::Events | LogSource::Deliveries, Some(id)) = (args.source, &args.id) {
        return Err(Failure::Usage(format!("{id}: name an object by --entity")));
    }
    let mut request = match args.source {
        LogSource::Events => Request::get("/v1/operations/audit-log"),
        LogSource::Deliveries => Request::get("/v1/operations/webhook-deliveries"),
        LogSource::Attempts => {
            let id = of("a delivery (dlv_…)")?;
            Request::get(format!("/v1/operations/webhook-deliveries/{}/attempts", segment(&id)))
        }
        LogSource::App => {
            let id = of("an installation (ins_…)")?;
            Request::get(format!("/v1/app-store/installations/{}/access-log", segment(&id)))
        }
    };
    let own = |name: &str, source: LogSource, value: &Option<String>| match value {
        Some(_) if args.source != source => {
            Err(Failure::Usage(format!("{name} is for another log")))
        }
        value => Ok(value.clone()),
    };
    if let Some(entity) = own("--entity", LogSource::Events, &args.entity)? {
        request = request.query("entity_id", entity);
    }
    if let Some(status) = own("--status", LogSource::Deliveries, &args.status)? {
        request = request.query("status", status);
    }
    Ok(request)
}

/// A part of a path.
fn segment(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// What has happened, the oldest first.
async fn past(
    client: &Client<'_>,
    request: &Request,
    args: &Logs,
    since: Option<Timestamp>,
) -> Result<Vec<Value>, Failure> {
    let mut found = Vec::new();
    let mut cursor: Option<String> = None;
    let has_range = matches!(args.source, LogSource::Events | LogSource::Deliveries);
    while found.len() < args.limit {
        let mut page = request.clone().query("limit", "100");
        if let Some(since) = since.filter(|_| has_range) {
            page = page.query("since", time::text(since));
        }
        page.query.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor)));
        let page = client.json(&page).await?;
        let items = page.get("data").and_then(Value::as_array).cloned().unwrap_or_default();
        let since = since.map(time::text);
        let is_wanted = |item: &Value| {
            admits(&args.filter, kind(item))
                && since.as_deref().is_none_or(|at| created_at(item) >= at)
        };
        found.extend(items.into_iter().filter(is_wanted));
        match crate::client::next_cursor(&page) {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    found.truncate(args.limit);
    // Attempts come in their order already.
    if args.source != LogSource::Attempts {
        found.reverse();
    }
    Ok(found)
}

/// What happens from now on.
async fn feed(client: &Client<'_>, request: &Request, args: &Logs) -> Result<Feed, Failure> {
    let feed = Feed::new(request.clone(), OVERLAP);
    match args.source {
        LogSource::Events => feed.skipping_the_past(client).await,
        LogSource::Deliveries => feed.with_changes().skipping_the_past(client).await,
        _ => Err(Failure::Usage("--follow is for events and deliveries".into())),
    }
}

async fn follow(
    context: &Context,
    client: &Client<'_>,
    mut feed: Feed,
    args: &Logs,
) -> Result<(), Failure> {
    loop {
        match feed.poll(client).await {
            Ok(items) => {
                for item in items {
                    if admits(&args.filter, kind(&item)) {
                        print(context.output, args.source, &item);
                    }
                    feed.done(&item);
                }
            }
            Err(Failure::Unreachable(text)) => context.output.note(&text),
            Err(failure) => return Err(failure),
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// The type of an item's event.
fn kind(item: &Value) -> &str {
    let names = ["action", "event_type", "type"];
    names.into_iter().find_map(|name| item.get(name)?.as_str()).unwrap_or_default()
}

fn print(output: Output, source: LogSource, item: &Value) {
    output.line(&line(output, source, item), item);
}

fn line(output: Output, source: LogSource, item: &Value) -> String {
    let at = output.toned(Tone::Faint, created_at(item));
    let text = |pointer: &str| match item.pointer(pointer) {
        Some(Value::String(text)) => plain(text),
        None | Some(Value::Null) => "-".to_owned(),
        Some(other) => other.to_string(),
    };
    match source {
        LogSource::Events => format!(
            "{at}  {:<26} {}  by {}  [{}]  {}",
            text("/action"),
            text("/entity/id"),
            text("/actor"),
            text("/id"),
            text("/request_id")
        ),
        LogSource::Deliveries => {
            let status = text("/status");
            let tone = match status.as_str() {
                "succeeded" => Tone::Good,
                "pending" | "delivering" => Tone::Faint,
                _ => Tone::Bad,
            };
            let error = item.get("last_error").and_then(Value::as_str).map(|it| format!("  {it}"));
            format!(
                "{at}  {:<26} {}  {} attempts, HTTP {}, {} ms{}  [{}]  {}",
                text("/event_type"),
                output.toned(tone, &status),
                text("/attempts"),
                text("/last_status_code"),
                text("/last_duration_ms"),
                error.unwrap_or_default(),
                text("/id"),
                text("/event_id")
            )
        }
        LogSource::Attempts => format!(
            "{at}  {}  HTTP {}  {} ms  {}  {}",
            text("/number"),
            text("/status_code"),
            text("/duration_ms"),
            text("/error"),
            text("/url")
        ),
        LogSource::App => {
            format!("{at}  {:<26} [{}]  {}", text("/type"), text("/id"), text("/request_id"))
        }
    }
}
