//! Rules for a subcommand (`npm publish *`) or a script (`./deploy.sh *`), held against commands that write it otherwise: with
//! options in front of it or between its names, by other names, by another path. Each is a guess, since an option may have
//! a value or none.

mod kinds;
mod names;
mod paths;
mod patterns;
mod programs;
mod shortened;
mod tree;

use std::cell::OnceCell;

use foldhash::HashMap;

use self::names::Name;
pub(in crate::permission) use self::names::{STAR, apart};
use self::programs::Place;
pub(in crate::permission) use self::programs::runs_scripts;
pub(in crate::permission) use self::programs::{Meant, readings};
use self::tree::Named;
use super::segment::{Begins, Role, Segment, is_assignment};
use crate::permission::commands::operands;

/// More names behind a program than any has; further ones count wherever they stand behind these.
pub(in crate::permission) const MAX_NAMES: usize = 8;

/// Of more words that are short for something only the beginning counts, so that no number of them is held against all rules.
const MAX_SHORTENED: usize = 64;

/// Rules by what they name: a program and its subcommand, or a script.
#[derive(Debug, Clone)]
pub(in crate::permission) struct Rules<R> {
    of_programs: HashMap<String, Named<R>>,
    of_scripts: Named<R>,
    /// Of programs, whatever they are told.
    alone: HashMap<String, Vec<R>>,
    /// Of scripts of which a part is a star.
    of_folders: Named<R>,
    /// Words of one of the programs may say two things.
    joined: bool,
    /// One of them runs scripts of a project by their names.
    by_name: bool,
}

/// A rule that may name what is run, by which program.
#[derive(Debug)]
pub(in crate::permission) struct Found<'f, 's, R> {
    pub(in crate::permission) rule: &'f R,
    pub(in crate::permission) program: &'s str,
    /// The words from the first place on where what it says behind the names may begin.
    pub(in crate::permission) words: &'f [&'s str],
    /// Whether that may be the very end, too.
    pub(in crate::permission) at_end: bool,
}

impl<R> Default for Rules<R> {
    fn default() -> Self {
        let scripts = || Named::new(Name::Script);
        Self {
            of_programs: HashMap::default(),
            of_scripts: scripts(),
            of_folders: scripts(),
            alone: HashMap::default(),
            joined: false,
            by_name: false,
        }
    }
}

impl<R> Rules<R> {
    /// Adds a rule about what is meant, with these names behind it, no more than [`MAX_NAMES`].
    pub(in crate::permission) fn add<'n>(
        &mut self,
        meant: Meant<'n>,
        names: impl Iterator<Item = &'n str>,
        rule: R,
    ) {
        let mut names = names.peekable();
        let (root, subcommand) = match meant {
            Meant::Script if names.peek().is_some_and(|name| names::is_starred(name)) => {
                (&mut self.of_folders, None)
            }
            Meant::Script => (&mut self.of_scripts, None),
            Meant::Alone(program) => {
                return self.alone.entry(program.to_owned()).or_default().push(rule);
            }
            Meant::Program(program, subcommand) => {
                self.joined |= names::joins_words(program);
                self.by_name |= programs::runs_by_name(program);
                let root = || Named::new(Name::behind(program));
                (self.of_programs.entry(program.to_owned()).or_insert_with(root), subcommand)
            }
        };
        subcommand.into_iter().chain(names).fold(root, Named::child).rules.push(rule);
    }

    /// Goes through the rules that may name what a segment runs.
    ///
    /// Time is linear in the words, for each beginning of names that is found in them.
    pub(in crate::permission) fn each<'s>(
        &self,
        segment: &'s Segment,
        mut found: impl FnMut(Found<'_, 's, R>),
    ) {
        if segment.role() != Role::Runs {
            return;
        }
        let whole = Words::of(segment.whole_words().collect());
        self.each_reading(&whole, segment.begins, &mut found);
        // A word of a program that may run what it is given may be a command by itself (`--exec 'npm -s publish'`).
        if matches!(segment.begins, Begins::Guessed | Begins::Any | Begins::AllGuessed) {
            for word in segment.spaced() {
                self.each_reading(
                    &Words::of(word.split_whitespace().collect()),
                    Begins::AllGuessed,
                    &mut found,
                );
            }
        }
    }

    fn each_reading<'s>(&self, words: &Words<'s>, begins: Begins, found: &mut impl FnMut(Found<'_, 's, R>)) {
        self.each_among(words, begins, found);
        if let Some(apart) = self.joined.then(|| apart(&words.0)).flatten() {
            self.each_among(&Words::of(apart), begins, found);
        }
        let together = || words.beginnings(begins).find(|(_, word)| programs::runs_together(word));
        if let Some((at, _)) = self.by_name.then(together).flatten() {
            let runs = programs::run_together(words.0.get(at..).unwrap_or_default());
            self.each_among(&Words::of(runs), Begins::AllGuessed, found);
        }
    }

    fn each_among<'s>(&self, words: &Words<'s>, begins: Begins, found: &mut impl FnMut(Found<'_, 's, R>)) {
        let known = |name: &str| self.of_programs.contains_key(name) || self.alone.contains_key(name);
        let is_program = |word: &str| programs::program(word, known).is_some();
        let folders = !self.of_folders.children.is_empty();
        let scripts = folders || !self.of_scripts.children.is_empty();
        let is_script = |word: &str| word.contains('/') || runs_scripts(word);
        if !words.0.iter().any(|word| is_program(word) || scripts && is_script(word)) {
            return;
        }
        let first = words.assigned();
        let mut programs: HashMap<&str, Places<'_>> = HashMap::default();
        let (mut script_places, mut folder_places) = (Vec::new(), Vec::new());
        // Operands in a folder are many: one is a script of it only where it is run for all that is known.
        let runs = |at: usize, word: &str| match begins {
            Begins::Told => at == first,
            Begins::Guessed => at == first || runs_scripts(word),
            _ => true,
        };
        for (at, word) in words.beginnings(begins) {
            if let Some((name, subcommand)) = programs::program(word, known) {
                let places = programs.entry(name).or_default();
                if programs::is_plugin(word) {
                    // Elsewhere it is as likely a target's name (`make cargo-publish`).
                    if !words.may_be_plugin(at, first, begins) {
                        continue;
                    }
                    places.add(at + 1, None);
                }
                places.add(at + 1, subcommand);
                // What a known program runs is told by segments of its own.
                if words.is_first(at, first, begins)
                    || begins != Begins::Told && words.place(at) != Place::Name
                {
                    places.alone.push(at + 1);
                }
                if words.is_first(at, first, begins)
                    && let Some(rules) = self.alone.get(name)
                {
                    let words = words.0.get(at + 1..).unwrap_or_default();
                    let at_end = words.is_empty();
                    for rule in rules {
                        found(Found { rule, program: word, words, at_end });
                    }
                }
            }
            if scripts && is_script(word) && !(at == first && words.only_checks(first)) {
                // What a known program runs is told by segments of its own.
                let interprets = runs_scripts(word);
                let place = if interprets { at + 1 } else { at };
                script_places
                    .extend(Some(place).filter(|_| interprets || at == first || begins != Begins::Told));
                folder_places.extend(Some(place).filter(|_| folders && runs(at, word)));
            }
        }
        for (program, places) in programs {
            let Some(rules) = self.of_programs.get(program) else { continue };
            let mut behind = words.behind(rules, &places.plain);
            for (subcommand, mut reached) in places.reached {
                if let Some(child) = rules.number(subcommand) {
                    let places = behind.entry(child).or_default();
                    places.append(&mut reached);
                    places.sort_unstable();
                }
            }
            words.tell(program, rules, &places.alone, found);
            words.go_on(program, rules, behind, found);
        }
        let program = words.0.get(first).copied().unwrap_or_default();
        for (rules, places) in [(&self.of_scripts, script_places), (&self.of_folders, folder_places)] {
            words.go_on(program, rules, words.behind(rules, &places), found);
        }
    }
}

