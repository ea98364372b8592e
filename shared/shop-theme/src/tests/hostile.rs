//! Tests with hostile templates. Each ends with a finding, long before the test's timeout.

use std::time::Duration;

use super::{data, page, theme};
use crate::{Finding, FindingCode, Limits, Page, render};

fn rejected(template: &str) -> Finding {
    rejected_with(template, &[])
}

fn rejected_with(template: &str, others: &[(&str, &str)]) -> Finding {
    page(&theme(template, others)).expect_err("the page was rendered")
}

#[test]
fn a_loop_without_end_ends_with_its_steps() {
    let finding = rejected("{% for i in (1..1000000000) %}{% endfor %}");
    assert_eq!(finding.code, FindingCode::TooManySteps);
    assert_eq!(finding.path, "templates/index.liquid");
    let finding =
        rejected("{% for i in (-9223372036854775808..9223372036854775807) reversed %}{% endfor %}");
    assert_eq!(finding.code, FindingCode::TooManySteps);
}

#[test]
fn loops_within_loops_end_with_their_steps() {
    let rounds = "{% for i in (1..1000) %}".repeat(5);
    let template = format!("{rounds}{}", "{% endfor %}".repeat(5));
    assert_eq!(rejected(&template).code, FindingCode::TooManySteps);
}

#[test]
fn a_page_without_end_ends_with_its_length() {
    let template = format!("{{% for i in (1..100000) %}}{}{{% endfor %}}", "x".repeat(1000));
    assert_eq!(rejected(&template).code, FindingCode::OutputTooLarge);
}

#[test]
fn a_text_that_doubles_ends_with_its_memory() {
    for grow in ["{% assign s = s | append: s %}", "{% assign s = s | prepend: s %}"] {
        let template = format!(
            "{{% assign s = 'xxxxxxxxxxxxxxxx' %}}{{% for i in (1..60) %}}{grow}{{% endfor %}}"
        );
        assert_eq!(rejected(&template).code, FindingCode::MemoryExceeded, "{grow}");
    }
}

#[test]
fn a_replacement_that_multiplies_ends_before_it_is_made() {
    let long = "x".repeat(3000);
    let template = format!(
        "{{% assign s = '{long}' %}}{{% assign s = s | replace: 'x', s %}}\
         {{% assign s = s | replace: '', s %}}"
    );
    let code = rejected(&template).code;
    assert!(matches!(code, FindingCode::MemoryExceeded | FindingCode::OutputTooLarge), "{code:?}");
    let template = format!("{{% assign a = '{long}' | split: '' %}}{{{{ a | join: a }}}}");
    let code = rejected(&template).code;
    assert!(matches!(code, FindingCode::MemoryExceeded | FindingCode::OutputTooLarge), "{code:?}");
}

#[test]
fn many_long_texts_end_with_their_memory() {
    let template = format!(
        "{{% capture s %}}{{% for i in (1..2000) %}}{}{{% endfor %}}{{% endcapture %}}\
         {{% for i in (1..1000) %}}{{% assign t = s | append: 'x' %}}{{% endfor %}}",
        "x".repeat(100)
    );
    assert_eq!(rejected(&template).code, FindingCode::MemoryExceeded);
}

#[test]
fn a_capture_without_end_ends_with_its_memory() {
    let template = format!(
        "{{% capture s %}}{{% for i in (1..100000) %}}{}{{% endfor %}}{{% endcapture %}}",
        "x".repeat(1000)
    );
    let code = rejected(&template).code;
    assert!(matches!(code, FindingCode::MemoryExceeded | FindingCode::OutputTooLarge), "{code:?}");
}

#[test]
fn a_wide_date_is_cut() {
    let shown = super::rendered("{{ '2026-01-01' | date: '%999999999Y' }}");
    assert!(shown.len() <= 1_000 && shown.ends_with("2026"), "{}", shown.len());
}

