//! `login`, `logout` and `whoami`.

use jiff::Timestamp;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::args::Login;
use crate::client::{Client, session_of};
use crate::context::{Context, ask, find_store, is_loopback};
use crate::failure::Failure;
use crate::profile::{Session, Store};
use crate::request::Request;
use crate::secret::Secret;

/// The demo's merchant, whom every local system prints at its start.
const DEMO: (&str, &str) = ("demo@example.com", "demo-merchant-1");

/// Signs in, and stores the session and the merchant's only store in the profile.
pub async fn login(context: &Context, args: Login) -> Result<(), Failure> {
    let client = context.stranger()?;
    let session = if args.token {
        by_token(context, &client).await?
    } else if args.code {
        by_code(context, &client, args.email).await?
    } else {
        let (email, password) = if args.demo {
            if !is_loopback(&client.api) {
                let text = format!("{} is no local system, and has no demo", client.api);
                return Err(Failure::Usage(text));
            }
            (DEMO.0.to_owned(), Secret::from(DEMO.1.to_owned()))
        } else {
            let email = email(args.email)?;
            (email, Secret::from(ask("Password: ", true)?))
        };
        by_password(&client, &email, &password).await?
    };
    let stores = stores(context, &client, &session).await?;
    let api = client.api.as_str().trim_end_matches('/').to_owned();
    let email = session.email.clone();
    let before = context.profile()?;
    if let Some(old) = before.session.filter(|old| old.token != session.token && before.api == api)
    {
        sign_out(context, &client, &old).await;
    }
    let kept = before.store.filter(|store| stores.contains(store));
    let store = kept.or_else(|| stores.first().filter(|_| stores.len() == 1).cloned());
    context.change_profile(|profile| {
        profile.api.clone_from(&api);
        profile.session = Some(session);
        profile.store.clone_from(&store);
    })?;
    let text = match &store {
        Some(store) => format!("Signed in as {email}, at the store {}", store.subdomain),
        None => format!("Signed in as {email}; choose a store: commerce stores use"),
    };
    let store = store.map(|store| json!({"id": store.id, "subdomain": store.subdomain}));
    let document =
        json!({"email": email, "api": api, "profile": context.profile_name(), "store": store});
    context.output.result(&text, &document);
    Ok(())
}

fn email(given: Option<String>) -> Result<String, Failure> {
    given.map_or_else(|| ask("E-mail: ", false), Ok)
}

async fn by_password(
    client: &Client<'_>,
    email: &str,
    password: &Secret,
) -> Result<Session, Failure> {
    let input = json!({"email": email, "password": password.reveal()});
    let request = Request::post("/v1/auth/signin", &input).public();
    with_second_factor(client, client.json(&request).await).await
}

/// The session; of an account with a second factor once its code was given.
async fn with_second_factor(
    client: &Client<'_>,
    answer: Result<Value, Failure>,
) -> Result<Session, Failure> {
    let answer = match answer {
        Err(Failure::Rejected(problem)) if problem.code == "mfa_required" => {
            let token = Secret::from(problem.member("mfa_token").unwrap_or_default().to_owned());
            let totp = ask("Authenticator code: ", true)?;
            let input = json!({"mfa_token": token.reveal(), "totp": totp});
            client.json(&Request::post("/v1/auth/signin", &input).public()).await
        }
        answer => answer,
    };
    session_of(&answer?)
}

async fn by_code(
    context: &Context,
    client: &Client<'_>,
    given: Option<String>,
) -> Result<Session, Failure> {
    let email = email(given)?;
    let request = Request::post("/v1/auth/signin/otp", &json!({"email": email})).public();
    let sent = client.json(&request).await?;
    context.output.note(&format!("A code was mailed to {email}, if that is an account's address"));
    let challenge = sent.get("challenge_id").cloned().unwrap_or_default();
    let code = ask("Code: ", true)?;
    let input = json!({"challenge_id": challenge, "code": code.trim()});
    let request = Request::post("/v1/auth/signin/otp/verify", &input).public();
    with_second_factor(client, client.json(&request).await).await
}

