//! The viewer of a storefront: anybody if it is open, or the bearer of a preview token, who sees the draft
//! even if it is not open.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use callers::anonymous_at;
use gateway::answer::CacheControl;
use gateway::caller::{Access, Caller, Identity};
use gateway::request::{Argument, Inbound, Query, Reads, Validation};
use http::request::Parts;
use identity::store::Store;
use identity::storefront::{FRESH, OpenStore, StorefrontView, any_store, open_store};
use primitives::fields::Exact;
use primitives::input::request;
use primitives::problem::Problem;
use services::Services;
use themes::session::PreviewSession;

/// The header of a preview token.
const HEADER: &str = "x-service-preview-token";
/// The query parameter of a preview token.
const PARAMETER: &str = "preview_token";

/// An anonymous caller at the storefront that the path names; with a preview token, also at one that is not
/// open yet.
#[derive(Debug, Clone)]
pub(crate) struct Viewer {
    /// The store of the subdomain, from the cache.
    pub(crate) open: Arc<OpenStore>,
    /// The preview session of the viewer's token.
    pub(crate) preview: Option<Arc<PreviewSession>>,
    /// The requested subdomain.
    requested: String,
    identity: Identity,
}

gateway::caller_argument!(Viewer);

impl Viewer {
    /// The store.
    pub(crate) fn store(&self) -> &Store {
        &self.open.store
    }

    /// The response about the storefront; with a preview, its theme is the draft's.
    pub(crate) fn view(&self) -> StorefrontView {
        let view = self.open.view(&self.requested);
        match &self.preview {
            Some(session) => view.under_draft(session.slug.as_str(), session.draft_version),
            None => view,
        }
    }

    /// The caching of responses to this viewer: those with a preview are not cached.
    pub(crate) fn keeping(&self) -> CacheControl {
        if self.preview.is_some() { CacheControl::Nobody } else { FRESH.into() }
    }

    /// Authenticates the viewer of this storefront.
    ///
    /// # Errors
    /// `storefront_not_found`; `invalid_or_expired_token`, also for another store's; `preview_expired`.
    pub(crate) async fn at(
        services: &Services,
        inbound: &Inbound,
        requested: &str,
    ) -> Result<Self, Problem> {
        let header = inbound.header(HEADER).map(str::to_owned);
        let (open, preview) = match header.or_else(|| inbound.query_param(PARAMETER)) {
            None => (open_store(services, requested).await?, None),
            Some(token) => {
                let open = any_store(services, requested).await?;
                match PreviewSession::open(services, &open.store.id, &token).await {
                    Ok(session) => (open, Some(Arc::new(session))),
                    // Without a valid token, a storefront that is not open does not exist.
                    Err(rejection) => {
                        open_store(services, requested).await?;
                        return Err(rejection);
                    }
                }
            }
        };
        let identity = anonymous_at(&open.store.id, inbound);
        Ok(Self { open, preview, requested: requested.to_owned(), identity })
    }
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

    async fn authenticate(services: &Services, inbound: &Arc<Inbound>) -> Result<Self, Problem> {
        let requested = inbound.param("subdomain").unwrap_or_default();
        Self::at(services, inbound, requested).await
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }
}

/// The query of a viewer.
#[request]
#[derive(Debug)]
pub(crate) struct PreviewQuery {
    /// The token of a preview session; or send it as `X-Service-Preview-Token`.
    #[expect(dead_code, reason = "the caller was validated by it")]
    preview_token: Option<Exact<512>>,
}

/// The preview token as a query parameter. The caller is validated by it; this argument documents it.
pub(crate) struct PreviewToken;

impl Argument for PreviewToken {
    const READS: Reads = Reads::QUERY;

    async fn validate(validation: &mut Validation<'_>) -> Result<(), Problem> {
        Query::<PreviewQuery>::validate(validation).await
    }

    gateway::describes! { |operation| {
        operation.takes_query::<PreviewQuery>();
        operation.rejects(&[primitives::problem::Code::ValidationFailed]);
    } }
}

impl<S: Sync> FromRequestParts<S> for PreviewToken {
    type Rejection = Problem;

    async fn from_request_parts(_: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self)
    }
}
