//! Sequences: what sixteen people and machines do, one step after another or at once.

mod draw;

use std::fmt;

use crate::random::Random;

/// The shortest and the longest sequence.
const LENGTHS: (i64, i64) = (5, 60);
/// The people and machines of a sequence: twelve shoppers, the merchant, a provider, a bank and the platform.
pub const SHOPPERS: u64 = 12;

/// Something that one of the actors does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The step's place in its sequence, which it keeps when others are dropped: its faults and its keys follow
    /// from it.
    pub number: u32,
    /// What is done.
    pub action: Action,
    /// Whether it is done at once with the step before.
    pub at_once: bool,
    /// What goes wrong meanwhile.
    pub trouble: Trouble,
    /// The seconds that pass afterwards.
    pub seconds: u32,
}

/// What goes wrong during a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing.
    None,
    /// So many percent of the table's calls.
    Table(u8),
    /// The process ends at its n-th call of the table.
    Kill(u32),
}

/// A thing that earlier steps have made: the n-th, counted round.
pub type Pick = u64;

/// How an order is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Outside the platform.
    Manual,
    /// Through Razorpay, which takes the money at once.
    Razorpay,
    /// Through Stripe, which holds it until it is captured.
    Stripe,
}

impl Method {
    /// The name in paths.
    pub fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Razorpay => "razorpay",
            Self::Stripe => "stripe",
        }
    }
}

/// What a refund is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// All that is left.
    Rest,
    /// An amount.
    Amount(i64),
    /// Units of the first line, that come back or were never sent.
    Units(i64, bool),
}

/// How a customer's payment ends at the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paying {
    /// It is paid.
    Pays,
    /// It is declined.
    Fails,
    /// It is a debit, which takes days (Stripe).
    Debits,
    /// It is paid twice (Razorpay), and the second payment is refunded.
    Twice,
}

