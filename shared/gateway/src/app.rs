//! The state of every handler.

use std::ops::Deref;
use std::sync::Arc;

use aws_types::SdkConfig;
use egress::Egress;
use primitives::clock::Clock;
use services::config::Config;
use services::{Endpoints, Services};

use crate::budget::Budgets;
use crate::response_cache::ResponseCache;

/// The services of a process, with what its HTTP layer remembers between requests. Cheap to clone.
#[derive(Debug, Clone)]
pub struct App {
    services: Services,
    /// The response cache of public pages.
    pub response_cache: ResponseCache,
    /// The budgets of callers.
    pub budgets: Budgets,
}

impl Deref for App {
    type Target = Services;

    fn deref(&self) -> &Services {
        &self.services
    }
}

impl App {
    /// Builds the services from these settings; connects lazily. Functions of one process share the response
    /// cache, so that each sees the others' writes.
    pub fn new(
        config: impl Into<Arc<Config>>,
        clock: Clock,
        egress: Egress,
        aws: &SdkConfig,
        to: &Endpoints,
        response_cache: ResponseCache,
    ) -> Self {
        let cache = Arc::new(response_cache.clone());
        Self::of(Services::new(config, clock, egress, aws, to, cache), response_cache)
    }

    /// Builds the services in a Lambda: everything comes from the environment.
    pub fn from_env() -> Self {
        let response_cache = ResponseCache::default();
        Self::of(Services::from_env(Arc::new(response_cache.clone())), response_cache)
    }

    fn of(services: Services, response_cache: ResponseCache) -> Self {
        Self { budgets: Budgets::new(services.clone()), services, response_cache }
    }
}
