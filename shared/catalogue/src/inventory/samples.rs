//! Sample data of events about stock.

use core_types::event::{EXAMPLE_TIME, Example};
use core_types::id::{LocationId, MovementId, VariantId};

use super::{AdjustmentView, ChangeView, MovementKind, StockState};

impl Example for AdjustmentView {
    fn example() -> Self {
        Self {
            id: MovementId::derive(&["example"]),
            kind: MovementKind::Adjusted,
            reason: "Delivery received".into(),
            reference: Some("PO-1042".into()),
            dry_run: false,
            changes: vec![ChangeView {
                item_id: VariantId::derive(&["example"]),
                location_id: LocationId::derive(&["example"]),
                state: StockState::Available,
                delta: 12,
                quantity_after: 40,
            }],
            ledger_ids: vec![MovementId::derive(&["example", "1"])],
            created_at: EXAMPLE_TIME,
        }
    }
}
