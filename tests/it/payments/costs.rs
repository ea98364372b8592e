//! What it costs the table, exactly, that money goes back through a provider: units as DynamoDB counts
//! them, and round trips (`cross/costs.rs` says how).

use support::{NewDispute, json};

use super::connected::Connected;

#[tokio::test]
async fn a_provider_refund_costs_known_capacity_units() {
    let connected = Connected::open().await;
    for provider in ["razorpay", "stripe"] {
        let order = connected.order().await;
        connected.paid(provider, &order).await;
        let path = format!("/v1/orders/{}/refund", order.id);
        let refunded = connected.owner.post(&path).key(provider).json(json!({})).await.expect(201);
        assert_eq!(refunded.str("/refund/status"), "succeeded");
        // Session, account, store; the order with its payment at an eventually consistent read; the provider's account.
        // Reserved: the guest 2, order 2, payment 2 + 2 rows (it is due, and needs its provider), refund 2, two
        // events in 5. Recorded: payment 2 + 2 (the rows go), refund 2, record 2; three events are more
        // than one kilobyte: 4 + 3 rows.
        assert_eq!((refunded.tenths(), refunded.trips()), (345, 5), "{provider}");
    }
}

#[tokio::test]
async fn a_dispute_costs_one_write_and_its_repetition_none() {
    let connected = Connected::open().await;
    let mut costs = Vec::new();
    for provider in ["razorpay", "stripe"] {
        let order = connected.order().await;
        let (_, carrier) = connected.paid(provider, &order).await;
        let dispute = connected.providers.dispute(&carrier, &NewDispute::default());
        let told = connected.telling("created", &dispute);
        for _ in 0..2 {
            let heard = connected.hear(&told).await.expect(200);
            costs.push((heard.tenths(), heard.trips()));
        }
    }
    // Whose subdomain, the account, the reference; payment, order, dispute and event in one batch;
    // then one write of all four, of the guest and of two announcements. Razorpay's event brings the payment along,
    // and is kept as it came.
    assert_eq!(costs, [(300, 5), (70, 4), (280, 5), (70, 4)]);
}
