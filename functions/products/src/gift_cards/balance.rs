//! Handlers that credit and debit the balance of a gift card.

use axum::extract::State;
use callers::StoreAccess;
use catalogue::inventory::retry_on_conflict;
use core_types::event::Event;
use core_types::id::GiftCardId;
use core_types::money::{self, MoneyInput};
use core_types::scope::WriteGiftCards;
use gateway::app::App;
use gateway::idempotency::Commit;
use gateway::idempotency::Required;
use gateway::reply::Json;
use gateway::request::{Body, IfMatch, Path};
use identity::store::Store;
use primitives::fields::Text;
use primitives::input::request;
use primitives::problem::{Code, FieldError, Problem};
use sales::gift_card::{
    GIFT_CARD_CREDITED, GIFT_CARD_DEBITED, GiftCardEntry, GiftCardEntryKind, GiftCardEntryView,
    GiftCardMoved, GiftCardView,
};
use schemars::JsonSchema;
use serde::Serialize;
use services::Services;

use super::{load, positive};

/// A credit or a debit of a gift card.
#[request]
#[derive(Debug)]
pub struct MoveRequest {
    /// The amount, in the store's currency.
    #[schemars(schema_with = "money::positive")]
    amount: MoneyInput,
    /// The reason, recorded with the transaction.
    reason: Text<1, 200>,
}

/// The change of a gift card's balance.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MovedBalance {
    #[serde(flatten)]
    card: GiftCardView,
    /// The transaction that was recorded.
    transaction: GiftCardEntryView,
}

/// `POST /v1/products/gift-cards/{id}/credit` (`creditGiftCard`): Credit a gift card.
///
/// The transaction is recorded with its reason.
///
/// # Errors
/// `idempotency_key_required`, `not_found`, `gift_card_disabled`, `gift_card_expired`,
/// `precondition_failed`.
pub async fn credit(
    caller: StoreAccess<WriteGiftCards>,
    State(app): State<App>,
    Path(id): Path<GiftCardId>,
    if_match: IfMatch,
    _: Required,
    Body(input): Body<MoveRequest>,
) -> Result<Json<MovedBalance>, Problem> {
    change(&app, &caller.store, (&id, &if_match), GiftCardEntryKind::Credited, &input).await
}

/// `POST /v1/products/gift-cards/{id}/debit` (`debitGiftCard`): Debit a gift card.
///
/// The balance never falls below zero.
///
/// # Errors
/// `idempotency_key_required`, `not_found`, `insufficient_balance`, `gift_card_disabled`,
/// `gift_card_expired`, `precondition_failed`.
pub async fn debit(
    caller: StoreAccess<WriteGiftCards>,
    State(app): State<App>,
    Path(id): Path<GiftCardId>,
    if_match: IfMatch,
    _: Required,
    Body(input): Body<MoveRequest>,
) -> Result<Json<MovedBalance>, Problem> {
    change(&app, &caller.store, (&id, &if_match), GiftCardEntryKind::Debited, &input).await
}

async fn change(
    services: &Services,
    store: &Store,
    (id, if_match): (&GiftCardId, &IfMatch),
    kind: GiftCardEntryKind,
    input: &MoveRequest,
) -> Result<Json<MovedBalance>, Problem> {
    let amount = input.amount.in_currency(&store.currency).and_then(positive);
    let amount =
        amount.map_err(|violation| Problem::invalid(vec![FieldError::at("/amount", violation)]))?;
    retry_on_conflict(|| async {
        let now = services.clock.now();
        let before = load(services, store, id).await?;
        if_match.check(before.version)?;
        let (card, topic) = if kind.is_debit() {
            (before.debited(&amount, now)?, &GIFT_CARD_DEBITED)
        } else {
            (before.credited(&amount, now)?, &GIFT_CARD_CREDITED)
        };
        let entry = GiftCardEntry {
            reason: Some(input.reason.as_str().to_owned()),
            ..GiftCardEntry::new((&card.store_id, &card.id), kind, &amount, now)
        };
        let view = GiftCardView::of(&card, now);
        let transaction = GiftCardEntryView::from(&entry);
        let moved = GiftCardMoved { gift_card: view.clone(), entry: transaction.clone() };
        let answer = Json::new(&MovedBalance { card: view, transaction }).version(card.version);
        services
            .table
            .write()
            .replace(&card, Code::VersionConflict)
            .create(&entry, Code::VersionConflict)
            .emit(Event::new(topic, card.event_subject(), &moved, now))
            .answer(answer, now)
            .await
    })
    .await
}
