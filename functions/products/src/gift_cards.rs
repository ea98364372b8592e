//! Handlers that issue, list, update, disable, credit and debit gift cards.

mod balance;

use axum::extract::State;
use callers::StoreAccess;
use core_types::event::{Event, Topic};
use core_types::fields::Email;
use core_types::id::{CustomerId, GiftCardId};
use core_types::key;
use core_types::mail::Mail;
use core_types::money::{self, Money, MoneyInput};
use core_types::resource;
use core_types::scope::{ReadGiftCards, WriteGiftCards};
use delivery::mail::allowance::{self, MailQuota};
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::idempotency::Required;
use gateway::page::Paging;
use gateway::reply::{Created, Json, NoStore, Page};
use gateway::request::{Body, IfMatch, Path, Query, RequestRules, Ruled, Validation};
use identity::store::{self, Store};
use primitives::clock::{DAY, Timestamp};
use primitives::fields::{Patch, Text, Violation};
use primitives::input::{Given, request};
use primitives::problem::{Code, FieldError, Problem};
use sales::gift_card::{
    GIFT_CARD_CREATED, GIFT_CARD_DISABLED, GIFT_CARD_ENABLED, GIFT_CARD_UPDATED, GiftCard,
    GiftCardCode, GiftCardEntry, GiftCardEntryKind, GiftCardEntryView, GiftCardStatus,
    GiftCardView, IssuedGiftCardView, LastCharacters, LastDay, NewGiftCard, Recipient,
};
use sales::notifications;
use services::Services;
use table::item::Item;
use table::{Condition, Query as TableQuery, Write};

pub use balance::{credit, debit};

/// The most that the mail of a card may be scheduled ahead.
const LATEST_SENDING: std::time::Duration = DAY.saturating_mul(366);

/// Filters of a list of gift cards.
#[request]
#[derive(Debug)]
pub struct ListQuery {
    /// Only cards with this status.
    status: Option<GiftCardStatus>,
    /// Only cards of this customer.
    customer_id: Option<CustomerId>,
    /// Only cards whose code ends with these four characters. Case is ignored.
    last_characters: Option<LastCharacters>,
}

/// `GET /v1/products/gift-cards` (`listGiftCards`): List gift cards of a store.
///
/// Cards come newest first, without their codes.
///
/// # Errors
/// `invalid_cursor`.
pub async fn list(
    caller: StoreAccess<ReadGiftCards>,
    State(app): State<App>,
    Query(input): Query<ListQuery>,
    paging: Paging,
) -> Result<Page<GiftCardView>, Problem> {
    let now = app.clock.now();
    let wanted = |card: &GiftCard| {
        input.status.is_none_or(|status| card.status_at(now) == status)
            && input.customer_id.as_ref().is_none_or(|id| card.customer_id.as_ref() == Some(id))
            && input
                .last_characters
                .as_ref()
                .is_none_or(|ending| card.last_characters == ending.as_str())
    };
    let all = key::list::gift_cards_of_store(&caller.store.id);
    let query = TableQuery::list(all).newest_first();
    paging.query(&app, &query, wanted, |card| GiftCardView::of(&card, now)).await
}

/// A gift card to issue.
#[request]
#[derive(Debug)]
pub struct IssueRequest {
    /// The initial balance, in the store's currency.
    #[schemars(schema_with = "money::positive")]
    initial_value: MoneyInput,
    /// The code; a random one by default.
    code: Option<GiftCardCode>,
    /// The customer it belongs to.
    customer_id: Option<CustomerId>,
    /// The recipient, to whom the code is mailed.
    recipient: Option<RecipientRequest>,
    /// The last day on which it can be spent, until its end in the store's time zone.
    expires_on: Option<LastDay>,
    /// A note for the merchant.
    note: Option<Text<1, 500>>,
}

/// The recipient of a gift card.
#[request]
#[derive(Debug)]
struct RecipientRequest {
    /// The address to which the code is mailed.
    email: Email,
    /// The sender's message.
    message: Option<Text<1, 500>>,
    /// When it is mailed; at once by default, within a year at the latest. A card that is disabled or
    /// expired by then is not mailed.
    send_at: Option<Timestamp>,
}