/// What a shopper does with a cart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfCart {
    /// Its lines become these: variants and quantities.
    Change(Vec<(u64, i64)>),
    /// A code is applied, or none.
    Code(Option<Pick>),
    /// A gift card is to pay.
    Card(Pick),
    /// A customer signs in, and it becomes theirs; if they have this in a cart of another device, a part of that one.
    Merge { customer: Pick, own: Option<(u64, i64)> },
    /// It is ordered from so many tabs at once, in which the button is pressed twice or not.
    Order { method: Method, tabs: u64, is_doubled: bool },
    /// It is ordered at a total that the shopper has made up.
    Haggle,
    /// It is tried at another store.
    Elsewhere,
    /// It is deleted.
    Abandon,
}

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// A shopper adds to a cart: to the one that they have, or to a new one.
    AddToCart { shopper: u64, line: (u64, i64) },
    /// A shopper does something with a cart, which may be an order by then: the back button leads to it.
    Cart { cart: Pick, what: OfCart },
    /// A shopper orders.
    Checkout {
        shopper: u64,
        lines: Vec<(u64, i64)>,
        code: Option<Pick>,
        card: Option<Pick>,
        method: Method,
    },
    /// The merchant makes an order for a customer.
    Draft { customer: Pick, line: (u64, i64), card: Option<Pick> },
    /// The merchant confirms an order.
    Confirm { order: Pick },
    /// A shopper opens a payment.
    Open { order: Pick, method: Method },
    /// A customer pays at the provider.
    Pay { payment: Pick, how: Paying },
    /// A customer's debit is paid, or returned.
    EndDebit { payment: Pick, is_paid: bool },
    /// A provider sends its n-th event that is on its way, perhaps twice.
    Tell { event: Pick, is_doubled: bool },
    /// A provider sends an event again that it has sent before.
    TellAgain { event: Pick },
    /// A shopper comes back from the provider.
    Return { payment: Pick },
    /// The merchant asks the provider about a payment.
    Sync { payment: Pick },
    /// The merchant captures a payment.
    Capture { payment: Pick },
    /// The merchant voids a payment.
    Void { payment: Pick },
    /// The merchant has the money.
    MarkPaid { order: Pick },
    /// The merchant sends units.
    Fulfill { order: Pick, quantity: Option<i64> },
    /// The merchant takes a parcel back before it leaves.
    Unfulfill { order: Pick },
    /// The merchant cancels an order.
    Cancel { order: Pick, is_refunded: bool },
    /// A shopper cancels an order.
    GiveUp { order: Pick },
    /// The merchant refunds.
    Refund { order: Pick, of: Of },
    /// The merchant cancels units.
    CancelUnits { order: Pick, quantity: i64 },
    /// Units come back.
    ReturnUnits { order: Pick, quantity: i64 },
    /// The merchant closes an order, or opens it again.
    Close { order: Pick, is_reopened: bool },
    /// A bank disputes a payment.
    Dispute { payment: Pick, amount: Option<i64> },
    /// A bank decides a dispute.
    Decide { dispute: Pick, is_won: bool },
    /// The merchant refunds at the provider's own dashboard.
    Dashboard { payment: Pick, amount: i64 },
    /// A provider's next refund stays pending, its next answer is lost, or its next call fails.
    ProviderTrouble { kind: u64 },
    /// A provider ends a pending refund.
    EndRefund { refund: Pick, has_succeeded: bool },
    /// The merchant issues a gift card.
    Issue { value: i64 },
    /// The merchant changes a gift card's balance.
    Adjust { card: Pick, amount: i64 },
    /// The merchant disables or enables a gift card.
    SwitchCard { card: Pick, is_enabled: bool },
    /// The merchant disables or enables a discount.
    SwitchCode { code: Pick, is_enabled: bool },
    /// The merchant counts stock.
    Stock { variant: u64, location: u64, delta: i64 },
    /// The merchant sets stock with compare-and-set.
    SetStock { variant: u64, location: u64, quantity: i64 },
    /// The merchant moves stock from one state to another.
    MoveStock { variant: u64, location: u64, quantity: i64, is_back: bool },
    /// A guest or a customer is to be forgotten.
    Redact { shopper: u64, customer: Option<Pick> },
    /// Two customers become one.
    Merge { one: Pick, other: Pick },
    /// The merchant imports products.
    Import { products: i64 },
    /// The table's stream reaches the dispatcher; `lost` records never do, others come twice.
    Stream { lost: u64, is_doubled: bool },
    /// The queues' messages are worked on; lost ones never are, others come twice.
    Queues { is_lost: bool, is_doubled: bool },
    /// The receiver of webhooks fails so many times.
    Receiver { failures: u64 },
    /// Minutes pass, and the schedule runs.
    Sweep { minutes: u64 },
    /// The process is started anew.
    Restart,
}

/// A sequence of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequence {
    /// What it follows from.
    pub seed: u64,
    /// What is done.
    pub steps: Vec<Step>,
}

impl Sequence {
    /// The sequence of a seed.
    pub fn of(seed: u64) -> Self {
        let mut random = Random::of(seed);
        // Most are short: what is wrong between two steps is found by any sequence that has both.
        let (low, high) = LENGTHS;
        let length = random.between(low, high).min(random.between(low, high));
        let is_troubled = random.chance(40);
        let steps = (0..u32::try_from(length).unwrap_or(0))
            .map(|number| Step::draw(&mut random, number, is_troubled))
            .collect();
        Self { seed, steps }
    }

    /// The steps in groups that are done at once.
    pub fn groups(&self) -> Vec<Vec<&Step>> {
        let mut groups: Vec<Vec<&Step>> = Vec::new();
        for step in &self.steps {
            match groups.last_mut() {
                Some(group) if step.at_once && group.len() < 4 => group.push(step),
                _ => groups.push(vec![step]),
            }
        }
        groups
    }
}

impl fmt::Display for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.steps {
            let at_once = if step.at_once { " at once" } else { "" };
            write!(f, "  {:>2}{at_once} {:?}", step.number, step.action)?;
            match step.trouble {
                Trouble::None => {}
                trouble => write!(f, " with {trouble:?}")?,
            }
            writeln!(f, ", then {} s", step.seconds)?;
        }
        Ok(())
    }
}
