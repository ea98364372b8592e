//! How a store presents itself, as requests say it.

use catalogue::media::Media;
use core_types::id::MediaId;
use core_types::key;
use gateway::request::request;
use identity::store::branding::{Color, SocialLinks, unknown_picture};
use identity::store::{Branding, Store};
use primitives::fields::{Patch, Text};
use primitives::problem::{FieldError, Problem};
use services::Services;
use table::item::Key;

/// What to change about how a store presents itself. What is left out stays; `null` clears it.
#[request]
#[derive(Debug)]
pub struct BrandingRequest {
    /// The picture that stands for it.
    logo: Patch<PictureRequest>,
    /// The picture that browsers show beside its name.
    favicon: Patch<PictureRequest>,
    /// What stands out: `#rrggbb`.
    primary_color: Patch<Color>,
    /// What goes with it: `#rrggbb`.
    secondary_color: Patch<Color>,
    /// The store in a line.
    slogan: Patch<Text<1, 120>>,
    /// The store in a paragraph.
    short_description: Patch<Text<1, 500>>,
    /// Where else it is found, all of it anew: at most 12 profiles, one of each network.
    social_links: Patch<SocialLinks>,
}

/// A picture of the store's own media.
#[request]
#[derive(Debug)]
pub struct PictureRequest {
    /// The media it is.
    media_id: MediaId,
}

impl From<PictureRequest> for MediaId {
    fn from(picture: PictureRequest) -> Self {
        picture.media_id
    }
}

impl BrandingRequest {
    /// Changes a branding as the caller wants it.
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

/// Looks up the pictures that a store is to show: no round trip when they are what they were.
///
/// # Errors
/// `unknown_media` as a fault of each picture that the store does not have.
pub(crate) async fn validate(
    services: &Services,
    before: &Store,
    wanted: &Store,
) -> Result<(), Problem> {
    if wanted.branding.pictures().eq(before.branding.pictures()) {
        return Ok(());
    }
    let place = |(_, id)| key::media(&wanted.id, id);
    let keys: Vec<Key> = wanted.branding.pictures().map(place).collect();
    let mut batch = services.table.get_many(&keys.iter().collect::<Vec<_>>()).await?;
    let mut found: Vec<Media> = Vec::new();
    for key in &keys {
        found.extend(batch.take(key)?);
    }
    let is_missing = |id: &MediaId| found.iter().all(|media| media.id != *id);
    let missing = wanted.branding.pictures().filter(|(_, id)| is_missing(id));
    let errors: Vec<FieldError> = missing.map(|(field, _)| unknown_picture(field)).collect();
    if errors.is_empty() { Ok(()) } else { Err(Problem::invalid(errors)) }
}
