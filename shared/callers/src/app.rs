//! Apps as callers: with their token, through the bridge, and as OAuth clients.

use std::sync::Arc;

use core_types::id::{AppId, InstallationId, MerchantId, SessionId, StoreId};
use core_types::key;
use crypto::seal;
use crypto::token;
use crypto::token::Claims;
use gateway::caller::{Access, Caller, Identity};
use gateway::request::Inbound;
use http::header;
use identity::session::Session;
use identity::store::{Store, StoreStatus};
use platform::app::Stop;
use platform::installation::{AUDIENCE, AppToken, Installation};
use primitives::problem::{Code, Problem};
use services::Services;

use super::named_store::{names_no_other_store, no_such_store};
use super::{AppActor, Merchant, MerchantAccount, app_identity, credential, looks_like_jwt};

/// An embedded app, authenticated by the token that its page presents.
#[derive(Debug, Clone)]
pub struct EmbeddedApp {
    /// The app, with the scopes of its token.
    pub actor: AppActor,
    /// The store it acts on.
    pub store: Store,
    /// The token itself, to be presented again to the bridged route.
    pub token: String,
}

/// The callers of the bridge: an embedded app with its token, or a merchant for one of their
/// installations.
#[derive(Debug, Clone)]
pub enum Bridge {
    /// The app's page, with its embedded token.
    App(Box<EmbeddedApp>),
    /// The merchant, in the admin.
    Merchant(Box<Merchant>),
}

/// An OAuth client with unverified credentials. The endpoint authenticates it together with the code or
/// token that it redeems, in one read and in the order of the RFC.
#[derive(Debug, Clone)]
pub struct OAuthClient {
    /// Client id and secret from the `Authorization: Basic` header (RFC 6749 §2.3.1).
    pub unverified_basic: Option<(String, String)>,
    identity: Identity,
}

gateway::caller_argument!(EmbeddedApp);
gateway::caller_argument!(Bridge);
gateway::caller_argument!(OAuthClient);

/// Reads and validates an app token in one round trip: its signature, its record, the installation, the
/// store, and that the app is not suspended.
pub(super) async fn open_app_token(
    services: &Services,
    unverified: &str,
    inbound: &Inbound,
) -> Result<(AppActor, Store), Problem> {
    let claims = claims_of(services, unverified).await?;
    let rejected = || Problem::from(Code::InvalidToken);
    let installation_id = InstallationId::parse(&claims.installation_id).ok_or_else(rejected)?;
    let store_id = StoreId::parse(&claims.store_id).ok_or_else(rejected)?;
    let app_id = AppId::parse(&claims.app_id).ok_or_else(rejected)?;
    let bound = bound_session(&claims)?;
    let token_key = key::app_token(&seal::digest(unverified));
    let installation_key = key::installation(&installation_id);
    let store_key = key::store(&store_id);
    let session_keys = bound
        .as_ref()
        .map(|(merchant, session)| [key::merchant(merchant), key::session(merchant, session)]);
    let stop_key = Stop::of(&app_id, &installation_id);
    let mut keys = vec![&token_key, &installation_key, &store_key, &stop_key];
    keys.extend(session_keys.iter().flatten());
    let mut batch = services.table.get_many(&keys).await?;
    let now = services.clock.now();
    let token: AppToken = batch.take_recent(&token_key)?.ok_or_else(rejected)?;
    let installation: Installation = batch.take_recent(&installation_key)?.ok_or_else(rejected)?;
    installation.admit(&token, now)?;
    if installation.app_id != app_id || batch.take::<Stop>(&stop_key)?.is_some() {
        return Err(rejected());
    }
    let store: Store = batch.take_recent(&store_key)?.ok_or_else(rejected)?;
    // The effective scopes are those of the token that are still granted: to the app, and to the merchant
    // who uses it.
    let mut scopes = token.scopes.intersection(&installation.scopes);
    if let Some([merchant_key, session_key]) = &session_keys {
        let account: MerchantAccount = batch.take_recent(merchant_key)?.ok_or_else(rejected)?;
        let session: Session = batch.take_recent(session_key)?.ok_or_else(rejected)?;
        if !session.is_alive(&account, now) {
            return Err(rejected());
        }
        scopes = account.grant_on(&store).ok_or_else(rejected)?.narrow(&scopes);
    }
    if store.id != installation.store_id || store.status == StoreStatus::Deleted {
        return Err(rejected());
    }
    if !names_no_other_store(inbound, &store.id) {
        return Err(no_such_store(inbound));
    }
    let merchant_id = bound.map(|(merchant, _)| merchant);
    let (granted, generation) = (installation.scopes, token.generation);
    Ok((AppActor { app_id, installation_id, generation, scopes, granted, merchant_id }, store))
}

