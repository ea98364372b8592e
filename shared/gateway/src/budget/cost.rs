//! The cost of a request, and the size of a bucket.

/// The cost of a request, in points. The constants are the one table of costs; routes name them, and
/// `GET /v1/operations/rate-limits` publishes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// The same for every request.
    Fixed(u32),
    /// `1 + ceil(limit / 10)`, refunded down to the items returned, or read to find them.
    /// [`Cost::SEARCHING`] more, which is never refunded, when it is searched by `q`. Reads beyond that
    /// are charged afterwards ([`super::reading`]).
    List,
    /// These points, and one for each started [`Cost::FILE_BYTES`] of the body: a file's cost to the table
    /// grows with its size.
    File(u32),
}

impl Cost {
    /// Nothing: health and key documents, which caches and probes read.
    pub const FREE: Self = Self::Fixed(0);
    /// One item or one screen.
    pub const READ: Self = Self::Fixed(1);
    /// A read that expands or searches.
    pub const SEARCH: Self = Self::Fixed(Self::SEARCHING.saturating_add(1));
    /// A change.
    pub const WRITE: Self = Self::Fixed(10);
    /// An OAuth token endpoint.
    pub const TOKEN: Self = Self::Fixed(10);
    /// A checkout.
    pub const CHECKOUT: Self = Self::Fixed(20);
    /// A one-time code or a reset link: it sends mail.
    pub const CODE: Self = Self::Fixed(20);
    /// Bulk, replay or report.
    pub const BULK: Self = Self::Fixed(100);

    /// A change that stores a file.
    pub const FILE: Self = Self::File(10);
    /// A theme's package, which is unpacked and checked.
    pub const PACKAGE: Self = Self::File(100);
    /// The bytes of a file that cost a point: 128 write units. A full bucket is enough for the whole of
    /// the largest import file.
    pub const FILE_BYTES: usize = 64 * 1024;

    /// The cost of a rejected caller, charged to their network: that of the reads that found it out. It is
    /// the same for every route, because the handler did not run.
    pub const REJECTED: Self = Self::Fixed(Self::REJECTION);
    pub(super) const REJECTION: u32 = 2;

    /// The extra cost of expanding or searching (docs/conventions.md §5).
    pub const SEARCHING: u32 = 5;

    /// The published table: class, points.
    pub const PUBLISHED: &'static [(&'static str, Self)] = &[
        ("free", Self::FREE),
        ("read", Self::READ),
        ("list", Self::List),
        ("search", Self::SEARCH),
        ("write", Self::WRITE),
        ("file", Self::FILE),
        ("token", Self::TOKEN),
        ("checkout", Self::CHECKOUT),
        ("one_time_code", Self::CODE),
        ("bulk", Self::BULK),
        ("package", Self::PACKAGE),
        ("rejected", Self::REJECTED),
    ];

    /// The extra cost of a body of this size.
    pub(super) fn bytes(length: usize) -> u32 {
        u32::try_from(length.div_ceil(Self::FILE_BYTES)).unwrap_or(u32::MAX)
    }

    /// The cost of a list of this many items that is not searched.
    pub fn list(items: u32) -> u32 {
        items.div_ceil(10).saturating_add(1)
    }
}

/// The size of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// An app installation.
    App,
    /// A merchant on a store.
    Merchant,
    /// A network on public routes.
    Public,
}

impl Tier {
    /// The name in `RateLimit-Policy`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::Merchant => "merchant",
            Self::Public => "public",
        }
    }

    /// Points the bucket holds.
    pub const fn capacity(self) -> u32 {
        match self {
            Self::App | Self::Merchant => 1_000,
            Self::Public => 300,
        }
    }

    /// Points restored each second.
    pub const fn restore_rate(self) -> u32 {
        match self {
            Self::App | Self::Merchant => 100,
            Self::Public => 30,
        }
    }

    /// The emission interval T in microseconds: rounded up, so that rounding never admits more.
    pub(super) fn interval(self) -> i64 {
        i64::from(1_000_000_u32.div_ceil(self.restore_rate()))
    }

    /// The largest distance of the TAT into the future, in microseconds.
    pub(super) fn burst(self) -> i64 {
        self.micros(self.capacity())
    }

    /// Points as microseconds of the bucket's time.
    pub(super) fn micros(self, points: u32) -> i64 {
        i64::from(points).saturating_mul(self.interval())
    }

    /// The whole points of this many microseconds, up to the bucket's capacity.
    pub(super) fn points(self, micros: i64) -> u32 {
        let points = micros.max(0).checked_div(self.interval()).unwrap_or(0);
        u32::try_from(points).unwrap_or(u32::MAX).min(self.capacity())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_costs_one_and_a_tenth_of_its_length() {
        assert_eq!([0, 1, 10, 11, 20, 100].map(Cost::list), [1, 2, 2, 3, 3, 11]);
    }

    #[test]
    fn a_file_costs_a_point_for_each_64_kib_that_are_begun() {
        let points = [0, 1, 65_536, 65_537, 4 << 20].map(Cost::bytes);
        assert_eq!(points, [0, 1, 1, 2, 64]);
        // A file of 50 MB in 13 parts.
        let file = 12 * (10 + Cost::bytes(4 << 20)) + 10 + Cost::bytes(2 << 20);
        assert!(file <= Tier::Merchant.capacity(), "{file}");
    }

    #[test]
    fn rounding_never_restores_faster_than_published() {
        for tier in [Tier::App, Tier::Merchant, Tier::Public] {
            let in_a_second = 1_000_000 / tier.interval();
            assert!(in_a_second <= i64::from(tier.restore_rate()));
        }
    }

    #[test]
    fn a_tier_is_as_large_and_as_fast_as_published() {
        for (tier, name, capacity, rate, interval) in [
            (Tier::App, "app", 1_000, 100, 10_000),
            (Tier::Merchant, "merchant", 1_000, 100, 10_000),
            (Tier::Public, "public", 300, 30, 33_334),
        ] {
            let found = (tier.name(), tier.capacity(), tier.restore_rate(), tier.interval());
            assert_eq!(found, (name, capacity, rate, interval));
        }
    }
}
