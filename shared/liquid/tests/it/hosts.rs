//! What hosts add: objects, filters, tags, partials.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use liquid::{
    Args, Attributes, Block, Context, Error, Expression, Flow, Head, Items, Language, Limits, Map,
    Object, OnError, ParseError, Parser, Partials, Render, Runtime, Shape, Template, Value,
};

use crate::support::{Snippets, data};

type Parsed = Result<Box<dyn Render>, ParseError>;

/// A list whose items are counted when they are made.
struct Catalogue {
    made: Arc<AtomicUsize>,
    size: usize,
}

impl Catalogue {
    fn item_at(&self, at: usize) -> Value {
        self.made.fetch_add(1, Ordering::Relaxed);
        Value::object(Tea { number: at })
    }
}

impl Object for Catalogue {
    fn get(&self, name: &str) -> Option<Value> {
        (name == "title").then(|| "All teas".into())
    }

    fn shape(&self) -> Shape {
        Shape::List
    }

    fn items(&self) -> Option<Items<'_>> {
        Some(Box::new((0..self.size).map(|at| self.item_at(at))))
    }

    fn slice(&self, offset: usize, limit: Option<usize>) -> Option<Items<'_>> {
        let end = limit.map_or(self.size, |limit| self.size.min(offset + limit));
        Some(Box::new((offset.min(end)..end).map(|at| self.item_at(at))))
    }

    fn item(&self, index: usize) -> Option<Value> {
        (index < self.size).then(|| self.item_at(index))
    }

    fn size(&self) -> Option<usize> {
        Some(self.size)
    }
}

struct Tea {
    number: usize,
}

impl Object for Tea {
    fn get(&self, name: &str) -> Option<Value> {
        match name {
            "title" => Some(format!("Tea {}", self.number).into()),
            "number" => Some(self.number.into()),
            _ => None,
        }
    }

    fn text(&self) -> String {
        "TeaDrop".into()
    }
}

/// A setting that is a text, and has members.
struct Colour(&'static str);

impl Object for Colour {
    fn get(&self, name: &str) -> Option<Value> {
        (name == "red").then_some(Value::Int(255))
    }

    fn as_value(&self) -> Option<Value> {
        Some(self.0.into())
    }
}

fn globals(made: &Arc<AtomicUsize>) -> Arc<Map> {
    let catalogue = Catalogue { made: Arc::clone(made), size: 1000 };
    let entries = [
        ("teas", Value::object(catalogue)),
        ("tea", Value::object(Tea { number: 7 })),
        ("colour", Value::object(Colour("#ff0000"))),
        ("none", Value::object(Colour(""))),
    ];
    Arc::new(entries.into_iter().collect())
}

#[test]
fn items_of_lists_are_made_when_they_are_asked_for() {
    for (source, output, most) in [
        ("{{ teas.size }}{{ teas.title }}", "1000All teas", 0),
        ("{{ teas[3].title }}{{ teas[-1].number }}", "Tea 3999", 2),
        (
            "{{ teas.first.number }}{{ teas.last.number }}{{ teas | last | map: 'number' }}",
            "0999999",
            3,
        ),
        ("{% for t in teas limit: 2 offset: 5 %}{{ t.number }}{% endfor %}", "56", 2),
        (
            "{% for t in teas limit: 1 %}{{ forloop.length }}{% endfor %}{% for t in teas offset: continue limit: 1 %}{{ t.number }}{% endfor %}",
            "11",
            2,
        ),
        ("{{ teas | where: 'number', 4 | map: 'title' }}", "Tea 4", 1000),
        ("{% if teas == empty %}none{% elsif teas.size > 0 %}some{% endif %}", "some", 0),
    ] {
        let made = Arc::new(AtomicUsize::new(0));
        let template = Template::parse(source).unwrap();
        let page = template.render(&Runtime::new(globals(&made))).unwrap();
        assert_eq!(page.output, output, "{source}");
        assert!(made.load(Ordering::Relaxed) <= most, "{source} makes {made:?}");
    }
}

#[test]
fn objects_may_be_scalars() {
    let made = Arc::new(AtomicUsize::new(0));
    for (source, output) in [
        ("{{ colour }} {{ colour.red }} {{ colour.size }}", "#ff0000 255 7"),
        ("{{ colour | append: '!' | upcase }}", "#FF0000!"),
        ("{% if colour == '#ff0000' and colour contains 'ff' %}y{% endif %}", "y"),
        ("{% if none == blank %}y{% endif %}{% if none %}y{% endif %}", "yy"),
        ("{{ none | default: 'x' }}{{ colour | default: 'x' }}", "x#ff0000"),
        ("{{ tea }} {{ tea.missing }}{{ tea | size }}{% for t in tea %}x{% endfor %}", "TeaDrop 0"),
        ("{% if tea == tea %}y{% endif %}{% if tea == teas[7] %}n{% endif %}", "y"),
    ] {
        let template = Template::parse(source).unwrap();
        let page = template.render(&Runtime::new(globals(&made))).unwrap();
        assert_eq!(page.output, output, "{source}");
    }
}

/// A block that gives its body a name, also in what it renders.
struct Section {
    name: Expression,
    attributes: Attributes,
    body: Block,
    otherwise: Block,
}

impl Section {
    fn parse<'s>(head: Head<'s>, parser: &mut Parser<'_, 's>) -> Parsed {
        let mut markup = parser.arguments(&head);
        let name = markup.expression()?;
        let attributes = markup.attributes()?;
        let (body, end) = parser.block(&head, &["otherwise"])?;
        let otherwise =
            if end.name == "otherwise" { parser.block(&head, &[])?.0 } else { Block::default() };
        Ok(Box::new(Self { name, attributes, body, otherwise }))
    }
}

