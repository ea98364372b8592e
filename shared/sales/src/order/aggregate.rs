//! An order with all that belongs to it: they share a partition, so that one query reads them.

use gateway::app::App;
use gateway::item::{Item, Key};
use gateway::problem::{Code, Problem};
use gateway::table::Query;
use ground::id::{FulfillmentId, OrderId, PaymentId, RefundId, StoreId};
use ground::key;
use serde::{Deserialize, Serialize};

use super::Order;
use super::fulfillment::Fulfillment;
use super::refund::Refund;
use crate::payment::Payment;

/// Items that are read of one order.
const MAX_ITEMS: usize = 1_000;

/// An order, its fulfilments, refunds and payments, each from the oldest.
#[derive(Debug, Clone)]
pub struct OrderAggregate {
    /// The order.
    pub order: Order,
    /// What has left.
    pub fulfillments: Vec<Fulfillment>,
    /// What has gone back.
    pub refunds: Vec<Refund>,
    /// What pays for it.
    pub payments: Vec<Payment>,
}

/// An item of an order's partition.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "entity", rename_all = "snake_case")]
enum Member {
    Order(Box<Order>),
    Fulfillment(Box<Fulfillment>),
    Refund(Box<Refund>),
    Payment(Box<Payment>),
    #[serde(other)]
    Unknown,
}

impl Item for Member {
    const KIND: &'static str = "order_part";

    /// Members are only read; they are written as what they are.
    fn key(&self) -> Key {
        match self {
            Self::Order(order) => order.key(),
            Self::Fulfillment(fulfillment) => fulfillment.key(),
            Self::Refund(refund) => refund.key(),
            Self::Payment(payment) => payment.key(),
            Self::Unknown => Key::new("", ""),
        }
    }

    fn version(&self) -> u64 {
        match self {
            Self::Order(order) => order.version,
            Self::Fulfillment(fulfillment) => fulfillment.version,
            Self::Refund(refund) => refund.version,
            Self::Payment(payment) => payment.version,
            Self::Unknown => 0,
        }
    }
}

/// Reads an order with all that belongs to it.
///
/// # Errors
/// `not_found`.
pub async fn load(app: &App, store: &StoreId, id: &OrderId) -> Result<OrderAggregate, Problem> {
    let partition = key::order(store, id).pk;
    let found: Vec<Member> = app.table.all(&Query::partition(partition), MAX_ITEMS).await?;
    let mut order = None;
    let (mut fulfillments, mut refunds, mut payments) = (Vec::new(), Vec::new(), Vec::new());
    for member in found {
        match member {
            Member::Order(found) => order = Some(*found),
            Member::Fulfillment(found) => fulfillments.push(*found),
            Member::Refund(found) => refunds.push(*found),
            Member::Payment(found) => payments.push(*found),
            Member::Unknown => {}
        }
    }
    refunds.sort_by_key(|refund| refund.created_at);
    payments.sort_by_key(|payment| payment.created_at);
    let order = order.ok_or(Code::NotFound)?;
    Ok(OrderAggregate { order, fulfillments, refunds, payments })
}

impl OrderAggregate {
    /// # Errors
    /// `not_found`.
    pub fn fulfillment(&self, id: &FulfillmentId) -> Result<&Fulfillment, Problem> {
        let found = self.fulfillments.iter().find(|fulfillment| fulfillment.id == *id);
        found.ok_or_else(|| Code::NotFound.into())
    }

    /// # Errors
    /// `not_found`.
    pub fn refund(&self, id: &RefundId) -> Result<&Refund, Problem> {
        let found = self.refunds.iter().find(|refund| refund.id == *id);
        found.ok_or_else(|| Code::NotFound.into())
    }

    /// # Errors
    /// 500: what an order says of a payment is never gone.
    pub fn payment(&self, id: &PaymentId) -> Result<&Payment, Problem> {
        let found = self.payments.iter().find(|payment| payment.id == *id);
        found.ok_or_else(|| Problem::internal("an order's payment is gone"))
    }
}
