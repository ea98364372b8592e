//! The consent page: which requests it shows, which it sends back to the app, and which lead nowhere.

use support::{
    Developer, Gateway, REDIRECT_URI, Reply, Shop, Value, challenge, json, routes, verifier,
};

const PAGE: &str = "/v1/app-store/oauth/authorize";

/// A query that the page shows, with these parameters instead; one without a value is left out.
fn query(shop: &Shop, changes: &[(&str, &str)]) -> String {
    let challenge = challenge(&"v".repeat(43));
    let usual = [
        ("response_type", "code"),
        ("client_id", &*shop.app.client_id),
        ("redirect_uri", REDIRECT_URI),
        ("scope", "read_store"),
        ("state", "a state / with +&= in it"),
        ("code_challenge", &*challenge),
        ("code_challenge_method", "S256"),
    ];
    let mut encoded = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in usual {
        let changed = changes.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let value = changed.unwrap_or(value);
        if !value.is_empty() {
            encoded.append_pair(name, value);
        }
    }
    let is_new = |name: &str| usual.iter().all(|(known, _)| *known != name);
    encoded.extend_pairs(changes.iter().filter(|(name, _)| is_new(name)));
    encoded.finish()
}

async fn page_of(shop: &Shop, query: &str) -> Reply {
    shop.app_server.elsewhere().get(&format!("{PAGE}?{query}")).await
}

/// Asks for the page, with these parameters instead.
async fn page(shop: &Shop, changes: &[(&str, &str)]) -> Reply {
    page_of(shop, &query(shop, changes)).await
}

