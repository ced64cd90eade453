//! A JSON Schema of any kind as one that model APIs take for a tool: it stands on its own and its root
//! is a plain object. It only tells the model; arguments are held against the original.

use serde_json::{Map, Value, json};

/// The most subschemas of one rewritten schema: references that multiply end here.
const NODES_MAX: usize = 10_000;
/// The deepest nesting, references included; what lies deeper may be anything.
const DEPTH_MAX: usize = 64;
/// The longest text about what a root cannot say, in bytes.
const NOTE_MAX: usize = 1000;

/// Keywords that say what a schema is, not what fits it, and those whose work is done here.
const DROPPED: &[&str] = &[
    "$ref",
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$defs",
    "definitions",
    "$vocabulary",
    "$dynamicRef",
    "$dynamicAnchor",
    "$recursiveRef",
    "$recursiveAnchor",
    "additionalItems",
];
/// Keywords with a list of schemas, a map of schemas, a schema.
const LISTS: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems"];
const MAPS: &[&str] = &["properties", "patternProperties", "dependentSchemas"];
const SCHEMAS: &[&str] = &[
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
];
/// Of those, keywords that APIs take as a boolean too.
const OPEN_OR_CLOSED: &[&str] = &["additionalProperties", "unevaluatedProperties", "unevaluatedItems"];

/// A rewritten schema.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plain {
    /// The schema; `type` is `object` and `properties` is there.
    pub(super) schema: Map<String, Value>,
    /// What the root said and cannot say here.
    left_out: Map<String, Value>,
}

impl Plain {
    /// The tool's description, with what the schema cannot say.
    pub(super) fn describe(&self, description: &str) -> String {
        if self.left_out.is_empty() {
            return description.to_owned();
        }
        let left_out = Value::Object(self.left_out.clone()).to_string();
        if left_out.len() > NOTE_MAX {
            return description.to_owned();
        }
        format!("{description}\n\nThe arguments must also match this JSON Schema: {left_out}")
    }
}

/// Rewrites a tool's schema: references are replaced by what they refer to, forms of older drafts by
/// those of 2020-12, and what stands at the root beside the properties is merged into them.
pub(super) fn plain(parameters: &Value) -> Plain {
    let mut rewriting = Rewriting { root: parameters, following: Vec::new(), depth: 0, left: NODES_MAX };
    flatten(rewriting.schema(parameters))
}

struct Rewriting<'a> {
    root: &'a Value,
    /// References that are being replaced, from the outside in.
    following: Vec<&'a str>,
    depth: usize,
    left: usize,
}

impl<'a> Rewriting<'a> {
    fn schema(&mut self, value: &'a Value) -> Map<String, Value> {
        let Value::Object(map) = value else { return Map::new() };
        if self.left == 0 || self.depth == DEPTH_MAX {
            return Map::new();
        }
        self.left -= 1;
        self.depth += 1;
        let mut rewritten = map.get("$ref").and_then(Value::as_str).map(|at| self.referred(at));
        let own = map.iter().filter_map(|(key, value)| self.keyword(key, value));
        match &mut rewritten {
            Some(referred) => referred.extend(own),
            None => rewritten = Some(own.collect()),
        }
        self.depth -= 1;
        let mut rewritten = rewritten.unwrap_or_default();
        modernize(map, &mut rewritten);
        rewritten
    }

    /// What a reference within the schema refers to. One that leads elsewhere or into itself may be
    /// anything.
    fn referred(&mut self, at: &'a str) -> Map<String, Value> {
        let target = at.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let Some(target) = target.filter(|_| !self.following.contains(&at)) else { return Map::new() };
        self.following.push(at);
        let referred = self.schema(target);
        self.following.pop();
        referred
    }

