//! The consumption of each operation, defined only here.
//!
//! Units are tenths, as in `Server-Timing`. Milliseconds are those of a warm function with its memory in
//! `template.yaml`. docs/costs.md lists which of them are measured.

/// The consumption of an operation.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// The name in the document.
    pub name: &'static str,
    /// Tenths of a read request unit.
    pub reads: u64,
    /// Tenths of a write request unit.
    pub writes: u64,
    /// Tenths of write units on the busiest partition.
    pub hottest_writes: u64,
    /// Tenths of read units on the busiest partition.
    pub hottest_reads: u64,
    /// Requests to the API.
    pub api_requests: u64,
    /// The function's run.
    pub runs: Run,
    /// Requests to queues.
    pub queue_requests: u64,
    /// Bytes sent to the internet.
    pub bytes: u64,
}

impl Operation {
    /// The total of tenths of request units.
    pub const fn units(&self) -> u64 {
        self.reads.saturating_add(self.writes)
    }
}

/// The run of a function for an operation.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Its memory in megabytes.
    pub megabytes: u64,
    /// Its duration in milliseconds.
    pub millis: u64,
    /// The number of operations that share one run.
    pub shared_by: u64,
}

impl Run {
    const fn of(megabytes: u64, millis: u64) -> Self {
        Self { megabytes, millis, shared_by: 1 }
    }
}

/// A list of twenty products that is read from the table.
pub const LIST: Operation = Operation {
    name: "product list of 20, from the table",
    reads: 30,
    writes: 2,
    hottest_reads: 30,
    hottest_writes: 2,
    api_requests: 1,
    runs: Run::of(512, 8),
    queue_requests: 0,
    bytes: 17_500,
};
/// The same list, from the response cache.
pub const KEPT_LIST: Operation = Operation {
    name: "product list of 20, cached",
    reads: 0,
    hottest_reads: 0,
    runs: Run::of(512, 2),
    ..LIST
};
/// A product's page, with the store and its related candidates cached, but not their product summaries.
pub const PAGE: Operation = Operation {
    name: "product page, from the table",
    reads: 25,
    hottest_reads: 5,
    runs: Run::of(512, 7),
    bytes: 3_000,
    ..LIST
};
/// An order of one line by a guest.
pub const CHECKOUT: Operation = Operation {
    name: "checkout, 1 line, guest",
    reads: 40,
    writes: 190,
    hottest_reads: 25,
    hottest_writes: 30,
    api_requests: 1,
    runs: Run::of(512, 25),
    queue_requests: 0,
    bytes: 2_500,
};
/// A guest's cart of one line, read.
pub const CART_READ: Operation = Operation {
    name: "cart, 1 line, read",
    reads: 50,
    writes: 2,
    hottest_reads: 10,
    hottest_writes: 2,
    runs: Run::of(512, 12),
    bytes: 3_000,
    ..CHECKOUT
};
/// A change of such a cart, without an idempotency key.
pub const CART_CHANGE: Operation = Operation {
    name: "cart, 1 line, changed",
    writes: 20,
    hottest_writes: 20,
    runs: Run::of(512, 18),
    ..CART_READ
};
/// Marking an order as paid.
pub const MARK_PAID: Operation =
    Operation { name: "mark paid", reads: 35, writes: 200, ..CHECKOUT };
/// Fulfilling an order.
pub const FULFIL: Operation = Operation { name: "fulfil", reads: 35, writes: 150, ..MARK_PAID };
/// A refund.
pub const REFUND: Operation =
    Operation { name: "refund", reads: 35, writes: 170, runs: Run::of(512, 45), ..CHECKOUT };
