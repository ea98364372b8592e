//! `{% form 'product', product %}`: forms with the addresses that they post to.

use std::fmt::Write as _;
use std::sync::Arc;

use liquid::{
    Attributes, Block, Context, Error, Expression, Flow, Head, Items, Object, Parser, Render,
    Result, Shape, Value,
};

use super::arguments::{Parsed, arguments, shop, values};
use crate::data::Posted;
use crate::shop::Shop;

struct Form {
    kind: Expression,
    subject: Option<Expression>,
    named: Attributes,
    body: Block,
}

pub(super) fn form<'s>(head: Head<'s>, parser: &mut Parser<'_, 's>) -> Parsed {
    let mut markup = parser.arguments(&head);
    if markup.at_end() {
        return Err(markup.error("a form must have a type"));
    }
    let kind = markup.expression()?;
    let (positional, named) = arguments(&mut markup)?;
    let (body, _) = parser.block(&head, &[])?;
    Ok(Box::new(Form { kind, subject: positional.into_iter().next(), named, body }))
}

/// What a type of form is: the path that it posts to, its id and class, and whether it may have files.
struct Target {
    path: String,
    id: String,
    class: &'static str,
    is_multipart: bool,
}

fn target(kind: &str, subject: &Value) -> Option<Target> {
    let of = |path: &str, id: &str, class: &'static str| {
        Some(Target { path: path.to_owned(), id: id.to_owned(), class, is_multipart: false })
    };
    match kind {
        "product" => {
            Some(Target { is_multipart: true, ..of("/cart/add", "", "shopify-product-form")? })
        }
        "cart" => Some(Target { is_multipart: true, ..of("/cart", "", "shopify-cart-form")? }),
        "contact" => of("/contact#contact_form", "contact_form", "contact-form"),
        "customer" => of("/contact#newsletter", "contact_form", "contact-form"),
        "customer_login" | "guest_login" => of("/account/login", "customer_login", ""),
        "create_customer" => of("/account", "create_customer", ""),
        "recover_customer_password" => of("/account/recover", "", ""),
        "reset_customer_password" => of("/account/reset", "", ""),
        "activate_customer_password" => of("/account/activate", "", ""),
        "customer_address" => {
            let id = subject.get("id").to_text().into_owned();
            if id.is_empty() {
                of("/account/addresses", "address_form_new", "")
            } else {
                of(&format!("/account/addresses/{id}"), &format!("address_form_{id}"), "")
            }
        }
        "localization" => Some(Target {
            is_multipart: true,
            ..of("/localization", "localization_form", "shopify-localization-form")?
        }),
        "currency" => of("/localization", "currency_form", "shopify-currency-form"),
        "storefront_password" => of("/password", "login_form", "storefront-password-form"),
        "new_comment" => of("/blogs/comments#comment_form", "comment_form", "comment-form"),
        "search" => of("/search", "", ""),
        "gift_card_recipient" => of("/gift_cards", "", ""),
        _ => None,
    }
}

impl Render for Form {
    fn render(&self, cx: &mut Context<'_>, out: &mut String) -> Result<Flow> {
        let Some(shop) = shop(cx) else { return Ok(Flow::Next) };
        let kind = self.kind.evaluate(cx).to_text().into_owned();
        let subject = self.subject.as_ref().map(|subject| subject.evaluate(cx));
        let subject = subject.unwrap_or_default();
        let Some(target) = target(&kind, &subject) else {
            return Err(Error::argument(format!("there is no form of the type `{kind}`")));
        };
        let given = values(&self.named, cx);
        open(&shop, (&kind, &target), &given, out);
        let form = object(&shop, &kind, &subject);
        let flow = cx.scoped([(Arc::from("form"), form)], |cx| self.body.render(cx, out))?;
        if kind == "product" {
            let id = liquid::escape(subject.get("id").to_text()).into_owned();
            let section = cx.get("section").get("id");
            let section = liquid::escape(section.to_text()).into_owned();
            let _ = write!(
                out,
                "<input type=\"hidden\" name=\"product-id\" value=\"{id}\">\
                 <input type=\"hidden\" name=\"section-id\" value=\"{section}\">"
            );
        }
        out.push_str("</form>");
        cx.check_output(out)?;
        Ok(flow)
    }
}

