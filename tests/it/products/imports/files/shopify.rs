//! Shopify's files of products and customers.

use super::*;

const METAFIELDS: &str = include_str!("shopify-products-metafields.csv");

#[tokio::test]
async fn shopifys_product_file_of_2021_is_imported() {
    let market = Market::open().await;
    let (done, found, ignored) = read(&market, "products", PRODUCTS_2021).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (3, 0)), "{found:?}");
    let expected = [
        at(3, "Variant Barcode", "rounded_number"),
        at(3, "Variant Inventory Qty", "negative_quantity"),
        at(4, "Variant SKU", "sku_taken"),
        at(5, "Gift Card", "gift_card_not_supported"),
    ];
    assert_eq!(found, expected);
    assert!(ignored.contains(&"Cost per item".to_owned()), "{ignored:?}");
    assert_eq!(done.int("/warnings_count"), done.int("/findings_count"));
    let stool = product(&market.owner, "oak-stool").await.unwrap();
    assert_eq!(stool.str("/status"), "active");
    assert_eq!(each(&stool, "/weight_grams"), [&json!(3_629), &json!(4_536)]);
    assert_eq!(each(&stool, "/barcode"), [&json!("036000291452"), &Value::Null]);
    assert_eq!(market.levels(&stool.str("/variants/1/id")).await[0], 0);
    // What is not published, and what is no goods, is not on sale; what is not taxed stays so.
    let catalogue = product(&market.owner, "catalogue").await.unwrap();
    assert_eq!(catalogue.str("/status"), "draft");
    assert_eq!(each(&catalogue, "/taxable"), [&json!(false)]);
    assert_eq!(each(&catalogue, "/sku"), [&Value::Null]);
    assert_eq!(each(&stool, "/taxable"), [&json!(true), &json!(true)]);
    let voucher = product(&market.owner, "voucher").await.unwrap();
    assert_eq!(voucher.str("/status"), "draft");
}

#[tokio::test]
async fn shopifys_product_file_of_2023_is_imported() {
    let market = Market::open().await;
    let (done, found, ignored) = read(&market, "products", PRODUCTS_2023).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (2, 0)), "{found:?}");
    let mut expected = vec![
        at(2, "Tags", "too_long"),
        at(2, "Variant Tax Code", "invalid_tax_class"),
        at(3, "Variant SKU", "duplicate_sku"),
        at(4, "Option2 Value", "too_long"),
        at(5, "Included / International", "market_not_supported"),
    ];
    let mut found = found;
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    for column in ["Product Category", "Price / International", "Compare At Price / International"]
    {
        assert!(ignored.contains(&column.to_owned()), "{column} in {ignored:?}");
    }
    let shirt = product(&market.owner, "linen-shirt").await.unwrap();
    assert_eq!(*shirt.at("/tags"), json!(["linen", "summer"]));
    assert_eq!(each(&shirt, "/sku"), [&json!("LIN-S"), &Value::Null, &json!("LIN-M-B")]);
    let blue = shirt.str("/variants/2/options/1");
    assert!(blue.chars().count() <= 60 && blue.starts_with("A blue that was mixed"), "{blue}");
    assert_eq!(*shirt.at("/options/1/values"), json!(["Natural", blue]));
}

#[tokio::test]
async fn shopifys_product_file_since_2025_is_imported() {
    let market = Market::open().await;
    let (done, found, ignored) = read(&market, "products", PRODUCTS_2025).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (3, 0)), "{found:?}");
    let expected = [at(4, "Status", "status_not_supported"), at(5, "Price", "required")];
    assert_eq!(found, expected);
    assert!(ignored.contains(&"Unit price total measure".to_owned()), "{ignored:?}");
    let oil = product(&market.owner, "olive-oil").await.unwrap();
    assert_eq!(oil.str("/status"), "active");
    assert_eq!(each(&oil, "/taxable"), [&json!(false), &json!(false)]);
    assert_eq!(each(&oil, "/price"), [&inr(1_290), &inr(2_250)]);
    for handle in ["press-tour", "harvest-box"] {
        let hidden = product(&market.owner, handle).await.unwrap();
        assert_eq!(hidden.str("/status"), "draft", "{handle}");
    }
}

