//! One bucket: an item that holds one number, the *theoretical arrival time* (TAT), when it would be
//! full again. A request of cost `c` moves it by `c * T` and is admitted while that stays within the
//! burst. All arithmetic is in the write's condition, so no number of parallel requests admits more
//! than `capacity + restore * t`.

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};

use super::Tier;
use crate::app::App;
use crate::caller::Identity;
use crate::clock::{DAY, Timestamp};
use crate::item::{Attributes, Key};
use crate::problem::Problem;
use crate::table;

/// Whose points, and how many there can be.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    key: Key,
    pub(super) tier: Tier,
}

/// What taking points out of a bucket came to.
pub(super) enum Taken {
    /// They were there; so many are left.
    Admitted(u32),
    /// They will be there in so many microseconds; so many are there now.
    Refused { available: u32, wait: i64 },
}

impl Bucket {
    pub(super) fn of(identity: &Identity) -> Self {
        let tier = identity.tier;
        Self { key: Key::new(format!("RLB#{}#{}", tier.name(), identity.subject), "A"), tier }
    }

    /// What this process last knew to be in it; full when it knows nothing. No more than a hint:
    /// other processes take out of it, too.
    pub(super) fn last_known(&self, app: &App) -> u32 {
        let now = micros(app.clock.now());
        app.admissions.tat(&self.key.pk).map_or(self.tier.capacity(), |tat| self.room(now, tat))
    }

    /// What is in it.
    pub(super) async fn read(&self, app: &App) -> Result<u32, Problem> {
        let answer = app
            .table
            .client()
            .get_item()
            .table_name(app.table.name())
            .set_key(Some(self.key.attributes()))
            .consistent_read(true)
            .send()
            .await
            .map_err(|error| table::unavailable(&error))?;
        let tat = answer.item.as_ref().and_then(tat_of).unwrap_or(0);
        Ok(self.room(micros(app.clock.now()), tat))
    }

    /// Takes `cost` points, if they are there.
    ///
    /// # Errors
    /// 503 when the table cannot be reached.
    pub(super) async fn take(&self, app: &App, cost: u32) -> Result<Taken, Problem> {
        let attempt = crate::id::mint("", app.clock.now());
        let increment = i64::from(cost).saturating_mul(self.tier.interval());
        let burst = self.burst();
        let mut idle = false;
        // A bucket that is full, and one that is not, are moved by different writes; a lost race for
        // one makes the other right. With each turn the two overlap a little more, at the caller's
        // cost and never beyond the burst, so that a bucket which many wake at once, slowly, does
        // not send them from one to the other.
        for turn in 0..TURNS {
            let overlap = OVERLAP_MICROS.saturating_mul(turn.saturating_sub(1));
            let now = micros(app.clock.now()).saturating_add(if idle { overlap } else { 0 });
            let old = match self.step(app, now, increment, idle, &attempt).await {
                BucketStep::Admitted(tat) => return Ok(self.admitted(app, now, tat)),
                BucketStep::Failed(problem) => return Err(problem),
                BucketStep::Refused(old) => old,
            };
            let tat = tat_of(&old).unwrap_or(0);
            if old.get("attempt").and_then(|id| id.as_s().ok()) == Some(&attempt) {
                // The reply to our own success was lost, and the SDK asked again.
                return Ok(self.admitted(app, now, tat));
            }
            let fits_at = tat.saturating_add(increment).saturating_sub(burst);
            if tat > now && fits_at > now {
                app.admissions.saw(&self.key.pk, tat, now);
                let (available, wait) = (self.room(now, tat), fits_at.saturating_sub(now));
                return Ok(Taken::Refused { available, wait });
            }
            idle = tat <= now;
        }
        Ok(Taken::Refused { available: 0, wait: 1_000_000 })
    }

    /// Gives back what was taken and not used. Sent once and never again: a repeated refund would
    /// admit too much, a lost one only a little less.
    pub(super) async fn refund(&self, app: &App, unused: u32) {
        let back = i64::from(unused).saturating_mul(self.tier.interval());
        let now = micros(app.clock.now());
        let once = aws_sdk_dynamodb::config::Builder::new().retry_config(RetryConfig::disabled());
        let sent = app
            .table
            .client()
            .update_item()
            .table_name(app.table.name())
            .set_key(Some(self.key.attributes()))
            .update_expression("SET tat = tat - :back")
            .condition_expression("tat > :floor")
            .expression_attribute_values(":back", number(back))
            .expression_attribute_values(":floor", number(now.saturating_add(back)))
            .customize()
            .config_override(once)
            .send()
            .await;
        match sent {
            Ok(_) => {
                let tat = app.admissions.tat(&self.key.pk).unwrap_or(now);
                app.admissions.saw(&self.key.pk, tat.saturating_sub(back), now);
            }
            Err(error) if is_refusal(&error) => {}
            Err(error) => tracing::debug!(cause = %table::unavailable(&error), "refund lost"),
        }
    }

    fn admitted(&self, app: &App, now: i64, tat: i64) -> Taken {
        app.admissions.saw(&self.key.pk, tat, now);
        Taken::Admitted(self.room(now, tat))
    }

