//! The people of a store: who is asked and joins, what each role lets them do, and how they leave.

mod delegated_access;
mod invitations;
mod removal;
mod roles;

use support::{Client, Gateway, Merchant, Reply, Store, Value, json};

/// A store whose owner has confirmed their address, and may ask others.
struct Team {
    gateway: Gateway,
    owner: Merchant,
    store: Store,
}

impl Team {
    async fn open() -> Self {
        let gateway = Gateway::start().await;
        let owner = Merchant::sign_up(&gateway).await;
        let store = owner.open_store().await;
        owner.prove(&gateway).await;
        Self { gateway, owner, store }
    }

    fn path(&self, rest: &str) -> String {
        format!("/v1/stores/{}/members{rest}", self.store.id)
    }

    /// Somebody who has an account and has confirmed its address.
    async fn somebody(&self) -> Merchant {
        let merchant = Merchant::sign_up(&self.gateway).await;
        merchant.prove(&self.gateway).await;
        merchant
    }

    async fn invite(&self, by: &Client, input: Value) -> Reply {
        by.post(&self.path("")).json(input).await
    }

    /// The token of the newest invitation to an address.
    async fn token(&self, address: &str) -> String {
        self.gateway.mailbox(address).token_of("You are invited to a store").await
    }

    /// Somebody who has joined as this, and their id as a member.
    async fn join(&self, grant: Value) -> (Merchant, String) {
        join(&self.gateway, &self.owner, &self.store, grant).await
    }

    /// The store's people: address, standing and role.
    async fn people(&self, seen_by: &Client) -> Vec<(String, String, String)> {
        let list = seen_by.get(&self.path("")).await.expect(200);
        let text = |member: &Value, name: &str| member[name].as_str().unwrap().to_owned();
        let one = |it: &Value| (text(it, "email"), text(it, "status"), text(it, "role"));
        list.data().iter().map(one).collect()
    }

    /// The id as a member of the account.
    async fn id_of(&self, seen_by: &Client, merchant: &Merchant) -> String {
        let list = seen_by.get(&self.path("")).await.expect(200);
        let found = list.data().iter().find(|member| member["merchant_id"] == merchant.id.as_str());
        found.expect("they are a member")["id"].as_str().unwrap().to_owned()
    }

    /// How the store answers somebody who looks at it.
    async fn look(&self, by: &Client) -> Reply {
        by.get(&format!("/v1/stores/{}", self.store.id)).await
    }
}

/// Somebody who has joined a store as this, and their id as a member.
async fn join(
    gateway: &Gateway,
    owner: &Merchant,
    store: &Store,
    mut grant: Value,
) -> (Merchant, String) {
    let merchant = Merchant::sign_up(gateway).await;
    merchant.prove(gateway).await;
    grant["email"] = json!(merchant.email);
    let path = format!("/v1/stores/{}/members", store.id);
    let invited = owner.post(&path).json(grant).await.expect(201);
    let token = gateway.mailbox(&merchant.email).token_of("You are invited to a store").await;
    accept(&merchant, &token).await.expect(200);
    (merchant, invited.str("/id"))
}

async fn accept(by: &Client, token: &str) -> Reply {
    by.post("/v1/stores/invitations/accept").json(json!({"token": token})).await
}