/// A token from standard input, which is checked before it is stored.
async fn by_token(context: &Context, client: &Client<'_>) -> Result<Session, Failure> {
    let token = Secret::from(ask("Token: ", true)?.trim().to_owned());
    let session = with_token(context, client, &token)?;
    let found = session.json(&Request::get("/v1/auth/custom/session")).await?;
    let email = found.pointer("/merchant/email").and_then(Value::as_str).unwrap_or_default();
    Ok(Session { email: email.to_owned(), token, issued_at: Timestamp::now().to_string() })
}

fn with_token<'c>(
    context: &'c Context,
    client: &Client<'_>,
    token: &Secret,
) -> Result<Client<'c>, Failure> {
    Client::new(context, &client.api, Some(token.clone()))
}

/// The stores that the new session may act on.
async fn stores(
    context: &Context,
    client: &Client<'_>,
    session: &Session,
) -> Result<Vec<Store>, Failure> {
    let client = with_token(context, client, &session.token)?;
    let found = client.send(&Request::get("/v1/auth/custom/session")).await?.accepted()?.json()?;
    let stores = found.get("stores").and_then(Value::as_array).cloned().unwrap_or_default();
    Ok(stores.into_iter().filter_map(|store| serde_json::from_value(store).ok()).collect())
}

/// Ends a session. One that cannot be ended ends by itself.
async fn sign_out(context: &Context, client: &Client<'_>, session: &Session) {
    let Ok(client) = with_token(context, client, &session.token) else { return };
    let ended = client.send(&Request::post("/v1/auth/signout", &json!({}))).await;
    let is_over = ended
        .is_ok_and(|reply| reply.status.is_success() || reply.status == StatusCode::UNAUTHORIZED);
    if !is_over {
        context.output.note("The earlier session could not be ended; it ends by itself");
    }
}

/// Ends the session at the API, and removes it from the profile whether or not that was possible.
pub async fn logout(context: &Context) -> Result<(), Failure> {
    let profile = context.profile()?;
    let Some(session) = profile.session else {
        return Err(Failure::NotSignedIn("There is no session to end".into()));
    };
    if context.api()?.as_str().trim_end_matches('/') == profile.api {
        sign_out(context, &context.stranger()?, &session).await;
    }
    context.change_profile(|profile| {
        profile.session = None;
        profile.store = None;
        profile.signing_secret = None;
    })?;
    context.output.result(
        &format!("Signed out {}", session.email),
        &json!({"email": session.email, "signed_out": true}),
    );
    Ok(())
}

/// Shows as whom and where commands act.
pub async fn whoami(context: &Context) -> Result<(), Failure> {
    let client = context.client().await?;
    let found = client.json(&Request::get("/v1/auth/custom/session")).await?;
    let text = |pointer: &str| found.pointer(pointer).and_then(Value::as_str).unwrap_or("-");
    let store = context.profile()?.store;
    let store = match client.store() {
        Some(id) => find_store(&client, id).await.ok().or(store),
        None => store,
    };
    let api = client.api.as_str().trim_end_matches('/');
    let (email, until) = (text("/merchant/email"), text("/session/idle_expires_at"));
    let store_name = store.as_ref().map_or("-", |store| store.subdomain.as_str());
    let document = json!({
        "email": email, "merchant_id": text("/merchant/id"), "api": api,
        "profile": context.profile_name(), "session_id": text("/session/id"),
        "session_expires_at": text("/session/expires_at"), "session_idle_expires_at": until,
        "store": store.as_ref().map(|store| json!({"id": store.id, "subdomain": store.subdomain})),
    });
    let lines = [
        format!("account  {email}"),
        format!("store    {store_name}"),
        format!("api      {api}"),
        format!("profile  {}", context.profile_name()),
        format!("session  until {until} if it is not used"),
    ];
    context.output.result(&lines.join("\n"), &document);
    Ok(())
}
