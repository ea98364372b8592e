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
    /// A product.
    ProductId = "prd_";
    /// A variant of a product: what is stocked and sold.
    VariantId = "var_";
    /// A collection of products.
    CollectionId = "col_";
    /// A category of products.
    CategoryId = "cat_";
    /// A gift card.
    GiftCardId = "gft_";
    /// A stock location.
    LocationId = "loc_";
    /// A customer of a store.
    CustomerId = "cus_";
    /// An address of a customer.
    AddressId = "adr_";
    /// A customer's session.
    CustomerSessionId = "cse_";
    /// An order.
    OrderId = "ord_";
    /// A line of an order.
    OrderItemId = "itm_";
    /// A fulfilment.
    FulfillmentId = "ful_";
    /// A refund.
    RefundId = "ref_";
    /// A payment.
    PaymentId = "pay_";
    /// An image or other media.
    MediaId = "med_";
    /// A form submission.
    FormSubmissionId = "frm_";
    /// A movement of stock.
    MovementId = "mov_";
    /// A movement of a gift card's balance.
    GiftCardEntryId = "gte_";
}
