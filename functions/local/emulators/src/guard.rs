//! The guard, which plays IAM: it checks a function's calls to AWS against the function's policy in the
//! template, and records used and denied permissions.

mod asked;
mod policy;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_sdk_dynamodb::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_dynamodb::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_dynamodb::error::BoxError;

use asked::asked;
pub use policy::{FOREIGN_QUEUES, Permission, Statement, Use, is_like};

/// Checks every call of one function. Clones share their records.
#[derive(Debug, Clone)]
pub struct Guard(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    function: String,
    policy: Vec<Statement>,
    names: BTreeMap<String, String>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    used: BTreeSet<Use>,
    rejected: BTreeSet<String>,
}

impl Guard {
    /// Creates the guard of a function with this policy. `names` has the template's names of resources by
    /// their local names: a table's or a secret's name, or a queue's URL.
    pub fn new(function: String, policy: Vec<Statement>, names: BTreeMap<String, String>) -> Self {
        Self(Arc::new(Inner { function, policy, names, seen: Mutex::default() }))
    }

    /// The permissions that were used so far, with every leading-key pattern that a partition key matched.
    pub fn used(&self) -> BTreeSet<Use> {
        self.seen().used.clone()
    }

    /// The permissions that were denied so far. A function may continue after a denied call, so a passing
    /// test does not prove that none was.
    pub fn rejected(&self) -> BTreeSet<String> {
        self.seen().rejected.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn validate(&self, target: &str, body: &[u8]) -> Result<(), BoxError> {
        match self.allow(target, body) {
            Ok(used) => {
                self.seen().used.extend(used);
                Ok(())
            }
            Err(rejected) => {
                let function = &self.0.function;
                let rejection = format!(
                    "template.yaml gives the function {function} no {rejected}: add it to its Policies"
                );
                tracing::error!(rejection, "AccessDeniedException");
                self.seen().rejected.insert(rejected);
                Err(rejection.into())
            }
        }
    }

    /// Evaluates a call. Each of its actions must be allowed by a single statement for every partition key of
    /// the call: `ForAllValues` tests all of them, and statements do not add up. For a transaction, AWS does
    /// not document whether an action is evaluated with the keys of its own parts or with all; all is
    /// stricter.
    fn allow(&self, target: &str, body: &[u8]) -> Result<BTreeSet<Use>, String> {
        let Inner { policy, names, .. } = &*self.0;
        let asked = asked(target, body, names).map_err(|cause| format!("{target}: {cause}"))?;
        let keys: BTreeSet<&str> = asked.values().flatten().map(String::as_str).collect();
        let mut used = BTreeSet::new();
        for (permission, own) in &asked {
            let about = policy.iter().filter(|it| it.is_about(permission));
            let (denying, giving): (Vec<&Statement>, Vec<_>) = about.partition(|it| it.denies);
            if !denying.is_empty() {
                return Err(format!("{permission}, which it denies"));
            }
            let Some(statement) = giving.iter().find(|it| it.takes(&keys)) else {
                let is_taken = |key: &&str| giving.iter().any(|it| it.takes(&[*key].into()));
                let (taken, outside): (Vec<&str>, Vec<&str>) = keys.into_iter().partition(is_taken);
                let rejected = if outside.is_empty() { taken } else { outside };
                return Err(format!("{permission} {}", rejected.join(", ")).trim_end().to_owned());
            };
            used.extend(statement.uses(permission, own));
        }
        Ok(used)
    }
}

impl Intercept for Guard {
    fn name(&self) -> &'static str {
        "Guard"
    }

    fn read_after_serialization(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let request = context.request();
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        self.validate(target, request.body().bytes().unwrap_or_default())
    }
}