/// Where a program's subcommand may stand, or has stood in its name.
#[derive(Default)]
struct Places<'s> {
    plain: Vec<usize>,
    /// Those behind which it need not.
    alone: Vec<usize>,
    reached: HashMap<&'s str, Vec<usize>>,
}

impl<'s> Places<'s> {
    fn add(&mut self, place: usize, subcommand: Option<&'s str>) {
        match subcommand {
            None => self.plain.push(place),
            Some(name) => self.reached.entry(name).or_default().push(place),
        }
    }
}

/// The words of a segment.
struct Words<'s>(Vec<&'s str>, OnceCell<Vec<Place>>);

impl<'s> Words<'s> {
    fn of(words: Vec<&'s str>) -> Self {
        Self(words, OnceCell::new())
    }

    /// How many stand before the first program.
    fn assigned(&self) -> usize {
        self.0.iter().take_while(|word| is_assignment(word)).count()
    }

    /// Whether what begins there is what the words run, or the module that they do, for all that is known.
    fn is_first(&self, at: usize, first: usize, begins: Begins) -> bool {
        at == first
            || self.0.get(first..=at).is_some_and(is_module)
            || match self.place(at) {
                Place::Name => false,
                Place::Any => begins == Begins::Any,
                Place::Fetched => begins != Begins::Inert,
            }
    }

    /// What may be run there, by what stands before it. Told for all words at once: asked of each, its time would grow with
    /// their square.
    fn place(&self, at: usize) -> Place {
        let places = self.1.get_or_init(|| programs::places(&self.0));
        places.get(at).copied().unwrap_or_default()
    }

    /// Whether the words from there on run none of their operands.
    fn only_checks(&self, first: usize) -> bool {
        operands::only_checks(self.0.get(first..).unwrap_or_default())
    }

    /// Whether a plugin of a program may run there as one of its own.
    fn may_be_plugin(&self, at: usize, first: usize, begins: Begins) -> bool {
        let tool = || at.checked_sub(2).is_some_and(|from| self.0.get(from..at) == Some(&["tool", "run"]));
        let again = || self.0.get(at..at + 2).is_some_and(|pair| programs::is_plugin_again(pair[0], pair[1]));
        self.is_first(at, first, begins) || tool() || again()
    }

    /// The places where a program may begin.
    fn beginnings(&self, begins: Begins) -> impl Iterator<Item = (usize, &'s str)> {
        let first = self.assigned();
        let may_begin = move |at: &usize| match begins {
            Begins::Inert | Begins::First => *at == first || self.0.get(first..=*at).is_some_and(is_module),
            Begins::Nowhere | Begins::Elsewhere | Begins::Listed => false,
            Begins::Told | Begins::Guessed | Begins::Any | Begins::AllGuessed => true,
        };
        self.0.iter().copied().enumerate().filter(move |(at, _)| may_begin(at))
    }

