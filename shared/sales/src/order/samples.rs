//! Examples of orders, fulfilments and refunds, for the catalogue of events.

use std::collections::BTreeMap;

use core_types::event::{EXAMPLE_TIME, Example, sample};
use core_types::id::{
    FulfillmentId, LocationId, OrderId, OrderItemId, PaymentId, ProductId, RefundId, StoreId,
    VariantId,
};
use core_types::money;

use super::fulfillment::{
    FulfilledUnits, Fulfillment, FulfillmentLine, FulfillmentState, FulfillmentView, Tracking,
};
use super::lines::{ChangedLine, LinesView};
use super::refund::{
    Refund, RefundLine, RefundReason, RefundStatus, RefundTransaction, RefundView, RestockType,
};
use super::stock::OrderStock;
use super::{
    Allocation, FinancialStatus, FulfillmentStatus, Order, OrderItem, OrderPayment, OrderStatus,
    OrderView, Totals, Units,
};

fn item() -> OrderItem {
    OrderItem {
        id: OrderItemId::derive(&["example"]),
        variant_id: VariantId::derive(&["example"]),
        product_id: ProductId::derive(&["example"]),
        title: "A Book".into(),
        variant_title: Some("Paperback".into()),
        sku: Some("BOOK-1".into()),
        image_url: None,
        quantity: 2,
        list_price: None,
        price: money::sample(64_950),
        subtotal: money::sample(129_900),
        discount: money::sample(0),
        discounts: Vec::new(),
        tax_lines: Vec::new(),
        tax: money::sample(0),
        total: money::sample(129_900),
        fulfilled: 0,
        refunded: 0,
        cancelled: 0,
        returned: 0,
        refundable_cancelled: 0,
        refundable_returned: 0,
        waived: 0,
        unsold: 0,
        discarded: 0,
        refunded_amount: money::sample(0),
        location_id: Some(LocationId::derive(&["example"])),
        allocations: vec![Allocation::new(LocationId::derive(&["example"]), 2)],
        tracked: true,
        oversells: false,
        backordered: 0,
        requires_shipping: true,
        properties: BTreeMap::from([("Dedication".into(), "For Ann".into())]),
        metadata: BTreeMap::new(),
    }
}

fn order() -> Order {
    Order {
        id: OrderId::derive(&["example"]),
        store_id: StoreId::derive(&["example"]),
        number: "#1001".into(),
        customer_id: None,
        email: Some(sample("ann@example.com")),
        locale: None,
        contact: None,
        status: OrderStatus::Open,
        on_hold: false,
        financial_status: FinancialStatus::Paid,
        fulfillment_status: FulfillmentStatus::Unfulfilled,
        stock: OrderStock::Committed,
        items: vec![item()],
        uncharged: None,
        unapplied: Vec::new(),
        totals: Totals {
            subtotal: money::sample(129_900),
            discount: money::sample(0),
            shipping: money::sample(0),
            tax: money::sample(0),
            tax_included: true,
            tax_lines: Vec::new(),
            rounding: None,
            total: money::sample(129_900),
            gift_cards: money::sample(0),
            due: money::sample(129_900),
        },
        taxed_at: None,
        shipping_line: None,
        discounts: Vec::new(),
        gift_cards: Vec::new(),
        payments: vec![OrderPayment {
            payment_id: PaymentId::derive(&["example"]),
            provider: "razorpay".into(),
            authorized: money::sample(129_900),
            captured: money::sample(129_900),
            refunded: money::sample(0),
            disputed_amount: None,
            voided: false,
        }],
        captured: money::sample(129_900),
        refunded: money::sample(0),
        shipping_refunded: money::sample(0),
        processing: Vec::new(),
        was_processing: false,
        payment_failed: false,
        currency: sample("INR"),
        shipping_address: None,
        billing_address: None,
        note: None,
        tags: Vec::new(),
        metadata: BTreeMap::new(),
        source: "storefront".into(),
        payment_provider: Some("razorpay".into()),
        payment_method: None,
        payment_instructions: None,
        tax_number: None,
        store_tax_number: None,
        capture_method: None,
        guest: None,
        is_email_proven: false,
        order_token_digest: None,
        expires_at: None,
        stock_held_until: None,
        payment_window: None,
        confirmed: false,
        attend_at: None,
        attend_tries: 0,
        cancel_reason: None,
        cancelled_at: None,
        closed_at: None,
        created_at: EXAMPLE_TIME,
        updated_at: EXAMPLE_TIME,
        version: 2,
    }
}

impl Example for OrderView {
    fn example() -> Self {
        Self::from(&order())
    }
}

impl Example for LinesView {
    fn example() -> Self {
        let mut order = order();
        for item in &mut order.items {
            item.cancelled = 1;
            item.refunded = 1;
        }
        let lines = vec![ChangedLine {
            order_item_id: item().id,
            quantity: 1,
            restock_type: RestockType::Cancel,
            restocked_at: vec![Units {
                location_id: LocationId::derive(&["example"]),
                quantity: 1,
            }],
        }];
        Self { lines, reason: Some("Sold out".into()), order: OrderView::from(&order) }
    }
}

impl Example for FulfillmentView {
    fn example() -> Self {
        Self::from(&Fulfillment {
            id: FulfillmentId::derive(&["example"]),
            store_id: StoreId::derive(&["example"]),
            order_id: OrderId::derive(&["example"]),
            status: FulfillmentState::Shipped,
            items: vec![FulfillmentLine { order_item_id: item().id, quantity: 2 }],
            taken: vec![FulfilledUnits {
                order_item_id: item().id,
                location_id: LocationId::derive(&["example"]),
                quantity: 2,
            }],
            location_id: None,
            tracking: Tracking {
                number: Some("AB123456789IN".into()),
                company: Some("India Post".into()),
                url: None,
            },
            notify_customer: true,
            delivered_at: None,
            cancelled_at: None,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 1,
        })
    }
}

impl Example for RefundView {
    fn example() -> Self {
        Self::from(&Refund {
            id: RefundId::derive(&["example"]),
            store_id: StoreId::derive(&["example"]),
            order_id: OrderId::derive(&["example"]),
            status: RefundStatus::Succeeded,
            amount: money::sample(64_950),
            items: vec![RefundLine {
                order_item_id: item().id,
                quantity: 1,
                amount: money::sample(64_950),
                tax_lines: item().tax_of(1),
                restock_type: RestockType::Return,
                restocked: 1,
                location_id: item().location_id,
                restocked_at: vec![Units {
                    location_id: LocationId::derive(&["example"]),
                    quantity: 1,
                }],
            }],
            shipping: money::sample(0),
            shipping_tax_lines: Vec::new(),
            restocking_fee: None,
            transactions: vec![RefundTransaction {
                gift_card_id: None,
                payment_id: Some(PaymentId::derive(&["example"])),
                manual: false,
                amount: money::sample(64_950),
                status: RefundStatus::Succeeded,
                failure_code: None,
            }],
            reason: RefundReason::CustomerRequest,
            note: None,
            created_at: EXAMPLE_TIME,
            updated_at: EXAMPLE_TIME,
            version: 2,
        })
    }
}
