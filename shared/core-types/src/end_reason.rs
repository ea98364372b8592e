//! Why long work ended early without being cancelled.

primitives::string_enum! {
    /// The reason why long work ended before it was complete.
    EndReason {
        /// The app that requested it was uninstalled.
        AppUninstalled = "app_uninstalled",
        /// The app that requested it is suspended, by the store or by the platform.
        AppSuspended = "app_suspended",
        /// Every token of the app that requested it was revoked.
        TokensRevoked = "tokens_revoked",
        /// The member who requested it is no longer a member of the store.
        MemberRemoved = "member_removed",
        /// The account of the requester is closed.
        AccountClosed = "account_closed",
        /// The requester no longer has the scope that it requires.
        ScopeWithdrawn = "scope_withdrawn",
        /// The store was deleted.
        StoreDeleted = "store_deleted",
        /// It failed with an internal error that would recur.
        InternalError = "internal_error",
    }
}
