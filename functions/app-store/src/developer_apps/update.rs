//! Updating an app: its description at once, the configuration of an approved app by a submission.

use axum::extract::State;
use callers::Developer;
use core_types::fields::{Slug, WebUrl};
use core_types::id::AppId;
use core_types::key;
use core_types::resource::Resource;
use core_types::scope::Scopes;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::reply::{Json, NoStore};
use gateway::request::{Body, IfMatch, Path};
use platform::app::{
    APP_UPDATED, CommerceApp, Configuration, Listing, UniqueSlug, is_public_https,
};
use platform::submission::MIN_DESCRIPTION;
use primitives::fields::{Exact, Flag, Patch, Text};
use primitives::input::request;
use primitives::problem::{Code, FieldError, Problem};
use services::Services;
use table::{Write, retry};

use super::{
    AppSecretsView, RedirectUris, load_own, texts, validate_app_url, validate_pkce, validate_uris,
    webhook,
};

/// Changes to the listing of an approved app. An omitted field keeps its value. The category changes by a
/// submission only.
#[request]
#[derive(Debug, Clone)]
pub struct ListingChange {
    /// The app's purpose in one sentence.
    tagline: Option<Text<1, 120>>,
    /// The description of the app: 50 to 10,000 characters.
    description: Option<Text<1, 10_000>>,
    /// The URL of the icon; `null` removes it.
    icon_url: Patch<WebUrl>,
    /// The URL of the privacy policy: https, and not on a loopback address.
    privacy_policy_url: Option<WebUrl>,
    /// The URL at which merchants get support; `null` removes it.
    support_url: Patch<WebUrl>,
    /// The price, in the developer's words.
    pricing: Option<Text<1, 500>>,
}

impl ListingChange {
    /// Applies the change, and returns its field errors by the rules of submissions.
    fn apply(self, listing: &mut Listing) -> Vec<FieldError> {
        let violation =
            |pointer: &str, code, detail: String| FieldError::new(pointer, code, detail);
        let mut errors = Vec::new();
        if let Some(tagline) = self.tagline {
            listing.tagline = tagline.into();
        }
        if let Some(description) = self.description {
            listing.description = description.into();
            if listing.description.chars().count() < MIN_DESCRIPTION {
                let detail = format!("Must have at least {MIN_DESCRIPTION} characters.");
                errors.push(violation("/listing/description", "too_short", detail));
            }
        }
        if let Some(url) = self.privacy_policy_url {
            if !is_public_https(url.as_str()) {
                let detail = "Must be on https and not on a loopback address.".to_owned();
                errors.push(violation("/listing/privacy_policy_url", "invalid_url", detail));
            }
            listing.privacy_policy_url = url;
        }
        if let Some(pricing) = self.pricing {
            listing.pricing = pricing.into();
        }
        self.icon_url.apply(&mut listing.icon_url);
        self.support_url.apply(&mut listing.support_url);
        errors
    }
}

/// Changes to an app. An omitted field keeps its value. `confidential` never changes.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateAppRequest {
    /// The name.
    name: Option<Text<1, 100>>,
    /// The readable name in URLs, unique among all apps. The previous one is free again.
    slug: Option<Slug>,
    /// The URL at which the app runs. For an approved app, the change is proposed.
    app_url: Option<WebUrl>,
    /// The redirect URIs, one to ten, which replace all current ones. For an approved app, the change is
    /// proposed.
    redirect_uris: Option<RedirectUris>,
    /// The scopes that the app may request. For an approved app, the change is proposed. What merchants have
    /// granted stays.
    scopes: Option<Scopes>,
    /// Whether the app runs inside the admin. For an approved app, the change is proposed.
    embedded: Option<Flag>,
    /// Whether authorizations must use PKCE. `true` takes effect at once; for an approved app, `false` is
    /// proposed.
    require_pkce: Option<Flag>,
    /// The URL that `app.*` events about the app are posted to; `null` ends them.
    webhook_url: Patch<Exact<2048>>,
    /// Changes to the listing, of an app that has one.
    listing: Option<ListingChange>,
}

