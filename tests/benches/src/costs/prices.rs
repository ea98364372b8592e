//! The public price list of US East (N. Virginia), `us-east-1`, in November 2026: on demand, without free
//! tiers and volume discounts. Prices are in picodollars, of which a dollar has 10^12.

/// A price in picodollars.
pub type Price = u64;

/// A dollar.
pub const DOLLAR: Price = 1_000_000_000_000;
/// The number of units that many prices are listed for.
const MILLION: Price = 1_000_000;

/// An entry of the price list.
#[derive(Debug, Clone, Copy)]
pub struct Listed {
    /// The name in the price list.
    pub name: &'static str,
    /// The unit.
    pub unit: &'static str,
    /// The price as the price list has it.
    pub said: &'static str,
    /// The price of one unit.
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
/// A gigabyte of a table for a month, with point-in-time recovery.
pub const STORED: Listed = Listed {
    name: "DynamoDB: storage, with point-in-time recovery",
    unit: "gigabyte-month",
    said: "$0.25 + $0.20",
    price: 45 * DOLLAR / 100,
};
/// An invocation of a function.
pub const INVOCATION: Listed = Listed {
    name: "Lambda, arm64: request",
    unit: "request",
    said: "$0.20 per million",
    price: 20 * DOLLAR / 100 / MILLION,
};
/// A gigabyte of a function's memory for a second.
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
/// A recorded trace.
pub const TRACE: Listed = Listed {
    name: "X-Ray",
    unit: "trace recorded, one request in twenty",
    said: "$5.00 per million",
    price: 5 * DOLLAR / MILLION,
};
/// A byte sent to the internet.
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

/// A custom metric for a month.
pub const METRIC: Listed = Listed {
    name: "CloudWatch: metric of one's own",
    unit: "metric-month",
    said: "$0.30",
    price: 3 * DOLLAR / 10,
};
/// A dashboard for a month; an account's first three are free.
pub const DASHBOARD: Listed = Listed {
    name: "CloudWatch: dashboard",
    unit: "dashboard-month",
    said: "$3.00",
    price: 3 * DOLLAR,
};

/// All prices, in the order of the document.
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

/// One request in this many is traced.
pub const TRACED_OF: u64 = 20;
