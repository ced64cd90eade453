//! What no rule can free: Toolgate's own paths, names that other programs obey, new repositories, `rm -r`.

use super::*;

#[test]
fn built_in_protections_hold_everywhere() {
    let none = Given { allow: &["Edit(**)", "Bash"], ..Given::default() };
    none.is("Edit(.git/hooks/pre-commit)", "forced")
        .bypass_is("Write(sub/.git/config)", "forced")
        .bypass_is("Edit(AGENTS.md)", "forced")
        .bypass_is("Edit(.cargo/config.toml)", "forced")
        .bypass_is("Bash(cd .git && echo x > hooks/pre-commit)", "forced")
        .bypass_is("Bash(echo x >> AGENTS.md)", "forced")
        .bypass_is("Bash(mv a .git)", "forced")
        .bypass_is("Bash(rm -rf /)", "forced")
        .bypass_is("Bash(cd x && rm -fr ~/)", "forced")
        .bypass_is("Bash(cat AGENTS.md | head)", "allow")
        .bypass_is("Bash(cat .git/HEAD)", "allow")
        .is("Read(.git/config)", "allow")
        .is("Edit(src/a)", "allow");
    for call in [
        "Read(/var/toolgate/tokens/agent)",
        "Edit(/etc/toolgate.json)",
        "Bash(cat /var/toolgate/tokens/operator)",
        "Bash(cp ../var/toolgate/db x)",
        "ListDir(/var/toolgate)",
        "Bash(docker run -v /var/toolgate:/x y)",
    ] {
        none.is(call, "deny").bypass_is(call, "deny");
    }
    Given::default().is("Bash(cd .git && echo x > hooks/pre-commit)", "forced");
    let link = with_paths("Edit", Class::EditInside, vec![file("docs", "/ws/.git/config", Access::Edit)]);
    assert_eq!(shown(none.judge(&link, PermissionMode::Default, true).decision), "forced");
}

/// Each protected name, or what lies beneath it.
const WRITTEN: &[&str] = &[
    ".git/config",
    ".git/hooks/pre-commit",
    ".git",
    ".hg/hgrc",
    ".jj/repo/config.toml",
    ".svn",
    "sub/.git/HEAD",
    ".husky/pre-push",
    ".pre-commit-config.yaml",
    ".gitmodules",
    ".gitattributes",
    "sub/.gitattributes",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".zshenv",
    "/home/u/.bashrc",
    "/home/u/.config/fish/config.fish",
    ".envrc",
    ".npmrc",
    ".cargo/config.toml",
    "sub/.cargo/config.toml",
    ".mcp.json",
    ".vscode/tasks.json",
    ".devcontainer/devcontainer.json",
    ".claude/settings.json",
    "AGENTS.md",
    "sub/AGENTS.md",
    "CLAUDE.md",
    "claude.md",
    ".github/workflows/ci.yml",
    ".gitlab-ci.yml",
    ".circleci/config.yml",
    "Jenkinsfile",
    "GEMINI.md",
    ".cursorrules",
    ".githooks/pre-commit",
    "bunfig.toml",
    ".pnpmfile.cjs",
    ".yarn/releases/yarn.cjs",
    "sub/rust-toolchain.toml",
    ".idea/workspace.xml",
    ".zed/tasks.json",
    "app.code-workspace",
    ".roo/rules/a.md",
    ".kiro/steering/a.md",
    ".continue/config.yaml",
    "opencode.json",
    "QWEN.md",
    ".cursor/rules/a.mdc",
    ".github/copilot-instructions.md",
    "lefthook.yml",
    "mise.toml",
    "mise.ci.toml",
    "mise/config.toml",
    ".github/hooks/a.json",
    ".agents/skills/a.md",
    ".dir-locals.el",
    ".tool-versions",
];

