//! Lines of an export as lines of an import: the members that only responses have are left out.

use serde_json::{Map, Value};

use super::ImportKind;

/// Members of a product's response that its request has not.
const OF_PRODUCT: [&str; 9] = [
    "id",
    "store_id",
    "variants_count",
    "price_range",
    "rating",
    "published_at",
    "created_at",
    "updated_at",
    "version",
];
/// Members of a variant's response that its request has not.
const OF_VARIANT: [&str; 7] =
    ["id", "product_id", "title", "position", "created_at", "updated_at", "version"];
/// Members of a customer's response that its request has not.
const OF_CUSTOMER: [&str; 7] =
    ["id", "phone_e164", "orders_count", "total_spent", "created_at", "updated_at", "version"];

/// The body of the request that creates what a line describes, and whether the line is a response, which has
/// an `id` and a `version`. Other lines are requests already.
pub(super) fn request_of(kind: ImportKind, line: Value) -> (Value, bool) {
    match line {
        Value::Object(mut body) if body.contains_key("id") && body.contains_key("version") => {
            match kind {
                ImportKind::Products => product(&mut body),
                ImportKind::Customers => customer(&mut body),
                ImportKind::Inventory => {}
            }
            (Value::Object(body), true)
        }
        line => (line, false),
    }
}

/// Takes the category out of an exported product: the names of those above it and its own, which say more to
/// another store than its id.
pub(super) fn category_of(body: &mut Value) -> Vec<String> {
    let Some(body) = body.as_object_mut() else { return Vec::new() };
    let Some(Value::Array(names)) = body.remove("category") else { return Vec::new() };
    let names: Vec<String> = names.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    if !names.is_empty() {
        body.remove("category_id");
    }
    names
}

fn product(body: &mut Map<String, Value>) {
    body.retain(|name, _| !OF_PRODUCT.contains(&name.as_str()));
    for variant in elements(body, "variants") {
        variant.retain(|name, value| !OF_VARIANT.contains(&name.as_str()) && !value.is_null());
        if let Some(Value::Object(inventory)) = variant.get_mut("inventory") {
            inventory.retain(|_, value| !value.is_null());
        }
    }
    for image in elements(body, "images") {
        // Media are of the store that exported them; their address is everybody's.
        image.remove("media_id");
    }
    if let Some(Value::Object(seo)) = body.get_mut("seo") {
        seo.retain(|_, value| !value.is_null());
    }
    body.retain(|_, value| !value.is_null());
}

fn customer(body: &mut Map<String, Value>) {
    let consent = body.remove("marketing_consent").unwrap_or_default();
    for (member, of_request) in [("source", "marketing_source"), ("at", "marketing_consent_at")] {
        body.extend(consent.get(member).map(|said| (of_request.to_owned(), said.clone())));
    }
    // What identifies a customer without an address is the same number in a store of another country.
    if body.get("email").is_none_or(Value::is_null)
        && let Some(phone) = body.get("phone_e164").filter(|phone| !phone.is_null()).cloned()
    {
        body.insert("phone".to_owned(), phone);
    }
    body.retain(|name, value| !OF_CUSTOMER.contains(&name.as_str()) && !value.is_null());
    if let Some(Value::Object(address)) = body.get_mut("address") {
        without_derived(address);
    }
    elements(body, "addresses").for_each(without_derived);
}

/// Leaves out what an address in a response has besides what was given.
fn without_derived(address: &mut Map<String, Value>) {
    address.retain(|name, value| name != "phone_e164" && !value.is_null());
}

/// The objects in an array of the body.
fn elements<'a>(
    body: &'a mut Map<String, Value>,
    name: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let all = body.get_mut(name).and_then(Value::as_array_mut);
    all.into_iter().flatten().filter_map(Value::as_object_mut)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_response_becomes_the_request_that_creates_it() {
        let line = json!({
            "id": "prd_1", "version": 3, "title": "Mug", "vendor": null, "rating": {"count": 0},
            "seo": {"title": null, "description": "x"},
            "images": [{"media_id": "med_1", "url": "https://a.example/1.png", "alt": ""}],
            "variants": [{
                "id": "var_1", "title": "Default", "sku": null, "price": {"amount": 1},
                "inventory": {"tracked": true, "policy": null},
            }],
        });
        let expected = json!({
            "title": "Mug", "seo": {"description": "x"},
            "images": [{"url": "https://a.example/1.png", "alt": ""}],
            "variants": [{"price": {"amount": 1}, "inventory": {"tracked": true}}],
        });
        assert_eq!(request_of(ImportKind::Products, line), (expected, true));
        let line = json!({
            "id": "cus_1", "version": 1, "email": "a@example.com", "phone_e164": null,
            "marketing_consent": {"at": "2026-01-02T03:04:05Z", "source": "fair"},
            "address": {"line1": "1", "line2": null, "phone_e164": "+911"},
            "addresses": [{"line1": "2", "phone_e164": null}],
        });
        let expected = json!({
            "email": "a@example.com",
            "marketing_source": "fair", "marketing_consent_at": "2026-01-02T03:04:05Z",
            "address": {"line1": "1"}, "addresses": [{"line1": "2"}],
        });
        assert_eq!(request_of(ImportKind::Customers, line), (expected, true));
        let request = json!({"title": "Mug", "rating": 5});
        assert_eq!(request_of(ImportKind::Products, request.clone()), (request, false));
    }
}
