//! The JSON Schema of the config, from its types: what editors complete and check by.

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::bounds::BOUNDS;
use super::{Config, RESTART_KEYS};

/// The schema (draft 2020-12), with the bounds of numbers, and `x-restart: true` on keys that need one.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    tidy(&mut schema);
    for (key, least, most) in BOUNDS {
        if let Some(map) = property(&mut schema, key).and_then(Value::as_object_mut) {
            map.insert("minimum".to_owned(), json!(least));
            map.insert("maximum".to_owned(), json!(most));
        }
    }
    for key in RESTART_KEYS {
        if let Some(map) = property(&mut schema, key).and_then(Value::as_object_mut) {
            map.insert("x-restart".to_owned(), json!(true));
        }
    }
    if let Some(map) = schema.as_object_mut() {
        map.insert("title".to_owned(), json!("The configuration of Toolgate"));
    }
    schema
}

fn property<'v>(schema: &'v mut Value, key: &str) -> Option<&'v mut Value> {
    key.split('.').try_fold(schema, |schema, name| schema.get_mut("properties")?.get_mut(name))
}

/// Takes out formats of numbers that are Rust's own, which a validator does not know, and joins the lines that
/// descriptions were wrapped at.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            if map.get("format").and_then(Value::as_str).is_some_and(|format| format.starts_with("uint")) {
                map.remove("format");
            }
            if let Some(Value::String(text)) = map.get_mut("description") {
                *text = text.replace('\n', " ");
            }
            map.values_mut().for_each(tidy);
        }
        Value::Array(list) => list.iter_mut().for_each(tidy),
        _ => {}
    }
}