    /// A keyword rewritten; none where it goes.
    fn keyword(&mut self, key: &str, value: &'a Value) -> Option<(String, Value)> {
        let rewritten = match value {
            // A list was a tuple before 2020-12.
            Value::Array(tuple) if key == "items" => {
                return Some(("prefixItems".to_owned(), self.list(tuple)));
            }
            _ if DROPPED.contains(&key) => return None,
            Value::Array(schemas) if LISTS.contains(&key) => self.list(schemas),
            Value::Object(map) if MAPS.contains(&key) => {
                map.iter().map(|(key, value)| (key.clone(), Value::Object(self.schema(value)))).collect()
            }
            Value::Bool(_) if OPEN_OR_CLOSED.contains(&key) => value.clone(),
            _ if SCHEMAS.contains(&key) => Value::Object(self.schema(value)),
            _ if has_its_form(key, value) => value.clone(),
            _ => return None,
        };
        Some((key.to_owned(), rewritten))
    }

    fn list(&mut self, schemas: &'a [Value]) -> Value {
        schemas.iter().map(|schema| Value::Object(self.schema(schema))).collect()
    }
}

/// Whether a keyword without schemas in it has the form of 2020-12.
fn has_its_form(key: &str, value: &Value) -> bool {
    match key {
        "required" => value.as_array().is_some_and(|names| names.iter().all(Value::is_string)),
        "enum" => value.as_array().is_some_and(|values| !values.is_empty()),
        "type" => value.is_string() || value.is_array(),
        "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        _ => !LISTS.contains(&key) && !MAPS.contains(&key),
    }
}

/// Exclusive bounds of older drafts as today's; and what arrays hold, which OpenAI and Google want said.
fn modernize(original: &Map<String, Value>, rewritten: &mut Map<String, Value>) {
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        if original.get(exclusive) == Some(&Value::Bool(true))
            && let Some(value) = rewritten.remove(bound)
        {
            rewritten.insert(exclusive.to_owned(), value);
        }
    }
    if allows(rewritten, "array") && !rewritten.contains_key("items") {
        rewritten.insert("items".to_owned(), json!({}));
    }
}

/// Whether a schema's `type` names this one.
pub(super) fn allows(schema: &Map<String, Value>, kind: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(name)) => name == kind,
        Some(Value::Array(names)) => names.iter().any(|name| name == kind),
        _ => false,
    }
}

