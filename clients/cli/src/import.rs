//! `import`: uploads a file in parts, starts the import, and follows it. The server does the work: an interruption
//! loses nothing, and parts that are there are not sent again (docs/files.md §1).

use std::path::Path;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::args::{Format, Import, word};
use crate::client::Client;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::plain;
use crate::progress;
use crate::request::Request;

/// The largest part.
const PART: usize = 4 << 20;
/// The largest file.
const LARGEST: u64 = 50_000_000;
const POLL: Duration = Duration::from_millis(500);
/// Findings that are printed for people; `--json` has all of them.
const FINDINGS: usize = 100;

/// The file, cut into parts.
struct File {
    bytes: Vec<u8>,
    format: Format,
}

impl File {
    fn read(path: &Path, format: Option<Format>) -> Result<Self, Failure> {
        let fault = |cause| Failure::file(path, &cause);
        let size = std::fs::metadata(path).map_err(fault)?.len();
        if size == 0 || size > LARGEST {
            let text = format!("{}: a file has 1 byte to 50 MB", path.display());
            return Err(Failure::Usage(text));
        }
        let is_lines = path.extension().is_some_and(|it| it == "jsonl" || it == "ndjson");
        let by_name = if is_lines { Format::Jsonl } else { Format::Csv };
        Ok(Self { bytes: std::fs::read(path).map_err(fault)?, format: format.unwrap_or(by_name) })
    }

    /// The parts: number, bytes.
    fn parts(&self) -> impl Iterator<Item = (u64, &[u8])> {
        (1..).zip(self.bytes.chunks(PART))
    }

    /// Whether all that an import has of a file is of this one.
    fn begins(&self, import: &Value) -> bool {
        let there = import.get("parts").and_then(Value::as_array);
        let mut there = there.into_iter().flatten().peekable();
        there.peek().is_some() && there.all(|part| self.parts().any(|own| is_same(part, own)))
    }

    /// Whether an import has the whole file.
    fn is_whole_in(&self, import: &Value) -> bool {
        let there = import.get("parts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        there.len() == self.parts().count() && self.begins(import)
    }

    fn media_type(&self) -> &'static str {
        match self.format {
            Format::Csv => "text/csv",
            Format::Jsonl => "application/jsonl",
        }
    }
}

/// Whether a part that is there is this one.
fn is_same(part: &Value, (number, bytes): (u64, &[u8])) -> bool {
    part.get("number").and_then(Value::as_u64) == Some(number)
        && part.get("sha256").and_then(Value::as_str) == Some(&digest(bytes))
}

/// SHA-256 in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

pub async fn run(context: &Context, args: Import) -> Result<(), Failure> {
    let client = context.client().await?;
    let file = args.file.as_deref().map(|path| File::read(path, args.format)).transpose()?;
    let import = match &args.resume {
        Some(id) => client.json(&Request::get(path_of(id, ""))).await?,
        None => begin(context, &client, &args, file.as_ref()).await?,
    };
    let id = text(&import, "id").to_owned();
    tokio::select! {
        ended = finish(context, &client, &args, file.as_ref(), import) => ended,
        _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted(format!(
            "Interrupted: what was started goes on. Follow it, or go on with the upload: commerce import \
             --resume {id}{}",
            args.file.as_ref().map(|file| format!(" {}", file.display())).unwrap_or_default()
        ))),
    }
}

/// The import of this file that was interrupted, or a new one.
async fn begin(
    context: &Context,
    client: &Client<'_>,
    args: &Import,
    file: Option<&File>,
) -> Result<Value, Failure> {
    let (Some(kind), Some(file)) = (args.kind.map(word), file) else {
        return Err(Failure::Usage("Name the file and its --kind".into()));
    };
    let on_existing = word(args.on_existing);
    for status in ["uploading", "running"] {
        let list = Request::get("/v1/imports").query("kind", &kind).query("status", status);
        for import in client.list(&list.query("limit", "100")).await? {
            let is_alike = text(&import, "format") == word(file.format)
                && text(&import, "on_existing") == on_existing
                && import.get("dry_run").and_then(Value::as_bool) == Some(args.dry_run);
            let is_this =
                if status == "running" { file.is_whole_in(&import) } else { file.begins(&import) };
            if is_alike && is_this {
                context.output.note(&format!("Going on with {}", text(&import, "id")));
                return Ok(import);
            }
        }
    }
    let input = json!({
        "kind": kind, "format": word(file.format), "dry_run": args.dry_run, "on_existing": on_existing,
    });
    let input = if kind == "inventory" { without(input, "on_existing") } else { input };
    client.json(&Request::post("/v1/imports", &input)).await
}

fn without(mut input: Value, member: &str) -> Value {
    input.as_object_mut().map(|members| members.remove(member));
    input
}

/// Uploads what is missing, starts the import unless it was, and follows it to its end.
async fn finish(
    context: &Context,
    client: &Client<'_>,
    args: &Import,
    file: Option<&File>,
    import: Value,
) -> Result<(), Failure> {
    let id = text(&import, "id").to_owned();
    let mut import = import;
    if text(&import, "status") == "uploading" {
        let missing =
            || Failure::Usage(format!("The upload of {id} is not complete: name its file"));
        let file = file.ok_or_else(missing)?;
        upload(context, client, &import, file).await?;
        import = start(client, &id, &json!({})).await?;
    } else if text(&import, "status") == "checked" && !args.dry_run {
        import = start(client, &id, &json!({"dry_run": false})).await?;
    }
    let import = follow(context, client, import).await?;
    report(context, client, &import).await
}

