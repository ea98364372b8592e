//! The filters of the language.

use std::sync::Arc;

use crate::support::{check, escaped, render};
use liquid::{Map, Runtime, Template, Value};

#[test]
fn numbers_are_computed_by_their_digits() {
    check(&[
        ("{{ 0.1 | plus: 0.2 }}", "0.3"),
        ("{{ 19.99 | times: 3 }}", "59.97"),
        ("{{ 1 | divided_by: 3.0 }}", "0.3333333333333333"),
        ("{{ -7 | divided_by: 2 }} {{ -7 | modulo: 3 }} {{ 7.5 | modulo: -2 }}", "-4 2 -0.5"),
        (
            "{{ nil | plus: 1 }} {{ '12px' | plus: 1 }} {{ ' 2.50 ' | plus: 1 }} {{ 'x' | plus: 1 }}",
            "1 13 3.5 1",
        ),
        ("{{ '1_000' | plus: 1 }} {{ '3.x' | plus: 1 }}", "1001 4"),
        (
            "{{ 2.5 | round }} {{ -2.5 | round }} {{ 2.345 | round: 2 }} {{ 1250 | round: -2 }}",
            "3 -3 2.35 1300",
        ),
        ("{{ 4.2 | ceil }} {{ -4.2 | floor }} {{ -3 | abs }}", "5 -5 3"),
        ("{{ 9223372036854775807 | plus: 1 }}", "9.223372036854776e+18"),
        ("{{ 1.0 | times: 10000000000000000 }} {{ 0.00001 | times: 1.0 }}", "1.0e+16 1.0e-05"),
        ("{{ 5 | at_least: '7' }} {{ 5.5 | at_most: 5 }}", "7 5"),
    ]);
}

#[test]
fn text_is_cut_and_joined() {
    check(&[
        ("{{ 'Tea for two' | truncate: 7 }} {{ 'Tea' | truncate: 2, '…' }}", "Tea ... T…"),
        ("{{ 'one two three' | truncatewords: 2, '' }}", "one two"),
        ("{{ 'été' | slice: -2, 2 }}{{ 'été' | slice: 9 }}", "té"),
        ("{{ ' a  b ' | split: ' ' | join: '-' }} {{ 'a,,b,,' | split: ',' | size }}", "a-b 3"),
        ("{{ 'héllo WORLD' | capitalize }} {{ 'ß' | upcase }}", "Héllo world SS"),
        (
            "{{ ' a \n  b ' | squish }}|{{ \"a\nb\" | strip_newlines }}|{{ '\ta ' | lstrip }}|",
            "a b|ab|a |",
        ),
        ("{{ 'aXbXc' | replace_first: 'X', '-' | replace_last: 'X', '+' | remove: 'b' }}", "a-+c"),
    ]);
}

#[test]
fn backslashes_in_replacements_are_references() {
    check(&[
        (r"{{ 'a-b' | replace: '-', '<\0\0>' }}", "a<-->b"),
        (r#"{{ "it's on" | replace: "'", "\'" }}"#, "its ons on"),
        (r"{{ 'a-b' | replace: '-', '\\n' }}", r"a\nb"),
        (r"{{ 'a-b' | replace: '-', '\n' }}", r"a\nb"),
    ]);
}

#[test]
fn items_are_selected_by_their_members() {
    let data = r#"{"teas": [{"name": "Mint", "hot": true, "g": 20}, {"name": "Rose", "hot": false, "g": 5}, {"name": "Fig", "g": 7}],
                   "words": ["mint", "menthol"], "mixed": [1, null, "x"]}"#;
    for (source, output) in [
        ("{{ teas | where: 'hot' | map: 'name' | join }}", "Mint"),
        ("{{ teas | where: 'hot', false | map: 'name' | join }}", "Rose"),
        ("{{ teas | reject: 'hot' | map: 'name' | join }}", "Rose Fig"),
        (
            "{% assign t = teas | find: 'name', 'Fig' %}{{ t.g }} {{ teas | find_index: 'g', 5 }}",
            "7 1",
        ),
        ("{{ teas | has: 'g', 5 }} {{ teas | has: 'g', 6 }}", "true false"),
        ("{{ teas | sum: 'g' }} {{ teas | sort: 'g' | map: 'name' | first }}", "32 Rose"),
        (
            "{{ teas | sort: 'hot' | size }}",
            "Liquid error (line 1): cannot sort values of incompatible types",
        ),
        ("{{ words | find: 'thol' }} {{ words | map: 'mi' | join: '-' }}", "menthol mi-"),
        ("{{ mixed | map: 'x' }}", "Liquid error (line 1): cannot select the property 'x'"),
        (
            "{{ mixed | compact | size }} {{ mixed | where: 'x' | size }}",
            "2 Liquid error (line 1): cannot select the property 'x'",
        ),
        ("{{ nothing | where: 'x' | size }} {{ nothing | first }}", "0 "),
    ] {
        assert_eq!(render(source, data), output, "{source}");
    }
}

