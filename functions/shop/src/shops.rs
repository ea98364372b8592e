//! What all shops of this process have in common.

use gateway::app::App;

use crate::api::Api;
use crate::page_cache::PageCache;
use crate::theme_cache::ThemeCache;

/// What all shops of this process have in common.
pub(crate) struct Shops {
    pub(crate) app: App,
    pub(crate) api: Api,
    /// `https`, or `http` on a machine of one's own.
    pub(crate) scheme: &'static str,
    pub(crate) pages: PageCache,
    pub(crate) themes: ThemeCache,
}
