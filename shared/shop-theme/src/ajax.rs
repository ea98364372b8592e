//! Carts and products as the JSON that themes' scripts read (Shopify's Ajax API).

use serde_json::{Map, Value as Json, json};

use crate::data::{Data, aspect_ratio, handle, image_id, list, text};
use crate::discounts::{Discounts, allocation};
use crate::money::Money;

/// The cart of `/cart.js`, from the storefront API's cart; null is an empty one.
pub fn cart_json(cart: &Json, data: &Data) -> Json {
    let money = Money::of(data);
    let discounts = Discounts::of(cart, money);
    // A line of what is not sold any more has no name and no price: the next change of the cart removes it.
    let is_sold = |line: &&Json| line.get("merchandise").is_some_and(Json::is_object);
    let lines: Vec<&Json> = list(cart, "/lines").iter().filter(is_sold).collect();
    let goods: Vec<&Json> = lines.iter().map(|line| goods_of(line)).collect();
    let items: Vec<Json> = lines.iter().map(|line| item(line, discounts, data)).collect();
    let sum = |name: &str| -> i64 {
        let values = items.iter().filter_map(|item| item.get(name)?.as_i64());
        values.fold(0, i64::saturating_add)
    };
    let original = sum("original_line_price");
    let subtotal = sum("final_line_price");
    let applications = discounts.on_whole(&goods);
    let on_whole =
        applications.iter().filter_map(|one| one.get("total_allocated_amount")?.as_i64());
    // Shipping and taxes are added at the checkout.
    let total = subtotal.saturating_sub(on_whole.fold(0, i64::saturating_add));
    let requires_shipping =
        items.iter().any(|item| item.get("requires_shipping") == Some(&Json::Bool(true)));
    let attributes = cart.get("metadata").cloned().unwrap_or_else(|| json!({}));
    let codes = list(cart, "/discount_codes").iter().enumerate();
    let codes = codes.map(|(place, code)| {
        let pointer = format!("/discount_codes/{place}");
        let is_wrong = |fault: &Json| text(fault, "/pointer") == pointer;
        json!({"code": code, "applicable": !list(cart, "/faults").iter().any(is_wrong)})
    });
    let codes: Vec<Json> = codes.collect();
    json!({
        "token": text(cart, "/id"),
        "note": text(cart, "/note"),
        "attributes": attributes,
        "original_total_price": original,
        "total_price": total,
        "total_discount": original.saturating_sub(total),
        "total_weight": sum("line_weight"),
        "item_count": sum("quantity"),
        "items_subtotal_price": subtotal,
        "requires_shipping": requires_shipping,
        "currency": data.currency(),
        "items_changelog": {"added": []},
        "cart_level_discount_applications": applications,
        "discount_codes": codes,
        "items": items,
    })
}

/// What is sold by a line of a cart, with its amounts. An order's item has that itself.
pub(crate) fn goods_of(line: &Json) -> &Json {
    line.get("merchandise").filter(|found| found.is_object()).unwrap_or(line)
}

/// A line of a cart, or an item of an order, as a line item.
pub(crate) fn item(line: &Json, discounts: Discounts<'_>, data: &Data) -> Json {
    let money = Money::of(data);
    let merchandise = goods_of(line);
    let id = |name: &str| line.get(name).or_else(|| merchandise.get(name)).cloned();
    let variant_id = id("variant_id").unwrap_or_default();
    let product_id = id("product_id").unwrap_or_default();
    let product = data.products.iter().find(|product| product.get("id") == Some(&product_id));
    let quantity = line.get("quantity").and_then(Json::as_i64).unwrap_or_default();
    let amount = |name: &str| merchandise.get(name).map_or(0, |amount| money.cents(amount));
    let price = amount("price");
    let original = price.saturating_mul(quantity);
    let own = discounts.on_line(merchandise);
    let discount = own.iter().map(|(_, amount)| *amount).fold(0, i64::saturating_add);
    let short = |(discount, amount): &(&Json, i64)| json!({"title": discount.get("title"), "amount": amount});
    let last = original.saturating_sub(discount);
    let last_price = last.checked_div(quantity).unwrap_or(price);
    let product_title = text(merchandise, "/title");
    let variant_title = text(merchandise, "/variant_title");
    let has_one = matches!(variant_title, "" | "Default" | "Default Title");
    let title = if has_one {
        product_title.to_owned()
    } else {
        format!("{product_title} - {variant_title}")
    };
    let found = product.map(handle).unwrap_or_default();
    let place = if found.is_empty() { product_id.as_str().unwrap_or_default() } else { found };
    let path = format!(
        "{}/products/{place}?variant={}",
        data.root,
        variant_id.as_str().unwrap_or_default()
    );
    let image = merchandise.get("image_url").cloned().unwrap_or_default();
    let images = product.map(|product| list(product, "/images")).unwrap_or_default();
    let measured = images.iter().find(|listed| listed.get("url") == Some(&image));
    let side = |name: &str| measured.and_then(|listed| listed.get(name));
    let featured = json!({
        "url": image, "alt": product_title, "width": side("width"), "height": side("height"),
        "aspect_ratio": measured.map_or(1.0, aspect_ratio),
    });
    json!({
        "id": variant_id,
        "key": line.get("id"),
        "variant_id": variant_id,
        "product_id": product_id,
        "quantity": quantity,
        "title": title,
        "product_title": product_title,
        "variant_title": if has_one { Json::Null } else { variant_title.into() },
        "variant_options": options(product, &variant_id, variant_title),
        "options_with_values": named_options(product, &variant_id, variant_title),
        "price": price,
        "original_price": price,
        "final_price": last_price,
        "discounted_price": last_price,
        "line_price": original,
        "original_line_price": original,
        "final_line_price": last,
        "total_discount": discount,
        "line_level_total_discount": discount,
        "discounts": own.iter().map(short).collect::<Vec<_>>(),
        "line_level_discount_allocations": own.into_iter().map(allocation).collect::<Vec<_>>(),
        "sku": merchandise.get("sku"),
        "grams": 0,
        "line_weight": 0,
        "vendor": product.and_then(|product| product.get("vendor")),
        "product_type": product.and_then(|product| product.get("product_type")),
        "taxable": true,
        "gift_card": false,
        "requires_shipping": merchandise.get("requires_shipping").unwrap_or(&Json::Bool(true)),
        "properties": line.get("properties").cloned().unwrap_or_else(|| json!({})),
        "handle": place,
        "url": path,
        "image": image,
        "featured_image": if image.is_string() { featured } else { Json::Null },
        "product_description": product.map(|product| text(product, "/description")),
        "product_has_only_default_variant": has_one,
        "available": merchandise.get("available").unwrap_or(&Json::Bool(true)),
    })
}

