//! The HTTP client of the AWS SDKs: one HTTP/1.1 client for all SDKs of a process, made at its first use.
//! The SDKs' own client is made once per SDK client and once more for the first call, and each reads the
//! system's certificates. It also supports HTTP/2, which none of our three services speaks
//! (docs/platform.md §8). This client trusts Mozilla's roots, which are compiled in, and reads no
//! certificates (docs/decisions.md 14.15).

use std::sync::OnceLock;
use std::time::Duration;

use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, SharedHttpClient, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector as Tcp;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};
use webpki_roots::TLS_SERVER_ROOTS;

/// A client whose connections fail unless they are open within this time.
pub fn http_client(connect_timeout: Duration) -> SharedHttpClient {
    let made = OnceLock::new();
    let make = move || SharedHttpConnector::new(Connector::new(connect_timeout));
    http_client_fn(move |_, _| made.get_or_init(make).clone())
}

#[derive(Debug)]
struct Connector(Client<HttpsConnector<Tcp>, SdkBody>);

impl Connector {
    fn new(connect_timeout: Duration) -> Self {
        let mut tcp = Tcp::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(connect_timeout));
        let tls = HttpsConnectorBuilder::new().with_tls_config(tls());
        let https = tls.https_or_http().enable_http1().wrap_connector(tcp);
        Self(Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(https))
    }
}

fn tls() -> ClientConfig {
    crate::tls().with_root_certificates(roots()).with_no_client_auth()
}

fn roots() -> RootCertStore {
    RootCertStore { roots: TLS_SERVER_ROOTS.to_vec() }
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let request = match request.try_into_http1x() {
            Ok(request) => request,
            Err(error) => {
                return HttpConnectorFuture::ready(Err(ConnectorError::user(error.into())));
            }
        };
        let sent = self.0.request(request);
        HttpConnectorFuture::new(async move {
            // An I/O error, whatever the cause, so that the SDK may retry.
            let answer = sent.await.map_err(|error| ConnectorError::io(error.into()))?;
            HttpResponse::try_from(answer.map(SdkBody::from_body_1_x))
                .map_err(|error| ConnectorError::other(error.into(), None))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The roots of Amazon Trust Services are compiled in (docs/decisions.md 14.15).
    #[test]
    fn the_roots_of_amazon_are_trusted() {
        let names =
            ["Amazon Root CA 1", "Amazon Root CA 2", "Amazon Root CA 3", "Amazon Root CA 4"];
        for name in names.into_iter().chain(["Starfield Services Root Certificate Authority - G2"])
        {
            let is_named =
                |subject: &[u8]| subject.windows(name.len()).any(|it| it == name.as_bytes());
            let is_trusted = roots().roots.iter().any(|root| is_named(&root.subject));
            assert!(is_trusted, "{name}");
        }
    }
}
