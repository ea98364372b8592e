//! Dates: what texts mean, and how they are shown.

mod parse;
mod scan;
mod strftime;

pub use parse::parse;
pub use strftime::format;

/// The names of months, from January, and of days, from Sunday, in a language.
#[derive(Debug, Clone, Copy)]
pub struct DateNames {
    /// The months.
    pub months: &'static [&'static str],
    /// Their abbreviations.
    pub short_months: &'static [&'static str],
    /// The days of the week.
    pub weekdays: &'static [&'static str],
    /// Their abbreviations.
    pub short_weekdays: &'static [&'static str],
}

impl DateNames {
    /// As Ruby writes them.
    pub const ENGLISH: Self = Self {
        months: &[
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ],
        short_months: &[
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ],
        weekdays: &["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"],
        short_weekdays: &["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"],
    };
}
