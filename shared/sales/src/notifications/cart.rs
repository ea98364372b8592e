//! The mail that reminds a customer of a cart that they left.

use catalogue::product::Sellable;
use core_types::fields::Email;
use core_types::mail::{MailContent, on_one_line};
use identity::store::Store;
use primitives::clock::DAY;
use primitives::problem::Problem;

use super::order::{of_store, properties};
use super::style::Style;
use super::template::{TemplateFields, TemplateValues};
use super::texts::NotificationTexts;
use crate::cart::{Cart, CartItem};

/// A mail about a cart, in the store's text or the built-in one. Lines that the store does not sell any more are
/// left out.
///
/// # Errors
/// `internal`.
pub fn cart_mail(
    to: &Email,
    (store, texts): (&Store, &NotificationTexts),
    (cart, goods): (&Cart, &[Sellable]),
    link: &str,
) -> Result<MailContent, Problem> {
    let rendered = texts.render(cart.buyer.locale.as_ref(), &store.locale, |language| {
        values((store, Style::of(language)), cart, goods, link)
    })?;
    let mail = MailContent::new(to, "", String::new(), DAY.saturating_mul(3));
    Ok(rendered.to(mail.of_business(&store.id)))
}

fn values(
    (store, style): (&Store, Style<'_>),
    cart: &Cart,
    goods: &[Sellable],
    link: &str,
) -> TemplateValues {
    let sold = |line: &&CartItem| goods.iter().find(|one| one.variant_id == line.variant_id);
    let lines = cart.lines.iter().filter_map(|line| Some((line, sold(&line)?)));
    let units: u32 = cart.lines.iter().map(|line| line.quantity).fold(0, u32::saturating_add);
    let mut fields = of_store(store, style);
    fields.retain(|(name, _)| *name != "shop_tax_number");
    fields.push(("items", units.to_string()));
    fields.push(("link", link.to_owned()));
    TemplateValues { fields, lists: vec![("lines", lines.map(of_line).collect())] }
}

fn of_line((line, sellable): (&CartItem, &Sellable)) -> TemplateFields {
    let variant = Some(&sellable.variant_title).filter(|title| *title != "Default");
    let known = [
        ("quantity", Some(line.quantity.to_string())),
        ("title", Some(on_one_line(&sellable.product_title))),
        ("variant", variant.map(|title| on_one_line(title))),
        ("sku", sellable.sku.as_deref().map(on_one_line)),
        ("properties", properties(&line.properties)),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
