//! What happens to payments, refunds and disputes, here and at the providers.

use local::providers::{NewDispute, Verdict};
use serde_json::{Value, json};

use crate::client::{Call, text};
use crate::model::Opened;
use crate::run::Run;
use crate::step::{Action, Method, Of, Paying, Step};

impl Run<'_> {
    /// Takes a step that is about money; whether it is.
    pub(super) async fn take_of_money(&self, step: &Step) -> bool {
        match &step.action {
            Action::Open { order, method } => self.open(step, *order, *method).await,
            Action::Pay { payment, how } => self.pay(*payment, *how),
            Action::EndDebit { payment, is_paid } => {
                if let Some(payment) = self.one(|model| &model.payments, *payment) {
                    drop(self.world.providers.end_debit(&payment.reference, *is_paid));
                }
            }
            Action::Return { payment } => self.come_back(step, *payment).await,
            Action::Sync { payment } => self.of_payment(step, *payment, "sync").await,
            Action::Capture { payment } => self.of_payment(step, *payment, "capture").await,
            Action::Void { payment } => self.of_payment(step, *payment, "void").await,
            Action::Refund { order, of } => self.refund(step, *order, *of).await,
            Action::Dispute { payment, amount } => self.dispute(*payment, *amount),
            Action::Decide { dispute, is_won } => {
                let verdict = if *is_won { Verdict::Win } else { Verdict::Lose };
                if let Some(dispute) = self.one(|model| &model.disputes, *dispute) {
                    drop(self.world.providers.decide_dispute(&dispute, verdict));
                }
            }
            Action::Dashboard { payment, amount } => {
                if let Some(carrier) = self.carrier(*payment) {
                    drop(self.world.providers.refund_on_dashboard(&carrier, *amount));
                }
            }
            Action::EndRefund { refund, has_succeeded } => self.end_refund(*refund, *has_succeeded),
            _ => return false,
        }
        true
    }

    async fn of_payment(&self, step: &Step, payment: u64, verb: &str) {
        if let Some(payment) = self.one(|model| &model.payments, payment) {
            let path = format!("/v1/payments/{}/{verb}", payment.id);
            drop(self.act(step, path, json!({})).await);
        }
    }

    fn payments_path(&self, method: Method, rest: &str) -> String {
        let subdomain = self.base.subdomain;
        format!("/v1/storefront/{subdomain}/payments/{}/{rest}", method.name())
    }

    async fn open(&self, step: &Step, order: u64, method: Method) {
        let Some(order) = self.one(|model| &model.orders, order) else { return };
        // Mostly as it was chosen; a shopper may change their mind.
        let chosen = order.method.filter(|chosen| *chosen != Method::Manual);
        let method = if step.number.is_multiple_of(3) { method } else { chosen.unwrap_or(method) };
        let Some(token) = order.token else { return };
        let path = self.payments_path(method, "order");
        let call = Call::post(path, json!({"order_id": order.id})).from(41);
        let call = call.header("x-service-order-token", token);
        let call = call.header("idempotency-key", self.key(step.number));
        let reply = self.call(call, step.trouble).await;
        let id = reply.text("/payment_id");
        let mut model = self.model.borrow_mut();
        if reply.is_success() && model.payments.iter().all(|known| known.id != id) {
            let reference = reply.text("/provider_order_id");
            model.payments.push(Opened { id, order: order.id, method, reference, handed: None });
        }
    }

    fn pay(&self, payment: u64, how: Paying) {
        let Some(payment) = self.one(|model| &model.payments, payment) else { return };
        let (providers, reference) = (&self.world.providers, payment.reference.as_str());
        let handed = match (payment.method, how) {
            (Method::Stripe, Paying::Fails) => providers.decline_intent(reference),
            (Method::Stripe, Paying::Debits) => providers.debit_intent(reference),
            (Method::Stripe, _) => providers.pay_intent(reference),
            (_, Paying::Fails) => providers.fail_order(reference),
            (_, Paying::Twice) => {
                let first = providers.pay_order(reference, None);
                drop(providers.pay_order_again(reference));
                first
            }
            (_, _) => providers.pay_order(reference, None),
        };
        let Ok(handed) = handed else { return };
        let mut model = self.model.borrow_mut();
        if let Some(known) = model.payments.iter_mut().find(|known| known.id == payment.id) {
            known.handed = Some(handed);
        }
    }

    async fn come_back(&self, step: &Step, payment: u64) {
        let Some(payment) = self.one(|model| &model.payments, payment) else { return };
        let mut body = match (payment.method, payment.handed) {
            (Method::Razorpay, Some(handed)) if handed.get("razorpay_signature").is_some() => {
                handed
            }
            (Method::Stripe, _) => json!({"payment_intent": payment.reference}),
            _ => return,
        };
        if let Some(body) = body.as_object_mut() {
            body.insert("order_id".to_owned(), json!(payment.order));
        }
        let call = Call::post(self.payments_path(payment.method, "verify"), body).from(42);
        drop(self.call(call, step.trouble).await);
    }

    async fn refund(&self, step: &Step, order: u64, of: Of) {
        let body = match of {
            Of::Rest => Some(json!({})),
            Of::Amount(amount) => Some(json!({"amount": {"amount": amount, "currency": "INR"}})),
            Of::Units(quantity, is_back) => {
                let restock = if is_back { "return" } else { "cancel" };
                self.units(order, quantity, Some(restock)).await
            }
        };
        let Some(mut body) = body else { return };
        if let Some(body) = body.as_object_mut() {
            body.insert("unusable_gift_cards".to_owned(), json!("credit"));
        }
        let Some(reply) = self.of_order(step, order, "refund", body).await else { return };
        if reply.is_success() {
            let id = reply.text("/refund/id");
            if !self.model.borrow_mut().refunds.insert(id.clone()) {
                self.fail(format!("two requests have made one refund, {id}"));
            }
        }
    }

    /// What carries a payment's money at its provider.
    fn carrier(&self, payment: u64) -> Option<String> {
        let payment = self.one(|model| &model.payments, payment)?;
        match payment.method {
            Method::Stripe => Some(payment.reference),
            _ => payment.handed.map(|handed| text(&handed, "/razorpay_payment_id")),
        }
    }

    fn dispute(&self, payment: u64, amount: Option<i64>) {
        let Some(carrier) = self.carrier(payment) else { return };
        let input = NewDispute { amount, ..NewDispute::default() };
        if let Ok(dispute) = self.world.providers.open_dispute(&carrier, &input) {
            self.model.borrow_mut().disputes.push(text(&dispute, "/id"));
        }
    }

    fn end_refund(&self, number: u64, has_succeeded: bool) {
        let mut pending = self.world.providers.refunds();
        pending.retain(|refund: &Value| text(refund, "/status") == "pending");
        if let Some(refund) = crate::model::pick(&pending, number) {
            drop(self.world.providers.finish_refund(&text(&refund, "/id"), has_succeeded));
        }
    }
}
