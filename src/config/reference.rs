//! The table of every key, in Markdown, from the schema.

use std::fmt::Write as _;

use serde_json::Value;

use super::schema::schema;

/// One row a key: what it is, type, default, bounds, whether it is live, and its environment variable.
pub fn reference() -> String {
    let mut text = String::from(
        "| key | what | type | default | bounds | takes effect | variable |\n|---|---|---|---|---|---|---|\n",
    );
    let schema = schema();
    rows(&schema, schema.get("default"), "", &mut text);
    text
}

fn rows(schema: &Value, default: Option<&Value>, prefix: &str, text: &mut String) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, of) in properties {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let default = default.and_then(|default| default.get(name)).or_else(|| of.get("default"));
        if of.get("properties").is_some() {
            rows(of, default, &key, text);
            continue;
        }
        row(&key, of, default, text);
        if let Some(items) = of.get("items") {
            rows(items, None, &format!("{key}[]"), text);
        }
    }
}

fn row(key: &str, of: &Value, default: Option<&Value>, text: &mut String) {
    let in_list = key.contains("[]");
    let number = |name: &str| of.get(name).and_then(Value::as_u64);
    let bounds = match (number("minimum"), number("maximum")) {
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => String::new(),
    };
    let restart = of.get("x-restart").is_some();
    let default = match default {
        Some(default) => format!("`{default}`"),
        None => String::new(),
    };
    let variable = if in_list || key.starts_with('$') {
        String::new()
    } else {
        format!("`TOOLGATE_{}`", key.to_uppercase().replace('.', "__"))
    };
    let effect = if restart { "**restart**" } else { "live" };
    let what = of.get("description").and_then(Value::as_str).unwrap_or_default().replace('|', "\\|");
    let kind = kind(of);
    // Writing to a string does not fail.
    let _ = writeln!(text, "| `{key}` | {what} | {kind} | {default} | {bounds} | {effect} | {variable} |");
}

/// The type in words; of a choice all that may be chosen.
fn kind(of: &Value) -> String {
    let choices = choices(of);
    if !choices.is_empty() {
        return choices.iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(", ");
    }
    let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match of.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().map(name).collect::<Vec<_>>().join(" or "),
        Some(Value::String(kind)) if kind == "array" => match of.get("items") {
            Some(items) if items.get("properties").is_none() => format!("list of {}", self::kind(items)),
            _ => "list of objects".to_owned(),
        },
        Some(kind) => name(kind),
        None => String::new(),
    }
}

fn choices(of: &Value) -> Vec<Value> {
    let listed = of.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
    let each = of.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    each.flat_map(|one| one.get("const").cloned().into_iter().chain(choices(one))).chain(listed).collect()
}