async fn upload(
    context: &Context,
    client: &Client<'_>,
    import: &Value,
    file: &File,
) -> Result<(), Failure> {
    let id = text(import, "id");
    let there = import.get("parts").and_then(Value::as_array).cloned().unwrap_or_default();
    let bar = progress::bar(context.output, "Uploading", length(&file.bytes));
    let (mut sent, mut kept) = (0_u64, 0_u64);
    for (number, bytes) in file.parts() {
        if there.iter().any(|part| is_same(part, (number, bytes))) {
            kept = kept.saturating_add(1);
        } else {
            let request = Request::new(Method::PUT, path_of(id, &format!("/parts/{number}")));
            client.patiently(&request.body(file.media_type(), bytes.to_vec())).await?;
            sent = sent.saturating_add(1);
        }
        bar.inc(length(bytes));
    }
    bar.finish_and_clear();
    let kept = if kept > 0 { format!("; {kept} were there") } else { String::new() };
    context.output.note(&format!("{id}: {sent} parts uploaded{kept}"));
    Ok(())
}

async fn start(client: &Client<'_>, id: &str, input: &Value) -> Result<Value, Failure> {
    client.patiently(&Request::post(path_of(id, "/start"), input)).await?.json()
}

/// Follows an import until it has ended.
async fn follow(context: &Context, client: &Client<'_>, import: Value) -> Result<Value, Failure> {
    let mut import = import;
    let total = import.pointer("/progress/total_bytes").and_then(Value::as_u64).unwrap_or(0);
    let bar = progress::bar(context.output, "Importing", total);
    while text(&import, "status") == "running" {
        let number = |name: &str| {
            import.get("progress").and_then(|it| it.get(name)).and_then(Value::as_u64).unwrap_or(0)
        };
        bar.set_length(number("total_bytes"));
        bar.set_position(number("bytes"));
        bar.set_message(format!("{} done, {} failed", number("done"), number("failed")));
        tokio::time::sleep(POLL).await;
        import = client.patiently(&Request::get(path_of(text(&import, "id"), ""))).await?.json()?;
    }
    bar.finish_and_clear();
    Ok(import)
}

/// Prints the findings and the result.
async fn report(context: &Context, client: &Client<'_>, import: &Value) -> Result<(), Failure> {
    let count = import.get("findings_count").and_then(Value::as_u64).unwrap_or(0);
    let id = text(import, "id");
    let findings = if count == 0 {
        Vec::new()
    } else {
        let list = Request::get(path_of(id, "/findings")).query("limit", "100");
        client.list(&list).await?
    };
    let line = |finding: &Value| {
        let row = finding.get("row").and_then(Value::as_u64).unwrap_or(0);
        let [severity, code] = ["severity", "code"].map(|name| text(finding, name));
        let [column, detail] = ["column", "detail"].map(|name| plain(text(finding, name)));
        format!("row {row:<6} {severity:<8} {column:<24} {code}  {detail}")
    };
    let mut lines: Vec<String> = findings.iter().take(FINDINGS).map(line).collect();
    let more = findings.len().saturating_sub(FINDINGS);
    if more > 0 {
        lines.push(format!("… and {more} more, which --json lists"));
    }
    let number = |name: &str| {
        import.get("progress").and_then(|it| it.get(name)).and_then(Value::as_u64).unwrap_or(0)
    };
    let status = text(import, "status");
    lines.push(format!(
        "{id} {status}: {} created, {} updated, {} skipped, {} failed{}",
        number("created"),
        number("updated"),
        number("skipped"),
        number("failed"),
        if status == "checked" {
            format!(". Import it: commerce import --resume {id}")
        } else {
            String::new()
        }
    ));
    let document = json!({"import": import, "findings": findings});
    context.output.result(&lines.join("\n"), &document);
    let reason = import.get("status_reason").and_then(Value::as_str).unwrap_or("see the findings");
    match status {
        "succeeded" => Ok(()),
        "checked" if number("failed") == 0 => Ok(()),
        "checked" => Err(Failure::Partial("Rows would fail: see the findings".into())),
        _ => Err(Failure::Partial(format!("The import is {status}: {reason}"))),
    }
}

fn path_of(id: &str, rest: &str) -> String {
    let id: String = url::form_urlencoded::byte_serialize(id.as_bytes()).collect();
    format!("/v1/imports/{id}{rest}")
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_goes_on_if_every_part_that_is_there_is_of_the_file() {
        let mut bytes = vec![b'a'; PART];
        bytes.extend_from_slice(b"rest");
        let file = File { bytes, format: Format::Csv };
        let part = |number: u64, bytes: &[u8]| json!({"number": number, "sha256": digest(bytes)});
        let second = json!({"parts": [part(2, b"rest")]});
        assert!(file.begins(&second) && !file.is_whole_in(&second));
        assert!(file.is_whole_in(&json!({"parts": [part(1, &[b'a'; PART]), part(2, b"rest")]})));
        assert!(!file.begins(&json!({"parts": []})));
        assert!(!file.begins(&json!({"parts": [part(1, b"other")]})));
        assert!(!file.begins(&json!({"parts": [part(2, b"rest"), part(3, b"more")]})));
    }
}