#[test]
fn lists_are_sorted_and_combined() {
    let data = r#"{"l": ["b", "A", null, "a"], "n": [3, 1.5, 2], "nested": [[1, 2], [2, [3]]]}"#;
    for (source, output) in [
        ("{{ l | sort | join: ',' }} {{ l | sort_natural | join: ',' }}", "A,a,b, A,a,b,"),
        ("{{ n | sort | join }} {{ n | reverse | join }} {{ n | sum }}", "1.5 2 3 2 1.5 3 6.5"),
        ("{{ nested | uniq | join }} {{ nested | concat: n | size }}", "1 2 3 7"),
        ("{{ n | concat: 5 }}", "Liquid error (line 1): concat filter requires an array argument"),
        ("{{ n | slice: 1, 2 | join }} {{ n | slice: -1 }}", "1.5 2 2"),
        ("{{ (2..4) | reverse | join }} {{ (2..4) | sum }} {{ (2..4) | size }}", "4 3 2 9 3"),
    ] {
        assert_eq!(render(source, data), output, "{source}");
    }
}

#[test]
fn defaults_stand_in_for_what_is_missing() {
    check(&[
        (
            "{{ nil | default: 1 }}{{ '' | default: 2 }}{{ false | default: 3 }}{{ 0 | default: 4 }}",
            "1230",
        ),
        (
            "{{ false | default: 3, allow_false: true }}{{ nil | default: 5, allow_false: true }}",
            "false5",
        ),
    ]);
}

#[test]
fn html_and_urls_are_encoded() {
    check(&[
        ("{{ '<a href=\"x\">&' | escape }}", "&lt;a href=&quot;x&quot;&gt;&amp;"),
        ("{{ '&lt; & < &#39; &x' | escape_once }}", "&lt; &amp; &lt; &#39; &amp;x"),
        ("{{ '<p>a<!-- <b> -->b<script>c<d></script>e</p><' | strip_html }}", "abe<"),
        ("{{ \"a\r\nb\n\" | newline_to_br }}", "a<br />\nb<br />\n"),
        ("{{ 'é &/~' | url_encode }} {{ '%C3%A9+%zz' | url_decode }}", "%C3%A9+%26%2F~ é %zz"),
        ("{{ '%ff' | url_decode }}", "Liquid error (line 1): invalid byte sequence in UTF-8"),
        (
            "{{ 'tea?' | base64_encode | base64_decode }} {{ '??>' | base64_url_safe_encode }}",
            "tea? Pz8-",
        ),
        (
            "{{ '!' | base64_decode }}",
            "Liquid error (line 1): invalid base64 provided to base64_decode",
        ),
    ]);
}

#[test]
fn pages_that_escape_keep_html_apart_from_text() {
    let data = r#"{"x": "<b>", "l": ["<", ">"]}"#;
    for (source, output) in [
        ("{{ x }} {{ l }} {{ l | join: '&' }}", "&lt;b&gt; &lt;&gt; &lt;&amp;&gt;"),
        ("{{ x | escape }} {{ x | escape | escape | strip }}", "&lt;b&gt; &lt;b&gt;"),
        ("{% capture c %}<i>{{ x }}</i>{% endcapture %}{{ c }}", "<i>&lt;b&gt;</i>"),
        (
            "{% capture c %}<i>{% endcapture %}{{ c | append: x | prepend: '<' }}",
            "&lt;<i>&lt;b&gt;",
        ),
        ("{{ \"<\n\" | newline_to_br }}", "&lt;<br />\n"),
        ("<{{ x | upcase }}>", "<&lt;B&gt;>"),
    ] {
        assert_eq!(escaped(source, data), output, "{source}");
    }
}

