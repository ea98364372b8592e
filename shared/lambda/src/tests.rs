use axum::extract::Request;
use axum::response::Response;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use super::*;
use primitives::size::ANSWER_LIMIT;

/// Says what it was asked.
async fn echo(request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let headers = parts
        .headers
        .iter()
        .map(|(name, value)| json!([name.as_str(), String::from_utf8_lossy(value.as_bytes())]));
    let said = json!({
        "method": parts.method.as_str(), "uri": parts.uri.to_string(),
        "headers": headers.collect::<Vec<_>>(),
        "client": parts.extensions.get::<ClientIp>().map(|client| client.0.to_string()),
        "fault": parts.extensions.get::<Unreadable>().map(|fault| fault.0.code.as_str()),
        "body": String::from_utf8_lossy(&body.collect().await.unwrap().to_bytes()),
    });
    ([("content-type", "application/json")], said.to_string()).into_response()
}

fn read(event: Value) -> Event {
    serde_json::from_value(event).unwrap()
}

/// The request that a function receives by this event.
async fn request_of(event: Value) -> Value {
    let answer = answer(Router::new().fallback(echo), read(event)).await.unwrap();
    let answer = serde_json::to_value(answer).unwrap();
    assert_eq!(answer["statusCode"], 200);
    serde_json::from_str(answer["body"].as_str().unwrap()).unwrap()
}

fn http_api(path: &str, query: &str) -> Value {
    json!({
        "version": "2.0", "rawPath": path, "rawQueryString": query,
        "requestContext": {"domainName": "a1.execute-api.eu-west-1.amazonaws.com", "stage": "$default",
            "http": {"method": "POST", "sourceIp": "203.0.113.9"}},
    })
}

fn function_url(path: &str, query: &str) -> Value {
    let mut event = http_api(path, query);
    event["requestContext"]["domainName"] = json!("a1.lambda-url.eu-west-1.on.aws");
    event
}

fn rest_api(path: &str) -> Value {
    json!({
        "path": path, "httpMethod": "POST",
        "requestContext": {"stage": "prod", "domainName": "a1.execute-api.eu-west-1.amazonaws.com",
            "path": format!("/prod{path}"), "identity": {"sourceIp": "203.0.113.9"}},
    })
}

fn load_balancer(path: &str) -> Value {
    json!({
        "path": path, "httpMethod": "POST", "headers": {"x-forwarded-for": "192.0.2.7, 203.0.113.9"},
        "requestContext": {"elb": {"targetGroupArn": "arn:aws:elasticloadbalancing:x"}},
    })
}

/// This event, with these members.
fn with(mut event: Value, members: Value) -> Value {
    let (Value::Object(event_members), Value::Object(members)) = (&mut event, members) else {
        panic!("objects")
    };
    event_members.extend(members);
    event
}

fn header<'a>(request: &'a Value, name: &str) -> Vec<&'a str> {
    let headers = request["headers"].as_array().unwrap().iter();
    headers.filter(|header| header[0] == name).map(|header| header[1].as_str().unwrap()).collect()
}

#[tokio::test]
async fn every_source_makes_the_same_request() {
    let said = json!({"headers": {"x-said": "so"}, "body": "{}", "isBase64Encoded": false});
    let one = json!({"queryStringParameters": {"q": "a b&c"}});
    let all = json!({"queryStringParameters": {"q": "last"},
        "multiValueQueryStringParameters": {"q": ["a b&c"]}});
    let forwarded = json!({"multiValueHeaders": {"x-said": ["so"],
        "x-forwarded-for": ["192.0.2.7, 203.0.113.9"]}, "headers": {}});
    let mut answers = Vec::new();
    for event in [
        with(http_api("/v1/it/a b", "q=a+b%26c"), said.clone()),
        with(function_url("/v1/it/a%20b", "q=a+b%26c"), said.clone()),
        with(with(rest_api("/v1/it/a%20b"), said.clone()), one.clone()),
        with(with(rest_api("/v1/it/a%20b"), said.clone()), all),
        with(with(with(rest_api("/v1/it/a b"), said.clone()), one), json!({"version": "1.0"})),
        with(
            with(with(load_balancer("/v1/it/a%20b"), said), forwarded),
            // As the client has encoded them.
            json!({"multiValueQueryStringParameters": {"q": ["a+b%26c"]}}),
        ),
    ] {
        let mut request = request_of(event).await;
        assert_eq!(header(&request, "x-said"), ["so"]);
        request["headers"].take();
        answers.push(request);
    }
    for request in &answers {
        let expected = json!({
            "method": "POST", "uri": "/v1/it/a%20b?q=a+b%26c", "headers": null, "fault": null,
            "client": "203.0.113.9", "body": "{}",
        });
        assert_eq!(request, &expected);
    }
}

