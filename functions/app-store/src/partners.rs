//! The partner dashboard: the figures of a developer's apps.

use std::collections::BTreeMap;

use axum::extract::State;
use callers::{Developer, Merchant};
use core_types::id::AppId;
use core_types::key;
use core_types::rating::Rating;
use delivery::subscription::{HealthStatus, Subscription};
use gateway::app::App;
use gateway::reply::Json;
use gateway::request::{Query, RequestRules, Ruled, Validation};
use platform::app::{CommerceApp, MAX_APPS};
use platform::developer::{self, Developer as Profile};
use platform::usage::{self, Counter};
use primitives::clock::{DAY, Timestamp};
use primitives::input::{Given, request};
use primitives::problem::{Code, FieldError, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Number;
use services::Services;
use table::item::Key;

use crate::developer_apps;

/// The default range.
const DEFAULT_RANGE: std::time::Duration = DAY.saturating_mul(30);
/// The widest range.
const MAX_RANGE: std::time::Duration = DAY.saturating_mul(90);
/// Scopes that are returned.
const TOP_SCOPES: usize = 10;

primitives::string_enum! {
    /// The interval of the series.
    #[schemars(rename = "ReportInterval")]
    Interval {
        /// By UTC day.
        Day = "day",
    }
}

/// Filters of the dashboard.
#[request]
#[derive(Debug)]
pub struct DashboardQuery {
    /// The first UTC day, as any time on that day: at most 90 days before `until`, by default 30.
    since: Option<Timestamp>,
    /// The last UTC day, as any time on that day; today by default.
    until: Option<Timestamp>,
    /// Only this app; all apps of the developer by default.
    app_id: Option<AppId>,
    /// The interval of the series: `day` is the only one.
    #[expect(dead_code, reason = "there is one interval, which needs no choosing")]
    interval: Option<Interval>,
}

impl DashboardQuery {
    /// The requested range, with its defaults.
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
            return Err(Problem::field(
                "/since",
                "range_too_wide",
                "Must be at most 90 days before `until`.",
            ));
        }
        Ok((since, until))
    }
}

impl RequestRules for DashboardQuery {
    async fn violations(given: Given<'_>, validation: &Validation<'_>) -> Vec<FieldError> {
        let (since, until) = (given.get("since"), given.get("until"));
        if given.has("since") != since.is_some() || given.has("until") != until.is_some() {
            return Vec::new();
        }
        let validated = Self::between(since, until, validation.app.clock.now());
        validated.err().map(|problem| problem.errors().to_vec()).unwrap_or_default()
    }
}

/// The revenue of apps.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Revenue {
    /// Always 0: the platform does not bill for apps.
    amount: u64,
    /// Always `USD`.
    currency: &'static str,
}

/// The totals of the dashboard.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct DashboardTotals {
    /// The number of apps.
    apps: usize,
    /// The number of installations in the range.
    installs: u64,
    /// The number of active installations now.
    active_installs: u64,
    /// The number of uninstallations in the range.
    uninstalls: u64,
    /// The number of reviews, of all time.
    reviews: u64,
    /// The average rating of all reviews, in stars; `null` without reviews.
    avg_rating: Option<Number>,
    /// The number of access tokens issued in the range, of every grant type.
    token_exchanges: u64,
    /// Always `null`: deliveries are not counted by app.
    webhook_success_rate: Option<Number>,
    /// Always zero: the platform does not bill for apps.
    revenue: Revenue,
}

/// The figures of a UTC day.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct DashboardPoint {
    /// The day, like `2026-01-31`.
    date: String,
    /// The number of installations.
    installs: u64,
    /// The number of uninstallations.
    uninstalls: u64,
    /// The number of access tokens issued.
    token_exchanges: u64,
}

/// The reach of a scope.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScopeCount {
    /// The scope.
    scope: String,
    /// The number of active installations of the apps that are registered for it.
    count: u64,
}

/// A problem with the webhook of an app.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AttentionItem")]
pub struct Trouble {
    /// The app.
    app_id: AppId,
    /// `webhook_failing`, `webhook_circuit_open` or `webhook_disabled`.
    code: &'static str,
    /// When the first attempt failed since the last success.
    since: Option<Timestamp>,
    /// The number of attempts that failed since the last success.
    consecutive_failures: u32,
}

/// The figures of a developer's apps.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PartnerDashboard {
    /// The start of the range.
    since: Timestamp,
    /// The end of the range.
    until: Timestamp,
    /// The interval of the series.
    interval: Interval,
    /// The totals.
    totals: DashboardTotals,
    /// The figures of every UTC day of the range, the oldest first.
    series: Vec<DashboardPoint>,
    /// The ten scopes with the most active installations.
    top_scopes: Vec<ScopeCount>,
    /// The apps whose webhooks fail or are disabled.
    errors: Vec<Trouble>,
}

/// `GET /v1/app-store/partners/dashboard` (`getPartnerDashboard`): Get the figures of your apps.
///
/// The response counts installations, uninstallations and issued tokens of your apps by UTC day, over the
/// last 30 days by default and 90 at most. It also has the active installations, the rating, the most used
/// scopes, and the apps whose webhooks fail. Counts follow events within seconds.
///
/// # Errors
/// `developer_profile_not_found`; `not_found` for another developer's app.
pub async fn dashboard(
    merchant: Merchant,
    State(app): State<App>,
    Ruled(Query(query)): Ruled<Query<DashboardQuery>>,
) -> Result<Json<PartnerDashboard>, Problem> {
    let profile: Option<Profile> = app.table.get(&key::developer(&merchant.account.id)).await?;
    let profile = profile.ok_or(Code::DeveloperProfileNotFound)?;
    let developer = Developer { account: merchant.account, profile };
    let (since, until) = query.range(app.clock.now())?;
    let apps = match &query.app_id {
        Some(id) => vec![developer_apps::load_own(&app, &developer, id).await?],
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

/// A point for every day of the range, including days without events.
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

/// The scopes with the most active installations.
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

/// The apps whose webhooks fail or are disabled.
async fn troubles(services: &Services, apps: &[CommerceApp]) -> Result<Vec<Trouble>, Problem> {
    let hooks = apps.iter().filter_map(|each| {
        let hook = each.webhook_subscription_id.as_ref()?;
        Some((&each.id, key::app_subscription(&each.id, hook)))
    });
    let hooks: Vec<(&AppId, Key)> = hooks.collect();
    let keys: Vec<&Key> = hooks.iter().map(|(_, key)| key).collect();
    let mut batch = services.table.get_many(&keys).await?;
    let mut troubles = Vec::new();
    for (id, key) in &hooks {
        let Some(hook) = batch.take::<Subscription>(key)? else { continue };
        let code = match hook.health.word() {
            _ if !hook.is_enabled() => "webhook_disabled",
            HealthStatus::CircuitOpen => "webhook_circuit_open",
            HealthStatus::Failing => "webhook_failing",
            HealthStatus::Healthy => continue,
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
    fn every_day_of_the_range_has_a_point_that_adds_its_shards() {
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
