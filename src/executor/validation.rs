//! Checks arguments against a tool's schema, and says what is wrong so that a model can mend it.

use std::fmt::Write as _;

use serde_json::Value;

/// How many violations are told at once.
const VIOLATIONS_TOLD: usize = 5;

/// Why a tool's own schema cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SchemaError {
    /// The root has to be `type: object`.
    #[error("the schema's root must have \"type\": \"object\"")]
    NotAnObject,
    /// References would be resolved elsewhere.
    #[error("the schema must not use \"$ref\", \"$dynamicRef\" or \"$id\"")]
    Reference,
    /// It is no JSON Schema.
    #[error("the schema is not valid: {0}")]
    Invalid(String),
}

/// A compiled schema.
pub(super) struct ArgumentValidator {
    validator: jsonschema::Validator,
    summary: String,
}

impl ArgumentValidator {
    /// Compiles a schema that stands on its own.
    pub(super) fn new(schema: &Value) -> Result<Self, SchemaError> {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::NotAnObject);
        }
        if has_reference(schema) {
            return Err(SchemaError::Reference);
        }
        let validator =
            jsonschema::draft202012::new(schema).map_err(|error| SchemaError::Invalid(error.to_string()))?;
        Ok(Self { validator, summary: summary(schema) })
    }

    /// Checks arguments; the error names each field, what is wrong with it, and what is taken.
    pub(super) fn check(&self, tool_name: &str, arguments: &Value) -> Result<(), String> {
        if self.validator.is_valid(arguments) {
            return Ok(());
        }
        let mut text = format!("The arguments of {tool_name} are not valid:");
        for error in self.validator.iter_errors(arguments).take(VIOLATIONS_TOLD) {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
            let _ = write!(text, "\n- {place}{}", crate::domain::visible::clipped(&error.to_string(), 300));
        }
        let _ = write!(text, "\n{tool_name} takes: {}", self.summary);
        Err(text)
    }
}

fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            map.keys().any(|key| matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef" | "$id"))
                || map.values().any(has_reference)
        }
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}

/// The parameters on one line: `file_path (string, required), offset (integer)`.
fn summary(schema: &Value) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return "no parameters".to_owned();
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let describe = |(name, property): (&String, &Value)| {
        let kind = property.get("type").and_then(Value::as_str).unwrap_or("any");
        let required = if required.contains(&name.as_str()) { ", required" } else { "" };
        format!("{name} ({kind}{required})")
    };
    let parameters: Vec<String> = properties.iter().map(describe).collect();
    if parameters.is_empty() { "no parameters".to_owned() } else { parameters.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_error_names_the_field_and_what_is_right() {
        let schema = json!({
            "type": "object",
            "properties": {"file_path": {"type": "string"}, "offset": {"type": "integer", "minimum": 1}},
            "required": ["file_path"],
            "additionalProperties": false
        });
        let validator = ArgumentValidator::new(&schema).unwrap();
        assert_eq!(validator.check("Read", &json!({"file_path": "a", "offset": 2})), Ok(()));
        let error = validator.check("Read", &json!({"offset": 0, "approved": true})).unwrap_err();
        for part in ["/offset", "file_path", "approved", "file_path (string, required)", "offset (integer)"] {
            assert!(error.contains(part), "{part} in {error}");
        }
    }

    #[test]
    fn schemas_that_cannot_stand_on_their_own_are_refused() {
        for (schema, why) in [
            (json!({"type": "array"}), SchemaError::NotAnObject),
            (json!({"type": "object", "properties": {"a": {"$ref": "http://x/y"}}}), SchemaError::Reference),
        ] {
            assert_eq!(ArgumentValidator::new(&schema).err(), Some(why));
        }
        assert!(ArgumentValidator::new(&json!({"type": "object", "required": 7})).is_err());
    }
}
