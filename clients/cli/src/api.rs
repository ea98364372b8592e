//! `api`: any request.

use std::fmt::Write as _;
use std::io::{IsTerminal, Read as _, Write as _};

use reqwest::Method;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::args::{Api, Verb};
use crate::client::Client;
use crate::context::Context;
use crate::failure::Failure;
use crate::fields;
use crate::request::{Reply, Request};
use crate::secret::MASK;

/// Paths that would end or replace the profile's session without the profile's knowledge.
const OF_THE_SESSION: [&str; 2] = ["/v1/auth/session/refresh", "/v1/auth/signout"];
/// Headers that are set from the profile, or would put a credential on the command line.
const OWN_HEADERS: [&str; 3] = ["authorization", "cookie", "x-service-store-id"];

pub async fn run(context: &Context, args: Api) -> Result<(), Failure> {
    let request = request(&args)?;
    let client = match context.client().await {
        // Public routes need no session.
        Err(Failure::NotSignedIn(_)) if context.profile()?.session.is_none() => {
            context.stranger()?
        }
        client => client?,
    };
    if args.paginate {
        return paginate(context, &client, request).await;
    }
    let reply = client.send(&request).await?;
    if args.include && !context.output.json {
        context.output.line(&head(&reply), &Value::Null);
    }
    let reply = client.accept(reply)?;
    print(context, &reply)
}

fn request(args: &Api) -> Result<Request, Failure> {
    let method = match args.method {
        Verb::Get => Method::GET,
        Verb::Post => Method::POST,
        Verb::Patch => Method::PATCH,
        Verb::Put => Method::PUT,
        Verb::Delete => Method::DELETE,
    };
    let path =
        if args.path.starts_with('/') { args.path.clone() } else { format!("/{}", args.path) };
    if path.starts_with("//") || path.contains('\\') {
        return Err(Failure::Usage(format!("{path} is no path of the API")));
    }
    let (path, in_path) = path.split_once('?').unwrap_or((path.as_str(), ""));
    if OF_THE_SESSION.contains(&path.trim_end_matches('/')) {
        return Err(Failure::Usage("Sessions are managed by commerce login and logout".into()));
    }
    let mut request = Request::new(method, path);
    request.query.extend(url::form_urlencoded::parse(in_path.as_bytes()).into_owned());
    for text in &args.query {
        request.query.push(fields::pair(text, '=')?);
    }
    for text in &args.headers {
        let (name, value) = fields::pair(text, ':')?;
        if OWN_HEADERS.contains(&name.to_lowercase().as_str()) {
            let text =
                format!("{name} is set from the profile: see --profile, --store, COMMERCE_TOKEN");
            return Err(Failure::Usage(text));
        }
        request.headers.push((name, value));
    }
    if let Some(key) = &args.idempotency_key {
        request.key.clone_from(key);
    }
    match body(args)? {
        Some(_) if request.method == Method::GET => {
            Err(Failure::Usage("GET has no body: use -q for query parameters".into()))
        }
        Some(body) => Ok(request.body("application/json", body)),
        None => Ok(request),
    }
}

/// The body; of a write without one, an empty object where the API takes JSON.
fn body(args: &Api) -> Result<Option<Vec<u8>>, Failure> {
    if let Some(data) = &args.data {
        return Ok(Some(data.clone().into_bytes()));
    }
    if let [field] = &args.fields[..]
        && let Some(path) = field.strip_prefix('@')
    {
        return read(path).map(Some);
    }
    if args.fields.is_empty() {
        let takes_none = matches!(args.method, Verb::Get | Verb::Delete);
        return Ok((!takes_none).then(|| b"{}".to_vec()));
    }
    let mut body = Value::Null;
    fields::set_all(&mut body, args.fields.iter().map(String::as_str))?;
    Ok(Some(body.to_string().into_bytes()))
}

fn read(path: &str) -> Result<Vec<u8>, Failure> {
    if path != "-" {
        return std::fs::read(path).map_err(|cause| Failure::file(path.as_ref(), &cause));
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Prints the body: JSON for people or programs, anything else as it is.
fn print(context: &Context, reply: &Reply) -> Result<(), Failure> {
    let is_json = reply.header("content-type").is_some_and(|kind| kind.contains("json"));
    if reply.bytes.is_empty() {
        return Ok(());
    }
    if is_json {
        context.output.json_text(&reply.text());
        return Ok(());
    }
    let mut out = std::io::stdout().lock();
    if out.is_terminal() && std::str::from_utf8(&reply.bytes).is_err() {
        return Err(Failure::Local("The answer is no text: redirect it to a file".into()));
    }
    Ok(out.write_all(&reply.bytes).and_then(|()| out.flush())?)
}

/// The status and the headers.
fn head(reply: &Reply) -> String {
    let mut text = format!("HTTP {}\n", reply.status);
    for (name, value) in &reply.headers {
        let value = if name == "set-cookie" { MASK } else { value.to_str().unwrap_or("?") };
        let _ = writeln!(text, "{name}: {value}");
    }
    text
}

/// A page, whose items are printed as they came.
#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    data: Vec<&'a RawValue>,
    page: Position,
}

#[derive(Deserialize)]
struct Position {
    next_cursor: Option<String>,
}

/// Prints each item of each page.
async fn paginate(context: &Context, client: &Client<'_>, request: Request) -> Result<(), Failure> {
    if request.method != Method::GET {
        return Err(Failure::Usage("--paginate is for GET".into()));
    }
    let mut cursor: Option<String> = None;
    loop {
        let mut page = request.clone();
        page.query.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor)));
        let text = client.call(&page).await?.text();
        let page: Page<'_> = serde_json::from_str(&text).map_err(|_| {
            Failure::Usage(format!("{} is no list: leave --paginate out", request.path))
        })?;
        for item in page.data {
            context.output.item(item.get());
        }
        match page.page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(()),
        }
    }
}
