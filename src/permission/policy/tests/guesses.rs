//! Denied commands among words that may or may not be run: a question, not a denial that nobody can lift.

use super::*;

#[test]
fn a_guess_is_a_question_in_every_session() {
    let denies = Given { deny: &["Bash(rm *)", "Bash(curl *)"], allow: &["Bash"], ..Given::default() };
    for command in [
        "foo rm x",
        "./run.sh rm x",
        "foo 'rm x'",
        "foo sh -c 'rm x'",
        "npm run build -- rm y",
        "cargo run rm x",
    ] {
        let call = format!("Bash({command})");
        denies.is(&call, "forced").bypass_is(&call, "forced");
    }
    let subject = example::subject("Bash(foo curl http://x)", &place()).unwrap();
    let got = denies.judge(&subject, PermissionMode::Default, true);
    assert_eq!(
        got.reason.text,
        "it may run `curl …`, which is denied by `Bash(curl *)` (permissions.deny[1])"
    );
    assert_eq!(got.reason.rule.as_deref(), Some("Bash(curl *)"));
    let policy = denies.policy();
    let alone = Circumstances {
        mode: PermissionMode::Default,
        bypass: true,
        someone_there: false,
        confined: true,
        grants: &[],
    };
    assert_eq!(policy.judge(&subject, &alone).decision, Decision::Deny, "nobody is there");
}

#[test]
fn what_a_known_carrier_runs_stays_denied() {
    let denies = Given { deny: &["Bash(rm *)"], allow: &["Bash"], ..Given::default() };
    for command in [
        "sudo -u root rm x",
        "env A=1 timeout 5 rm x",
        "xargs -n1 rm",
        "find . -name y -exec rm {} +",
        "git bisect run rm x",
        "docker run img rm x",
        "docker exec c rm x",
        "npx rm x",
        "sh -c 'true; rm x'",
        "sh -c 'sh -c \"rm x\"'",
        "flock f rm x",
        "command rm x",
        "tar --to-command='rm x' -xf a",
        "env --weird rm x",
        "/usr/bin/rm x",
    ] {
        let call = format!("Bash({command})");
        denies.is(&call, "deny").bypass_is(&call, "deny");
    }
    Given { deny: &["Bash(git push *)"], ..Given::default() }
        .bypass_is("Bash(git -C d push)", "deny")
        .bypass_is("Bash(git-push x)", "deny")
        .bypass_is("Bash(timeout 5 git -C d push)", "deny")
        .bypass_is("Bash(foo git -C d push)", "forced");
}

#[test]
fn words_that_are_no_commands_are_no_guesses() {
    let denies = Given { deny: &["Bash(rm *)", "Bash(curl *)"], allow: &["Bash"], ..Given::default() };
    for command in [
        "docker rm x",
        "docker image rm x",
        "git remote rm x",
        "git -C d checkout rm",
        "npm rm x",
        "npm -g install rm",
        "cargo rm x",
        "apt-get install -y curl",
        "sudo apt-get install -y curl",
        "sh -c 'apt-get install curl'",
        "pip install curl",
        "python3 -m pip install curl",
        "man curl",
        "dpkg -l curl",
        "systemctl status curl",
        "gh pr create --title 'curl x' --body 'rm x'",
        "command -v curl",
        "type rm",
        "xargs grep rm",
        "timeout 5 cargo add curl",
    ] {
        denies.bypass_is(&format!("Bash({command})"), "allow");
    }
}
