//! Purchases that nobody verifies: whoever has paid gets what was paid for, whoever has not is not
//! waited for.

use support::clock::{HOUR, MINUTE};
use support::{Fault, Faults, Reply, Trouble, deliver, json, race};

use super::sale::{PRICE, Sale};

/// What the provider knows a purchase as.
fn reference(begun: &Reply) -> String {
    begun.str("/provider_order_id")
}

/// Whether something of a purchase is left to do.
async fn is_due(sale: &Sale) -> bool {
    let partition = format!("STO#{}", sale.buyer.id);
    let purchases = sale.gateway.items_of("theme_purchase", &partition).await;
    purchases.iter().any(|purchase| purchase["GSI3PK"].is_string())
}

#[tokio::test]
async fn the_sweep_grants_licenses_for_unverified_payments() {
    for provider in ["razorpay", "stripe"] {
        let sale = Sale::open().await;
        let begun = sale.begin(provider).await.expect(201);
        sale.gateway.sweep().await;
        assert!(sale.licenses().await.is_empty(), "{provider}: it is not paid");
        match provider {
            "razorpay" => drop(sale.providers.pay_razorpay(&reference(&begun))),
            _ => sale.providers.pay_stripe(&reference(&begun)),
        }
        sale.gateway.advance(MINUTE);
        let swept = sale.gateway.sweep().await;
        assert_eq!((swept.purchases, swept.failures), (1, 0), "{provider}");
        let granted = sale.licenses().await.remove(0);
        assert_eq!(granted["active"], true, "{provider}");
        assert_eq!(granted["purchase_id"], *begun.at("/purchase_id"));
        assert!(!is_due(&sale).await, "{provider}: nothing is left to do");
        sale.gateway.advance(HOUR);
        assert_eq!(sale.gateway.sweep().await.purchases, 0, "{provider}");
        assert_eq!(sale.told("theme.licensed").await, 1);
        sale.install().await.expect(201);
    }
}

#[tokio::test]
async fn an_unpaid_theme_purchase_expires() {
    let sale = Sale::open().await;
    let (first, second) = (sale.begin("razorpay").await, sale.begin("stripe").await);
    let (first, second) = (first.expect(201), second.expect(201));
    // It is asked about now and then, not each minute.
    let mut asked = 0;
    for _ in 0..11 {
        sale.gateway.advance(MINUTE * 5);
        asked += sale.gateway.sweep().await.purchases;
    }
    assert!((4..=20).contains(&asked), "{asked}");
    let cancel = format!("/payment_intents/{}/cancel", reference(&second));
    assert!(sale.providers.calls(&cancel).is_empty(), "it can still be paid");
    assert!(is_due(&sale).await);
    sale.gateway.advance(MINUTE * 6);
    let swept = sale.gateway.sweep().await;
    assert_eq!((swept.purchases, swept.failures), (2, 0));
    assert_eq!(sale.providers.calls(&cancel).len(), 1);
    assert!(sale.providers.pay_intent(&reference(&second)).is_err(), "its provider takes nothing");
    assert!(!is_due(&sale).await);
    let calls = sale.providers.calls("").len();
    sale.gateway.advance(HOUR * 10);
    sale.gateway.sweep().await;
    assert_eq!(sale.providers.calls("").len(), calls, "nobody is asked any more");
    assert!(sale.licenses().await.is_empty());
    let late = sale.verify(Sale::returned(&first, "pay_none")).await.expect(409);
    late.problem("invalid_state_transition");
    sale.begin("razorpay").await.expect(201);
}

/// Razorpay's orders cannot be cancelled: somebody may pay one that we have given up.
#[tokio::test]
async fn a_late_payment_grants_the_license_by_webhook() {
    let sale = Sale::open().await;
    let begun = sale.begin("razorpay").await.expect(201);
    sale.gateway.advance(HOUR * 2);
    sale.gateway.sweep().await;
    assert!(!is_due(&sale).await);
    let payment = sale.providers.pay_razorpay(&reference(&begun));
    sale.notify("payment.captured", &payment).await;
    assert_eq!(sale.licenses().await.len(), 1);
    sale.verify(Sale::returned(&begun, &payment)).await.expect(200);
}

#[tokio::test]
async fn a_failed_refund_of_a_wrong_payment_is_retried() {
    let sale = Sale::open().await;
    let begun = sale.begin("razorpay").await.expect(201);
    let payment = sale.providers.pay_razorpay_with(&reference(&begun), PRICE - 1);
    let event = sale.providers.razorpay_event("payment.captured", &payment);
    // The refund that follows from it.
    sale.providers.next([Trouble::Reject(500, "server_error")]);
    deliver(&event, &sale.gateway.client(), &sale.seller.subdomain).await.expect(200);
    assert_eq!(sale.providers.payment(&payment)["amount_refunded"], 0);
    assert!(is_due(&sale).await);
    sale.gateway.advance(MINUTE);
    assert_eq!(sale.gateway.sweep().await.purchases, 1);
    assert_eq!(sale.providers.payment(&payment)["amount_refunded"], PRICE - 1);
    // That it is there is asked for, too, and then it is done.
    sale.gateway.advance(MINUTE * 5);
    sale.gateway.sweep().await;
    assert!(!is_due(&sale).await);
    assert!(sale.licenses().await.is_empty());
    assert_eq!(sale.providers.refunds().len(), 1);
    sale.install().await.expect(402);
}

