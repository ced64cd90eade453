//! Reads what a model's API answered, piece by piece, each with its place in the body. Only what is
//! needed is kept: a body of any content takes no more memory than itself.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::turn::TurnError;
use crate::domain::arguments::parse_tool_args;
use crate::http::body::pointer;

/// The most items of a message: text and reasoning count too.
const ITEMS_MAX: usize = 8192;

/// JSON text at a place in the body.
#[derive(Debug, Clone)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    /// A JSON pointer (RFC 6901).
    pub(super) at: String,
}

/// The items of a list, not looked into.
#[derive(Debug)]
pub(super) struct Items<'a>(Vec<&'a RawValue>);

impl<'a> Piece<'a> {
    pub(super) fn body(text: &'a str) -> Self {
        Self { text, at: String::new() }
    }

    /// The piece as a type; the error has the place.
    pub(super) fn read<T: Deserialize<'a>>(&self) -> Result<T, TurnError> {
        let mut deserializer = serde_json::Deserializer::from_str(self.text);
        serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
            let at = format!("{}{}", self.at, pointer(error.path()));
            TurnError::new(at, error.into_inner().to_string())
        })
    }

    /// The piece under a key that was read from this one.
    pub(super) fn under(&self, key: &str, value: &'a RawValue) -> Self {
        Piece { text: value.get(), at: format!("{}/{key}", self.at) }
    }

    /// The items of a list that was read from under a key of this one, each with its place.
    pub(super) fn items(&self, key: &str, items: &Items<'a>) -> Vec<Self> {
        let list = Piece { text: self.text, at: format!("{}/{key}", self.at) };
        items.0.iter().enumerate().map(|(index, value)| list.under(&index.to_string(), value)).collect()
    }

    /// The items of this list, each with its place.
    pub(super) fn list(&self) -> Result<Vec<Self>, TurnError> {
        let items: Items<'a> = self.read()?;
        Ok(items.0.iter().enumerate().map(|(index, value)| self.under(&index.to_string(), value)).collect())
    }

    pub(super) fn is_list(&self) -> bool {
        self.text.trim_start().starts_with('[')
    }

    pub(super) fn is_object(&self) -> bool {
        self.text.trim_start().starts_with('{')
    }

    pub(super) fn wrong(&self, message: impl Into<String>) -> TurnError {
        TurnError::new(self.at.clone(), message)
    }
}

/// The text of arguments: a string is the text; an object is written in one way, so that an equal
/// object is an equal call whatever its spaces and the order of its keys. What cannot be read that way
/// stays as it came, and is refused where arguments are read.
pub(super) fn argument_text(arguments: Option<&RawValue>) -> String {
    let text = arguments.map_or("null", RawValue::get);
    if text == "null" {
        return String::new();
    }
    if let Ok(text) = serde_json::from_str::<String>(text) {
        return text;
    }
    parse_tool_args(text).map_or_else(|_| text.to_owned(), |value| value.to_string())
}

impl<'de: 'a, 'a> Deserialize<'de> for Items<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ItemsVisitor)
    }
}

struct ItemsVisitor;

impl<'de> Visitor<'de> for ItemsVisitor {
    type Value = Items<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            if items.len() == ITEMS_MAX {
                return Err(A::Error::custom(format!("a list of more than {ITEMS_MAX} items")));
            }
            items.push(item);
        }
        Ok(Items(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(arguments: &str) -> String {
        argument_text(Some(&RawValue::from_string(arguments.to_owned()).unwrap()))
    }

    #[test]
    fn arguments_are_text_or_an_object() {
        for (arguments, expected) in [
            ("null", ""),
            (r#""{\"a\": 1}""#, r#"{"a": 1}"#),
            (r#""{\"a\": ""#, r#"{"a": "#),
            (r#"{ "b" : 1, "a" : [ true ] }"#, r#"{"a":[true],"b":1}"#),
            (r#"{"a":[true],"b":1}"#, r#"{"a":[true],"b":1}"#),
            // A key twice: refused later, and so it must not be mended here.
            (r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#),
            ("[1]", "[1]"),
            ("7", "7"),
        ] {
            assert_eq!(text(arguments), expected, "{arguments}");
        }
        assert_eq!(argument_text(None), "");
    }

    #[test]
    fn lists_are_bounded() {
        let list = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        let few = list(ITEMS_MAX);
        let piece = Piece::body(&few);
        assert_eq!(piece.list().unwrap().len(), ITEMS_MAX);
        let error = Piece::body(&list(ITEMS_MAX + 1)).list().unwrap_err();
        assert!(error.message.contains("more than 8192"), "{error:?}");
    }

    #[test]
    fn an_error_has_its_place() {
        #[derive(Debug, serde::Deserialize)]
        struct Name {
            #[expect(dead_code, reason = "it is not read, it has to fail")]
            name: String,
        }
        let body = r#"[{"name": "a"}, {"name": 7}]"#;
        let items = Piece::body(body).list().unwrap();
        assert!(items[0].read::<Name>().is_ok());
        assert_eq!(items[1].read::<Name>().unwrap_err().pointer, "/1/name");
        assert_eq!(items[1].wrong("no").pointer, "/1");
    }
}
