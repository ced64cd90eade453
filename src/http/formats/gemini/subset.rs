//! Google's `Schema`: a message with the fields of a part of OpenAPI 3.0. A field that it does not know
//! makes the API refuse the whole request, and so does one beside `anyOf`.

use serde_json::{Map, Value, json};

use super::super::schema::merge;

/// Fields that are the same in both, by type.
const SAME: &[(&str, &[&str])] = &[
    ("STRING", &["minLength", "maxLength", "pattern"]),
    ("INTEGER", &["minimum", "maximum"]),
    ("NUMBER", &["minimum", "maximum"]),
    ("ARRAY", &["minItems", "maxItems"]),
    ("OBJECT", &["minProperties", "maxProperties"]),
];

/// Formats that it takes, by type.
const FORMATS: &[(&str, &[&str])] =
    &[("STRING", &["date-time"]), ("INTEGER", &["int32", "int64"]), ("NUMBER", &["float", "double"])];

/// Values that are told in words, in bytes.
const WORDS_MAX: usize = 300;

/// A schema that stands on its own, in Google's form.
pub(super) fn schema(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut schema = schema.clone();
    if let Some(Value::Array(parts)) = schema.remove("allOf") {
        for part in parts {
            if let Value::Object(part) = part {
                merge(&mut schema, part);
            }
        }
    }
    let (kinds, mut nullable) = kinds(&schema);
    let branches = match schema.remove("anyOf").or_else(|| schema.remove("oneOf")) {
        // Beside a type, branches only narrow it.
        Some(Value::Array(branches)) if kinds.is_empty() => branches,
        _ => Vec::new(),
    };
    if branches.is_empty() {
        return match kinds.as_slice() {
            [kind] => typed(&schema, kind, nullable),
            [] => typed(&schema, guess(&schema), nullable),
            several => any_of(several.iter().map(|kind| typed(&schema, kind, false)).collect(), nullable),
        };
    }
    let mut forms = Vec::new();
    for branch in branches {
        let Value::Object(mut branch) = branch else { continue };
        if branch.get("type") == Some(&json!("null")) || branch.get("const") == Some(&Value::Null) {
            nullable = true;
            continue;
        }
        for key in ["description", "enum", "const"] {
            if let Some(value) = schema.get(key) {
                branch.entry(key).or_insert_with(|| value.clone());
            }
        }
        let form = self::schema(&branch);
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    any_of(forms, nullable)
}

/// Google's names of the types, and whether null is one.
fn kinds(schema: &Map<String, Value>) -> (Vec<&'static str>, bool) {
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let nullable = names.contains(&"null") || schema.get("nullable") == Some(&Value::Bool(true));
    (names.into_iter().filter_map(kind).collect(), nullable)
}

fn kind(name: &str) -> Option<&'static str> {
    match name {
        "string" => Some("STRING"),
        "integer" => Some("INTEGER"),
        "number" => Some("NUMBER"),
        "boolean" => Some("BOOLEAN"),
        "array" => Some("ARRAY"),
        "object" => Some("OBJECT"),
        _ => None,
    }
}

/// The type of a schema that does not say it. Where anything goes, text does.
fn guess(schema: &Map<String, Value>) -> &'static str {
    let values = schema.get("enum").and_then(Value::as_array).and_then(|values| values.first());
    let value = schema.get("const").or(values);
    match value {
        Some(Value::Bool(_)) => "BOOLEAN",
        Some(Value::Number(number)) if number.is_f64() => "NUMBER",
        Some(Value::Number(_)) => "INTEGER",
        Some(Value::Array(_)) => "ARRAY",
        Some(Value::Object(_)) => "OBJECT",
        None if schema.contains_key("properties") || schema.contains_key("additionalProperties") => "OBJECT",
        None if schema.contains_key("items") || schema.contains_key("prefixItems") => "ARRAY",
        Some(Value::String(_) | Value::Null) | None => "STRING",
    }
}

/// Forms of which one holds: no other field may stand beside them.
fn any_of(mut forms: Vec<Map<String, Value>>, nullable: bool) -> Map<String, Value> {
    if let Some(first) = forms.first_mut().filter(|_| nullable) {
        first.insert("nullable".to_owned(), json!(true));
    }
    match forms.len() {
        0 => typed(&Map::new(), "STRING", nullable),
        1 => forms.remove(0),
        _ => [("anyOf".to_owned(), json!(forms))].into_iter().collect(),
    }
}

