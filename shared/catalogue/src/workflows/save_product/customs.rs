//! Sets what customs ask for of variants: a file of stock has it by variant, and need not know the products.

use std::collections::HashMap;

use core_types::fields::{Country, HsCode};
use core_types::id::{ProductId, VariantId};
use identity::store::Store;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use services::Services;
use table::retry;

use super::write::Revision;
use crate::product::{self, PRODUCT_UPDATED, Variant};

/// The most variants of one transaction.
const TOGETHER: usize = 12;

/// The changes of a variant's customs data; a missing field stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Customs {
    /// The code of the Harmonized System.
    pub hs_code: Option<HsCode>,
    /// The country in which it was made.
    pub country_of_origin: Option<Country>,
}

impl Customs {
    /// Whether it says nothing.
    pub const fn is_empty(&self) -> bool {
        self.hs_code.is_none() && self.country_of_origin.is_none()
    }

    /// The variant with this, at its next version if that changes it.
    #[must_use]
    pub fn applied_to(&self, variant: &Variant, now: Timestamp) -> Variant {
        let wanted = Variant {
            hs_code: self.hs_code.clone().or_else(|| variant.hs_code.clone()),
            country_of_origin: self
                .country_of_origin
                .clone()
                .or_else(|| variant.country_of_origin.clone()),
            ..variant.clone()
        };
        if wanted == *variant { wanted } else { wanted.changed(now) }
    }
}

/// Sets them on variants of a product. Variants that it no longer has are left out.
///
/// # Errors
/// `not_found`; `version_conflict` when the product is being changed again and again.
pub async fn set_customs(
    services: &Services,
    store: &Store,
    id: &ProductId,
    wanted: &[(VariantId, Customs)],
) -> Result<(), Problem> {
    for wanted in wanted.chunks(TOGETHER) {
        let wanted: HashMap<&VariantId, &Customs> =
            wanted.iter().map(|(id, it)| (id, it)).collect();
        retry(|| async {
            let now = services.clock.now();
            let (before, variants) =
                product::load(services, &store.id, id).await?.ok_or(Code::NotFound)?;
            let after = variants.iter().map(|variant| match wanted.get(&variant.id) {
                Some(customs) => customs.applied_to(variant, now),
                None => variant.clone(),
            });
            let after: Vec<Variant> = after.collect();
            if after == variants {
                return Ok(());
            }
            let product = before.changed(now).with_prices_of(&after);
            let revision = Revision { before: (&before, &variants), after: (&product, &after) };
            revision.commit(services, &PRODUCT_UPDATED, now).await
        })
        .await?;
    }
    Ok(())
}
