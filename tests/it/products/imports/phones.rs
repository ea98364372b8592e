//! Rows of customers without an e-mail address, who are known by their telephone number.

use futures_util::future::join_all;

use super::*;

const FILE: &str = "\
First Name,Last Name,Email,Phone,Default Address Address1,Default Address City,Default Address Province Code,Default Address Country Code,Default Address Zip,Note
Asha,Rao,,'+91 98200 12345,1 High Street,Pune,MH,IN,'411001,Rings
,,,'+91 98200 12345,2 Low Street,Pune,MH,IN,'411001,
Ben,Cole,ben@example.com,'+91 98200 12345,,,,,,
Carl,Diaz,,098200 54321,,,,,,
Nobody,Known,,,3 Side Street,Pune,MH,IN,'411001,
Odd,Number,,12345,,,,,,
";

async fn people(market: &Market) -> Vec<Value> {
    market.owner.get("/v1/customers?limit=100").await.expect(200).data().clone()
}

#[tokio::test]
async fn rows_without_an_email_are_matched_by_phone_number() {
    let market = Market::open().await;
    let input =
        |mode: &str, dry: bool| json!({"kind": "customers", "on_existing": mode, "dry_run": dry});
    let dry = import(&market.owner, input("fail", true), FILE.as_bytes()).await;
    assert!(people(&market).await.is_empty());
    let done = import(&market.owner, input("fail", false), FILE.as_bytes()).await;
    let found = findings(&market.owner, &done).await;
    let expected = [(6, "Email", "required"), (7, "Phone", "invalid_phone")];
    let expected = expected.map(|(row, column, code)| (row, column.to_owned(), code.to_owned()));
    assert_eq!(found, expected, "{}", done.text);
    assert_eq!(findings(&market.owner, &dry).await, found);
    assert_eq!((done.int("/progress/created"), done.int("/progress/failed")), (3, 2));
    let all = people(&market).await;
    let asha = all.iter().find(|one| one["name"] == "Asha Rao").unwrap();
    assert!(asha["email"].is_null());
    let prefix = format!("STO#{}#CUS#{}", market.store.id, asha["id"].as_str().unwrap());
    assert_eq!(market.gateway.items_of("address", &prefix).await.len(), 2);
    // The same file again updates whom it has created.
    let again = FILE.replace("Rings", "Rings twice");
    let done = import(&market.owner, input("update", false), again.as_bytes()).await;
    assert_eq!(
        (done.int("/progress/updated"), done.int("/progress/created")),
        (3, 0),
        "{}",
        done.text
    );
    let all = people(&market).await;
    assert_eq!(all.len(), 3);
    assert!(all.iter().any(|one| one["name"] == "Asha Rao" && one["note"] == "Rings twice"));
    let done = import(&market.owner, input("fail", false), FILE.as_bytes()).await;
    let found = findings(&market.owner, &done).await;
    assert!(found.contains(&(2, "Phone".to_owned(), "phone_taken".to_owned())), "{found:?}");
    assert!(found.contains(&(4, "Email".to_owned(), "email_taken".to_owned())), "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_and_requests_at_once_create_each_customer_once() {
    let market = Market::open().await;
    let phone = |number: i64| format!("+91 98200 123{number:02}");
    let mut file = "First Name,Phone\n".to_owned();
    for number in 0..40 {
        let _ = writeln!(file, "Ann {number},'{}", phone(number));
    }
    let input = json!({"kind": "customers", "on_existing": "update"});
    let create = |number| {
        let input = json!({"phone": phone(number)});
        async { market.owner.post("/v1/customers").json(input).await.status }
    };
    let requests = join_all((0..40).rev().map(create));
    let (done, statuses) = tokio::join!(import(&market.owner, input, file.as_bytes()), requests);
    assert!(statuses.iter().all(|status| [201, 409].contains(status)), "{statuses:?}");
    let created = statuses.iter().filter(|status| **status == 201).count();
    let created = i64::try_from(created).unwrap() + done.int("/progress/created");
    assert_eq!((created, done.int("/progress/failed")), (40, 0));
    assert_eq!(people(&market).await.len(), 40);
}

#[tokio::test]
async fn exports_of_customers_without_an_address_are_imported_into_a_store_elsewhere() {
    let market = Market::open().await;
    import(&market.owner, json!({"kind": "customers"}), FILE.as_bytes()).await;
    for format in ["csv", "jsonl"] {
        let input = json!({"kind": "customers", "format": format});
        let id = market.owner.post("/v1/exports").json(input).await.expect(202).str("/id");
        let path = format!("/v1/exports/{id}");
        let done = eventually(SOON, || async {
            let shown = market.owner.get(&path).await.expect(200);
            (shown.str("/status") == "succeeded").then_some(shown)
        });
        let url = done.await.str("/parts/0/url");
        let url = format!("/v1/{}", url.split_once("/v1/").unwrap().1);
        let file = market.gateway.client().get(&url).await.expect(200).text;
        let other = support::Merchant::sign_up(&market.gateway).await;
        let input = json!({"name": "Laden", "subdomain": unique("laden"), "currency": "EUR", "country": "DE"});
        let store = other.post("/v1/stores").json(input).await.expect(201).str("/id");
        let owner = other.with_store(&store);
        let done =
            import(&owner, json!({"kind": "customers", "format": format}), file.as_bytes()).await;
        assert_eq!(done.int("/progress/created"), 3, "{format}: {} {file}", done.text);
        let found = owner.get("/v1/customers?q=9820012345").await.expect(200);
        assert_eq!(found.data().len(), 2, "{format}");
        let found = owner.get("/v1/customers?q=9820054321").await.expect(200);
        assert_eq!(found.data()[0]["phone_e164"], "+919820054321", "{format}");
    }
}
