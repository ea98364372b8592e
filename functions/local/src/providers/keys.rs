//! The keys of the emulated accounts.

/// The key id of the Razorpay account.
pub const RAZORPAY_KEY_ID: &str = "rzp_test_1DP5mmOlF5G5ag";
/// The key secret of the Razorpay account.
pub const RAZORPAY_SECRET: &str = "thiIsNotTheRealSecret42";
/// The publishable key of the Stripe account, from Stripe's documentation.
pub const STRIPE_KEY_ID: &str = "pk_test_TYooMQauvdEDq54NiTphI7jx";
/// The secret key of the Stripe account.
pub const STRIPE_SECRET: &str = "sk_test_4eC39HqLyjWDarjtT1zdp7dc";
/// The webhook secret of the endpoints of the demo and of tests.
pub const WEBHOOK_SECRET: &str = "whsec_from_the_provider_9f2b";
