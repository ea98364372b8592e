//! What is encoded, how it is tagged, and which encoding is chosen.

use std::io::Read;

use axum::response::IntoResponse;
use flate2::read::GzDecoder;

use super::*;

const OTHER: Encoding = Encoding { name: "other", encode: |body| Ok(body.to_vec()) };

fn encodings() -> Encodings {
    Encodings::new([OTHER, GZIP])
}

fn preferred_of(accepted: &str) -> Option<&'static str> {
    preferred(&[OTHER, GZIP], accepted).map(|encoding| encoding.name)
}

#[test]
fn the_encoding_that_the_caller_likes_best_is_chosen() {
    for (accepted, expected) in [
        ("", None),
        ("gzip", Some("gzip")),
        ("GZIP, deflate, br", Some("gzip")),
        ("gzip, other", Some("other")),
        ("gzip;q=0.9, other;q=0.8", Some("gzip")),
        ("gzip; q=0, other; q=0.001", Some("other")),
        ("*", Some("other")),
        ("*, other;q=0", Some("gzip")),
        ("identity, gzip;q=0.5", None),
        ("gzip;q=x", None),
        ("br", None),
    ] {
        assert_eq!(preferred_of(accepted), expected, "{accepted}");
    }
}

fn response(headers: &[(http::HeaderName, &'static str)], body: &str) -> Response {
    let mut response = body.to_owned().into_response();
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn sent(accepted: &'static str, response: Response) -> (HeaderMap, Vec<u8>) {
    let accepted = HeaderValue::from_static(accepted);
    let negotiated = encodings().negotiate(&Method::GET, Some(&accepted));
    let (parts, body) = negotiated.encode(response).await.into_parts();
    (parts.headers, body.collect().await.unwrap().to_bytes().to_vec())
}

#[tokio::test]
async fn a_long_text_is_encoded_with_a_tag_of_its_own() {
    let text = "{\"a\":1}".repeat(1_000);
    let json = (header::CONTENT_TYPE, "application/problem+json");
    let given = [json, (header::ETAG, "\"7\""), (header::VARY, "Origin")];
    let (headers, body) = sent("gzip", response(&given, &text)).await;
    assert_eq!(headers[header::CONTENT_ENCODING], "gzip");
    assert_eq!(headers[header::ETAG], "\"7-gzip\"");
    assert_eq!(headers[header::VARY], "Origin, Accept-Encoding");
    let mut read = String::new();
    GzDecoder::new(&*body).read_to_string(&mut read).unwrap();
    assert!(body.len() < text.len() / 10 && read == text);
    let (headers, body) = sent("br", response(&given, &text)).await;
    assert_eq!((&headers[header::ETAG], body), (&HeaderValue::from_static("\"7\""), text.into()));
    assert_eq!(headers[header::VARY], "Origin, Accept-Encoding");
    assert!(!headers.contains_key(header::CONTENT_ENCODING));
}

#[tokio::test]
async fn short_secret_encoded_and_image_bodies_are_sent_unencoded() {
    let json = (header::CONTENT_TYPE, "application/json");
    let long = "x".repeat(MIN_LENGTH);
    for (given, body) in [
        (vec![json.clone()], &long[1..]),
        (vec![(header::CONTENT_TYPE, "image/png")], &*long),
        (vec![json.clone(), (header::CACHE_CONTROL, "no-store")], &long),
        (vec![json.clone(), (header::CACHE_CONTROL, "public, no-transform")], &long),
        (vec![json.clone(), (header::CONTENT_ENCODING, "br")], &long),
        (vec![json.clone(), (header::CONTENT_RANGE, "bytes 0-9/20")], &long),
    ] {
        let (headers, sent) = sent("gzip", response(&given, body)).await;
        assert_eq!(sent, body.as_bytes(), "{given:?}");
        assert!(headers.get(header::CONTENT_ENCODING).is_none_or(|it| it == "br"));
    }
    assert!(sent("gzip", response(&[json], &long)).await.1.len() < long.len());
}

#[tokio::test]
async fn the_tag_of_an_encoding_means_the_object() {
    let encodings = encodings();
    let mut headers = HeaderMap::new();
    headers.insert(header::IF_MATCH, HeaderValue::from_static("\"7-gzip\""));
    let known = HeaderValue::from_static("\"a-other\", W/\"b-gzip\", \"c-d\"");
    headers.insert(header::IF_NONE_MATCH, known);
    encodings.remove_suffixes(&mut headers);
    assert_eq!(headers[header::IF_MATCH], "\"7\"");
    assert_eq!(headers[header::IF_NONE_MATCH], "\"a\", W/\"b\", \"c-d\"");
    let mut unchanged = response(&[(header::ETAG, "\"a\"")], "");
    *unchanged.status_mut() = StatusCode::NOT_MODIFIED;
    let (headers, _) = sent("gzip", unchanged).await;
    assert_eq!(headers[header::ETAG], "\"a-gzip\"");
    assert_eq!(headers[header::VARY], "Accept-Encoding");
}

#[tokio::test]
async fn a_long_encoding_is_cached_by_the_digest_of_its_body() {
    static ENCODED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let counting = Encoding {
        name: "count",
        encode: |body| {
            ENCODED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok(body.to_vec())
        },
    };
    let encodings = Encodings::new([counting]);
    let text = "x".repeat(CACHED_FROM);
    let json = (header::CONTENT_TYPE, "application/json");
    let digest = (header::ETAG, "\"0123456789abcdef0123456789abcdef\"");
    for (given, encoded) in [
        (vec![json.clone(), digest.clone()], 1),
        (vec![json.clone(), digest], 1),
        (vec![json.clone(), (header::ETAG, "\"7\"")], 2),
        (vec![json, (header::ETAG, "\"7\"")], 3),
    ] {
        let negotiated =
            encodings.negotiate(&Method::GET, Some(&HeaderValue::from_static("count")));
        negotiated.encode(response(&given, &text)).await;
        assert_eq!(ENCODED.load(std::sync::atomic::Ordering::Relaxed), encoded, "{given:?}");
    }
}
