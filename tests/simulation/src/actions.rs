//! How each step is taken.

mod carts;
mod money;
pub(crate) mod orders;
mod store;

use std::time::Duration;

use local::providers::Trouble as ProviderTrouble;

use crate::run::Run;
use crate::step::{Action, Step, Trouble};

impl Run<'_> {
    /// Takes a step.
    pub(crate) async fn take(&self, step: &Step) {
        let trouble = step.trouble;
        match &step.action {
            Action::Stream { lost, is_doubled } => {
                self.world.stream(*lost, *is_doubled, trouble).await;
            }
            Action::Queues { is_lost, is_doubled } => {
                self.world.queues(*is_lost, *is_doubled, trouble).await;
            }
            Action::Receiver { failures } => self.world.receiver.fail(*failures),
            Action::Sweep { minutes } => {
                self.world.advance(Duration::from_secs(minutes.saturating_mul(60)));
                self.world.sweep(trouble).await;
            }
            Action::Restart => self.world.restart(),
            Action::AddToCart { shopper, line } => self.add_to_cart(step, *shopper, *line).await,
            Action::Cart { cart, what } => self.take_of_cart(step, *cart, what).await,
            Action::ProviderTrouble { kind } => self.world.providers.next([match kind {
                0 => ProviderTrouble::Pending,
                1 => ProviderTrouble::DoneButLate,
                2 => ProviderTrouble::Hang,
                _ => ProviderTrouble::Reject(500, "server_error"),
            }]),
            Action::Tell { event, is_doubled } => {
                self.tell_next(*event, *is_doubled, trouble).await;
            }
            Action::TellAgain { event } => {
                let event = self.one(|model| &model.told, *event);
                if let Some(event) = event {
                    self.tell(&event, trouble).await;
                }
            }
            _ => {
                if !self.take_of_orders(step).await && !self.take_of_money(step).await {
                    self.take_of_store(step).await;
                }
            }
        }
    }

    async fn tell_next(&self, number: u64, is_doubled: bool, trouble: Trouble) {
        let event = {
            let mut model = self.model.borrow_mut();
            let Ok(length) = u64::try_from(model.mailbag.len()) else { return };
            // The first mostly: out of order now and then.
            let place = if number.is_multiple_of(4) { number.checked_rem(length) } else { Some(0) };
            let place = place.and_then(|place| usize::try_from(place).ok());
            let Some(place) = place.filter(|place| *place < model.mailbag.len()) else { return };
            let event = model.mailbag.remove(place);
            model.told.push(event.clone());
            event
        };
        self.tell(&event, trouble).await;
        if is_doubled {
            self.tell(&event, Trouble::None).await;
        }
    }
}
