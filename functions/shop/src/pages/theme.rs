//! The theme of a shop: its live release, or the draft of a preview. A release never changes, and is kept with its files.

use std::collections::BTreeMap;
use std::sync::Arc;

use catalogue::blob::pinned::BlobRef;
use serde_json::{Value, json};
use services::Services;
use shop_theme::{File, Theme};
use themes::contents::{Contents, StoredFile};
use themes::published;
use themes::settings::{Content, Sections};

use crate::fault::Fault;
use crate::theme_cache::ThemeFiles;
use crate::visit::Visit;

/// The theme for this visitor; none before the first publication.
///
/// # Errors
/// `invalid_or_expired_token`, `preview_expired`, 503.
pub(super) async fn of(visit: &Visit) -> Result<Option<Theme>, Fault> {
    let Some(release) = release(visit).await? else { return Ok(None) };
    let (place, content) = &*release;
    let ThemeFiles { files, assets, name } = files(visit, place).await?;
    Ok(Some(Theme {
        files,
        assets,
        settings: content.settings.clone(),
        placed: placed(content)?,
        locale: visit.store().locale.to_string(),
        name,
    }))
}

/// What the merchant placed, by the paths of the files whose sections it replaces.
fn placed(content: &Content) -> Result<BTreeMap<String, Arc<Value>>, Fault> {
    let home = json!({"sections": content.sections, "order": content.order});
    let mut placed = BTreeMap::from([("templates/index.json".to_owned(), Arc::new(home))]);
    let value =
        |value: &Sections| serde_json::to_value(value).map(Arc::new).map_err(|_| Fault::internal());
    for (folder, lists) in
        [("templates", &content.templates), ("sections", &content.section_groups)]
    {
        for (name, list) in lists {
            placed.insert(format!("{folder}/{name}.json"), value(list)?);
        }
    }
    for (kind, section) in &content.static_sections {
        let section = serde_json::to_value(section).map_err(|_| Fault::internal())?;
        placed.insert(format!("sections/{kind}.liquid"), Arc::new(section));
    }
    Ok(placed)
}

async fn release(visit: &Visit) -> Result<Option<Arc<(BlobRef, Content)>>, Fault> {
    let (services, store): (&Services, _) = (&visit.shops.app, visit.store());
    if let Some(session) = visit.preview_session().await? {
        return Ok(Some(Arc::new((session.contents.clone(), session.content.clone()))));
    }
    let Some(live) = &store.live_theme else { return Ok(None) };
    let key = format!("{}/{}/{}", store.id, live.slug, live.release);
    let known = &visit.shops.themes.releases;
    if let Some(release) = known.get(&key) {
        return Ok(Some(release));
    }
    let Some(live) = published::live(services, store).await? else { return Ok(None) };
    let release = Arc::new((live.contents, live.content));
    known.insert(key, Arc::clone(&release));
    Ok(Some(release))
}

async fn files(visit: &Visit, place: &BlobRef) -> Result<ThemeFiles, Fault> {
    let known = &visit.shops.themes.versions;
    if let Some(files) = known.get(&place.sha256) {
        return Ok(files);
    }
    let services: &Services = &visit.shops.app;
    let contents = Contents::load(services, place).await?;
    let read: Vec<&StoredFile> =
        contents.files.iter().filter(|stored| Theme::reads(&stored.file.path)).collect();
    let bytes = Contents::read(services, &read).await?;
    let file = |(stored, bytes): (&&StoredFile, _)| {
        let sha256 = Arc::from(stored.file.sha256.to_string());
        (stored.file.path.clone(), File { sha256, bytes })
    };
    let asset = |stored: &StoredFile| {
        let name = stored.file.path.strip_prefix("assets/")?.to_owned();
        Some((name.clone(), format!("/assets/{}/{name}", stored.file.sha256)))
    };
    let files = ThemeFiles {
        files: Arc::new(read.iter().zip(bytes).map(file).collect()),
        assets: Arc::new(contents.files.iter().filter_map(asset).collect()),
        name: contents.manifest.name.clone(),
    };
    known.insert(place.sha256.clone(), files.clone());
    Ok(files)
}
