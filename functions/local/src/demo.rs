//! The demo: a merchant with an active store of forty products that accepts payments, a customer of that
//! store, and an operator. It is created at the first start of a data directory.

mod catalogue;
mod payments;
mod picture;
pub mod themes;

use std::sync::Arc;
use std::time::Duration;

use crate::providers::Providers;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use core_types::fields::{Currency, Email};
use core_types::id::{MerchantId, StoreId};
use core_types::key;
use crypto::password;
use crypto::password::Password;
use emulators::AnyError;
use http::StatusCode;
use identity::customer::{Customer, UniqueCustomerEmail};
use identity::holder::Application;
use identity::member::Memberships;
use identity::merchant::{Merchant, MerchantStatus, UniqueEmail};
use identity::session::{CreatedVia, Session};
use primitives::fields::FromText;
use primitives::problem::Code;
use serde_json::{Value, json};
use services::Services;
use tower::ServiceExt;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use crate::System;
use crate::progress::Progress;

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

/// Attempts of a request whose budget is used up.
const ATTEMPTS: u32 = 20;

/// The demo store's subdomain.
pub const SUBDOMAIN: &str = "demo-store";

/// Creates the demo, unless it exists, and connects it to these payment providers. Their data is lost with
/// them, so the demo's webhook endpoints are registered at every start.
pub async fn seed(system: &System, providers: Option<&Providers>) -> Result<(), AnyError> {
    // Some hundred requests that need no log lines.
    make(system).with_subscriber(NoSubscriber::default()).await?;
    if let Err(cause) = dress(system).with_subscriber(NoSubscriber::default()).await {
        // The demo works without a theme.
        tracing::warn!(%cause, "theme of the demo store not installed");
    }
    let Some(providers) = providers else { return Ok(()) };
    let connected = payments::connect(system, providers).with_subscriber(NoSubscriber::default());
    if let Err(cause) = connected.await {
        // A user may have changed the store since; that must not prevent the start.
        tracing::warn!(%cause, "demo store not connected to the payment providers");
    }
    Ok(())
}

/// Creates the accounts and the store. The operator is created last, so that an interrupted attempt is
/// repeated; once the operator exists, this is one read.
async fn make(system: &System) -> Result<(), AnyError> {
    let app = system.app();
    if account(app, &OPERATOR).await?.is_some() {
        return Ok(());
    }
    let progress = Arc::new(Progress::begin("Preparing the demo store"));
    let merchant = match account(app, &MERCHANT).await? {
        Some(found) => found,
        None => create(app, &MERCHANT).await?,
    };
    let mut api = Api::sign_in(system, &merchant).await?;
    api.progress = Some(Arc::clone(&progress));
    let store = open_store(&api).await?;
    catalogue::stock_up(&api).await?;
    api.sign_out().await?;
    register(app, &store).await?;
    create(app, &OPERATOR).await?;
    Ok(())
}

/// Publishes the demo's themes, unless the store has one; then this is a few reads.
async fn dress(system: &System) -> Result<(), AnyError> {
    let app = system.app();
    let accounts = (account(app, &MERCHANT).await?, account(app, &OPERATOR).await?);
    let (Some(merchant), Some(operator)) = accounts else { return Ok(()) };
    // Read from the table: the storefront would cache for a moment that there is no theme.
    let Some(store) = payments::store(app).await? else { return Ok(()) };
    if store.live_theme.is_some() {
        return Ok(());
    }
    let mut merchant = Api::sign_in(system, &merchant).await?;
    let operator = Api::sign_in(system, &operator).await?;
    merchant.progress = Some(Arc::new(Progress::begin("Preparing the demo store")));
    themes::publish(&merchant, &operator, store.id.as_str()).await?;
    operator.sign_out().await?;
    merchant.sign_out().await
}