/// Merges what an object's schema says in branches into one list of properties.
fn flatten(mut schema: Map<String, Value>) -> Plain {
    let mut left_out = Map::new();
    merge_all_of(&mut schema, &mut left_out);
    for key in ["anyOf", "oneOf"] {
        let branches = take_list(&mut schema, key);
        if branches.is_empty() {
            continue;
        }
        let flat = branches.iter().map(|branch| flatten(branch.clone()).schema).collect();
        left_out.insert(key.to_owned(), branches.into_iter().map(Value::Object).collect());
        unite(&mut schema, flat);
    }
    for key in ["not", "enum", "const", "if", "then", "else"] {
        if let Some(value) = schema.remove(key) {
            left_out.insert(key.to_owned(), value);
        }
    }
    schema.insert("type".to_owned(), json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    Plain { schema, left_out }
}

fn merge_all_of(schema: &mut Map<String, Value>, left_out: &mut Map<String, Value>) {
    for part in take_list(schema, "allOf") {
        let part = flatten(part);
        left_out.extend(part.left_out);
        merge(schema, part.schema);
    }
}

fn take_list(schema: &mut Map<String, Value>, key: &str) -> Vec<Map<String, Value>> {
    let Some(Value::Array(list)) = schema.remove(key) else { return Vec::new() };
    let objects = list.into_iter().filter_map(|value| match value {
        Value::Object(map) => Some(map),
        _ => None,
    });
    objects.collect()
}

/// Makes one schema of two that both hold: where they speak of the same, the first is told.
pub(super) fn merge(schema: &mut Map<String, Value>, part: Map<String, Value>) {
    for (key, value) in part {
        match (key.as_str(), schema.get_mut(&key), value) {
            ("properties", Some(Value::Object(mine)), Value::Object(theirs)) => {
                for (name, property) in theirs {
                    match (mine.get_mut(&name), property) {
                        (Some(Value::Object(mine)), Value::Object(theirs)) => merge(mine, theirs),
                        (Some(_), _) => {}
                        (None, property) => {
                            mine.insert(name, property);
                        }
                    }
                }
            }
            ("required", Some(Value::Array(mine)), Value::Array(theirs)) => {
                for name in theirs {
                    if !mine.contains(&name) {
                        mine.push(name);
                    }
                }
            }
            // Of one part it means: beside this part's own, which the others add to.
            (_, None, value) if !(value == false && OPEN_OR_CLOSED.contains(&key.as_str())) => {
                schema.insert(key, value);
            }
            _ => {}
        }
    }
}

/// Adds the properties of branches of which one holds; required is what all of them require.
fn unite(schema: &mut Map<String, Value>, branches: Vec<Map<String, Value>>) {
    let mut properties = Map::new();
    let mut required: Option<Vec<Value>> = None;
    for mut branch in branches {
        let theirs = match branch.remove("required") {
            Some(Value::Array(names)) => names,
            _ => Vec::new(),
        };
        required = Some(match required {
            Some(names) => names.into_iter().filter(|name| theirs.contains(name)).collect(),
            None => theirs,
        });
        let Some(Value::Object(theirs)) = branch.remove("properties") else { continue };
        for (name, property) in theirs {
            let forms = properties.entry(name).or_insert_with(|| json!([]));
            if let Some(forms) = forms.as_array_mut().filter(|forms| !forms.contains(&property)) {
                forms.push(property);
            }
        }
    }
    for forms in properties.values_mut() {
        *forms = match forms.take() {
            Value::Array(mut forms) if forms.len() == 1 => forms.remove(0),
            forms => json!({ "anyOf": forms }),
        };
    }
    // What the schema itself says of a property holds in every branch.
    if let Some(Value::Object(mine)) = schema.get("properties") {
        properties.retain(|name, _| !mine.contains_key(name));
    }
    let added = [
        ("properties".to_owned(), Value::Object(properties)),
        ("required".to_owned(), Value::Array(required.unwrap_or_default())),
    ];
    merge(schema, added.into_iter().collect());
    if schema.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        schema.remove("required");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: &Value, expected: &Value) {
        assert_eq!(Value::Object(plain(schema).schema), *expected);
        // What is plain stays as it is.
        assert_eq!(Value::Object(plain(expected).schema), *expected);
    }

    #[test]
    fn a_plain_schema_stays_as_it_is() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": {"type": "string", "enum": ["x", "y"], "pattern": "^x"},
                "b": {"type": ["integer", "null"], "minimum": 1, "default": 3},
                "c": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}},
                "$ref": {"type": "string", "description": "a parameter of this name"}
            },
            "required": ["a"],
            "additionalProperties": false
        });
        check(&schema, &schema);
        assert_eq!(plain(&schema).describe("Does."), "Does.");
    }

    #[test]
    fn a_root_is_an_object_with_properties() {
        let empty = json!({"type": "object", "properties": {}});
        for schema in [json!({}), json!(true), json!({"type": ["object", "null"]}), json!({"properties": 7})]
        {
            check(&schema, &empty);
        }
    }

    #[test]
    fn references_are_replaced() {
        check(
            &json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "$ref": "#/definitions/Input",
                "definitions": {
                    "Input": {"properties": {"a": {"$ref": "#/definitions/Name", "description": "mine"}}},
                    "Name": {"type": "string", "description": "its own"}
                }
            }),
            &json!({"type": "object", "properties": {"a": {"type": "string", "description": "mine"}}}),
        );
        check(
            &json!({"properties": {"a": {"$ref": "https://example.com/x"}, "b": {"$ref": "#/nowhere"}}}),
            &json!({"type": "object", "properties": {"a": {}, "b": {}}}),
        );
    }

    #[test]
    fn references_into_themselves_end() {
        check(
            &json!({
                "properties": {"tree": {"$ref": "#/$defs/Tree"}, "all": {"$ref": "#"}},
                "$defs": {"Tree": {"type": "object", "properties": {
                    "name": {"type": "string"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
                }}}
            }),
            &json!({"type": "object", "properties": {
                "tree": {"type": "object", "properties": {
                    "name": {"type": "string"}, "children": {"type": "array", "items": {}}
                }},
                "all": {"properties": {
                    "tree": {"type": "object", "properties": {
                        "name": {"type": "string"}, "children": {"type": "array", "items": {}}
                    }},
                    "all": {}
                }}
            }}),
        );
    }

    #[test]
    fn references_that_multiply_are_bounded() {
        let mut definitions = Map::new();
        for n in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            let both = json!({"properties": {"a": next, "b": next}});
            definitions.insert(format!("d{n}"), both);
        }
        let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
        assert!(Value::Object(plain(&schema).schema).to_string().len() < 1_000_000);
    }

    #[test]
    fn forms_of_older_drafts_become_todays() {
        check(
            &json!({"type": "object", "properties": {
                "pair": {"type": "array", "items": [{"type": "string"}, true], "additionalItems": false},
                "rate": {"type": "number", "minimum": 0, "exclusiveMinimum": true, "exclusiveMaximum": false},
                "odd": {"type": "string", "required": true, "enum": []},
                "list": {"type": "array"},
                "any": true
            }}),
            &json!({"type": "object", "properties": {
                "pair": {"type": "array", "prefixItems": [{"type": "string"}, {}], "items": {}},
                "rate": {"type": "number", "exclusiveMinimum": 0},
                "odd": {"type": "string"},
                "list": {"type": "array", "items": {}},
                "any": {}
            }}),
        );
    }

    #[test]
    fn branches_at_the_root_become_properties() {
        for key in ["anyOf", "oneOf"] {
            let branches = json!([
                {"properties": {"id": {"type": "string"}, "kind": {"const": "a"}}, "required": ["id", "kind"]},
                {"properties": {"name": {"type": "string"}, "kind": {"const": "b"}}, "required": ["kind"]},
                {"properties": {"all": {"type": "integer"}, "kind": {"const": "b"}}, "required": ["kind", "all"]}
            ]);
            let schema = json!({
                "type": "object",
                "properties": {"all": {"type": "boolean"}},
                "required": ["all"],
                key: branches
            });
            check(
                &schema,
                &json!({
                    "type": "object",
                    "properties": {
                        "all": {"type": "boolean"},
                        "id": {"type": "string"},
                        "name": {"type": "string"},
                        "kind": {"anyOf": [{"const": "a"}, {"const": "b"}]}
                    },
                    "required": ["all", "kind"]
                }),
            );
            let told = plain(&schema).describe("Does.");
            let note =
                told.strip_prefix("Does.\n\nThe arguments must also match this JSON Schema: ").unwrap();
            assert_eq!(serde_json::from_str::<Value>(note).unwrap(), json!({ key: branches }));
        }
    }

    #[test]
    fn parts_that_all_hold_are_merged() {
        check(
            &json!({
                "allOf": [
                    {"properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false},
                    {"properties": {"a": {"minLength": 1, "type": "integer"}, "b": {}}, "required": ["a", "b"]},
                    {"oneOf": [{"required": ["c"]}, {"required": ["d"]}]}
                ],
                "properties": {"c": {}, "d": {}}
            }),
            &json!({
                "type": "object",
                "properties": {"a": {"type": "string", "minLength": 1}, "b": {}, "c": {}, "d": {}},
                "required": ["a", "b"]
            }),
        );
    }

    #[test]
    fn what_no_root_may_say_is_told_in_words() {
        let schema = json!({
            "type": "object", "properties": {"a": {}}, "not": {"required": ["b"]}, "enum": [{"a": 1}],
            "if": {"required": ["a"]}, "then": {"required": ["c"]}
        });
        check(&schema, &json!({"type": "object", "properties": {"a": {}}}));
        let told = plain(&schema).describe("Does.");
        assert!(["not", "enum", "if", "then"].iter().all(|key| told.contains(key)), "{told}");
        let long = json!({"type": "object", "not": {"enum": ["x".repeat(2000)]}});
        assert_eq!(plain(&long).describe("Does."), "Does.", "a long note helps nobody");
    }

    #[test]
    fn deep_nesting_ends() {
        let mut schema = json!({"type": "string"});
        for _ in 0..120 {
            schema = json!({"type": "array", "items": schema});
        }
        let schema = json!({"type": "object", "properties": {"deep": schema}});
        let text = Value::Object(plain(&schema).schema).to_string();
        assert_eq!(text.matches("array").count(), DEPTH_MAX - 1);
    }
}
