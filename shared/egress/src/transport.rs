//! What carries requests instead of the network, in a system that is one process.

use std::pin::Pin;

use crate::{Incoming, Outgoing, SendError};

/// The answer of a [`Transport`].
pub type Sending<'a> = Pin<Box<dyn Future<Output = Result<Incoming, SendError>> + Send + 'a>>;

/// The other side of every request. Its destination is validated, and the deadline is kept, as for the network.
pub trait Transport: Send + Sync {
    /// Carries one request, and gives the answer.
    fn send(&self, request: Outgoing) -> Sending<'_>;
}
