//! Templates that try to do harm: they fail at a bound, and never by a panic.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use liquid::{ErrorKind, Exceeded, Language, Limits, Map, Partials, Runtime, Template, Value};

use crate::support::Itself;

fn exceeded(source: &str, limits: Limits<'_>) -> Option<Exceeded> {
    let template = Template::parse(source).unwrap();
    let runtime = Runtime { limits, ..Runtime::default() };
    match template.render(&runtime) {
        Err(error) => match error.kind {
            ErrorKind::Limit(exceeded) => Some(exceeded),
            _ => None,
        },
        Ok(_) => None,
    }
}

#[test]
fn loops_end_at_the_bound_of_steps() {
    let endless = "{% for a in (1..1000000000) %}{% endfor %}";
    assert_eq!(exceeded(endless, Limits::default()), Some(Exceeded::Steps));
    let filter = "{{ (1..1000000000) | join: ',' | size }}";
    assert_eq!(exceeded(filter, Limits::default()), Some(Exceeded::Steps));
}

#[test]
fn comparisons_of_long_values_are_many_steps() {
    let double = "{% for i in (1..16) %}{% assign s = s | append: s %}{% endfor %}";
    for compare in
        ["{% if s == t %}{% endif %}", "{% if s contains 'b' %}{% endif %}", "{{ s | size }}"]
    {
        let begin = "{% assign s = 'aaaaaaaaaaaaaaaa' %}";
        let source = format!(
            "{begin}{double}{{% assign t = s | append: '' %}}{{% for i in (1..9000) %}}{compare}{{% endfor %}}"
        );
        let limits = Limits { output: usize::MAX, ..Limits::default() };
        assert_eq!(exceeded(&source, Limits { steps: 5_000_000, ..limits }), Some(Exceeded::Steps));
    }
}

#[test]
fn bounds_name_the_template_and_the_line() {
    let place = |source: &str, limits| {
        let template = Template::parse_in(&Language::standard(), "page", source).unwrap();
        let runtime = Runtime { limits, ..Runtime::default() };
        let error = template.render(&runtime).unwrap_err();
        (error.to_string(), error.line)
    };
    let few = Limits { steps: 3, ..Limits::default() };
    let steps = "Liquid error (page line 3): Too many steps".to_owned();
    assert_eq!(place("a\n\n{{ 1 }}{{ 2 }}{{ 3 }}{{ 4 }}", few), (steps.clone(), 3));
    assert_eq!(place("a\n\n{% if true %}b{{ 1 }}c{% endif %}", few), (steps, 3));
    let little = Limits { output: 3, ..Limits::default() };
    assert_eq!(place("{{ 1 }}\nlong text", little).1, 1);
    assert_eq!(place("long text", little).0, "Liquid error (page line 1): Output too large");
}

#[test]
fn output_ends_at_its_bound() {
    let much = "{% for a in (1..1000) %}0123456789{% endfor %}";
    let limits = Limits { output: 5000, ..Limits::default() };
    assert_eq!(exceeded(much, limits), Some(Exceeded::Output));
}

#[test]
fn values_that_double_end_at_the_bound_of_memory() {
    for step in [
        "{% assign s = s | append: s %}",
        "{% capture s %}{{ s }}{{ s }}{% endcapture %}",
        "{% assign s = s | replace: 'a', s %}",
        "{% assign a = a | concat: a %}{% assign s = a | join: s %}",
    ] {
        let begin = "{% assign s = 'aaaaaaaaaaaaaaaa' %}{% assign a = s | split: '' %}";
        let source = format!("{begin}{{% for i in (1..60) %}}{step}{{% endfor %}}");
        let exceeded = exceeded(&source, Limits::default());
        assert!(
            matches!(exceeded, Some(Exceeded::Memory | Exceeded::Output)),
            "{step}: {exceeded:?}"
        );
    }
}

#[test]
fn the_deadline_ends_a_page() {
    static LOOKS: AtomicU32 = AtomicU32::new(0);
    let expired = || LOOKS.fetch_add(1, Ordering::Relaxed) > 10;
    let limits = Limits { expired: Some(&expired), ..Limits::default() };
    let endless = "{% for a in (1..1000000000) %}{% endfor %}";
    assert_eq!(exceeded(endless, limits), Some(Exceeded::Time));
}

/// Half of what a thread of a server has.
const STACK: usize = 1 << 20;