impl RequestRules for IssueRequest {
    /// Validates what does not depend on the store, if other fields are malformed.
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        if given.is::<Self>() {
            return Vec::new();
        }
        let now = validation.app.clock.now();
        let value = given.get::<MoneyInput>("initial_value");
        let nothing = value
            .filter(|value| value.amount.0 == 0)
            .map(|_| FieldError::new("/initial_value", "out_of_range", "Must be greater than 0."));
        let recipient = given.get::<RecipientRequest>("recipient");
        let send_at = recipient.and_then(|recipient| recipient.send_at);
        let late = send_at
            .filter(|at| now.plus(LATEST_SENDING) < *at)
            .map(|_| FieldError::new("/recipient/send_at", "too_late", "Must be within a year."));
        nothing.into_iter().chain(late).collect()
    }
}

impl IssueRequest {
    /// The card to issue and its code; validates the fields that depend on the store or on each other.
    fn issue(self, store: &Store, now: Timestamp) -> Result<(NewGiftCard, GiftCardCode), Problem> {
        let mut errors = Vec::new();
        let value = self.initial_value.in_currency(&store.currency).and_then(positive);
        let initial_value = value.unwrap_or_else(|violation| {
            errors.push(FieldError::at("/initial_value", violation));
            Money::zero(&store.currency)
        });
        errors.extend(self.expires_on.as_ref().and_then(|day| in_past(day, store, now)));
        let end = self.expires_on.as_ref().and_then(|day| day.end(&store.timezone));
        let latest = now.plus(LATEST_SENDING);
        let send_at = self.recipient.as_ref().and_then(|recipient| recipient.send_at);
        if send_at.is_some_and(|at| latest < at) {
            let violation = Violation::new("too_late", "Must be within a year.");
            errors.push(FieldError::at("/recipient/send_at", violation));
        } else if send_at.zip(end).is_some_and(|(at, end)| end <= at) {
            let violation = Violation::new("after_expiry", "Must be before the gift card expires.");
            errors.push(FieldError::at("/recipient/send_at", violation));
        }
        if !errors.is_empty() {
            return Err(Problem::invalid(errors));
        }
        let recipient = self.recipient.map(|input| Recipient {
            email: input.email,
            message: input.message.map(String::from),
            send_at: input.send_at,
        });
        let issue = NewGiftCard {
            initial_value,
            expires_on: self.expires_on,
            customer_id: self.customer_id,
            recipient,
            note: self.note.map(String::from),
        };
        Ok((issue, self.code.unwrap_or_else(GiftCardCode::random)))
    }
}

/// Ensures that an amount is more than zero.
pub(crate) fn positive(amount: Money) -> Result<Money, Violation> {
    if amount.is_zero() {
        Err(Violation::new("out_of_range", "Must be greater than 0."))
    } else {
        Ok(amount)
    }
}

fn in_past(day: &LastDay, store: &Store, now: Timestamp) -> Option<FieldError> {
    let has_passed = day.end(&store.timezone).is_none_or(|end| end <= now);
    let violation = || Violation::new("in_past", "Must not be in the past.");
    has_passed.then(|| FieldError::at("/expires_on", violation()))
}

