//! The accounts of the demo. They are written to the table, with proven addresses, because the demo's mails
//! have no reader.

use core_types::fields::{Currency, Email};
use core_types::id::{MerchantId, StoreId};
use core_types::key;
use crypto::password;
use crypto::password::Password;
use emulators::AnyError;
use identity::customer::{Customer, UniqueCustomerEmail};
use identity::holder::Application;
use identity::member::Memberships;
use identity::merchant::{Merchant, MerchantStatus, UniqueEmail};
use identity::session::{CreatedVia, Session};
use primitives::fields::FromText;
use primitives::problem::{Code, Problem};
use services::Services;

/// An account of the demo.
#[derive(Debug, Clone, Copy)]
pub struct Account {
    /// The e-mail address.
    pub email: &'static str,
    /// The password.
    pub password: &'static str,
    name: &'static str,
}

/// The merchant who owns the demo store.
pub const MERCHANT: Account =
    Account { email: "demo@example.com", password: "demo-merchant-1", name: "Demo Merchant" };

/// The platform operator.
pub const OPERATOR: Account =
    Account { email: "operator@example.com", password: "demo-operator-1", name: "Demo Operator" };

/// The customer of the demo store.
pub const CUSTOMER: Account = Account {
    email: "demo-customer@example.com",
    password: "demo-customer-1",
    name: "Demo Customer",
};

/// Loads the account, if it exists.
pub(super) async fn load(services: &Services, who: &Account) -> Result<Option<Merchant>, AnyError> {
    let email = email(who)?;
    let found: Option<UniqueEmail> =
        services.table.get(&key::unique_email(&email.normalized())).await.map_err(told)?;
    match found {
        Some(unique) => {
            Ok(services.table.get(&key::merchant(&unique.merchant_id)).await.map_err(told)?)
        }
        None => Ok(None),
    }
}

/// Creates the account, with a proven address.
pub(super) async fn create(services: &Services, who: &Account) -> Result<Merchant, AnyError> {
    let now = services.clock.now();
    let password = Password::parse(who.password).map_err(|error| format!("{error:?}"))?;
    let hash = password::hash(&password).await.map_err(|error| format!("{error:?}"))?;
    let merchant = Merchant {
        id: MerchantId::mint(now),
        email: email(who)?,
        email_verified: true,
        name: Some(who.name.to_owned()),
        locale: None,
        password_hash: Some(hash),
        mfa_enabled: false,
        status: MerchantStatus::Active,
        credential_generation: 1,
        password_generation: 1,
        stores: 0,
        newest_store_id: None,
        memberships: Memberships::default(),
        delete_at: None,
        created_at: now,
        updated_at: now,
        version: 1,
    };
    let write = services.table.write().create(&UniqueEmail::of(&merchant), Code::EmailTaken);
    write.create(&merchant, Code::VersionConflict).commit().await.map_err(told)?;
    Ok(merchant)
}

/// Creates the store's customer, unless it exists.
pub(super) async fn register(services: &Services, store: &StoreId) -> Result<(), AnyError> {
    let email = email(&CUSTOMER)?;
    let claim = key::unique_customer_email(store, &email.normalized());
    let known: Option<UniqueCustomerEmail> = services.table.get(&claim).await.map_err(told)?;
    if known.is_some() {
        return Ok(());
    }
    let password = Password::parse(CUSTOMER.password).map_err(|error| format!("{error:?}"))?;
    let hash = password::hash(&password).await.map_err(|error| format!("{error:?}"))?;
    let application = Application {
        email,
        password_hash: Some(hash),
        name: Some(CUSTOMER.name.to_owned()),
        phone: None,
        phone_e164: None,
        accepts_marketing: false,
    };
    let currency = Currency::from_text("INR").map_err(|fault| format!("{fault:?}"))?;
    let customer = Customer::register(store, &currency, application, services.clock.now());
    let write = customer.claim(services.table.write());
    write.create(&customer, Code::VersionConflict).commit().await.map_err(told)
}

fn email(who: &Account) -> Result<Email, AnyError> {
    Email::from_text(who.email).map_err(|fault| format!("{fault:?}").into())
}

/// Begins a session of a merchant. Returns its token.
pub(super) async fn begin_session(
    services: &Services,
    merchant: &Merchant,
) -> Result<String, AnyError> {
    let (via, network) = (CreatedVia::Password, "127.0.0.0/24".to_owned());
    let (session, token) = Session::begin(merchant, via, network, None, services.clock.now());
    services.table.write().create(&session, Code::VersionConflict).commit().await.map_err(told)?;
    Ok(token)
}

/// Converts a problem to an error, and logs it with its cause.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(super) fn told(problem: Problem) -> AnyError {
    problem.log();
    problem.to_string().into()
}
