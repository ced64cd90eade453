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
fn a_rule_that_begins_with_a_variable_holds_where_the_variable_is_harmless() {
    for (rule, command, want) in [
        ("NODE_ENV=production *", "NODE_ENV=production npm start", "deny"),
        ("NODE_ENV=production npm run migrate *", "NODE_ENV=production npm run -s migrate", "forced"),
        ("NODE_ENV=production *", "cd x && CI=1 NODE_ENV=production npm start", "deny"),
        ("NODE_ENV=production*", "NODE_ENV=production ls", "deny"),
        ("CI=1 *", "LC_ALL=C CI=1 npm test", "deny"),
        ("CI=1 npm test", "CI=1 npm test", "deny"),
        ("NODE_ENV=production *", "env NODE_ENV=production npm start", "forced"),
        ("NODE_ENV=production *", "cross-env NODE_ENV=production npm start", "forced"),
        ("NODE_ENV=production *", "env CI=1 NODE_ENV=production npm start", "forced"),
        ("RAILS_ENV=production *", "RAILS_ENV=production bin/rails db:reset", "deny"),
        ("mypy *", "python3 -m mypy x.py", "forced"),
        ("./deploy.sh *", "python3 -m mypy --python-executable ./deploy.sh x.py", "forced"),
    ] {
        let rule = format!("Bash({rule})");
        Given { deny: &[&rule], ..Given::default() }.bypass_is(&format!("Bash({command})"), want);
    }
    let denies = Given { deny: &["Bash(NODE_ENV=production *)"], ..Given::default() };
    denies.bypass_is("Bash(NODE_ENV=test npm start)", "allow");
    denies.bypass_is("Bash(env NODE_ENV=test npm start)", "allow");
}

/// Words that are not told ask where they could make a rule match, and not for the star of another program's rule.
#[test]
fn untold_words_ask_where_a_rule_may_speak_of_the_program() {
    let denies = Given {
        deny: &["Bash(scripts/deploy*)", "Bash(uv run app *)"],
        allow: &["Bash"],
        ..Given::default()
    };
    for command in
        ["ls | xargs wc -l", "git ls-files | xargs grep -n TODO", "python app.py", "eslint src/app.ts"]
    {
        denies.bypass_is(&format!("Bash({command})"), "allow");
    }
    for command in
        ["ls | xargs sh", "ls | xargs ./scripts/x", "ls | xargs scripts/deploy.sh", "uv run -q app x"]
    {
        let got = denies.judge(
            &example::subject(&format!("Bash({command})"), &place()).unwrap(),
            PermissionMode::Default,
            true,
        );
        assert_ne!(got.decision, Decision::Allow, "{command}");
    }
}

#[test]
fn subcommands_are_found_however_they_are_written() {
    let denies = Given {
        deny: &[
            "Bash(git push *)",
            "Bash(npm run deploy *)",
            "Bash(npm publish *)",
            "Bash(docker compose down *)",
        ],
        allow: &["Bash"],
        ..Given::default()
    };
    let many = format!("npm {}publish", "-s x ".repeat(100));
    let programs = format!("foo {}publish", "npm -s ".repeat(9));
    for command in [
        "git -C 'my dir' push origin main",
        "git -c user.name='A B' push",
        "git -C '' push",
        "git -C x -C '' push",
        "npm -m '' publish",
        "cd p && git --work-tree 'a b' push",
        "npm -m 'release it now' publish",
        "npm run -s deploy",
        "npm -s -s -s -s -s -s -s -s -s run deploy",
        "npm runScript deploy",
        "npm run-scri deploy",
        "npx npm@10 publish",
        "docker --host tcp://h compose -f 'x y.yml' down",
        "docker-compose -f x down",
        &many,
        &programs,
    ] {
        let call = format!("Bash({command})");
        let got = denies.judge(&example::subject(&call, &place()).unwrap(), PermissionMode::Default, true);
        assert_ne!(got.decision, Decision::Allow, "{command}: {}", got.reason.text);
    }
    for command in
        ["git -C 'my dir' pull", "npm run -s build", "docker compose -f x up", "echo npm -s publish"]
    {
        denies.bypass_is(&format!("Bash({command})"), "allow");
    }
}

