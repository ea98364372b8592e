//! The language as online stores render it.

use crate::support::{check, page, render};
use liquid::{Language, Mode, ParseError, Template};

fn error(source: &str) -> ParseError {
    Template::parse(source).err().unwrap()
}

#[test]
fn markup_that_is_not_quite_liquid_is_understood() {
    let shop =
        r#"{"tea": {"name": "Oolong", "grams": 50, "sizes": [1, 2]}, "hot": true, "key": "name"}"#;
    for (source, output) in [
        ("{{ tea.name ! }}", "Oolong"),
        ("{{ tea.name | upcase | }}", "OOLONG"),
        ("{{ tea.name | append: '!' 'ignored' | downcase }}", "oolong!"),
        ("{{ tea['name'].size }}{{ tea.sizes[0]more }}", "6"),
        ("{{ tea..name }}", "Oolong"),
        ("{{ tea.['name'] }}", "Oolong"),
        ("{{ tea[key] }}{{ [key] }}", "Oolong"),
        ("{{ tea.grams * 2 }}", "50"),
        ("{{ 'a' | append: tea.grams, }}", "a50"),
        ("{{ tea.name | default: x: 1 }}", "Oolong"),
        ("{% if (hot) and (tea.grams) %}yes{% endif %}", "yes"),
        ("{% if (hot == true) %}yes{% endif %}", ""),
        ("{% if hot && cold %}yes{% endif %}", "yes"),
        ("{% if tea.name=='Oolong' %}yes{% endif %}", "yes"),
        ("{% if tea.name == 'Oolong' , x %}yes{% endif %}", "yes"),
        ("{% for s in tea.sizes, limit:1 whatever %}{{ s }}{% endfor %}", "1"),
        ("{% assign t = tea.name  |  upcase ; %}{{ t }}", "OOLONG"),
        ("{% capture 'quoted' %}x{% endcapture %}{{ quoted }}", "x"),
        ("{{ -tea }}{{ 1tea }}{{ tea? }}", ""),
        ("{{ 1.2.3 }} {{ 5. }}", "1.2 5.0"),
    ] {
        assert_eq!(render(source, shop), output, "{source}");
    }
}

#[test]
fn strict_mode_rejects_what_lax_mode_ignores() {
    let mut language = Language::standard();
    language.set_mode(Mode::Strict);
    for source in [
        "{{ a ! }}",
        "{{ a | b: }}",
        "{% if a && b %}{% endif %}",
        "{{ a[0]b }}",
        "{% for a in b c %}{% endfor %}",
    ] {
        assert!(Template::parse_in(&language, "", source).is_err(), "{source}");
        assert!(Template::parse(source).is_ok(), "{source}");
    }
}

#[test]
fn errors_of_the_parser_say_the_line() {
    for (source, line, message) in [
        ("a\n\n{% if x %}\n", 3, "'if' tag was never closed"),
        ("{% if x %}\n{% endfor %}", 2, "'endfor' is not a valid delimiter for if tags. use endif"),
        ("\n{% else %}", 2, "Unexpected outer 'else' tag"),
        ("{% liquid\n  echo 1\n  nonsense\n%}", 3, "Unknown tag 'nonsense'"),
        ("\n\n{{ a }", 3, "Variable '{{' was not properly terminated with '}}'"),
        ("x {% if", 1, "Tag '{%' was not properly terminated with '%}'"),
    ] {
        assert_eq!(error(source), ParseError::new(line, message), "{source}");
    }
}

#[test]
fn unknown_tags_can_be_left_out_with_a_warning() {
    let mut language = Language::standard();
    let source = "a{% sparkle 1 %}b\n{% if true %}{% glitter %}c{% endif %}";
    assert!(Template::parse_in(&language, "", source).is_err());
    language.ignore_unknown_tags(true);
    let template = Template::parse_in(&language, "", source).unwrap();
    assert_eq!(template.render(&liquid::Runtime::default()).unwrap().output, "ab\nc");
    let warnings: Vec<_> = template.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings[0], "Liquid syntax error (line 1): Unknown tag 'sparkle'");
    assert_eq!(warnings[1], "Liquid syntax error (line 2): Unknown tag 'glitter'");
}