async fn account(services: &Services, who: &Account) -> Result<Option<Merchant>, AnyError> {
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

async fn create(services: &Services, who: &Account) -> Result<Merchant, AnyError> {
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

/// Creates the store's customer with a proven address, because the demo's mails have no reader.
async fn register(services: &Services, store: &StoreId) -> Result<(), AnyError> {
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
    let write =
        services.table.write().create(&UniqueCustomerEmail::of(&customer), Code::EmailTaken);
    write.create(&customer, Code::VersionConflict).commit().await.map_err(told)
}

fn email(who: &Account) -> Result<Email, AnyError> {
    Email::from_text(who.email).map_err(|fault| format!("{fault:?}").into())
}

/// Creates the store through the API, as any client would.
async fn open_store(api: &Api) -> Result<StoreId, AnyError> {
    let mine = api.call("GET", "/v1/stores", None).await?;
    let known = mine.pointer("/data/0/id").and_then(Value::as_str).map(str::to_owned);
    let store = if let Some(id) = known {
        id
    } else {
        let input = json!({
            "name": "Demo Store", "subdomain": SUBDOMAIN, "currency": "INR", "country": "IN",
            "locale": "en-IN", "timezone": "Asia/Kolkata",
        });
        let made = api.call("POST", "/v1/stores", Some(input)).await?;
        text(&made, "/id")?
    };
    let path = |rest: &str| format!("/v1/stores/{store}{rest}");
    let store_now = api.call("GET", &path(""), None).await?;
    if store_now.get("status").and_then(Value::as_str) != Some("active") {
        let as_is = json!({"accept_missing": ["shipping", "payments", "taxes"]});
        api.call("POST", &path("/activate"), Some(as_is)).await?;
    }
    let menu = json!({"items": [
        {"title": "Home", "type": "home"},
        {"title": "Kitchen", "type": "category", "ref": "kitchen"},
        {"title": "On Sale", "type": "collection", "ref": "on-sale"},
        {"title": "About us", "type": "link", "url": "https://example.com/about", "children": [
            {"title": "Privacy", "type": "policy", "ref": "privacy"},
        ]},
        {"title": "Shipping", "type": "policy", "ref": "shipping"},
    ]});
    api.call("PUT", &path("/navigation/main"), Some(menu)).await?;
    for (handle, title, text) in [
        ("refund", "Refunds", "Send it back within 30 days and we return the money."),
        ("privacy", "Privacy", "We keep what an order needs, and nothing else."),
        ("shipping", "Shipping", "Orders leave within two working days."),
    ] {
        let body_html = format!("<p>{text}</p>");
        let policy = json!({"title": title, "body_html": body_html, "published": true});
        api.call("PUT", &path(&format!("/policies/{handle}")), Some(policy)).await?;
    }
    StoreId::parse(&store).ok_or_else(|| "the store has an odd id".into())
}

/// A client of the API that is signed in as a merchant.
#[derive(Clone)]
pub(crate) struct Api {
    router: Router,
    token: String,
    /// The store, for a merchant who has several.
    store: Option<StoreId>,
    /// The progress line to advance.
    progress: Option<Arc<Progress>>,
}

impl Api {
    /// Creates a session of a merchant.
    async fn sign_in(system: &System, merchant: &Merchant) -> Result<Self, AnyError> {
        let (app, via) = (system.app(), CreatedVia::Password);
        let network = "127.0.0.0/24".to_owned();
        let (session, token) = Session::begin(merchant, via, network, None, app.clock.now());
        app.table.write().create(&session, Code::VersionConflict).commit().await.map_err(told)?;
        Ok(Self { router: system.router(), token, store: None, progress: None })
    }

    /// Loads the object at a path, if it exists.
    async fn find(&self, path: &str) -> Result<Option<Value>, AnyError> {
        match self.call("GET", path, None).await {
            Ok(found) => Ok(Some(found)),
            Err(cause) if cause.to_string().contains(&StatusCode::NOT_FOUND.to_string()) => {
                Ok(None)
            }
            Err(cause) => Err(cause),
        }
    }

    /// The client with this store selected.
    fn at(self, store: &StoreId) -> Self {
        Self { store: Some(store.clone()), ..self }
    }

    async fn sign_out(self) -> Result<(), AnyError> {
        self.call("POST", "/v1/auth/signout", Some(json!({}))).await.map(drop)
    }

    /// Sets the text of the progress line.
    fn about(&self, what: &str) {
        if let Some(progress) = &self.progress {
            progress.about(what);
        }
    }

    async fn call(&self, method: &str, path: &str, body: Option<Value>) -> Result<Value, AnyError> {
        let body = body.map_or_else(Vec::new, |json| json.to_string().into_bytes());
        self.send(method, path, "application/json", body).await
    }

    /// Sends a request, and repeats it while the budget is used up.
    async fn send(
        &self,
        method: &str,
        path: &str,
        media_type: &str,
        body: Vec<u8>,
    ) -> Result<Value, AnyError> {
        for _ in 0..ATTEMPTS {
            if let Some(progress) = &self.progress {
                progress.step();
            }
            let mut request =
                Request::builder().method(method).uri(path).header("content-type", media_type);
            if !self.token.is_empty() {
                request = request.header("authorization", format!("Bearer {}", self.token));
            }
            if let Some(store) = &self.store {
                request = request.header("x-service-store-id", store.as_str());
            }
            let request = request.body(Body::from(body.clone()))?;
            let answer: Response = self.router.clone().oneshot(request).await?;
            let status = answer.status();
            if status == StatusCode::TOO_MANY_REQUESTS {
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            }
            let bytes = axum::body::to_bytes(answer.into_body(), 1 << 20).await?;
            if !status.is_success() {
                let text = String::from_utf8_lossy(&bytes);
                return Err(format!("{method} {path} answered {status}: {text}").into());
            }
            return Ok(serde_json::from_slice(&bytes).unwrap_or_default());
        }
        Err(format!("{method} {path} is still limited").into())
    }
}

/// The text at a JSON pointer.
fn text(value: &Value, pointer: &str) -> Result<String, AnyError> {
    let found = value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    found.ok_or_else(|| format!("no text at {pointer} in {value}").into())
}

/// Converts a problem to an error, and logs it with its cause.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
fn told(problem: primitives::problem::Problem) -> AnyError {
    problem.log();
    problem.to_string().into()
}