/// `PATCH /v1/app-store/developers/apps/{id}` (`updateDeveloperApp`): Update an app.
///
/// Name, slug, listing and webhook URL change at once. Once a version is approved, changes to `app_url`,
/// `redirect_uris`, `scopes`, `embedded` and `require_pkce` become `proposed`, and take effect when a
/// submission is approved. Only `require_pkce: true` takes effect at once.
///
/// The response to the first `webhook_url` has its `webhook_secret`, which is returned once; another URL
/// keeps the secret. It emits `app.updated`.
///
/// # Errors
/// `not_found`, `slug_taken`, `precondition_failed`; `not_approved` for the listing of an app that
/// has none; `redirect_uri_invalid`, `own_host` and the egress policy's rejections as field errors.
pub async fn update(
    developer: Developer,
    State(app): State<App>,
    Path(id): Path<AppId>,
    if_match: IfMatch,
    Body(input): Body<UpdateAppRequest>,
) -> Result<NoStore<Json<AppSecretsView>>, Problem> {
    let url = match &input.webhook_url {
        Patch::Set(url) => Some(url),
        Patch::Keep | Patch::Clear => None,
    };
    let rejected = webhook::validate(&app, url).await;
    retry(|| async {
        let before = load_own(&app, &developer, &id).await?;
        if_match.check(before.version)?;
        let now = app.clock.now();
        let mut errors: Vec<FieldError> = rejected.iter().cloned().collect();
        let mut next = described(before.changed(now), input.clone(), &mut errors)?;
        let wanted = wanted(&app, &next, input.clone(), &mut errors);
        next = next.wants(wanted);
        if !errors.is_empty() {
            return Err(Problem::invalid(errors));
        }
        let write = app.table.write();
        let (write, webhook_secret) =
            webhook::change(write, &app, &mut next, &input.webhook_url, now).await?;
        let write = move_slug(write, &before, &next);
        let view = AppSecretsView { app: next.view(), client_secret: None, webhook_secret };
        next.save(write, Code::VersionConflict)
            .emit(next.event(&APP_UPDATED, now))
            .answer(Json::new(&view).version(next.version).no_store(), now)
            .await
    })
    .await
}

/// The app with the requested name, slug and listing.
fn described(
    app: CommerceApp,
    input: UpdateAppRequest,
    errors: &mut Vec<FieldError>,
) -> Result<CommerceApp, Problem> {
    let mut next = app;
    if let Some(name) = input.name {
        next.name = name.into();
    }
    if let Some(slug) = input.slug {
        next.slug = slug;
    }
    if let Some(change) = input.listing {
        let listing = next.listing.as_mut().ok_or(Code::NotApproved)?;
        errors.extend(change.apply(listing));
    }
    Ok(next)
}

/// The configuration that the developer requests.
fn wanted(
    services: &Services,
    before: &CommerceApp,
    input: UpdateAppRequest,
    errors: &mut Vec<FieldError>,
) -> Configuration {
    let mut wanted = before.wanted();
    if let Some(app_url) = input.app_url {
        errors.extend(validate_app_url(services, &app_url));
        wanted.app_url = app_url;
    }
    if let Some(uris) = input.redirect_uris {
        errors.extend(validate_uris(services, &uris, before.is_published()));
        wanted.redirect_uris = texts(uris);
    }
    if let Some(scopes) = input.scopes {
        wanted.scopes = scopes;
    }
    if let Some(embedded) = input.embedded {
        wanted.embedded = embedded.0;
    }
    if let Some(require_pkce) = input.require_pkce {
        wanted.require_pkce = require_pkce.0;
    }
    errors.extend(validate_pkce(before.confidential, wanted.require_pkce));
    wanted
}

/// Claims the new slug and releases the previous one, if it changes.
fn move_slug(write: Write, before: &CommerceApp, next: &CommerceApp) -> Write {
    if before.slug == next.slug {
        return write;
    }
    let slug = UniqueSlug { slug: next.slug.clone(), app_id: next.id.clone(), version: 1 };
    write.create(&slug, Code::SlugTaken).delete(&key::unique_app_slug(before.slug.as_str()))
}