#[tokio::test]
async fn a_path_keeps_its_parameters_whole() {
    for (event, path) in [
        (http_api("/a?b=1#c%2Fé d", ""), "/a%3Fb%3D1%23c%252F%C3%A9%20d"),
        (http_api("/a/../b", ""), "/a/../b"),
        (http_api("", ""), "/"),
        (http_api("a", ""), "/a"),
        (function_url("/a%2Fb/%zz/50%?é", ""), "/a%2Fb/%25zz/50%25%3F%C3%A9"),
        (rest_api("/a%2Fb;c=d"), "/a%2Fb;c=d"),
        (load_balancer("//a%2Fb"), "//a%2Fb"),
    ] {
        assert_eq!(request_of(event).await["uri"], path);
    }
}

#[tokio::test]
async fn a_query_with_any_characters_is_preserved() {
    let odd = request_of(http_api("/", "a=\" \"&b=é&c=100%&d[]=1&e=#&f=%2F")).await;
    assert_eq!(odd["uri"], "/?a=%22%20%22&b=%C3%A9&c=100%25&d%5B%5D=1&e=%23&f=%2F");
    let lists = json!({
        "queryStringParameters": {"a": "2", "b": null, "c": "x"},
        "multiValueQueryStringParameters": {"a": ["1", "2"], "b": [], "d": null},
    });
    let request = request_of(with(rest_api("/"), lists)).await;
    let (_, query) = request["uri"].as_str().unwrap().split_once('?').unwrap();
    let pairs: Vec<_> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let of = |name: &str| -> Vec<_> {
        pairs.iter().filter(|(n, _)| n == name).map(|(_, value)| value.as_str()).collect()
    };
    assert_eq!((pairs.len(), of("a"), of("c")), (3, vec!["1", "2"], vec!["x"]));
    for event in [
        http_api("/", &"x".repeat(100_000)),
        http_api(&format!("/{}", "é".repeat(20_000)), ""),
        with(rest_api("/"), json!({"queryStringParameters": {"a": "x".repeat(100_000)}})),
        with(load_balancer("/"), json!({"queryStringParameters": {"a": "x".repeat(100_000)}})),
    ] {
        assert_eq!(request_of(event).await["fault"], "invalid_request");
    }
}

#[tokio::test]
async fn headers_may_be_anything() {
    let headers =
        json!({"X-Odd": "caf\u{e9}", "bad name": "dropped", "x-line": "a\nb", "x-null": null});
    let cookies = json!({"headers": headers, "cookies": ["a=1", "b=2"]});
    let request = request_of(with(http_api("/", ""), cookies)).await;
    assert_eq!(request["headers"].as_array().unwrap().len(), 2);
    assert_eq!(header(&request, "cookie"), ["a=1; b=2"]);
    assert_eq!(header(&request, "x-odd"), ["caf\u{e9}"]);

    let repeated = json!({
        "headers": {"X-Twice": "2", "x-once": "3"},
        "multiValueHeaders": {"X-Twice": ["1", "2"], "X-Odd": ["a", "\u{1F600}"]},
    });
    for event in [rest_api("/"), load_balancer("/")] {
        let request = request_of(with(event, repeated.clone())).await;
        assert_eq!(header(&request, "x-twice"), ["1", "2"]);
        assert_eq!(header(&request, "x-once"), ["3"]);
        assert_eq!(header(&request, "x-odd"), ["a", "\u{1F600}"]);
    }
}

