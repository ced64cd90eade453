//! Writes out what serde flattens: one object with all fields, in place of an intersection of parts.

use serde_json::{Map, Value, json};

use super::{referred, walk};

/// Replaces every `allOf` of plain objects by the object that they make.
pub(super) fn flatten(document: &mut Value) {
    // Parts may be made of parts; each round takes one layer away.
    loop {
        let schemas = document["components"]["schemas"].clone();
        let mut changed = false;
        walk(document, &mut |schema| {
            if let Some(flat) = merged(schema, &schemas) {
                *schema = flat;
                changed = true;
            }
        });
        if !changed {
            return;
        }
    }
}

fn merged(schema: &Value, schemas: &Value) -> Option<Value> {
    let parts = schema.get("allOf")?.as_array()?;
    let parts: Vec<&Value> =
        parts.iter().map(|part| referred(schemas, part).map_or(part, |(_, schema)| schema)).collect();
    if !parts.iter().all(|part| is_plain_object(part)) {
        return None;
    }
    let mut flat = schema.clone();
    let outer = flat.as_object_mut()?;
    outer.remove("allOf");
    outer.insert("type".to_owned(), json!("object"));
    for part in parts {
        add(outer, part);
    }
    Some(flat)
}

fn is_plain_object(schema: &Value) -> bool {
    schema["type"] == "object" && schema.get("allOf").is_none() && schema.get("oneOf").is_none()
}

/// Adds the fields of one object to another.
pub(super) fn add(outer: &mut Map<String, Value>, part: &Value) {
    if let Some(properties) = part["properties"].as_object() {
        let all = outer.entry("properties").or_insert_with(|| json!({}));
        all.as_object_mut().into_iter().for_each(|all| all.extend(properties.clone()));
    }
    if let Some(required) = part["required"].as_array() {
        let all = outer.entry("required").or_insert_with(|| json!([]));
        all.as_array_mut().into_iter().for_each(|all| all.extend(required.iter().cloned()));
    }
    // That a part takes no more fields is not said of the whole.
    match part.get("additionalProperties") {
        None | Some(Value::Bool(false)) => {}
        Some(more) => {
            outer.insert("additionalProperties".to_owned(), more.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_become_one_object() {
        let mut document = json!({"components": {"schemas": {
            "Key": {"type": "object", "required": ["id"], "properties": {"id": {}}, "additionalProperties": false},
            "Inner": {"allOf": [{"$ref": "#/components/schemas/Key"}, {"type": "object", "properties": {"a": {}}}]},
            "Outer": {"description": "d", "allOf": [
                {"$ref": "#/components/schemas/Inner"},
                {"type": "object", "required": ["b"], "properties": {"b": {}}},
            ]},
            "Union": {"allOf": [{"oneOf": []}, {"type": "object"}]},
        }}});
        flatten(&mut document);
        let schemas = &document["components"]["schemas"];
        assert_eq!(
            schemas["Outer"],
            json!({"description": "d", "type": "object", "required": ["id", "b"],
                "properties": {"id": {}, "a": {}, "b": {}}})
        );
        assert!(schemas["Union"]["allOf"].is_array(), "what is no plain object is left as it is");
    }
}
