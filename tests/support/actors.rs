//! People: merchants, operators, developers, and the stores they open.

use std::ops::Deref;

use serde_json::{Value, json};

use crate::{Client, Gateway, OPERATOR_EMAIL, PublishedApp, REDIRECT_URI, Reply, unique};

/// Everybody's password.
pub const PASSWORD: &str = "correct horse battery";

/// A merchant with a session.
#[derive(Debug, Clone)]
pub struct Merchant {
    client: Client,
    pub id: String,
    pub email: String,
}

/// A store.
#[derive(Debug, Clone)]
pub struct Store {
    pub id: String,
    pub subdomain: String,
    /// As it was answered when it was opened.
    pub view: Value,
    /// Whose it is.
    pub owner: Merchant,
}

impl Deref for Merchant {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// The request that opens a store without shipping rates, a payment provider or tax rates.
pub fn open_as_is() -> Value {
    json!({"accept_missing": ["shipping", "payments", "taxes"]})
}

impl Merchant {
    /// A new merchant with an address of their own.
    pub async fn sign_up(gateway: &Gateway) -> Self {
        Self::sign_up_as(gateway, &format!("{}@example.com", unique("merchant"))).await
    }

    pub async fn sign_up_as(gateway: &Gateway, email: &str) -> Self {
        let client = gateway.client();
        let input = json!({"email": email, "password": PASSWORD, "name": "Ann Example"});
        let reply = client.post("/v1/auth/signup").json(input).await.expect(201);
        Self::of(&client, email, &reply)
    }

    /// Confirms the address of the account, with its session.
    pub async fn prove(&self, gateway: &Gateway) {
        let token = gateway.mailbox(&self.email).token_of("Confirm your e-mail address").await;
        self.post("/v1/auth/email/verify").json(json!({"token": token})).await.expect(200);
    }

    /// Confirms the address of the account, unless that was done.
    pub async fn ensure_proven(&self, gateway: &Gateway) {
        let account = self.get("/v1/auth/me").await.expect(200);
        if account.at("/email_verified") != true {
            self.prove(gateway).await;
        }
    }

    /// The same account in another session, from another network.
    pub async fn sign_in_again(&self) -> Self {
        let client = self.stranger();
        let input = json!({"email": self.email, "password": PASSWORD});
        let reply = client.post("/v1/auth/signin").json(input).await.expect(200);
        Self::of(&client, &self.email, &reply)
    }

    fn of(client: &Client, email: &str, reply: &Reply) -> Self {
        Self {
            client: client.with_token(&reply.str("/session/access_token")),
            id: reply.str("/merchant/id"),
            email: email.to_owned(),
        }
    }

    /// Opens a store, which is a draft.
    pub async fn open_store(&self) -> Store {
        let subdomain = unique("shop");
        let input = json!({
            "name": "A Shop", "subdomain": subdomain, "currency": "INR", "country": "IN",
        });
        let reply = self.post("/v1/stores").json(input).await.expect(201);
        Store { id: reply.str("/id"), subdomain, view: reply.json, owner: self.clone() }
    }

    /// The merchant acting on a store of theirs, named in every request.
    pub fn at(&self, store: &Store) -> Client {
        self.with_store(&store.id)
    }
}

/// A platform operator.
#[derive(Debug, Clone)]
pub struct Operator(Merchant);

impl Deref for Operator {
    type Target = Merchant;

    fn deref(&self) -> &Merchant {
        &self.0
    }
}

impl Operator {
    /// The gateway's operator, who signs up when asked for first.
    pub async fn sign_up(gateway: &Gateway) -> Self {
        let client = gateway.client();
        let input = json!({"email": OPERATOR_EMAIL, "password": PASSWORD});
        let mut reply = client.post("/v1/auth/signup").json(input.clone()).await;
        if reply.status == 409 {
            reply = client.post("/v1/auth/signin").json(input).await.expect(200);
        } else {
            // Only a proven address makes an operator.
            Merchant::of(&client, OPERATOR_EMAIL, &reply).prove(gateway).await;
        }
        Self(Merchant::of(&client, OPERATOR_EMAIL, &reply))
    }
}

/// A merchant with a developer profile.
#[derive(Debug, Clone)]
pub struct Developer(Merchant);

impl Deref for Developer {
    type Target = Merchant;

    fn deref(&self) -> &Merchant {
        &self.0
    }
}

impl Developer {
    pub async fn register(gateway: &Gateway) -> Self {
        let merchant = Merchant::sign_up(gateway).await;
        let input = json!({
            "company": "Apps Inc.", "contact_email": merchant.email, "country": "IN",
            "agree_terms": true,
        });
        merchant.post("/v1/app-store/developers/register").json(input).await.expect(201);
        Self(merchant)
    }

    /// What a new app is made from; change it at will.
    pub fn app_fields(scopes: &[&str]) -> Value {
        json!({
            "name": "An App", "slug": unique("app"), "app_url": "https://app.example.com",
            "redirect_uris": [REDIRECT_URI], "scopes": scopes, "embedded": true,
            "confidential": true, "require_pkce": true,
        })
    }

    /// An app that nobody can install yet.
    pub async fn create_app(&self, fields: Value) -> PublishedApp {
        let reply = self.post("/v1/app-store/developers/apps").json(fields).await.expect(201);
        PublishedApp {
            id: reply.str("/id"),
            client_id: reply.str("/client_id"),
            client_secret: reply.json["client_secret"].as_str().map(str::to_owned),
            view: reply.json,
        }
    }

    /// Submits an app, has it approved, and publishes it.
    pub async fn publish(&self, operator: &Operator, app: &PublishedApp, version: &str) {
        let path = |rest: &str| format!("/v1/app-store/developers/apps/{}{rest}", app.id);
        let input = Self::submission_fields(version);
        let submission = self.post(&path("/submissions")).json(input).await.expect(201);
        let approve = format!("/v1/app-store/submissions/{}/approve", submission.str("/id"));
        operator.post(&approve).json(json!({})).await.expect(200);
        self.post(&path("/publish")).json(json!({})).await.expect(200);
    }

    /// What a submission is made from; change it at will.
    pub fn submission_fields(version: &str) -> Value {
        json!({
            "version": version,
            "listing": {
                "tagline": "Does one thing well.",
                "description": "It does one thing, and it does it so well that nobody has ever \
                                asked for another, not even once.",
                "category": "marketing",
                "icon_url": "https://app.example.com/icon.png",
                "privacy_policy_url": "https://app.example.com/privacy",
                "support_url": "https://app.example.com/support",
                "pricing": "Free",
            },
            "changelog": "The first version.",
            "test_instructions": "Install it and look at the first page.",
            "screencast_url": "https://app.example.com/screencast",
        })
    }

    /// A new app with these scopes, in the catalogue.
    pub async fn publish_app(&self, operator: &Operator, scopes: &[&str]) -> PublishedApp {
        self.publish_app_of(operator, Self::app_fields(scopes)).await
    }

    /// A new app with these fields, in the catalogue.
    pub async fn publish_app_of(&self, operator: &Operator, fields: Value) -> PublishedApp {
        let app = self.create_app(fields).await;
        self.publish(operator, &app, "1.0.0").await;
        app
    }
}