    async fn step(
        &self,
        app: &App,
        now: i64,
        increment: i64,
        idle: bool,
        attempt: &str,
    ) -> BucketStep {
        let base = app
            .table
            .client()
            .update_item()
            .table_name(app.table.name())
            .set_key(Some(self.key.attributes()))
            .expression_attribute_values(":now", number(now))
            .expression_attribute_values(":id", AttributeValue::S(attempt.to_owned()))
            .expression_attribute_values(":kind", AttributeValue::S("rate_bucket".to_owned()))
            .expression_attribute_values(":ttl", number(app.clock.now().plus(DAY).seconds()))
            .expression_attribute_names("#ttl", "ttl")
            .return_values(aws_sdk_dynamodb::types::ReturnValue::AllNew)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let set = "attempt = :id, entity = :kind, #ttl = :ttl";
        let request = if idle {
            base.update_expression(format!("SET tat = :new, {set}"))
                .condition_expression("attribute_not_exists(tat) OR tat <= :now")
                .expression_attribute_values(":new", number(now.saturating_add(increment)))
        } else {
            let ceiling = now.saturating_add(self.burst()).saturating_sub(increment);
            base.update_expression(format!("SET tat = tat + :inc, {set}"))
                .condition_expression("tat > :now AND tat <= :ceiling AND attempt <> :id")
                .expression_attribute_values(":inc", number(increment))
                .expression_attribute_values(":ceiling", number(ceiling))
        };
        match request.send().await {
            Ok(answer) => {
                BucketStep::Admitted(answer.attributes.as_ref().and_then(tat_of).unwrap_or(now))
            }
            Err(error) => match refused_item(&error) {
                Some(old) => BucketStep::Refused(old),
                None => BucketStep::Failed(table::unavailable(&error)),
            },
        }
    }

    /// How far the TAT may lie ahead.
    fn burst(&self) -> i64 {
        i64::from(self.tier.capacity()).saturating_mul(self.tier.interval())
    }

    /// Whole points of room under the burst.
    fn room(&self, now: i64, tat: i64) -> u32 {
        let left = self.burst().saturating_sub(tat.saturating_sub(now).max(0)).max(0);
        let points = left.checked_div(self.tier.interval()).unwrap_or(0);
        u32::try_from(points).unwrap_or(0).min(self.tier.capacity())
    }
}

/// Turns before a contended bucket refuses.
const TURNS: i64 = 12;
/// How much further each turn reaches over a bucket that has just been woken.
const OVERLAP_MICROS: i64 = 50_000;

enum BucketStep {
    Admitted(i64),
    Refused(Attributes),
    Failed(Problem),
}

fn is_refusal<R>(error: &SdkError<UpdateItemError, R>) -> bool {
    matches!(error.as_service_error(), Some(UpdateItemError::ConditionalCheckFailedException(_)))
}

/// The item that refused a condition; empty when there is none.
fn refused_item<R>(error: &SdkError<UpdateItemError, R>) -> Option<Attributes> {
    match error.as_service_error() {
        Some(UpdateItemError::ConditionalCheckFailedException(refused)) => {
            Some(refused.item.clone().unwrap_or_default())
        }
        _ => None,
    }
}

pub(super) fn micros(time: Timestamp) -> i64 {
    time.millis().saturating_mul(1_000)
}

fn number(value: i64) -> AttributeValue {
    AttributeValue::N(value.to_string())
}

fn tat_of(attributes: &Attributes) -> Option<i64> {
    attributes.get("tat")?.as_n().ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::error::{
        ConditionalCheckFailedException, ProvisionedThroughputExceededException,
    };

    use super::*;

    #[test]
    fn a_bucket_has_room_for_whole_points_that_were_restored_and_no_more_than_it_holds() {
        let bucket = Bucket::of(&Identity::of_network("net"));
        let (point, now) = (33_334, 1_000_000_000);
        assert_eq!(bucket.burst(), 300 * point);
        for (ahead, room) in [
            (-5, 300),
            (0, 300),
            (1, 299),
            (point, 299),
            (point + 1, 298),
            (299 * point, 1),
            (299 * point + 1, 0),
            (300 * point, 0),
            (301 * point, 0),
        ] {
            assert_eq!(bucket.room(now, now + ahead), room, "{ahead} µs ahead");
        }
    }

    #[test]
    fn buckets_of_a_tier_or_a_subject_are_not_shared() {
        let of = |subject: &str, tier| {
            let identity = Identity { subject: subject.into(), ..Identity::of_network("net") };
            Bucket::of(&Identity { tier, ..identity }).key
        };
        let one = of("a", Tier::App);
        assert_eq!(one, of("a", Tier::App));
        assert!(one != of("b", Tier::App) && one != of("a", Tier::Merchant));
    }

    #[test]
    fn a_refused_condition_is_told_from_every_other_failure_and_shows_what_stood_in_its_way() {
        let item = Attributes::from([("tat".to_owned(), number(7))]);
        let refusal = |item: Option<Attributes>| {
            let refused = ConditionalCheckFailedException::builder().set_item(item).build();
            SdkError::service_error(UpdateItemError::ConditionalCheckFailedException(refused), ())
        };
        assert!(is_refusal(&refusal(None)));
        assert_eq!(refused_item(&refusal(Some(item.clone()))), Some(item.clone()));
        assert_eq!(refused_item(&refusal(None)), Some(Attributes::new()));
        let busy = ProvisionedThroughputExceededException::builder().build();
        let busy = SdkError::service_error(
            UpdateItemError::ProvisionedThroughputExceededException(busy),
            (),
        );
        assert!(!is_refusal(&busy) && refused_item(&busy).is_none());
        assert_eq!((tat_of(&item), tat_of(&Attributes::new())), (Some(7), None));
        assert_eq!(micros(Timestamp::from_millis(5)), 5_000);
    }
}