#[test]
fn hyphens_take_whitespace_away() {
    check(&[
        ("a \n {{- 1 -}} \t b", "a1b"),
        ("a {%- comment %} x {% endcomment -%} b", "ab"),
        ("a {%- raw -%} {{ x }} {%- endraw -%} b", "a {{ x }} b"),
        ("a {%- # note -%} b", "ab"),
        ("a {% liquid\n echo 1 -%} b", "a 1b"),
        ("{{- 'x' -}}{{- -5 -}}", "x-5"),
    ]);
}

#[test]
fn blocks_without_output_lose_their_whitespace() {
    check(&[
        ("[{% if true %} {% assign a = 1 %} {% endif %}]", "[]"),
        ("[{% if true %} {{ nothing }} {% endif %}]", "[  ]"),
        ("[{% for i in (1..3) %} {% if i == 9 %} {% break %} {% endif %} {% endfor %}]", "[]"),
        ("[{% case 1 %} {% when 1 %} {% assign a = 1 %} {% endcase %}]", "[]"),
        ("[{% if true %} {% increment c %} {% endif %}]", "[ 0 ]"),
        ("[{% if true %} {% doc %}said{% enddoc %} {% endif %}]", "[  ]"),
    ]);
}

#[test]
fn conditions_are_read_from_the_right() {
    check(&[
        ("{% if false and false or true %}y{% else %}n{% endif %}", "n"),
        ("{% if true or false and false %}y{% else %}n{% endif %}", "y"),
        ("{% unless false or false %}y{% endunless %}", "y"),
        ("{% if 'b' > 'a' and 2 >= 2.0 %}y{% endif %}", "y"),
        ("{% if nil < 1 %}y{% else %}n{% endif %}", "n"),
        ("{% if 'banana' contains 'nan' and 'a1' contains 1 %}y{% endif %}", "y"),
    ]);
}

#[test]
fn blank_and_empty_mean_something_in_conditions_alone() {
    let data = r#"{"list": [], "space": " \n", "hash": {}, "zero": 0}"#;
    for (source, output) in [
        ("{% if list == empty and hash == empty and list == blank %}y{% endif %}", "y"),
        ("{% if space == blank %}y{% endif %}{% if space == empty %}n{% endif %}", "y"),
        ("{% if missing == blank %}y{% endif %}{% if missing == empty %}n{% endif %}", "y"),
        ("{% if zero == blank %}n{% else %}y{% endif %}", "y"),
        ("{% assign e = empty %}{% if list == e %}n{% else %}y{% endif %}", "y"),
        ("{% case list %}{% when empty %}y{% endcase %}", "y"),
        ("{{ blank }}{{ empty | append: 'y' }}", "y"),
    ] {
        assert_eq!(render(source, data), output, "{source}");
    }
}

#[test]
fn failures_are_printed_where_they_happen() {
    check(&[
        ("a\n{{ 1 | divided_by: 0 }} b", "a\nLiquid error (line 2): divided by 0 b"),
        (
            "{{ 'x' | append }}",
            "Liquid error (line 1): wrong number of arguments (given 1, expected 2)",
        ),
        (
            "{{ 'x' | slice: 1, 2, 3 }}",
            "Liquid error (line 1): wrong number of arguments (given 4, expected 2..3)",
        ),
        ("{% if 1 > 'a' %}{% endif %}", ""),
        (
            "{% if 'a' > 1 %}x{% endif %}",
            "Liquid error (line 1): comparison of String with 1 failed",
        ),
        ("{% if 1 ~ 2 %}x{% endif %}", "x"),
        (
            "{% if a startswith b %}x{% endif %}",
            "Liquid error (line 1): Unknown operator startswith",
        ),
        ("{% for i in (1..3) limit: 'x' %}x{% endfor %}", "Liquid error (line 1): invalid integer"),
        (
            "{% liquid\necho 1\necho 1 | modulo: 0\necho 3 %}",
            "1Liquid error (line 3): divided by 03",
        ),
    ]);
}

