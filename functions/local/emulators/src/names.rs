//! The names of a system's resources, here and in the template, and the variables that refer to them.

use services::secrets::documents;

/// The table's name.
pub const TABLE: &str = "commerce";
/// The queue of webhook deliveries.
pub const WEBHOOK_QUEUE: &str = "webhooks";
/// The queue of webhook deliveries to slow receivers.
pub const SLOW_WEBHOOK_QUEUE: &str = "slow-webhooks";
/// The queue of mails.
pub const MAIL_QUEUE: &str = "mail";
/// The queue of due work.
pub const DUE_QUEUE: &str = "due";
/// The queue of long work.
pub const RUNNER_QUEUE: &str = "runner";
/// The prefix of the name of every secret, which is the stack's name in a deployment.
pub const SECRETS: &str = "service/";
/// The queues: the name here, and those of the queue and its dead-letter queue in the template.
pub(crate) const QUEUES: [(&str, &str, &str); 5] = [
    (WEBHOOK_QUEUE, "WebhookQueue", "WebhookDeadLetters"),
    (SLOW_WEBHOOK_QUEUE, "SlowWebhookQueue", "SlowWebhookDeadLetters"),
    (MAIL_QUEUE, "MailQueue", "MailDeadLetters"),
    (DUE_QUEUE, "DueQueue", "DueDeadLetters"),
    (RUNNER_QUEUE, "RunnerQueue", "RunnerDeadLetters"),
];
/// The secrets: the name in the template, and the name of the document.
pub(crate) const SECRET_NAMES: [(&str, &str); 9] = [
    ("SigningKeys", documents::SIGNING_KEYS),
    ("ReceiptKeys", documents::RECEIPT_KEYS),
    ("SharedKeys", documents::SHARED_KEYS),
    ("MailKey", documents::MAIL_SEALING_KEY),
    ("MfaKey", documents::MFA_KEY),
    ("PaymentKey", documents::PROVIDER_CREDENTIALS_KEY),
    ("WebhookKey", documents::WEBHOOK_KEY),
    ("GiftCardKey", documents::GIFT_CARD_KEY),
    ("MailServer", documents::MAIL_SERVER),
];
/// Every environment variable whose value is a reference: the environment of [`Embedded::app`](crate::Embedded::app).
pub(crate) const EVERYTHING: [(&str, &str); 21] = [
    ("TABLE_NAME", "Table"),
    ("WEBHOOK_QUEUE_URL", "WebhookQueue"),
    ("SLOW_WEBHOOK_QUEUE_URL", "SlowWebhookQueue"),
    ("MAIL_QUEUE_URL", "MailQueue"),
    ("DUE_QUEUE_URL", "DueQueue"),
    ("RUNNER_QUEUE_URL", "RunnerQueue"),
    ("SIGNING_KEYS_SECRET", "SigningKeys"),
    ("RECEIPT_KEYS_SECRET", "ReceiptKeys"),
    ("SHARED_KEYS_SECRET", "SharedKeys"),
    ("MAIL_KEY_SECRET", "MailKey"),
    ("MFA_KEY_SECRET", "MfaKey"),
    ("PAYMENT_KEY_SECRET", "PaymentKey"),
    ("WEBHOOK_KEY_SECRET", "WebhookKey"),
    ("GIFT_CARD_KEY_SECRET", "GiftCardKey"),
    ("MAIL_SERVER_SECRET", "MailServer"),
    ("BASE_URL", "BaseUrl"),
    ("SHOP_DOMAIN", "ShopDomain"),
    ("ADMIN_ORIGINS", "AdminOrigins"),
    ("OPERATOR_EMAILS", "OperatorEmails"),
    ("MAIL_FROM", "MailFrom"),
    ("DRILLS_ALLOWED", "AllowDrills"),
];
