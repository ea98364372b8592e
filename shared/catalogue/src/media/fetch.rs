//! Fetching of images from addresses that merchants name: the server's requests to them pass the guard of
//! [`egress`].

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use egress::{Outgoing, SendError};
use http::{HeaderMap, HeaderValue, Method, header};
use services::Services;

use super::MAX_BYTES;

/// The `User-Agent` of requests that fetch images.
const USER_AGENT: &str = "Service-Media/1";

/// Why there is no image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchError {
    /// The address is blocked, or nobody answers there.
    Send(SendError),
    /// It answers with another status than 200.
    Status(u16),
    /// The image has more than [`MAX_BYTES`].
    TooLarge,
}

impl fmt::Display for FetchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send(error) => error.fmt(formatter),
            Self::Status(status) => {
                write!(formatter, "The server of the URL answered with status {status}.")
            }
            Self::TooLarge => write!(formatter, "An image must have at most {MAX_BYTES} bytes."),
        }
    }
}

impl From<SendError> for FetchError {
    fn from(error: SendError) -> Self {
        Self::Send(error)
    }
}

/// Fetches the bytes at an address within this time. Private addresses are blocked, and redirects are not
/// followed.
///
/// # Errors
/// The reason why there is no image.
pub async fn fetch(
    services: &Services,
    url: &str,
    deadline: Duration,
) -> Result<Bytes, FetchError> {
    let destination = services.egress.check(url).await.map_err(SendError::from)?;
    let mut headers = HeaderMap::new();
    headers.insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
    headers.insert(header::ACCEPT, HeaderValue::from_static("image/*"));
    let request = Outgoing {
        method: Method::GET,
        destination,
        headers,
        body: Bytes::new(),
        deadline,
        max_body: MAX_BYTES,
    };
    let answer = services.egress.send(request).await?;
    match answer.status {
        200 if answer.truncated => Err(FetchError::TooLarge),
        200 => Ok(answer.body),
        status => Err(FetchError::Status(status)),
    }
}
