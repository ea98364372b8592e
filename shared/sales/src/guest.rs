//! Guests: people who have ordered without an account, known by the address of their orders.
//!
//! A guest is one item, which each order with the address counts in place. It is not read before, so that a
//! checkout costs no further round trip, and two at once count as two. An order leaves its guest when an
//! account gets it, when its address changes, and when it is redacted; with the last one the item is deleted.

use core_types::fields::{Currency, E164, Email, Phone};
use core_types::id::StoreId;
use core_types::key;
use core_types::money::Money;
use identity::address::PostalAddress;
use primitives::clock::Timestamp;
use primitives::problem::{Code, Problem};
use serde::{Deserialize, Serialize};
use services::Services;
use table::item::Item;
use table::{Change, Condition, Query, Write};

use crate::order::Order;

/// A guest of a store.
#[derive(Debug, Clone, Serialize, Deserialize, Item)]
#[item(kind = "guest", key = key::guest(&self.store_id, &self.guest))]
#[item(indexes = vec![key::guests_of_store(&self.store_id, self.first_order_at, &self.guest)])]
pub struct Guest {
    /// The store.
    pub store_id: StoreId,
    /// The keyed hash of the address ([`identity::store::Store::guest_key`]).
    pub guest: String,
    /// The address, as the newest order has it.
    pub email: Email,
    /// The name that the newest order has.
    #[serde(default)]
    pub name: Option<String>,
    /// The telephone number that the newest order has, as it was written.
    #[serde(default)]
    pub phone: Option<Phone>,
    /// That number in E.164.
    #[serde(default)]
    pub phone_e164: Option<E164>,
    /// The number of their orders.
    pub orders_count: u64,
    /// The total paid for their orders, in minor units.
    pub spent: i64,
    /// The store's currency.
    pub currency: Currency,
    /// When they ordered first.
    pub first_order_at: Timestamp,
    /// When they ordered last.
    pub last_order_at: Timestamp,
    /// When something of this was last changed.
    pub updated_at: Timestamp,
    /// Always 1: it is never replaced by version.
    pub version: u64,
}

impl Guest {
    /// The query for a store's guests, newest first.
    pub fn of_store(store: &StoreId) -> Query {
        Query::list(key::list::guests_of_store(store)).newest_first()
    }

    /// The total paid for their orders.
    pub fn total_spent(&self) -> Money {
        Money::new(self.spent, &self.currency).unwrap_or_else(|| Money::zero(&self.currency))
    }
}

/// The occasion on which an order is assigned to its guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GuestAssignment {
    /// It is placed: the newest one.
    Placed,
    /// It was placed earlier, with another address.
    Moved,
}

/// The name and telephone numbers of the shopper, from an order.
struct ShopperDetails<'a> {
    name: Option<String>,
    phone: Option<&'a Phone>,
    phone_e164: Option<&'a E164>,
}

impl<'a> ShopperDetails<'a> {
    fn in_order(order: &'a Order) -> Self {
        let contact = order.contact.as_ref();
        let address = order.shipping_address.as_ref().or(order.billing_address.as_ref());
        let full = |first: Option<&String>, last: Option<&String>| {
            let parts: Vec<&str> =
                [first, last].into_iter().flatten().map(String::as_str).collect();
            (!parts.is_empty()).then(|| parts.join(" "))
        };
        let own = contact.and_then(|own| full(own.first_name.as_ref(), own.last_name.as_ref()));
        let of_address = |to: &PostalAddress| full(to.first_name.as_ref(), to.last_name.as_ref());
        // A number and its E.164 form are of one source.
        let (phone, phone_e164) = match (contact, address) {
            (Some(own), _) if own.phone.is_some() => (own.phone.as_ref(), own.phone_e164.as_ref()),
            (_, Some(to)) => (to.phone.as_ref(), to.phone_e164.as_ref()),
            _ => (None, None),
        };
        Self { name: own.or_else(|| address.and_then(of_address)), phone, phone_e164 }
    }
}

/// The fields that each order of a guest sets.
const COUNTED: &str = "#entity = :entity, #store_id = :store_id, #guest = :guest, #currency = :currency, \
     #version = :one, #orders_count = if_not_exists(#orders_count, :none) + :one, \
     #spent = if_not_exists(#spent, :none) + :spent, \
     #first_order_at = if_not_exists(#first_order_at, :at), #updated_at = :now";
/// The members of that, and the time of the last order.
const MEMBERS: [&str; 10] = [
    "entity",
    "store_id",
    "guest",
    "currency",
    "version",
    "orders_count",
    "spent",
    "first_order_at",
    "updated_at",
    "last_order_at",
];

