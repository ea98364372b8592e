//! What a family answers to what its table has not: it is led every method of every path below its
//! prefixes, here as in a deployment. `cross::binaries` asks the same of the binaries.

use std::collections::BTreeSet;

use gateway::routes::Row;
use http::Method;
use support::{Client, Gateway, Input};

/// A row's path, about nothing that there is.
fn filled(path: &str) -> String {
    let parts = path.split('/').map(|part| if part.starts_with('{') { "nothing" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

/// Each from a network of its own: rejections have a price.
fn request(client: &Client, method: Method, path: &str) -> Input {
    client.elsewhere().request(method, path)
}

#[tokio::test]
async fn an_unsupported_method_is_answered_with_allow() {
    another_method(&Gateway::start().await.client()).await;
}

pub(super) async fn another_method(client: &Client) {
    let purge = Method::from_bytes(b"PURGE").unwrap();
    for (family, routes) in local::families() {
        let paths: BTreeSet<_> = routes.rows().iter().map(|row| row.path).collect();
        for path in paths {
            let rejected = request(client, purge.clone(), &filled(path)).await.expect(405);
            let rejected = rejected.problem("method_not_allowed");
            let told: BTreeSet<_> = rejected.header("allow").unwrap().split(',').collect();
            let of_path = |row: &&Row| filled(row.path) == filled(path);
            for row in routes.rows().iter().filter(of_path) {
                assert!(told.contains(row.method.as_str()), "{family}: {path}: {told:?}");
            }
            assert!(!told.contains("PURGE"), "{family}: {path}: {told:?}");
        }
    }
}

#[tokio::test]
async fn an_unknown_path_is_not_found_for_every_method() {
    an_unknown_path(&Gateway::start().await.client()).await;
}

pub(super) async fn an_unknown_path(client: &Client) {
    for (family, routes) in local::families() {
        let path = format!("{}/no/thing/is/here", filled(routes.rows()[0].path));
        let mut answers = BTreeSet::new();
        for method in [Method::GET, Method::POST, Method::DELETE, Method::OPTIONS] {
            let reply = request(client, method, &path).await.expect(404).problem("not_found");
            assert_eq!(reply.header("allow"), None, "{family}: {path}");
            let id = reply.header("x-request-id").unwrap();
            answers.insert(reply.text.replace(id, ""));
        }
        assert_eq!(answers.len(), 1, "{family}: {answers:?}");
        let head = request(client, Method::HEAD, &path).await.expect(404);
        assert_eq!(head.text, "", "{family}");
    }
}

#[tokio::test]
async fn head_is_answered_as_get_without_a_body() {
    head(&Gateway::start().await.client()).await;
}

pub(super) async fn head(client: &Client) {
    for row in local::routes().rows().iter().filter(|row| row.method == Method::GET) {
        let path = filled(row.path);
        let get = request(client, Method::GET, &path).await;
        let head = request(client, Method::HEAD, &path).await;
        assert_eq!((head.status, &*head.text), (get.status, ""), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
    }
}

#[tokio::test]
async fn a_preflight_is_answered_by_the_routes_family() {
    const PAGE: &str = "https://admin.example.com";
    let gateway = Gateway::start_with(|options| {
        options.embedded.admin_origins = vec![PAGE.to_owned()];
    })
    .await;
    a_preflight(&gateway.client(), PAGE).await;
}

/// Of a page that may call merchant routes, and of another one.
pub(super) async fn a_preflight(client: &Client, page: &str) {
    let preflight = async |path: &str, method: &str, origin: &str| {
        let input = request(client, Method::OPTIONS, path).header("origin", origin);
        let reply = input.header("access-control-request-method", method).await.expect(204);
        assert_eq!(reply.header("access-control-allow-methods"), Some(method), "{path}");
        reply.header("access-control-allow-origin").map(str::to_owned)
    };
    for row in local::routes().rows() {
        let (path, method) = (filled(row.path), row.method.as_str());
        let any = callers::cross_origin::is_open(&row.method, &path);
        let (admin, other) = if any { ("*", Some("*")) } else { (page, None) };
        assert_eq!(preflight(&path, method, page).await.as_deref(), Some(admin), "{path}");
        let stranger = preflight(&path, method, "https://other.example").await;
        assert_eq!(stranger.as_deref(), other, "{path}");
    }
}
