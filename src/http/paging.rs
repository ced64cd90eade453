//! Lists: `limit` and `cursor` in, `{items, next_cursor}` out.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::error::ApiError;
use crate::store::{Page, PageRequest};

/// The longest page.
const LIMIT_MAX: usize = 1_000;
const LIMIT_DEFAULT: usize = 100;
/// More digits than any cursor has.
const CURSOR_DIGITS_MAX: usize = 18;

/// The query of a list.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListQuery {
    /// The most items of the page.
    #[param(minimum = 1, maximum = 1_000, default = 100)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^[0-9]{1,18}$")]
    cursor: Option<String>,
}

impl ListQuery {
    pub(super) fn page(self) -> Result<PageRequest, ApiError> {
        page(self.limit, self.cursor)
    }
}

/// A page within its bounds. Cursors are decimal numbers of at most 18 digits, as earlier pages gave them.
pub(super) fn page(limit: Option<usize>, cursor: Option<String>) -> Result<PageRequest, ApiError> {
    let limit = limit.unwrap_or(LIMIT_DEFAULT);
    if limit == 0 || limit > LIMIT_MAX {
        let detail = format!("limit is 1 to {LIMIT_MAX}");
        return Err(ApiError::bad_request("invalid_query", detail.clone()).field("/limit", detail));
    }
    let given_out = |cursor: &String| {
        (1..=CURSOR_DIGITS_MAX).contains(&cursor.len()) && cursor.bytes().all(|b| b.is_ascii_digit())
    };
    if cursor.as_ref().is_some_and(|cursor| !given_out(cursor)) {
        let detail = "cursor is the next_cursor of the page before";
        return Err(ApiError::bad_request("invalid_query", detail).field("/cursor", detail));
    }
    Ok(PageRequest { cursor, limit })
}

/// A page of a list, oldest first.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct List<T> {
    /// The items.
    items: Vec<T>,
    /// Where the next page begins; null at the end.
    #[schema(required = true)]
    next_cursor: Option<String>,
}

impl<T> From<Page<T>> for List<T> {
    fn from(page: Page<T>) -> Self {
        Self { items: page.items, next_cursor: page.next_cursor }
    }
}
