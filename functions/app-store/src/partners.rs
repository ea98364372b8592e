//! The partner dashboard: how a developer's apps do.

use std::collections::BTreeMap;

use axum::extract::State;
use delivery::subscription::{HealthWord, Subscription};
use gateway::app::App;
use gateway::clock::{DAY, Timestamp};
use gateway::item::Key;
use gateway::problem::{Code, FieldError, Problem};
use gateway::reply::Json;
use gateway::request::{Given, Judgement, Query, Ruled, Rules, request};
use ground::id::AppId;
use ground::key;
use ground::rating::Rating;
use platform::app::{CommerceApp, MAX_APPS};
use platform::caller::{Developer, Merchant};
use platform::developer::{self, Developer as Profile};
use platform::usage::{self, Counter};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Number;

use crate::developer_apps;

/// The range when none is asked for.
const DEFAULT_RANGE: std::time::Duration = DAY.saturating_mul(30);
/// The widest range.
const MAX_RANGE: std::time::Duration = DAY.saturating_mul(90);
/// Scopes that are shown.
const TOP_SCOPES: usize = 10;

gateway::words! {
    /// How the series is cut.
    #[schemars(rename = "ReportInterval")]
    Interval {
        /// By UTC day.
        Day = "day",
    }
}

/// Which numbers.
#[request]
#[derive(Debug)]
pub struct DashboardQuery {
    /// From the UTC day of this time on; 30 days before `until` when left out.
    since: Option<Timestamp>,
    /// To the UTC day of this time; now when left out.
    until: Option<Timestamp>,
    /// Only this app.
    app_id: Option<AppId>,
    /// How the series is cut; there is one way.
    #[expect(dead_code, reason = "there is one interval, which needs no choosing")]
    interval: Option<Interval>,
}

impl DashboardQuery {
    /// The range in time.
    fn range(&self, now: Timestamp) -> Result<(Timestamp, Timestamp), Problem> {
        Self::between(self.since, self.until, now)
    }

    fn between(
        since: Option<Timestamp>,
        until: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<(Timestamp, Timestamp), Problem> {
        let until = until.unwrap_or(now);
        let since = since.unwrap_or_else(|| until.minus(DEFAULT_RANGE));
        if since > until {
            return Err(Problem::field("/since", "invalid_range", "Must not be after `until`."));
        }
        if since.plus(MAX_RANGE) < until {
            return Err(Problem::field("/since", "range_too_wide", "At most 90 days."));
        }
        Ok((since, until))
    }
}

impl Rules for DashboardQuery {
    async fn broken(given: Given<'_>, case: &Judgement<'_>) -> Vec<FieldError> {
        let (since, until) = (given.get("since"), given.get("until"));
        if given.has("since") != since.is_some() || given.has("until") != until.is_some() {
            return Vec::new();
        }
        let judged = Self::between(since, until, case.app.clock.now());
        judged.err().map(|problem| problem.errors().to_vec()).unwrap_or_default()
    }
}

/// Nothing.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Revenue {
    amount: u64,
    currency: &'static str,
}

/// The range as a whole.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct DashboardTotals {
    /// Apps that are not deleted.
    apps: usize,
    /// Stores that chose an app, in the range.
    installs: u64,
    /// Stores that an app is active on, now.
    active_installs: u64,
    /// Stores that removed an app, in the range.
    uninstalls: u64,
    /// Reviews, of all time.
    reviews: u64,
    /// The average of their stars.
    avg_rating: Option<Number>,
    /// Access tokens issued, in the range.
    token_exchanges: u64,
    /// Not known here: deliveries are counted by no app (`null`).
    webhook_success_rate: Option<Number>,
    /// The platform bills nothing for apps: always zero.
    revenue: Revenue,
}

/// A day.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct DashboardPoint {
    date: String,
    installs: u64,
    uninstalls: u64,
    token_exchanges: u64,
}

/// How far a scope reaches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScopeCount {
    scope: String,
    /// Active installations of the apps that are registered for it.
    count: u64,
}

/// What needs the developer's attention.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AttentionItem")]
pub struct Trouble {
    app_id: AppId,
    /// `webhook_failing`, `webhook_circuit_open` or `webhook_disabled`.
    code: &'static str,
    since: Option<Timestamp>,
    /// Attempts that failed since one succeeded.
    consecutive_failures: u32,
}

/// A developer's apps in numbers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PartnerDashboard {
    since: Timestamp,
    until: Timestamp,
    interval: Interval,
    totals: DashboardTotals,
    series: Vec<DashboardPoint>,
    top_scopes: Vec<ScopeCount>,
    errors: Vec<Trouble>,
}

/// `GET /v1/app-store/partners/dashboard` (`getPartnerDashboard`): Get the figures of your apps.
///
/// Shows the caller's apps in numbers.
///
/// Counters follow events
/// within seconds; days are UTC days, and whole.
///
/// # Errors
/// `not_registered`; `not_found` for another developer's app.
pub async fn dashboard(
    merchant: Merchant,
    State(app): State<App>,
    Ruled(Query(query)): Ruled<Query<DashboardQuery>>,
) -> Result<Json<PartnerDashboard>, Problem> {
    let profile: Option<Profile> = app.table.get(&key::developer(&merchant.account.id)).await?;
    let profile = profile.ok_or(Code::NotRegistered)?;
    let developer = Developer { account: merchant.account, profile };
    let (since, until) = query.range(app.clock.now())?;
    let apps = match &query.app_id {
        Some(id) => vec![developer_apps::own(&app, &developer, id).await?],
        None => app.table.all(&developer::apps_of(&developer.account.id), MAX_APPS).await?,
    };
    let mut counters = Vec::new();
    for each in &apps {
        counters.extend(usage::of_app(&app, &each.id, since, until).await?);
    }
    let series = series(&counters, since, until);
    Ok(Json::new(&PartnerDashboard {
        since,
        until,
        interval: Interval::Day,
        totals: totals(&apps, &series),
        top_scopes: top_scopes(&apps),
        errors: troubles(&app, &apps).await?,
        series,
    }))
}

