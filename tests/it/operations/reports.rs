//! Certification reports: what they rest on, and that anybody can verify them.

use support::clock::{DAY, HOUR, Timestamp};
use support::{
    Client, Evidence, Gateway, Merchant, Operator, Reply, Value, json, no_store, unique,
};

use super::evidence::EVIDENCE;
use super::pages::page;
use super::statements::verified;

/// What the signed findings are.
const TYPE: &str = "certification-report+jwt";
const REPORTS: &str = "/v1/operations/certification-reports";

/// Records something of this kind; its id.
async fn record(
    gateway: &Gateway,
    kind: &'static str,
    outcome: &'static str,
    summary: Value,
) -> String {
    let subject = unique("subject");
    gateway.record_evidence(Evidence { kind, subject, outcome, store: None, summary }).await
}

async fn drill(
    gateway: &Gateway,
    outcome: &'static str,
    observed_rto_s: Value,
    lost: u64,
) -> String {
    let summary = json!({
        "kind": "receiver_down", "observed_rto_s": observed_rto_s, "events": 500, "lost_events": lost,
        "note": "<script>alert(1)</script>",
    });
    record(gateway, "drill", outcome, summary).await
}

/// A report over the last hours.
async fn report(operator: &Client, gateway: &Gateway, framework: &str) -> Reply {
    let input = json!({"period": period(gateway), "framework": framework});
    operator.post(REPORTS).json(input).await.expect(202)
}

fn period(gateway: &Gateway) -> Value {
    let now = gateway.now();
    json!({"from": now.minus(HOUR * 6), "to": now})
}

/// A control: its verdict, what was measured, and its evidence.
fn control(report: &Value, id: &str) -> (String, Value, Vec<String>) {
    let controls = report["controls"].as_array().unwrap();
    let control = controls.iter().find(|control| control["id"] == id).unwrap();
    let cited = control["evidence"].as_array().unwrap().iter();
    let cited = cited.map(|id| id.as_str().unwrap().to_owned()).collect();
    (control["verdict"].as_str().unwrap().to_owned(), control["measured"].clone(), cited)
}