/// The values of a variant's options.
fn options(product: Option<&Json>, variant_id: &Json, title: &str) -> Json {
    let variants = product.map(|product| list(product, "/variants")).unwrap_or_default();
    let variant = variants.iter().find(|variant| variant.get("id") == Some(variant_id));
    match variant.map(|variant| list(variant, "/options")) {
        Some(options) if !options.is_empty() => options.to_vec().into(),
        _ if matches!(title, "" | "Default") => json!(["Default Title"]),
        _ => title.split(" / ").collect::<Vec<_>>().into(),
    }
}

/// The names of a product's options: a list has the names alone.
pub(crate) fn option_names(product: &Json) -> Vec<&str> {
    match list(product, "/options") {
        [] => list(product, "/option_names").iter().filter_map(Json::as_str).collect(),
        options => options.iter().map(|option| text(option, "/name")).collect(),
    }
}

/// The options of a variant with their names.
fn named_options(product: Option<&Json>, variant_id: &Json, title: &str) -> Json {
    let names = product.map(option_names).unwrap_or_default();
    let values = options(product, variant_id, title);
    let pairs = values.as_array().into_iter().flatten().enumerate().map(|(place, value)| {
        let name = names.get(place).copied().unwrap_or("Title");
        json!({"name": name, "value": value})
    });
    pairs.collect::<Vec<_>>().into()
}

/// The product of `/products/{handle}.js`, from the storefront API's product.
pub fn product_json(product: &Json, data: &Data) -> Json {
    let money = Money::of(data);
    let variants: Vec<Json> =
        variants(product).iter().map(|variant| variant_json(product, variant, money)).collect();
    let prices = |name: &str| {
        let prices = variants.iter().filter_map(|variant| variant.get(name)?.as_i64());
        prices.collect::<Vec<_>>()
    };
    let amount = |name: &str| product.get(name).filter(|found| found.is_object());
    let cents = |name: &str| amount(name).map(|amount| money.cents(amount));
    let known = prices("price");
    let least = cents("price").or_else(|| known.iter().min().copied()).unwrap_or_default();
    let most = cents("price_max").or_else(|| known.iter().max().copied()).unwrap_or(least);
    let before = prices("compare_at_price");
    let before_least = before.iter().min().copied().or_else(|| cents("compare_at"));
    let before_most = before.iter().max().copied().or_else(|| cents("compare_at"));
    let images: Vec<&Json> =
        list(product, "/images").iter().filter_map(|image| image.get("url")).collect();
    let media = list(product, "/images").iter().enumerate().map(|(place, image)| {
        json!({
            "alt": image.get("alt"), "id": image_id(product, place, image), "media_type": "image",
            "position": place.saturating_add(1), "src": image.get("url"),
            "width": image.get("width"), "height": image.get("height"),
            "aspect_ratio": aspect_ratio(image),
            "preview_image": {
                "src": image.get("url"), "width": image.get("width"),
                "height": image.get("height"), "aspect_ratio": aspect_ratio(image),
            },
        })
    });
    let options = options_of(product);
    let options = options.iter().enumerate().map(|(place, option)| {
        json!({
            "name": option.get("name"), "position": place.saturating_add(1),
            "values": option.get("values"),
        })
    });
    json!({
        "id": product.get("id"),
        "title": product.get("title"),
        "handle": product.get("handle"),
        "description": product.get("description").cloned().unwrap_or_else(|| "".into()),
        "published_at": product.get("published_at"),
        "created_at": product.get("created_at"),
        "vendor": product.get("vendor"),
        "type": text(product, "/product_type"),
        "tags": list(product, "/tags"),
        "price": least,
        "price_min": least,
        "price_max": most,
        "available": product.get("in_stock"),
        "price_varies": least != most,
        "compare_at_price": before_least,
        "compare_at_price_min": before_least.unwrap_or_default(),
        "compare_at_price_max": before_most.unwrap_or_default(),
        "compare_at_price_varies": before_least != before_most,
        "variants": variants,
        "images": images,
        "featured_image": images.first(),
        "options": options.collect::<Vec<_>>(),
        "url": format!("{}/products/{}", data.root, handle(product)),
        "media": media.collect::<Vec<_>>(),
        "requires_selling_plan": false,
        "selling_plan_groups": [],
    })
}