#[derive(Default)]
struct Rendered(Vec<String>);

impl Render for Section {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> liquid::Result<Flow> {
        let name = self.name.evaluate(cx);
        cx.register::<Rendered>().0.push(name.to_text().into_owned());
        if name.is_nil() {
            return self.otherwise.render(cx, out);
        }
        let named = self.attributes.iter();
        let named: Vec<_> =
            named.map(|(key, value)| (Arc::clone(key), value.evaluate(cx))).collect();
        let ambient = [(Arc::from("section"), name)];
        cx.with_ambient(ambient, |cx| cx.isolated(named, |cx| self.body.render(cx, out)))
    }
}

fn shop() -> Language {
    let mut language = Language::standard();
    language.add_tag("box", Section::parse);
    language.add_tag("data", |head: Head<'_>, parser: &mut Parser<'_, '_>| -> Parsed {
        let text = parser.raw_block(&head)?;
        if serde_json::from_str::<Value>(text).is_err() {
            return Err(ParseError::new(head.line, "data is not JSON"));
        }
        Ok(Box::new(Text(text.trim().into())))
    });
    language.add_filter("money", |input: &Value, args: &Args, _: &mut Context<'_>| {
        args.expect(0, 1)?;
        let Value::Int(cents) = input else { return Err(Error::host("no amount")) };
        let currency = args.named("currency").map(|currency| currency.to_text().into_owned());
        Ok(format!("{}.{:02}{}", cents / 100, cents % 100, currency.unwrap_or_default()).into())
    });
    language.add_filter("shop_name", |_: &Value, _: &Args, cx: &mut Context<'_>| {
        Ok(cx.host::<&str>().copied().map(Value::from).into())
    });
    language
}

struct Text(String);

impl Render for Text {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> liquid::Result<Flow> {
        let boxes = cx.register::<Rendered>().0.join("+");
        out.push_str(&self.0);
        out.push_str(&boxes);
        Ok(Flow::Next)
    }
}

