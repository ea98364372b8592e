//! All data that a store has of a person, as a JSON object per line: `{"kind": …, "data": …}`.

use catalogue::form::FormSubmissionView;
use catalogue::review::ReviewView;
use catalogue::wishlist::Wish;
use core_types::id::{ProductId, VariantId};
use core_types::key;
use identity::address::{Address, AddressView};
use identity::customer::{Customer, CustomerSession, CustomerView};
use identity::session::CreatedVia;
use primitives::clock::Timestamp;
use primitives::problem::Problem;
use privacy::person::{Part, Person};
use sales::cart::owned::OwnCart;
use sales::cart::record::CartRecord;
use sales::gift_card::GiftCardView;
use sales::guest::GuestView;
use sales::order::fulfillment::FulfillmentView;
use sales::order::refund::RefundView;
use sales::order::{Order, OrderView, load};
use sales::payment::PaymentView;
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Item;
use table::{Query, WalkPosition};

use super::Export;
use super::step::ExportOutput;

/// The most addresses, wishes or sessions of one person.
const MAX_ITEMS: usize = 1_000;

/// The person whose data is exported, and the part that is read next.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExportedPerson {
    /// The person.
    pub person: Person,
    /// The part that is read next.
    pub part: Part,
}

#[derive(Serialize)]
struct PersonLine<'a, T> {
    kind: &'a str,
    data: T,
}

#[derive(Serialize)]
struct WishLine {
    product_id: ProductId,
    variant_id: Option<VariantId>,
    created_at: Timestamp,
}

#[derive(Serialize)]
struct SessionLine {
    created_via: CreatedVia,
    ip_prefix: String,
    created_at: Timestamp,
    expires_at: Timestamp,
}

fn add(output: &mut ExportOutput, kind: &str, data: impl Serialize) {
    output.add_line(&PersonLine { kind, data });
}

/// Reads a page of the current part, and advances the export. Returns whether it was the last page.
pub(super) async fn page(
    services: &Services,
    export: &mut Export,
    output: &mut ExportOutput,
) -> Result<bool, Problem> {
    let Some(ExportedPerson { mut person, part }) = export.about.clone() else { return Ok(true) };
    let place = export.place.clone();
    let place = place.as_ref();
    let next = match part {
        Part::Account => account(services, &person, output).await?,
        Part::Orders => {
            let (found, next) = person.orders(services, place).await?;
            for order in &found {
                add_order(services, order, output).await?;
            }
            person.learn_from(&found);
            next
        }
        Part::GuestOrders => {
            if place.is_none() {
                for guest in person.guests(services).await? {
                    add(output, "guest", GuestView::from(&guest));
                }
            }
            let (found, next) = person.guest_orders(services, place).await?;
            for order in &found {
                add_order(services, order, output).await?;
            }
            next
        }
        Part::Carts => {
            for cart in person.guest_carts(services).await? {
                add(output, "cart", CartRecord::from(&cart));
            }
            None
        }
        Part::GiftCards => {
            let (found, next) = person.gift_cards(services, place).await?;
            let now = services.clock.now();
            for summary in &found {
                add(output, "gift_card", GiftCardView::of(summary, now));
            }
            next
        }
        Part::Reviews => {
            let (found, next) = person.reviews(services, place).await?;
            for review in &found {
                add(output, "review", ReviewView::from(review));
            }
            next
        }
        Part::Forms => {
            let (found, next) = person.forms(services, place).await?;
            for form in &found {
                add(output, "form_submission", FormSubmissionView::from(form));
            }
            next
        }
        // The data in other files is in this one as well.
        Part::Files => None,
    };
    let following = if next.is_some() { Some(part) } else { part.next() };
    export.place = next;
    export.about = following.map(|part| ExportedPerson { person, part });
    Ok(following.is_none())
}

async fn account(
    services: &Services,
    person: &Person,
    output: &mut ExportOutput,
) -> Result<Option<WalkPosition>, Problem> {
    let Some(customer) = &person.customer_id else { return Ok(None) };
    let key = key::customer(&person.store_id, customer);
    let Some(account) = services.table.get::<Customer>(&key).await? else { return Ok(None) };
    add(output, "customer", CustomerView::from(&account));
    if let Some(cart) = OwnCart::load(services, &person.store_id, customer).await?.cart {
        add(output, "cart", CartRecord::from(&cart));
    }
    let alongside = |prefix: &str| Query::partition(account.key().pk).begins_with(prefix);
    for address in services.table.all::<Address>(&alongside(key::ADDRESSES), MAX_ITEMS).await? {
        let default = account.default_address_id.as_ref();
        add(output, "address", AddressView::of(&address, default));
    }
    for wish in services.table.all::<Wish>(&alongside(key::WISHES), MAX_ITEMS).await? {
        let Wish { product_id, variant_id, created_at, .. } = wish;
        add(output, "wish", WishLine { product_id, variant_id, created_at });
    }
    for session in
        services.table.all::<CustomerSession>(&alongside(key::SESSIONS), MAX_ITEMS).await?
    {
        let CustomerSession { created_via, ip_prefix, created_at, expires_at, .. } = session;
        add(output, "session", SessionLine { created_via, ip_prefix, created_at, expires_at });
    }
    Ok(None)
}

async fn add_order(
    services: &Services,
    order: &Order,
    output: &mut ExportOutput,
) -> Result<(), Problem> {
    let whole = load::aggregate(services, &order.store_id, &order.id).await?;
    add(output, "order", OrderView::from(&whole.order));
    for fulfillment in &whole.fulfillments {
        add(output, "fulfillment", FulfillmentView::from(fulfillment));
    }
    whole.refunds.iter().for_each(|refund| add(output, "refund", RefundView::from(refund)));
    whole.payments.iter().for_each(|payment| add(output, "payment", PaymentView::from(payment)));
    Ok(())
}