    fn go_on<R>(
        &self,
        program: &'s str,
        rules: &Named<R>,
        behind: HashMap<usize, Vec<usize>>,
        found: &mut impl FnMut(Found<'_, 's, R>),
    ) {
        for (child, starts) in behind {
            let Some(rules) = rules.children.get(child) else { continue };
            self.tell(program, rules, &starts, found);
            self.go_on(program, rules, self.behind(rules, &starts), found);
        }
    }

    fn tell<R>(
        &self,
        program: &'s str,
        rules: &Named<R>,
        starts: &[usize],
        found: &mut impl FnMut(Found<'_, 's, R>),
    ) {
        let (Some(first), Some(last)) = (starts.first(), starts.last()) else { return };
        let (words, at_end) = (self.0.get(*first..).unwrap_or_default(), *last == self.0.len());
        for rule in &rules.rules {
            found(Found { rule, program, words, at_end });
        }
    }

    /// The places behind the names that may begin at one of `starts`, by what goes on there: at these themselves, or behind
    /// options, each of which may have a value; at any word where each may be a target.
    fn behind<R>(&self, rules: &Named<R>, starts: &[usize]) -> HashMap<usize, Vec<usize>> {
        let mut behind: HashMap<usize, Vec<usize>> = HashMap::default();
        let Some(first) = starts.first().filter(|_| !rules.children.is_empty()) else { return behind };
        // Words that may stand for many names, each once.
        let (mut short, mut patterns) = (HashMap::<Vec<String>, Vec<usize>>::default(), HashMap::default());
        let mut starts = starts.iter().peekable();
        let (mut going_on, mut listed, mut ended) = (false, false, false);
        let is_option = |word: &str| word.starts_with(['-', '+']);
        let says = &rules.says;
        let leads_on = |word: &str| is_option(word) || says.passes_on_behind_a_word() && says.passes_on(word);
        for (at, word) in self.0.iter().copied().enumerate().skip(*first) {
            let before = at.checked_sub(1).and_then(|before| self.0.get(before)).copied();
            if starts.next_if_eq(&&at).is_none() && !going_on {
                continue;
            }
            if is_option(word) {
                ended |= word == "--";
                (going_on, listed) = (true, says.are_listed_behind(word));
                continue;
            }
            if !ended && before.is_some_and(|option| says.is_with_value(option)) {
                continue;
            }
            if let Some(mut parts) = says.parts(word) {
                let told = if short.len() < MAX_SHORTENED { parts.len() } else { 1 };
                parts.truncate(told);
                short.entry(parts).or_default().push(at + 1);
            } else if let Some(beginnings) = says.beginnings(word) {
                for start in beginnings {
                    patterns.entry(start).or_insert_with(Vec::new).push(at + 1);
                }
            } else if says.stands_behind(before) {
                rules.called(word, |child| {
                    let places = behind.entry(child).or_default();
                    if places.last() != Some(&(at + 1)) {
                        places.push(at + 1);
                    }
                });
            }
            // What does not stand behind an option is no value of one: all that follows is the subcommand's.
            let is_value = going_on && before.is_some_and(leads_on);
            going_on = says.are_many() || says.passes_on(word) || is_value || listed;
        }
        let (many_short, many_begin) = (!short.is_empty(), !patterns.is_empty());
        let mut add = |child, places: &[usize]| {
            let all = behind.entry(child).or_default();
            // Where no name follows, only where it is said first and last matters.
            if rules.children.get(child).is_some_and(Named::goes_on) {
                all.extend(places);
            } else {
                all.extend([places.first(), places.last()].into_iter().flatten());
            }
        };
        for (parts, places) in short {
            rules.short_for(&parts, |child| add(child, &places));
        }
        for (start, places) in patterns {
            rules.beginning_with(start, |child| add(child, &places));
        }
        if many_short || many_begin {
            for places in behind.values_mut() {
                places.sort_unstable();
                places.dedup();
            }
        }
        behind
    }
}

