//! Why long work ended early without being cancelled.

gateway::string_enum! {
    /// Why long work ended before it was complete.
    EndReason {
        /// The app that asked for it was uninstalled.
        AppUninstalled = "app_uninstalled",
        /// The app that asked for it is suspended, by the store or by the platform.
        AppSuspended = "app_suspended",
        /// Every token of the app that asked for it was revoked.
        TokensRevoked = "tokens_revoked",
        /// The member who asked for it is none of the store any more.
        MemberRemoved = "member_removed",
        /// The account of whoever asked for it is closed.
        AccountClosed = "account_closed",
        /// Whoever asked for it may no longer do what it takes.
        ScopeWithdrawn = "scope_withdrawn",
        /// The store was deleted.
        StoreDeleted = "store_deleted",
        /// It met an error of the service that it would meet again.
        InternalError = "internal_error",
    }
}
