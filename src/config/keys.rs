//! The keys of a config as dotted names: which there are, and which differ.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Config;

/// Every key of a config with its value. A list is one key, whatever it holds.
pub fn of(config: &Config) -> BTreeMap<String, Value> {
    // A config can always be written: it was made from JSON.
    leaves(&serde_json::to_value(config).unwrap_or_default())
}

/// The keys whose values differ, in order.
pub fn changed(old: &Config, new: &Config) -> Vec<String> {
    let (old, new) = (of(old), of(new));
    let differs = |key: &&String| old.get(*key) != new.get(*key);
    let mut keys: Vec<String> = old.keys().chain(new.keys()).filter(differs).cloned().collect();
    keys.sort();
    keys.dedup();
    keys
}

/// Every key in a JSON object with its value.
pub(super) fn leaves(value: &Value) -> BTreeMap<String, Value> {
    fn collect(value: &Value, key: &str, into: &mut BTreeMap<String, Value>) {
        match value {
            Value::Object(map) => {
                for (name, value) in map {
                    let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                    collect(value, &key, into);
                }
            }
            value => drop(into.insert(key.to_owned(), value.clone())),
        }
    }
    let mut all = BTreeMap::new();
    collect(value, "", &mut all);
    all
}

/// The value at a key.
pub(super) fn at<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    key.split('.').try_fold(value, |value, name| value.get(name))
}

/// Puts a value at a key, making what lies on the way.
pub(super) fn put(value: &mut Value, key: &str, new: Value) {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let Some(map) = value.as_object_mut() else { return };
    match key.split_once('.') {
        None => drop(map.insert(key.to_owned(), new)),
        Some((first, rest)) => put(map.entry(first).or_insert(Value::Null), rest, new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let old = Config::default();
        let mut new = Config::default();
        new.permissions.deny.push("Bash".to_owned());
        new.limits.streams = 1;
        new.schema = Some("x".to_owned());
        assert_eq!(changed(&old, &new), ["$schema", "limits.streams", "permissions.deny"]);
        assert!(changed(&new, &new).is_empty());
    }
}