/// Writes the opening tag and the hidden fields.
fn open(
    shop: &Arc<Shop>,
    (kind, target): (&str, &Target),
    given: &[(Arc<str>, Value)],
    out: &mut String,
) {
    let of = |name: &str| given.iter().find(|(other, _)| &**other == name).map(|(_, value)| value);
    let method = if kind == "search" { "get" } else { "post" };
    let action = shop.to(&target.path);
    let _ = write!(out, "<form method=\"{method}\" action=\"{action}\" accept-charset=\"UTF-8\"");
    let class = match (target.class, of("class")) {
        (own, None) => own.to_owned(),
        (_, Some(given)) => given.to_text().into_owned(),
    };
    let id = of("id").map_or_else(|| target.id.clone(), |id| id.to_text().into_owned());
    if !id.is_empty() {
        let _ = write!(out, " id=\"{}\"", liquid::escape(id.into()));
    }
    if !class.is_empty() {
        let _ = write!(out, " class=\"{}\"", liquid::escape(class.into()));
    }
    if target.is_multipart {
        out.push_str(" enctype=\"multipart/form-data\"");
    }
    let own = ["id", "class", "return_to", "method", "action", "accept-charset", "enctype"];
    for (name, value) in given.iter().filter(|(name, _)| !own.contains(&&**name)) {
        let text = value.to_text();
        if matches!(value, Value::Bool(true)) || (text.is_empty() && &**name == "novalidate") {
            let _ = write!(out, " {name}");
        } else {
            let _ = write!(out, " {name}=\"{}\"", liquid::escape(text));
        }
    }
    let _ = write!(
        out,
        "><input type=\"hidden\" name=\"form_type\" value=\"{kind}\">\
         <input type=\"hidden\" name=\"utf8\" value=\"✓\">"
    );
    if kind == "localization" || target.path.starts_with("/account/addresses/") {
        out.push_str("<input type=\"hidden\" name=\"_method\" value=\"put\">");
    }
    let back = match (kind, of("return_to")) {
        (_, Some(to)) if to.to_text() == "back" => Some(shop.here()),
        (_, Some(to)) => Some(to.to_text().into_owned()),
        ("localization" | "currency", None) => Some(shop.here()),
        // Where the sign-in leads is in the address of its page.
        ("customer_login" | "create_customer", None) => {
            shop.data.parameter("return_to").map(str::to_owned)
        }
        _ => None,
    };
    if let Some(back) = back {
        let back = liquid::escape(back.into());
        let _ = write!(out, "<input type=\"hidden\" name=\"return_to\" value=\"{back}\">");
    }
}

/// The object `form`.
fn object(shop: &Arc<Shop>, kind: &str, subject: &Value) -> Value {
    let is_address = kind == "customer_address";
    let about = if is_address { subject.get("id").to_text().into_owned() } else { String::new() };
    let is_this = |posted: &&Posted| posted.form == kind && posted.subject == about;
    let posted = shop.data.form.as_ref().filter(is_this).cloned();
    let id = match about.as_str() {
        "" if is_address => "new".to_owned(),
        id => id.to_owned(),
    };
    let default = subject.get("is_default").is_truthy()
        || posted.iter().flat_map(|it| &it.values).any(|(name, _)| name == "default");
    Value::object(FormObject { posted, subject: subject.clone(), id, default })
}

struct FormObject {
    posted: Option<Posted>,
    subject: Value,
    id: String,
    /// Whether the address is the default.
    default: bool,
}

/// A value of a form, which themes write into an attribute as it is.
fn written(value: Value) -> Value {
    match value {
        Value::Str(text) => Value::html(liquid::escape((&*text).into())),
        other => other,
    }
}

impl Object for FormObject {
    fn get(&self, name: &str) -> Option<Value> {
        let posted = self.posted.as_ref();
        Some(match name {
            "id" => {
                if self.id.is_empty() {
                    Value::Nil
                } else {
                    self.id.as_str().into()
                }
            }
            "errors" => match posted.filter(|posted| !posted.errors.is_empty()) {
                Some(posted) => Value::object(Errors(posted.clone())),
                None => Value::Nil,
            },
            "posted_successfully?" => posted.is_some_and(|posted| posted.errors.is_empty()).into(),
            "password_needed?" | "password_needed" => true.into(),
            "set_as_default_checkbox" => {
                let id = liquid::escape(self.id.as_str().into());
                let checked = if self.default { " checked" } else { "" };
                Value::html(format!(
                    "<input type=\"checkbox\" id=\"address_default_address_{id}\" name=\"address[default]\" \
                     value=\"1\"{checked}>"
                ))
            }
            _ => {
                let sent =
                    posted.and_then(|posted| posted.values.iter().find(|(other, _)| other == name));
                match sent {
                    Some((_, value)) => written(value.as_str().into()),
                    None => written(self.subject.get(name)),
                }
            }
        })
    }
}

/// The errors of a form: its fields as a list, and their messages.
struct Errors(Posted);

impl Errors {
    /// What people call a field.
    fn name(&self, field: &str) -> String {
        let known = self.0.names.iter().find(|(known, _)| known == field);
        known.map_or_else(|| field.replace('_', " "), |(_, name)| name.clone())
    }
}

impl Object for Errors {
    fn get(&self, name: &str) -> Option<Value> {
        let errors = self.0.errors.iter();
        Some(match name {
            "messages" => Value::map(
                errors.map(|(field, message)| (field.as_str(), Value::from(message.as_str()))),
            ),
            "translated_fields" => {
                Value::map(errors.map(|(field, _)| (field.as_str(), Value::from(self.name(field)))))
            }
            _ => return None,
        })
    }

    fn shape(&self) -> Shape {
        Shape::List
    }

    fn items(&self) -> Option<Items<'_>> {
        Some(Box::new(self.0.errors.iter().map(|(field, _)| Value::from(field.as_str()))))
    }
}
