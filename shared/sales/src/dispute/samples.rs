//! A sample dispute, for the catalogue of events.

use core_types::event::{EXAMPLE_TIME, Example};
use core_types::money;
use primitives::clock::DAY;

use super::{Dispute, DisputeStatus, DisputeType, DisputeView};
use crate::payment::Payment;

impl Dispute {
    /// A dispute of the sample payment that waits for evidence.
    pub(crate) fn sample() -> Self {
        let payment = Payment::sample();
        let reference = "disp_AHfqOvkldwsbqt";
        Self {
            id: Self::id_of(&payment.store_id, payment.provider, reference),
            store_id: payment.store_id,
            order_id: payment.order_id,
            order_number: payment.order_number,
            payment_id: payment.id,
            provider: payment.provider,
            provider_reference: reference.to_owned(),
            kind: DisputeType::Chargeback,
            status: DisputeStatus::NeedsResponse,
            amount: money::sample(129_900),
            held: money::sample(129_900),
            reason: "goods_or_services_not_received_or_partially_received".to_owned(),
            due_by: Some(EXAMPLE_TIME.plus(DAY.saturating_mul(3))),
            evidence: None,
            told_at: EXAMPLE_TIME,
            closed_at: None,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        }
    }
}

impl Example for DisputeView {
    fn example() -> Self {
        Self::from(&Dispute::sample())
    }
}
