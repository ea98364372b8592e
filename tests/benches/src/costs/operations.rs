//! What one of each operation takes: the one place where it is written down.
//!
//! Units are tenths, as in `Server-Timing`; milliseconds are of a warm function with the memory that
//! `template.yaml` gives it. docs/costs.md says which of them are measured.

/// What an operation takes.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// As the document calls it.
    pub name: &'static str,
    /// Tenths of a read request unit.
    pub reads: u64,
    /// Tenths of a write request unit.
    pub writes: u64,
    /// Tenths of write units on the partition that gets most of them.
    pub hottest_writes: u64,
    /// Tenths of read units on the partition that gets most of them.
    pub hottest_reads: u64,
    /// Requests to the API.
    pub api_requests: u64,
    /// Functions that run for it.
    pub runs: Run,
    /// Requests to queues.
    pub queue_requests: u64,
    /// Bytes that leave.
    pub bytes: u64,
}

impl Operation {
    /// Tenths of a request unit in all.
    pub const fn units(&self) -> u64 {
        self.reads.saturating_add(self.writes)
    }
}

/// How a function runs for an operation.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Its memory in megabytes.
    pub megabytes: u64,
    /// How long.
    pub millis: u64,
    /// Operations that one run is for.
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
/// The same list, out of a function's memory.
pub const KEPT_LIST: Operation = Operation {
    name: "product list of 20, kept",
    reads: 0,
    hottest_reads: 0,
    runs: Run::of(512, 2),
    ..LIST
};
/// A product's page, while the store and its candidates are kept, but no card of those beside it.
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
/// An order is paid.
pub const MARK_PAID: Operation =
    Operation { name: "mark paid", reads: 35, writes: 180, ..CHECKOUT };
/// An order is fulfilled.
pub const FULFIL: Operation = Operation { name: "fulfil", reads: 35, writes: 150, ..MARK_PAID };
/// Money goes back.
pub const REFUND: Operation =
    Operation { name: "refund", reads: 35, writes: 150, runs: Run::of(512, 45), ..CHECKOUT };
/// A merchant or a customer signs in.
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
/// The events of a transaction go through the stream to the deliveries that are made of them.
pub const EVENTS: Operation = Operation {
    name: "events of a transaction, handed on by the stream",
    reads: 10,
    writes: 20,
    hottest_reads: 10,
    hottest_writes: 10,
    api_requests: 0,
    runs: Run { megabytes: 512, millis: 20, shared_by: 1 },
    queue_requests: 0,
    bytes: 0,
};
/// A delivery whose first attempt succeeds, of a receiver that answers in 200 ms; five share a run, in
/// which they wait side by side.
pub const DELIVERY: Operation = Operation {
    name: "delivery, first attempt succeeds",
    reads: 20,
    writes: 60,
    hottest_reads: 10,
    hottest_writes: 20,
    api_requests: 0,
    runs: Run { megabytes: 512, millis: 230, shared_by: 5 },
    queue_requests: 3,
    bytes: 3_500,
};
/// What the schedule does in a minute in which nothing is due: 160 queries for what is, and a look at queues,
/// counters and incidents.
pub const SWEEP: Operation = Operation {
    name: "sweep of a minute, nothing due",
    reads: 920,
    writes: 20,
    runs: Run::of(512, 60),
    queue_requests: 10,
    ..EVENTS
};
/// What a storefront is shown in, for a renderer, as a process reads it that has nothing of it.
pub const THEME: Operation = Operation {
    name: "theme of a storefront, from the table",
    reads: 15,
    hottest_reads: 5,
    runs: Run::of(512, 8),
    bytes: 4_500,
    ..LIST
};
/// A file of it that neither a browser nor a cache in front has.
pub const THEME_FILE: Operation = Operation {
    name: "file of a theme, 10 KB",
    reads: 5,
    runs: Run::of(512, 5),
    bytes: 10_500,
    ..THEME
};
/// A page of three themes.
pub const CATALOGUE: Operation = Operation {
    name: "theme catalogue, page of 3",
    reads: 20,
    hottest_reads: 5,
    runs: Run::of(512, 6),
    bytes: 3_000,
    ..LIST
};
/// What an editor begins with.
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
/// A draft of less than a kilobyte.
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
/// The draft becomes a release.
pub const PUBLISH: Operation = Operation {
    name: "theme, published",
    reads: 50,
    writes: 130,
    hottest_reads: 30,
    hottest_writes: 40,
    runs: Run::of(512, 25),
    ..SAVE_DRAFT
};
/// A release is gone back to.
pub const ROLL_BACK: Operation = Operation { name: "theme, rolled back", reads: 70, ..PUBLISH };
/// A package of seven small files, of which nobody has uploaded one before, and its document.
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

/// All of them, as the document lists them.
pub const ALL: [Operation; 19] = [
    LIST, KEPT_LIST, PAGE, CHECKOUT, MARK_PAID, FULFIL, REFUND, SIGN_IN, EVENTS, DELIVERY, SWEEP,
    THEME, THEME_FILE, CATALOGUE, EDITOR, SAVE_DRAFT, PUBLISH, ROLL_BACK, UPLOAD,
];
