//! The authentication of a client at the OAuth endpoints.

use callers::OAuthClient;
use platform::app::AppClient;
use primitives::clock::Timestamp;
use primitives::fields::Exact;
use primitives::problem::{Code, Problem};

/// The credentials of a client, from the header or from the body, but not both (RFC 6749 §2.3).
#[derive(Debug, Clone)]
pub(super) struct ClientCredentials {
    pub(super) client_id: String,
    unverified_secret: Option<String>,
}

impl ClientCredentials {
    /// Takes them from the header or from the body.
    pub(super) fn of(
        caller: OAuthClient,
        client_id: Option<&Exact<128>>,
        secret: Option<&Exact<256>>,
    ) -> Result<Self, Problem> {
        match (caller.unverified_basic, client_id, secret) {
            (Some(_), _, Some(_)) => {
                Err(Code::InvalidRequest
                    .detail("Authenticate in the header or in the body, not both."))
            }
            (Some((id, _)), Some(named), None) if named.as_str() != id => {
                Err(Code::InvalidRequest.detail("The header and the body name different clients."))
            }
            (Some((client_id, secret)), _, None) => {
                Ok(Self { client_id, unverified_secret: Some(secret) })
            }
            (None, Some(id), secret) => Ok(Self {
                client_id: id.as_str().to_owned(),
                unverified_secret: secret.map(|secret| secret.as_str().to_owned()),
            }),
            (None, None, _) => Err(Code::InvalidClient.into()),
        }
    }

    /// Returns the client, if the credentials are valid for it.
    pub(super) fn authenticate(
        &self,
        found: Option<AppClient>,
        now: Timestamp,
    ) -> Result<AppClient, Problem> {
        found
            .filter(|client| client.is_authenticated_by(self.unverified_secret.as_deref(), now))
            .ok_or_else(|| Code::InvalidClient.into())
    }
}
