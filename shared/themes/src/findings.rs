//! Collects findings: all are counted, and no more are held than can be listed.

use std::collections::BTreeMap;

use crate::finding::{Code, Finding};

/// The maximum number of listed findings (docs/conventions.md §15).
pub const MAX_LISTED: usize = 100;
/// The maximum size of their paths, pointers and details together, in bytes.
const MAX_BYTES: usize = 40 << 10;

/// The findings of one package or draft.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    held: Vec<Finding>,
    counts: BTreeMap<Code, usize>,
    total: usize,
}

impl Findings {
    /// Adds a finding. At most [`MAX_LISTED`] of each code are held.
    pub(crate) fn push(&mut self, finding: Finding) {
        if self.count(finding.code, 1) <= MAX_LISTED {
            self.held.push(finding);
        }
    }

    /// Counts further findings of a code. Returns their number so far.
    pub(crate) fn count(&mut self, code: Code, more: usize) -> usize {
        let count = self.counts.entry(code).or_default();
        *count = count.saturating_add(more);
        self.total = self.total.saturating_add(more);
        *count
    }

    /// Whether any finding is an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.counts.keys().any(|code| code.is_error())
    }

    /// Returns the listed findings in the order in which they were found, and the number of the others.
    /// Errors are preferred to warnings, and the first of each code to the second of any, so that no code
    /// hides another. A last finding gives the number of those not listed.
    pub(crate) fn listed(self) -> (Vec<Finding>, usize) {
        let mut nth: BTreeMap<Code, usize> = BTreeMap::new();
        let rank = |(place, finding): (usize, Finding)| {
            let nth = nth.entry(finding.code).or_default();
            *nth = nth.saturating_add(1);
            (!finding.is_error(), *nth, place, finding)
        };
        let mut ranked: Vec<_> = self.held.into_iter().enumerate().map(rank).collect();
        ranked.sort_unstable_by_key(|(is_warning, nth, place, _)| (*is_warning, *nth, *place));
        let mut bytes_left = MAX_BYTES;
        let fits = |(_, _, _, finding): &(bool, usize, usize, Finding)| {
            let left = bytes_left.checked_sub(finding.written());
            bytes_left = left.unwrap_or(0);
            left.is_some()
        };
        let mut chosen: Vec<_> = ranked.into_iter().take(MAX_LISTED).take_while(fits).collect();
        chosen.sort_unstable_by_key(|(_, _, place, _)| *place);
        let mut listed: Vec<Finding> =
            chosen.into_iter().map(|(_, _, _, finding)| finding).collect();
        let more = self.total.saturating_sub(listed.len());
        if more > 0 {
            let detail = format!("{more} more are not listed.");
            listed.push(Finding::new(Code::MoreFindings, "", detail));
        }
        (listed, more)
    }
}

impl Extend<Finding> for Findings {
    fn extend<I: IntoIterator<Item = Finding>>(&mut self, findings: I) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }
}

impl FromIterator<Finding> for Findings {
    fn from_iter<I: IntoIterator<Item = Finding>>(findings: I) -> Self {
        let mut all = Self::default();
        all.extend(findings);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_findings_are_listed_errors_first_and_the_rest_is_counted() {
        let warning = Finding::new(Code::IgnoredFile, "a", "");
        let error = Finding::new(Code::Symlink, "b", "");
        let all = std::iter::repeat_n(warning.clone(), 150).chain([error.clone()]);
        let (listed, more) = all.collect::<Findings>().listed();
        assert_eq!((listed.len(), more), (101, 51));
        assert_eq!((&listed[98], &listed[99]), (&warning, &error));
        let last = &listed[100];
        assert_eq!((last.code, last.is_error()), (Code::MoreFindings, false));
        assert_eq!(last.detail, "51 more are not listed.");
    }

    #[test]
    fn no_code_hides_another() {
        let many = |code| std::iter::repeat_n(Finding::new(code, "a", ""), 5_000);
        let codes = [Code::JsonInvalid, Code::SettingInvalid, Code::PriceInvalid];
        let (listed, more) = codes.into_iter().flat_map(many).collect::<Findings>().listed();
        assert_eq!((listed.len(), more), (101, 14_900));
        for code in codes {
            let count = listed.iter().filter(|finding| finding.code == code).count();
            assert!((33..=34).contains(&count), "{code}: {count}");
        }
    }

    #[test]
    fn findings_are_bounded_by_their_bytes() {
        let long = "\u{1}".repeat(100_000);
        let wide = || Finding::new(Code::SettingInvalid, &long, long.clone()).at(long.clone());
        let (listed, more) = std::iter::repeat_with(wide).take(120).collect::<Findings>().listed();
        let bytes = serde_json::to_string(&listed).unwrap().len();
        assert!((20_000..56_000).contains(&bytes), "{bytes}");
        assert_eq!(listed.len() - 1 + more, 120);
    }
}
