//! A store with an app on it, and the OAuth flow between them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{Client, Developer, Gateway, Input, Merchant, Operator, Reply, Store};

/// Where test apps have merchants sent back to.
pub const REDIRECT_URI: &str = "https://app.example.com/callback?from=service";

/// An app as its developer knows it.
#[derive(Debug, Clone)]
pub struct PublishedApp {
    pub id: String,
    pub client_id: String,
    /// None for a public client.
    pub client_secret: Option<String>,
    /// As it was answered when it was made.
    pub view: Value,
}

/// A code, with what is needed to redeem it.
#[derive(Debug, Clone)]
pub struct Grant {
    pub code: String,
    pub verifier: String,
    pub redirect_uri: String,
    pub installation_id: String,
    /// The whole answer.
    pub reply: Reply,
}

/// A merchant's store, and a developer's published app that may be installed on it.
pub struct Shop {
    pub gateway: Gateway,
    pub merchant: Merchant,
    pub store: Store,
    pub operator: Operator,
    pub developer: Developer,
    pub app: PublishedApp,
    /// The app's own server.
    pub app_server: Client,
}

impl Shop {
    /// With an app of these scopes, published but not installed.
    pub async fn with_published_app(scopes: &[&str]) -> Self {
        Self::on(Gateway::start().await, Developer::app_fields(scopes)).await
    }

    /// With an app of `read_store` and `write_webhooks`, authorized by the merchant.
    pub async fn with_installed_app() -> Self {
        let shop = Self::with_published_app(&["read_store", "write_webhooks"]).await;
        shop.authorize().await;
        shop
    }

    /// On this gateway, with an app of these fields, published but not installed.
    pub async fn on(gateway: Gateway, fields: Value) -> Self {
        let merchant = Merchant::sign_up(&gateway).await;
        let store = merchant.open_store().await;
        let operator = Operator::sign_up(&gateway).await;
        let developer = Developer::register(&gateway).await;
        let app = developer.publish_app_of(&operator, fields).await;
        let app_server = gateway.client();
        Self { gateway, merchant, store, operator, developer, app, app_server }
    }

    /// The merchant acting on the store.
    pub fn owner(&self) -> Client {
        self.merchant.at(&self.store)
    }

    /// The authorization request that the merchant's admin would send, for a verifier.
    pub fn authorize_fields(&self, verifier: &str) -> Value {
        json!({
            "store_id": self.store.id,
            "client_id": self.app.client_id,
            "response_type": "code",
            "redirect_uri": REDIRECT_URI,
            "state": "a state / with +&= in it",
            "code_challenge": challenge(verifier),
            "code_challenge_method": "S256",
        })
    }

    pub fn authorize_with(&self, fields: Value) -> Input {
        let path = format!("/v1/app-store/apps/{}/oauth/authorize", self.app.id);
        self.merchant.post(&path).json(fields)
    }

    /// The merchant agrees to all the app is registered for.
    pub async fn authorize(&self) -> Grant {
        let verifier = verifier();
        let reply = self.authorize_with(self.authorize_fields(&verifier)).await.expect(200);
        Grant {
            code: reply.str("/code"),
            verifier,
            redirect_uri: REDIRECT_URI.to_owned(),
            installation_id: reply.str("/installation_id"),
            reply,
        }
    }

    /// A request to the token endpoint, with the app's credentials by header.
    pub fn token(&self, form: &[(&str, &str)]) -> Input {
        let input = self.app_server.post("/v1/app-store/oauth/token").form(form);
        self.authenticated(input)
    }

    fn authenticated(&self, input: Input) -> Input {
        let secret = self.app.client_secret.as_deref().expect("the app has a secret");
        input.basic(&self.app.client_id, secret)
    }

    /// The app exchanges a code for tokens.
    pub async fn redeem(&self, grant: &Grant) -> Reply {
        self.token(&[
            ("grant_type", "authorization_code"),
            ("code", &grant.code),
            ("redirect_uri", &grant.redirect_uri),
            ("code_verifier", &grant.verifier),
        ])
        .await
    }

    /// The app exchanges a refresh token for new tokens.
    pub async fn refresh(&self, refresh_token: &str) -> Reply {
        self.token(&[("grant_type", "refresh_token"), ("refresh_token", refresh_token)]).await
    }

    /// The app asks about a token.
    pub async fn introspect(&self, token: &str) -> Reply {
        let input =
            self.app_server.post("/v1/app-store/oauth/introspect").form(&[("token", token)]);
        self.authenticated(input).await
    }

    /// The app gives a token back.
    pub async fn revoke(&self, token: &str) -> Reply {
        let input = self.app_server.post("/v1/app-store/oauth/revoke").form(&[("token", token)]);
        self.authenticated(input).await
    }

    /// The app with a fresh access token.
    pub async fn app_client(&self) -> Client {
        let reply = self.redeem(&self.authorize().await).await.expect(200);
        self.app_server.with_token(&reply.str("/access_token"))
    }

    /// The merchant's session exchanged for an embedded app token; authorize first.
    pub async fn exchange(&self) -> Reply {
        let input = json!({"app_id": self.app.id, "store_id": self.store.id});
        self.merchant.post("/v1/app-store/oauth/token-exchange").json(input).await
    }

    /// The app's page in the merchant's admin, with a fresh embedded token.
    pub async fn embedded_client(&self) -> Client {
        let reply = self.exchange().await.expect(200);
        self.merchant.stranger().with_token(&reply.str("/access_token"))
    }

    /// The merchant takes the app off the store.
    pub async fn uninstall(&self, installation_id: &str) -> Reply {
        let path = format!("/v1/app-store/installations/{installation_id}/uninstall");
        self.owner().post(&path).json(json!({})).await
    }
}

/// A fresh PKCE verifier (RFC 7636 §4.1).
pub fn verifier() -> String {
    crypto::seal::random_secret()
}

/// The S256 challenge of a verifier (RFC 7636 §4.2).
pub fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}