fn typed(schema: &Map<String, Value>, kind: &'static str, mut nullable: bool) -> Map<String, Value> {
    let mut told = Map::new();
    told.insert("type".to_owned(), json!(kind));
    for key in of_kind(SAME, kind) {
        if let Some(value) = schema.get(*key) {
            told.insert((*key).to_owned(), value.clone());
        }
    }
    let format =
        schema.get("format").filter(|format| of_kind(FORMATS, kind).iter().any(|name| format == name));
    if let Some(format) = format {
        told.insert("format".to_owned(), format.clone());
    }
    let mut words = schema.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
    values(schema, kind, &mut told, &mut words, &mut nullable);
    match kind {
        "INTEGER" | "NUMBER" => exclusive_bounds(schema, kind, &mut told),
        "ARRAY" => {
            told.insert("items".to_owned(), Value::Object(items(schema)));
        }
        "OBJECT" => properties(schema, &mut told),
        _ => {}
    }
    if !words.is_empty() {
        told.insert("description".to_owned(), json!(words));
    }
    if nullable {
        told.insert("nullable".to_owned(), json!(true));
    }
    told
}

fn of_kind(table: &[(&str, &'static [&'static str])], kind: &str) -> &'static [&'static str] {
    table.iter().find(|(name, _)| *name == kind).map_or(&[], |(_, fields)| fields)
}

/// `enum` and `const`: a field for texts, words for others.
fn values(
    schema: &Map<String, Value>,
    kind: &str,
    told: &mut Map<String, Value>,
    words: &mut String,
    nullable: &mut bool,
) {
    let mut values = match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => vec![value.clone()],
        (None, Some(Value::Array(values))) => values.clone(),
        _ => return,
    };
    *nullable |= values.contains(&Value::Null);
    values.retain(|value| !value.is_null());
    let fits = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    if kind == "STRING" && !values.is_empty() && values.iter().all(fits) {
        told.insert("enum".to_owned(), Value::Array(values));
        return;
    }
    let list = values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
    if !list.is_empty() && list.len() <= WORDS_MAX {
        let gap = if words.is_empty() { "" } else { " " };
        *words = format!("{words}{gap}One of: {list}.");
    }
}

/// There are no exclusive bounds: of whole numbers the next one is the bound.
fn exclusive_bounds(schema: &Map<String, Value>, kind: &str, told: &mut Map<String, Value>) {
    for (exclusive, bound, step) in [("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)]
    {
        let Some(value) = schema.get(exclusive).filter(|value| value.is_number()) else { continue };
        let next = value.as_i64().filter(|_| kind == "INTEGER").and_then(|value| value.checked_add(step));
        told.insert(bound.to_owned(), next.map_or_else(|| value.clone(), Value::from));
    }
}

/// What an array holds has to be said; a tuple's places become one form.
fn items(array: &Map<String, Value>) -> Map<String, Value> {
    match (array.get("items"), array.get("prefixItems")) {
        (Some(Value::Object(items)), None) => schema(items),
        (_, Some(Value::Array(places))) if !places.is_empty() => {
            schema(&[("anyOf".to_owned(), Value::Array(places.clone()))].into_iter().collect())
        }
        _ => typed(&Map::new(), "STRING", false),
    }
}

fn properties(object: &Map<String, Value>, told: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = object.get("properties") else { return };
    let rewritten: Map<String, Value> = properties
        .iter()
        .filter_map(|(name, property)| Some((name.clone(), Value::Object(schema(property.as_object()?)))))
        .collect();
    let required = object.get("required").and_then(Value::as_array).into_iter().flatten();
    let known = |name: &&Value| name.as_str().is_some_and(|name| rewritten.contains_key(name));
    let required: Vec<Value> = required.filter(known).cloned().collect();
    if rewritten.is_empty() {
        return;
    }
    told.insert("properties".to_owned(), Value::Object(rewritten));
    if !required.is_empty() {
        told.insert("required".to_owned(), Value::Array(required));
    }
}
