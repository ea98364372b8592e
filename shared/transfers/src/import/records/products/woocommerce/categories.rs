//! Categories: a product has several there, each with those above it, and one here.

use super::super::super::cells::Reading;
use super::columns::{Column, list, slot};
use crate::import::rows::SheetRow;

/// The category of products that have none.
const NONE: &str = "uncategorized";

/// The names of the product's category and of those above it. Of several categories it is the deepest, or the
/// first one of these; that others are left out is a warning.
pub(super) fn category(reading: &mut Reading<'_>, row: &SheetRow) -> Vec<String> {
    let Some((cell, column)) = reading.cell(row, slot(Column::Categories)) else {
        return Vec::new();
    };
    let (chosen, others) = chosen(paths(cell));
    if !others.is_empty() {
        let named: Vec<String> = others.iter().map(|path| path.join(" > ")).collect();
        let detail = format!("A product has one category. Left out: {}.", named.join(", "));
        reading.warn(row.number, column, "too_many_categories", &detail);
    }
    if !chosen.is_empty() {
        reading.source("/category_id", row.number, column);
    }
    chosen
}

fn paths(cell: &str) -> Vec<Vec<String>> {
    let names = |path: String| -> Vec<String> {
        let names = path.split('>').map(str::trim).filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    };
    let paths = list(cell).into_iter().map(names);
    let is_one = |path: &Vec<String>| match path.as_slice() {
        [] => false,
        [only] => !only.eq_ignore_ascii_case(NONE),
        _ => true,
    };
    paths.filter(is_one).collect()
}

/// The chosen one of several paths, and those that it does not lie below.
fn chosen(paths: Vec<Vec<String>>) -> (Vec<String>, Vec<Vec<String>>) {
    let depth = |path: &&Vec<String>| path.len();
    // The first one of the deepest.
    let chosen = paths.iter().rev().max_by_key(depth).cloned().unwrap_or_default();
    let others = paths.into_iter().filter(|path| !chosen.starts_with(path)).collect();
    (chosen, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_in_the_deepest_of_its_categories() {
        for (cell, category, others) in [
            ("Home > Candles", "Home > Candles", &[][..]),
            ("Home, Home > Candles", "Home > Candles", &[]),
            ("Gifts, Home > Candles, Home", "Home > Candles", &["Gifts"]),
            ("A > B, C > D", "A > B", &["C > D"]),
            ("Cups\\, mugs > Tea &amp; more", "Cups, mugs > Tea & more", &[]),
            ("Uncategorized", "", &[]),
            (" > ", "", &[]),
        ] {
            let (chosen, left) = chosen(paths(cell));
            let left: Vec<String> = left.iter().map(|path| path.join(" > ")).collect();
            assert_eq!(
                (chosen.join(" > ").as_str(), left),
                (category, others.iter().map(|one| (*one).to_owned()).collect()),
                "{cell}"
            );
        }
    }
}
