//! The public price list of US East (N. Virginia), `us-east-1`, in November 2026: on demand, without free
//! tiers and discounts for volume. In picodollars, of which a dollar has 10^12.

/// Picodollars.
pub type Price = u64;

/// A dollar.
pub const DOLLAR: Price = 1_000_000_000_000;
/// What prices are listed for.
const MILLION: Price = 1_000_000;

/// What is paid for, and its price.
#[derive(Debug, Clone, Copy)]
pub struct Listed {
    /// As the price list calls it.
    pub name: &'static str,
    /// What one of them is.
    pub unit: &'static str,
    /// How the price list says it.
    pub said: &'static str,
    /// For one.
    pub price: Price,
}

/// A write request unit of `DynamoDB`.
pub const WRITE: Listed = Listed {
    name: "DynamoDB, on demand: write",
    unit: "write request unit",
    said: "$0.625 per million",
    price: 625 * DOLLAR / 1_000 / MILLION,
};
/// A read request unit of `DynamoDB`.
pub const READ: Listed = Listed {
    name: "DynamoDB, on demand: read",
    unit: "read request unit",
    said: "$0.125 per million",
    price: 125 * DOLLAR / 1_000 / MILLION,
};
/// A table's gigabyte in a month, with point-in-time recovery.
pub const STORED: Listed = Listed {
    name: "DynamoDB: storage, with point-in-time recovery",
    unit: "gigabyte-month",
    said: "$0.25 + $0.20",
    price: 45 * DOLLAR / 100,
};
/// A request to a function.
pub const INVOCATION: Listed = Listed {
    name: "Lambda, arm64: request",
    unit: "request",
    said: "$0.20 per million",
    price: 20 * DOLLAR / 100 / MILLION,
};
/// A function's gigabyte for a second.
pub const GIGABYTE_SECOND: Listed = Listed {
    name: "Lambda, arm64: duration",
    unit: "gigabyte-second",
    said: "$0.0000133334",
    price: 13_333_400,
};
/// A request to the API.
pub const API_REQUEST: Listed = Listed {
    name: "API Gateway, HTTP API",
    unit: "request of up to 512 KB",
    said: "$1.00 per million",
    price: DOLLAR / MILLION,
};
/// A request to a queue.
pub const QUEUE_REQUEST: Listed = Listed {
    name: "SQS, standard queue",
    unit: "request of up to 64 KB",
    said: "$0.40 per million",
    price: 40 * DOLLAR / 100 / MILLION,
};
/// A byte of log.
pub const LOGGED: Listed = Listed {
    name: "CloudWatch Logs: ingestion",
    unit: "byte",
    said: "$0.50 per gigabyte",
    price: 500,
};
/// A trace that is recorded.
pub const TRACE: Listed = Listed {
    name: "X-Ray",
    unit: "trace recorded, one request in twenty",
    said: "$5.00 per million",
    price: 5 * DOLLAR / MILLION,
};
/// A byte that leaves.
pub const SENT: Listed = Listed {
    name: "Data transfer to the internet",
    unit: "byte",
    said: "$0.09 per gigabyte",
    price: 90,
};
/// A secret for a month.
pub const SECRET: Listed = Listed {
    name: "Secrets Manager",
    unit: "secret-month",
    said: "$0.40",
    price: 40 * DOLLAR / 100,
};
/// An alarm for a month.
pub const ALARM: Listed = Listed {
    name: "CloudWatch: alarm, each metric of it",
    unit: "alarm-month",
    said: "$0.10",
    price: DOLLAR / 10,
};

/// A metric of our own for a month.
pub const METRIC: Listed = Listed {
    name: "CloudWatch: metric of one's own",
    unit: "metric-month",
    said: "$0.30",
    price: 3 * DOLLAR / 10,
};
/// A dashboard for a month; an account's first three cost nothing.
pub const DASHBOARD: Listed = Listed {
    name: "CloudWatch: dashboard",
    unit: "dashboard-month",
    said: "$3.00",
    price: 3 * DOLLAR,
};

/// All of them, as the document lists them.
pub const ALL: [Listed; 14] = [
    WRITE,
    READ,
    STORED,
    INVOCATION,
    GIGABYTE_SECOND,
    API_REQUEST,
    QUEUE_REQUEST,
    LOGGED,
    TRACE,
    SENT,
    SECRET,
    ALARM,
    METRIC,
    DASHBOARD,
];

/// Traces are recorded of one request in so many.
pub const TRACED_OF: u64 = 20;
