//! Files of another kind than the import's, which are recognized by their columns.

use super::ImportKind;

/// Columns that only files of one kind have, and what to do with such a file.
const KINDS: &[(Option<ImportKind>, &[&str], &str)] = &[
    (
        None,
        &["Financial Status", "Lineitem quantity"],
        "This is a file of orders, which cannot be imported.",
    ),
    (
        None,
        &["Gift Card ID", "Last Characters"],
        "This is a file of gift cards, which cannot be imported.",
    ),
    (
        Some(ImportKind::Customers),
        &["Email", "First Name", "Last Name"],
        "This is a file of customers: import it with the kind `customers`.",
    ),
    (
        Some(ImportKind::Products),
        &["Title", "Option1 Name", "Variant Price"],
        "This is a file of products: import it with the kind `products`.",
    ),
    (
        Some(ImportKind::Products),
        &["Title", "Option1 Name", "Price"],
        "This is a file of products: import it with the kind `products`.",
    ),
    (
        Some(ImportKind::Products),
        &["Type", "Name", "Regular price"],
        "This is a file of products: import it with the kind `products`.",
    ),
    // Behind those of products, which may have these columns besides their prices.
    (
        Some(ImportKind::Inventory),
        &["SKU", "COO", "HS Code"],
        "This is a file of stock: import it with the kind `inventory`.",
    ),
];

/// The kind of file that has these columns, unless it may be of the given kind.
pub(super) fn other_kind(kind: ImportKind, names: &[String]) -> Option<&'static str> {
    let has = |wanted: &&str| names.iter().any(|name| name.trim().eq_ignore_ascii_case(wanted));
    let found = KINDS.iter().find(|(_, columns, _)| columns.iter().all(&has))?;
    (found.0 != Some(kind)).then_some(found.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_another_kind_are_recognized() {
        let names = |header: &str| header.split(',').map(str::to_owned).collect::<Vec<_>>();
        let orders = names("Name,Email,Financial Status,Total,Lineitem quantity,Lineitem name");
        let stock =
            names("Handle,Title,Option1 Name,Option1 Value,SKU,HS Code,COO,Location,On hand");
        let customers = names("First Name,Last Name,Email,Company");
        for kind in [ImportKind::Products, ImportKind::Customers, ImportKind::Inventory] {
            assert!(other_kind(kind, &orders).is_some());
            assert_eq!(other_kind(kind, &stock).is_none(), kind == ImportKind::Inventory);
            assert_eq!(other_kind(kind, &customers).is_none(), kind == ImportKind::Customers);
            assert!(other_kind(kind, &names("Title,SKU,Email")).is_none());
            let priced = names("Title,Option1 Name,SKU,Price,HS Code,COO");
            assert_eq!(other_kind(kind, &priced).is_none(), kind == ImportKind::Products);
        }
    }
}
