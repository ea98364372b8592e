//! The form that sends an operation.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::super::desk::Samples;
use super::super::layout::text;
use super::document::resolved;
use super::operation::Operation;
use super::schema::{example, hint, values};
use crate::demo::{CUSTOMER, MERCHANT, SUBDOMAIN};

/// The accounts of the demo: their names in forms, and what the form calls them.
const ACCOUNTS: [(&str, &str); 4] = [
    ("", "Nobody"),
    ("merchant", "The demo's merchant"),
    ("operator", "The demo's operator"),
    ("customer", "The demo's customer"),
];

/// What URLs on this machine begin with.
const LOOPBACK: &str = "http://127.0.0.1:";
/// The URL of a receiver of webhooks, to be replaced.
const RECEIVER: &str = "http://127.0.0.1:4242/";

/// Optional parameters that are shown at once.
const FEW: usize = 3;

/// The form of an operation, with these values; without the demo's accounts if there are no samples of it.
pub(super) fn form(
    operation: &Operation<'static>,
    given: &[(String, String)],
    samples: Option<&Samples>,
) -> Markup {
    let value = |name: &str| given.iter().find(|(it, _)| it == name).map(|(_, value)| &**value);
    let account = value("as").unwrap_or_else(|| account(operation));
    // What a link names is shown at once.
    let is_needed = |it: &&Value| is_required(it) || value(text(it, "name")).is_some();
    let (needed, optional): (Vec<_>, Vec<_>) =
        operation.parameters().into_iter().partition(is_needed);
    // What is deleted is named by hand.
    let sample = |it: &'static Value| {
        let is_safe = operation.method != "delete" && text(it, "in") == "path";
        let prefix = hint(it.get("schema").filter(|_| is_safe)?)?;
        samples?.of(prefix.split('_').next()?)
    };
    html! {
        form.try data-try data-method=(operation.method.to_uppercase()) data-path=(operation.path) aria-label="Try it" {
            h3 { "Try it" }
            @if samples.is_some() {
                label { span { "As" } select name="as" data-as { @for (name, title) in ACCOUNTS {
                    option value=(name) selected[name == account] { (title) }
                } } }
            }
            label { span { "Or with a token" } input type="password" name="token" data-bearer autocomplete="off" placeholder="mst_…"; }
            @for it in &needed { (field(it, value(text(it, "name")).or_else(|| sample(it)))) }
            @let bodies = operation.bodies();
            @if bodies.len() > 1 {
                label { span { "Media type" } select data-kinds { @for (kind, _) in &bodies { option value=(kind) { (kind) } } } }
            }
            @for (place, (kind, body)) in bodies.into_iter().enumerate() {
                div data-kind=(kind) hidden[place > 0] { (body_field(operation, (kind, body), given, samples)) }
            }
            @if !optional.is_empty() {
                details open[optional.len() <= FEW] {
                    summary { "Optional parameters" span.count { (optional.len()) } }
                    div.optional { @for it in &optional { (field(it, None)) } }
                }
            }
            button.button.primary type="submit" { "Send" }
            output aria-live="polite" {}
        }
    }
}

