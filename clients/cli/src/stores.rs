//! `stores list` and `stores use`.

use serde_json::{Value, json};

use crate::args::Stores;
use crate::context::{Context, find_store};
use crate::failure::Failure;
use crate::request::Request;

pub async fn run(context: &Context, command: Stores) -> Result<(), Failure> {
    match command {
        Stores::List => list(context).await,
        Stores::Use { store } => choose(context, &store).await,
    }
}

async fn list(context: &Context) -> Result<(), Failure> {
    let client = context.merchant()?;
    let stores = client.list(&Request::get("/v1/stores").query("limit", "100")).await?;
    let chosen = context.profile()?.store.map(|store| store.id);
    let line = |store: &Value| {
        let text = |name: &str| store.get(name).and_then(Value::as_str).unwrap_or("-").to_owned();
        let mark = if chosen.as_deref() == Some(text("id").as_str()) { '*' } else { ' ' };
        let [id, subdomain, role, status] = ["id", "subdomain", "role", "status"].map(text);
        format!("{mark} {subdomain:<24} {role:<9} {status:<8} {id}")
    };
    let lines: Vec<String> = stores.iter().map(line).collect();
    context.output.result(&lines.join("\n"), &json!({ "data": stores }));
    Ok(())
}

async fn choose(context: &Context, name: &str) -> Result<(), Failure> {
    let store = find_store(&context.merchant()?, name).await?;
    context.change_profile(|profile| profile.store = Some(store.clone()))?;
    let document = json!({"id": store.id, "subdomain": store.subdomain});
    context.output.result(&format!("Acting on {} from now on", store.subdomain), &document);
    Ok(())
}
