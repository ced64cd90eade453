//! `toolgate completions`.

use crate::support::{Run, bare, program};

#[test]
fn scripts_are_made_for_each_shell_and_parse() {
    let home = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let run = Run::of(&program(home.path(), &["completions", shell]).output().unwrap()).expect(0);
        run.shows(&["approvals", "completions", "toolgate"]);
        let file = home.path().join(shell);
        std::fs::write(&file, &run.out).unwrap();
        // A shell that is not installed cannot be asked; bash always is.
        match bare(home.path(), shell).arg("-n").arg(&file).output() {
            Ok(checked) => {
                assert!(Run::of(&checked).expect(0).err.is_empty(), "{shell}");
            }
            Err(error) => assert!(shell != "bash" && error.kind() == std::io::ErrorKind::NotFound, "{error}"),
        }
    }
}

#[test]
fn bash_completes_commands_and_options() {
    let home = tempfile::tempdir().unwrap();
    let script = home.path().join("script");
    let run = Run::of(&program(home.path(), &["completions", "bash"]).output().unwrap()).expect(0);
    std::fs::write(&script, &run.out).unwrap();
    let completed = |words: &str, index: usize| {
        let line = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD={index}; _toolgate toolgate \"${{COMP_WORDS[$COMP_CWORD]}}\"; \
             echo \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        Run::of(&bare(home.path(), "bash").args(["-c", &line]).output().unwrap()).expect(0).out
    };
    assert_eq!(completed("toolgate appro", 1).trim(), "approvals approve");
    assert_eq!(completed("toolgate sessions sh", 2).trim(), "show");
    assert!(completed("toolgate deny --mes", 2).contains("--message"));
}