fn render(source: &str) -> String {
    let template = Template::parse_in(&shop(), "page", source).unwrap();
    let snippets = Snippets::new([("inner", "<{{ section }}{{ a }}>")]);
    let mut runtime = Runtime::new(data(r#"{"price": 1250}"#));
    runtime.partials = &snippets;
    let name = "Leaf";
    runtime.host = Some(&name);
    template.render(&runtime).unwrap().output
}

#[test]
fn hosts_add_filters() {
    assert_eq!(
        render("{{ price | money }} {{ price | money: currency: ' EUR' }}"),
        "12.50 12.50 EUR"
    );
    assert_eq!(render("{{ 'x' | money }}"), "Liquid error (page line 1): no amount");
    assert_eq!(render("{{ nil | shop_name }}"), "Leaf");
}

#[test]
fn hosts_add_blocks_with_names_of_their_own() {
    let source = "{% assign a = 1 %}{% box 'top' b: a, c: price %}{{ section }}{{ a }}{{ b }}{{ c }}\
                  {% render 'inner' %}{% assign a = 2 %}{% endbox %}{{ section }}{{ a }}";
    assert_eq!(render(source), "top11250<top>1");
    assert_eq!(render("{% box nil %}x{% otherwise %}y{% endbox %}"), "y");
    assert_eq!(
        render("{% for i in (1..3) %}{% box i %}{{ section }}{% break %}{% endbox %}{% endfor %}"),
        "1"
    );
}

#[test]
fn hosts_add_blocks_of_raw_text_and_keep_state() {
    assert_eq!(
        render("{% box 'a' %}{% endbox %}{% box 'b' %}{% endbox %}{% data %} [1] {% enddata %}"),
        "[1]a+b"
    );
    let error = Template::parse_in(&shop(), "", "\n{% data %}{{{% enddata %}").err().unwrap();
    assert_eq!(error.to_string(), "Liquid syntax error (line 2): data is not JSON");
}

#[test]
fn objects_are_rendered_by_templates_of_their_own() {
    struct Blocks(Arc<Template>);
    impl Partials for Blocks {
        fn get(&self, _name: &str) -> Option<Arc<Template>> {
            None
        }

        fn of_object(&self, object: &Value) -> Option<Arc<Template>> {
            object.downcast::<Tea>().map(|_| Arc::clone(&self.0))
        }
    }
    let block = Template::parse_in(&Language::standard(), "block", "[{{ block.number }}{{ x }}]");
    let blocks = Blocks(Arc::new(block.unwrap()));
    let globals: Map = [("app", Value::object(Tea { number: 3 }))].into_iter().collect();
    let runtime = Runtime { partials: &blocks, ..Runtime::new(Arc::new(globals)) };
    let template = Template::parse("{% render app with app, x: 1 %}").unwrap();
    assert_eq!(template.render(&runtime).unwrap().output, "[31]");
}

#[test]
fn partials_that_cannot_be_parsed_say_why() {
    struct Unparsed;
    impl Partials for Unparsed {
        fn get(&self, name: &str) -> Option<Arc<Template>> {
            let language = Language::standard();
            let parsed = Template::parse_in(&language, name, "\n{% if %}{% endif %}");
            Some(Arc::new(parsed.unwrap_or_else(|error| Template::broken(name, &error))))
        }
    }
    let runtime = Runtime { partials: &Unparsed, ..Runtime::default() };
    let page = Template::parse("a {% render 'b' %} c").unwrap().render(&runtime).unwrap();
    let message = "Expected an expression but found end of tag";
    assert_eq!(page.output, format!("a Liquid syntax error (b line 2): {message} c"));
}

#[test]
fn hosts_evaluate_expressions_and_apply_filters() {
    let language = shop();
    let globals = data(r#"{"closest": {"price": 1250}}"#);
    let runtime = Runtime::new(globals);
    let mut cx = Context::new(&runtime);
    let filtered = language.filtered("closest.price | money").unwrap();
    assert_eq!(filtered.evaluate(&mut cx).unwrap().to_text(), "12.50");
    let args = Args::new(Vec::new(), vec![("currency".into(), "€".into())]);
    let money = language.filter("money").unwrap();
    assert_eq!(money.apply(&Value::Int(5), &args, &mut cx).unwrap().to_text(), "0.05€");
}

#[test]
fn failures_end_a_page_where_the_host_wants_it() {
    let template = Template::parse_in(&shop(), "page", "a\n{{ 1 | divided_by: 0 }}").unwrap();
    let mut runtime = Runtime { on_error: OnError::Fail, ..Runtime::default() };
    let error = template.render(&runtime).unwrap_err();
    assert_eq!((&*error.template, error.line), ("page", 2));
    runtime.strict_filters = true;
    let template = Template::parse("{{ 1 | nonsense }}").unwrap();
    assert_eq!(template.render(&runtime).unwrap_err().message, "undefined filter nonsense");
}

#[test]
fn templates_are_shared_between_threads() {
    let template = Arc::new(Template::parse("{% for i in (1..n) %}{{ i }}{% endfor %}").unwrap());
    let threads = [2_i64, 3, 4].map(|n| {
        let template = Arc::clone(&template);
        std::thread::spawn(move || {
            let globals: Map = [("n", Value::Int(n))].into_iter().collect();
            template.render(&Runtime::new(Arc::new(globals))).unwrap().output
        })
    });
    let outputs = threads.map(|thread| thread.join().unwrap());
    assert_eq!(outputs, ["12", "123", "1234"]);
}

#[test]
fn usage_says_what_a_page_took() {
    let template = Template::parse("{% for i in (1..100) %}{{ i | plus: 1 }}{% endfor %}").unwrap();
    let mut runtime = Runtime::default();
    let usage = template.render(&runtime).unwrap().usage;
    assert!((300..400).contains(&usage.steps), "{usage:?}");
    runtime.limits = Limits { steps: usage.steps, ..Limits::default() };
    assert!(template.render(&runtime).is_ok());
    runtime.limits.steps -= 1;
    assert!(template.render(&runtime).is_err());
}
