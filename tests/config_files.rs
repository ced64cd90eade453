//! The files in `config/` and the reference in `docs/configuration.md` say what the code says.
//!
//! `REGENERATE=1 cargo test --test config_files` writes the generated ones anew.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolgate::config::{self, Config, Overrides};

const COMMAND: &str = "REGENERATE=1 cargo test --test config_files";
const EXAMPLES: [&str; 3] = ["default.json", "locked-down.json", "permissive.json"];

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn example(name: &str) -> PathBuf {
    path("config").join(name)
}

/// Holds a file against what it should be, or writes it where that is asked for.
fn current(file: &str, expected: &str) {
    let file = path(file);
    if std::env::var_os("REGENERATE").is_some() {
        std::fs::write(&file, expected).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(found == expected, "{} is not what the code says; run `{COMMAND}`", file.display());
}

#[test]
fn the_schema_is_current() {
    current("config/schema.json", &format!("{:#}\n", config::schema()));
}

#[test]
fn the_reference_is_current() {
    const FILE: &str = "docs/configuration.md";
    let (begin, end) = ("<!-- reference: begin -->\n", "<!-- reference: end -->");
    let text = std::fs::read_to_string(path(FILE)).unwrap();
    let (before, rest) = text.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    current(FILE, &format!("{before}{begin}{}{end}{after}", config::reference()));
}

#[test]
fn the_default_file_has_every_key_with_its_default() {
    let loaded = config::load(Some(&example("default.json")), &Overrides::default()).unwrap();
    let shown = Config { schema: None, ..loaded.config.clone() };
    let (there, expected) = (config::values(&shown), config::values(&Config::default()));
    assert_eq!(there, expected);
    let left_out: Vec<_> = expected.keys().filter(|key| !loaded.layers.contains_key(*key)).collect();
    assert!(left_out.is_empty(), "config/default.json explains every key, but not {left_out:?}");
}

#[test]
fn the_examples_are_in_order() {
    for name in EXAMPLES {
        let checked = toolgate::app::check_config(Some(example(name)), false);
        assert!(checked.problems.is_empty(), "{name}: {:?}", checked.problems);
        assert!(checked.warnings.is_empty(), "{name}: {:?}", checked.warnings);
    }
}

#[test]
fn the_schema_takes_the_examples_and_refuses_what_a_server_refuses() {
    let validator = jsonschema::validator_for(&config::schema()).unwrap();
    for name in EXAMPLES {
        let text = std::fs::read_to_string(example(name)).unwrap();
        let value: Value =
            jsonc_parser::parse_to_serde_value(&text, &jsonc_parser::ParseOptions::default()).unwrap();
        let errors: Vec<_> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
    }
    for wrong in [
        json!({"limts": {}}),
        json!({"limits": {"streams": 0}}),
        json!({"limits": {"streams": "7"}}),
        json!({"server": ["127.0.0.1:1"]}),
        json!({"permissions": {"mode": "yolo"}}),
        json!({"auth": {"tokens": [{"role": "agent"}]}}),
    ] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
    }
}

#[test]
fn every_number_has_bounds_and_every_key_a_description() {
    fn look(schema: &Value, key: &str) {
        for (name, of) in schema["properties"].as_object().into_iter().flatten() {
            let key = format!("{key}.{name}");
            assert!(
                of["description"].as_str().is_some_and(|text| !text.is_empty()),
                "{key} is not described"
            );
            if of["type"] == "integer" {
                assert!(of["maximum"].is_u64(), "{key} has no bounds: see src/config/bounds.rs");
            }
            look(of, &key);
        }
    }
    look(&config::schema(), "");
}
