//! The families that requests are counted by.

/// The family that redeems authorization codes. Replays of codes are counted with its requests.
pub const CODE_FAMILY: &str = "app-store";

/// The family of the paths below `/v1` that belong to no other family.
const REST: &str = "products";

/// The families, by the first segments of their paths below `/v1`. Other paths belong to the first family.
const FAMILIES: &[(&str, &[&str])] = &[
    ("health", &["openapi.json", "openapi.yaml"]),
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

/// The path of the metadata of the OAuth server (RFC 8414 §3), which is not below `/v1`.
const OAUTH_METADATA: &str = "/.well-known/oauth-authorization-server";

/// The names of the families, in document order.
pub fn families() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().map(|(name, _)| *name)
}

/// The family that serves a request of this path.
pub fn family_of(path: &str) -> &'static str {
    if path.starts_with(OAUTH_METADATA) {
        return CODE_FAMILY;
    }
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
            ("/v1/openapi.yaml", "health"),
            ("/v1/", "health"),
            ("/v1/app-store/oauth/token", "app-store"),
            ("/.well-known/oauth-authorization-server", "app-store"),
        ] {
            assert_eq!(family_of(path), family, "{path}");
        }
        assert_eq!(families().count(), 10);
    }
}