/// `POST /v1/products/gift-cards` (`createGiftCard`): Create a gift card.
///
/// Only this response and the mail to the recipient contain the code. A repetition with the same
/// `Idempotency-Key` returns the same response, with the code. The event is `gift_card.created`.
///
/// # Errors
/// `idempotency_key_required`, `code_taken`; `unknown_customer` as a field error;
/// `email_unverified`, `mail_limit` when it is to be mailed.
pub async fn create(
    caller: StoreAccess<WriteGiftCards>,
    State(app): State<App>,
    _: Required,
    Ruled(Body(input)): Ruled<Body<IssueRequest>>,
) -> Result<NoStore<Created<IssuedGiftCardView>>, Problem> {
    let (store, now) = (&caller.store, app.clock.now());
    let (issue, code) = input.issue(store, now)?;
    // Mail to others requires a merchant with a proven address of their own.
    let quota = match issue.recipient {
        Some(_) => Some(MailQuota::of(&app, store).await?),
        None => None,
    };
    if quota.as_ref().is_some_and(|quota| !quota.is_proven) {
        return Err(Code::EmailUnverified.into());
    }
    let mac = app.secrets.gift_card_key().await?;
    let card = GiftCard::issue(store, issue, &code, &mac, now);
    let of = (&card.store_id, &card.id);
    let entry = GiftCardEntry::new(of, GiftCardEntryKind::Issued, &card.initial_value, now);
    let mail = match &card.recipient {
        None => None,
        Some(to) => {
            let message = notifications::gift_card(to, &card, &code);
            let mail = Mail::compose(&*app.secrets.mail_key().await?, &message, now)?;
            Some(mail.scheduled(to.send_at.unwrap_or(now)))
        }
    };
    let view = GiftCardView::of(&card, now);
    let event = Event::new(&GIFT_CARD_CREATED, card.event_subject(), &view, now);
    let issued = IssuedGiftCardView { card: view, code: code.reveal().to_owned() };
    let write = app
        .table
        .write()
        .create(&card.unique_code(), Code::CodeTaken)
        .create(&card, Code::VersionConflict)
        .create(&entry, Code::VersionConflict)
        .when_some(mail, Write::emit)
        .when_some(card.recipient.as_ref().zip(quota.as_ref()), |write, (to, quota)| {
            let at = to.send_at.unwrap_or(now).max(now);
            allowance::count_gift_card(write, quota, &to.email, at)
        })
        .emit(event);
    let write = store::lock_currency(write, store);
    with_customer(write, store, card.customer_id.as_ref())
        .answer(Created::new(&issued).version(card.version).no_store(), now)
        .await
}

/// Ensures that the customer of a card exists.
fn with_customer(write: Write, store: &Store, customer: Option<&CustomerId>) -> Write {
    write.when_some(customer, |write, customer| {
        let exists = Condition::new("attribute_exists(PK)");
        let detail = "There is no such customer.";
        let unknown = Problem::field("/customer_id", "unknown_customer", detail);
        write.check(&key::customer(&store.id, customer), exists, unknown)
    })
}

/// Loads a gift card of the store.
async fn load(services: &Services, store: &Store, id: &GiftCardId) -> Result<GiftCard, Problem> {
    resource::load(services, &key::gift_card(&store.id, id)).await
}

fn to_response(card: &GiftCard, now: Timestamp) -> Json<GiftCardView> {
    Json::new(&GiftCardView::of(card, now)).version(card.version)
}

/// `GET /v1/products/gift-cards/{id}` (`getGiftCard`): Get a gift card without its code.
///
/// The response has only the last characters of the code.
///
/// # Errors
/// `not_found`.
pub async fn get(
    caller: StoreAccess<ReadGiftCards>,
    State(app): State<App>,
    Path(id): Path<GiftCardId>,
) -> Result<Json<GiftCardView>, Problem> {
    Ok(to_response(&load(&app, &caller.store, &id).await?, app.clock.now()))
}

/// The changes of a gift card.
#[request]
#[derive(Debug)]
pub struct UpdateRequest {
    /// The last day on which it can be spent, until its end in the store's time zone; `null` removes it.
    expires_on: Patch<LastDay>,
    /// The customer it belongs to; `null` removes the customer.
    customer_id: Patch<CustomerId>,
    /// A note for the merchant.
    note: Patch<Text<1, 500>>,
}

