//! The requirements for selling: shipping, payments, taxes, and a verified address of the store's
//! owner.

use axum::extract::State;
use callers::Admin;
use core_types::key;
use core_types::provider::ProviderName;
use gateway::app::App;
use gateway::reply::Json;
use identity::merchant::Merchant;
use identity::store::Store;
use primitives::problem::{Code, Problem};
use sales::payment::account::ProviderAccount;
use sales::payment::load;
use sales::pricing_document::PricingDocument;
use sales::shipping::ShippingZone;
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;

use crate::tax_rates;

primitives::string_enum! {
    /// A requirement for selling.
    Requirement {
        /// A shipping zone with rates. Without one, goods are shipped everywhere for free.
        Shipping = "shipping",
        /// A payment provider that the merchant has connected or configured. Without one, orders are paid
        /// manually, without instructions, or not at all if manual payments are disabled.
        Payments = "payments",
        /// A tax rate. Without one, no tax is charged.
        Taxes = "taxes",
        /// A proven e-mail address of the store's owner. Without one, the store sends no mail.
        /// Activation does not require one.
        OwnerEmail = "owner_email",
    }
}

impl Requirement {
    /// Whether activation requires it, unless the merchant accepts that it is missing.
    pub(crate) const fn is_required(self) -> bool {
        !matches!(self, Self::OwnerEmail)
    }

    /// The consequence of the missing requirement, and how to meet it. `takes_manual`: the store accepts manual payments.
    const fn detail(self, takes_manual: bool) -> &'static str {
        match self {
            Self::Shipping => {
                "There is no shipping rate: goods are shipped everywhere for free. Create a shipping zone."
            }
            Self::Payments if !takes_manual => {
                "No payment provider is enabled: orders cannot be paid. Enable manual payments, or connect a provider."
            }
            Self::Payments => {
                "No payment provider is set up: orders are paid manually, without instructions. Set up a provider."
            }
            Self::Taxes => "There is no tax rate: no tax is charged. Create a tax rate.",
            Self::OwnerEmail => {
                "The owner's e-mail address is not verified: the store sends no mail. Verify the address."
            }
        }
    }
}

/// A requirement of a store.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ReadinessItem {
    /// The requirement.
    requirement: Requirement,
    /// Whether it is met.
    met: bool,
    /// Whether activation requires it, unless the merchant accepts that it is missing.
    required: bool,
    /// The consequence if it is not met; null if it is met.
    detail: Option<&'static str>,
}

/// Whether a store is ready to sell.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StoreReadiness {
    /// Whether all required items are met.
    ready: bool,
    /// The requirements.
    items: Vec<ReadinessItem>,
}

/// `GET /v1/stores/{id}/readiness` (`getStoreReadiness`): Get the readiness of a store.
///
/// A store cannot be activated while a required item is missing, unless the activation accepts that.
pub(crate) async fn get(
    caller: Admin,
    State(app): State<App>,
) -> Result<Json<StoreReadiness>, Problem> {
    let unmet = unmet_requirements(&app, &caller.store).await?;
    let items = Requirement::ALL.iter().map(|requirement| {
        let detail = unmet.iter().find(|(one, _)| one == requirement);
        ReadinessItem {
            requirement: *requirement,
            met: detail.is_none(),
            required: requirement.is_required(),
            detail: detail.map(|(_, detail)| *detail),
        }
    });
    let ready = !unmet.iter().any(|(requirement, _)| requirement.is_required());
    Ok(Json::new(&StoreReadiness { ready, items: items.collect() }))
}

/// Ensures that a store lacks nothing that the merchant has not accepted.
///
/// # Errors
/// `store_not_ready`.
pub(crate) async fn ensure(
    services: &Services,
    caller: &Admin,
    accepted: &[Requirement],
) -> Result<(), Problem> {
    let mut unmet = unmet_requirements(services, &caller.store).await?;
    unmet.retain(|(one, _)| one.is_required() && !accepted.contains(one));
    if unmet.is_empty() {
        return Ok(());
    }
    let items =
        unmet.iter().map(|(one, detail)| serde_json::json!({"requirement": one, "detail": detail}));
    Err(Code::StoreNotReady.with("missing", items.collect::<Vec<_>>()))
}

/// Finds the requirements that a store does not meet, each with the consequence, by concurrent reads.
async fn unmet_requirements(
    services: &Services,
    store: &Store,
) -> Result<Vec<(Requirement, &'static str)>, Problem> {
    let owner = key::merchant(&store.owner_id);
    let (zones, accounts, tax_documents, owner) = tokio::try_join!(
        PricingDocument::<ShippingZone>::load(services, key::shipping_zones(&store.id)),
        load::accounts(services, store),
        tax_rates::all(services, &store.id),
        services.table.get::<Merchant>(&owner),
    )?;
    let is_met = |requirement: Requirement| match requirement {
        Requirement::Shipping => zones.entries.iter().any(|zone| !zone.rates.is_empty()),
        // The default account has version 0.
        Requirement::Payments => {
            accounts.iter().any(|account| account.version > 0 && account.is_offered())
        }
        Requirement::Taxes => tax_documents.iter().any(|document| !document.entries.is_empty()),
        Requirement::OwnerEmail => owner.as_ref().is_some_and(|owner| owner.email_verified),
    };
    let is_manual = |account: &&ProviderAccount| account.provider == ProviderName::Manual;
    let takes_manual = accounts.iter().find(is_manual).is_some_and(ProviderAccount::is_offered);
    let unmet = Requirement::ALL.iter().copied().filter(|one| !is_met(*one));
    Ok(unmet.map(|one| (one, one.detail(takes_manual))).collect())
}
