//! Customers created and changed by the store.

use std::time::Duration;

use core_types::fields::{E164, Email, Metadata, PersonName, Phone};
use core_types::id::CustomerId;
use core_types::resource::{Resource, change_with};
use primitives::clock::Timestamp;
use primitives::fields::{AtMost, Flag, Patch, Text};
use primitives::input::request;
use primitives::problem::{Code, Problem};
use primitives::version::ExpectedVersion;
use services::Services;
use table::item::Key;
use table::{Completion, Write};

use super::{CUSTOMER_CREATED, CUSTOMER_UPDATED, Customer, CustomerStatus, Identifier};
use crate::address::{Address, AddressInput};
use crate::phone;
use crate::store::Store;

/// The maximum number of tags, and of groups, of a customer.
pub(super) const MAX_WORDS: usize = 50;
/// The maximum length of a store's note about a customer, in characters.
pub(super) const MAX_NOTE: usize = 2_000;
/// The maximum number of addresses of a new customer, besides the default one.
const FURTHER_ADDRESSES: usize = 49;
/// The source of a consent that the store records, unless it gives another.
const BY_STORE: &str = "store";

/// A customer to create.
#[request]
#[derive(Debug, Clone)]
pub struct CreateRequest {
    /// The customer's address, with which they sign in once it is proven. A customer without one is identified by their
    /// telephone number, and has no account.
    email: Option<Email>,
    /// The person's name.
    name: Option<PersonName>,
    /// The person's telephone number. Without an address it must be one of the store's country, or have a country code.
    phone: Option<Phone>,
    /// Whether they accept marketing.
    accepts_marketing: Flag,
    /// The source of the consent; `store` by default.
    marketing_source: Option<Text<1, 100>>,
    /// When the consent, or its withdrawal, was given, if that was before now.
    marketing_consent_at: Option<Timestamp>,
    /// The store's own labels.
    tags: Option<AtMost<Text<1, 100>, MAX_WORDS>>,
    /// The groups to which the store assigns them.
    groups: Option<AtMost<Text<1, 100>, MAX_WORDS>>,
    /// The store's note about them.
    note: Option<Text<1, MAX_NOTE>>,
    /// Whether their orders are not taxed.
    tax_exempt: Flag,
    /// Whether the account may be used; `active` by default.
    status: Option<CustomerStatus>,
    /// Metadata of apps and merchants.
    metadata: Option<Metadata>,
    /// The first address of their address book, which is the default.
    address: Option<AddressInput>,
    /// Further addresses of their address book, at most 49.
    addresses: Option<AtMost<AddressInput, FURTHER_ADDRESSES>>,
}

impl CreateRequest {
    /// The customer's identifier at the store.
    ///
    /// # Errors
    /// A field error of `/email` or `/phone` if nothing does.
    pub fn identifier(&self, store: &Store) -> Result<Identifier, Problem> {
        let e164 = phone::e164_of(self.phone.as_ref(), &store.country);
        identified((self.email.as_ref(), e164.as_ref()), self.phone.is_some())
    }

    /// Validates what depends on the time.
    ///
    /// # Errors
    /// A field error of `/marketing_consent_at` if it is in the future.
    pub fn validate(&self, now: Timestamp) -> Result<(), Problem> {
        given_before(self.marketing_consent_at, now)
    }
}

/// Validates that a consent was not given in the future.
fn given_before(at: Option<Timestamp>, now: Timestamp) -> Result<(), Problem> {
    if at.is_some_and(|at| at > now) {
        let detail = "Must not be in the future.";
        return Err(Problem::field("/marketing_consent_at", "in_future", detail));
    }
    Ok(())
}

/// The customer with a consent or its withdrawal, now or at the time that is given.
fn consenting(
    customer: Customer,
    accepts: bool,
    (source, at): (Option<&Text<1, 100>>, Option<Timestamp>),
    now: Timestamp,
) -> Customer {
    let source = source.map_or(BY_STORE, |source| source.as_str());
    match at {
        Some(at) => customer.with_consent_of(accepts, source, at),
        None => customer.with_consent(accepts, source, now),
    }
}

