//! The families that requests are counted by.

/// The family that redeems authorization codes: those that come again are counted with its requests.
pub const CODE_FAMILY: &str = "app-store";

/// The family that has what is below `/v1` and no other's.
const REST: &str = "products";

/// The families, by what their paths begin with below `/v1`; what is not below it is the first's.
const FAMILIES: &[(&str, &[&str])] = &[
    ("health", &["openapi.json"]),
    ("auth", &["auth"]),
    ("storefront", &["storefront"]),
    ("stores", &["stores"]),
    (REST, &[]),
    ("orders", &["orders"]),
    ("payments", &["payments"]),
    ("themes", &["themes"]),
    ("app-store", &["app-store"]),
    ("operations", &["operations"]),
];

/// The names of the families, in document order.
pub fn families() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|(name, _)| *name)
}

/// The family that a request of this path is led to.
pub fn family_of(path: &str) -> &'static str {
    let below = path.strip_prefix("/v1/").filter(|below| !below.is_empty());
    let Some(first) = below.and_then(|below| below.split('/').next()) else { return "health" };
    let takes =
        |(name, prefixes): &(&'static str, &[&str])| prefixes.contains(&first).then_some(*name);
    FAMILIES.iter().find_map(takes).unwrap_or(REST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_its_familys() {
        for (path, family) in [
            ("/v1/orders", "orders"),
            ("/v1/orders/ord_1/refund", "orders"),
            ("/v1/inventory/levels", "products"),
            ("/health", "health"),
            ("/v1/nowhere", "products"),
            ("/v1/openapi.json", "health"),
            ("/v1/", "health"),
            ("/v1/app-store/oauth/token", "app-store"),
        ] {
            assert_eq!(family_of(path), family, "{path}");
        }
        assert_eq!(families().count(), 10);
    }
}
