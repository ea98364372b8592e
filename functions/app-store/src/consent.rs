//! The consent page: the authorization endpoint, to which OAuth clients send a merchant's browser (RFC 6749
//! §4.1.1). This server validates the request and renders the page. The page's script signs the merchant in and
//! calls the API. The session is in the memory of the page alone, where no other page can use it.

mod view;

use std::collections::BTreeSet;

use axum::extract::State;
use core_types::key;
use core_types::scope::{Requested, Scopes};
use gateway::app::App;
use gateway::caller::Public;
use gateway::reply::{Either, Found, Html, NoStore, TextOf};
use gateway::request::{Parameters, SentQuery};
use platform::app::{AppClient, CommerceApp};
use platform::developer::Developer;
use primitives::fields::Exact;
use primitives::input::{self, request};
use primitives::problem::{Code, Problem};
use serde_json::{Map, Value};
use services::Services;

use crate::authorize::{AuthorizeRequest, SentChallenge, with_query};
use view::{Consent, Mistake};

/// An authorization request (RFC 6749 §4.1.1, RFC 7636 §4.3). Other parameters are ignored.
#[request]
#[derive(Debug)]
pub struct ConsentQuery {
    /// `code`, the only response type.
    response_type: Exact<64>,
    /// The app's client id.
    client_id: Exact<128>,
    /// A registered redirect URI of the app, character by character.
    redirect_uri: Exact<2048>,
    /// The requested scopes, separated by spaces. By default, all that the app is registered for.
    scope: Option<Requested>,
    /// The app's state, which is returned unchanged. Required without a code challenge.
    state: Option<Exact<1024>>,
    /// The PKCE code challenge (RFC 7636). Apps with `require_pkce` and public clients must send it.
    code_challenge: Option<SentChallenge>,
    /// `S256`, the only method. Required with a code challenge.
    code_challenge_method: Option<Exact<16>>,
    /// `query`, the only response mode.
    response_mode: Option<Exact<64>>,
}

impl Parameters for ConsentQuery {
    const KNOWN: Option<&'static [&'static str]> = Some(&[
        "response_type",
        "client_id",
        "redirect_uri",
        "scope",
        "state",
        "code_challenge",
        "code_challenge_method",
        "response_mode",
    ]);
}

/// The page, an error page, or a redirect that tells the app of an error.
type ConsentReply = NoStore<Either<TextOf<Html>, Either<TextOf<Html, 400>, Found>>>;

/// `GET /v1/app-store/oauth/authorize` (`getConsentPage`): Get the consent page of an authorization request.
///
/// The authorization endpoint of RFC 6749 §3.1. An app sends a merchant's browser here. The page signs the
/// merchant in, shows the requested scopes, and approves or denies them for a store. Then it sends the browser
/// to the redirect URI with `code` or `error=access_denied`, `iss`, and the app's `state`.
///
/// A request of an unknown app, or with a redirect URI that the app has not registered, is answered with an
/// error page, which leads nowhere. Other errors redirect to the app with `error`, `error_description`, `iss`
/// and `state` (RFC 6749 §4.1.2.1).
pub async fn page(
    _: Public,
    State(app): State<App>,
    query: SentQuery<ConsentQuery>,
) -> Result<ConsentReply, Problem> {
    let sent = Sent::of(query.pairs);
    let (client, redirect_uri) = match recognize(&app, &sent).await? {
        Ok(recognized) => recognized,
        Err(mistake) => return Ok(NoStore::of(Either::Right(Either::Left(mistake.page())))),
    };
    let (iss, state) = (&*app.config.base_url, sent.get("state"));
    match sent.validate(&client) {
        Ok(scopes) => {
            let developer: Option<Developer> =
                app.table.get(&key::developer(&client.owner_id)).await?;
            let denied = crate::authorize::denied(redirect_uri, state, iss);
            let developer = developer.as_ref();
            let fields = sent.approval(&scopes);
            let consent =
                Consent { app: &client, developer, scopes: &scopes, redirect_uri, fields, denied };
            Ok(NoStore::of(Either::Left(consent.page())))
        }
        Err(problem) => {
            let (error, description) = problem.oauth();
            let pairs = [
                ("error", Some(error)),
                ("error_description", Some(&*description)),
                ("state", state),
                ("iss", Some(iss)),
            ];
            let redirect = Found::at(&with_query(redirect_uri, pairs));
            Ok(NoStore::of(Either::Right(Either::Right(redirect))))
        }
    }
}

