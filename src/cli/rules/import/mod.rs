//! `toolgate rules import`: our rules out of a Claude Code settings file, and what does not carry over.

mod anchor;
mod rule;
mod settings;
mod shadowed;

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value, json};

use self::anchor::Anchors;
use self::rule::{Kind, Note};
use self::settings::{Imported, Remark, import};
use super::place::own_places;
use super::tool_names;
use crate::cli::error::{CliError, UNSUCCESSFUL};
use crate::cli::output::{self, Output};
use crate::config::{self, Config, MaxMode, OutsideFile, Overrides, PermissionsConfig};
use crate::domain::visible;
use crate::permission;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ImportArgs {
    /// The settings file
    file: PathBuf,
    /// What paths with one leading `/` and with `..` count from [default: the file's own directory, and the
    /// project's]
    #[arg(long, value_name = "DIR")]
    base: Option<PathBuf>,
    /// Write there instead of to standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long, requires = "output")]
    force: bool,
    /// Show what this config file would be with the rules in it; the file stays as it is
    #[arg(long, value_name = "CONFIG")]
    merge: Option<PathBuf>,
    /// What is lost is a failure
    #[arg(long)]
    strict: bool,
    /// One JSON document: {config, not_carried}
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  toolgate rules import .claude/settings.json
  toolgate rules import ~/.claude/settings.json --output imported.json
  toolgate rules import .claude/settings.json --merge config.json > merged.json

Needs no server. The result is a config file with `permissions` alone. What does not carry over, or means
something else here, is said on standard error, a line each:
  dropped     it allowed something, which now asks
  narrower    it held something back, which is judged by what is usual now
  different   it reaches further or less far here
  translated  in other words, with the same meaning
  ignored     it says nothing here
Exit codes: 0 done, 1 with --strict something is dropped or narrower, or the merged config would be refused,
2 the file is no settings file, or cannot be written.";

/// Carries a settings file over.
pub(super) fn run(args: &ImportArgs, output: &mut Output) -> Result<u8, CliError> {
    let names = tool_names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|source| CliError::File { path: path.to_owned(), source })
    };
    let base = args.base.as_deref().map(absolute).transpose()?;
    let anchors = Anchors::of(&absolute(&args.file)?, base);
    let file = read(&args.file)?;
    let mut imported = import(&file, &anchors, &names).map_err(|malformed| {
        let place = malformed.line.map_or(String::new(), |line| format!(":{line}"));
        let key = if malformed.key.is_empty() { String::new() } else { format!("{}: ", malformed.key) };
        let what = format!("{}{place}: {key}{}", args.file.display(), malformed.message);
        CliError::usage(what, "nothing was carried over")
    })?;
    let (config, refused) = match &args.merge {
        None => {
            let config = json!({"permissions": told(&imported)});
            let refused = problems(&imported.permissions, None, &names);
            (config, refused)
        }
        Some(into) => merged(into, &mut imported, &names)?,
    };
    write(args, output, &config, &imported)?;
    for problem in &refused {
        output::complain(&format!("error: {}", visible::again(problem)));
    }
    let lost = imported.remarks.iter().any(|remark| remark.note.kind.is_loss());
    Ok(if !refused.is_empty() || (args.strict && lost) { UNSUCCESSFUL } else { 0 })
}

fn read(path: &Path) -> Result<OutsideFile, CliError> {
    OutsideFile::read(path).map_err(|error| {
        CliError::usage(format!("{}:{error}", path.display()), "name a settings.json that you may read")
    })
}

fn write(
    args: &ImportArgs,
    output: &mut Output,
    config: &Value,
    imported: &Imported,
) -> Result<(), CliError> {
    let text = format!("{config:#}\n");
    if let Some(path) = &args.output {
        put(path, &text, args.force)?;
    }
    if args.json {
        let remarks: Vec<Value> = imported.remarks.iter().map(as_json).collect();
        return output.json(&json!({"config": config, "not_carried": remarks}).to_string());
    }
    for remark in &imported.remarks {
        output::complain(&line_of(args, remark));
    }
    if args.output.is_none() { output.text(&text) } else { Ok(()) }
}

