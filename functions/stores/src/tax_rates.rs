//! Handlers of a store's tax rates.

use axum::extract::State;
use callers::StoreAccess;
use core_types::fields::{Country, PostalPrefix, TaxClass};
use core_types::id::{StoreId, TaxRateId};
use core_types::key;
use core_types::money::ONE_HUNDRED_PERCENT_BPS;
use core_types::scope::{ReadTaxes, WriteTaxes};
use gateway::app::App;
use gateway::idempotency::answering;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoContent, Page};
use gateway::request::{Body, IfMatch, Path, Query, Ruled};
use primitives::fields::{Flag, FromText, Int, Patch, Text, Violation};
use primitives::input::{Given, Rules, request};
use primitives::problem::{Code, FieldError, Problem};
use sales::pricing_document::{self, PricingDocument, PricingEntry};
use sales::tax::{
    Percentage, PostalCodes, TAX_RATE_CREATED, TAX_RATE_DELETED, TAX_RATE_UPDATED, TaxRate,
    TaxRateView,
};
use services::Services;
use table::Query as TableQuery;

use crate::entries::{created, to_response};
use crate::region::region_code;

/// A bound above the number of countries.
const MAX_COUNTRIES: usize = 300;

/// Filters of a list of tax rates.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only rates of this country.
    country: Option<Country>,
}

/// `GET /v1/stores/{id}/tax-rates` (`listTaxRates`): List tax rates of a store.
///
/// Rates come by country, and within a country in the order in which they were created.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadTaxes>,
    State(app): State<App>,
    Query(input): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<TaxRateView>, Problem> {
    let store = &caller.store.id;
    let documents = match &input.country {
        Some(country) => {
            vec![PricingDocument::load(&app, key::tax_rates(store, country.as_str())).await?]
        }
        None => all(&app, store).await?,
    };
    let views =
        documents.iter().flat_map(|document| &document.entries).map(TaxRateView::from).collect();
    paging.slice(&app, views, |view: &TaxRateView| view.id.to_string()).await
}

/// Loads the rates of every country.
pub(crate) async fn all(
    services: &Services,
    store: &StoreId,
) -> Result<Vec<PricingDocument<TaxRate>>, Problem> {
    let query = TableQuery::partition(key::store(store).pk).begins_with(key::TAX_RATES);
    services.table.all(&query, MAX_COUNTRIES).await
}

/// Finds a rate of the store.
async fn find(services: &Services, store: &StoreId, id: &TaxRateId) -> Result<TaxRate, Problem> {
    let documents = all(services, store).await?;
    let found = documents.iter().find_map(|document| document.entry(id.as_str()).ok());
    found.cloned().ok_or_else(|| Code::NotFound.into())
}

/// `GET /v1/stores/{id}/tax-rates/{rate_id}` (`getTaxRate`): Get a tax rate.
///
/// The response has its jurisdiction, class and percentage.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: StoreAccess<ReadTaxes>,
    State(app): State<App>,
    Path((_, id)): Path<(StoreId, TaxRateId)>,
) -> Result<Json<TaxRateView>, Problem> {
    find(&app, &caller.store.id, &id).await.map(|rate| to_response(&rate))
}

/// A percentage in a request: a decimal with up to four decimals.
#[derive(Debug, Clone, Copy)]
pub struct Percent(Percentage);

impl FromText for Percent {
    const EXPECTS: &'static str = Percentage::EXPECTS;

    fn from_text(text: &str) -> Result<Self, Violation> {
        Percentage::from_text(text).map(Self)
    }
}

primitives::text_field!(Percent);
primitives::string_schema!(Percent: {
    "pattern": "^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)$"
});