#[test]
fn failures_of_tags_that_print_nothing_are_noted_only() {
    let page = page("{% assign x = 1 | divided_by: 0 %}[{{ x }}]", "{}", []);
    assert_eq!(page.output, "[]");
    assert_eq!(page.errors[0].to_string(), "Liquid error (line 1): divided by 0");
}

#[test]
fn unknown_filters_pass_their_input_on() {
    let page = page("{{ 'tea' | steep: 3 | upcase }}", "{}", []);
    assert_eq!(page.output, "TEA");
    assert_eq!(page.errors[0].to_string(), "Liquid error (line 1): undefined filter steep");
}

#[test]
fn failures_in_partials_name_them() {
    let card = "<b>\n{{ 1 | modulo: 0 }}</b>";
    let page = page("{% render 'card' %}\n{% render 'gone' %}", "{}", [("card", card)]);
    let output = "<b>\nLiquid error (card line 2): divided by 0</b>\n\
                  Liquid error (line 2): Could not find asset snippets/gone.liquid";
    assert_eq!(page.output, output);
}

#[test]
fn rendered_partials_see_what_they_are_given() {
    let data = r#"{"shop": "Leaf", "teas": [{"name": "Mint"}, {"name": "Rose"}]}"#;
    let tea = "{{ shop }}:{{ tea.name }}{{ note }}{{ outer }}{{ forloop.index }} ";
    let output = |source| page(source, data, [("tea", tea)]).output;
    assert_eq!(output("{% assign outer = 1 %}{% render 'tea', note: '!' %}"), "Leaf:! ");
    assert_eq!(output("{% render 'tea' with teas[1], note: '?' %}"), "Leaf:Rose? ");
    assert_eq!(output("{% render 'tea' with teas[0] as tea %}"), "Leaf:Mint ");
    assert_eq!(output("{% render 'tea' for teas %}"), "Leaf:Mint1 Leaf:Rose2 ");
    assert_eq!(output("{% assign outer = 1 %}{% include 'tea', tea: teas[0] %}"), "Leaf:1 ");
    let nested = [("a", "{% include 'b' %}"), ("b", "b")];
    let error = "Liquid error (a line 1): include usage is not allowed in this context";
    assert_eq!(page("{% render 'a' %}", data, nested).output, error);
}

#[test]
fn included_partials_share_variables_and_loops() {
    let snippets = [("stop", "{% if i == 2 %}{% break %}{% endif %}{% assign seen = i %}")];
    let source = "{% for i in (1..9) %}{{ i }}{% include 'stop' %}{% endfor %}-{{ seen }}";
    assert_eq!(page(source, "{}", snippets).output, "12-1");
}

