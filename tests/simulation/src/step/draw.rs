//! What the next step of a sequence is: each action by its weight.

use super::{Action, Method, Of, OfCart, Paying, Pick, SHOPPERS, Step, Trouble};
use crate::random::Random;

impl Step {
    pub(super) fn draw(random: &mut Random, number: u32, is_troubled: bool) -> Self {
        let trouble = match random.below(100) {
            0..20 if is_troubled => {
                Trouble::Table(u8::try_from(random.between(3, 25)).unwrap_or(3))
            }
            20..35 if is_troubled => {
                Trouble::Kill(u32::try_from(random.between(1, 16)).unwrap_or(1))
            }
            _ => Trouble::None,
        };
        let seconds = match random.below(20) {
            0 => random.between(600, 4_000),
            1 => random.between(86_400, 200_000),
            _ => random.between(1, 20),
        };
        Self {
            number,
            action: if number < 2 { Action::checkout(random) } else { Action::draw(random) },
            at_once: number > 0 && random.chance(15),
            trouble,
            seconds: u32::try_from(seconds).unwrap_or(1),
        }
    }
}

impl Action {
    fn checkout(random: &mut Random) -> Self {
        let lines =
            (0..=random.below(2)).map(|_| (random.below(3), random.between(1, 4))).collect();
        let methods = [Method::Manual, Method::Razorpay, Method::Stripe];
        Self::Checkout {
            shopper: random.below(SHOPPERS),
            lines,
            code: random.chance(40).then(|| random.number()),
            card: random.chance(30).then(|| random.number()),
            method: random.one_of(&methods).unwrap_or(Method::Manual),
        }
    }

    fn draw(random: &mut Random) -> Self {
        let pick = random.number();
        match random.below(100) {
            0..6 => Self::checkout(random),
            6..16 => Self::of_cart(random, pick),
            16..25 => {
                let method = if random.chance(50) { Method::Razorpay } else { Method::Stripe };
                Self::Open { order: pick, method }
            }
            25..36 => {
                let how = match random.below(10) {
                    0 => Paying::Fails,
                    1 => Paying::Debits,
                    2 => Paying::Twice,
                    _ => Paying::Pays,
                };
                Self::Pay { payment: pick, how }
            }
            36..44 => Self::Tell { event: pick, is_doubled: random.chance(30) },
            44..56 => Self::of_order(random, pick),
            56..64 => Self::of_money(random, pick),
            64..72 => Self::of_payment(random, pick),
            72..86 => Self::of_store(random, pick),
            _ => Self::of_platform(random),
        }
    }

    fn of_cart(random: &mut Random, cart: Pick) -> Self {
        let line = |random: &mut Random| (random.below(3), random.between(1, 4));
        let what = match random.below(20) {
            0..7 => {
                let shopper = random.below(SHOPPERS);
                return Self::AddToCart { shopper, line: line(random) };
            }
            7 | 8 => OfCart::Change((0..=random.below(2)).map(|_| line(random)).collect()),
            9 => OfCart::Code(random.chance(80).then(|| random.number())),
            10 => OfCart::Card(random.number()),
            11 | 12 => {
                let own = random.chance(50).then(|| line(random));
                OfCart::Merge { customer: random.number(), own }
            }
            13 => OfCart::Haggle,
            14 => OfCart::Elsewhere,
            15 => OfCart::Abandon,
            _ => {
                let methods = [Method::Manual, Method::Razorpay, Method::Stripe];
                let method = random.one_of(&methods).unwrap_or(Method::Manual);
                let tabs = random.below(3).saturating_add(1);
                OfCart::Order { method, tabs, is_doubled: random.chance(50) }
            }
        };
        Self::Cart { cart, what }
    }

    fn of_order(random: &mut Random, order: Pick) -> Self {
        match random.below(10) {
            0..3 => Self::MarkPaid { order },
            3..5 => {
                let quantity = random.chance(60).then(|| random.between(1, 3));
                Self::Fulfill { order, quantity }
            }
            5 => Self::Unfulfill { order },
            6 => Self::ReturnUnits { order, quantity: random.between(1, 2) },
            7 => Self::CancelUnits { order, quantity: random.between(1, 2) },
            8 => Self::Confirm { order },
            _ => Self::Close { order, is_reopened: random.chance(40) },
        }
    }

    fn of_money(random: &mut Random, order: Pick) -> Self {
        match random.below(10) {
            0..3 => Self::Cancel { order, is_refunded: random.chance(80) },
            3 => Self::GiveUp { order },
            _ => {
                let of = match random.below(3) {
                    0 => Of::Rest,
                    1 => Of::Amount(random.between(1, 3_000)),
                    _ => Of::Units(random.between(1, 2), random.chance(50)),
                };
                Self::Refund { order, of }
            }
        }
    }

    fn of_payment(random: &mut Random, payment: Pick) -> Self {
        match random.below(12) {
            0 => Self::Return { payment },
            1 | 2 => Self::Sync { payment },
            3 | 4 => Self::Capture { payment },
            5 => Self::Void { payment },
            6 => {
                let amount = random.chance(50).then(|| random.between(100, 2_000));
                Self::Dispute { payment, amount }
            }
            7 => Self::Decide { dispute: payment, is_won: random.chance(50) },
            8 => Self::Dashboard { payment, amount: random.between(1, 1_500) },
            9 => Self::EndDebit { payment, is_paid: random.chance(60) },
            10 => Self::EndRefund { refund: payment, has_succeeded: random.chance(70) },
            _ => Self::TellAgain { event: payment },
        }
    }

    fn of_store(random: &mut Random, pick: Pick) -> Self {
        let (variant, location) = (random.below(3), random.below(2));
        match random.below(16) {
            0 => Self::Issue { value: random.between(100, 5_000) },
            1 | 2 => Self::Adjust { card: pick, amount: random.between(-800, 800) },
            3 => Self::SwitchCard { card: pick, is_enabled: random.chance(60) },
            4 => Self::SwitchCode { code: pick, is_enabled: random.chance(70) },
            5 | 6 => Self::Stock { variant, location, delta: random.between(-3, 6) },
            7 => Self::SetStock { variant, location, quantity: random.between(0, 12) },
            8 | 9 => {
                let quantity = random.between(1, 4);
                Self::MoveStock { variant, location, quantity, is_back: random.chance(50) }
            }
            10 => Self::Redact {
                shopper: random.below(SHOPPERS),
                customer: random.chance(50).then_some(pick),
            },
            11 => Self::Merge { one: pick, other: random.number() },
            12 => Self::Import { products: random.between(1, 4) },
            13 | 14 => {
                let line = (variant, random.between(1, 3));
                Self::Draft {
                    customer: pick,
                    line,
                    card: random.chance(30).then(|| random.number()),
                }
            }
            _ => Self::ProviderTrouble { kind: random.below(4) },
        }
    }

    fn of_platform(random: &mut Random) -> Self {
        match random.below(10) {
            0..3 => Self::Stream { lost: random.below(3), is_doubled: random.chance(40) },
            3..6 => Self::Queues { is_lost: random.chance(25), is_doubled: random.chance(40) },
            6 => Self::Receiver { failures: random.below(4).saturating_add(1) },
            7 | 8 => Self::Sweep { minutes: random.below(45) },
            _ => Self::Restart,
        }
    }
}
