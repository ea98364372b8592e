//! Imports and exports.

use std::fmt::Write as _;

use support::{Gateway, json};

use crate::cli::{Cli, Link};

/// The largest part of an import's file.
const PART: usize = 4 << 20;

/// Customers with long notes: a file of several parts.
fn customers(count: usize, note: usize) -> String {
    let note = "n".repeat(note);
    let row = |mut text: String, number| {
        let _ = writeln!(text, "person{number}@example.com,Ann,{note}");
        text
    };
    (0..count).fold("Email,First Name,Note\n".to_owned(), row)
}

#[tokio::test]
async fn an_import_goes_on_where_its_upload_was_interrupted() {
    let gateway = Gateway::start().await;
    let (cli, merchant, store) = Cli::signed_in(&gateway).await;
    let text = customers(2_500, 1_900);
    let file = cli.write("people.csv", &text);
    let owner = merchant.at(&store);
    let input = json!({"kind": "customers", "format": "csv"});
    let begun = owner.post("/v1/imports").json(input).await.expect(201);
    let id = begun.str("/id");
    let part = owner.put(&format!("/v1/imports/{id}/parts/1")).header("content-type", "text/csv");
    part.body(&text.as_bytes()[..PART]).await.expect(200);

    let import = ["import", &file, "--kind", "customers", "--json"];
    let run = cli.run(&import).await.expect(0);
    assert!(run.err.contains("1 parts uploaded; 1 were there"), "{}", run.err);
    let document = run.json();
    assert_eq!(document["import"]["id"], id);
    assert_eq!(document["import"]["progress"]["created"], 2_500);
    // All of them exist now: another import of the same file is another one.
    let run = cli.run(&[&import[..], &["--on-existing", "skip"]].concat()).await.expect(0);
    assert_eq!(run.json()["import"]["progress"]["skipped"], 2_500);
    assert_ne!(run.json()["import"]["id"], id);
}

#[tokio::test]
async fn an_import_outlives_a_lost_connection() {
    let gateway = Gateway::start().await;
    let (_, merchant, _) = Cli::signed_in(&gateway).await;
    let link = Link::to(&gateway).await;
    let cli = Cli::new(&link.url);
    cli.sign_in(&merchant).await;
    let file = cli.write("people.csv", &customers(300, 10));
    let child = cli.command(&["import", &file, "--kind", "customers", "--json"]).spawn().unwrap();
    let imports = || async {
        let list = merchant.get("/v1/imports").await.expect(200);
        (!list.data().is_empty()).then_some(())
    };
    support::eventually(std::time::Duration::from_secs(30), imports).await;
    link.cut();
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    link.mend();
    let output = child.wait_with_output().await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let document: support::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["import"]["progress"]["created"], 300);
}

#[tokio::test]
async fn an_interrupted_import_says_so_and_the_same_command_goes_on() {
    let gateway = Gateway::start().await;
    let (_, merchant, _) = Cli::signed_in(&gateway).await;
    let link = Link::to(&gateway).await;
    let cli = Cli::new(&link.url);
    cli.sign_in(&merchant).await;
    let file = cli.write("people.csv", &customers(2_500, 1_900));
    let import = ["--json", "import", &file, "--kind", "customers", "--on-existing", "skip"];
    let running = cli.start(&import);
    let imports = || async {
        let list = merchant.get("/v1/imports").await.expect(200);
        (!list.data().is_empty()).then_some(())
    };
    support::eventually(std::time::Duration::from_secs(30), imports).await;
    link.cut();
    assert_eq!(running.interrupt().await, 130);
    link.mend();
    let progress = cli.run(&import).await.expect(0).json()["import"]["progress"].clone();
    let number = |name: &str| progress[name].as_u64().unwrap();
    assert_eq!(number("created") + number("skipped"), 2_500);
}

#[tokio::test]
async fn failed_rows_are_reported_and_a_dry_run_is_imported_afterwards() {
    let gateway = Gateway::start().await;
    let (cli, ..) = Cli::signed_in(&gateway).await;
    let file = cli.write("people.csv", "Email,First Name\na@example.com,Ann\nnobody,Bob\n");
    let import = ["import", &file, "--kind", "customers"];
    let run = cli.run(&[&import[..], &["--dry-run"]].concat()).await.expect(7);
    assert!(run.out.contains("invalid_email") && run.out.contains("row 3"), "{}", run.out);
    let (_, id) = run.out.rsplit_once("--resume ").expect("how to go on");
    let run = cli.run(&["import", "--resume", id.trim()]).await.expect(7);
    assert!(run.out.contains("1 created, 0 updated, 0 skipped, 1 failed"), "{}", run.out);
    cli.run(&["import", "nowhere.csv", "--kind", "customers"]).await.expect(1);
    cli.run(&["import", &file]).await.expect(2);
}

#[tokio::test]
async fn an_export_is_a_file_or_standard_output() {
    let gateway = Gateway::start().await;
    let (cli, ..) = Cli::signed_in(&gateway).await;
    for event in ["customer.created", "customer.created"] {
        cli.run(&["trigger", event]).await.expect(0);
    }
    let run =
        cli.run(&["--json", "export", "customers", "-o", "people.csv"]).await.expect(0).json();
    assert_eq!(run["export"]["rows"], 2);
    assert!(run.to_string().find("signature=").is_none());
    let text = cli.read("people.csv");
    assert_eq!(text.lines().count(), 3);
    assert!(text.lines().next().unwrap().contains("Email"));
    let lines = cli.run(&["export", "customers", "--format", "jsonl", "-o", "-"]).await.expect(0);
    assert_eq!(lines.lines().len(), 2);
    cli.run(&["export", "customers", "-o", "none/such/people.csv"]).await.expect(1);
    cli.run(&["export", "secrets"]).await.expect(2);
}