/// A tax rate to create.
#[request]
#[derive(Debug, Clone)]
pub struct CreateRequest {
    /// The name of the tax, as on invoices.
    name: Text<1, 100>,
    /// The country in which it applies.
    country: Country,
    /// Only this region of the country; the whole country by default.
    region: Option<Text<1, 120>>,
    /// The tax class to which it is limited. By default all goods whose class has no rate in this
    /// jurisdiction.
    tax_class: Option<TaxClass>,
    /// Only these postal codes; all by default.
    postal_codes: Option<PostalCodesRequest>,
    /// The percentage, as a string with up to four decimals: `"9.975"`.
    percent: Option<Percent>,
    /// The percentage in hundredths of a percent (1900 is 19 %), instead of `percent`.
    basis_points: Option<Int<0, ONE_HUNDRED_PERCENT_BPS>>,
    /// Whether it applies in addition to the rates of the wider jurisdiction, instead of replacing them.
    #[deserr(rename = "combines")]
    combines: Flag,
    /// Whether it applies to the shipping of its goods too; it does by default.
    on_shipping: Option<Flag>,
}

impl Rules for CreateRequest {
    fn violations(given: Given<'_>) -> Vec<FieldError> {
        match (given.has("percent"), given.has("basis_points")) {
            (false, false) => {
                vec![FieldError::new(
                    "/percent",
                    "required",
                    "`percent` or `basis_points` is required.",
                )]
            }
            (true, true) => vec![twice()],
            _ => Vec::new(),
        }
    }
}

/// The error for both ways to write a percentage.
fn twice() -> FieldError {
    FieldError::new(
        "/basis_points",
        "not_applicable",
        "Send `percent` or `basis_points`, not both.",
    )
}

/// The percentage of a request.
fn percentage(
    percent: Option<Percent>,
    points: Option<&Int<0, ONE_HUNDRED_PERCENT_BPS>>,
) -> Option<Percentage> {
    percent
        .map(|percent| percent.0)
        .or_else(|| points.and_then(|points| Percentage::of_basis_points(points.0)))
}

/// Postal codes of a jurisdiction: `prefix`, or `from` and `to`.
#[request]
#[derive(Debug, Clone)]
pub struct PostalCodesRequest {
    /// The beginning of the codes. A blank at its end says that a part of the code ends there: `NG1 ` does not
    /// cover `NG10 1AA`.
    prefix: Option<PostalPrefix>,
    /// The first code of a range.
    from: Option<Text<1, 20>>,
    /// The last code of a range, of the same length.
    to: Option<Text<1, 20>>,
}

impl PostalCodesRequest {
    /// The postal codes of a country.
    ///
    /// # Errors
    /// `invalid_postal_code` as a field error.
    fn codes(&self, country: &Country) -> Result<PostalCodes, Problem> {
        let codes = match (&self.prefix, &self.from, &self.to) {
            (Some(prefix), None, None) => PostalCodes::prefix(country, prefix.as_str()),
            (None, Some(from), Some(to)) => PostalCodes::range(country, from.as_str(), to.as_str()),
            _ => None,
        };
        let detail = "Must be a `prefix`, or a range from `from` to `to` of codes of equal length.";
        codes.ok_or_else(|| Problem::field("/postal_codes", "invalid_postal_code", detail))
    }
}

/// `POST /v1/stores/{id}/tax-rates` (`createTaxRate`): Create a tax rate.
///
/// The rates of a narrower jurisdiction replace those of a wider one unless they combine with them. Rates of one
/// jurisdiction are added up; they do not compound.
///
/// # Errors
/// `tax_rate_exists`, `tax_rate_limit`; `required` and `not_applicable` for the percentage, `invalid_region`,
/// `invalid_percentage` and `invalid_postal_code` as field errors.
pub async fn create(
    caller: StoreAccess<WriteTaxes>,
    State(app): State<App>,
    Ruled(Body(input)): Ruled<Body<CreateRequest>>,
) -> Result<Created<TaxRateView>, Problem> {
    let now = app.clock.now();
    let region = input.region.map(|region| region_code(&input.country, &region)).transpose()?;
    let codes = input.postal_codes.as_ref().map(|codes| codes.codes(&input.country)).transpose()?;
    let rate = TaxRate {
        id: TaxRateId::mint(now),
        store_id: caller.store.id.clone(),
        name: input.name.into(),
        country: input.country,
        region,
        tax_class: input.tax_class,
        postal_codes: codes,
        percentage: percentage(input.percent, input.basis_points.as_ref())
            .ok_or_else(|| Problem::internal("a validated percentage is missing"))?,
        combines: input.combines.0,
        on_shipping: input.on_shipping.is_none_or(|flag| flag.0),
        created_at: now,
        updated_at: now,
        version: 1,
    };
    pricing_document::add(&app, rate, &TAX_RATE_CREATED, &answering(created)).await
}

