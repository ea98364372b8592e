//! `theme`: the files of a theme, and the draft of a store that uses them (docs/conventions.md §15).
//!
//! The platform takes a theme as a whole, as a package with a version. So `push` compares digests first, uploads
//! nothing if no file has changed, and otherwise uploads a package under the next development version.

mod dev;
mod files;
mod remote;
mod starter;

use std::path::Path;

use serde_json::{Value, json};

use crate::args::{Theme, ThemePath};
use crate::context::{Context, confirm};
use crate::failure::Failure;
use crate::output::{Tone, plain};
use crate::request::Request;
use files::{Change, Files};
use remote::{Preview, Remote};

pub async fn run(context: &Context, command: Theme) -> Result<(), Failure> {
    match command {
        Theme::Init { slug, path } => init(context, &slug, path.as_deref()),
        Theme::Check(theme) => check(context, &theme).await,
        Theme::Push { theme, dry_run } => push(context, &theme, dry_run).await,
        Theme::Pull { theme, slug, live, force } => {
            pull(context, &theme.path, slug, live, force).await
        }
        Theme::Dev { theme, open, once } => dev::run(context, &theme.path, open, once).await,
        Theme::Publish { theme, message, yes } => publish(context, &theme, message, yes).await,
    }
}

fn init(context: &Context, slug: &str, path: Option<&Path>) -> Result<(), Failure> {
    let path = path.unwrap_or(Path::new(slug));
    if path.exists() {
        return Err(Failure::Local(format!("{} exists already", path.display())));
    }
    let files = starter::files(slug);
    files.write(path, true)?;
    let shown = path.display().to_string();
    let text =
        format!("{} files in {shown}. Go on: commerce theme dev --path {shown}", files.len());
    context.output.result(&text, &json!({"path": shown, "files": files.paths()}));
    Ok(())
}

async fn check(context: &Context, theme: &ThemePath) -> Result<(), Failure> {
    let files = Files::read(&theme.path)?;
    let client = context.merchant()?;
    let answer = remote::check(&client, &files).await?;
    let findings = answer.get("findings").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut lines: Vec<String> = findings.iter().map(finding).collect();
    lines.push(format!("{} files, {} warnings, no errors", files.len(), findings.len()));
    context.output.result(&lines.join("\n"), &json!({"findings": findings, "valid": true}));
    Ok(())
}

/// A finding as a line.
fn finding(finding: &Value) -> String {
    let text = |name: &str| plain(finding.get(name).and_then(Value::as_str).unwrap_or_default());
    format!("{}  {}  {}  {}", text("severity"), text("path"), text("code"), text("detail"))
}

/// What a push has changed, and where it can be seen.
struct Pushed {
    changes: Vec<Change>,
    version: String,
    preview: Option<Preview>,
}

async fn push(context: &Context, theme: &ThemePath, dry_run: bool) -> Result<(), Failure> {
    let files = Files::read(&theme.path)?;
    let client = context.client().await?;
    let mut remote = Remote::open(&client, files.slug()?).await?;
    let pushed = if dry_run {
        let (changes, version) = (remote.changes(&files).await?, remote.version().to_owned());
        Pushed { changes, version, preview: None }
    } else {
        push_once(&mut remote, &files).await?
    };
    report(context, &pushed, dry_run);
    Ok(())
}

/// Uploads the files unless they are there, and begins a preview.
async fn push_once(remote: &mut Remote<'_>, files: &Files) -> Result<Pushed, Failure> {
    let changes = remote.changes(files).await?;
    if !changes.is_empty() || !remote.is_installed() {
        remote.upload(files).await?;
    }
    let preview = Some(remote.preview().await?);
    Ok(Pushed { changes, version: remote.version().to_owned(), preview })
}

fn report(context: &Context, pushed: &Pushed, dry_run: bool) {
    let output = &context.output;
    let line = |change: &Change| {
        let tone = if change.mark() == '-' { Tone::Bad } else { Tone::Good };
        output.toned(tone, &format!("{} {}", change.mark(), change.path()))
    };
    let mut lines: Vec<String> = pushed.changes.iter().map(line).collect();
    let (count, version) = (pushed.changes.len(), &pushed.version);
    lines.push(match (count, dry_run) {
        (0, _) => format!("No file has changed: the draft has version {version}"),
        (count, true) => format!("{count} files would be uploaded"),
        (count, false) => format!("{count} files changed; the draft has version {version}"),
    });
    lines.extend(pushed.preview.as_ref().map(|preview| format!("Preview: {}", preview.url)));
    let changes = pushed.changes.iter();
    let changes = changes.map(|it| json!({"path": it.path(), "change": it.word()}));
    let document = json!({
        "changes": changes.collect::<Vec<_>>(), "version": version, "dry_run": dry_run,
        "preview_url": pushed.preview.as_ref().map(|preview| &preview.url),
    });
    output.line(&lines.join("\n"), &document);
}

async fn pull(
    context: &Context,
    path: &Path,
    slug: Option<String>,
    live: bool,
    force: bool,
) -> Result<(), Failure> {
    let client = context.client().await?;
    let there = if live {
        remote::live(&client).await?
    } else {
        let slug = slug.map_or_else(|| Files::read(path)?.slug().map(str::to_owned), Ok)?;
        Remote::open(&client, &slug).await?.download().await?
    };
    let differing = there.differing(path)?;
    if !differing.is_empty() && !force {
        let text = "These files differ here; --force overwrites them:";
        return Err(Failure::Local(format!("{text}\n  {}", differing.join("\n  "))));
    }
    there.write(path, true)?;
    let shown = path.display().to_string();
    let text = format!("{} files in {shown}", there.len());
    context.output.result(&text, &json!({"path": shown, "files": there.paths()}));
    Ok(())
}

async fn publish(
    context: &Context,
    theme: &ThemePath,
    message: Option<String>,
    yes: bool,
) -> Result<(), Failure> {
    let files = Files::read(&theme.path)?;
    let slug = files.slug()?;
    let client = context.client().await?;
    let editor = client.json(&Request::get(format!("/v1/themes/{slug}/editor"))).await?;
    let text = |pointer: &str| editor.pointer(pointer).and_then(Value::as_str).unwrap_or("?");
    let draft = editor.pointer("/draft/version").cloned();
    let draft = draft.ok_or_else(|| Failure::Usage(format!("{slug} has no draft to publish")))?;
    let question = format!(
        "Publish draft {draft} of {slug} {} on the live storefront?",
        text("/installation/version")
    );
    confirm(&question, yes)?;
    let mut input = json!({"draft_version": draft});
    if let (Some(message), Some(members)) = (message, input.as_object_mut()) {
        members.insert("message".to_owned(), message.into());
    }
    let answer = client.json(&Request::post(format!("/v1/themes/{slug}/publish"), &input)).await?;
    let number = answer.pointer("/release/number").cloned().unwrap_or_default();
    context.output.result(&format!("Release {number} of {slug} is live"), &answer);
    Ok(())
}
