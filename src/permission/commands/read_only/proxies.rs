//! Programs that are often proxies: a file in the directory or above it may choose the program that they stand for.

use crate::permission::commands::names::Names;

/// Whose proxy a program may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Proxy {
    /// Of rustup.
    Rust,
    /// Of pyenv, rye and their like.
    Python,
    /// Of nodenv, volta and their like.
    Node,
    /// Of volta.
    Volta,
    /// Of aqua.
    Aqua,
    /// Of a manager that has shims for any program.
    Any,
}

/// Each with the lines that only ask for a version. Each was run under a tracer: nothing is written, nothing of the
/// workspace is run. Left out: `cargo --version --verbose`, which runs `lsb_release`.
const LINES: &[(&str, Proxy, &[&str])] = &[
    ("cargo", Proxy::Rust, &["--version", "-V"]),
    ("rustc", Proxy::Rust, &["--version", "-V", "-vV", "-Vv", "--version --verbose"]),
    ("rustup", Proxy::Rust, &["--version", "-V"]),
    ("python", Proxy::Python, &["--version", "-V"]),
    ("python3", Proxy::Python, &["--version", "-V"]),
    ("node", Proxy::Node, &["--version", "-v"]),
    ("nodejs", Proxy::Node, &["--version", "-v"]),
];

/// The manuals of asdf ("Tool versions", `path:`), mise ("Configuration"), proto ("Config") and vfox.
static ANY_FILES: Names = Names::of(&[
    ".tool-versions .prototools .vfox.toml .rtx.toml .miserc.toml",
    "mise.toml .mise.toml mise.local.toml .mise.local.toml mise .mise",
    ".config/mise .config/mise.toml .config/mise.local.toml .config/miserc.toml",
]);
/// aqua, "Configuration".
const AQUA: &str =
    "aqua.yaml aqua.yml .aqua.yaml .aqua.yml aqua/aqua.yaml aqua/aqua.yml .aqua/aqua.yaml .aqua/aqua.yml";
static AQUA_FILES: Names = Names::of(&[AQUA]);
/// To volta a package's dependency is a program.
static VOLTA_FILES: Names = Names::of(&[".volta .node-version .nvmrc package.json"]);
/// What may choose for a shim of whichever manager: these, and asdf ("Legacy version files").
static SHIM_FILES: Names = Names::of(&[
    AQUA,
    "rust-toolchain rust-toolchain.toml .python-version .python-versions .node-version .nvmrc .volta package.json",
    ".ruby-version .java-version .go-version .perl-version .php-version .lua-version .terraform-version .crystal-version",
    ".sdkmanrc .jvmrc Gemfile go.mod",
]);
/// The rustup book, "Overrides": a toolchain can be a path there.
static RUST_FILES: Names = Names::of(&["rust-toolchain rust-toolchain.toml"]);
/// pyenv(1).
static PYTHON_FILES: Names = Names::of(&[".python-version .python-versions"]);
/// nodenv(1), the manuals of nvm and volta.
static NODE_FILES: Names = Names::of(&[".node-version .nvmrc .volta"]);

/// The proxy that the command asks for its version, and for nothing else.
pub(super) fn asked_for_its_version(program: &str, arguments: &[String]) -> Option<Proxy> {
    let (_, proxy, lines) = LINES.iter().find(|(name, ..)| *name == program)?;
    let asks = |line: &&str| line.split(' ').eq(arguments.iter().map(String::as_str));
    lines.iter().any(asks).then_some(*proxy)
}

impl Proxy {
    /// The files of which each chooses, whatever is in it.
    pub(in crate::permission) fn files(self) -> impl Iterator<Item = &'static str> {
        let own = match self {
            Self::Rust => &RUST_FILES,
            Self::Python => &PYTHON_FILES,
            Self::Node => &NODE_FILES,
            Self::Volta => &VOLTA_FILES,
            Self::Aqua => &AQUA_FILES,
            Self::Any => &SHIM_FILES,
        };
        ANY_FILES.all().chain(own.all())
    }

    /// The file that may choose, as its content says.
    pub(in crate::permission) fn manifest(self) -> Option<&'static str> {
        match self {
            Self::Rust | Self::Volta | Self::Aqua | Self::Any => None,
            Self::Python => Some("pyproject.toml"),
            Self::Node => Some("package.json"),
        }
    }

    /// Whether the manifest with this content may choose. The manuals of rye ("managed" projects run what lies in their
    /// `.venv`), volta (`volta`), and of what goes by `engines` and `devEngines`. A name in escapes could be any.
    pub(in crate::permission) fn is_chosen_by(self, manifest: &str) -> bool {
        let names: &[&str] = match self {
            Self::Rust | Self::Volta | Self::Aqua | Self::Any => &[],
            Self::Python => &["rye", "\\"],
            Self::Node => &["volta", "ngines", "\\u"],
        };
        names.iter().any(|name| manifest.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_chooses_by_what_it_names() {
        for (proxy, manifest, want) in [
            (Proxy::Rust, "volta rye", false),
            (Proxy::Node, r#"{"name": "x", "scripts": {"test": "jest"}}"#, false),
            (Proxy::Node, r#"{"volta": {"node": "20"}}"#, true),
            (Proxy::Node, r#"{"devEngines": {}}"#, true),
            (Proxy::Node, r#"{"\u0076olta": {"node": "20"}}"#, true),
            (Proxy::Python, "[project]\nname = \"x\"\n", false),
            (Proxy::Python, "[tool.rye]\nmanaged = true\n", true),
            (Proxy::Python, r#"tool."r\u0079e".managed = true"#, true),
        ] {
            assert_eq!(proxy.is_chosen_by(manifest), want, "{manifest}");
        }
    }
}