/// Verifies a token's signature, issuer, audience and times, and returns its claims.
async fn claims_of(services: &Services, unverified: &str) -> Result<Claims, Problem> {
    let keys = services.secrets.keys().await?;
    let now = services.clock.now().seconds();
    token::verify(&keys.public, unverified, &services.config.base_url, AUDIENCE, now).map_err(
        |error| {
            tracing::debug!(?error, "app token rejected");
            Code::InvalidToken.into()
        },
    )
}

/// The merchant and session that an embedded token is bound to; none for other tokens.
fn bound_session(claims: &Claims) -> Result<Option<(MerchantId, SessionId)>, Problem> {
    let (Some(session), Some(actor)) = (&claims.sid, &claims.act) else { return Ok(None) };
    let ids = MerchantId::parse(&actor.sub).zip(SessionId::parse(session));
    ids.map(Some).ok_or_else(|| Code::InvalidToken.into())
}

impl Caller for EmbeddedApp {
    fn access() -> Access {
        Access::Embedded
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let token = credential(services, inbound)?;
        if !looks_like_jwt(&token) {
            return Err(Code::InvalidToken.into());
        }
        let (actor, store) = open_app_token(services, &token, inbound).await?;
        if actor.merchant_id.is_none() {
            return Err(Code::InvalidToken.into());
        }
        Ok(Self { actor, store, token })
    }

    fn identity(&self) -> Identity {
        app_identity(&self.actor, &self.store.id)
    }
}

impl Caller for Bridge {
    fn access() -> Access {
        Access::Embedded
    }

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        if looks_like_jwt(&credential(services, inbound)?) {
            EmbeddedApp::authenticate(services, inbound)
                .await
                .map(|services| Self::App(Box::new(services)))
        } else {
            let merchant = Merchant::authenticate(services, inbound).await?;
            Ok(Self::Merchant(Box::new(merchant)))
        }
    }

    fn identity(&self) -> Identity {
        match self {
            Self::App(app) => app.identity(),
            Self::Merchant(merchant) => merchant.identity(),
        }
    }
}

impl Caller for OAuthClient {
    fn access() -> Access {
        Access::Client
    }

    fn reads(_: &Inbound) -> bool {
        false
    }

    async fn authenticate(_: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let unverified_basic = match inbound.headers.get(header::AUTHORIZATION) {
            None => None,
            Some(value) => Some(value.to_str().ok().and_then(basic).ok_or(Code::InvalidClient)?),
        };
        Ok(Self { unverified_basic, identity: Identity::anonymous(inbound) })
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}

/// Characters of a client id at most, as in a form: it is part of a key, and DynamoDB rejects long ones.
const LONGEST_CLIENT_ID: usize = 128;

/// Decodes client id and secret, each form-urlencoded before they were joined (RFC 6749 §2.3.1).
fn basic(header: &str) -> Option<(String, String)> {
    use base64::Engine;
    let (scheme, encoded) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("basic").then_some(())?;
    let joined = base64::prelude::BASE64_STANDARD.decode(encoded.trim()).ok()?;
    let joined = String::from_utf8(joined).ok()?;
    let (id, secret) = joined.split_once(':')?;
    let decode = |text: &str| -> Option<String> {
        let pair = format!("v={text}");
        let mut pairs = url::form_urlencoded::parse(pair.as_bytes());
        pairs.next().map(|(_, value)| value.into_owned())
    };
    let id = decode(id).filter(|id| id.chars().count() <= LONGEST_CLIENT_ID)?;
    Some((id, decode(secret)?))
}