/// `PATCH /v1/products/gift-cards/{id}` (`updateGiftCard`): Update a gift card.
///
/// An expired card becomes valid again with a later last day. The event is `gift_card.updated`; an update
/// without a difference sends none.
///
/// # Errors
/// `not_found`, `precondition_failed`, `version_conflict`; `unknown_customer` as a field error.
pub async fn update(
    caller: StoreAccess<WriteGiftCards>,
    State(app): State<App>,
    Path(id): Path<GiftCardId>,
    if_match: IfMatch,
    Body(input): Body<UpdateRequest>,
) -> Result<Json<GiftCardView>, Problem> {
    let now = app.clock.now();
    let before = load(&app, &caller.store, &id).await?;
    if_match.check(before.version)?;
    let mut wanted = before.clone();
    if let Patch::Set(day) = &input.expires_on {
        let has_passed = in_past(day, &caller.store, now);
        has_passed.map_or(Ok(()), |error| Err(Problem::invalid(vec![error])))?;
    }
    input.expires_on.apply(&mut wanted.expires_on);
    if wanted.expires_on != before.expires_on {
        let day = wanted.expires_on.as_ref();
        wanted.expires_at = day.and_then(|day| day.end(&caller.store.timezone));
    }
    input.customer_id.apply(&mut wanted.customer_id);
    input.note.apply(&mut wanted.note);
    if wanted == before {
        return Ok(to_response(&before, now));
    }
    let card = wanted.changed(now);
    let given = card.customer_id.as_ref().filter(|id| before.customer_id.as_ref() != Some(id));
    let view = GiftCardView::of(&card, now);
    with_customer(app.table.write(), &caller.store, given)
        .replace(&card, Code::VersionConflict)
        .emit(Event::new(&GIFT_CARD_UPDATED, card.event_subject(), &view, now))
        .answer(to_response(&card, now), now)
        .await
}

/// `POST /v1/products/gift-cards/{id}/disable` (`disableGiftCard`): Disable a gift card.
///
/// Its balance stays recorded, and cannot be spent until it is enabled again. The event is `gift_card.disabled`.
///
/// # Errors
/// `not_found`, `gift_card_disabled`, `precondition_failed`, `version_conflict`.
pub async fn disable(
    caller: StoreAccess<WriteGiftCards>,
    State(app): State<App>,
    Path(id): Path<GiftCardId>,
    if_match: IfMatch,
) -> Result<Json<GiftCardView>, Problem> {
    switch(&app, &caller.store, (&id, &if_match), GiftCard::disabled, &GIFT_CARD_DISABLED).await
}

/// `POST /v1/products/gift-cards/{id}/enable` (`enableGiftCard`): Enable a disabled gift card.
///
/// Its balance can be spent again, unless it has expired. The event is `gift_card.enabled`.
///
/// # Errors
/// `not_found`, `invalid_state_transition`, `precondition_failed`, `version_conflict`.
pub async fn enable(
    caller: StoreAccess<WriteGiftCards>,
    State(app): State<App>,
    Path(id): Path<GiftCardId>,
    if_match: IfMatch,
) -> Result<Json<GiftCardView>, Problem> {
    switch(&app, &caller.store, (&id, &if_match), GiftCard::enabled, &GIFT_CARD_ENABLED).await
}

/// Disables or enables a card.
async fn switch(
    services: &Services,
    store: &Store,
    (id, if_match): (&GiftCardId, &IfMatch),
    transition: fn(&GiftCard, Timestamp) -> Result<GiftCard, Problem>,
    topic: &Topic<GiftCardView>,
) -> Result<Json<GiftCardView>, Problem> {
    catalogue::inventory::retry_on_conflict(|| async {
        let now = services.clock.now();
        let before = load(services, store, id).await?;
        if_match.check(before.version)?;
        let card = transition(&before, now)?;
        let view = GiftCardView::of(&card, now);
        services
            .table
            .write()
            .replace(&card, Code::VersionConflict)
            .emit(Event::new(topic, card.event_subject(), &view, now))
            .answer(to_response(&card, now), now)
            .await
    })
    .await
}

/// `GET /v1/products/gift-cards/{id}/transactions` (`listGiftCardTransactions`): List transactions of a gift card.
///
/// Transactions come newest first.
///
/// # Errors
/// `not_found`, `invalid_cursor`.
pub async fn list_transactions(
    caller: StoreAccess<ReadGiftCards>,
    State(app): State<App>,
    Path(id): Path<GiftCardId>,
    paging: Paging,
) -> Result<Page<GiftCardEntryView>, Problem> {
    let card = load(&app, &caller.store, &id).await?;
    let query =
        TableQuery::partition(card.key().pk).begins_with(key::GIFT_CARD_ENTRIES).newest_first();
    let view = |entry: GiftCardEntry| GiftCardEntryView::from(&entry);
    paging.query(&app, &query, |_| true, view).await
}
