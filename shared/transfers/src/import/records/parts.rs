//! Parts of a record that it can do without: the cells that their fields reject.

use catalogue::product::Variant;
use primitives::problem::FieldError;
use serde_json::Value;

use super::record::Record;
use crate::import::finding::{Finding, Severity};

/// Members of which a record has no other value, or that identify it or a variant.
const NEEDED: [&str; 5] = ["/title", "/handle", "/email", "/options", "/variants"];
/// Members of a variant that it cannot do without.
const NEEDED_OF_VARIANT: [&str; 2] = ["price", "options"];
/// The detail of a warning about a cell that is left out.
const LEFT_OUT: &str = "The value was ignored.";
/// The detail of a warning about a cell without which the address is left out.
const NO_ADDRESS: &str = "The address was not imported:";

impl Record {
    /// Leaves out the members with these errors, and adds a warning for each. Returns false, and changes
    /// nothing, if the record cannot do without one of them. A JSON line that is a request is rejected as one.
    pub(in crate::import) fn leave_out_members(&mut self, errors: &[FieldError]) -> bool {
        if !self.may_leave_out || errors.is_empty() {
            return false;
        }
        let parts: Option<Vec<String>> = errors.iter().map(|error| self.part(error)).collect();
        let Some(mut parts) = parts else { return false };
        for (error, part) in errors.iter().zip(&parts) {
            self.warn_of_part(error, part);
        }
        // From the last one on, so that those before it keep their numbers.
        parts.sort_by_cached_key(|part| std::cmp::Reverse(numbered(part)));
        parts.dedup();
        for part in parts {
            self.remove(&part);
        }
        true
    }

    /// Adds a warning about a part that is left out because of an error. Where that is a whole address, the
    /// warning about the cell that caused it says so.
    fn warn_of_part(&mut self, error: &FieldError, part: &str) {
        let text = |detail: &str| {
            if is_address(part) {
                format!("{NO_ADDRESS} {detail}")
            } else {
                format!("{detail} {LEFT_OUT}")
            }
        };
        if let Some(found) = self.finding(error) {
            let (severity, detail) = (Severity::Warning, text(&found.detail));
            self.findings.push(Finding { severity, detail, ..found });
            return;
        }
        let (row, column) = self.source_of(error);
        let is_cause = |known: &&mut Finding| known.row == row && known.column == column;
        for known in self.findings.iter_mut().filter(is_cause).filter(|_| is_address(part)) {
            if let Some(detail) = known.detail.strip_suffix(LEFT_OUT) {
                known.detail = format!("{NO_ADDRESS} {}", detail.trim_end());
            }
        }
    }

    /// Whether the file has no price for one of its variants.
    pub(in crate::import) fn has_unpriced(&self) -> bool {
        !self.unpriced.variants.is_empty()
    }

    /// Gives variants that the file has no price for the one that they have. If all of them have one, the
    /// product's status is that of the file again.
    pub(in crate::import) fn price_as(&mut self, known: &[Variant]) {
        let mut is_priced = true;
        for number in self.unpriced.variants.clone() {
            let Some(variant) = self.body.pointer_mut(&format!("/variants/{number}")) else {
                continue;
            };
            let options = variant.get("options").and_then(Value::as_array);
            let options = options.map(Vec::as_slice).unwrap_or_default();
            let is_it = |known: &&Variant| {
                let own = known.options.iter().map(String::as_str).map(Some);
                own.eq(options.iter().map(Value::as_str))
            };
            match known.iter().find(is_it).map(|variant| serde_json::json!(variant.price)) {
                Some(price) => variant["price"] = price,
                None => is_priced = false,
            }
        }
        let status = self.unpriced.status.take();
        if let Some(body) = self.body.as_object_mut().filter(|_| is_priced) {
            body.remove("status");
            body.extend(status.map(|status| ("status".to_owned(), status)));
        }
    }

    /// The part that is left out because of an error; none if the record needs it.
    fn part(&self, error: &FieldError) -> Option<String> {
        let pointer = match error.violation.code {
            // Of two equal variants the later one.
            "duplicate_variant" => {
                let variant = error.pointer.strip_prefix("/variants/")?.split('/').next()?;
                return Some(format!("/variants/{variant}"));
            }
            // A member that is missing has no value to leave out: what needs it is left out.
            "required" => error.pointer.rsplit_once('/')?.0,
            _ => &error.pointer,
        };
        let is_there = self.body.pointer(pointer).is_some();
        // The number identifies a customer without an address.
        let is_identity = pointer == "/phone" && self.body.get("email").is_none();
        (is_there && !is_identity && !is_needed(pointer)).then(|| pointer.to_owned())
    }

    /// Removes a member of the body. Later elements of its array move up, and so do their sources.
    fn remove(&mut self, pointer: &str) {
        let Some((at, name)) = pointer.rsplit_once('/') else { return };
        match self.body.pointer_mut(at) {
            Some(Value::Object(members)) => {
                // RFC 6901 §4.
                members.remove(&name.replace("~1", "/").replace("~0", "~"));
            }
            Some(Value::Array(all)) => {
                let Some(number) = name.parse().ok().filter(|number| *number < all.len()) else {
                    return;
                };
                all.remove(number);
                let is_empty = all.is_empty();
                self.renumber(at, number);
                // An empty array would take away what an update leaves.
                if is_empty {
                    self.remove(at);
                }
            }
            _ => {}
        }
    }

