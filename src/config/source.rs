//! The config file's text: JSON with comments, where a key knows its line.

use jsonc_parser::ast::{ObjectPropName, Value as Node};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast, parse_to_serde_value};
use serde_json::Value;

use super::problem::ConfigProblem;

pub(super) fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Reads the text. A key that is there twice is an error: one of two deny lists would be lost.
pub(super) fn parse(text: &str) -> Result<Value, ConfigProblem> {
    let parsed =
        parse_to_ast(text, &CollectOptions::default(), &options()).map_err(|error| ConfigProblem {
            line: Some(error.line_display()),
            key: String::new(),
            message: error.kind().to_string(),
        })?;
    // What is left of a file whose writer got no further must not mean that all rules are gone.
    let Some(root) = &parsed.value else {
        let message = "there is nothing in it; {} means the defaults".to_owned();
        return Err(ConfigProblem { line: Some(1), key: String::new(), message });
    };
    if let Some((start, key)) = key_twice(root, "") {
        let message = "this key is there twice".to_owned();
        return Err(ConfigProblem { line: Some(line_of(text, start)), key, message });
    }
    parse_to_serde_value(text, &options()).map_err(|error| ConfigProblem {
        line: Some(error.line_display()),
        key: String::new(),
        message: error.kind().to_string(),
    })
}

/// The line of a key such as `permissions.deny[2]`, from 1; of the nearest one above it where it is
/// not in the file.
pub(super) fn locate(text: &str, key: &str) -> Option<usize> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options()).ok()?;
    let root = parsed.value?;
    let (mut node, mut start) = (&root, root.start());
    for part in key.split(['.', '[']).filter(|part| !part.is_empty()) {
        let next = match (node, part.strip_suffix(']')) {
            (Node::Array(array), Some(index)) => index
                .parse::<usize>()
                .ok()
                .and_then(|index| array.elements.get(index))
                .map(|e| (e, e.start())),
            (Node::Object(object), None) => object.get(part).map(|prop| (&prop.value, prop.range.start)),
            _ => None,
        };
        let Some(next) = next else { break };
        (node, start) = next;
    }
    Some(line_of(text, start))
}

fn line_of(text: &str, start: usize) -> usize {
    1 + text.as_bytes().iter().take(start).filter(|byte| **byte == b'\n').count()
}

fn key_twice(node: &Node<'_>, path: &str) -> Option<(usize, String)> {
    match node {
        Node::Array(array) => array
            .elements
            .iter()
            .enumerate()
            .find_map(|(index, item)| key_twice(item, &format!("{path}[{index}]"))),
        Node::Object(object) => {
            let mut seen = std::collections::HashSet::new();
            object.properties.iter().find_map(|property| {
                let name = match &property.name {
                    ObjectPropName::String(name) => name.value.as_ref(),
                    ObjectPropName::Word(name) => name.value,
                };
                let key = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
                if !seen.insert(name.to_owned()) {
                    return Some((property.range.start, key));
                }
                key_twice(&property.value, &key)
            })
        }
        _ => None,
    }
}
