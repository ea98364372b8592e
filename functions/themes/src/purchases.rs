//! Purchases of themes: a payment to the seller's store, and the licence that it grants.

use axum::extract::State;
use callers::{Admin, StoreAccess};
use core_types::id::ThemePurchaseId;
use core_types::key;
use core_types::provider::ProviderName;
use core_types::resource::load;
use core_types::scope::ReadThemes;
use gateway::app::App;
use gateway::idempotency;
use gateway::idempotency::answering;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoStore, Page};
use gateway::request::{Body, Path};
use primitives::fields::Exact;
use primitives::input::request;
use primitives::problem::{Code, Problem};
use sales::payment::PaymentSource;
use sales::payment::load::connect;
use sales::payment::provider::{Provider, RedirectParameters};
use schemars::JsonSchema;
use serde::Serialize;
use themes::entitlement::Entitlement;
use themes::manifest::Slug;
use themes::purchase::ThemePurchase;
use themes::purchase::create::{CreatedPurchase, Sale};
use themes::purchase::update::{self, PurchaseUpdate};
use themes::theme::Theme;
use themes::theme_license::{LicenseView, ThemeLicense};

/// A purchase to begin.
#[request]
#[derive(Debug, Clone)]
pub struct PurchaseRequest {
    /// The payment provider: `razorpay` or `stripe`. The seller's store must have it enabled.
    provider: ProviderName,
}

/// `POST /v1/themes/{slug}/purchase` (`purchaseTheme`): Purchase a theme for a store.
///
/// Creates a purchase, and a payment with the payment provider of the seller's store.
///
/// # Errors
/// `not_found`, `theme_is_free`, `already_licensed`, `not_for_sale`,
/// `provider_not_connected`, `amount_not_supported`, `version_conflict`, `provider_error`,
/// `provider_timeout`; `invalid_choice` as a field error: `manual` sells no themes.
pub async fn purchase(
    admin: Admin,
    State(app): State<App>,
    _: idempotency::Required,
    Path(slug): Path<Slug>,
    Body(input): Body<PurchaseRequest>,
) -> Result<NoStore<Created<CreatedPurchase>>, Problem> {
    let store = &admin.store;
    let theme_key = key::theme(slug.as_str());
    let license_key = key::theme_license(&store.id, slug.as_str());
    let mut found = app.table.get_many(&[&theme_key, &license_key]).await?;
    let theme: Option<Theme> = found.take(&theme_key)?;
    let theme = theme.filter(Theme::is_published).ok_or(Code::NotFound)?;
    let license: Option<ThemeLicense> = found.take(&license_key)?;
    let price = theme.price_for(&store.owner_id);
    let entitlement = Entitlement::of(price, license.as_ref().map(|license| &license.term));
    let price = match (price, entitlement) {
        (Some(price), Entitlement::LicenseRequired) => price,
        (_, Entitlement::Licensed) => return Err(Code::AlreadyLicensed.into()),
        _ => return Err(Code::ThemeIsFree.into()),
    };
    let seller = theme.seller_store_id.as_ref().ok_or(Code::NotForSale)?;
    let sale = Sale { buyer: &store.id, theme: &theme, price, seller };
    let completion = answering(|created: &CreatedPurchase| Created::new(created).no_store());
    ThemePurchase::create(&app, sale, input.provider, &completion).await
}

/// The parameters of the provider's redirect.
#[request]
#[derive(Debug, Clone)]
pub struct VerifyRequest {
    /// The purchase.
    purchase_id: ThemePurchaseId,
    /// Razorpay's order.
    razorpay_order_id: Option<Exact<128>>,
    /// Razorpay's payment.
    razorpay_payment_id: Option<Exact<128>>,
    /// Razorpay's signature over both.
    razorpay_signature: Option<Exact<256>>,
    /// Stripe's payment intent.
    payment_intent: Option<Exact<128>>,
}

impl From<&VerifyRequest> for RedirectParameters {
    fn from(input: &VerifyRequest) -> Self {
        let text = |field: &Option<Exact<128>>| field.as_ref().map(|text| text.as_str().to_owned());
        Self {
            razorpay_order_id: text(&input.razorpay_order_id),
            razorpay_payment_id: text(&input.razorpay_payment_id),
            razorpay_signature: input.razorpay_signature.as_ref().map(|t| t.as_str().to_owned()),
            payment_intent: text(&input.payment_intent),
        }
    }
}

/// A granted licence.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Licensed {
    /// The licence.
    license: LicenseView,
}

/// `POST /v1/themes/{slug}/purchase/verify` (`verifyThemePurchase`): Verify a theme purchase after the redirect.
///
/// The redirect proves no payment: the state is fetched from the provider. A repetition returns the same
/// licence.
///
/// # Errors
/// `not_found`, `signature_mismatch`, also for another purchase's payment; `amount_mismatch`: another
/// amount was paid, and is refunded; `already_licensed`: the store has a licence already, and this payment
/// is refunded; `invalid_state_transition`: it is not paid, or was refunded; `provider_not_connected`,
/// `provider_error`, `provider_timeout`.
pub async fn verify(
    admin: Admin,
    State(app): State<App>,
    Path(slug): Path<Slug>,
    Body(input): Body<VerifyRequest>,
) -> Result<Json<Licensed>, Problem> {
    let store = &admin.store.id;
    let found: ThemePurchase = load(&app, &key::theme_purchase(store, &input.purchase_id)).await?;
    if found.slug != slug {
        return Err(Code::NotFound.into());
    }
    let payment = &found.payment;
    let provider_client = connect(&app, &payment.store_id, payment.provider).await?;
    provider_client.verify_return(payment, &RedirectParameters::from(&input))?;
    let observed = &update::fetch_payment(&app, &provider_client, &found).await?;
    let (store_id, purchase_id, source) = (store, &input.purchase_id, PaymentSource::Verify);
    let update = PurchaseUpdate { store_id, purchase_id, observed, source, event: None };
    let known = update::record(&app, &provider_client, &slug, update).await?;
    let license = LicenseView::from(known.granted()?);
    Ok(Json::new(&Licensed { license }))
}

/// `GET /v1/themes/{slug}/licenses` (`listThemeLicenses`): List licences of a theme.
///
/// Lists the store's licences for a theme: at most one, active or ended.
///
/// # Errors
/// `invalid_cursor`.
pub async fn licenses(
    access: StoreAccess<ReadThemes>,
    State(app): State<App>,
    Path(slug): Path<Slug>,
    paging: Paging,
) -> Result<Page<LicenseView>, Problem> {
    let key = key::theme_license(&access.store.id, slug.as_str());
    let found: Option<ThemeLicense> = app.table.get(&key).await?;
    let views = found.iter().map(LicenseView::from).collect();
    paging.slice(&app, views, |license: &LicenseView| license.id.to_string()).await
}