#[test]
fn other_writings_are_asked_about_and_neighbours_are_not() {
    let denies = Given {
        deny: &[
            "Bash(scripts/*)",
            "Bash(kubectl get secret *)",
            "Bash(kubectl delete*)",
            "Bash(python -m build *)",
            "Bash(uv run pytest *)",
            "Bash(bundle exec rake db:drop *)",
            "Bash(npm run deploy *)",
            "Bash(nx deploy *)",
            "Bash(cargo publish *)",
        ],
        allow: &["Bash"],
        ..Given::default()
    };
    for command in [
        "./scripts/deploy.sh",
        "timeout 5 bash ./scripts/x.sh",
        "kubectl get secrets -o yaml",
        "kubectl get pods,secret/x",
        "kubectl -n x delete pod y",
        "python3 -m build",
        "pytest -x",
        "poetry run pytest",
        "bin/rails db:drop",
        "run-s build deploy",
        "npx concurrently npm:deploy",
        "nx run app:deploy:production",
    ] {
        denies.bypass_is(&format!("Bash({command})"), "forced");
    }
    for command in [
        "cat scripts/x",
        "git add scripts/x",
        "chmod +x scripts/x.sh",
        "cargo test scripts/x",
        "kubectl get pods",
        "kubectl -n secret get pods",
        "npm run build",
        "make build",
        "cargo build",
        "docker build .",
        "uv add pytest",
        "bundle exec rake db:migrate",
        "run-s build",
        "nx build app",
        "make cargo-publish",
    ] {
        denies.bypass_is(&format!("Bash({command})"), "allow");
    }
}

#[test]
fn what_comes_through_the_input_of_a_shell_is_not_believed() {
    let denies = Given { deny: &["Bash(rm *)"], allow: &["Bash"], ..Given::default() };
    for command in [
        "npx <<< 'r''m x'",
        "npm exec <<< x",
        "npm x < f",
        "npm explore x <<< x",
        "echo x | yarn exec",
        "poetry shell <<< x",
        "foo shell <<< x",
        "foo --shell=sh <<< x",
        "foo 'exec sh' <<< x",
    ] {
        denies.bypass_is(&format!("Bash({command})"), "forced");
    }
    denies.bypass_is("Bash(poetry install)", "allow");
}

#[test]
fn more_than_is_looked_at_is_asked_about() {
    let words: Vec<String> = (0..450).map(|n| format!("a=b{n}:c{n},d{n}@e{n}")).collect();
    let words = words.join(" ");
    let reads = Given { deny: &["Read(sub/.env)"], ..Given::default() };
    reads.bypass_is(&format!("Bash(cd s; cd sub; foo {words} .env)"), "forced");
    Given::default().bypass_is(&format!("Bash(cd s; cd .git; foo {words} config)"), "forced");
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
        "ip netns exec n rm x",
        "ip -n y netns e n rm x",
        "ip -all netns exec rm x",
        "sudo ip vrf exec n env rm x",
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
        "docker exec -it app ls",
        "docker run --rm -it -v rm:/x node:22 npm test",
        "docker compose exec -T curl ls",
        "kubectl exec -it pod -n curl -- ls",
        "apk add curl",
        "conda install -y curl",
        "brew info curl",
        "rpm -q curl",
        "aws s3 rm s3://b/x",
        "pytest tests/curl -k rm",
        "npx jest src/rm",
        "go test ./curl",
        "make -f x.mk all",
        "make test ARGS='-k x'",
        "xvfb-run -a npm test",
        "cross-env NODE_ENV=test npm test",
    ] {
        denies.bypass_is(&format!("Bash({command})"), "allow");
    }
}

#[test]
fn values_of_options_and_variables_may_be_commands() {
    let denies = Given { deny: &["Bash(rm *)", "Bash(curl *)"], allow: &["Bash"], ..Given::default() };
    for command in [
        "make TEX=rm x.dvi",
        "make CC=/usr/bin/curl a",
        "make CC='curl x' a",
        "make RUN='rm x' a",
        "make -f - rm",
        "docker exec -it app rm x",
        "docker run --rm --entrypoint rm alpine x",
        "docker create alpine rm x",
        "podman exec -l rm x",
        "podman run --pull always alpine rm x",
        "docker compose exec run rm x",
        "kubectl node-shell x -- rm y",
        "npx --yes true rm x",
        "aws ecs run-task --overrides command=rm,x",
        "kubectl exec -it pod -n y -- rm x",
        "kubectl debug pod --image=x -- rm x",
        "kubectl create job y --image=x -- rm x",
        "mise exec node@22 -- rm x",
        "direnv exec . rm x",
        "xvfb-run -a rm x",
        "cross-env A=1 rm x",
        "aws ssm send-command --parameters 'commands=rm x'",
        "aws ecs execute-command --command 'rm x'",
        "rpm -q --pipe 'rm x' y",
        "pytest -p rm x",
        "pytest --pdbcls=rm x",
        "foo --exec='curl http://x'",
        "prove --exec=curl t",
        "cpp -wrapper curl,http://x f.c",
        "x86_64-w64-mingw32-gcc -wrapper curl,x f.c",
        "pip config --editor=curl edit",
        "rustc -Clinker=curl x.rs",
        "cargo rustc -- -Clinker=curl",
        "rustdoc --test --test-runtool=curl x.rs",
        "clang --ld-path=curl x.c",
        "go env -w CC=curl",
        "npm install --git=curl x",
        "hg --ssh=curl pull",
        "just --chooser=curl",
        "meson setup --wrapper=curl b",
        "bazel run --run_under=curl x",
        "mvn -Dexec.executable=curl exec:exec",
        "dpkg-buildpackage -rcurl",
        "tcpdump -z curl",
        "foo -xvcurl x",
    ] {
        // Denied where it is a known option that runs it.
        let call = format!("Bash({command})");
        let subject = example::subject(&call, &place()).unwrap();
        let got = shown(denies.judge(&subject, PermissionMode::Default, true).decision);
        assert!(matches!(got, "forced" | "deny"), "{call}: {got}");
    }
    for command in
        ["make CC=gcc all", "foo --color=auto", "cargo build --features=curl", "apt-get install curl=7"]
    {
        denies.bypass_is(&format!("Bash({command})"), "allow");
    }
}

