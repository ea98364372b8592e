//! Pages that a theme leaves to the shop.

use std::sync::Arc;

use liquid::{Language, Template};

/// The template of a page that a theme leaves to the shop: those of accounts, and simple ones.
pub(crate) fn fallback(language: &Language, template: &str) -> Option<Arc<Template>> {
    let (name, text) = FALLBACKS.iter().find(|(name, _)| *name == template)?;
    Template::parse_in(language, name, text).ok().map(Arc::new)
}

const FALLBACKS: &[(&str, &str)] = &[
    ("customers/account", include_str!("fallback/account.liquid")),
    ("customers/activate_account", include_str!("fallback/activate_account.liquid")),
    ("customers/addresses", include_str!("fallback/addresses.liquid")),
    ("customers/login", include_str!("fallback/login.liquid")),
    ("customers/order", include_str!("fallback/order.liquid")),
    ("customers/register", include_str!("fallback/register.liquid")),
    ("customers/reset_password", include_str!("fallback/reset_password.liquid")),
    ("cart", include_str!("fallback/cart.liquid")),
    ("collection", include_str!("fallback/collection.liquid")),
    ("list-collections", include_str!("fallback/list-collections.liquid")),
    ("page", include_str!("fallback/page.liquid")),
    ("password", include_str!("fallback/password.liquid")),
    ("search", include_str!("fallback/search.liquid")),
    ("404", include_str!("fallback/404.liquid")),
];
