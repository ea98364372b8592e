//! Answers are never larger than a function can hand on.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lambda::answer;
use support::{Gateway, Market, Value, inr, json};

/// Lambda's limit for the answer to a synchronous invocation.
const LIMIT: usize = 6 << 20;

/// Through the code that a function runs: the answer, and the bytes of its document.
async fn invoke(gateway: &Gateway, event: &Value) -> (Value, usize) {
    let answered =
        answer(gateway.system().router(), serde_json::from_value(event.clone()).unwrap())
            .await
            .unwrap();
    let document = serde_json::to_vec(&answered).unwrap();
    (serde_json::from_slice(&document).unwrap(), document.len())
}

#[tokio::test]
async fn a_page_ends_early_at_the_response_size_limit() {
    let market = Market::open().await;
    // Each quote is four bytes of an event: two backslashes and a quote, and one escaped.
    let description = "\"word\" ".repeat(9_000);
    for number in 0..60 {
        let input = json!({
            "title": format!("Book {number}"), "description": description,
            "variants": [{"price": inr(5)}],
        });
        market.owner.post("/v1/products").json(input).await.expect(201);
    }
    let (mut seen, mut pages, mut cursor) = (Vec::new(), 0, String::new());
    loop {
        let event = json!({
            "rawPath": "/v1/products", "rawQueryString": format!("limit=100{cursor}"),
            "headers": {
                "authorization": format!("Bearer {}", market.owner.token()),
                "x-service-store-id": market.store.id,
            },
            "requestContext": {"http": {"method": "GET", "sourceIp": "203.0.113.9"}},
        });
        let (answer, size) = invoke(&market.gateway, &event).await;
        assert_eq!(answer["statusCode"], 200, "{}", answer["body"]);
        assert!(size < LIMIT, "{size}");
        assert_eq!(answer["isBase64Encoded"], false);
        let page: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
        let data = page["data"].as_array().unwrap();
        seen.extend(data.iter().map(|product| product["id"].as_str().unwrap().to_owned()));
        pages += 1;
        let Some(next) = page["page"]["next_cursor"].as_str() else {
            assert_eq!(page["page"]["has_more"], false);
            break;
        };
        assert!(size > LIMIT / 2, "{size}: the page ends too early");
        assert!(answer["headers"]["link"].as_str().unwrap().contains("rel=\"next\""));
        cursor = format!("&cursor={next}");
    }
    assert_eq!(pages, 2);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 60, "each of them once");
    // Over a connection of our own as well: a page is the same wherever it is read.
    let page = market.owner.get("/v1/products?limit=100").await.expect(200);
    assert_eq!(page.at("/page/has_more"), true);
}

#[tokio::test]
async fn the_largest_image_fits_in_lambda_requests_and_responses() {
    let market = Market::open().await;
    let mut image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    image.resize(4 << 20, 0xaa);
    // One that is text to whoever looks at bytes alone, and would be six times as large as text.
    let mut odd = b"GIF89a".to_vec();
    odd.resize(4 << 20, 1);
    for image in [image, odd] {
        let upload = json!({
            "rawPath": "/v1/media",
            "headers": {
                "authorization": format!("Bearer {}", market.owner.token()),
                "x-service-store-id": market.store.id, "content-type": "image/png",
            },
            "requestContext": {"http": {"method": "POST", "sourceIp": "203.0.113.9"}},
            "body": BASE64_STANDARD.encode(&image), "isBase64Encoded": true,
        });
        assert!(upload.to_string().len() + 512 * 1024 < LIMIT, "with headers of half a megabyte");
        let (made, _) = invoke(&market.gateway, &upload).await;
        assert_eq!(made["statusCode"], 201, "{}", made["body"]);
        let made: Value = serde_json::from_str(made["body"].as_str().unwrap()).unwrap();
        let path = format!(
            "/v1/storefront/{}/media/{}",
            market.store.subdomain,
            made["id"].as_str().unwrap()
        );
        let event = json!({
            "rawPath": path,
            "requestContext": {"http": {"method": "GET", "sourceIp": "203.0.113.9"}},
        });
        let (shown, size) = invoke(&market.gateway, &event).await;
        assert_eq!(shown["statusCode"], 200, "{}", shown["body"]);
        assert!(size < LIMIT, "{size}");
        assert_eq!(shown["isBase64Encoded"], true);
        assert!(BASE64_STANDARD.decode(shown["body"].as_str().unwrap()).unwrap() == image);
    }
}