#[tokio::test]
async fn a_report_evaluates_each_control_with_cited_evidence() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    let empty = report(&operator, &gateway, "internal").await;
    assert_eq!(
        (empty.str("/status"), empty.str("/verdict")),
        ("issued".into(), "no_evidence".into())
    );
    let controls = empty.at("/controls").as_array().unwrap();
    assert_eq!(controls.len(), 7);
    assert!(controls.iter().all(|control| control["verdict"] == "no_evidence"));
    assert!(controls.iter().all(|control| control["criterion"].is_null()));
    // What is out of the period, or was given up, says nothing.
    drill(&gateway, "failed", Value::Null, 9).await;
    gateway.advance(DAY);
    let operator = Operator::sign_up(&gateway).await;
    drill(&gateway, "aborted", Value::Null, 9).await;
    let fast = drill(&gateway, "passed", json!(2), 0).await;
    let slow = drill(&gateway, "passed", json!(120), 0).await;
    let replay = json!({"matched": 9_000, "delivered": 8_995, "missing": 0});
    let replay = record(&gateway, "replay", "succeeded", replay).await;
    let test = json!({"requests": 10, "errors": 0, "p50_ms": 4, "p95_ms": 9, "p99_ms": 1_001});
    let test = record(&gateway, "load_test", "finished", test).await;
    let opened = gateway.now().minus(HOUR * 3);
    let incident = json!({"severity": "major", "opened_at": opened, "resolved_at": gateway.now()});
    let incident = record(&gateway, "incident", "resolved", incident).await;
    let issued = report(&operator, &gateway, "soc2-like").await;
    let found = |id: &str| control(&issued.json, id);
    let met = |measured: u64, cited: &[&String]| {
        let cited: Vec<String> = cited.iter().map(ToString::to_string).collect();
        ("met".to_owned(), json!(measured), cited)
    };
    // 9,995 of 10,000 arrived.
    assert_eq!(found("delivery_success"), met(9_995, &[&fast, &slow, &replay]));
    assert_eq!(found("recovery_time"), met(120, &[&fast, &slow]));
    assert_eq!(found("lost_events"), met(0, &[&fast, &slow]));
    assert_eq!(found("replay_completeness"), met(0, &[&replay]));
    assert_eq!(found("incident_resolution"), met(3 * 3_600, &[&incident]));
    assert_eq!(found("evidence_chain"), met(0, &[&incident]));
    let missed = ("missed".to_owned(), json!(1_001), vec![test]);
    assert_eq!(found("latency_under_load"), missed);
    assert_eq!(issued.str("/verdict"), "missed");
    assert_eq!(issued.str("/controls/0/criterion"), "PI1.4");
    // What it cites is there, and it is evidence itself, of the chain that it names.
    for cited in [&fast, &slow, &replay, &incident] {
        operator.get(&format!("{EVIDENCE}/{cited}")).await.expect(200);
    }
    let own = operator.get(&format!("{EVIDENCE}/{}", issued.str("/evidence_id"))).await.expect(200);
    assert_eq!((own.str("/subject"), own.str("/outcome")), (issued.str("/id"), "issued".into()));
    assert_eq!(own.str("/previous_hash"), issued.str("/chain/head_hash"));
    assert_eq!(own.int("/number"), issued.int("/chain/count") + 1);
    assert_eq!(own.str("/summary/verdict"), "missed");
    // A drill that never recovered is a miss, though nothing was measured.
    drill(&gateway, "failed", Value::Null, 1).await;
    let worse = report(&operator, &gateway, "internal").await;
    let (verdict, measured, cited) = control(&worse.json, "recovery_time");
    assert_eq!((verdict.as_str(), measured, cited.len()), ("missed", Value::Null, 3));
    assert_eq!(control(&worse.json, "lost_events").0, "missed");
    let list = operator.get(REPORTS).await.expect(200);
    let listed: Vec<_> = list.data().iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(listed, [&*worse.str("/id"), &*issued.str("/id"), &*empty.str("/id")]);
    assert!(list.data()[0]["jws"].is_null(), "a list does not carry what was signed");
}

#[tokio::test]
async fn a_report_verifies_with_the_published_keys_unless_altered() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    drill(&gateway, "passed", json!(10), 0).await;
    let issued = report(&operator, &gateway, "internal").await;
    let path = format!("{REPORTS}/{}", issued.str("/id"));
    let signed = operator.get(&format!("{path}?format=jws")).await.expect(200);
    assert_eq!(signed.header("content-type"), Some("application/jose"));
    assert_eq!(signed.text, issued.str("/jws"));
    let stranger = gateway.client();
    let claims = verified(TYPE, &stranger, &signed.text, gateway.url()).await.unwrap();
    assert_eq!(claims["sub"], issued.str("/id"));
    for name in ["framework", "period", "verdict", "controls", "chain"] {
        assert_eq!(&claims[name], issued.at(&format!("/{name}")), "{name}");
    }
    let issued_at = Timestamp::parse(&issued.str("/issued_at")).unwrap();
    assert_eq!(claims["iat"], issued_at.seconds());
    let mut parts: Vec<String> = signed.text.split('.').map(str::to_owned).collect();
    let last = parts[1].len() - 5;
    let altered = if parts[1].as_bytes()[last] == b'A' { "B" } else { "A" };
    parts[1].replace_range(last..=last, altered);
    assert!(verified(TYPE, &stranger, &parts.join("."), gateway.url()).await.is_err());
    // It opens nothing.
    stranger.with_token(&signed.text).get(REPORTS).await.expect(401).problem("invalid_token");
    let shown = operator.get(&path).await.expect(200);
    assert_eq!(shown.json, issued.json);
    assert_eq!(shown.header("vary"), Some("Accept, Accept-Encoding"));
}