/// The members of which an order says something, with that; and those that the newest order removes.
fn said_by(
    order: &Order,
    email: &Email,
    occasion: GuestAssignment,
) -> (Vec<(&'static str, String)>, Vec<&'static str>) {
    let ShopperDetails { name, phone, phone_e164 } = ShopperDetails::in_order(order);
    let texts = [
        ("email", Some(email.as_str().to_owned())),
        ("name", name),
        ("phone", phone.map(|phone| phone.as_str().to_owned())),
        ("phone_e164", phone_e164.map(|phone| phone.as_str().to_owned())),
    ];
    let (details, unsaid): (Vec<_>, Vec<_>) =
        texts.into_iter().partition(|(_, text)| text.is_some());
    let details = details.into_iter().filter_map(|(member, text)| Some((member, text?))).collect();
    let unsaid = unsaid.into_iter().filter(|_| occasion == GuestAssignment::Placed);
    (details, unsaid.map(|(member, _)| member).collect())
}

/// The change that counts an order for its guest.
fn count_order(order: &Order, guest: &str, email: &Email, occasion: GuestAssignment) -> Change {
    let (index, place) = key::guests_of_store(&order.store_id, order.created_at, guest);
    let (partition, sort) = index.key_names();
    let (details, unsaid) = said_by(order, email, occasion);
    // What the newest order says; of one that was placed earlier, what nothing is known of.
    let set = |member: &str| match occasion {
        GuestAssignment::Placed => format!("#{member} = :{member}"),
        GuestAssignment::Moved => format!("#{member} = if_not_exists(#{member}, :{member})"),
    };
    let texts: Vec<String> = details.iter().map(|(member, _)| set(member)).collect();
    let removed: Vec<String> = unsaid.iter().map(|member| format!("#{member}")).collect();
    let removed =
        if removed.is_empty() { String::new() } else { format!(" REMOVE {}", removed.join(", ")) };
    let update = format!(
        "SET {COUNTED}, {partition} = if_not_exists({partition}, :partition), \
         {sort} = if_not_exists({sort}, :sort), {}, {}{removed}",
        set("last_order_at"),
        texts.join(", "),
    );
    let change = Change::new(update)
        .value(":entity", Guest::KIND)
        .value(":store_id", &order.store_id)
        .value(":guest", guest)
        .value(":currency", &order.currency)
        .value(":one", 1)
        .value(":none", 0)
        .value(":spent", order.net_revenue())
        .value(":at", order.created_at)
        .value(":now", order.updated_at)
        .value(":partition", place.pk)
        .value(":sort", place.sk)
        .value(":last_order_at", order.created_at);
    let change = MEMBERS.into_iter().chain(unsaid).fold(change, with_name);
    details.into_iter().fold(change, |change, (member, text)| {
        with_name(change, member).value(&format!(":{member}"), text)
    })
}

/// Binds the `#name` of a member.
fn with_name(change: Change, member: &str) -> Change {
    change.name(&format!("#{member}"), member)
}

/// Adds an order that is placed to its guest, if it has one.
pub(crate) fn assign_placed(write: Write, order: &Order) -> Write {
    assign(write, order, GuestAssignment::Placed)
}

fn assign(write: Write, order: &Order, occasion: GuestAssignment) -> Write {
    let (Some(guest), Some(email)) = (&order.guest, &order.email) else { return write };
    let change = count_order(order, guest, email, occasion);
    write.update(&key::guest(&order.store_id, guest), change, Code::VersionConflict)
}

/// Adds what a change of an order changes for its guest, or for two of them: the order leaves the one of
/// `before`, and is assigned to the one of `after`. The write is rejected with `version_conflict` if another order
/// was faster.
///
/// # Errors
/// 503.
pub async fn reassign(
    services: &Services,
    write: Write,
    (before, after): (&Order, &Order),
) -> Result<Write, Problem> {
    if before.guest == after.guest {
        return Ok(write);
    }
    let write = unassign(services, write, before, after.updated_at).await?;
    Ok(assign(write, after, GuestAssignment::Moved))
}

/// Takes an order off its guest, who is deleted with their last one.
async fn unassign(
    services: &Services,
    write: Write,
    order: &Order,
    now: Timestamp,
) -> Result<Write, Problem> {
    let Some(guest) = &order.guest else { return Ok(write) };
    let key = key::guest(&order.store_id, guest);
    let Some(known) = services.table.get::<Guest>(&key).await? else { return Ok(write) };
    if known.orders_count <= 1 {
        let is_last = Condition::is("orders_count", known.orders_count);
        return Ok(write.delete_if(&key, is_last, Code::VersionConflict));
    }
    let change = Change::new(
        "SET orders_count = orders_count - :one, spent = spent - :spent, updated_at = :now",
    )
    .only_if("orders_count > :one")
    .value(":one", 1)
    .value(":spent", order.net_revenue())
    .value(":now", now);
    Ok(write.update(&key, change, Code::VersionConflict))
}

/// Adds a payment to a guest's total; a refund is negative. Rejected if there is no such guest.
pub(crate) fn count_spent(
    write: Write,
    store: &StoreId,
    guest: &str,
    minor_units: i64,
    now: Timestamp,
) -> Write {
    let change = Change::new("SET spent = spent + :paid, updated_at = :now")
        .only_if("attribute_exists(PK)")
        .value(":paid", minor_units)
        .value(":now", now);
    write.update(&key::guest(store, guest), change, Code::VersionConflict)
}

core_types::view! {
    /// Somebody who has ordered without an account.
    GuestView of guest: Guest {
        /// The address, as the newest order has it.
        email: Email,
        /// The name that the newest order has: of its contact details, or else of its address.
        name: Option<String>,
        /// The telephone number that the newest order has, as it was written.
        phone: Option<Phone>,
        /// That number in E.164; none if it is no number of the address's country, nor one with a country code.
        phone_e164: Option<E164>,
        /// The number of orders placed.
        orders_count: u64,
        /// The total paid for orders.
        total_spent: Money = guest.total_spent(),
        /// When they ordered first.
        first_order_at: Timestamp,
        /// When they ordered last.
        last_order_at: Timestamp,
        /// When something of this was last changed.
        updated_at: Timestamp,
    }
}
