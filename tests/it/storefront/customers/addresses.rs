//! Address books.

use std::time::Duration;

use support::{Shopper, json, race};

use super::{Front, address, at};

async fn defaults(shopper: &Shopper) -> Vec<String> {
    let list = shopper.get(&at("/addresses?limit=100")).await.expect(200);
    let first = list.data().first().map(|address| address["is_default"] == true);
    assert_ne!(first, Some(false), "the default comes first");
    let of_default = list.data().iter().filter(|address| address["is_default"] == true);
    of_default.map(|address| address["line1"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_address_book_always_has_one_default() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let path = at("/addresses");
    let one = shopper.post(&path).json(address("One")).await.expect(201);
    assert_eq!(one.at("/is_default"), true);
    let two = shopper.post(&path).json(address("Two")).await.expect(201);
    assert_eq!(two.at("/is_default"), false);
    let mut third = address("Three");
    third["is_default"] = json!(true);
    let three = shopper.post(&path).json(third).await.expect(201);
    assert_eq!(defaults(&shopper).await, ["Three"]);

    let no_id = shopper.patch(&path).json(json!({"city": "Pune"})).await.expect(400);
    no_id.problem("id_required");
    let in_body = json!({"id": one.str("/id"), "city": "Pune", "first_name": null});
    let changed = shopper.patch(&path).json(in_body).await.expect(200);
    assert_eq!((changed.str("/city"), changed.int("/version")), ("Pune".to_owned(), 2));
    assert_eq!(changed.at("/first_name"), &json!(null));
    let in_query = shopper.patch(&path).query(&[("id", &one.str("/id"))]);
    in_query.json(json!({"is_default": true})).await.expect(200);
    assert_eq!(defaults(&shopper).await, ["One"]);
    let none = json!({"is_default": false});
    let by_path = format!("{path}/{}", one.str("/id"));
    let rejected = shopper.patch(&by_path).json(none).await.expect(422);
    assert_eq!(rejected.field_errors(), [("/is_default".into(), "default_required".into())]);
    let stale = shopper.patch(&by_path).json(json!({"city": "X"})).if_match("\"1\"").await;
    stale.expect(412);

    shopper.delete(&path).query(&[("id", &one.str("/id"))]).await.expect(204);
    assert_eq!(defaults(&shopper).await, ["Three"]);
    shopper.delete(&path).json(json!({"id": three.str("/id")})).await.expect(204);
    assert_eq!(defaults(&shopper).await, ["Two"]);
    shopper.delete(&format!("{path}/{}", two.str("/id"))).await.expect(204);
    shopper.delete(&path).query(&[("id", &two.str("/id"))]).await.expect(404);
    assert!(defaults(&shopper).await.is_empty());
    shopper.post(&path).json(address("Four")).await.expect(201);
    assert_eq!(defaults(&shopper).await, ["Four"]);
}

#[tokio::test]
async fn addresses_are_validated_and_visible_to_their_customer_only() {
    let front = Front::open().await;
    let (shopper, other) = (front.shopper().await, front.shopper().await);
    let path = at("/addresses");
    let bad = json!({"line1": "", "country": "XX", "is_default": 7, "planet": "Mars"});
    let rejected = shopper.post(&path).json(bad).await.expect(422);
    let pair = |pointer: &str, code: &str| (pointer.to_owned(), code.to_owned());
    assert_eq!(
        rejected.field_errors(),
        [
            pair("/city", "required"),
            pair("/country", "invalid_country"),
            pair("/is_default", "invalid_type"),
            pair("/line1", "too_short"),
            pair("/planet", "unknown_field"),
        ]
    );
    let own = shopper.post(&path).json(address("One")).await.expect(201);
    let named = format!("{path}/{}", own.str("/id"));
    shopper.get(&named).await.expect(200);
    let before = front.gateway.count().await;
    other.get(&named).await.expect(404);
    other.patch(&named).json(json!({"city": "X"})).await.expect(404);
    other.delete(&named).await.expect(404);
    shopper.get(&format!("{path}/adr_x")).await.expect(404);
    assert_eq!(front.gateway.count().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_customer_has_at_most_50_addresses_under_parallel_requests() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let add = || {
        let shopper = shopper.clone();
        async move {
            // Crowded out is not rejected: whoever is, asks again.
            loop {
                let reply = shopper.post(&at("/addresses")).json(address("A")).await;
                match reply.status {
                    429 => tokio::time::sleep(Duration::from_millis(300)).await,
                    409 if reply.json["code"] == "version_conflict" => {}
                    _ => return reply,
                }
            }
        }
    };
    let answers = race(60, add).await;
    let limit = answers.iter().filter(|answer| answer.json["code"] == "address_limit").count();
    let added = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!((added, limit), (50, 10));
    assert_eq!(front.gateway.items_of("address", "STO#").await.len(), 50);
    front.gateway.advance(Duration::from_secs(10));
    assert_eq!(defaults(&shopper).await.len(), 1);
}

#[tokio::test]
async fn a_repeated_idempotency_key_adds_an_address_once() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let add = || shopper.post(&at("/addresses")).json(address("One")).key("k-1");
    let (first, second) = (add().await.expect(201), add().await.expect(201));
    assert_eq!(first.str("/id"), second.str("/id"));
    assert_eq!(second.header("idempotent-replayed"), Some("true"));
    assert_eq!(front.gateway.items_of("address", "STO#").await.len(), 1);
}

/// An address has what its country needs, in a book as at a checkout; whatever it lacks is named.
#[tokio::test]
async fn an_address_requires_the_fields_of_its_country() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    let path = at("/addresses");
    let place = |country: &str, region: Option<&str>, postal_code: Option<&str>| {
        let mut place = json!({"line1": "1 Main Street", "city": "Town", "country": country});
        for (name, value) in [("region", region), ("postal_code", postal_code)] {
            if let Some(value) = value {
                place[name] = json!(value);
            }
        }
        place
    };
    let field_error = |field: &str, code: &str| (field.to_owned(), code.to_owned());
    let missing = vec![field_error("/postal_code", "required"), field_error("/region", "required")];
    let wrong = vec![
        field_error("/postal_code", "invalid_postal_code"),
        field_error("/region", "invalid_region"),
    ];
    for country in ["US", "CA", "IN", "AU"] {
        let rejected = shopper.post(&path).json(place(country, None, None)).await.expect(422);
        assert_eq!(rejected.field_errors(), missing, "{country}");
        let odd = place(country, Some("Atlantis"), Some("12"));
        let rejected = shopper.post(&path).json(odd).await.expect(422);
        assert_eq!(rejected.field_errors(), wrong, "{country}");
    }
    let rejected = shopper.post(&path).json(place("GB", None, Some("95014"))).await.expect(422);
    assert_eq!(rejected.field_errors(), wrong[..1]);
    let mut bare = place("US", None, Some("9501"));
    bare.as_object_mut().unwrap().remove("city");
    let rejected = shopper.post(&path).json(bare).await.expect(422);
    let all = [
        field_error("/city", "required"),
        field_error("/postal_code", "invalid_postal_code"),
        field_error("/region", "required"),
    ];
    assert_eq!(rejected.field_errors(), all, "with all that is wrong besides");
    let kept = [
        (place("US", Some("california"), Some("95014-1234")), Some("CA"), "95014-1234"),
        (place("CA", Some("Québec"), Some("h3z 2y7")), Some("QC"), "H3Z 2Y7"),
        (place("IN", Some("IN-KA"), Some("560001")), Some("KA"), "560001"),
        (place("AU", Some("Victoria"), Some("3000")), Some("VIC"), "3000"),
        (place("GB", None, Some("SW1A 1AA")), None, "SW1A 1AA"),
    ];
    let mut last = String::new();
    for (input, region, postal_code) in kept {
        let reply = shopper.post(&path).json(input).await.expect(201);
        assert_eq!(*reply.at("/region"), json!(region));
        assert_eq!(reply.str("/postal_code"), postal_code);
        last = format!("{path}/{}", reply.str("/id"));
    }
    let abroad = shopper.patch(&last).json(json!({"country": "US"})).await.expect(422);
    let field_errors =
        [field_error("/postal_code", "invalid_postal_code"), field_error("/region", "required")];
    assert_eq!(abroad.field_errors(), field_errors);
    let moved = json!({"country": "US", "region": "NY", "postal_code": "10001"});
    shopper.patch(&last).json(moved).await.expect(200);
    shopper.patch(&last).json(json!({"city": "New York"})).await.expect(200);
}

/// What people write is taken, and stored as its country writes it.
#[tokio::test]
async fn regions_and_postal_codes_are_normalized() {
    let front = Front::open().await;
    let shopper = front.shopper().await;
    for (country, region, postal_code, stored) in [
        ("BR", "Sao Paulo", "01310100", (Some("SP"), Some("01310-100"))),
        ("ES", "Malaga", "29001", (Some("MA"), Some("29001"))),
        ("ES", "Gipuzkoa", "E-20001", (Some("SS"), Some("20001"))),
        ("IE", "Dublin", "d02af30", (Some("D"), Some("D02 AF30"))),
        ("IE", "County Cork", "", (Some("CO"), None)),
        ("IN", "Orissa", "751 001", (Some("OD"), Some("751001"))),
        ("JP", "東京", "１５４－００２３", (Some("13"), Some("154-0023"))),
        ("PL", "", "00950", (None, Some("00-950"))),
        ("LV", "", "1050", (None, Some("LV-1050"))),
        ("DE", "", "D-10115", (None, Some("10115"))),
        ("GB", "", "sw1a1aa", (None, Some("SW1A 1AA"))),
        ("HK", "", "", (None, None)),
        ("XK", "", "10000", (None, Some("10000"))),
    ] {
        let mut input = json!({"line1": "1 Main Street", "city": "Town", "country": country});
        for (field, value) in [("region", region), ("postal_code", postal_code)] {
            if !value.is_empty() {
                input[field] = json!(value);
            }
        }
        let made = shopper.post(&at("/addresses")).json(input).await.expect(201);
        let found = (made.at("/region").as_str(), made.at("/postal_code").as_str());
        assert_eq!(found, stored, "{country} {region} {postal_code}");
    }
}
