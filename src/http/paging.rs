//! Lists: `limit` and `cursor` in, `{items, next_cursor}` out.

use serde::{Deserialize, Serialize};

use super::error::ApiError;
use crate::store::{Page, PageRequest};

/// The longest page.
const LIMIT_MAX: usize = 1_000;
const LIMIT_DEFAULT: usize = 100;

/// The query of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    pub(super) limit: Option<usize>,
    pub(super) cursor: Option<String>,
}

impl ListQuery {
    pub(super) fn page(self) -> Result<PageRequest, ApiError> {
        page(self.limit, self.cursor)
    }
}

/// A page within its bounds. Cursors are decimal numbers, as earlier pages gave them.
pub(super) fn page(limit: Option<usize>, cursor: Option<String>) -> Result<PageRequest, ApiError> {
    let limit = limit.unwrap_or(LIMIT_DEFAULT);
    if limit == 0 || limit > LIMIT_MAX {
        let detail = format!("limit is 1 to {LIMIT_MAX}");
        return Err(ApiError::bad_request("invalid_query", detail.clone()).field("/limit", detail));
    }
    if cursor.as_ref().is_some_and(|cursor| cursor.parse::<i64>().is_err()) {
        let detail = "cursor is the next_cursor of the page before";
        return Err(ApiError::bad_request("invalid_query", detail).field("/cursor", detail));
    }
    Ok(PageRequest { cursor, limit })
}

/// A page as it is answered.
#[derive(Debug, Serialize)]
pub(super) struct List<T> {
    items: Vec<T>,
    next_cursor: Option<String>,
}

impl<T> From<Page<T>> for List<T> {
    fn from(page: Page<T>) -> Self {
        Self { items: page.items, next_cursor: page.next_cursor }
    }
}
