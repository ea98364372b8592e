//! The demo's themes: `functions/local/themes`, which are submitted to the catalogue like any theme. One is
//! installed in the demo store, and published.

mod folders;
#[cfg(test)]
mod tests;

use emulators::AnyError;
use http::StatusCode;
use serde_json::{Value, json};

use super::api::{Api, text};
pub use folders::{FOLDERS, Folder};

/// The slug of the demo store's live theme.
pub const LIVE: &str = "harbor";

/// Creates what does not exist yet; an interrupted attempt is continued.
pub(super) async fn publish(merchant: &Api, operator: &Api, store: &str) -> Result<(), AnyError> {
    merchant.about("Preparing the demo store: themes");
    register(merchant).await?;
    for folder in &FOLDERS {
        offer(merchant, operator, folder, store).await?;
    }
    let editor = format!("/v1/themes/{LIVE}/editor");
    if merchant.find(&editor).await?.is_none() {
        merchant.call("POST", &format!("/v1/themes/{LIVE}/install"), Some(json!({}))).await?;
    }
    let now = merchant.call("GET", &editor, None).await?;
    if now.pointer("/release_history_head").and_then(Value::as_u64) == Some(0) {
        let draft =
            now.pointer("/draft/version").cloned().ok_or("an installed theme has no draft")?;
        let input = json!({"draft_version": draft, "message": "As it comes"});
        merchant.call("POST", &format!("/v1/themes/{LIVE}/publish"), Some(input)).await?;
    }
    Ok(())
}

/// Registers the merchant as a developer, which submitting a theme requires.
async fn register(merchant: &Api) -> Result<(), AnyError> {
    let input = json!({
        "company": "Demo Store", "contact_email": super::MERCHANT.email, "country": "IN",
        "agree_terms": true,
    });
    match merchant.call("POST", "/v1/app-store/developers/register", Some(input)).await {
        Err(cause) if !cause.to_string().contains(&StatusCode::CONFLICT.to_string()) => Err(cause),
        _ => Ok(()),
    }
}

/// Brings a theme into the catalogue, from whichever state it is in.
async fn offer(
    merchant: &Api,
    operator: &Api,
    folder: &Folder,
    store: &str,
) -> Result<(), AnyError> {
    let list = merchant.call("GET", "/v1/themes/packages?limit=100", None).await?;
    let known = list.pointer("/data").and_then(Value::as_array).into_iter().flatten();
    let known = known
        .into_iter()
        .find(|package| package.get("slug").and_then(Value::as_str) == Some(folder.slug));
    let package = if let Some(package) = known {
        package.clone()
    } else {
        let path = "/v1/themes/packages/upload";
        let made = merchant.send("POST", path, "application/zip", folder.zipped()?).await?;
        made.get("package").cloned().unwrap_or_default()
    };
    let (id, mut status) = (text(&package, "/id")?, text(&package, "/status")?);
    let act = |action: &str| format!("/v1/themes/packages/{id}/{action}");
    if status == "valid" {
        let input = json!({"seller_store_id": store, "changelog": "The first version."});
        let submitted = merchant.call("POST", &act("submit"), Some(input)).await?;
        status = text(&submitted, "/status")?;
    }
    if status == "submitted" {
        operator.call("POST", &act("approve"), Some(json!({}))).await?;
    }
    Ok(())
}
