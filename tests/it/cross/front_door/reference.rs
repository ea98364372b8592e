//! The reference.

use support::{Gateway, Value};

use super::page;

#[tokio::test]
async fn every_operation_is_on_the_reference_and_opens() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    let list = page(&client, "/_local/reference").await.text;
    let document = client.get("/v1/openapi.json").await.expect(200).json;
    let paths = document["paths"].as_object().unwrap().iter();
    let operations: Vec<(&String, &Value)> = paths
        .flat_map(|(path, item)| item.as_object().unwrap().values().map(move |it| (path, it)))
        .collect();
    assert!(operations.len() > 300);
    for (path, operation) in operations {
        let id = operation["operationId"].as_str().unwrap();
        assert!(list.contains(&format!("/_local/reference/{id}?fragment=1")), "{id}");
        let opened = client.get(&format!("/_local/reference/{id}?fragment=1")).await.expect(200);
        assert!(opened.text.contains(&format!("data-path=\"{path}\"")), "{id}");
        assert!(!opened.text.contains("<html"), "{id}");
    }
    client.get("/_local/reference/nothing").await.expect(404);
}

#[tokio::test]
async fn an_operation_is_prefilled_with_what_its_link_says() {
    let gateway = Gateway::start().await;
    let client = gateway.client();
    let path = "/_local/reference/getOrder?id=ord_00000000000000000000000000000001&as=operator";
    let shown = page(&client, path).await.text;
    assert!(shown.contains("value=\"ord_00000000000000000000000000000001\""));
    assert!(shown.contains("<option value=\"operator\" selected>"));
    let shown = page(&client, "/_local/reference/placeOrder").await.text;
    assert!(shown.contains("value=\"demo-store\"") && shown.contains("<textarea"));
    // `page` ensures that it has no script of its own.
    page(&client, "/_local/reference/getOrder?id=%22%3E%3Cscript%3E").await;
}