#[tokio::test]
async fn a_valid_host_is_preserved_and_an_invalid_one_is_dropped() {
    let named = async |scheme: &str, host: &str| {
        let headers = json!({"headers": {"host": host, "x-forwarded-proto": scheme}});
        request_of(with(http_api("/a", "b=c"), headers)).await
    };
    for host in ["shop.example.com", "127.0.0.1:3000", "[::1]:3000"] {
        let request = named("https", host).await;
        assert_eq!((header(&request, "host"), &request["uri"]), (vec![host], &json!("/a?b=c")));
    }
    let long = "a".repeat(5_000);
    for (scheme, host) in [
        ("https", "a?x=1"),
        ("https", "a#b"),
        ("https", "[::"),
        ("https", "a:b:c"),
        ("https", "a b"),
        ("https", "café"),
        ("https", &long),
        ("a?b", "shop.example.com"),
        ("", ""),
    ] {
        let request = named(scheme, host).await;
        assert_eq!(
            (header(&request, "host").len(), &request["uri"]),
            (0, &json!("/a?b=c")),
            "{host}"
        );
    }
}

#[tokio::test]
async fn a_body_is_read_or_is_a_problem_and_never_an_abort() {
    for event in [http_api("/", ""), rest_api("/"), load_balancer("/")] {
        for (body, is_base64, read, fault) in [
            (json!("text \u{e9}"), json!(false), "text \u{e9}", Value::Null),
            (json!("dGV4dA=="), json!(true), "text", Value::Null),
            (json!("dGV4dA"), json!(true), "", json!("invalid_request")),
            (json!("***"), json!(true), "", json!("invalid_request")),
            (json!(null), json!(true), "", Value::Null),
            (json!("text"), json!(null), "text", Value::Null),
        ] {
            let event = with(event.clone(), json!({"body": body, "isBase64Encoded": is_base64}));
            let request = request_of(event).await;
            assert_eq!((&request["body"], &request["fault"]), (&json!(read), &fault), "{body}");
        }
    }
    let mut odd = http_api("/", "");
    odd["requestContext"]["http"]["method"] = json!("NO METHOD");
    assert_eq!(request_of(odd).await["fault"], "invalid_request");
}

#[tokio::test]
async fn an_event_that_is_no_request_is_an_error() {
    for event in [
        json!(null),
        json!({}),
        json!([]),
        json!({"Records": [{"eventSource": "aws:s3"}]}),
        json!({"requestContext": {"connectionId": "x"}}),
        json!({"requestContext": {"http": "x"}, "httpMethod": 7}),
    ] {
        assert!(answer(Router::new().fallback(echo), read(event)).await.is_err());
    }
}

/// The response of a route with this body, and its size.
async fn sent(event: Value, body: Vec<u8>) -> (Value, usize) {
    let head =
        [("etag", "\"1\""), ("x-request-id", "mine"), ("vary", "Origin"), ("set-cookie", "a=1")];
    let get = move || async move {
        let mut response = (head, body).into_response();
        response.headers_mut().append("vary", http::HeaderValue::from_static("Accept"));
        response.headers_mut().append("set-cookie", http::HeaderValue::from_static("b=2"));
        let odd = http::HeaderValue::from_bytes(b"caf\xe9").unwrap();
        response.headers_mut().insert("x-odd", odd);
        response
    };
    let router = Router::new().fallback(get);
    let written = serde_json::to_vec(&answer(router, read(event)).await.unwrap()).unwrap();
    (serde_json::from_slice(&written).unwrap(), written.len())
}