#[test]
fn partials_that_render_themselves_end_at_the_bound_of_depth() {
    let nested = "{% if true %}{% for i in (1..1) %}{% unless false %}{% render 'me' %}\
                  {% endunless %}{% endfor %}{% endif %}";
    for source in ["{% render 'me' %}", "{% include 'me' %}", nested] {
        let partials = Itself(Language::standard(), source);
        let runtime = Runtime { partials: &partials, ..Runtime::default() };
        let error = partials.get("page").unwrap().render(&runtime).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit(Exceeded::Depth), "{source}");
        assert_eq!(&*error.template, "me");
        assert_eq!(error.line, 1);
    }
}

#[test]
fn the_deepest_page_takes_little_stack() {
    let source = "{% for i in (1..1) %}{% case 1 %}{% when 1 %}{% capture c %}{% tablerow i in (1..1) %}\
                  {% ifchanged %}{% render 'me' for (1..1) %}{% endifchanged %}{% endtablerow %}\
                  {% endcapture %}{% endcase %}{% endfor %}";
    let page = move || {
        let partials = Itself(Language::standard(), source);
        let runtime = Runtime { partials: &partials, ..Runtime::default() };
        partials.get("page").unwrap().render(&runtime).unwrap_err().kind
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(page).unwrap();
    assert_eq!(thread.join().unwrap(), ErrorKind::Limit(Exceeded::Depth));
}

#[test]
fn blocks_and_brackets_nest_only_so_deep() {
    let deep = |open: &str, close: &str| [open.repeat(5000), close.repeat(5000)].concat();
    for source in [
        deep("{% if true %}", "{% endif %}"),
        format!("{{{{ {} }}}}", deep("[", "]")),
        format!("{{{{ {} }}}}", deep("(1..", ")")),
        format!("{{{{ a{} }}}}", deep("[a", "]")),
        format!("{{% if {} %}}{{% endif %}}", deep("(", ")")),
        format!("{{% liquid {} %}}", "liquid ".repeat(5000)),
    ] {
        if let Ok(template) = Template::parse(&source) {
            assert!(template.render(&Runtime::default()).is_ok());
        }
    }
}

/// How long a template of a size takes to parse and render.
#[expect(clippy::disallowed_methods, reason = "the test measures")]
fn duration(source: &str) -> Duration {
    let begin = Instant::now();
    if let Ok(template) = Template::parse(source) {
        let mut runtime =
            Runtime::new(Arc::new([("s", Value::from(source))].into_iter().collect::<Map>()));
        runtime.limits =
            Limits { steps: u64::MAX, memory: u64::MAX, output: usize::MAX, ..Limits::default() };
        let _page = template.render(&runtime);
    }
    begin.elapsed()
}

#[test]
fn nothing_takes_time_by_the_square_of_its_length() {
    for piece in [
        "{%",
        "{{",
        "{",
        "}",
        "{{ a",
        "{% raw %}",
        "{% comment %}",
        "{% comment %}{%",
        "{{ 'a",
        "{{ \"'",
        "{% # a\n",
        "{% liquid\n",
        "{% if a %}",
        "a{{-",
        " ",
        "{{ a[",
        "{{ (1..",
        "{{ a | ",
        "{% if a and ",
        "{% endraw",
        "{% comment %}{{ {% ",
        "{% doc %}{%",
        "{{ x ' | \" ",
    ] {
        let source = piece.repeat(200_000 / piece.len());
        let wrapped = format!("{{{{ {source} }}}}{{% if {source} %}}{{% endif %}}");
        for source in [&source, &wrapped] {
            let took = duration(source);
            assert!(took < Duration::from_secs(4), "{piece:?} took {took:?}");
        }
    }
    for piece in ["<", "<script", "<!--", "<style>", "&", "&amp", "' ", "aB\n", "%", "%4"] {
        let filters = "{{ s | strip_html | size }}{{ s | escape_once | size }}{{ s | url_decode | size }}\
                       {{ s | split: 'B' | uniq | sort | size }}{{ s | truncatewords: 5 | size }}\
                       {{ s | replace: ' ', 'x' | size }}{{ s | date: '%Y' | size }}";
        let source = format!(
            "{filters}{{% comment %}}{}{{% endcomment %}}",
            piece.repeat(200_000 / piece.len())
        );
        let took = duration(&source);
        assert!(took < Duration::from_secs(4), "{piece:?} took {took:?}");
    }
}