#[tokio::test]
async fn the_sweep_retries_an_unavailable_provider_later() {
    let sale = Sale::open().await;
    let begun = sale.begin("stripe").await.expect(201);
    sale.providers.pay_stripe(&reference(&begun));
    sale.providers.next([Trouble::Reject(500, "api_error")]);
    sale.gateway.advance(MINUTE);
    let swept = sale.gateway.sweep().await;
    assert_eq!((swept.purchases, swept.failures), (0, 1));
    assert!(sale.licenses().await.is_empty());
    // Not at once, not by everybody.
    assert_eq!(sale.gateway.sweep().await.failures, 0);
    sale.gateway.advance(MINUTE * 2);
    assert_eq!(sale.gateway.sweep().await.purchases, 1);
    assert_eq!(sale.licenses().await.len(), 1);
}

#[tokio::test]
async fn parallel_confirmations_of_a_payment_grant_one_license() {
    let sale = Sale::open().await;
    let begun = sale.begin("razorpay").await.expect(201);
    let payment = sale.providers.pay_razorpay(&reference(&begun));
    let event = sale.providers.razorpay_event("payment.captured", &payment);
    let fields = Sale::returned(&begun, &payment);
    sale.gateway.advance(MINUTE);
    let turns = std::sync::atomic::AtomicUsize::new(0);
    let failed = race(5, || {
        let turn = turns.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let (sale, event, fields) = (&sale, &event, fields.clone());
        async move {
            match turn % 3 {
                0 if turn == 0 => sale.gateway.sweep().await.failures,
                1 => {
                    let visitor = sale.gateway.client();
                    deliver(event, &visitor, &sale.seller.subdomain).await.expect(200);
                    0
                }
                _ => {
                    let owner = sale.owner.elsewhere();
                    owner.post(&sale.path("purchase/verify")).json(fields).await.expect(200);
                    0
                }
            }
        }
    })
    .await;
    assert_eq!(failed.iter().sum::<usize>(), 0);
    assert_eq!(sale.told("theme.licensed").await, 1);
    assert_eq!(sale.licenses().await.len(), 1);
    assert!(!is_due(&sale).await);
    assert_eq!(sale.providers.payment(&payment)["amount_refunded"], 0);
}

/// A batch reads its items one by one: the licence may be read before it is granted, and the purchase after.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_confirmation_that_reads_the_license_before_its_purchase_shows_it() {
    for _ in 0..4 {
        let faults = Faults::planned();
        let sale = Sale::open_over(Some(faults.clone())).await;
        let begun = sale.begin("razorpay").await.expect(201);
        let payment = sale.providers.pay_razorpay(&reference(&begun));
        let fields = Sale::returned(&begun, &payment);
        faults.will([("BatchGetItem", Fault::Leftover); 40]);
        let shown = race(8, || sale.verify(fields.clone())).await;
        for shown in shown {
            assert_eq!(*shown.expect(200).at("/license/active"), true);
        }
        assert_eq!(sale.told("theme.licensed").await, 1);
    }
}

#[tokio::test]
async fn a_theme_purchase_is_valid_for_its_store_only() {
    let sale = Sale::open().await;
    let begun = sale.begin("razorpay").await.expect(201);
    let payment = sale.providers.pay_razorpay(&reference(&begun));
    let fields = Sale::returned(&begun, &payment);
    // The same merchant's other store, the maker's, and somebody who names the buyer's.
    let second = sale.merchant.open_shop().await;
    let (own, path) = (sale.merchant.at(&second), sale.path("purchase/verify"));
    own.post(&path).json(fields.clone()).await.expect(404).problem("not_found");
    sale.maker.post(&path).json(fields.clone()).await.expect(404).problem("not_found");
    let posing = sale.maker.with_store(&sale.buyer.id);
    let posed = posing.post(&path).json(fields.clone()).await;
    assert!(matches!(posed.status, 403 | 404), "{}", posed.text);
    assert!(sale.licenses().await.is_empty());

    sale.verify(fields).await.expect(200);
    let install = sale.path("install");
    own.post(&install).json(json!({})).await.expect(402).problem("license_required");
    let listed = own.get(&sale.path("licenses")).await.expect(200);
    assert!(listed.data().is_empty(), "{}", listed.text);
    sale.install().await.expect(201);
}