/// The changes of a tax rate. Its country cannot be changed.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The name of the tax, as on invoices.
    name: Option<Text<1, 100>>,
    /// Only this region of the country; `null` for the whole country.
    region: Patch<Text<1, 120>>,
    /// The tax class to which it is limited; `null` for all goods whose class has no rate in this
    /// jurisdiction.
    tax_class: Patch<TaxClass>,
    /// Only these postal codes; `null` for all.
    postal_codes: Patch<PostalCodesRequest>,
    /// The percentage, as a string with up to four decimals: `"9.975"`.
    percent: Option<Percent>,
    /// The percentage in hundredths of a percent (1900 is 19 %), instead of `percent`.
    basis_points: Option<Int<0, ONE_HUNDRED_PERCENT_BPS>>,
    /// Whether it applies in addition to the rates of the wider jurisdiction, instead of replacing them.
    #[deserr(rename = "combines")]
    combines: Option<Flag>,
    /// Whether it applies to the shipping of its goods too.
    on_shipping: Option<Flag>,
}

/// `PATCH /v1/stores/{id}/tax-rates/{rate_id}` (`updateTaxRate`): Update a tax rate.
///
/// Existing orders keep the taxes with which they were placed.
///
/// # Errors
/// `not_found`, `precondition_failed`, `tax_rate_exists`; `not_applicable` for two percentages, `invalid_region`,
/// `invalid_percentage` and `invalid_postal_code` as field errors.
pub async fn update(
    caller: StoreAccess<WriteTaxes>,
    State(app): State<App>,
    Path((_, id)): Path<(StoreId, TaxRateId)>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<TaxRateView>, Problem> {
    if input.percent.is_some() && input.basis_points.is_some() {
        return Err(Problem::invalid(vec![twice()]));
    }
    let known = find(&app, &caller.store.id, &id).await?;
    let next = |rate: &TaxRate| {
        let mut wanted = rate.clone();
        match &input.region {
            Patch::Keep => {}
            Patch::Clear => wanted.region = None,
            Patch::Set(region) => wanted.region = Some(region_code(&rate.country, region)?),
        }
        input.tax_class.clone().apply(&mut wanted.tax_class);
        wanted.name = input.name.clone().map_or(wanted.name, String::from);
        match &input.postal_codes {
            Patch::Keep => {}
            Patch::Clear => wanted.postal_codes = None,
            Patch::Set(codes) => wanted.postal_codes = Some(codes.codes(&rate.country)?),
        }
        let points = input.basis_points.as_ref();
        wanted.percentage = percentage(input.percent, points).unwrap_or(wanted.percentage);
        wanted.combines = input.combines.as_ref().map_or(wanted.combines, |flag| flag.0);
        wanted.on_shipping = input.on_shipping.as_ref().map_or(wanted.on_shipping, |flag| flag.0);
        Ok(wanted)
    };
    let at = (known.document_key(), id.as_str());
    let completion = answering(to_response);
    pricing_document::change(&app, at, if_match.0, &TAX_RATE_UPDATED, next, &completion).await
}

/// `DELETE /v1/stores/{id}/tax-rates/{rate_id}` (`deleteTaxRate`): Delete a tax rate.
///
/// Existing orders keep the taxes with which they were placed.
///
/// # Errors
/// `not_found`, `precondition_failed`.
pub async fn delete(
    caller: StoreAccess<WriteTaxes>,
    State(app): State<App>,
    Path((_, id)): Path<(StoreId, TaxRateId)>,
    if_match: IfMatch,
) -> Result<NoContent, Problem> {
    let known = find(&app, &caller.store.id, &id).await?;
    let at = (known.document_key(), id.as_str());
    let completion = answering(|_: &TaxRate| NoContent::default());
    pricing_document::remove(&app, at, if_match.0, &TAX_RATE_DELETED, &completion).await
}
