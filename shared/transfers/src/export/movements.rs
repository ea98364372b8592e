//! Movements of stock as rows.

use catalogue::inventory::Movement;
use catalogue::product::{Product, Variant};

use super::columns::ExportRow;

/// The columns.
pub(super) const COLUMNS: &[&str] = &[
    "Movement ID",
    "Created At",
    "Handle",
    "SKU",
    "Item ID",
    "Location ID",
    "Kind",
    "Available",
    "Reserved",
    "Committed",
    "On Hand",
    "Order ID",
    "Reason",
    "Reference",
    "Actor",
];

/// The row of a movement of a product's variant.
pub(super) fn row(
    movement: &Movement,
    product: &Product,
    variant: Option<&Variant>,
) -> Vec<String> {
    let delta = movement.delta;
    ExportRow::of(COLUMNS)
        .value("Movement ID", &movement.id)
        .value("Created At", movement.created_at)
        .value("Handle", product.handle.as_str())
        .some("SKU", variant.and_then(|variant| variant.sku.as_deref()))
        .value("Item ID", &movement.variant_id)
        .value("Location ID", &movement.location_id)
        .value("Kind", movement.kind)
        .value("Available", delta.available)
        .value("Reserved", delta.reserved)
        .value("Committed", delta.committed)
        .value("On Hand", delta.on_hand())
        .value("Order ID", movement.order_id.as_ref().map(ToString::to_string).unwrap_or_default())
        .some("Reason", movement.reason.as_deref())
        .some("Reference", movement.reference.as_deref())
        .some("Actor", movement.actor.as_deref())
        .cells()
}
