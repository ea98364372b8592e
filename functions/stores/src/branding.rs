//! The input and the validation of a store's branding.

use catalogue::media::Media;
use core_types::id::MediaId;
use core_types::key;
use identity::store::branding::{Color, SocialLinks, unknown_image};
use identity::store::{Branding, Store};
use primitives::fields::{Patch, Text};
use primitives::input::request;
use primitives::problem::{FieldError, Problem};
use services::Services;
use table::item::Key;

/// The changes of a store's branding. Omitted fields keep their values; `null` clears a field.
#[request]
#[derive(Debug)]
pub struct BrandingRequest {
    /// The logo.
    logo: Patch<ImageRequest>,
    /// The icon that browsers show with the page's title.
    favicon: Patch<ImageRequest>,
    /// The primary colour: `#rrggbb`.
    primary_color: Patch<Color>,
    /// The secondary colour: `#rrggbb`.
    secondary_color: Patch<Color>,
    /// A slogan of one line.
    slogan: Patch<Text<1, 120>>,
    /// A description of one paragraph.
    short_description: Patch<Text<1, 500>>,
    /// The profiles in social networks: at most 12, one of each network. The list replaces the current one.
    social_links: Patch<SocialLinks>,
}

/// An image of the store's media.
#[request]
#[derive(Debug)]
pub struct ImageRequest {
    /// The id of the media.
    media_id: MediaId,
}

impl From<ImageRequest> for MediaId {
    fn from(image: ImageRequest) -> Self {
        image.media_id
    }
}

impl BrandingRequest {
    /// Applies these changes to a branding.
    pub(crate) fn apply(self, branding: &mut Branding) {
        self.logo.apply(&mut branding.logo);
        self.favicon.apply(&mut branding.favicon);
        self.primary_color.apply(&mut branding.primary_color);
        self.secondary_color.apply(&mut branding.secondary_color);
        self.slogan.apply(&mut branding.slogan);
        self.short_description.apply(&mut branding.short_description);
        match self.social_links {
            Patch::Keep => {}
            Patch::Clear => branding.social_links.clear(),
            Patch::Set(SocialLinks(links)) => branding.social_links = links,
        }
    }
}

/// Ensures that the images of a branding exist. No round trip if they are unchanged.
///
/// # Errors
/// `unknown_media` as a field error of each image that the store does not have.
pub(crate) async fn validate(
    services: &Services,
    before: &Store,
    wanted: &Store,
) -> Result<(), Problem> {
    if wanted.branding.images().eq(before.branding.images()) {
        return Ok(());
    }
    let to_key = |(_, id)| key::media(&wanted.id, id);
    let keys: Vec<Key> = wanted.branding.images().map(to_key).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut found: Vec<Media> = Vec::new();
    for key in &keys {
        found.extend(batch.take(key)?);
    }
    let is_missing = |id: &MediaId| found.iter().all(|media| media.id != *id);
    let missing = wanted.branding.images().filter(|(_, id)| is_missing(id));
    let errors: Vec<FieldError> = missing.map(|(field, _)| unknown_image(field)).collect();
    if errors.is_empty() { Ok(()) } else { Err(Problem::invalid(errors)) }
}
