//! References to images: their public URL, and the use count that protects them from deletion.

use primitives::problem::{Code, Problem};
use table::{Change, Write};

use crate::fields::Subdomain;
use crate::id::{MediaId, StoreId};
use crate::key;

/// The public URL of an image, on the storefront of this subdomain.
pub fn url(id: &MediaId, base_url: &str, subdomain: &Subdomain) -> String {
    format!("{base_url}/v1/storefront/{subdomain}/media/{id}")
}

/// Counts one more use of an image. Rejected when there is no such image.
pub fn hold(write: Write, store: &StoreId, id: &MediaId, rejected: impl Into<Problem>) -> Write {
    let change = Change::new("SET uses = if_not_exists(uses, :none) + :one")
        .only_if("attribute_exists(PK)")
        .value(":none", 0)
        .value(":one", 1);
    write.update(&key::media(store, id), change, rejected)
}

/// Counts one use of an image less.
pub fn release(write: Write, store: &StoreId, id: &MediaId) -> Write {
    let change = Change::new("SET uses = uses - :one").only_if("uses >= :one").value(":one", 1);
    write.update(&key::media(store, id), change, Code::VersionConflict)
}
