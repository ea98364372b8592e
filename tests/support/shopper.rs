//! Shoppers: people with an account at one store.

use std::ops::Deref;

use serde_json::json;

use crate::{Client, Gateway, Merchant, PASSWORD, Reply, Store, unique};

/// A customer of a store, signed in.
#[derive(Debug, Clone)]
pub struct Shopper {
    client: Client,
    pub id: String,
    pub email: String,
    pub subdomain: String,
}

impl Deref for Shopper {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Shopper {
    /// A new customer with an address of their own. The store must be open; its owner's address is confirmed, for
    /// without that nobody can register.
    pub async fn register(gateway: &Gateway, store: &Store) -> Self {
        let email = format!("{}@example.com", unique("shopper"));
        Self::register_as(gateway, store, &email).await
    }

    pub async fn register_as(gateway: &Gateway, store: &Store, email: &str) -> Self {
        store.owner.ensure_proven(gateway).await;
        let client = gateway.client();
        let input = json!({
            "subdomain": store.subdomain, "email": email, "password": PASSWORD,
            "name": "Cleo de la Cruz",
        });
        let reply = client.post("/v1/storefront/customer/register").json(input).await.expect(202);
        let code = gateway.mailbox(email).code().await;
        let input = json!({"challenge_id": reply.str("/challenge_id"), "code": code});
        let path = "/v1/storefront/customer/login/otp/verify";
        let reply = client.post(path).json(input).await.expect(201);
        Self::of(&client, store, &reply)
    }

    /// The same account in another session, from another network.
    pub async fn log_in_again(&self, store: &Store) -> Self {
        let client = self.stranger();
        let input =
            json!({"subdomain": store.subdomain, "email": self.email, "password": PASSWORD});
        let reply = client.post("/v1/storefront/customer/login").json(input).await.expect(200);
        Self::of(&client, store, &reply)
    }

    fn of(client: &Client, store: &Store, reply: &Reply) -> Self {
        Self {
            client: client.with_token(&reply.str("/access_token")),
            id: reply.str("/customer/id"),
            email: reply.str("/customer/email"),
            subdomain: store.subdomain.clone(),
        }
    }
}

impl Merchant {
    /// Opens a store whose storefront is open.
    pub async fn open_shop(&self) -> Store {
        let store = self.open_store().await;
        let path = format!("/v1/stores/{}/activate", store.id);
        self.post(&path).json(crate::open_as_is()).await.expect(200);
        store
    }
}