    /// Adapts what refers to elements of an array, after the removal of one of them.
    fn renumber(&mut self, at: &str, removed: usize) {
        let prefix = format!("{at}/");
        self.sources.retain_mut(|(pointer, ..)| {
            let Some(rest) = pointer.strip_prefix(&prefix) else { return true };
            let (number, below) = rest.split_once('/').unwrap_or((rest, ""));
            let Ok(number) = number.parse::<usize>() else { return true };
            let slash = if below.is_empty() { "" } else { "/" };
            if number > removed {
                *pointer = format!("{prefix}{}{slash}{below}", number.saturating_sub(1));
            }
            number != removed
        });
        if at == "/variants" {
            let variants = std::mem::take(&mut self.unpriced.variants).into_iter();
            let moved = |number: usize| number.saturating_sub(usize::from(number > removed));
            self.unpriced.variants = variants.filter(|one| *one != removed).map(moved).collect();
        }
    }
}

/// Whether a part is a whole address of a customer.
fn is_address(part: &str) -> bool {
    part == "/address" || part.strip_prefix("/addresses/").is_some_and(|it| !it.contains('/'))
}

/// Whether a record cannot do without the member at this pointer.
fn is_needed(pointer: &str) -> bool {
    let mut names = pointer.split('/').skip(1);
    let top = names.next().unwrap_or_default();
    if !NEEDED.iter().any(|needed| needed.strip_prefix('/') == Some(top)) {
        return top.is_empty();
    }
    let member = names.nth(1);
    top != "variants" || member.is_none_or(|member| NEEDED_OF_VARIANT.contains(&member))
}

/// The parts of a pointer, in which numbers compare as numbers.
fn numbered(pointer: &str) -> Vec<(usize, String)> {
    let part = |part: &str| match part.parse::<usize>() {
        Ok(number) => (number, String::new()),
        Err(_) => (usize::MAX, part.to_owned()),
    };
    pointer.split('/').map(part).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn record(body: Value) -> Record {
        let sources = [
            ("/tags", 2, "Tags"),
            ("/images/0", 2, "Image Src"),
            ("/images/1", 3, "Image Src"),
            ("/images/2", 4, "Image Src"),
            ("/variants/0/sku", 2, "Variant SKU"),
            ("/address/phone", 2, "Phone"),
            ("", 2, ""),
        ];
        let source = |(pointer, row, column): &(&str, u64, &str)| {
            ((*pointer).to_owned(), *row, (*column).to_owned())
        };
        let sources = sources.iter().map(source).collect();
        Record { body, sources, may_leave_out: true, ..Record::rejected(2) }
    }

    fn error(pointer: &str, code: &'static str) -> FieldError {
        FieldError::new(pointer, code, "Wrong.")
    }

    #[test]
    fn a_cell_that_is_rejected_is_left_out_with_a_warning() {
        let mut record = record(json!({
            "tags": ["a", "long", "b"], "seo": {"title": "x"},
            "images": [{"url": "a"}, {"url": "b"}, {"url": "c"}],
            "variants": [{"sku": "1", "compare_at": {"currency": "INR"}}],
            "address": {"phone": "1", "city": "x"},
        }));
        let errors = [
            error("/tags/1", "too_long"),
            error("/images/0/url", "required"),
            error("/images/1", "invalid_url"),
            error("/variants/0/sku", "sku_taken"),
            error("/variants/0/compare_at/amount", "required"),
            error("/address/country", "required"),
            error("/seo/title", "too_long"),
        ];
        assert!(record.leave_out_members(&errors));
        let expected = json!({
            "tags": ["a", "b"], "seo": {}, "images": [{"url": "c"}], "variants": [{}],
        });
        assert_eq!(record.body, expected);
        assert!(record.findings.iter().all(|finding| !finding.is_error()));
        let of_address =
            |finding: &&Finding| finding.detail == "The address was not imported: Wrong.";
        assert_eq!(record.findings.iter().filter(of_address).count(), 1);
        let found = record.finding(&error("/images/0/alt", "too_long")).unwrap();
        assert_eq!((found.row, found.column.as_deref()), (4, Some("Image Src")));
    }

    #[test]
    fn a_record_requires_its_identifier() {
        let mut record = record(json!({
            "title": "", "tags": ["x"], "variants": [{"price": {"amount": 1}, "options": ["a"]}],
        }));
        let before = record.body.clone();
        for pointer in
            ["/title", "/variants/0/options/0", "/variants/0/price/amount", "/variants/0", ""]
        {
            let errors = [error("/tags/0", "too_long"), error(pointer, "too_short")];
            assert!(!record.leave_out_members(&errors), "{pointer}");
        }
        assert!(!record.leave_out_members(&[error("/email", "required")]));
        assert_eq!((record.body, record.findings.len()), (before, 0));
    }
}
