//! `export`: creates an export, waits for it, and downloads its parts into one file (docs/files.md §4).

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use url::Url;

use crate::args::{Export, Format, word};
use crate::client::Client;
use crate::context::Context;
use crate::failure::Failure;
use crate::request::{Request, backoff, http_client};
use crate::{progress, time};

const POLL: Duration = Duration::from_millis(500);
/// How often a part is fetched, each time by a new link.
const TRIES: u32 = 5;

pub async fn run(context: &Context, args: Export) -> Result<(), Failure> {
    let kind = word(args.kind);
    let by_name = args.output.as_deref().and_then(Path::extension).is_some_and(|it| it == "jsonl");
    let by_name = if by_name { Format::Jsonl } else { Format::Csv };
    let format = word(args.format.unwrap_or(by_name));
    let path = args.output.unwrap_or_else(|| PathBuf::from(format!("{kind}.{format}")));
    let mut input = json!({"kind": kind, "format": format});
    for (name, given) in [("since", &args.since), ("until", &args.until)] {
        if let (Some(given), Some(members)) = (given, input.as_object_mut()) {
            let at = time::parse(given, Timestamp::now())?;
            members.insert(name.to_owned(), time::text(at).into());
        }
    }
    let client = context.client().await?;
    let export = client.json(&Request::post("/v1/exports", &input)).await?;
    let id = export.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    tokio::select! {
        ended = finish(context, &client, export, &path) => ended,
        _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted(format!("Interrupted: {id} goes on"))),
    }
}

async fn finish(
    context: &Context,
    client: &Client<'_>,
    export: Value,
    path: &Path,
) -> Result<(), Failure> {
    let mut export = export;
    let again = |export: &Value| {
        let id = export.get("id").and_then(Value::as_str).unwrap_or_default();
        Request::get(format!("/v1/exports/{id}"))
    };
    while matches!(export.get("status").and_then(Value::as_str), Some("queued" | "running")) {
        tokio::time::sleep(POLL).await;
        export = client.patiently(&again(&export)).await?.json()?;
    }
    let status = export.get("status").and_then(Value::as_str).unwrap_or_default().to_owned();
    if status != "succeeded" {
        let reason =
            export.get("status_reason").and_then(Value::as_str).unwrap_or("no reason given");
        return Err(Failure::Partial(format!("The export is {status}: {reason}")));
    }
    let rows = export.get("rows").and_then(Value::as_u64).unwrap_or(0);
    if path == Path::new("-") {
        download(context, client, &again(&export), &mut Target::Output).await?;
        context.output.note(&format!("{rows} rows"));
        return Ok(());
    }
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let fault = |cause: std::io::Error| Failure::file(path, &cause);
    // The file is replaced once all of it is there.
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(fault)?;
    let bytes =
        download(context, client, &again(&export), &mut Target::File(file.as_file_mut())).await?;
    file.persist(path).map_err(|failed| Failure::file(path, &failed.error))?;
    let shown = path.display().to_string();
    let document = json!({"export": without_links(export), "file": shown, "bytes": bytes});
    context.output.result(&format!("{rows} rows in {shown}"), &document);
    Ok(())
}

/// Where the parts go.
enum Target<'f> {
    File(&'f mut File),
    Output,
}

/// Downloads the parts in their order. A part that breaks off is fetched again by a new link.
async fn download(
    context: &Context,
    client: &Client<'_>,
    export: &Request,
    target: &mut Target<'_>,
) -> Result<u64, Failure> {
    let http = http_client(false)?;
    let parts =
        |export: &Value| export.get("parts").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut links = parts(&client.patiently(export).await?.json()?);
    let size = |part: &Value| part.get("bytes").and_then(Value::as_u64).unwrap_or(0);
    let total = links.iter().map(size).sum();
    let bar = progress::bar(context.output, "Downloading", total);
    let mut place = 0;
    while let Some(part) = links.get(place) {
        let mut tries = 1;
        let mut part = part.clone();
        let bytes = loop {
            match fetch(client, &http, &part).await {
                Ok(bytes) => break bytes,
                Err(failure) if tries >= TRIES => return Err(failure),
                Err(failure) => context.output.note(&failure.text()),
            }
            tokio::time::sleep(backoff(tries)).await;
            tries = tries.saturating_add(1);
            links = parts(&client.patiently(export).await?.json()?);
            part = links.get(place).cloned().unwrap_or_default();
        };
        match target {
            Target::File(file) => {
                file.seek(SeekFrom::End(0))?;
                file.write_all(&bytes)?;
            }
            Target::Output => std::io::stdout().lock().write_all(&bytes)?,
        }
        bar.inc(size(&part));
        place = place.saturating_add(1);
    }
    bar.finish_and_clear();
    Ok(total)
}

/// Fetches a part by its link, which is its own credential: the session is not sent.
async fn fetch(
    client: &Client<'_>,
    http: &reqwest::Client,
    part: &Value,
) -> Result<Vec<u8>, Failure> {
    let broken = |cause: reqwest::Error| {
        let cause = crate::request::root_cause(&cause.without_url());
        Failure::Unreachable(format!("A part could not be fetched ({cause})"))
    };
    let link = part.get("url").and_then(Value::as_str).unwrap_or_default();
    let link: Url = client
        .api
        .join(link)
        .map_err(|_| Failure::Unreachable("The export has a part without a link".into()))?;
    let answer = http.get(link).send().await.and_then(reqwest::Response::error_for_status);
    let bytes = answer.map_err(broken)?.bytes().await.map_err(broken)?;
    let expected = part.get("bytes").and_then(Value::as_u64);
    if expected.is_some_and(|expected| usize::try_from(expected) != Ok(bytes.len())) {
        return Err(Failure::Unreachable("A part came incomplete".into()));
    }
    Ok(bytes.to_vec())
}

/// The export without its links, which are credentials.
fn without_links(mut export: Value) -> Value {
    let parts = export.get_mut("parts").and_then(Value::as_array_mut);
    for part in parts.into_iter().flatten() {
        part.as_object_mut().map(|members| members.remove("url"));
    }
    export
}