/// What the page hands to its script.
fn data(reply: &Reply) -> Value {
    let (_, rest) = reply.text.split_once(r#"type="application/json">"#).unwrap();
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

/// Demands headers that keep a page out of frames, caches and `Referer`, and everything else out of it.
#[track_caller]
fn guarded(reply: &Reply) {
    assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"), "{}", reply.text);
    assert_eq!(reply.header("x-frame-options"), Some("DENY"));
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(reply.header("etag"), None);
    assert_eq!(reply.header("set-cookie"), None);
    assert_eq!(reply.header("access-control-allow-origin"), None);
    let policy = reply.header("content-security-policy").unwrap();
    for part in [
        "default-src 'none'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ] {
        assert!(policy.split("; ").any(|known| known == part), "{part}: {policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
}

/// Demands an error page that leads nowhere.
#[track_caller]
fn leads_nowhere(reply: Reply, code: &str) {
    let reply = reply.expect(400);
    guarded(&reply);
    assert_eq!(reply.header("location"), None);
    for part in ["<a ", "<script", "<form", "evil", "app.example.com", "http"] {
        assert!(!reply.text.contains(part), "{part} in {}", reply.text);
    }
    assert!(reply.text.contains(&format!("<code>{code}</code>")), "{}", reply.text);
}

/// Demands a redirect to the app, and returns the error that it names.
#[track_caller]
fn sent_back(shop: &Shop, reply: Reply, state: Option<&str>) -> String {
    let reply = reply.expect(302);
    assert_eq!(reply.text, "");
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let location = reply.header("location").unwrap();
    assert!(location.starts_with(&format!("{REDIRECT_URI}&error=")), "{location}");
    let pairs: Vec<(String, String)> =
        url::Url::parse(location).unwrap().query_pairs().into_owned().collect();
    let get = |name: &str| pairs.iter().find(|(known, _)| known == name).map(|(_, it)| it.clone());
    assert_eq!(get("state").as_deref(), state, "{location}");
    assert_eq!(get("iss").as_deref(), Some(shop.gateway.url()), "{location}");
    let description = get("error_description").unwrap();
    let allowed = |c: char| matches!(c, ' ' | '!' | '#'..='[' | ']'..='~');
    assert!(!description.is_empty() && description.chars().all(allowed), "{description}");
    get("error").unwrap()
}

#[tokio::test]
async fn the_consent_page_shows_the_app_its_developer_and_the_scopes() {
    let shop = Shop::with_published_app(&["read_store", "write_products", "read_orders"]).await;
    let shown =
        page(&shop, &[("scope", "write_products read_products read_store")]).await.expect(200);
    guarded(&shown);
    for part in [
        shop.app.view["name"].as_str().unwrap(),
        "Developer not verified",
        "Products, variants and collections",
        "The store's own data",
        "<strong>app.example.com</strong>",
        "<noscript>",
        r#"rel="noopener noreferrer nofollow""#,
        r#"<meta name="viewport""#,
        r#"<html lang="en">"#,
    ] {
        assert!(shown.text.contains(part), "{part}: {}", shown.text);
    }
    assert!(!shown.text.contains("Orders"), "it was not asked for");
    for outside in ["src=", "<link", "url(", "@import", " style=", " onclick"] {
        assert!(!shown.text.contains(outside), "{outside}");
    }
    let data = data(&shown);
    assert_eq!(data["app_id"], shop.app.id.as_str());
    assert_eq!(data["approve"]["scope"], "read_store write_products");
    assert_eq!(data["approve"]["state"], "a state / with +&= in it");
    assert_eq!(data["deny"]["redirect_uri"], REDIRECT_URI);
    // What it hands to its script is what the operations take.
    let mut fields = data["approve"].clone();
    fields["store_id"] = json!(shop.store.id);
    shop.authorize_with(fields).await.expect(200);
    let every = page(&shop, &[("scope", "")]).await.expect(200);
    assert!(every.text.contains("Orders"), "without a scope it asks for all");
    // Whoever cancels is sent back as whoever denies it is.
    let deny = format!("/v1/app-store/apps/{}/oauth/deny", shop.app.id);
    let mut fields = data["deny"].clone();
    fields["store_id"] = json!(shop.store.id);
    let denied = shop.merchant.post(&deny).json(fields).await.expect(200).str("/redirect_to");
    let cancel = format!(r#"href="{}""#, denied.replace('&', "&amp;"));
    assert!(shown.text.contains(&cancel), "{cancel}");
    let head =
        shop.app_server.request("HEAD".parse().unwrap(), &format!("{PAGE}?{}", query(&shop, &[])));
    let head = head.await.expect(200);
    assert_eq!((head.header("x-frame-options"), &*head.text), (Some("DENY"), ""));
}

#[tokio::test]
async fn the_consent_page_allows_its_own_script_and_style_alone() {
    use base64::Engine;
    use sha2::{Digest, Sha256};
    let shop = Shop::with_published_app(&["read_store"]).await;
    let shown = page(&shop, &[]).await.expect(200);
    let policy = shown.header("content-security-policy").unwrap();
    for tag in ["script", "style"] {
        let (_, rest) = shown.text.split_once(&format!("<{tag}>")).unwrap();
        let (content, rest) = rest.split_once(&format!("</{tag}>")).unwrap();
        assert!(!rest.contains(&format!("<{tag}>")), "a second {tag}");
        let hash = base64::prelude::BASE64_STANDARD.encode(Sha256::digest(content));
        assert!(policy.contains(&format!("{tag}-src 'sha256-{hash}'")), "{tag}: {policy}");
    }
    for storage in ["localStorage", "sessionStorage", "indexedDB", "document.cookie", "innerHTML"] {
        assert!(!shown.text.contains(storage), "{storage}");
    }
}

#[tokio::test]
async fn an_unregistered_redirect_uri_gets_a_page_that_leads_nowhere() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    for odd in [
        "https://app.example.com/callback",
        "https://app.example.com/callback?from=service&x=1",
        "https://app.example.com/callback?from=service#",
        "https://app.example.com/callback?from=service#x",
        "https://app.example.com/callback?from=service/../evil",
        "https://app.example.com/Callback?from=service",
        "https://app.example.com:443/callback?from=service",
        "https://APP.example.com/callback?from=service",
        "https://app.example.com.evil.example/callback?from=service",
        "https://evil.example/callback?from=service",
        "https://app.example.com@evil.example/callback?from=service",
        "https://evil.example\\@app.example.com/callback?from=service",
        "https://app.example.com\\callback?from=service",
        "\\\\evil.example",
        "//evil.example/callback?from=service",
        "http://app.example.com/callback?from=service",
        "javascript:alert('evil')",
        "data:text/html,evil",
        "/callback?from=service",
        "https://app.example.com/callback?from=service\r\nLocation: https://evil.example",
        " https://app.example.com/callback?from=service",
        "https://app.example.com/callback?from=servic%65",
        "https://app.example.com",
        "",
    ] {
        leads_nowhere(page(&shop, &[("redirect_uri", odd)]).await, "invalid_redirect_uri");
    }
    // A second one, in either order, and twice the right one.
    let right = query(&shop, &[]);
    let second = "redirect_uri=https%3A%2F%2Fevil.example%2F";
    let (_, right_again) = right.split_once("redirect_uri=").unwrap();
    let right_again = right_again.split('&').next().unwrap();
    for repeated in [
        format!("{right}&{second}"),
        format!("{second}&{right}"),
        format!("{right}&redirect_uri={right_again}"),
        format!("{right}&redirect_uri="),
    ] {
        leads_nowhere(page_of(&shop, &repeated).await, "invalid_redirect_uri");
    }
}

#[tokio::test]
async fn an_unknown_or_unpublished_app_gets_a_page_that_leads_nowhere() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    for odd in ["", "cli_evil", "<script>evil</script>", &"c".repeat(3_000), &shop.app.id] {
        leads_nowhere(page(&shop, &[("client_id", odd)]).await, "invalid_client");
    }
    let twice = format!("{}&client_id={}", query(&shop, &[]), shop.app.client_id);
    leads_nowhere(page_of(&shop, &twice).await, "invalid_client");
    leads_nowhere(page_of(&shop, "").await, "invalid_client");
    // Its redirect URI was reviewed by nobody.
    let draft = shop.developer.create_app(Developer::app_fields(&["read_store"])).await;
    leads_nowhere(page(&shop, &[("client_id", &draft.client_id)]).await, "invalid_client");
    let unpublish = format!("/v1/app-store/developers/apps/{}/unpublish", shop.app.id);
    shop.developer.post(&unpublish).json(json!({})).await.expect(200);
    leads_nowhere(page(&shop, &[]).await, "invalid_client");
}

#[tokio::test]
async fn other_faults_of_a_request_are_told_to_the_app() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let usual = Some("a state / with +&= in it");
    let short = "c".repeat(42);
    for (changes, error) in [
        (&[("response_type", "token")][..], "unsupported_response_type"),
        (&[("response_type", "code token")], "unsupported_response_type"),
        (&[("response_type", "")], "invalid_request"),
        (&[("scope", "write_store")], "invalid_scope"),
        (&[("scope", "read_everything")], "invalid_scope"),
        (&[("scope", "\"\\ü<script>")], "invalid_scope"),
        (&[("code_challenge_method", "plain")], "invalid_request"),
        (&[("code_challenge_method", "")], "invalid_request"),
        (&[("code_challenge", ""), ("code_challenge_method", "")], "invalid_request"),
        (&[("code_challenge", &*short)], "invalid_request"),
        (&[("response_mode", "fragment")], "invalid_request"),
        (&[("response_mode", "form_post")], "invalid_request"),
    ] {
        let reply = page(&shop, changes).await;
        assert_eq!(sent_back(&shop, reply, usual), error, "{changes:?}");
    }
    let right = query(&shop, &[]);
    for (name, state) in [("scope", usual), ("code_challenge", usual), ("state", None)] {
        let reply = page_of(&shop, &format!("{right}&{name}=read_store")).await;
        assert_eq!(sent_back(&shop, reply, state), "invalid_request", "{name} is repeated");
    }
    let long = "s".repeat(1_025);
    let reply = page(&shop, &[("state", &long)]).await;
    assert_eq!(sent_back(&shop, reply, Some(&long)), "invalid_request");
    // Parameters that the server does not know are ignored, and so is their number.
    page_of(&shop, &format!("{right}&prompt=consent&x=1&x=2&response_mode=query"))
        .await
        .expect(200);
}

#[tokio::test]
async fn a_public_client_needs_a_code_challenge_and_no_state() {
    let mut fields = Developer::app_fields(&["read_store"]);
    fields["confidential"] = json!(false);
    let shop = Shop::on(Gateway::start().await, fields).await;
    let bare = [("code_challenge", ""), ("code_challenge_method", "")];
    let reply = page(&shop, &bare).await;
    assert_eq!(sent_back(&shop, reply, Some("a state / with +&= in it")), "invalid_request");
    let shown = page(&shop, &[("state", "")]).await.expect(200);
    let (code_verifier, mut fields) = (verifier(), data(&shown)["approve"].clone());
    fields["store_id"] = json!(shop.store.id);
    fields["code_challenge"] = json!(challenge(&code_verifier));
    let reply = shop.authorize_with(fields).await.expect(200);
    let redirect = reply.str("/redirect_to");
    assert!(!redirect.contains("state=") && redirect.contains("&iss="), "{redirect}");
    assert_eq!(reply.json["state"], Value::Null);
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &reply.str("/code")),
        ("redirect_uri", REDIRECT_URI),
        ("code_verifier", &code_verifier),
        ("client_id", &shop.app.client_id),
    ];
    shop.app_server.post("/v1/app-store/oauth/token").form(&form).await.expect(200);
    let deny = format!("/v1/app-store/apps/{}/oauth/deny", shop.app.id);
    let input = json!({"store_id": shop.store.id, "redirect_uri": REDIRECT_URI});
    let denied = shop.merchant.post(&deny).json(input).await.expect(200).str("/redirect_to");
    assert!(denied.contains("error=access_denied&iss="), "{denied}");
}

