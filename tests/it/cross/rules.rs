//! The rules that open incidents are the alarms of the template.

use reliability::rules::Rule;
use services::metrics::{families, family_of};

#[test]
fn every_incident_rule_matches_its_cloudwatch_alarm() {
    let template = concat!(env!("CARGO_MANIFEST_DIR"), "/../template.yaml");
    let template = std::fs::read_to_string(template).unwrap();
    let template: serde_yaml_ng::Value = serde_yaml_ng::from_str(&template).unwrap();
    for rule in Rule::ALL {
        let terms = rule.terms();
        let alarm = &template["Resources"][terms.alarm];
        assert_eq!(alarm["Type"], "AWS::CloudWatch::Alarm", "{rule}");
        let properties = &alarm["Properties"];
        assert_eq!(properties["Threshold"].as_u64(), Some(terms.threshold), "{rule}");
        assert_eq!(properties["ComparisonOperator"], terms.comparison.operator(), "{rule}");
        assert_eq!(
            properties["EvaluationPeriods"].as_u64(),
            Some(1),
            "{rule}: looked at each minute"
        );
        assert_eq!(properties["TreatMissingData"], "notBreaching", "{rule}");
    }
}

#[test]
fn requests_are_counted_for_the_family_that_serves_them() {
    let mut named = Vec::new();
    for (family, routes) in local::families() {
        for row in routes.rows() {
            assert_eq!(family_of(row.path), family, "{}", row.path);
        }
        named.push(family);
    }
    named.sort_unstable();
    let mut counted: Vec<_> = families().collect();
    counted.sort_unstable();
    assert_eq!(named, counted);
}