fn dated(date: &str, format: &str, zone: &str) -> String {
    let globals: Map = [("d", Value::from(date)), ("f", Value::from(format))].into_iter().collect();
    let mut runtime = Runtime::new(Arc::new(globals));
    runtime.now = format!("2026-03-04T05:06:07[{zone}]").parse().unwrap();
    Template::parse("{{ d | date: f }}").unwrap().render(&runtime).unwrap().output
}

#[test]
fn dates_are_understood_as_people_and_machines_write_them() {
    for (text, shown) in [
        ("2025-12-24", "2025-12-24 00:00:00"),
        ("2025-12-24T18:30:05Z", "2025-12-24 18:30:05"),
        ("2025-12-24 18:30:05 -0500", "2025-12-24 18:30:05"),
        ("2025-12-24T18:30:05.123+02:00", "2025-12-24 18:30:05"),
        ("20251224T183005", "2025-12-24 18:30:05"),
        ("December 24, 2025", "2025-12-24 00:00:00"),
        ("Wed, 24 Dec 2025 18:30:00 GMT", "2025-12-24 18:30:00"),
        ("24th of December 2025", "2025-12-24 00:00:00"),
        ("24/12/2025", "2025-12-24 00:00:00"),
        ("24.12.2025 6:30 pm", "2025-12-24 18:30:00"),
        ("Dec 2025", "2025-12-01 00:00:00"),
        ("Dec 24", "2026-12-24 00:00:00"),
        ("10:30", "2026-03-04 10:30:00"),
        ("12am", "2026-03-04 00:00:00"),
        ("now", "2026-03-04 05:06:07"),
        ("1766600000", "2025-12-24 18:13:20"),
        ("12/24/2025", "12/24/2025"),
        ("31 February 2025", "31 February 2025"),
        ("soon", "soon"),
        ("", ""),
    ] {
        assert_eq!(dated(text, "%Y-%m-%d %H:%M:%S", "UTC"), shown, "{text}");
    }
}

#[test]
fn dates_are_shown_by_directives() {
    for (format, shown) in [
        ("%A %a %^a %B %b %h", "Thursday Thu THU January Jan Jan"),
        ("%d %e %-d %j %U %W %V %G %u %w", "01  1 1 001 00 00 01 2026 4 4"),
        ("%H %k %I %l %-I %M %S %p %P %#p", "15 15 03  3 3 04 05 PM pm pm"),
        ("%Y %C %y %m %-m %_m", "2026 20 26 01 1  1"),
        ("%L %N %3N %s", "123 123000000 123 1767276245"),
        ("%z %:z %::z %Z", "+0100 +01:00 +01:00:00 CET"),
        ("%D %F %T %R %r", "01/01/26 2026-01-01 15:04:05 15:04 03:04:05 PM"),
        ("%c|%x|%X|%v", "Thu Jan  1 15:04:05 2026|01/01/26|15:04:05| 1-JAN-2026"),
        ("%10A|%010d|%%|%n|%t", "  Thursday|0000000001|%|\n|\t"),
        ("%Q %", "%Q %"),
    ] {
        let shown_here = {
            let globals: Map = [("f", Value::from(format))].into_iter().collect();
            let mut runtime = Runtime::new(Arc::new(globals));
            runtime.now = "2026-01-01T15:04:05.123[Europe/Paris]".parse().unwrap();
            Template::parse("{{ 'now' | date: f }}").unwrap().render(&runtime).unwrap().output
        };
        assert_eq!(shown_here, shown, "{format}");
    }
}

#[test]
fn dates_keep_the_offset_that_they_say() {
    assert_eq!(dated("2025-07-01T12:00:00-04:00", "%H:%M %z", "Europe/Paris"), "12:00 -0400");
    assert_eq!(dated("2025-07-01T12:00:00", "%H:%M %z %Z", "Europe/Paris"), "12:00 +0200 CEST");
    assert_eq!(dated("1751364000", "%H:%M %Z", "America/New_York"), "06:00 EDT");
    assert_eq!(dated("2025-07-01 12:00 UTC", "%Z", "Europe/Paris"), "UTC");
}