#[tokio::test]
async fn operators_issue_reliability_reports_and_stores_read_them() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    let merchant = Merchant::sign_up(&gateway).await;
    let store = merchant.open_store().await;
    let input = json!({"period": period(&gateway)});
    let rejected = merchant.at(&store).post(REPORTS).json(input.clone()).await.expect(403);
    rejected.problem("operator_required");
    assert!(gateway.items("EVD#").await.is_empty() && gateway.items("REP#").await.is_empty());
    // The same request again is the same report.
    let first = operator.post(REPORTS).key("one").json(input.clone()).await.expect(202);
    let again = operator.post(REPORTS).key("one").json(input).await.expect(202);
    assert_eq!(first.json, again.json);
    assert_eq!(gateway.items("REP#").await.len(), 1);
    let id = first.str("/id");
    let owner = merchant.at(&store);
    assert_eq!(owner.get(&format!("{REPORTS}/{id}")).await.expect(200).json, first.json);
    assert_eq!(owner.get(REPORTS).await.expect(200).data().len(), 1);
    gateway.get(REPORTS).await.expect(401);
    let unknown = format!("{REPORTS}/rep_{}", "0".repeat(32));
    owner.get(&unknown).await.expect(404).problem("not_found");
}

#[tokio::test]
async fn an_invalid_report_period_is_rejected() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    let now = gateway.now();
    let rejected = |from: Timestamp, to: Timestamp| {
        let input = json!({"period": {"from": from, "to": to}});
        let input = operator.post(REPORTS).json(input);
        async move { input.await.expect(422).field_errors() }
    };
    let fault = |field: &str, code: &str| vec![(field.to_owned(), code.to_owned())];
    let reversed = rejected(now, now.minus(DAY)).await;
    assert_eq!(reversed, fault("/period/from", "invalid_range"));
    let long = rejected(now.minus(DAY * 367), now).await;
    assert_eq!(long, fault("/period/from", "range_too_wide"));
    let early = rejected(now, now.plus(DAY)).await;
    assert_eq!(early, fault("/period/to", "in_future"));
    let odd = json!({"period": {"from": now}, "framework": "iso", "x": 1});
    let odd = operator.post(REPORTS).json(odd).await.expect(422);
    assert_eq!(odd.field_errors().len(), 3, "{}", odd.text);
    assert!(gateway.items("REP#").await.is_empty());
}

#[tokio::test]
async fn a_report_over_a_broken_evidence_chain_fails_its_control() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    for _ in 0..3 {
        drill(&gateway, "passed", json!(10), 0).await;
    }
    let items = gateway.items_of("evidence", "EVD#").await;
    let second = items.iter().find(|item| item["SK"] == "000000000002").unwrap();
    gateway.delete_item(second).await;
    let issued = report(&operator, &gateway, "internal").await;
    let (verdict, measured, _) = control(&issued.json, "evidence_chain");
    assert_eq!((verdict.as_str(), measured), ("missed", json!(1)));
    assert_eq!(issued.at("/chain/is_whole"), &json!(false));
}

#[tokio::test]
async fn a_report_is_served_as_html_by_content_negotiation() {
    let gateway = Gateway::start().await;
    let operator = Operator::sign_up(&gateway).await;
    drill(&gateway, "passed", json!(9), 0).await;
    let replay = Evidence {
        kind: "replay",
        subject: "rpl_1".to_owned(),
        outcome: "succeeded",
        store: Some(no_store("<b>")),
        summary: json!({"matched": 10, "delivered": 10, "missing": 0}),
    };
    let cited = gateway.record_evidence(replay).await;
    let issued = report(&operator, &gateway, "soc2-like").await;
    let path = format!("{REPORTS}/{}", issued.str("/id"));
    let page = page(&operator, &path).await;
    for shown in ["PI1.4", "99.90 %", "≤ 120 s", "<svg", "currentColor", cited.as_str()] {
        assert!(page.contains(shown), "{shown}");
    }
    for (accept, content_type) in [
        ("*/*", "application/json"),
        ("application/json", "application/json"),
        ("text/html;q=0.5, application/json", "application/json"),
        ("image/png", "application/json"),
        ("text/html, application/json;q=0.9", "text/html; charset=utf-8"),
    ] {
        let reply = operator.get(&path).header("accept", accept).await.expect(200);
        assert_eq!(reply.header("content-type"), Some(content_type), "{accept}");
    }
}