#[tokio::test]
async fn metafield_columns_are_ignored_and_spreadsheet_notations_parsed() {
    let market = Market::open().await;
    let (done, found, ignored) = read(&market, "products", METAFIELDS).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (1, 0)), "{found:?}");
    assert_eq!(found, [at(2, "Image Src", "invalid_url")]);
    let care = "Care (product.metafields.custom.care)".to_owned();
    assert!(ignored.contains(&care), "{ignored:?}");
    let bowl = product(&market.owner, "clay-bowl").await.unwrap();
    assert_eq!(
        (each(&bowl, "/sku"), each(&bowl, "/price")),
        (vec![&json!("00451")], vec![&inr(1_950)])
    );
    assert_eq!(*bowl.at("/images"), json!([]));
}

#[tokio::test]
async fn shopifys_customers_are_imported_without_incomplete_addresses() {
    let market = Market::open().await;
    let owner = &market.owner;
    let (done, found, _) = read(&market, "customers", CUSTOMERS_2021).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (3, 0)), "{found:?}");
    for expected in [
        at(3, "Address1", "required"),
        at(3, "Zip", "required"),
        at(3, "Province Code", "required"),
    ] {
        assert!(found.contains(&expected), "{expected:?} in {found:?}");
    }
    // Without an address they are known by their number.
    assert_eq!(found.iter().filter(|(row, ..)| *row == 4).count(), 0);
    let (done, found, _) = read(&market, "customers", CUSTOMERS).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (2, 0)), "{found:?}");
    assert_eq!(found, [at(3, "Phone", "invalid_phone")]);
    let mut people = Vec::new();
    for email in ["maya", "noor", "jonas", "darcy"] {
        let path = format!("/v1/customers?email={email}@example.com");
        people.push(owner.get(&path).await.expect(200).data()[0].clone());
    }
    assert_eq!(people[0]["phone"], "+1 416 555 0123");
    assert_eq!(
        (&people[0]["tax_exempt"], &people[0]["accepts_marketing"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(people[3]["name"], "D'Arcy 't Hooft");
    let mut places = Vec::new();
    for person in &people {
        let prefix = format!("STO#{}#CUS#{}", market.store.id, person["id"].as_str().unwrap());
        let items = market.gateway.items_of("address", &prefix).await;
        places.push(items.first().map(|item| item["place"]["postal_code"].clone()));
    }
    assert_eq!(places, [Some(json!("M5C 1N7")), None, Some(json!("10115")), None]);
}

#[tokio::test]
async fn a_product_file_imports_tariff_codes_and_countries_of_origin() {
    let market = Market::open().await;
    for (handle, columns) in [
        ("old", "Variant Price,Variant SKU,Variant HS Code,Variant Country of Origin"),
        ("new", "Price,SKU,HS Code,COO"),
    ] {
        let file = format!(
            "Handle,Title,Option1 Name,Option1 Value,{columns}\n\
             {handle},Tee,Size,S,1,,6109.10,in\n{handle},,,M,1,,'010121,\n{handle},,,L,1,,61,Portugal\n"
        );
        let (done, found, ignored) = read(&market, "products", &file).await;
        assert_eq!(
            (done.str("/status").as_str(), counts(&done)),
            ("succeeded", (1, 0)),
            "{found:?}"
        );
        let names: Vec<&str> = columns.split(',').collect();
        for expected in [at(4, names[2], "invalid_hs_code"), at(4, names[3], "invalid_country")] {
            assert!(found.contains(&expected), "{expected:?} in {found:?}");
        }
        assert_eq!((found.len(), ignored.len()), (2, 0));
        let tee = product(&market.owner, handle).await.unwrap();
        assert_eq!(each(&tee, "/hs_code"), [&json!("610910"), &json!("010121"), &Value::Null]);
        assert_eq!(each(&tee, "/country_of_origin"), [&json!("IN"), &Value::Null, &Value::Null]);
    }
}

#[tokio::test]
async fn text_after_a_closing_quote_is_a_finding() {
    let market = Market::open().await;
    let file =
        "Handle,Title,Variant Price,Mood\nz,\"a\"b,1,\"x\"y\ny,\"12\"\" pipe\" ,1,\nx,Ok,1,\n";
    let (done, found, _) = read(&market, "products", file).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("succeeded", (3, 0)), "{found:?}");
    assert_eq!(found, [at(2, "Title", "misplaced_quote")]);
    assert_eq!(product(&market.owner, "z").await.unwrap().str("/title"), "ab");
    assert_eq!(product(&market.owner, "y").await.unwrap().str("/title"), "12\" pipe");
}