#[test]
fn loops_continue_where_another_ended() {
    let source = "{% for n in a limit: 2 %}{{ n }}{% endfor %}|\
                  {% for n in a offset: continue limit: 1 %}{{ n }}{% endfor %}|\
                  {% for n in a reversed offset: continue %}{{ n }}{% endfor %}|\
                  {% for n in a offset: 9 %}{{ n }}{% else %}none{% endfor %}";
    assert_eq!(render(source, r#"{"a": [1, 2, 3, 4, 5]}"#), "12|3|54|none");
}

#[test]
fn loops_know_where_they_are() {
    let source = "{% for i in (1..2) %}{% for j in (1..2) %}\
                  {{ forloop.parentloop.index }}{{ forloop.index0 }}{{ forloop.rindex }}\
                  {% if forloop.last %};{% endif %}{% endfor %}{% endfor %}";
    assert_eq!(render(source, "{}"), "102111;202211;");
}

#[test]
fn hashes_are_iterated_as_pairs_in_their_order() {
    let data = r#"{"h": {"z": 1, "a": [2], "m": null}}"#;
    let source = "{% for pair in h %}{{ pair[0] }}={{ pair.last }} {% endfor %}{{ h.size }}";
    assert_eq!(render(source, data), "z=1 a=2 m= 3");
    assert_eq!(render("{{ h }}", data), r#"{"z"=>1, "a"=>[2], "m"=>nil}"#);
}

#[test]
fn lists_are_text_of_their_items_in_output_and_inspected_in_filters() {
    let data = r#"{"l": ["a", 1, null, ["b"]]}"#;
    assert_eq!(render("{{ l }}", data), "a1b");
    assert_eq!(render("{{ l | append: '' }}", data), r#"["a", 1, nil, ["b"]]"#);
}

#[test]
fn cycles_without_a_name_go_on_by_their_values() {
    check(&[
        ("{% for i in (1..3) %}{% cycle 'a', 'b' %}{% endfor %}{% cycle 'a', 'b' %}", "abab"),
        (
            "{% assign x = 1 %}{% for i in (1..2) %}{% cycle x, 'b' %}{% endfor %}{% cycle x, 'b' %}",
            "1b1",
        ),
        ("{% cycle 'g': 1, 2 %}{% cycle 'g': 3, 4 %}", "14"),
    ]);
}

#[test]
fn counters_are_apart_from_variables() {
    check(&[
        ("{% increment n %}{% increment n %}{{ n }}{% decrement n %}", "0121"),
        ("{% assign n = 9 %}{% increment n %}{{ n }}", "09"),
    ]);
}

#[test]
fn rows_of_a_table_have_columns() {
    let source =
        "{% tablerow i in (1..3) cols: 2 %}{{ i }}{{ tablerowloop.col_last }}{% endtablerow %}";
    let output = "<tr class=\"row1\">\n<td class=\"col1\">1false</td><td class=\"col2\">2true</td></tr>\n\
                  <tr class=\"row2\"><td class=\"col1\">3false</td></tr>\n";
    assert_eq!(render(source, "{}"), output);
}

#[test]
fn lines_of_tags_are_tags() {
    let source = "{% liquid\n  # a note\n  assign n = 0\n  for i in (1..3)\n    assign n = n | plus: i\n  endfor\n\
                  \n  comment\n  endif {{ }}\n  endcomment\n  case n\n  when 6\n    echo 'six'\n  endcase\n%}";
    assert_eq!(render(source, "{}"), "six");
}

#[test]
fn raw_text_and_comments_are_not_parsed() {
    check(&[
        ("{% raw %}{% if %}{{ }{% endraw %}", "{% if %}{{ }"),
        ("a{% comment %}{% if %}{{ x }{% comment %}{% endcomment %}{% endcomment %}b", "ab"),
        ("a{% comment %}{% raw %}{% endcomment %}{% endraw %}{% endcomment %}b", "ab"),
        ("a{% doc %}{{ {% if %}{% enddoc %}b", "ab"),
        ("a{% # one\n   # two %}b", "ab"),
    ]);
}

#[test]
fn changes_alone_are_shown() {
    let source = "{% for n in l %}{% ifchanged %}{{ n }}{% endifchanged %}{% endfor %}";
    assert_eq!(render(source, r#"{"l": [1, 1, 2, 2, 1]}"#), "121");
}

#[test]
fn names_are_looked_up_through_self() {
    let data = r#"{"first-name": "Ada", "key": "first-name"}"#;
    assert_eq!(
        render("{{ self['first-name'] }}{{ self[key] }}{{ self.key }}", data),
        "AdaAdafirst-name"
    );
    assert_eq!(render("{{ self.x }}", r#"{"self": {"x": "own"}}"#), "own");
}

#[test]
fn sizes_firsts_and_lasts_are_members() {
    let data = r#"{"l": [3, 4], "t": "été", "h": {"size": "XL", "b": 1}, "r": {"b": 1}}"#;
    let source = "{{ l.size }}{{ l.first }}{{ l.last }} {{ t.size }}{{ t.first }} {{ h.size }} {{ r.size }}{{ r.first }}";
    assert_eq!(render(source, data), "234 3é XL 1b1");
    assert_eq!(render("{{ l[-1] }}{{ l[5] }}{{ l['first'] }}{{ t[0] }}", data), "4");
}
