//! Files that a build tool or test runner runs without being told their names.

/// A program and the files that it looks for where it begins. (The manuals of each: GNU make 3.2, cargo
/// "The Manifest Format", npm "package.json", just, pytest "Configuration", tox, Rake, Gradle, Maven, CMake.)
const IMPLIED: &[(&str, &[&str])] = &[
    ("make", &["GNUmakefile", "makefile", "Makefile"]),
    ("gmake", &["GNUmakefile", "makefile", "Makefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("cargo", &["Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config"]),
    ("npm", &["package.json", ".npmrc"]),
    ("npx", &["package.json", ".npmrc"]),
    ("pnpm", &["package.json", ".npmrc", ".pnpmfile.cjs"]),
    ("yarn", &["package.json", ".yarnrc", ".yarnrc.yml"]),
    ("bun", &["package.json", "bunfig.toml"]),
    ("deno", &["deno.json", "deno.jsonc"]),
    ("pytest", &["conftest.py", "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"]),
    ("tox", &["tox.ini", "pyproject.toml", "setup.cfg"]),
    ("nox", &["noxfile.py"]),
    ("pip", &["setup.py", "pyproject.toml", "setup.cfg"]),
    ("rake", &["Rakefile", "rakefile"]),
    ("bundle", &["Gemfile"]),
    ("gradle", &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"]),
    ("gradlew", &["build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"]),
    ("mvn", &["pom.xml"]),
    ("cmake", &["CMakeLists.txt", "CMakePresets.json"]),
    ("meson", &["meson.build"]),
    ("ninja", &["build.ninja"]),
    ("docker", &["Dockerfile", "compose.yaml", "docker-compose.yml"]),
    ("pre-commit", &[".pre-commit-config.yaml"]),
];

/// The files that the programs among these words look for.
pub(super) fn of(words: &[String]) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for word in words {
        let name = word.rsplit('/').next().unwrap_or_default();
        let implied = IMPLIED.iter().filter(|(program, _)| *program == name).flat_map(|(_, files)| *files);
        for file in implied {
            if !files.iter().any(|known| known == file) {
                files.push((*file).to_owned());
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programs_own_files_are_known_wherever_it_stands() {
        let of = |words: &[&str]| of(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert!(of(&["cd", "sub", "/usr/bin/make", "all"]).contains(&"Makefile".to_owned()));
        assert_eq!(of(&["npm", "npx"]), ["package.json", ".npmrc"]);
        assert!(of(&["ls", "makeup"]).is_empty());
    }
}