/// The options of a product; one that has none gets the one of a product with a single variant.
pub(crate) fn options_of(product: &Json) -> Vec<Json> {
    match list(product, "/options") {
        [] => vec![json!({"name": "Title", "values": ["Default Title"]})],
        options => options.to_vec(),
    }
}

/// The variants of a product. In a list a product has only their ids: they have its own price then.
pub(crate) fn variants(product: &Json) -> Vec<Json> {
    list(product, "/variants").iter().map(|variant| complete(product, variant)).collect()
}

/// A variant with what it has of its product.
pub(crate) fn complete(product: &Json, variant: &Json) -> Json {
    if variant.get("price").is_some() {
        return variant.clone();
    }
    let mut whole = Map::new();
    for name in ["price", "compare_at", "in_stock"] {
        whole.insert(name.to_owned(), product.get(name).cloned().unwrap_or_default());
    }
    whole.extend(variant.as_object().cloned().unwrap_or_default());
    whole.into()
}

/// A variant within its product's JSON.
pub(crate) fn variant_json(product: &Json, variant: &Json, money: Money) -> Json {
    let mut values: Vec<Json> = list(variant, "/options").to_vec();
    if values.is_empty() {
        values.push("Default Title".into());
    }
    let title: Vec<&str> = values.iter().filter_map(Json::as_str).collect();
    let title = title.join(" / ");
    let has_one = list(product, "/options").is_empty();
    let product_title = text(product, "/title");
    let name =
        if has_one { product_title.to_owned() } else { format!("{product_title} - {title}") };
    let amount = |name: &str| variant.get(name).filter(|amount| amount.is_object());
    let option = |place: usize| values.get(place).cloned().unwrap_or_default();
    let (image, media) = image_of(product, variant);
    json!({
        "id": variant.get("id"),
        "title": title,
        "option1": option(0),
        "option2": option(1),
        "option3": option(2),
        "sku": variant.get("sku"),
        "requires_shipping": variant.get("requires_shipping").unwrap_or(&Json::Bool(true)),
        "taxable": true,
        "featured_image": image,
        "featured_media": media,
        "available": variant.get("in_stock").unwrap_or(&Json::Bool(true)),
        "name": name,
        "public_title": if has_one { Json::Null } else { title.clone().into() },
        "options": values,
        "price": amount("price").map_or(0, |amount| money.cents(amount)),
        "compare_at_price": amount("compare_at").map(|amount| money.cents(amount)),
        "weight": variant.get("weight_grams").and_then(Json::as_i64).unwrap_or_default(),
        "inventory_management": null,
        "barcode": variant.get("barcode"),
        "quantity_rule": {"min": 1, "max": null, "increment": 1},
        "quantity_price_breaks": [],
        "requires_selling_plan": false,
        "selling_plan_allocations": [],
    })
}

/// The image of a variant, as an image and as a medium: themes find the medium of the product by its id.
fn image_of(product: &Json, variant: &Json) -> (Json, Json) {
    let Some(url) = variant.get("image_url").filter(|url| url.is_string()) else {
        return (Json::Null, Json::Null);
    };
    let all = list(product, "/images");
    let place = all.iter().position(|image| image.get("url") == Some(url));
    let listed = place.and_then(|place| all.get(place));
    let id = place.zip(listed).map(|(place, image)| image_id(product, place, image));
    let position = place.map(|place| place.saturating_add(1));
    // Themes' scripts add `&width=100`: at Shopify every address of an image has a query.
    let url = match url.as_str() {
        Some(own) if own.starts_with("/media/") && !own.contains('?') => {
            format!("{own}?v=1").into()
        }
        _ => url.clone(),
    };
    let alt = listed.and_then(|image| image.get("alt")).filter(|alt| alt.is_string());
    let alt = alt.cloned().unwrap_or_else(|| text(product, "/title").into());
    let image = json!({
        "id": id, "product_id": product.get("id"), "position": position, "src": url, "alt": alt,
        "variant_ids": [variant.get("id")],
    });
    let media = json!({
        "id": id, "position": position, "alt": alt,
        "preview_image": {"src": url, "aspect_ratio": listed.map_or(1.0, aspect_ratio)},
    });
    (image, media)
}