#[test]
fn files_that_include_each_other_end_with_their_depth() {
    for tag in ["render", "include"] {
        let (one, two) = (format!("{{% {tag} 'two' %}}"), format!("{{% {tag} 'one' %}}"));
        let snippets =
            [("snippets/one.liquid", one.as_str()), ("snippets/two.liquid", two.as_str())];
        let finding = rejected_with(&format!("{{% {tag} 'one' %}}"), &snippets);
        assert_eq!(finding.code, FindingCode::NestedTooDeep);
        assert!(finding.path.starts_with("snippets/"), "{}", finding.path);
    }
    let section = [("sections/one.liquid", "{% section 'one' %}")];
    assert_eq!(rejected_with("{% section 'one' %}", &section).code, FindingCode::NestedTooDeep);
}

#[test]
fn files_that_include_each_other_twice_end_with_their_steps() {
    let snippets: Vec<(String, String)> = (0..18)
        .map(|n| {
            let next = format!("{{% render 's{}' %}}", n + 1);
            (format!("snippets/s{n}.liquid"), next.repeat(4))
        })
        .chain([("snippets/s18.liquid".to_owned(), String::new())])
        .collect();
    let snippets: Vec<(&str, &str)> =
        snippets.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let finding = rejected_with("{% render 's1' %}", &snippets);
    assert_eq!(finding.code, FindingCode::TooManySteps);
}

#[test]
fn nested_blocks_are_limited_by_the_parser() {
    let template = format!("{}{}", "{% if true %}".repeat(5000), "{% endif %}".repeat(5000));
    assert_eq!(rejected(&template).code, FindingCode::Syntax);
}

#[test]
fn branches_and_brackets_take_no_stack() {
    let step = "{% assign x = '][b[' %}{% assign y = '{%' %}";
    for template in [
        format!("{{% if a %}}{}{{% endif %}}", "{% elsif a %}".repeat(20_000)),
        format!("{{{{ {}a{} }}}}", "a[".repeat(1000), "]".repeat(1000)),
        format!("{{% if a{} %}}{{% endif %}}", " and a".repeat(20_000)),
        step.repeat(1000),
    ] {
        assert_eq!(super::rendered(&template).trim(), "");
    }
}

#[test]
fn the_deepest_allowed_template_has_enough_stack() {
    let branches = "{% elsif a %}".repeat(200);
    let body = format!("{{% if a %}}{branches}{{% else %}}{{% render next %}}{{% endif %}}");
    let within = format!("{}{body}{}", "{% if true %}".repeat(40), "{% endif %}".repeat(40));
    let snippet = within.replace("render next", "include 'again'");
    let finding = rejected_with(&snippet, &[("snippets/again.liquid", &snippet)]);
    assert_eq!(finding.code, FindingCode::NestedTooDeep);
}

#[test]
fn an_invalid_template_is_a_finding() {
    for template in [
        "{% for %}",
        "{% if a %}",
        "{% form 'cart' %}",
        "{% schema %}{{% endschema %}",
        "{% capture %}",
    ] {
        assert_eq!(rejected(template).code, FindingCode::Syntax, "{template}");
    }
    let finding = rejected("a\n{% if b %}");
    assert!(finding.message.starts_with("line 2: "), "{}", finding.message);
}

#[test]
fn a_failed_computation_is_printed() {
    let shown = super::rendered("a{{ 1 | divided_by: 0 }}b");
    assert!(shown.starts_with("aLiquid error") && shown.ends_with("divided by 0b"), "{shown}");
    super::rendered("{{ 9223372036854775807 | plus: 1 | times: 9223372036854775807 }}x");
}

#[test]
fn time_is_the_last_limit() {
    let limits = Limits { steps: u64::MAX, time: Duration::from_millis(50), ..Limits::default() };
    let theme = theme("{% for i in (1..1000000000) %}{% endfor %}", &[]);
    let finding = render(&theme, Page::Index, &data(), limits).unwrap_err();
    assert_eq!(finding.code, FindingCode::TooSlow);
}

#[test]
fn no_name_reaches_a_file_outside_of_the_theme() {
    for name in ["../layout/theme", "/etc/passwd", "../../../../etc/passwd"] {
        for tag in ["render", "section", "sections", "layout"] {
            let template = format!("{{% {tag} '{name}' %}}x");
            match page(&theme(&template, &[])) {
                Ok(shown) => assert!(!shown.contains("root:") && shown.len() < 200, "{shown}"),
                Err(finding) => assert_eq!(finding.code, FindingCode::MissingFile, "{tag} {name}"),
            }
        }
    }
}
