//! The steps of a redaction: pages of its parts, one after the other.

use core_types::id::{RedactionId, StoreId};
use core_types::key;
use gateway::app::App;
use gateway::clock::Timestamp;
use gateway::item::Item;
use gateway::problem::Problem;
use gateway::table::{WalkPlace, Write};

use super::{CUSTOMER_REDACTED, Redaction, RedactionStatus, scrub};
use crate::person::{Part, PartPage};
use crate::steps::{Done, Next, Stay, Walking, save};

impl Walking for Redaction {
    fn is_over(&self) -> bool {
        !matches!(self.status, RedactionStatus::Scheduled | RedactionStatus::Running)
    }
    fn advanced(&self, place: Option<WalkPlace>, now: Timestamp) -> Self {
        match (place, self.part.next()) {
            (Some(place), _) => Self { place: Some(place), ..self.running(now) },
            (None, Some(part)) => Self { part, place: None, ..self.running(now) },
            (None, None) => self.ended(RedactionStatus::Succeeded, now),
        }
    }
    fn tell(&self, write: Write) -> Write {
        let is_done = self.status == RedactionStatus::Succeeded;
        write.also(is_done.then(|| self.event(&CUSTOMER_REDACTED)), Write::emit)
    }
}

/// Executes the next step, and returns the time of the step after it, if there is one. `forget_files` deletes
/// the store's files with personal data, and returns whether none is left.
///
/// # Errors
/// `version_conflict` if the redaction was changed concurrently; 503.
pub async fn step<F>(
    app: &App,
    id: &RedactionId,
    forget_files: F,
) -> Result<Option<Timestamp>, Problem>
where
    F: AsyncFn(&App, &StoreId) -> Result<bool, Problem>,
{
    let found = app.table.get::<Redaction>(&key::redaction(id)).await?;
    let Some(redaction) = found.filter(|redaction| !redaction.is_over()) else {
        return Ok(None);
    };
    let now = app.clock.now();
    if redaction.status == RedactionStatus::Scheduled {
        // The sweep resumes it on its day.
        if now < redaction.begins_at {
            return Ok(None);
        }
        let mut person = redaction.person();
        if person.has_unfinished_order(app).await? {
            save(app, &redaction.postponed(now)).await?;
            return Ok(None);
        }
    }
    let (mut redaction, stay) = (redaction, Stay::begin());
    loop {
        let done = page(app, &mut redaction, &forget_files).await;
        match stay.after(app, redaction, done).await? {
            Next::Page(next) => redaction = next,
            Next::Message(at) => return Ok(at),
        }
    }
}

/// Ends a redaction after a permanent error.
///
/// # Errors
/// `version_conflict` if the redaction was changed concurrently; 503.
pub async fn give_up(app: &App, id: &RedactionId) -> Result<(), Problem> {
    let found = app.table.get::<Redaction>(&key::redaction(id)).await?;
    match found.filter(|redaction| !redaction.is_over()) {
        Some(redaction) => save(app, &redaction.broken(app.clock.now())).await,
        None => Ok(()),
    }
}

async fn page<F>(app: &App, redaction: &mut Redaction, forget_files: &F) -> Result<Done, Problem>
where
    F: AsyncFn(&App, &StoreId) -> Result<bool, Problem>,
{
    let person = redaction.person();
    let place = redaction.place.clone();
    let place = place.as_ref();
    match redaction.part {
        Part::Account => Ok(done_if(scrub::account(app, &person).await?)),
        Part::Orders => orders(app, redaction).await,
        Part::GuestOrders => {
            // Unfinished orders were placed after the redaction began, and are not part of the request.
            let found = person.guest_orders(app, place).await;
            let over = found.map(|(mut orders, next)| {
                orders.retain(|order| !order.is_unfinished());
                (orders, next)
            });
            each(app, over, scrub::order).await
        }
        Part::GiftCards => each(app, person.gift_cards(app, place).await, scrub::gift_card).await,
        Part::Reviews => each(app, person.reviews(app, place).await, scrub::review).await,
        Part::Forms => each(app, person.forms(app, place).await, scrub::form).await,
        Part::Files => Ok(done_if(forget_files(app, &person.store_id).await?)),
    }
}

const fn done_if(is_all: bool) -> Done {
    if is_all { Done::All(None) } else { Done::NotYet }
}

/// Redacts a page of orders. Their proven addresses are saved before they are removed, because other data of
/// the person is found by them.
async fn orders(app: &App, redaction: &mut Redaction) -> Result<Done, Problem> {
    let mut person = redaction.person();
    let (found, next) = person.orders(app, redaction.place.as_ref()).await?;
    person.learn_from(&found);
    if person.emails != redaction.emails {
        let known = Redaction { emails: person.emails, ..redaction.running(app.clock.now()) };
        save(app, &known).await?;
        *redaction = known;
    }
    each(app, Ok((found, next)), scrub::order).await
}

async fn each<T: Item, F>(app: &App, page: PartPage<T>, scrub: F) -> Result<Done, Problem>
where
    F: AsyncFn(&App, &T) -> Result<bool, Problem>,
{
    let (found, next) = page?;
    let mut is_all = true;
    for one in &found {
        is_all &= scrub(app, one).await?;
    }
    Ok(if is_all { Done::All(next) } else { Done::NotYet })
}
