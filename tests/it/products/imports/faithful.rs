//! What an import must not change silently: what is off sale, ambiguous numbers, addresses, consents, descriptions.

use super::*;

/// All findings: row, column, code and detail, without those of ignored columns.
async fn told(market: &Market, done: &Reply) -> Vec<(i64, String, String, String)> {
    let path = format!("{IMPORTS}/{}/findings?limit=100", done.str("/id"));
    let page = market.owner.get(&path).await.expect(200);
    let found = page.data().iter().map(|found| {
        let text = |name: &str| found[name].as_str().unwrap_or_default().to_owned();
        (found["row"].as_i64().unwrap(), text("column"), text("code"), text("detail"))
    });
    found.filter(|(.., code, _)| code != "ignored_column").collect()
}

/// Imports a file, of which every row succeeds; returns its findings.
async fn taken(market: &Market, input: Value, file: &str) -> Vec<(i64, String, String, String)> {
    let status = if input["dry_run"] == json!(true) { "checked" } else { "succeeded" };
    let done = import(&market.owner, input, file.as_bytes()).await;
    let found = told(market, &done).await;
    assert_eq!(done.str("/status"), status, "{found:?}");
    found
}

fn places(found: &[(i64, String, String, String)]) -> Vec<(i64, &str, &str)> {
    found.iter().map(|(row, column, code, _)| (*row, column.as_str(), code.as_str())).collect()
}

async fn customer(market: &Market, email: &str) -> Value {
    let path = format!("/v1/customers?email={email}@example.com");
    market.owner.get(&path).await.expect(200).data()[0].clone()
}

#[tokio::test]
async fn a_discontinued_column_marks_variants_as_discontinued() {
    let market = Market::open().await;
    let owner = &market.owner;
    let file = "Handle,Title,Status,Option1 Name,Option1 Value,Variant Price,Variant Discontinued\n\
                cap,Cap,active,Size,S,1,FALSE\ncap,,,,M,2,TRUE\ncap,,,,L,3,perhaps\ncap,,,,XL,4,\n";
    let found = taken(&market, json!({"kind": "products"}), file).await;
    assert_eq!(places(&found), [(4, "Variant Discontinued", "invalid_boolean")]);
    assert!(found[0].3.contains("discontinued"), "{found:?}");
    let flags = |product: &Reply| {
        (0..4)
            .map(|number| product.at(&format!("/variants/{number}/discontinued")) == &json!(true))
            .collect::<Vec<_>>()
    };
    let cap = product(owner, "cap").await.unwrap();
    assert_eq!(flags(&cap), [false, true, true, false]);
    let path = format!("/v1/storefront/{}/products/cap", market.store.subdomain);
    let seen = market.gateway.client().get(&path).await.expect(200);
    assert_eq!(seen.at("/variants").as_array().unwrap().len(), 2);
    // An update offers a variant again, or not, and leaves those of empty cells.
    let file = "Handle,Title,Option1 Name,Option1 Value,Variant Price,Variant Discontinued\n\
                cap,Cap,Size,S,1,TRUE\ncap,,,M,2,FALSE\ncap,,,L,3,\n";
    let update = json!({"kind": "products", "on_existing": "update"});
    assert!(taken(&market, update, file).await.is_empty());
    assert_eq!(flags(&product(owner, "cap").await.unwrap()), [true, false, true, false]);
}

#[tokio::test]
async fn a_number_with_an_ambiguous_separator_is_a_finding() {
    let market = Market::open().await;
    let owner = &market.owner;
    let semicolons = "Handle;Title;Variant Price;Status;Variant Grams;Variant Inventory Qty\n\
                      a;A;1.299,50;active;0.500;1000\nc;C;1.000;active;1.500;1.000\n\
                      d;D;1.50;active;1500,4;\n";
    let expected = [
        (3, "Variant Price", "invalid_price"),
        (3, "Variant Grams", "invalid_number"),
        (3, "Variant Inventory Qty", "invalid_number"),
    ];
    let quoted = semicolons.replace("1.299,50", "\"1.299,50\"").replace("1500,4", "\"1500,4\"");
    let commas = quoted.replace(';', ",");
    for file in [semicolons, &semicolons.replace(';', "\t"), &commas] {
        let input = json!({"kind": "products", "dry_run": true});
        let found = taken(&market, input, file).await;
        assert_eq!(places(&found), expected, "{file}");
        assert!(found.iter().all(|(.., detail)| detail.contains("thousands")), "{found:?}");
    }
    taken(&market, json!({"kind": "products"}), semicolons).await;
    for (handle, status, price, grams) in [
        ("a", "active", 129_950, json!(1)),
        ("c", "draft", 0, Value::Null),
        ("d", "active", 150, json!(1_500)),
    ] {
        let product = product(owner, handle).await.unwrap();
        let seen = (product.str("/status"), product.at("/variants/0/price").clone());
        assert_eq!(seen, (status.to_owned(), inr(price)), "{handle}");
        assert_eq!(*product.at("/variants/0/weight_grams"), grams, "{handle}");
    }
    // Where no number has a decimal comma, a point is one.
    let points = "Handle,Title,Variant Price,Variant Grams\ne,E,1.500,2.750\nf,\"F, plain\",2.5,\n";
    assert!(taken(&market, json!({"kind": "products"}), points).await.is_empty());
    let product = product(owner, "e").await.unwrap();
    assert_eq!(*product.at("/variants/0/price"), inr(150));
}

