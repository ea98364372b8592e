//! Products to test with, and tests of a product's status.

use core_types::event::{EXAMPLE_TIME, sample};
use core_types::money;

use super::*;

const NOW: Timestamp = EXAMPLE_TIME;

pub(crate) fn product() -> Product {
    Product {
        id: ProductId::derive(&["product"]),
        store_id: StoreId::derive(&["store"]),
        title: "Mug".into(),
        handle: sample("mug"),
        description: String::new(),
        status: ProductStatus::Draft,
        vendor: None,
        product_type: None,
        tags: Vec::new(),
        options: Vec::new(),
        images: Vec::new(),
        seo: Seo::default(),
        metadata: BTreeMap::new(),
        category_id: None,
        tax_class: None,
        variants_count: 1,
        discontinued_count: 0,
        variant_ids: vec![VariantId::derive(&["only"])],
        prices: vec![100],
        compare_at: None,
        on_sale: false,
        currency: sample("INR"),
        always_sells: false,
        follows_store: false,
        rating_count: 0,
        rating_sum: 0,
        published_at: None,
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    }
}

pub(crate) fn variant(name: &str, price: i64) -> Variant {
    Variant {
        id: VariantId::derive(&[name]),
        store_id: StoreId::derive(&["store"]),
        product_id: ProductId::derive(&["product"]),
        title: name.into(),
        sku: Some(name.into()),
        price: money::sample(price),
        compare_at: None,
        options: vec![name.into()],
        weight_grams: None,
        barcode: None,
        hs_code: None,
        country_of_origin: None,
        requires_shipping: true,
        taxable: true,
        image_url: None,
        metadata: BTreeMap::new(),
        tracked: true,
        policy: None,
        discontinued: false,
        stocked_at: Vec::new(),
        position: 0,
        created_at: NOW,
        updated_at: NOW,
        version: 1,
    }
}

#[test]
fn later_activations_keep_the_first_publication_time() {
    let later = NOW.plus(primitives::clock::DAY);
    let sold = product().in_status(ProductStatus::Active, NOW);
    assert_eq!(sold.published_at, Some(NOW));
    let again = sold.in_status(ProductStatus::Archived, later);
    let again = again.in_status(ProductStatus::Active, later);
    assert_eq!((again.published_at, again.is_visible()), (Some(NOW), true));
    assert_eq!(product().in_status(ProductStatus::Archived, NOW).published_at, None);
}

#[test]
fn discontinued_variants_count_for_nothing_that_shoppers_see() {
    let [mut cheap, dear] = [variant("cheap", 100), variant("dear", 900)];
    cheap.compare_at = Some(money::sample(200));
    cheap.discontinued = true;
    cheap.tracked = false;
    let of = |variants: &[Variant]| {
        product().in_status(ProductStatus::Active, NOW).with_prices_of(variants)
    };
    let half = of(&[cheap.clone(), dear.clone()]);
    assert_eq!((half.prices.clone(), half.compare_at, half.on_sale), (vec![900], None, false));
    assert_eq!((half.variants_count, half.discontinued_count), (2, 1));
    assert!(half.is_visible() && !half.always_sells);
    let summary = ProductSummary::of(&half, &[cheap.clone(), dear.clone()]);
    assert_eq!(summary.variant_ids, std::slice::from_ref(&dear.id));
    let gone = of(std::slice::from_ref(&cheap));
    assert_eq!((gone.prices.clone(), gone.is_visible()), (vec![100], false));
    assert!(!ProductSummary::of(&gone, &[cheap]).is_visible());
}
