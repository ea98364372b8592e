//! The answers of the Ajax API.

use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};
use shop_theme::Data;

use crate::cart::Cart;
use crate::document;
use crate::fault::Fault;
use crate::form::Fields;
use crate::pages;
use crate::visit::{CART, Visit};
use crate::words::Words;

/// An answer with a cart, and the sections that a theme renders anew.
pub(super) struct Reply<'a> {
    visit: &'a Visit,
    sections: Vec<String>,
    at: String,
    rejected_codes: Vec<String>,
}

impl<'a> Reply<'a> {
    pub(super) fn of(visit: &'a Visit) -> Self {
        Self { visit, sections: Vec::new(), at: "/".to_owned(), rejected_codes: Vec::new() }
    }

    /// With the sections that the request names, as they are on the page at `sections_url`.
    pub(super) fn sections(mut self, fields: &Fields) -> Self {
        self.sections = fields.sections();
        if let Some(url) = fields.text("sections_url").filter(|url| url.starts_with('/')) {
            url.clone_into(&mut self.at);
        }
        self
    }

    /// With the discount codes that were sent and that the cart does not take.
    pub(super) fn rejected_codes(self, rejected_codes: Vec<String>) -> Self {
        Self { rejected_codes, ..self }
    }

    /// Answers with the cart.
    pub(super) async fn cart(self, cart: Option<&Cart>) -> Response {
        let data = pages::cart_data(self.visit, &self.at, cart).await;
        let mut body = pages::cart_json(&data);
        if let Some(codes) = body.get_mut("discount_codes").and_then(Value::as_array_mut) {
            let rejected = self.rejected_codes.iter();
            codes.extend(rejected.map(|code| json!({"code": code, "applicable": false})));
        }
        self.finish(body, data, cart).await
    }

    /// Answers with the lines of these variants.
    pub(super) async fn lines(self, cart: &Cart, ids: &[Value], is_several: bool) -> Response {
        let data = pages::cart_data(self.visit, &self.at, Some(cart)).await;
        let items = pages::cart_json(&data)
            .get("items")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let is_added = |item: &Value| ids.iter().any(|id| item.get("variant_id") == Some(id));
        let mut added: Vec<Value> = items.into_iter().filter(is_added).collect();
        let body =
            if is_several { json!({ "items": added }) } else { added.pop().unwrap_or_default() };
        self.finish(body, data, Some(cart)).await
    }

    async fn finish(self, mut body: Value, data: Data, cart: Option<&Cart>) -> Response {
        if !self.sections.is_empty()
            && let Some(members) = body.as_object_mut()
        {
            let sections = pages::sections(self.visit, &self.at, self.sections, data);
            let rendered = Box::pin(sections).await;
            members.insert("sections".to_owned(), rendered.map_or(Value::Null, Value::Object));
        }
        let response = document::json(StatusCode::OK, &body);
        match cart {
            Some(cart) => self.visit.with_cookie(response, CART, &cart.opened.written()),
            None => response,
        }
    }
}

/// A rejection, in the members that themes read.
pub(crate) fn error(fault: &Fault) -> Response {
    let is_of_cart =
        fault.status == StatusCode::CONFLICT || fault.status == StatusCode::BAD_REQUEST;
    let status = if is_of_cart { StatusCode::UNPROCESSABLE_ENTITY } else { fault.status };
    let fields: Map<String, Value> = fault
        .fields
        .iter()
        .map(|(pointer, detail)| (pointer.clone(), Value::from(detail.as_str())))
        .collect();
    let description = fault.sentences().join(" ");
    let mut response = document::json(
        status,
        &json!({
            "status": status.as_u16(), "description": description,
            // Themes show one or the other as it is.
            "message": description, "errors": description, "code": fault.code, "fields": fields,
        }),
    );
    if status == StatusCode::UNAUTHORIZED {
        let over = HeaderValue::from_static(crate::fault::SIGNED_OUT);
        response.headers_mut().append(header::SET_COOKIE, over);
    }
    fault.with_retry(response)
}

/// A request that names no variant.
pub(super) fn no_variant(words: &Words) -> Fault {
    Fault::of(StatusCode::UNPROCESSABLE_ENTITY, "required", words.errors.no_variant)
}

/// A rejection of a variant that there is not: it is in no cart yet.
pub(super) fn unknown(fault: Fault, words: &Words) -> Fault {
    let is_of_variant = |(pointer, _): &(String, String)| pointer.ends_with("/variant_id");
    if fault.fields.is_empty() || !fault.fields.iter().all(is_of_variant) {
        return fault;
    }
    Fault::of(StatusCode::UNPROCESSABLE_ENTITY, "unknown_variant", words.not_there)
}

/// A request about a product that there is not.
pub(super) fn no_product(words: &Words) -> Fault {
    Fault::of(StatusCode::NOT_FOUND, "not_found", words.not_there)
}

/// A request about a line that the cart has not.
pub(super) fn no_line(words: &Words) -> Fault {
    Fault::of(StatusCode::UNPROCESSABLE_ENTITY, "not_found", words.not_there)
}

/// A quantity as a form writes it.
///
/// # Errors
/// It is not a whole number.
pub(super) fn quantity(text: &str, words: &Words) -> Result<u64, Fault> {
    let detail = words.errors.no_number;
    let parsed = text.trim().parse();
    parsed.map_err(|_| Fault::of(StatusCode::UNPROCESSABLE_ENTITY, "invalid_type", detail))
}

/// A quantity of nothing to add.
pub(super) fn no_units(words: &Words) -> Fault {
    let detail = words.errors.no_units;
    Fault::of(StatusCode::UNPROCESSABLE_ENTITY, "out_of_range", detail)
}