#[tokio::test]
async fn a_finding_of_an_invalid_address_says_that_it_was_not_imported() {
    let market = Market::open().await;
    let file = "Email,First Name,Default Address Address1,Default Address City,\
                Default Address Country Code,Default Address Zip\n\
                zip@example.com,B,12 rue X,Paris,FR,123\n\
                region@example.com,B,Calle 1,Girona,ES,17001\n\
                fine@example.com,B,12 rue X,Paris,FR,75001\n";
    let (zip, province) = ("Default Address Zip", "Default Address Province Code");
    for dry in [true, false] {
        let input = json!({"kind": "customers", "dry_run": dry});
        let found = taken(&market, input, file).await;
        let expected = [(2, zip, "invalid_postal_code"), (3, province, "required")];
        assert_eq!(places(&found), expected, "{found:?}");
        for (.., detail) in &found {
            assert!(detail.starts_with("The address was not imported: "), "{detail}");
            assert!(!detail.contains("The value was ignored"), "{detail}");
        }
    }
    let named = file.replace("City,", "City,Default Address Province Code,");
    let named = named.replace("Paris,", "Paris,,").replace("Girona,", "Girona,Nowhere,");
    let update = json!({"kind": "customers", "on_existing": "update", "dry_run": true});
    let found = taken(&market, update, &named).await;
    assert_eq!(places(&found), [(2, zip, "invalid_postal_code"), (3, province, "invalid_region")]);
    assert!(found.iter().all(|it| it.3.starts_with("The address was not imported: ")), "{found:?}");
}

#[tokio::test]
async fn an_import_keeps_the_time_of_a_consent() {
    let market = Market::open().await;
    let at = |text: &str| json!({"at": text, "source": "fair"});
    let file = "Email,Accepts Email Marketing,Consent At,Consent Source\n\
                old@example.com,yes,2024-05-06T07:08:09+02:00,fair\n\
                gone@example.com,no,2025-01-01T00:00:00Z,fair\n\
                ahead@example.com,yes,2999-01-01T00:00:00Z,fair\n\
                odd@example.com,yes,last May,fair\n";
    let ended = |found: &[(i64, String, String, String)]| {
        let expected = [(4, "Consent At", "in_future"), (5, "Consent At", "invalid_time")];
        let mut sorted = places(found);
        sorted.sort_unstable();
        assert_eq!(sorted, expected);
    };
    ended(&taken(&market, json!({"kind": "customers", "dry_run": true}), file).await);
    ended(&taken(&market, json!({"kind": "customers"}), file).await);
    let old = customer(&market, "old").await;
    assert_eq!(old["marketing_consent"], at("2024-05-06T05:08:09.000Z"));
    let gone = customer(&market, "gone").await;
    assert_eq!(gone["marketing_consent"], at("2025-01-01T00:00:00.000Z"));
    assert_eq!(gone["accepts_marketing"], json!(false));
    let now = market.gateway.now().to_string();
    for email in ["ahead", "odd"] {
        let other = customer(&market, email).await;
        assert_eq!(other["accepts_marketing"], json!(true));
        let said = other["marketing_consent"]["at"].as_str().unwrap();
        assert!(said.starts_with(&now[..4]), "{said}");
    }
    // Of two records the later one holds.
    let file = "Email,Accepts Email Marketing,Consent At,Consent Source\n\
                old@example.com,no,2023-01-01T00:00:00Z,fair\n\
                gone@example.com,yes,2026-01-01T00:00:00Z,fair\n";
    let update = json!({"kind": "customers", "on_existing": "update"});
    assert!(taken(&market, update, file).await.is_empty());
    let old = customer(&market, "old").await;
    assert_eq!(old["marketing_consent"], at("2024-05-06T05:08:09.000Z"));
    assert_eq!(old["accepts_marketing"], json!(true));
    let gone = customer(&market, "gone").await;
    assert_eq!(gone["marketing_consent"], at("2026-01-01T00:00:00.000Z"));
    // A request says it in the same way.
    let ahead = json!({"email": "new@example.com", "accepts_marketing": true,
        "marketing_consent_at": "2999-01-01T00:00:00Z"});
    let rejected = market.owner.post("/v1/customers").json(ahead).await.expect(422);
    let expected = ("/marketing_consent_at".to_owned(), "in_future".to_owned());
    assert_eq!(rejected.field_errors(), [expected]);
}

#[tokio::test]
async fn woocommerces_short_descriptions_and_negative_stock_are_not_lost() {
    let market = Market::open().await;
    let owner = &market.owner;
    let long = "x".repeat(501);
    let file = format!(
        "Type,Name,Published,Regular price,Short description,Description,Stock,Backorders allowed?,\
         Attribute 1 name,Attribute 1 value(s)\n\
         simple,Mug,1,10,Short,Long,-2,notify,Colour,Blue\n\
         simple,Cup,1,10,Short,,4,0,,\n\
         simple,Jug,1,10,{long},Long,-1,0,,\n"
    );
    let found = taken(&market, json!({"kind": "products"}), &file).await;
    let expected = [
        (2, "Stock", "negative_quantity"),
        (4, "Stock", "negative_quantity"),
        (4, "Short description", "too_long"),
    ];
    assert_eq!(places(&found), expected);
    for (handle, description, metadata, stock) in [
        ("mug", "Long", json!({"Short description": "Short", "Colour": "Blue"}), 0),
        ("cup", "Short", json!({}), 4),
        ("jug", "Long", json!({}), 0),
    ] {
        let product = product(owner, handle).await.unwrap();
        assert_eq!(product.str("/description"), description, "{handle}");
        assert_eq!(*product.at("/metadata"), metadata, "{handle}");
        assert_eq!(market.levels(&product.str("/variants/0/id")).await[0], stock, "{handle}");
    }
}