/// Whether the last of the words is the module that Python runs (`python3 -m pip`).
fn is_module(words: &[&str]) -> bool {
    let [program, .., option, _] = words else { return false };
    programs::is_module_option(option) && programs::is_python(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_run(command: &str, begins: Begins, rule: &str) -> bool {
        let words = super::super::one_literal(command);
        let words = words.unwrap_or_else(|| command.split(' ').map(str::to_owned).collect());
        let segment = Segment::runs(&words, begins);
        let rule: Vec<&str> = rule.split(' ').collect();
        let rule = apart(&rule).unwrap_or(rule);
        let mut rules = Rules::default();
        for (meant, behind) in readings(&rule) {
            rules.add(meant, rule[behind..].iter().copied().take(MAX_NAMES), ());
        }
        let mut found = false;
        rules.each(&segment, |_| found = true);
        found
    }

    #[test]
    fn subcommands_are_found_however_they_are_written() {
        for (command, rule, want) in [
            ("npm publish", "npm publish", true),
            ("npm pub --tag x", "npm publish", true),
            ("npm -s publish", "npm publish", true),
            ("npm -m 'a b' publish", "npm publish", true),
            ("npm -m '' publish", "npm publish", true),
            ("npm --tag z publish y", "npm publish", true),
            ("npm i x", "npm install", true),
            ("npm install x", "npm i", true),
            ("npm run publish", "npm publish", false),
            ("npm test", "npm run test", true),
            ("npm -s t", "npm run test", true),
            ("npm run test", "npm test", true),
            ("npm run-script start", "npm start", true),
            ("npm run deploy", "npm start", false),
            ("yarn run deploy", "yarn deploy", true),
            ("yarn deploy", "yarn run deploy", true),
            ("yarn workspace a deploy", "yarn deploy", true),
            ("pnpm -F x deploy:prod", "pnpm run deploy:prod", true),
            ("yarn deploy", "npm run deploy", true),
            ("pnpm -F x run deploy", "npm run deploy", true),
            ("bun run deploy", "yarn deploy:prod", false),
            ("bun run deploy:prod", "yarn deploy:prod", true),
            ("npm run-script deploy", "pnpm deploy:x", false),
            ("pnpm test", "npm test", true),
            ("npm t", "yarn test", true),
            ("pnpm install", "npm install", false),
            ("yarn add x", "pnpm add", false),
            ("pnpm run build", "npm run", false),
            ("turbo run build deploy", "turbo deploy", true),
            ("turbo build deploy", "turbo run deploy", true),
            ("git stage f", "git add", true),
            ("git remote rm x", "git remote remove", true),
            ("gh pr -R x new", "gh pr create", true),
            ("docker image remove x", "docker image rm", true),
            ("kubectl delete ns/x", "kubectl delete namespace", true),
            ("kubectl delete pod x", "kubectl delete namespace", false),
            ("kubectl get secret/x -o yaml", "kubectl get secret", true),
            ("kubectl get secrets -o yaml", "kubectl get secret", true),
            ("kubectl get pods,secrets", "kubectl get secret", true),
            ("kubectl get secrets.v1. x", "kubectl get secret", true),
            ("kubectl get pods", "kubectl get secret", false),
            ("kubectl get secret x", "kubectl get pods", false),
            ("kubectl -n secret get pods", "kubectl get secret", false),
            ("kubectl delete po x", "kubectl delete pod", true),
            ("kubectl delete Pods x", "kubectl delete pod", true),
            ("kubectl delete pod x", "kubectl delete po", true),
            ("kubectl delete pod/x", "kubectl delete pod x", true),
            ("kubectl delete pod x", "kubectl delete pod/x", true),
            ("kubectl delete pod/y", "kubectl delete pod/x", false),
            ("kubectl delete pod/a secret/b", "kubectl delete secret", true),
            ("kubectl delete pod a b", "kubectl delete secret", false),
            ("kubectl delete deploy x", "kubectl delete deployment", true),
            ("kubectl delete deployment.apps/x", "kubectl delete deployment", true),
            ("kubectl delete deploy,ns x", "kubectl delete namespace", true),
            ("kubectl delete pods,namespaces --all", "kubectl delete namespace", true),
            ("kubectl delete ingresses x", "kubectl delete ing", true),
            ("kubectl delete networkpolicies x", "kubectl delete netpol", true),
            ("kubectl delete all --all", "kubectl delete pod", true),
            ("kubectl get pods", "kubectl get all", false),
            ("kubectl rollout restart deploy/x", "kubectl rollout restart deployment", true),
            ("kubectl rollout status deploy/x", "kubectl rollout restart deployment", false),
            ("oc delete svc/x", "oc delete services", true),
            ("rails g model", "rails generate", true),
            ("gsutil -m rm -r gs://x", "gsutil rm", true),
            ("mysqladmin -u root drop x", "mysqladmin drop", true),
            ("npx ts-node ./scripts/seed.ts", "npx ts-node scripts/seed.ts", true),
            ("npx tsx ./scripts/seed.ts", "npx tsx scripts/seed.ts", true),
            ("yarn tsx scripts/seed.ts", "npx tsx scripts/seed.ts", true),
            ("npx tsx scripts/seed.ts", "yarn tsx scripts/seed.ts", true),
            ("gcloud beta compute instances delete x", "gcloud compute instances delete", true),
            ("gcloud -q alpha run deploy x", "gcloud run deploy", true),
            ("gcloud beta run list", "gcloud run deploy", false),
            ("nx run app:deploy", "nx deploy", true),
            ("nx affected --target=deploy", "nx deploy", true),
            ("nx run-many -t build deploy", "nx deploy", true),
            ("nx run-many --targets=build,deploy", "nx deploy", true),
            ("nx run app:build", "nx deploy", false),
            ("nx run-many --projects=app --target=deploy", "nx run app:deploy", true),
            ("nx run-many -t deploy -p web,app", "nx run app:deploy", true),
            ("nx run-many -t deploy -p web", "nx run app:deploy", false),
            ("nx run-many -t lint -p deploy", "nx deploy", false),
            ("nx run-many -t lint --exclude deploy", "nx deploy", false),
            ("hatch run dev:deploy", "hatch run deploy", true),
            ("hatch -e dev run deploy", "hatch run dev:deploy", true),
            ("hatch run dev:test", "hatch run deploy", false),
            ("pixi r deploy", "pixi run deploy", true),
            ("make test 'ARGS=-k deploy'", "make deploy", false),
            ("make .DEFAULT_GOAL=deploy", "make deploy", true),
            ("deno run -A npm:serve", "npx serve", true),
            ("nx deploy app", "nx run app:deploy", true),
            ("nx run app:deploy:production", "nx run app:deploy", true),
            ("nx deploy app -c production", "nx run app:deploy:production", true),
            ("nx deploy other", "nx run app:deploy", false),
            ("nx build app", "nx run app:deploy", false),
            ("pnpm recursive publish", "pnpm publish", true),
            ("pnpm m publish", "pnpm publish", true),
            ("pnpm multi run deploy", "pnpm run deploy", true),
            ("pnpm recursive run build", "pnpm run deploy", false),
            ("pnpm run '/deploy/'", "pnpm run deploy", true),
            ("pnpm run /^dep.*/ x", "pnpm deploy", true),
            ("pnpm run build /deploy/", "pnpm run deploy", false),
            ("yarn workspaces foreach -A run deploy", "yarn deploy", true),
            ("npm cit", "npm ci", true),
            ("npm cit", "npm test", true),
            ("npm it", "npm install", true),
            ("npm test", "npm cit", false),
            ("sls deploy", "serverless deploy", true),
            ("serverless deploy", "sls deploy", true),
            ("vc deploy", "vercel deploy", true),
            ("npx aws-cdk@2 deploy", "cdk deploy", true),
            ("cdk deploy", "npx aws-cdk deploy", true),
            ("npx firebase-tools deploy", "firebase deploy", true),
            ("npx @changesets/cli publish", "changeset publish", true),
            ("npx @changesets/cli@2 publish", "changeset publish", true),
            ("pnpm changeset publish", "npx @changesets/cli publish", true),
            ("npx @changesets/cli version", "changeset publish", false),
            ("cargo-sqlx sqlx database drop", "cargo sqlx database drop", true),
            ("cargo-nextest nextest run", "cargo nextest run", true),
            ("cargo nextest run", "cargo-nextest nextest run", true),
            ("cargo-publish", "cargo publish", true),
            ("make cargo-publish", "cargo publish", false),
            ("dotnet-ef database drop", "dotnet ef database drop", true),
            ("dotnet ef database drop", "dotnet-ef database drop", true),
            ("dotnet tool run dotnet-ef database drop", "dotnet ef database drop", true),
            ("dotnet-ef database update", "dotnet ef database drop", false),
            ("concurrently npm:watch npm:deploy", "npm run deploy", true),
            ("npx concurrently -k 'npm:deploy -- x'", "npm run deploy", true),
            ("concurrently 'npm:dep*'", "npm run deploy", true),
            ("concurrently npm:watch", "npm run deploy", false),
            ("npm-run-all build deploy", "npm run deploy", true),
            ("run-s build deploy", "yarn deploy", true),
            ("run-p 'deploy:*'", "pnpm run deploy:prod", true),
            ("run-p 'build:*'", "pnpm run deploy:prod", false),
            ("run-s build", "npm run deploy", false),
            ("alembic downgrade base", "uv run alembic downgrade", true),
            ("uv run --with x python -m alembic downgrade", "uv run alembic downgrade", true),
            ("alembic downgrade -1", "poetry run alembic downgrade", true),
            ("alembic upgrade head", "poetry run alembic downgrade", false),
            ("rails db:drop", "bundle exec rails db:drop", true),
            ("bin/rails db:drop", "bundle exec rails db:drop", true),
            ("bundle exec rails db:drop", "bundle exec rake db:drop", true),
            ("bundle exec rails db:migrate", "bundle exec rake db:drop", false),
            ("npx prisma migrate reset", "yarn prisma migrate reset", true),
            ("npx prisma migrate reset", "pnpm prisma migrate reset", true),
            ("npx prisma migrate dev", "pnpm prisma migrate reset", false),
            ("npx prisma db push", "npx -p prisma prisma db push", true),
            ("npm add lodash", "yarn add lodash", false),
            ("alembic downgrade -1", "python -m alembic downgrade", true),
            ("python3 -m http.server", "python -m http.server", true),
            ("python3.11 -m http.server 80", "python3 -m http.server", true),
            ("python -mhttp.server", "python3 -m http.server", true),
            ("python3 -m build", "python -m build", true),
            ("build x", "python -m build", true),
            ("npm run build", "python -m build", false),
            ("make build", "python -m build", false),
            ("python3 -m pytest", "python -m build", false),
            ("pytest -x", "uv run pytest", true),
            ("uv add pytest", "uv run pytest", false),
            ("python3 x.py", "python", true),
            ("python x.py", "python3", true),
            ("python2 x.py", "python3", false),
            ("python3 x.py", "python2", false),
            ("nodejs x", "node", true),
            ("npm install node", "node", false),
            ("npx prisma@5 --schema x migrate reset", "prisma migrate reset", true),
            ("cat -n notes", "cat -n", false),
            ("nx test deploy --watch", "nx deploy", false),
            ("nx run deploy:test", "nx deploy", false),
            ("nx lint deploy", "nx deploy", false),
            ("nx show project deploy", "nx deploy", false),
            ("nx affected -t lint test deploy --parallel=3", "nx deploy", true),
            ("nx run-many -t lint test -p deploy", "nx lint", true),
            ("nx deploy", "nx run-many", false),
            ("python -m mypy build", "python -m build", false),
            ("python -m venv build", "python -m build", false),
            ("python3 build", "python -m build", false),
            ("python3 -W ignore -m build", "python -m build", true),
            ("python3 -um build", "python -m build", true),
            ("python3 -umbuild", "python -m build", true),
            ("conda run -n x alembic downgrade", "uv run alembic downgrade", true),
            ("alembic downgrade", "conda run -n x alembic downgrade", true),
            ("alembic downgrade", "uv --project x run alembic downgrade", true),
            ("alembic downgrade", "poetry -C x run alembic downgrade", true),
            ("alembic downgrade", ".venv/bin/alembic downgrade", true),
            ("alembic upgrade", ".venv/bin/alembic downgrade", false),
            ("npx prisma db push", "node_modules/.bin/prisma db push", true),
            ("pytest -x", "./venv/bin/pytest", true),
            ("pnpm publish", "pnpm recursive publish", true),
            ("pnpm -r publish", "pnpm recursive publish", true),
            ("gradle -p publish build", "gradle publish", false),
            ("gradle dependencies --configuration publish", "gradle publish", false),
            ("gradle -x publish build", "gradle publish", false),
            ("gradle -q publish", "gradle publish", true),
            ("make -C deploy build", "make deploy", false),
            ("make -C deploy deploy", "make deploy", true),
            ("make -k -- -C deploy", "make deploy", true),
            ("pdm deploy", "pdm run deploy", true),
            ("pdm run deploy", "pdm deploy", true),
            ("pnpm --x=y /^deploy/", "pnpm run deploy", true),
            ("run-s d?ploy", "pnpm run deploy", true),
            ("run-s {lint,deploy}", "pnpm run deploy", true),
            ("npx grunt-cli deploy", "grunt deploy", true),
            ("npx sequelize-cli db:drop", "sequelize db:drop", true),
            ("npx @go-task/cli deploy", "task deploy", true),
            ("go-task deploy", "task deploy", true),
            ("terragrunt run-all destroy", "terragrunt destroy", true),
            ("terragrunt run --all destroy", "terragrunt destroy", true),
            ("turbo run app#deploy", "turbo run deploy", true),
            ("kubectl delete ns dev prod", "kubectl delete ns prod", true),
            ("kubectl delete ns dev", "kubectl delete ns prod", false),
            ("kubectl rollout restart deploy a b", "kubectl rollout restart deployment b", true),
            ("redis-cli FlushAll", "redis-cli flushall", true),
            ("redis-cli flushall", "redis-cli FLUSHALL", true),
            ("php artisan migrate:f", "php artisan migrate:fresh", true),
            ("php artisan m:fresh --force", "php artisan migrate:fresh", true),
            ("php artisan migrate", "php artisan migrate:fresh", false),
            ("php bin/console d:s:d", "php bin/console doctrine:schema:drop", true),
            ("php bin/console d:s:u", "php bin/console doctrine:schema:drop", false),
            ("pnpm run '/^build:.*/'", "pnpm run deploy", false),
            ("pnpm run '/^(lint|deploy)$/'", "pnpm run deploy", true),
            ("pnpm run /^dep/i", "pnpm run deploy", true),
            ("sbt ';clean;publish'", "sbt publish", true),
            ("mix do ecto.drop, x", "mix ecto.drop", true),
            ("just sub/../deploy", "just deploy", true),
            ("just deployed", "just deploy", false),
            ("mvn deploy:deploy@x", "mvn deploy", true),
            ("grunt deploy:prod", "grunt deploy", true),
            ("python3 -m pip.__pip-runner__ install", "pip install", true),
            ("npm view publish", "npm publish", false),
            ("npm run -s deploy", "npm run deploy", true),
            ("npm -s run-scri deploy", "npm run deploy", true),
            ("npm runScript deploy", "npm run deploy", true),
            ("npm run build deploy", "npm run deploy", false),
            ("npm remo x", "npm uninstall", true),
            ("npx npm@10 publish", "npm publish", true),
            ("pip3 install x", "pip install", true),
            ("pip install x", "pip3 install", true),
            ("python3 -m pip3.11 -q install x", "pip install", true),
            ("cargo +nightly publish", "cargo publish", true),
            ("cargo -q --locked r", "cargo run", true),
            ("kubectl -n x delete pod y", "kubectl delete", true),
            ("/usr/bin/docker -H tcp://h rm -f c", "docker rm", true),
            ("docker compose -f x down -v", "docker compose down", true),
            ("docker-compose -f x down", "docker compose down", true),
            ("docker compose down", "docker-compose down", true),
            ("docker -D compose down", "docker-compose down", true),
            ("gcloud -q compute instances --zone=z delete v", "gcloud compute instances delete", true),
            ("az network vnet subnet -g x --debug delete", "az network vnet subnet delete", true),
            ("make -j4 deploy", "make deploy", true),
            ("make X=1 all deploy", "make deploy", true),
            ("make ././deploy", "make deploy", true),
            ("make .DEFAULT_GOAL:=deploy", "make deploy", true),
            ("make deployed", "make deploy", false),
            ("make '$().DEFAULT_GOAL=deploy'", "make deploy", true),
            ("make ' .DEFAULT_GOAL=deploy'", "make deploy", true),
            ("make CFLAGS=-O2 all", "make deploy", false),
            ("node /usr/lib/npm/bin/npm-cli publish", "npm publish", true),
            ("python3 -m pip.__main__ install x", "pip install", true),
            ("gmake deploy", "make deploy", true),
            ("terraform -chdir=x apply", "terraform apply", true),
            ("go -C d run x", "go run", true),
            ("git -C '' push", "git push", true),
            ("git log push", "git push", false),
            ("bundle e x", "bundle exec", true),
            ("ls -la publish", "npm publish", false),
            ("mvn -B deploy", "mvn deploy", true),
            ("mvn clean deploy", "mvn deploy", true),
            ("./mvnw -pl a -am deploy", "mvn deploy", true),
            ("mvn deploy-x", "mvn deploy", false),
            ("./gradlew -q clean :app:publish", "./gradlew publish", true),
            ("gradle pubToMavLoc", "gradle publishToMavenLocal", true),
            ("gradle pTML", "gradle :publishToMavenLocal", true),
            ("gradle assemble", "gradle publish", false),
            ("gradle pub-to", "gradle publishToMavenLocal", true),
            ("gradle toMaven", "gradle publishToMavenLocal", false),
            ("rails db:migrate db:drop", "rails db:drop", true),
            ("cargo watch -x publish", "cargo publish", true),
            ("cargo watch -x 'publish --locked'", "cargo publish", true),
            ("cargo test publish", "cargo publish", false),
            ("pipx run twine==5 upload x", "twine upload", true),
            ("deno run -A npm:wrangler@3 deploy", "wrangler deploy", true),
            ("python3 /usr/lib/python3/dist-packages/pip/__main__.py install", "pip install", true),
            ("pip install x", "python -m pip install", true),
            ("cargo-watch -x publish", "cargo publish", true),
            ("cargo-watch watch -x ' publish'", "cargo publish", true),
            ("cargo watch", "cargo watch", true),
            ("mvn org.apache.maven.plugins:maven-deploy-plugin:3.0:deploy", "mvn deploy", true),
            ("mvnd deploy", "mvn deploy", true),
            ("rake db:drop", "rails db:drop", true),
            ("rails db:drop[x]", "rails db:drop", true),
            ("rails db:dropped", "rails db:drop", false),
            ("remake deploy", "make deploy", true),
            ("node node_modules/wrangler/bin/wrangler.js deploy", "wrangler deploy", true),
            ("node lib/npm/bin/npm-cli.js publish", "npm publish", true),
        ] {
            assert_eq!(may_run(command, Begins::Told, rule), want, "{command}: {rule}");
        }
        for (begins, command, want) in [
            (Begins::Inert, "echo npm publish", false),
            (Begins::First, "A=1 npm -s publish", true),
            (Begins::First, "python3 -m npm publish", true),
            (Begins::First, "A=1 B=2 python3 -m npm publish", true),
            (Begins::Nowhere, "npm publish", false),
            (Begins::Guessed, "x --exec 'npm -s publish'", true),
            (Begins::Guessed, "x 'a b' 'npm -s publish'", true),
            (Begins::Guessed, "x 'a b' 'npm -s pack'", false),
            (Begins::First, "x --exec 'npm -s publish'", false),
            (Begins::Inert, "A=/x/npm B=/y/npm ls", false),
        ] {
            assert_eq!(may_run(command, begins, "npm publish"), want, "{command}");
        }
    }

    #[test]
    fn a_program_that_a_rule_names_alone_is_no_name_of_what_others_fetch_or_make() {
        for (command, rule, want) in [
            ("npm --prefix prisma test", "npx prisma", false),
            ("npm --prefix x exec prisma", "npx prisma", true),
            ("yarn workspace a prisma", "npx prisma", true),
            ("yarn add prisma", "npx prisma", false),
            ("infisical run -- prisma", "npx prisma", true),
            ("ng serve", "npx serve", false),
            ("npx serve", "npx serve", true),
            ("npx serve@14", "npx serve", true),
            ("uv add --dev black", "pipx run black", false),
        ] {
            for begins in [Begins::Guessed, Begins::Any] {
                assert_eq!(may_run(command, begins, rule), want, "{command}: {rule} {begins:?}");
            }
        }
        for (command, rule, want) in [
            ("env X=1 npm run build", "python -m build", false),
            ("make -f x build", "python -m build", false),
            ("npx -y next build", "python -m build", false),
            ("env X=1 build", "python -m build", true),
            ("env X=1 pytest -x", "uv run pytest", true),
            ("env X=1 uvx pytest -x", "uv run pytest", true),
            ("env X=1 python3 -m pytest", "uv run pytest", true),
            ("env X=1 uv add pytest", "uv run pytest", false),
        ] {
            assert_eq!(may_run(command, Begins::Any, rule), want, "{command}: {rule}");
        }
    }

    #[test]
    fn packages_are_the_program_of_their_name() {
        for command in [
            "npm exec wrangler deploy",
            "npx wrangler@1.0.0 deploy",
            "npx wrangler --env p deploy",
            "node_modules/.bin/wrangler deploy",
            "pnpm dlx wrangler deploy",
        ] {
            assert!(may_run(command, Begins::Told, "npx wrangler deploy"), "{command}");
            assert!(may_run(command, Begins::Told, "npx --yes wrangler@3 deploy"), "{command}");
            assert!(!may_run(command, Begins::Told, "npx wrangler delete"), "{command}");
        }
        assert!(may_run("npx prisma@5 migrate reset", Begins::Told, "npx prisma migrate reset"));
        assert!(may_run("npm exec @scope/pkg deploy", Begins::Told, "npx @scope/pkg deploy"));
        assert!(may_run("npx @scope/pkg@1 deploy", Begins::Told, "npx @scope/pkg deploy"));
        assert!(may_run("uvx ruff@1 check", Begins::Told, "uv tool run ruff check"));
    }

    #[test]
    fn scripts_are_found_by_any_path_and_under_any_interpreter() {
        for (command, rule, want) in [
            ("./deploy.sh", "./deploy.sh", true),
            ("././deploy.sh x", "./deploy.sh", true),
            ("d/../deploy.sh", "./deploy.sh", true),
            ("../deploy.sh", "./deploy.sh", true),
            ("/ws/deploy.sh", "./deploy.sh", true),
            ("bash -e -- deploy.sh", "./deploy.sh", true),
            ("sh deploy.sh prod", "./deploy.sh prod", true),
            ("sh deploy.sh --fast prod", "./deploy.sh prod", true),
            ("sh deploy.sh test", "./deploy.sh prod", false),
            (". ./deploy.sh", "./deploy.sh", true),
            ("A=1 ./deploy.sh", "./deploy.sh", true),
            ("cat ./deploy.sh", "./deploy.sh", false),
            ("./other.sh deploy.sh", "./deploy.sh", false),
            ("scripts/deploy.sh", "scripts/deploy.sh", true),
            ("bash deploy.sh", "scripts/deploy.sh", true),
            ("/w/scripts/deploy.sh", "scripts/deploy.sh", true),
            ("other/deploy.sh", "scripts/deploy.sh", false),
            ("test -f x", "bin/test", false),
            ("/usr/bin/test -f x", "bin/test", true),
            ("python3 manage.py flush", "python manage.py flush", true),
            ("python ./manage.py flush", "python manage.py flush", true),
            ("python -u manage.py -v flush", "python manage.py flush", true),
            ("./manage.py flush", "python manage.py flush", true),
            ("python manage.py migrate", "python manage.py flush", false),
            ("python3 -m manage flush", "python manage.py flush", true),
            ("uv run manage.py flush", "python manage.py flush", true),
            ("python3 -m coverage run manage.py flush", "python manage.py flush", true),
            ("node tools/x", "node tools/x.js", true),
            ("node x", "node tools/x.js", true),
            ("node tools/x.ts", "node tools/x.js", false),
            ("rbash deploy.sh", "./deploy.sh", true),
            ("sh run x", "./run", true),
            ("uv run python ./scripts/seed.py", "uv run python scripts/seed.py", true),
            ("python scripts/seed.py", "uv run python scripts/seed.py", true),
            ("uv run scripts/seed.py", "uv run python scripts/seed.py", true),
            ("uv run ./scripts/seed.py", "uv run scripts/seed.py", true),
            ("python3 scripts/seed.py", "uv run scripts/seed.py", true),
            ("python3 seed.py", "uv run seed.py", true),
            ("uv run scripts/other.py", "uv run scripts/seed.py", false),
            ("bash -n scripts/deploy.sh", "scripts/deploy.sh", false),
            ("bash -nx scripts/deploy.sh", "scripts/deploy.sh", true),
            ("python3 -m py_compile scripts/seed.py", "python scripts/seed.py", false),
            ("python3 -m pdb scripts/seed.py", "python scripts/seed.py", true),
            ("uv run pytest", "uv run scripts/seed.py", false),
            ("deno run -A ./x.ts", "deno run x.ts", true),
            ("uv run python3 manage.py flush", "uv run python manage.py flush", true),
            ("python manage.py flush", "uv run python manage.py flush", true),
            ("uv run manage.py flush", "uv run python manage.py flush", true),
            ("uv run manage.py migrate", "uv run python manage.py flush", false),
            ("poetry run ./manage.py flush", "poetry run python manage.py flush", true),
        ] {
            assert_eq!(may_run(command, Begins::First, rule), want, "{command}: {rule}");
        }
    }

    #[test]
    fn no_number_of_short_names_hides_a_goal() {
        let others: Vec<String> = (0..2 * MAX_SHORTENED).map(|n| format!("a{n}B{n}")).collect();
        let command = |goal: &str| format!("gradle {} {goal}", others.join(" "));
        for (goal, rule, want) in [
            ("pub", "gradle publish", true),
            ("pTML", "gradle publishToMavenLocal", true),
            ("assemble", "gradle publish", false),
            ("pub x", "gradle publish x", true),
        ] {
            assert_eq!(may_run(&command(goal), Begins::Told, rule), want, "{goal}: {rule}");
        }
        let often = format!("gradle {}x", "pub ".repeat(900));
        assert!(may_run(&often, Begins::Told, "gradle publish x"));
        assert!(!may_run(&often, Begins::Told, "gradle publish y"));
    }

    #[test]
    fn no_number_of_options_hides_a_subcommand() {
        for (text, many) in [("-s ", 4_000), ("-s x ", 4_000), ("npm -s ", 4_000)] {
            let command = format!("npm {}publish", text.repeat(many));
            assert!(may_run(&command, Begins::Any, "npm publish"), "{text}");
            assert!(!may_run(&command, Begins::Any, "npm unpublish"), "{text}");
        }
    }
}
