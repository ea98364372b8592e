//! Accounts, sessions, one-time codes and reset links.

mod account;
mod boundaries;
mod codes;
mod mfa;
mod passwords;
mod sessions;
mod signup;
mod squatters;

use support::Client;

async fn me(client: &Client) -> u16 {
    client.get("/v1/auth/me").await.status
}
