//! Who looks at a storefront: anybody, at one that is open; and who has a preview's token, at one that
//! is not, and under a draft.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use gateway::answer::Keeping;
use gateway::app::App;
use gateway::caller::{Access, Caller, Identity};
use primitives::problem::Problem;
use gateway::request::{Argument, Inbound, Query, Reads, Validation, request};
use primitives::fields::Exact;
use http::request::Parts;
use identity::store::Store;
use identity::storefront::{FRESH, OpenStore, StorefrontView, any_store, open_store, visitor};
use themes::preview::Token;
use themes::session::PreviewSession;

/// The header of a preview's token.
const HEADER: &str = "x-service-preview-token";
/// The query parameter of it.
const PARAMETER: &str = "preview_token";

/// Anybody, at the storefront that the path names; with a preview's token also at one that is not open
/// yet.
#[derive(Debug, Clone)]
pub(crate) struct Viewer {
    /// The store of the subdomain, as it was a moment ago.
    pub(crate) open: Arc<OpenStore>,
    /// The preview that the viewer was invited to.
    pub(crate) invitation: Option<Arc<PreviewSession>>,
    /// The subdomain as it was asked for.
    asked: String,
    identity: Identity,
}

gateway::caller_argument!(Viewer);

impl Viewer {
    /// The store.
    pub(crate) fn store(&self) -> &Store {
        &self.open.store
    }

    /// The storefront as this viewer sees it: a preview's theme is the draft's.
    pub(crate) fn view(&self) -> StorefrontView {
        let view = self.open.view(&self.asked);
        match &self.invitation {
            Some(session) => view.under_draft(session.slug.as_str(), session.draft_version),
            None => view,
        }
    }

    /// Who may keep what this viewer is answered: what is shown to who was invited is theirs alone.
    pub(crate) fn keeping(&self) -> Keeping {
        if self.invitation.is_some() { Keeping::Nobody } else { FRESH.into() }
    }

    /// Who asks for this storefront.
    ///
    /// # Errors
    /// `store_not_found`; `invalid_or_expired_token`, also for another store's; `preview_expired`.
    pub(crate) async fn at(app: &App, inbound: &Inbound, asked: &str) -> Result<Self, Problem> {
        let header = inbound.header(HEADER).map(str::to_owned);
        let (open, invitation) = match header.or_else(|| inbound.query_param(PARAMETER)) {
            None => (open_store(app, asked).await?, None),
            Some(token) => {
                let open = any_store(app, asked).await?;
                match invitation(app, &open.store, &token).await {
                    Ok(session) => (open, Some(Arc::new(session))),
                    // A storefront that is not open is none to whoever was not invited.
                    Err(rejection) => {
                        open_store(app, asked).await?;
                        return Err(rejection);
                    }
                }
            }
        };
        let identity = visitor(&open.store.id, inbound);
        Ok(Self { open, invitation, asked: asked.to_owned(), identity })
    }
}

/// The preview session of a token.
async fn invitation(app: &App, store: &Store, token: &str) -> Result<PreviewSession, Problem> {
    let keys = app.secrets.keys().await?;
    let token = Token::verify(token, &keys.previews, &store.id, app.clock.now())?;
    PreviewSession::of(app, &token).await
}

impl Caller for Viewer {
    fn access() -> Access {
        Access::Public
    }

    gateway::describes! { |operation| {
        let location = gateway::describe::ParameterLocation::Header;
        operation.takes::<String>(location, "X-Service-Preview-Token", false);
        operation.rejects(&[
            primitives::problem::Code::InvalidOrExpiredToken,
            primitives::problem::Code::PreviewExpired,
        ]);
    } }

    async fn authenticate(app: &App, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let asked = inbound.param("subdomain").unwrap_or_default();
        Self::at(app, inbound, asked).await
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}

/// Who looks.
#[request]
#[derive(Debug)]
pub(crate) struct PreviewQuery {
    /// The token of a preview session; or send it as `X-Service-Preview-Token`.
    #[expect(dead_code, reason = "the caller was validated by it")]
    preview_token: Option<Exact<512>>,
}

/// What invites a viewer, where a browser's address says it: validated with the caller, and named here for
/// who reads the document.
pub(crate) struct Invitation;

impl Argument for Invitation {
    const READS: Reads = Reads::QUERY;

    async fn validate(case: &mut Validation<'_>) -> Result<(), Problem> {
        Query::<PreviewQuery>::validate(case).await
    }

    gateway::describes! { |operation| {
        operation.takes_query::<PreviewQuery>();
        operation.rejects(&[primitives::problem::Code::ValidationFailed]);
    } }
}

impl<S: Sync> FromRequestParts<S> for Invitation {
    type Rejection = Problem;

    async fn from_request_parts(_: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self)
    }
}