/// Each protected name, by each tool and command that could write it, however it is spelt and reached.
#[test]
fn every_protected_name_asks_however_it_is_written() {
    let given = Given { allow: &["Edit", "Bash(*)", "Bash(mkdir *)"], ..Given::default() };
    for name in WRITTEN.iter().copied() {
        for call in [
            format!("Edit({name})"),
            format!("Write({name})"),
            format!("ApplyPatch({name})"),
            format!("NotebookEdit({name})"),
            format!("Bash(echo x > {name})"),
            format!("Bash(echo x >> '{name}')"),
            format!("Bash(echo x | tee {name})"),
            format!("Bash(echo x | tee -a src/a {name})"),
            format!("Bash(cp a {name})"),
            format!("Bash(mv a {name})"),
            format!("Bash(mv {name} a)"),
            format!("Bash(rm {name})"),
            format!("Bash(ln -sf a {name})"),
            format!("Bash(touch {name})"),
            format!("Bash(mkdir -p {name})"),
            format!("Bash(chmod +x {name})"),
            format!("Bash(install -m 755 a {name})"),
            format!("Bash(dd if=a of={name})"),
            format!("Bash(sed -i s/a/b/ {name})"),
            format!("Bash(rsync a {name})"),
            format!("Bash(sort -o {name} a)"),
            format!("Bash(sort -uo{name} a)"),
            format!("Bash(curl -4o{name} file:///a)"),
            format!("Bash(curl -s#o{name} file:///a)"),
            format!("Bash(curl -{}o{name} file:///a)", "s".repeat(200)),
            format!("Bash(sh -c 'echo x > {name}')"),
            format!("Bash(env cp a {name})"),
            format!("Bash(X=1; echo $X > {name})"),
            format!("Bash(git mv a {name})"),
        ] {
            given.is(&call, "forced").bypass_is(&call, "forced");
        }
        for link in ["docs", ".vscode/a"] {
            for (requested, real) in [(link, name), (name, link)] {
                let real = Path::new("/ws").join(real);
                let path = file(requested, real.to_str().unwrap(), Access::Edit);
                let subject = with_paths("Edit", Class::EditInside, vec![path]);
                assert_eq!(
                    shown(given.judge(&subject, PermissionMode::AcceptEdits, true).decision),
                    "forced"
                );
            }
        }
        let none = Given::default();
        none.edits_are(&format!("Edit({name})"), "forced");
        none.edits_are(&format!("Bash(touch {name})"), "forced");
        none.edits_are(&format!("Bash(mkdir -p a/{name}/b)"), "forced");
        none.bypass_is(&format!("Bash(touch {name})"), "forced");
    }
    // What only looks like one is none.
    for name in [".gitignore", "x.git/config", "AGENTS.md.bak", ".cargo/registry/x", ".github/x.md", "npmrc"]
    {
        given.is(&format!("Edit({name})"), "allow").bypass_is(&format!("Bash(cp a {name})"), "allow");
    }
}

/// git-init(1), git-clone(1), git-worktree(1), git-submodule(1), git-config(1), and tools that do as much.
#[test]
fn a_new_repository_and_its_settings_are_asked_about() {
    let given = Given { allow: &["Bash(*)", "Bash(git *)"], ..Given::default() };
    for command in [
        "git init",
        "git init --bare x",
        "/usr/bin/git -C sub init",
        "git -c a.b=c --no-pager clone https://x/y",
        "git clone x y",
        "git config core.hooksPath x",
        "git config edit",
        "git config --unset user.name",
        "git config user.name $(x)",
        "echo x | xargs git config core.hooksPath",
        "foo git config core.hooksPath",
        "git config core.hooksPath {a,b}",
        "git config --global alias.x '!y'",
        "git config set core.fsmonitor ./x",
        "git worktree add ../x",
        "git submodule update --init",
        "git submodule --quiet add x",
        "cd sub && env A=b git init",
        "sh -c 'git init'",
        "xargs git clone",
        "$(echo git) init; git init",
        "g=git; git clone $x",
        "git lfs install",
        "git lfs track '*.psd'",
        "git maintenance start",
        "npm config set script-shell=/tmp/a --location=project",
        "npm set script-shell x",
        "xargs npm config",
        "env A=b npm -g c set x y",
        "yarn config set yarnPath x",
        "pnpm config set script-shell x",
        "cargo new x",
        "hg init",
        "jj git clone x",
        "uv init",
        "gh repo clone x -- -c core.sshCommand=touch",
        "pre-commit install",
        "npx husky init",
        "mise use node",
        "conda init",
    ] {
        let call = format!("Bash({command})");
        given.is(&call, "forced").bypass_is(&call, "forced");
    }
    for command in [
        "git status",
        "git worktree list",
        "git submodule status",
        "echo git init",
        "git log init",
        "npm init",
        "npm config get x",
        "npm install set",
        "cargo new x --vcs none",
        "cargo test new",
        "echo hg init",
        "pre-commit run",
        "git lfs ls-files",
        "git config --get user.name",
        "git config user.name",
        "git config --get-regexp user",
        "git config --show-origin --list",
        "git config --global --list",
        "git config --global user.name; ls",
    ] {
        given.bypass_is(&format!("Bash({command})"), "allow");
    }
}