#[tokio::test]
async fn a_request_without_code_challenge_needs_a_state() {
    let mut fields = Developer::app_fields(&["read_store"]);
    fields["require_pkce"] = json!(false);
    let shop = Shop::on(Gateway::start().await, fields).await;
    let without = |state| [("code_challenge", ""), ("code_challenge_method", ""), ("state", state)];
    page(&shop, &without("s")).await.expect(200);
    let reply = page(&shop, &without("")).await;
    assert_eq!(sent_back(&shop, reply, None), "invalid_request");
    let input = json!({"store_id": shop.store.id, "redirect_uri": REDIRECT_URI});
    shop.authorize_with(input).await.expect(400).problem("invalid_request");
}

#[tokio::test]
async fn the_consent_page_escapes_what_comes_from_apps_and_links() {
    let mut fields = Developer::app_fields(&["read_store"]);
    let evil = r#"</script><img src=x onerror=alert(1)>"'&"#;
    fields["name"] = json!(evil);
    let shop = Shop::on(Gateway::start().await, fields).await;
    let shown =
        page(&shop, &[("state", "</script><script>alert(1)</script><!--\u{2028}'\"")]).await;
    let shown = shown.expect(200);
    assert!(!shown.text.contains("<img") && !shown.text.contains("<script>alert"));
    assert!(!shown.text.contains("<!--"));
    assert_eq!(shown.text.matches("</script>").count(), 2, "the data's and the script's");
    assert!(shown.text.contains("&lt;/script&gt;&lt;img"), "{}", shown.text);
    let state = data(&shown)["approve"]["state"].clone();
    assert_eq!(state, "</script><script>alert(1)</script><!--\u{2028}'\"");
    let scope = page(&shop, &[("scope", "read_store <script>alert(1)</script>")]).await;
    let usual = Some("a state / with +&= in it");
    assert_eq!(sent_back(&shop, scope, usual), "invalid_scope");
}