/// The identifier of a customer with this address and number; `has_phone` tells whether there is a
/// number at all.
fn identified(
    (email, e164): (Option<&Email>, Option<&E164>),
    has_phone: bool,
) -> Result<Identifier, Problem> {
    Identifier::of(email, e164).ok_or_else(|| {
        if has_phone {
            let detail = "Without an e-mail address it must be a number of the store's country, or \
                          have a country code.";
            Problem::field("/phone", "invalid_phone", detail)
        } else {
            let detail = "A customer needs an e-mail address or a telephone number.";
            Problem::field("/email", "required", detail)
        }
    })
}

fn words(given: AtMost<Text<1, 100>, MAX_WORDS>) -> Vec<String> {
    let mut seen = std::collections::HashSet::new();
    let given = given.0.into_iter().map(String::from);
    given.filter(|word| seen.insert(word.clone())).collect()
}

/// Creates a customer for the store, without a password. The first sign-in by code proves the address.
///
/// # Errors
/// Field errors of `/marketing_consent_at`, and if nothing identifies them; `email_taken`, `phone_taken`;
/// `version_conflict`: a customer has this id.
pub async fn create<C: Completion<Customer>>(
    services: &Services,
    store: &Store,
    (id, input): (CustomerId, CreateRequest),
    now: Timestamp,
    completion: &C,
) -> Result<C::Output, Problem> {
    input.identifier(store)?;
    input.validate(now)?;
    let consent = (input.marketing_source.as_ref(), input.marketing_consent_at);
    let made = Customer::unknown(&store.id, &store.currency, now);
    let made = consenting(made, input.accepts_marketing.0, consent, now)
        .reached_at(input.phone, &store.country);
    let further = input.addresses.map(|addresses| addresses.0).unwrap_or_default();
    let all = input.address.into_iter().chain(further);
    // Addresses sort by their ids, which begin with their time.
    let addresses = all.enumerate().map(|(number, input)| {
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        let at = now.plus(Duration::from_millis(number));
        Address {
            created_at: now,
            updated_at: now,
            ..Address::add(&store.id, &id, input.into(), at)
        }
    });
    let addresses: Vec<Address> = addresses.collect();
    let customer = Customer {
        id,
        email: input.email,
        name: input.name.map(String::from),
        addresses_count: u32::try_from(addresses.len()).unwrap_or(u32::MAX),
        default_address_id: addresses.first().map(|address| address.id.clone()),
        tags: input.tags.map(words).unwrap_or_default(),
        groups: input.groups.map(words).unwrap_or_default(),
        note: input.note.map(String::from),
        tax_exempt: input.tax_exempt.0,
        status: input.status.unwrap_or(CustomerStatus::Active),
        metadata: input.metadata.map(|metadata| metadata.0).unwrap_or_default(),
        ..made
    };
    let write = customer.claim(services.table.write().create(&customer, Code::VersionConflict));
    let create = |write: Write, address: &Address| write.create(address, Code::VersionConflict);
    let write = addresses.iter().fold(write, create).emit(customer.event(&CUSTOMER_CREATED, now));
    completion.commit(write, &customer, now).await
}

/// A change of a customer by the store.
#[request]
#[derive(Debug, Clone)]
pub struct UpdateRequest {
    /// The e-mail address of a customer who has none. Afterwards only the customer can change it.
    email: Option<Email>,
    /// The person's name; `null` clears it.
    name: Patch<PersonName>,
    /// The person's telephone number; `null` clears it.
    phone: Patch<Phone>,
    /// Whether they accept marketing.
    accepts_marketing: Option<Flag>,
    /// The source of the consent; `store` by default.
    marketing_source: Option<Text<1, 100>>,
    /// When the consent, or its withdrawal, was given, if that was before now. A record that is later stays.
    marketing_consent_at: Option<Timestamp>,
    /// The store's own labels; replaces all of them.
    tags: Option<AtMost<Text<1, 100>, MAX_WORDS>>,
    /// The groups to which the store assigns them; replaces all of them.
    groups: Option<AtMost<Text<1, 100>, MAX_WORDS>>,
    /// The store's note about them; `null` clears it.
    note: Patch<Text<1, MAX_NOTE>>,
    /// Whether their orders are not taxed.
    tax_exempt: Option<Flag>,
    /// Metadata of apps and merchants; replaces all of it; `null` clears it.
    metadata: Patch<Metadata>,
    /// Whether the account may be used; a disabled account has no valid session.
    status: Option<CustomerStatus>,
}