/// Writes a new file, or one in the place of another only where that was said.
fn put(path: &Path, text: &str, force: bool) -> Result<(), CliError> {
    let written = if force {
        // In one step, so that nobody finds half of it.
        let fresh = path.with_added_extension("new");
        fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, path))
    } else {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
    };
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            CliError::usage(format!("{} is there already", path.display()), "--force writes over it")
        }
        _ => CliError::usage(
            format!("{} cannot be written: {error}", path.display()),
            "name a file in a directory that is there",
        ),
    })
}

/// The permissions with only what the file said.
fn told(imported: &Imported) -> Map<String, Value> {
    let permissions = &imported.permissions;
    let mut told = Map::new();
    if imported.says_mode {
        told.insert("mode".to_owned(), json!(permissions.mode));
    }
    if permissions.max_mode != MaxMode::default() {
        told.insert("max_mode".to_owned(), json!(permissions.max_mode));
    }
    for (name, list) in
        [("deny", &permissions.deny), ("ask", &permissions.ask), ("allow", &permissions.allow)]
    {
        told.insert(name.to_owned(), json!(list));
    }
    told
}

/// The config file with the rules added to its own, and why it would be refused.
fn merged(path: &Path, imported: &mut Imported, names: &[&str]) -> Result<(Value, Vec<String>), CliError> {
    let loaded = config::load(Some(path), &Overrides::default()).map_err(|error| {
        CliError::usage(error.to_string(), "`toolgate rules check FILE` tells all that is wrong")
    })?;
    let mut config = read(path)?.value;
    let mut permissions = loaded.config.permissions.clone();
    for (into, from) in [
        (&mut permissions.deny, &imported.permissions.deny),
        (&mut permissions.ask, &imported.permissions.ask),
        (&mut permissions.allow, &imported.permissions.allow),
    ] {
        for rule in from {
            if !into.contains(rule) {
                into.push(rule.clone());
            }
        }
    }
    if config["permissions"].get("mode").is_none() {
        permissions.mode = imported.permissions.mode;
    }
    if imported.says_mode && permissions.mode != imported.permissions.mode {
        let why = format!("the config says {}, and that stays", permissions.mode.as_str());
        let note = Note { kind: Kind::Different, why };
        let key = "permissions.defaultMode".to_owned();
        imported.remarks.push(Remark { key, line: None, rule: None, became: Vec::new(), note });
    }
    // A bound of either holds.
    if permissions.max_mode == MaxMode::Bypass {
        permissions.max_mode = imported.permissions.max_mode;
    }
    if !permissions.max_mode.admits(permissions.mode) {
        permissions.mode = loaded.config.permissions.mode;
    }
    imported.remarks.extend(shadowed::remarks(&loaded.config, &permissions, names));
    let refused = problems(&permissions, Some(&loaded.config), names);
    let all = Imported { permissions: permissions.clone(), says_mode: true, remarks: Vec::new() };
    let kept = config["permissions"].as_object().cloned().unwrap_or_default();
    let mut section = kept;
    section.extend(told(&all));
    config["permissions"] = Value::Object(section);
    Ok((config, refused))
}

/// Why the server would refuse these rules.
fn problems(permissions: &PermissionsConfig, config: Option<&Config>, names: &[&str]) -> Vec<String> {
    let places = own_places(config.unwrap_or(&Config::default()), None);
    let problems = permission::compile(permissions, &places, names).err().unwrap_or_default();
    problems.into_iter().map(|problem| format!("{}: {}", problem.key, problem.message)).collect()
}

fn line_of(args: &ImportArgs, remark: &Remark) -> String {
    let place = remark.line.map_or(String::new(), |line| format!(":{line}"));
    let rule = remark.rule.as_ref().map_or(String::new(), |rule| format!(" `{rule}`"));
    let became = match remark.became.as_slice() {
        [] => String::new(),
        rules => format!(" (now {})", rules.iter().map(|r| format!("`{r}`")).collect::<Vec<_>>().join(", ")),
    };
    let Remark { key, note, .. } = remark;
    let line =
        format!("{}{place}: {}: {key}{rule}: {}{became}", args.file.display(), note.kind.as_str(), note.why);
    visible::one_line(&line)
}

fn as_json(remark: &Remark) -> Value {
    json!({
        "line": remark.line,
        "key": remark.key,
        "rule": remark.rule,
        "kind": remark.note.kind.as_str(),
        "why": remark.note.why,
        "became": remark.became,
    })
}
