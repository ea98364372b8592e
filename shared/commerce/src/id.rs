//! Every id of the platform (protocols §1).

gateway::ids! {
    /// A merchant account.
    MerchantId = "mer_";
    /// A merchant session.
    SessionId = "ses_";
    /// A store.
    StoreId = "sto_";
    /// A developer profile.
    DeveloperId = "dev_";
    /// An app.
    AppId = "app_";
    /// An installation of an app on a store.
    InstallationId = "ins_";
    /// A submission of an app for approval.
    SubmissionId = "sub_";
    /// A review.
    ReviewId = "rev_";
    /// A webhook subscription.
    SubscriptionId = "whs_";
    /// An event.
    EventId = "evt_";
    /// A webhook delivery.
    DeliveryId = "dlv_";
    /// A replay of deliveries.
    ReplayId = "rpl_";
    /// A one-time-code challenge.
    ChallengeId = "otp_";
    /// A grant: one authorization and every token that came of it.
    GrantId = "gra_";
    /// A mail on its way.
    MailId = "mai_";
}