/// The account that may most likely send an operation.
fn account(operation: &Operation<'static>) -> &'static str {
    let schemes = operation.schemes();
    let is_for_operators = operation.path.starts_with("/v1/operations/runtime")
        || operation.path.starts_with("/v1/operations/certification");
    if schemes.contains(&"customerToken") {
        "customer"
    } else if schemes.contains(&"merchantSession") && is_for_operators {
        "operator"
    } else if schemes.contains(&"merchantSession") {
        "merchant"
    } else {
        ""
    }
}

fn is_required(parameter: &Value) -> bool {
    parameter.get("required") == Some(&Value::Bool(true))
}

fn field(parameter: &'static Value, given: Option<&str>) -> Markup {
    let (name, place) = (text(parameter, "name"), text(parameter, "in"));
    let schema = parameter.get("schema").unwrap_or(&Value::Null);
    let is_required = is_required(parameter);
    let choices = values(schema);
    let given = given.or(match name {
        "subdomain" => Some(SUBDOMAIN),
        // The script writes a new one for each request.
        "Idempotency-Key" if is_required => Some("new"),
        _ => None,
    });
    html! {
        label {
            span { code { (name) } @if is_required { " " span.required { "required" } } }
            @if choices.is_empty() {
                input type="text" name=(name) data-in=(place) value=(given.unwrap_or_default()) required[is_required]
                    placeholder=(hint(schema).unwrap_or_default()) autocomplete="off" spellcheck="false";
            } @else {
                select name=(name) data-in=(place) {
                    option value="" {}
                    @for choice in choices { option value=(choice) selected[given == Some(choice)] { (choice) } }
                }
            }
        }
    }
}

fn body_field(
    operation: &Operation<'static>,
    (kind, body): (&str, &'static Value),
    given: &[(String, String)],
    samples: Option<&Samples>,
) -> Markup {
    let is_text =
        kind.contains("json") || kind.starts_with("text/") || kind.ends_with("urlencoded");
    let example = example(body).map(|example| match example {
        Value::String(text) => text.clone(),
        Value::Object(members) if kind.ends_with("urlencoded") => urlencoded(members),
        other => {
            let mut own = other.clone();
            if let Some(samples) = samples {
                samples.put_into(&mut own);
                put_accounts(operation.path, &mut own);
            }
            put_receiver(&mut own);
            put_given(given, body, &mut own);
            format!("{own:#}")
        }
    });
    let is_local = example.as_ref().is_some_and(|text| text.contains(RECEIVER));
    html! {
        @if is_text {
            label { span { "Body" } textarea name="body" data-body=(kind) rows="10" spellcheck="false" { (example.unwrap_or_default()) } }
            @if is_local {
                p.faint { "Put the URL of your own receiver here. Locally, http and loopback addresses are allowed." }
            }
        } @else if kind == "multipart/form-data" {
            (parts(body))
        } @else {
            label { span { "Body, a file" } input type="file" name="body" data-body=(kind); }
        }
    }
}

/// An object as the body of a form.
fn urlencoded(members: &Map<String, Value>) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    for (name, value) in members {
        if let Some(text) = value.as_str() {
            form.append_pair(name, text);
        }
    }
    form.finish()
}

/// The fields of a multipart form: one for each part, or a line for each where they may have any name.
fn parts(body: &'static Value) -> Markup {
    let schema = body.get("schema").map(resolved);
    let members = schema.and_then(|it| it.get("properties")?.as_object());
    html! {
        @for (name, it) in members.into_iter().flatten() {
            label {
                span { code { (name) } }
                @if is_file(it) { input type="file" name=(name) data-part; }
                @else { input type="text" name=(name) data-part autocomplete="off" spellcheck="false"; }
            }
        }
        @if members.is_none() {
            label { span { "Fields, a line each: " code { "name=value" } } textarea data-parts rows="5" spellcheck="false" {} }
        }
    }
}

/// Whether a member of a form is a file.
fn is_file(schema: &'static Value) -> bool {
    let schema = resolved(schema);
    schema.get("contentMediaType").is_some()
        || schema.get("contentEncoding").is_some()
        || text(schema, "format") == "binary"
}

/// The body of a sign-in with the demo's account: what is on the start page works here at once.
fn put_accounts(path: &str, body: &mut Value) {
    let account = match path {
        "/v1/auth/signin" | "/v1/auth/signin/otp" => MERCHANT,
        "/v1/storefront/customer/login" | "/v1/storefront/customer/login/otp" => CUSTOMER,
        _ => return,
    };
    let Some(members) = body.as_object_mut() else { return };
    members.remove("totp");
    let own = [("email", account.email), ("password", account.password), ("subdomain", SUBDOMAIN)];
    for (name, value) in own {
        if let Some(member) = members.get_mut(name) {
            *member = value.into();
        }
    }
}

/// Puts values of the URL into the members of the same names. A token stands for the current password.
fn put_given(given: &[(String, String)], content: &'static Value, body: &mut Value) {
    let schema = content.get("schema").map(resolved);
    let Some(properties) = schema.and_then(|it| it.get("properties")) else { return };
    let Some(members) = body.as_object_mut() else { return };
    for (name, value) in given {
        if properties.get(name).is_some() {
            members.insert(name.clone(), value.as_str().into());
            if name == "token" {
                members.remove("current_password");
            }
        }
    }
}

/// Puts a placeholder in the place of a receiver on this machine, which an example had once.
fn put_receiver(body: &mut Value) {
    let is_local = |url: &&mut Value| url.as_str().is_some_and(|url| url.starts_with(LOOPBACK));
    if let Some(url) = body.get_mut("url").filter(is_local) {
        *url = RECEIVER.into();
    }
}