impl UpdateRequest {
    /// Returns the customer with the changes.
    ///
    /// # Errors
    /// A field error of `/email` if they have another one, or if nothing identifies them any more; of
    /// `/marketing_consent_at` if it is in the future.
    fn apply(self, before: &Customer, store: &Store, now: Timestamp) -> Result<Customer, Problem> {
        given_before(self.marketing_consent_at, now)?;
        let mut wanted = before.clone();
        match (self.email, &before.email) {
            (Some(email), None) => wanted.email = Some(email),
            (Some(email), Some(own)) if email.normalized() != own.normalized() => {
                let detail = "Only the customer can change their e-mail address.";
                return Err(Problem::field("/email", "immutable", detail));
            }
            _ => {}
        }
        self.name.apply(&mut wanted.name);
        if self.phone != Patch::Keep {
            let mut phone = None;
            self.phone.apply(&mut phone);
            wanted = wanted.reached_at(phone, &store.country);
        }
        self.note.apply(&mut wanted.note);
        wanted.tags = self.tags.map_or(wanted.tags, words);
        wanted.groups = self.groups.map_or(wanted.groups, words);
        wanted.tax_exempt = self.tax_exempt.map_or(wanted.tax_exempt, |flag| flag.0);
        match self.metadata {
            Patch::Keep => {}
            Patch::Clear => wanted.metadata.clear(),
            Patch::Set(metadata) => wanted.metadata = metadata.0,
        }
        wanted.status = self.status.unwrap_or(wanted.status);
        let consent = (self.marketing_source.as_ref(), self.marketing_consent_at);
        let wanted = match self.accepts_marketing {
            Some(accepts) => consenting(wanted, accepts.0, consent, now),
            None => wanted,
        };
        let known = (wanted.email.as_ref(), wanted.phone_e164.as_ref());
        identified(known, wanted.phone.is_some())?;
        Ok(wanted)
    }
}

/// Changes some of a customer's data.
///
/// # Errors
/// `not_found`, `precondition_failed`; `email_taken`, `phone_taken`; field errors of `/email` and `/phone`.
pub async fn update<C: Completion<Customer>>(
    services: &Services,
    at: (&Store, &Key),
    expected: ExpectedVersion,
    input: UpdateRequest,
    completion: &C,
) -> Result<C::Output, Problem> {
    update_with(services, at, expected, input, |write| write, completion).await
}

/// As [`update`], with what `extend` adds to the transaction.
///
/// # Errors
/// As [`update`], and those of the added actions.
pub async fn update_with<C: Completion<Customer>>(
    services: &Services,
    (store, key): (&Store, &Key),
    expected: ExpectedVersion,
    input: UpdateRequest,
    extend: impl Fn(Write) -> Write,
    completion: &C,
) -> Result<C::Output, Problem> {
    let next = |before: &Customer, now| {
        let wanted = input.clone().apply(before, store, now)?;
        let seen = |customer: &Customer| serde_json::to_value(customer).map_err(Problem::internal);
        Ok((seen(&wanted)? != seen(before)?).then(|| wanted.changed(now)))
    };
    let extend =
        |write, (before, after): (&Customer, &Customer), _| extend(after.claim_anew(write, before));
    change_with(services, key, expected, &CUSTOMER_UPDATED, next, extend, completion).await
}
