//! `trigger`: makes an event happen by the requests that cause it, each of which may refer to what the earlier ones made.

use std::collections::BTreeMap;

use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::args::Trigger;
use crate::client::Client;
use crate::context::{Context, confirm, is_loopback};
use crate::failure::Failure;
use crate::fields;
use crate::request::Request;
use crate::secret::random_hex;

/// The requests, and which of them cause an event.
#[derive(Debug, Deserialize)]
struct Fixtures {
    steps: BTreeMap<String, Step>,
    events: BTreeMap<String, Vec<String>>,
}

/// A request: method, path and body.
#[derive(Debug, Clone, Deserialize)]
struct Step(String, String, Option<Value>);

impl Fixtures {
    fn read() -> Result<Self, Failure> {
        let fault = |cause: serde_json::Error| Failure::Local(format!("fixtures.json: {cause}"));
        serde_json::from_str(include_str!("fixtures.json")).map_err(fault)
    }
}

pub async fn run(context: &Context, args: Trigger) -> Result<(), Failure> {
    let fixtures = Fixtures::read()?;
    let Some(event) = args.event.as_deref() else {
        let names: Vec<&str> = fixtures.events.keys().map(String::as_str).collect();
        context.output.result(&names.join("\n"), &json!({ "data": names }));
        return Ok(());
    };
    let steps = fixtures.events.get(event).ok_or_else(|| {
        Failure::Usage(format!("{event} cannot be triggered: commerce trigger --list"))
    })?;
    let overrides = overrides(&args.overrides, steps)?;
    let client = context.client().await?;
    if !is_loopback(&client.api) {
        let question = format!("Create real objects in a store at {}?", client.api);
        confirm(&question, args.yes)?;
    }
    let mut made = Map::new();
    made.insert("store".to_owned(), store(&client).await?);
    made.insert("unique".to_owned(), random_hex::<4>().into());
    for name in steps {
        let step = fixtures
            .steps
            .get(name)
            .ok_or_else(|| Failure::Local(format!("fixtures.json has no step {name}")))?;
        let own = overrides.iter().filter(|(step, _)| *step == name).map(|(_, field)| *field);
        let answer = perform(&client, step, own.collect(), &made).await?;
        let id = answer.pointer("/id").or_else(|| answer.pointer(&format!("/{name}/id")));
        let id = id.and_then(Value::as_str).unwrap_or("done").to_owned();
        context
            .output
            .line(&format!("{name:<20} {id}"), &json!({"step": name, "answer": shown(&answer)}));
        made.insert(name.clone(), answer);
    }
    context.output.note(&format!("{event} has happened"));
    Ok(())
}

/// The fields that were named for a step: `order:email=…`.
fn overrides<'a>(
    given: &'a [String],
    steps: &[String],
) -> Result<Vec<(&'a str, &'a str)>, Failure> {
    let of = |text: &'a String| {
        let fault = || {
            let names = steps.join(", ");
            Failure::Usage(format!("--override {text}: write STEP:FIELD=VALUE; steps are {names}"))
        };
        let (step, field) = text.split_once(':').ok_or_else(fault)?;
        if steps.iter().any(|name| name == step) { Ok((step, field)) } else { Err(fault()) }
    };
    given.iter().map(of).collect()
}

/// The store in which it happens: the chosen one, or the merchant's first.
async fn store(client: &Client<'_>) -> Result<Value, Failure> {
    if let Some(id) = client.store() {
        return client.json(&Request::get(format!("/v1/stores/{id}"))).await;
    }
    let stores = client.json(&Request::get("/v1/stores").query("limit", "2")).await?;
    match (stores.pointer("/data/0"), stores.pointer("/data/1")) {
        (Some(only), None) => Ok(only.clone()),
        _ => Err(Failure::Usage("Choose a store: commerce stores use, or --store".into())),
    }
}

async fn perform(
    client: &Client<'_>,
    Step(method, path, body): &Step,
    overrides: Vec<&str>,
    made: &Map<String, Value>,
) -> Result<Value, Failure> {
    let path = filled(path, made);
    let (path, query) = path.split_once('?').unwrap_or((&path, ""));
    let method = method.parse().unwrap_or(Method::POST);
    let mut request = Request::new(method, path);
    request.query.extend(url::form_urlencoded::parse(query.as_bytes()).into_owned());
    if let Some(body) = body {
        let mut body = fill(body, made);
        fields::set_all(&mut body, overrides)?;
        request = request.json(&body);
    }
    client.json(&request).await
}

/// The value with every `${step.member}` replaced. A text that is nothing else becomes the member as it is.
fn fill(value: &Value, made: &Map<String, Value>) -> Value {
    match value {
        Value::String(text) => {
            let whole = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
            let whole = whole.filter(|name| !name.contains('$')).and_then(|name| find(name, made));
            whole.cloned().unwrap_or_else(|| filled(text, made).into())
        }
        Value::Array(list) => list.iter().map(|value| fill(value, made)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), fill(value, made))).collect()
        }
        other => other.clone(),
    }
}

fn filled(text: &str, made: &Map<String, Value>) -> String {
    let mut parts = text.split("${");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        text + find(name, made).and_then(Value::as_str).unwrap_or_default() + rest
    })
}

fn find<'v>(name: &str, made: &'v Map<String, Value>) -> Option<&'v Value> {
    let (step, member) = name.split_once('.').unwrap_or((name, ""));
    let found = made.get(step)?;
    if member.is_empty() {
        Some(found)
    } else {
        found.pointer(&format!("/{}", member.replace('.', "/")))
    }
}

/// An answer without what only its first reader may see: the code of a gift card.
fn shown(answer: &Value) -> Value {
    let mut answer = answer.clone();
    if let Some(members) = answer.as_object_mut() {
        members.remove("code");
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_caused_by_steps_that_are_there_in_an_order_that_works() {
        let fixtures = Fixtures::read().expect("the fixtures are read");
        for (event, steps) in &fixtures.events {
            let mut known = vec!["store", "unique"];
            for name in steps {
                let Step(_, path, body) = fixtures.steps.get(name).expect(name);
                let text = format!("{path} {}", body.clone().unwrap_or_default());
                for reference in text.split("${").skip(1) {
                    let step = reference.split(['.', '}']).next().expect("a name");
                    assert!(known.contains(&step), "{event}: {name} refers to {step}");
                }
                known.push(name);
            }
        }
        let used = |step: &&String| fixtures.events.values().any(|steps| steps.contains(step));
        assert!(fixtures.steps.keys().all(|step| used(&step)));
    }

    #[test]
    fn a_reference_is_replaced_by_what_was_made() {
        let made = json!({"order": {"id": "ord_1", "items": [{"n": 2}]}, "unique": "ab"});
        let made = made.as_object().expect("an object").clone();
        let value = json!({"path": "/v1/${order.id}/x-${unique}", "n": "${order.items.0.n}"});
        assert_eq!(fill(&value, &made), json!({"path": "/v1/ord_1/x-ab", "n": 2}));
    }
}