/// A sign-in of a merchant or a customer.
pub const SIGN_IN: Operation = Operation {
    name: "sign-in with a password",
    reads: 30,
    writes: 60,
    hottest_reads: 10,
    hottest_writes: 20,
    runs: Run::of(1_024, 45),
    bytes: 1_500,
    ..CHECKOUT
};
/// Publishing the events of a transaction by the stream, which creates their deliveries and the batch that names them.
pub const EVENTS: Operation = Operation {
    name: "events of a transaction, handed on by the stream",
    reads: 10,
    writes: 30,
    hottest_reads: 10,
    hottest_writes: 10,
    api_requests: 0,
    runs: Run { megabytes: 512, millis: 20, shared_by: 1 },
    queue_requests: 0,
    bytes: 0,
};
/// A delivery whose first attempt succeeds, to a receiver that answers in 200 ms; five wait concurrently in
/// one run.
pub const DELIVERY: Operation = Operation {
    name: "delivery, first attempt succeeds",
    reads: 25,
    writes: 40,
    hottest_reads: 10,
    hottest_writes: 20,
    api_requests: 0,
    runs: Run { megabytes: 512, millis: 230, shared_by: 5 },
    queue_requests: 3,
    bytes: 3_500,
};
/// The schedule's work in a minute without due work: 160 queries for due marks, five reads for batches of
/// deliveries, and reads of queues, counters and incidents.
pub const SWEEP: Operation = Operation {
    name: "sweep of a minute, nothing due",
    reads: 970,
    writes: 20,
    runs: Run::of(512, 60),
    queue_requests: 10,
    ..EVENTS
};
/// The theme of a storefront, for a renderer, with nothing cached.
pub const THEME: Operation = Operation {
    name: "theme of a storefront, from the table",
    reads: 15,
    hottest_reads: 5,
    runs: Run::of(512, 8),
    bytes: 4_500,
    ..LIST
};
/// A file of a theme that no browser or CDN has cached.
pub const THEME_FILE: Operation = Operation {
    name: "file of a theme, 10 KB",
    reads: 5,
    runs: Run::of(512, 5),
    bytes: 10_500,
    ..THEME
};
/// A page of the catalogue with three themes.
pub const CATALOGUE: Operation = Operation {
    name: "theme catalogue, page of 3",
    reads: 20,
    hottest_reads: 5,
    runs: Run::of(512, 6),
    bytes: 3_000,
    ..LIST
};
/// Opening the theme editor.
pub const EDITOR: Operation = Operation {
    name: "theme editor, opened",
    reads: 60,
    writes: 0,
    hottest_reads: 30,
    hottest_writes: 0,
    api_requests: 1,
    runs: Run::of(512, 8),
    queue_requests: 0,
    bytes: 2_500,
};
/// Saving a draft of less than a kilobyte.
pub const SAVE_DRAFT: Operation = Operation {
    name: "theme draft, saved",
    reads: 40,
    writes: 20,
    hottest_reads: 20,
    hottest_writes: 20,
    runs: Run::of(512, 12),
    bytes: 1_500,
    ..EDITOR
};
/// Publishing a draft as a release.
pub const PUBLISH: Operation = Operation {
    name: "theme, published",
    reads: 50,
    writes: 130,
    hottest_reads: 30,
    hottest_writes: 40,
    runs: Run::of(512, 25),
    ..SAVE_DRAFT
};
/// Rolling back to a release.
pub const ROLL_BACK: Operation = Operation { name: "theme, rolled back", reads: 70, ..PUBLISH };
/// Uploading a package of seven small files, of which one is new, and its document.
pub const UPLOAD: Operation = Operation {
    name: "theme package of 7 small files, 1 new",
    reads: 80,
    writes: 220,
    hottest_reads: 20,
    hottest_writes: 40,
    runs: Run::of(512, 60),
    bytes: 1_500,
    ..EDITOR
};

/// All operations, in the order of the document.
pub const ALL: [Operation; 21] = [
    LIST,
    KEPT_LIST,
    PAGE,
    CART_READ,
    CART_CHANGE,
    CHECKOUT,
    MARK_PAID,
    FULFIL,
    REFUND,
    SIGN_IN,
    EVENTS,
    DELIVERY,
    SWEEP,
    THEME,
    THEME_FILE,
    CATALOGUE,
    EDITOR,
    SAVE_DRAFT,
    PUBLISH,
    ROLL_BACK,
    UPLOAD,
];