#[tokio::test]
async fn every_source_is_answered_in_its_form() {
    let both = json!(["a=1", "b=2"]);
    for event in [http_api("/", ""), function_url("/", "")] {
        let (answer, _) = sent(event, b"{}".to_vec()).await;
        assert_eq!(answer["headers"]["vary"], "Origin, Accept");
        assert_eq!((&answer["cookies"], &answer["body"]), (&both, &json!("{}")));
        assert!(answer["headers"]["x-odd"].is_null() && answer["headers"]["set-cookie"].is_null());
    }
    let (answer, _) = sent(rest_api("/"), b"{}".to_vec()).await;
    assert_eq!(answer["multiValueHeaders"]["vary"], json!(["Origin, Accept"]));
    assert_eq!(
        (&answer["multiValueHeaders"]["set-cookie"], &answer["headers"]),
        (&both, &json!({}))
    );
    let (answer, _) = sent(load_balancer("/"), b"{}".to_vec()).await;
    assert_eq!(answer["headers"]["vary"], "Origin, Accept");
    assert_eq!(answer["multiValueHeaders"]["set-cookie"], both);
    assert_eq!(
        (&answer["statusCode"], &answer["statusDescription"]),
        (&json!(200), &json!("200 OK"))
    );
}

#[tokio::test]
async fn a_response_that_lambda_cannot_send_becomes_a_problem() {
    let mega = 1 << 20;
    for (event, body, is_base64) in [
        (http_api("/it", ""), b"{\"a\":\"b\"}".to_vec(), false),
        (http_api("/it", ""), vec![b'x'; 6 * mega - 8192], false),
        // Quotes: twice as much as text.
        (http_api("/it", ""), vec![b'"'; 4 * mega], true),
        (http_api("/it", ""), vec![0; 4 * mega], true),
        (rest_api("/it"), vec![0xff; 4 * mega], true),
        (load_balancer("/it"), vec![b'x'; 980_000], false),
        (load_balancer("/it"), vec![0xff; 740_000], true),
    ] {
        let limit =
            if event["requestContext"]["elb"].is_object() { 1_000_000 } else { ANSWER_LIMIT };
        let (answer, size) = sent(event, body.clone()).await;
        assert_eq!(answer["statusCode"], 200);
        assert_eq!(answer["isBase64Encoded"], is_base64);
        assert!(size <= limit, "{size}");
        let text = answer["body"].as_str().unwrap();
        let back = if is_base64 { BASE64_STANDARD.decode(text).unwrap() } else { text.into() };
        assert!(back == body);
    }
    for (event, body) in [
        (http_api("/it", ""), vec![b'x'; 6 * mega]),
        (http_api("/it", ""), vec![0xff; 5 * mega]),
        (load_balancer("/it"), vec![b'x'; mega]),
    ] {
        let (answer, size) = sent(event, body).await;
        assert_eq!(answer["statusCode"], 500);
        assert!(size < 2500, "{size}");
        let problem: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
        let expected = json!(["answer_too_large", "/it", "mine"]);
        assert_eq!(json!([problem["code"], problem["instance"], problem["request_id"]]), expected);
        assert_eq!(answer["headers"]["x-request-id"], "mine");
        assert_eq!(answer["headers"]["content-type"], "application/problem+json");
        assert!(answer["headers"]["etag"].is_null());
    }
}

#[tokio::test]
async fn a_compressed_answer_is_base64_where_that_is_decoded() {
    let accepted = json!({"headers": {"accept-encoding": "gzip", "x-said": "x".repeat(2_000)}});
    let router = || encoding(Router::new().fallback(echo));
    for (event, is_encoded) in [
        (http_api("/v1/it", ""), true),
        (function_url("/v1/it", ""), true),
        (load_balancer("/v1/it"), true),
        (rest_api("/v1/it"), false),
    ] {
        let answer = answer(router(), read(with(event, accepted.clone()))).await.unwrap();
        let answer = serde_json::to_value(answer).unwrap();
        assert_eq!(answer["isBase64Encoded"], is_encoded, "{answer}");
        let body = answer["body"].as_str().unwrap();
        if is_encoded {
            assert_eq!(answer["headers"]["content-encoding"], "gzip");
            let body = BASE64_STANDARD.decode(body).unwrap();
            assert!(body.starts_with(&[0x1f, 0x8b]) && body.len() < 1_000, "{}", body.len());
        } else {
            assert!(body.starts_with('{') && body.len() > 2_000);
        }
    }
}