/// Loads the app of the request and compares its redirect URI. Until both are right, nothing may be sent
/// there (RFC 6749 §4.1.2.1).
async fn recognize<'a>(
    services: &Services,
    sent: &'a Sent,
) -> Result<Result<(CommerceApp, &'a str), Mistake>, Problem> {
    let client_id = sent.values.get("client_id").cloned().unwrap_or_default();
    let Ok(client_id) = input::read::<Exact<128>>(client_id) else {
        return Ok(Err(Mistake::Client));
    };
    let client: Option<AppClient> = services.table.get(&key::client(client_id.as_str())).await?;
    let Some(client) = client else { return Ok(Err(Mistake::Client)) };
    let app: Option<CommerceApp> = services.table.get(&key::app(&client.app_id)).await?;
    // The redirect URIs of an app that is not in the catalogue were reviewed by nobody, or no longer hold.
    let Some(app) = app.filter(CommerceApp::is_published) else {
        return Ok(Err(Mistake::Client));
    };
    match sent.get("redirect_uri") {
        Some(uri) if app.allows_redirect(uri) => Ok(Ok((app, uri))),
        _ => Ok(Err(Mistake::RedirectUri)),
    }
}

/// The known parameters of a request. One without a value counts as omitted (RFC 6749 §3.1).
#[derive(Debug, Default)]
struct Sent {
    /// Those that were sent once.
    values: Map<String, Value>,
    /// The names of those that were sent repeatedly.
    repeated: BTreeSet<String>,
}

impl Sent {
    fn of(pairs: Vec<(String, String)>) -> Self {
        let known = ConsentQuery::KNOWN.unwrap_or_default();
        let (mut sent, mut seen) = (Self::default(), BTreeSet::new());
        for (name, value) in pairs {
            if !known.contains(&&*name) {
                continue;
            }
            if !seen.insert(name.clone()) {
                sent.values.remove(&name);
                sent.repeated.insert(name);
            } else if !value.is_empty() {
                sent.values.insert(name, value.into());
            }
        }
        sent
    }

    /// The value of a parameter that was sent once.
    fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.as_str()
    }

    /// Validates what an app is told by a redirect, and returns the requested scopes.
    fn validate(&self, app: &CommerceApp) -> Result<Scopes, Problem> {
        if let Some(name) = self.repeated.first() {
            return Err(Code::InvalidRequest.detail(format!("The parameter `{name}` is repeated.")));
        }
        let query: ConsentQuery = input::read(Value::Object(self.values.clone()))?;
        if query.response_mode.as_ref().is_some_and(|mode| mode.as_str() != "query") {
            return Err(Code::InvalidRequest.detail("The only response mode is `query`."));
        }
        if query.code_challenge.is_some() && query.code_challenge_method.is_none() {
            // Its default is `plain` (RFC 7636 §4.3).
            let detail = "`code_challenge_method` is required: `S256`, the only method.";
            return Err(Code::InvalidRequest.detail(detail));
        }
        let (scopes, _) = AuthorizeRequest::from(query).validate(app)?;
        Ok(scopes)
    }

    /// The fields of the operation that approves the request. They name the scopes, so that the merchant
    /// grants what the page shows, whatever the app is registered for by then.
    fn approval(&self, scopes: &Scopes) -> Map<String, Value> {
        let mut fields = self.values.clone();
        fields.remove("response_mode");
        fields.insert("scope".to_owned(), scopes.to_string().into());
        fields
    }
}

impl From<ConsentQuery> for AuthorizeRequest {
    fn from(query: ConsentQuery) -> Self {
        Self {
            response_type: Some(query.response_type),
            grant_type: None,
            client_id: Some(query.client_id),
            scope: query.scope,
            scopes: None,
            redirect_uri: query.redirect_uri,
            state: query.state,
            code_challenge: query.code_challenge,
            code_challenge_method: query.code_challenge_method,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Sent;

    #[test]
    fn a_repeated_parameter_has_no_value_and_an_empty_one_is_omitted() {
        let pairs = [("state", "a"), ("x", "1"), ("x", "2"), ("state", "b"), ("state", "c")];
        let pairs = pairs.into_iter().chain([("scope", ""), ("client_id", "cli_1")]);
        let sent = Sent::of(pairs.map(|(name, value)| (name.into(), value.into())).collect());
        assert_eq!(sent.get("state"), None);
        let repeated: Vec<&str> = sent.repeated.iter().map(String::as_str).collect();
        assert_eq!(repeated, ["state"]);
        assert_eq!((sent.get("scope"), sent.get("client_id")), (None, Some("cli_1")));
    }
}