#[tokio::test]
async fn the_metadata_is_at_its_well_known_location() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    let known = client.get("/.well-known/oauth-authorization-server").await.expect(200);
    assert_eq!(known.header("content-type"), Some("application/json"));
    assert_eq!(known.header("access-control-allow-origin"), Some("*"));
    assert_eq!(known.header("cache-control"), Some("public, max-age=300"));
    let metadata = client.get("/v1/app-store/oauth/metadata").await.expect(200);
    assert_eq!(known.text, metadata.text);
    assert_eq!(known.str("/issuer"), gateway.url());
    for name in ["authorization", "token", "revocation", "introspection"] {
        let endpoint = known.str(&format!("/{name}_endpoint"));
        let path = endpoint.strip_prefix(gateway.url()).unwrap();
        let method = if name == "authorization" { "GET" } else { "POST" };
        let is_served = routes().iter().any(|row| row.path == path && row.method == method);
        assert!(is_served, "{method} {path}");
    }
    client
        .get("/.well-known/oauth-authorization-server/api")
        .await
        .expect(404)
        .problem("not_found");
    client.get("/.well-known/openid-configuration").await.expect(404).problem("not_found");
}

#[tokio::test]
async fn the_metadata_names_no_grant_type_that_the_token_endpoint_rejects() {
    let shop = Shop::with_published_app(&["read_store"]).await;
    let metadata = shop.app_server.get("/v1/app-store/oauth/metadata").await.expect(200);
    let named = metadata.at("/grant_types_supported").as_array().unwrap().clone();
    let exchange = "urn:ietf:params:oauth:grant-type:token-exchange";
    for (grant_type, error) in [
        ("authorization_code", "invalid_request"),
        ("refresh_token", "invalid_request"),
        (exchange, "unsupported_grant_type"),
        ("client_credentials", "unsupported_grant_type"),
        ("password", "unsupported_grant_type"),
    ] {
        shop.token(&[("grant_type", grant_type)]).await.expect(400).oauth_error(error);
        assert_eq!(named.contains(&json!(grant_type)), error == "invalid_request", "{grant_type}");
    }
    assert_eq!(metadata.at("/response_modes_supported"), &json!(["query"]));
}
