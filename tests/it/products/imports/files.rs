//! Files of other shop systems, as these write them: everything that can be imported is, and each cell that
//! was not taken as it is has a finding. The files have the columns of real ones, and invented contents.

mod shopify;
mod stock;
mod woocommerce;

use super::*;

const PRODUCTS_2021: &str = include_str!("files/shopify-products-2021.csv");
const PRODUCTS_2023: &str = include_str!("files/shopify-products-2023.csv");
const PRODUCTS_2025: &str = include_str!("files/shopify-products-2025.csv");
const CUSTOMERS_2021: &str = include_str!("files/shopify-customers-2021.csv");
const CUSTOMERS: &str = include_str!("files/shopify-customers.csv");
const INVENTORY: &str = include_str!("files/shopify-inventory.csv");
const BY_LOCATION: &str = include_str!("files/shopify-inventory-by-location.csv");
const ORDERS: &str = include_str!("files/shopify-orders.csv");
const WOOCOMMERCE: &str = include_str!("files/woocommerce-products.csv");

/// Imports a file; returns the import, its findings without those of ignored columns, and the ignored ones.
async fn read(
    market: &Market,
    kind: &str,
    file: &str,
) -> (Reply, Vec<(i64, String, String)>, Vec<String>) {
    let done = import(&market.owner, json!({"kind": kind}), file.as_bytes()).await;
    let (ignored, found): (Vec<_>, Vec<_>) = findings(&market.owner, &done)
        .await
        .into_iter()
        .partition(|(.., code)| code == "ignored_column");
    let ignored = ignored.into_iter().map(|(_, column, _)| column).collect();
    (done, found, ignored)
}

fn at(row: i64, column: &str, code: &str) -> (i64, String, String) {
    (row, column.to_owned(), code.to_owned())
}

/// The products, or the created objects of another kind, and how many failed.
fn counts(done: &Reply) -> (i64, i64) {
    (done.int("/progress/created"), done.int("/progress/failed"))
}

/// The variants' values of a member.
fn each<'a>(product: &'a Reply, member: &str) -> Vec<&'a Value> {
    let variants = product.at("/variants").as_array().unwrap();
    variants.iter().map(|variant| variant.pointer(member).unwrap()).collect()
}

#[tokio::test]
async fn files_of_another_kind_are_rejected_at_their_first_row() {
    let market = Market::open().await;
    for (kind, file) in [
        ("products", ORDERS),
        ("customers", ORDERS),
        ("inventory", ORDERS),
        ("products", CUSTOMERS),
        ("products", INVENTORY),
        ("products", BY_LOCATION),
        ("customers", PRODUCTS_2025),
        ("inventory", WOOCOMMERCE),
    ] {
        let (done, found, _) = read(&market, kind, file).await;
        assert_eq!((done.str("/status").as_str(), counts(&done)), ("failed", (0, 0)), "{kind}");
        assert_eq!(found, [at(1, "", "unknown_layout")], "{kind}");
    }
}

#[tokio::test]
async fn a_dry_run_has_the_findings_of_the_import() {
    for (kind, file) in [
        ("products", PRODUCTS_2021),
        ("products", PRODUCTS_2023),
        ("products", WOOCOMMERCE),
        ("customers", CUSTOMERS_2021),
    ] {
        let market = Market::open().await;
        let dry = json!({"kind": kind, "dry_run": true});
        let id = asked(&market.owner, dry).await;
        begin(&market.owner, &id, file.as_bytes(), 1 << 20).await;
        let checked = ended(&market.owner, &id, SOON).await;
        let told = findings(&market.owner, &checked).await;
        market.owner.post(&format!("{IMPORTS}/{id}/start")).json(json!({})).await.expect(202);
        let done = ended(&market.owner, &id, SOON).await;
        assert_eq!(findings(&market.owner, &done).await, told, "{kind}");
        assert_eq!(counts(&done), counts(&checked));
    }
}

#[tokio::test]
async fn an_update_import_keeps_fields_missing_from_the_file() {
    let market = Market::open().await;
    let owner = &market.owner;
    let made = json!({
        "title": "Book", "handle": "book", "status": "active",
        "variants": [{"price": inr(900), "taxable": false, "requires_shipping": false}],
    });
    owner.post("/v1/products").json(made).await.expect(201);
    let update = json!({"kind": "products", "on_existing": "update"});
    // Neither a price nor a flag is in the first file, and the price of the second cannot be read.
    for (file, title) in [
        ("Handle,Title,Tags\nbook,A book,new\n", "A book"),
        ("Handle,Title,Variant Price,Variant Taxable\nbook,The book,much,\n", "The book"),
    ] {
        let done = import(owner, update.clone(), file.as_bytes()).await;
        assert_eq!(done.str("/status"), "succeeded", "{:?}", findings(owner, &done).await);
        let book = product(owner, "book").await.unwrap();
        assert_eq!((book.str("/title").as_str(), book.str("/status").as_str()), (title, "active"));
        assert_eq!(*book.at("/variants/0/price"), inr(900));
        for flag in ["taxable", "requires_shipping"] {
            assert_eq!(*book.at(&format!("/variants/0/{flag}")), json!(false), "{flag}");
        }
    }
    // A new product without a price is not on sale.
    let file = "Handle,Title,Status,Tags\nnew,New,active,x\n";
    let done = import(owner, update, file.as_bytes()).await;
    assert_eq!(findings(owner, &done).await, [at(1, "Variant Price", "missing_column")]);
    assert_eq!(product(owner, "new").await.unwrap().str("/status"), "draft");
}

#[tokio::test]
async fn finding_severity_shows_whether_the_record_was_imported() {
    let market = Market::open().await;
    let file =
        "Handle,Title,Variant Price,Variant Grams,Mood\na,A,1,heavy,\nb,,1,,\n,,,,\n\nc,C,1,1,\n";
    let done = import(&market.owner, json!({"kind": "products"}), file.as_bytes()).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("partial", (2, 1)));
    assert_eq!((done.int("/findings_count"), done.int("/warnings_count")), (3, 2));
    let path = format!("{IMPORTS}/{}/findings", done.str("/id"));
    let found = market.owner.get(&path).await.expect(200);
    let found: Vec<(i64, &str, &str)> = found
        .data()
        .iter()
        .map(|it| {
            (
                it["row"].as_i64().unwrap(),
                it["code"].as_str().unwrap(),
                it["severity"].as_str().unwrap(),
            )
        })
        .collect();
    let expected = [
        (1, "ignored_column", "warning"),
        (2, "invalid_number", "warning"),
        (3, "required", "error"),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn an_unclosed_quote_is_an_import_error() {
    let market = Market::open().await;
    let file = "Email,Note\na@example.com,x\nb@example.com,\"12 inch\nc@example.com,y\n";
    let done = import(&market.owner, json!({"kind": "customers"}), file.as_bytes()).await;
    assert_eq!((done.str("/status").as_str(), counts(&done)), ("partial", (1, 1)));
    assert_eq!(findings(&market.owner, &done).await, [at(3, "", "unclosed_quote")]);
}
