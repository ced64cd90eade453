//! Answers leave out what is not there: no field of theirs is both optional and null.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{referred, walk};

/// Takes null out of optional fields of schemas that only answers have. Requests may say null for
/// what they leave out, and the code takes it.
pub(super) fn leave_out(document: &mut Value) {
    let asked = in_requests(document);
    let Some(schemas) = document["components"]["schemas"].as_object_mut() else { return };
    for (_, schema) in schemas.iter_mut().filter(|(name, _)| !asked.contains(*name)) {
        walk(schema, &mut without_null);
    }
}

fn without_null(schema: &mut Value) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (_, property) in properties.iter_mut().filter(|(name, _)| !required.contains(&json!(name))) {
        if let Some(types) = property.get_mut("type").and_then(Value::as_array_mut) {
            types.retain(|kind| kind != "null");
            if let [only] = types.as_slice() {
                property["type"] = only.clone();
            }
        }
        if let Some(choices) = property.get_mut("oneOf").and_then(Value::as_array_mut) {
            choices.retain(|choice| choice["type"] != "null");
            if let [only] = choices.as_slice() {
                let mut only = only.clone();
                if let (Some(text), Some(only)) = (property.get("description"), only.as_object_mut()) {
                    only.insert("description".to_owned(), text.clone());
                }
                *property = only;
            }
        }
    }
}

/// The names of the schemas that a request can hold.
fn in_requests(document: &Value) -> BTreeSet<String> {
    let schemas = &document["components"]["schemas"];
    let mut found = BTreeSet::new();
    let operations = document["paths"].as_object().into_iter().flatten();
    for operation in operations.filter_map(|(_, item)| item.as_object()).flat_map(|item| item.values()) {
        collect(&operation["requestBody"], schemas, &mut found);
        collect(&operation["parameters"], schemas, &mut found);
    }
    found
}

fn collect(value: &Value, schemas: &Value, found: &mut BTreeSet<String>) {
    if let Some((name, schema)) = referred(schemas, value)
        && found.insert(name.to_owned())
    {
        collect(schema, schemas, found);
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, schemas, found)),
        Value::Object(map) => map.values().for_each(|item| collect(item, schemas, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_say_nothing_in_place_of_null() {
        let optional = json!({"type": "object", "required": ["c"], "properties": {
            "a": {"type": ["string", "null"]},
            "b": {"description": "d", "oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Both"}]},
            "c": {"type": ["string", "null"]},
        }});
        let mut document = json!({
            "paths": {"/": {"post": {"requestBody": {"$ref": "#/components/schemas/Asked"}}}},
            "components": {"schemas": {"Asked": optional, "Told": optional, "Both": {}}},
        });
        leave_out(&mut document);
        let schemas = &document["components"]["schemas"];
        assert_eq!(schemas["Asked"], optional);
        assert_eq!(
            schemas["Told"]["properties"],
            json!({"a": {"type": "string"}, "b": {"description": "d", "$ref": "#/components/schemas/Both"},
                "c": {"type": ["string", "null"]}})
        );
    }
}