#[test]
fn words_that_are_not_told_reach_no_program_with_running_options() {
    let denies = Given { deny: &["Bash(curl *)"], allow: &["Bash"], ..Given::default() };
    for program in
        "find sed tar split sort make gcc cargo go wget rg rsync zip gpg docker npm hg foo ./x".split(' ')
    {
        denies.bypass_is(&format!("Bash(xargs {program})"), "forced");
        denies.bypass_is(&format!("Bash(xargs -I@ {program} @)"), "forced");
    }
    for command in [
        "xargs grep -l x",
        "xargs rm -f",
        "xargs wc -l",
        "xargs sort --",
        "xargs sed -i s/a/b/ --",
        "find . -name y -exec sed -i s/a/b/ {} +",
        "find . -exec sort {} +",
    ] {
        denies.bypass_is(&format!("Bash({command})"), "allow");
    }
    denies.bypass_is("Bash(find . -exec sed {} f \\;)", "forced");
}

#[test]
fn parts_of_modules_that_take_code_take_it_too() {
    let denies = Given { deny: &["Bash(curl *)"], allow: &["Bash"], ..Given::default() };
    for command in [
        "python3 -m asyncio.__main__",
        "python3 -m idlelib.idle -c x",
        "python3 -m pdb.x",
        "python3 -m foo -c 'import os; os.system(x)'",
    ] {
        denies.bypass_is(&format!("Bash({command})"), "forced");
    }
    for command in ["python3 -m pytest -c f.ini", "python3 -m foo.bar x"] {
        denies.bypass_is(&format!("Bash({command})"), "allow");
    }
    Given { allow: &["Bash(python3 -m asyncio.__main__ *)"], ..Given::default() }
        .is("Bash(python3 -m asyncio.__main__ x)", "ask");
}

#[test]
fn stars_allow_no_option_that_runs_or_writes() {
    for (rule, command) in [
        ("cpp *", "cpp -wrapper ./e f.c"),
        ("c99 *", "c99 -B./d f.c"),
        ("gfortran *", "gfortran -fplugin=./x.so f.f"),
        ("arm-none-eabi-gcc *", "arm-none-eabi-gcc -wrapper ./e f.c"),
        ("prove *", "prove --exec=./e t"),
        ("prove *", "prove -e ./e t"),
        ("rustdoc *", "rustdoc --test-runtool=./e x.rs"),
        ("ssh-keygen *", "ssh-keygen -D ./x.so"),
        ("tcpdump *", "tcpdump -z ./e"),
        ("dpkg-buildpackage *", "dpkg-buildpackage -r./e"),
        ("patch *", "patch --output=/etc/x f"),
        ("patch *", "patch -o /etc/x f"),
        ("pandoc *", "pandoc -o /etc/x f"),
        ("gpg *", "gpg --output /etc/x f"),
    ] {
        let allow = format!("Bash({rule})");
        Given { allow: &[&allow], ..Given::default() }.is(&format!("Bash({command})"), "ask");
    }
    for command in ["cpp f.c", "prove t", "rustdoc x.rs", "gfortran f.f", "c89 f.c", "tox -q"] {
        let allow = format!("Bash({} *)", command.split(' ').next().unwrap());
        let given = Given { allow: &[&allow], ..Given::default() };
        given.is(&format!("Bash({command})"), "allow");
        let call = format!("Bash({command})");
        let subject = example::subject(&call, &place()).unwrap();
        let free = Circumstances {
            mode: PermissionMode::Default,
            bypass: false,
            someone_there: true,
            confined: false,
            grants: &[],
        };
        assert_eq!(
            shown(given.policy().judge(&subject, &free).decision),
            "ask",
            "without a floor: {command}"
        );
    }
}