/// Spellings that a path, a program or a target was not found in once.
#[test]
fn what_was_spelt_past_the_rules_once_is_found() {
    let deny = &["Bash(curl *)", "Bash(git push *)", "Bash(perl *)", "Read(**/.env)", "Read(creds)"][..];
    let given = Given { deny, ..Given::default() };
    for command in [
        "git --attr-source HEAD push",
        "/usr/lib/git-core/git-push",
        "git-push origin",
        "grep -nf.env a",
        "date -uf.env",
        "date -ufcreds",
        "xargs -0ra.env echo",
        "xargs -racreds echo",
        "grep -1hf.env a",
        "upload -s4T.env",
        "upload -#T.env",
        "cpp -idiraftercreds a.h",
        "upload -sT.env",
        "upload -T '{.env}'",
        "sed 1r.env a",
        "conda run curl x",
        "jj util exec -- curl x",
        "mix cmd curl x",
        "pnpm curl x",
        "bun run curl x",
        "hg bisect -c 'curl x'",
    ] {
        given.bypass_is(&format!("Bash({command})"), "deny");
    }
    for command in [
        "echo 'c\"\"url x' | ssh-agent bash",
        "upload -0rcurl x",
        "newgrp root <<< 'curl x'",
        "vim.basic -es '+!curl x'",
        "x86_64-linux-gnu-gcc -wrapper curl,x a.c",
        "git log --dd",
        "apt-cache -o Dir::Bin::dpkg=curl policy",
        "pip --python curl list",
        "gcc -Wl,-plugin=./x m.c",
        "bazel run --run_under=curl //x",
        "mvn exec:exec -Dexec.executable=curl",
        "sbt '!curl x'",
    ] {
        let call = format!("Bash({command})");
        let subject = example::subject(&call, &place()).unwrap();
        let got = given.judge(&subject, PermissionMode::Default, true).decision;
        assert_ne!(shown(got), "allow", "{command}");
    }
    let none = Given::default();
    for command in [
        "git --attr-source HEAD init",
        "/usr/lib/git-core/git-config x y",
        "sed w.bashrc a",
        "sed -i'.git/hooks/*' s/a/b/ a",
        "sort -uo.bashrc a",
        "tar -xvC.git -f a",
        "unzip -qd.git a",
        "gunzip AGENTS.md.gz",
        "env -C.. rm -rf ws",
        "env --ch=.. rm -rf ws",
        "pwd | xargs rm -rf x",
        "xargs -I{} rm -rf {}",
        "rm -rf /proc/self/cwd/../ws",
        "cd /proc/self/cwd/.. && rm -rf ws",
        "cd a; cd b; cd c; cd d; cd e; cd f; cd g; cd h; cd /; rm -rf ws",
    ] {
        none.bypass_is(&format!("Bash({command})"), "forced");
    }
    let spaced = Place { workspace: "/a/sp ws".into(), home: None, cwd: "/a/sp ws".into() };
    let subject = example::subject("Bash(rm -rf '/a/sp ws')", &spaced).unwrap();
    assert_eq!(shown(none.judge(&subject, PermissionMode::Default, true).decision), "forced");
    for command in ["tar -xvf a", "sort -u a", "gunzip a.gz", "env -C sub make", "sed -n 1p a", "gcc -c a.c"]
    {
        none.bypass_is(&format!("Bash({command})"), "allow");
    }
}