/// Every day of the range, also those on which nothing happened.
fn series(counters: &[Counter], since: Timestamp, until: Timestamp) -> Vec<DashboardPoint> {
    let mut days: BTreeMap<String, DashboardPoint> = BTreeMap::new();
    let mut at = since;
    while at.day() <= until.day() {
        let date: String = at.to_string().chars().take(10).collect();
        days.insert(at.day(), DashboardPoint { date, ..DashboardPoint::default() });
        at = at.plus(DAY);
    }
    for counter in counters {
        if let Some(point) = days.get_mut(&counter.day) {
            point.installs = point.installs.saturating_add(counter.installs);
            point.uninstalls = point.uninstalls.saturating_add(counter.uninstalls);
            point.token_exchanges = point.token_exchanges.saturating_add(counter.token_exchanges);
        }
    }
    days.into_values().collect()
}

fn totals(apps: &[CommerceApp], series: &[DashboardPoint]) -> DashboardTotals {
    let over_days =
        |count: fn(&DashboardPoint) -> u64| series.iter().map(count).fold(0, u64::saturating_add);
    let over_apps =
        |count: fn(&CommerceApp) -> u64| apps.iter().map(count).fold(0, u64::saturating_add);
    let reviews = over_apps(|each| each.rating_count);
    DashboardTotals {
        apps: apps.len(),
        installs: over_days(|point| point.installs),
        active_installs: over_apps(|each| each.active_installs),
        uninstalls: over_days(|point| point.uninstalls),
        reviews,
        avg_rating: Rating::of(over_apps(|each| each.rating_sum), reviews).avg,
        token_exchanges: over_days(|point| point.token_exchanges),
        webhook_success_rate: None,
        revenue: Revenue { amount: 0, currency: "USD" },
    }
}

/// The scopes that reach furthest.
fn top_scopes(apps: &[CommerceApp]) -> Vec<ScopeCount> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for each in apps {
        for scope in each.scopes.iter() {
            let count = counts.entry(scope).or_default();
            *count = count.saturating_add(each.active_installs);
        }
    }
    let mut counts: Vec<ScopeCount> = counts
        .into_iter()
        .map(|(scope, count)| ScopeCount { scope: scope.to_owned(), count })
        .collect();
    counts.sort_by_key(|entry| std::cmp::Reverse(entry.count));
    counts.truncate(TOP_SCOPES);
    counts
}

/// The apps whose webhooks do not arrive.
async fn troubles(app: &App, apps: &[CommerceApp]) -> Result<Vec<Trouble>, Problem> {
    let hooks = apps.iter().filter_map(|each| {
        let hook = each.webhook_subscription_id.as_ref()?;
        Some((&each.id, key::app_subscription(&each.id, hook)))
    });
    let hooks: Vec<(&AppId, Key)> = hooks.collect();
    let keys: Vec<&Key> = hooks.iter().map(|(_, key)| key).collect();
    let mut batch = app.table.get_many(&keys).await?;
    let mut troubles = Vec::new();
    for (id, key) in &hooks {
        let Some(hook) = batch.take::<Subscription>(key)? else { continue };
        let code = match hook.health.word() {
            _ if !hook.is_enabled() => "webhook_disabled",
            HealthWord::CircuitOpen => "webhook_circuit_open",
            HealthWord::Failing => "webhook_failing",
            HealthWord::Healthy => continue,
        };
        troubles.push(Trouble {
            app_id: (*id).clone(),
            code,
            since: hook.health.failing_since,
            consecutive_failures: hook.health.consecutive_failures,
        });
    }
    Ok(troubles)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(day: &str, shard: char, installs: u64) -> Counter {
        let app_id = AppId::derive(&["a"]);
        let (uninstalls, authorizations, token_exchanges) = (0, 0, 1);
        let (day, version) = (day.to_owned(), 1);
        Counter {
            app_id,
            day,
            shard,
            installs,
            uninstalls,
            authorizations,
            token_exchanges,
            version,
        }
    }

    #[test]
    fn every_day_of_the_range_has_a_point_and_shards_add_up() {
        let since = Timestamp::parse("2026-01-30T12:00:00Z").unwrap();
        let until = Timestamp::parse("2026-02-01T01:00:00Z").unwrap();
        let counters = [counter("20260131", '0', 2), counter("20260131", 'f', 3)];
        let series = series(&counters, since, until);
        let dates: Vec<_> =
            series.iter().map(|point| (point.date.as_str(), point.installs)).collect();
        assert_eq!(dates, [("2026-01-30", 0), ("2026-01-31", 5), ("2026-02-01", 0)]);
        assert_eq!(totals(&[], &series).token_exchanges, 2);
    }
}
