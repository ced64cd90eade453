//! Between the domain's values and what SQLite holds: numbers, moments, names, JSON text, cursors.

use rusqlite::types::Type;
use serde::de::value::{Error as NameError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};
use serde::{Deserialize, Serialize};

use crate::domain::clock::Timestamp;
use crate::store::{Page, PageRequest, StoreError};

/// The most bytes of bodies in one page; a page has at least one item.
pub(super) const PAGE_BYTES_MAX: usize = 4 << 20;
/// The most items in one page.
pub(super) const PAGE_ITEMS_MAX: usize = 1000;

/// The bound on a page's bytes that a query asks for; 0 asks for none of its own.
pub(super) fn page_bytes(asked: usize) -> usize {
    if asked == 0 { PAGE_BYTES_MAX } else { asked.min(PAGE_BYTES_MAX) }
}

/// An error of the database as the store's; the text is for the log.
#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
pub(super) fn sql_failed(error: rusqlite::Error) -> StoreError {
    StoreError::Failed(error.to_string())
}

/// A number for a column. SQLite's integers are signed; ours never come near the end.
pub(super) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number from a column.
pub(super) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// A value as JSON text.
pub(super) fn to_json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Failed(format!("not written as JSON: {error}")))
}

/// The same for what may be missing.
pub(super) fn to_json_opt(value: Option<&impl Serialize>) -> Result<Option<String>, StoreError> {
    value.map(to_json).transpose()
}

/// A value from a column's JSON text.
pub(super) fn from_json<T: DeserializeOwned>(column: usize, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| unreadable(column, error))
}

/// The same for what may be missing.
pub(super) fn from_json_opt<T: DeserializeOwned>(
    column: usize,
    text: Option<&str>,
) -> rusqlite::Result<Option<T>> {
    text.map(|text| from_json(column, text)).transpose()
}

/// A unit variant from its name on the wire.
pub(super) fn from_name<'de, T: Deserialize<'de>>(column: usize, name: &'de str) -> rusqlite::Result<T> {
    let name: StrDeserializer<'de, NameError> = name.into_deserializer();
    T::deserialize(name).map_err(|error| unreadable(column, error))
}

/// A moment from its text.
pub(super) fn from_time(column: usize, text: &str) -> rusqlite::Result<Timestamp> {
    text.parse().map_err(|error: jiff::Error| unreadable(column, error))
}

fn unreadable(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

/// Where a list goes on: after the row with this id.
pub(super) fn after(page: &PageRequest) -> Result<i64, StoreError> {
    match &page.cursor {
        None => Ok(0),
        Some(text) => match text.parse() {
            Ok(id) if id >= 0 => Ok(id),
            _ => Err(StoreError::BadCursor),
        },
    }
}

/// An item with the id of its row and about the bytes that it takes.
pub(super) type Item<T> = (i64, usize, T);

/// Fills a page: as many items as asked for and as the bound on bytes takes, then a cursor if more
/// follow. Only what is put in the page is read, and the first row after it.
pub(super) fn fill<T>(
    limit: usize,
    items: impl Iterator<Item = rusqlite::Result<Item<T>>>,
) -> Result<Page<T>, StoreError> {
    let limit = limit.clamp(1, PAGE_ITEMS_MAX);
    let mut page = Page { items: Vec::new(), next_cursor: None };
    let (mut last, mut bytes) = (0, 0);
    for item in items {
        let (id, weight, value) = item.map_err(sql_failed)?;
        if page.items.len() == limit || (bytes > 0 && bytes + weight > PAGE_BYTES_MAX) {
            page.next_cursor = Some(last.to_string());
            break;
        }
        (last, bytes) = (id, bytes + weight);
        page.items.push(value);
    }
    Ok(page)
}
