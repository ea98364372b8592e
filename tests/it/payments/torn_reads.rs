//! A batch reads its items one by one: what one write has changed together may be read half before it and half
//! after it.

use std::sync::atomic::{AtomicUsize, Ordering};

use support::{Fault, Faults, Providers, json, race};

use super::connected::Connected;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_payment_whose_order_is_read_at_another_moment_is_recorded_once_and_shown_paid() {
    let faults = Faults::planned();
    let connected = Connected::open_over(&faults).await;
    let rounds = 6;
    for _ in 0..rounds {
        let order = connected.order().await;
        let begun = connected.begin("razorpay", &order).await.expect(201);
        let (reference, id) = (begun.str("/provider_order_id"), begun.str("/payment_id"));
        let carrier = connected.providers.pay_razorpay(&reference);
        let fields = Providers::razorpay_return(&order.id, &reference, &carrier);
        let webhook = connected.providers.razorpay_event("payment.captured", &carrier);
        faults.will([("BatchGetItem", Fault::Leftover); 40]);
        let turns = AtomicUsize::new(0);
        race(6, || {
            let turn = turns.fetch_add(1, Ordering::Relaxed);
            let (connected, id, webhook, fields) = (&connected, &id, &webhook, fields.clone());
            async move {
                match turn % 3 {
                    0 => {
                        let shown = connected.verify("razorpay", fields).await.expect(200);
                        assert_eq!(shown.str("/payment/status"), "captured");
                        assert_eq!(shown.str("/order/financial_status"), "paid");
                    }
                    1 => drop(connected.hear(webhook).await.expect(200)),
                    _ => drop(connected.act(id, "sync", json!({})).await.expect(200)),
                }
            }
        })
        .await;
        assert_eq!(connected.payment(&id).await.str("/status"), "captured");
        let paid = connected.owner.get(&format!("/v1/orders/{}", order.id)).await.expect(200);
        assert_eq!(paid.str("/financial_status"), "paid");
    }
    assert_eq!(connected.announced().await, (rounds, rounds));
}
