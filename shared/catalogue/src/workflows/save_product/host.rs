//! Hosts the images of a product: those that were elsewhere become media of its store.

use std::collections::HashMap;
use std::hash::BuildHasher;

use core_types::id::{ProductId, StoreId};
use primitives::problem::Problem;
use services::Services;
use table::retry;

use super::write::Revision;
use crate::media::Media;
use crate::product::{self, Image, PRODUCT_UPDATED, Product, Variant};

/// Replaces the images at these addresses by media of the store, and the images of variants with them. A
/// product that is gone has none.
///
/// # Errors
/// `change_too_large`; 503.
pub async fn host_images<S: BuildHasher + Sync>(
    services: &Services,
    store: &StoreId,
    id: &ProductId,
    hosted: &HashMap<String, Media, S>,
) -> Result<(), Problem> {
    retry(|| async move {
        let now = services.clock.now();
        let Some((before, variants)) = product::load(services, store, id).await? else {
            return Ok(());
        };
        let address = |media: &Media| Image::address(&services.config.base_url, store, &media.id);
        let image = |image: &Image| match hosted.get(&image.url) {
            Some(media) if image.media_id.is_none() => Image {
                media_id: Some(media.id.clone()),
                url: address(media),
                alt: image.alt.clone(),
                width: media.width,
                height: media.height,
            },
            _ => image.clone(),
        };
        let images: Vec<Image> = before.images.iter().map(image).collect();
        if images == before.images {
            return Ok(());
        }
        let variant = |variant: &Variant| {
            let media = variant.image_url.as_ref().and_then(|url| hosted.get(url));
            match media {
                Some(media) => Variant { image_url: Some(address(media)), ..variant.changed(now) },
                None => variant.clone(),
            }
        };
        let after: Vec<Variant> = variants.iter().map(variant).collect();
        let product = Product { images, ..before.changed(now) }.with_prices_of(&after);
        product.ensure_size()?;
        let revision = Revision { before: (&before, &variants), after: (&product, &after) };
        revision.commit(services, &PRODUCT_UPDATED, now).await
    })
    .await
}
