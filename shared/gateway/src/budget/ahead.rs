//! The charge of a request before its handler runs, by its row's cost, its body and its query.

use super::Cost;
use crate::request::Inbound;

impl Cost {
    /// The charge of `inbound` before its handler runs.
    pub(super) fn of(self, inbound: &Inbound) -> u32 {
        match self {
            Self::Fixed(points) => points,
            Self::File(points) => points.saturating_add(Self::bytes(inbound.body.len())),
            Self::List => {
                let limit = inbound.query_param("limit").and_then(|limit| limit.parse().ok());
                let items = limit.unwrap_or(20).min(100);
                Self::list(items).saturating_add(Self::searching(inbound))
            }
        }
    }

    /// The extra cost of a list with `q`: items are read that are not returned. An order costs nothing:
    /// each is an index of its own.
    pub(crate) fn searching(inbound: &Inbound) -> u32 {
        let is_searched = inbound.query_param("q").is_some_and(|words| !words.trim().is_empty());
        if is_searched { Self::SEARCHING } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::row::{Access, Row};

    fn request(method: &str, uri: &str, cost: Cost) -> Arc<Inbound> {
        let request = http::Request::builder().method(method).uri(uri).body(()).unwrap();
        let (parts, ()) = request.into_parts();
        let access = Access::Public;
        let row = Row::example(parts.method.clone(), "/v1/things", access);
        let row = Row { cost, ..row };
        Inbound::new(&parts, bytes::Bytes::new(), Vec::new(), row)
    }

    #[test]
    fn a_request_costs_its_row_and_a_list_its_limit() {
        assert_eq!(Cost::WRITE.of(&request("POST", "/v1/things?limit=100", Cost::WRITE)), 10);
        for (query, points) in [
            ("", 3),
            ("limit=10", 2),
            ("limit=100", 11),
            ("limit=1000", 11),
            ("limit=x", 3),
            ("q=mug", 8),
            ("q=", 3),
            ("q=%20", 3),
            ("sort=title", 3),
            ("q=mug&sort=title&limit=100", 16),
        ] {
            let list = request("GET", &format!("/v1/things?{query}"), Cost::List);
            assert_eq!(Cost::List.of(&list), points, "{query}");
        }
    }
}
