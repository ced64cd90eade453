//! Many generated programs, judged by what they did.
//!
//! `PROGRAMS` says how many, `SEED` where to begin; the same two numbers make the same programs. `TEXTS` names a
//! file of programs to be judged instead.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::adapter;
use crate::corpus::shape;
use crate::generator;
use crate::minimiser;
use crate::mutation::mutated;
use crate::oracle::{Kind, Oracle};
use crate::random::Random;
use crate::recorder::Outcome;
use crate::sandbox;

const PROGRAMS: usize = 2000;

/// Programs that are run before their outcomes are judged and forgotten.
const ROUND: usize = 2000;

/// Faults of one kind that are made short and shown.
const SHOWN: usize = 6;

#[derive(Default)]
struct Tally {
    programs: usize,
    understood: usize,
    allowable: usize,
    ran_something: usize,
    understood_and_ran: usize,
    changed_files: usize,
    faults: BTreeMap<Kind, Vec<(u64, String, String)>>,
}

impl Tally {
    fn take(&mut self, seed: u64, text: &str, outcome: &Outcome, oracle: &mut Oracle) {
        let understood = adapter::reported(text).is_some();
        self.programs += 1;
        self.understood += usize::from(understood);
        self.allowable += usize::from(oracle.could_be_allowed(text));
        self.ran_something += usize::from(!outcome.ran.is_empty());
        self.understood_and_ran += usize::from(understood && !outcome.ran.is_empty());
        self.changed_files += usize::from(outcome.opened.iter().any(|o| o.writes));
        for fault in oracle.faults(text, outcome) {
            self.faults.entry(fault.kind).or_default().push((seed, text.to_owned(), fault.what));
        }
    }

    /// The faults, the first of each kind made short, each text once.
    fn report(&self) -> String {
        let mut out = String::new();
        for (kind, found) in &self.faults {
            writeln!(out, "\n{kind:?}: {} times", found.len()).unwrap();
            let mut shown: Vec<String> = Vec::new();
            for (seed, text, what) in found {
                if shown.len() >= SHOWN {
                    break;
                }
                let short = minimiser::shortened(text, *kind);
                if !shown.contains(&short) {
                    writeln!(out, "  {short:?}\n    from SEED={seed} PROGRAMS=1 {text:?}\n    {what}")
                        .unwrap();
                    shown.push(short);
                }
            }
        }
        out
    }
}

/// The program that a seed makes.
fn program(seed: u64) -> String {
    let random = &mut Random::new(seed);
    match random.below(10) {
        0..=5 => generator::program(random),
        6 | 7 => {
            let text = generator::program(random);
            mutated(&text, random)
        }
        _ => {
            let text = shape(random);
            mutated(text, random)
        }
    }
}

/// The texts of the file that `TEXTS` names, one a line as JSON strings, in place of those that seeds make.
fn named_texts() -> Option<Vec<String>> {
    let file = std::fs::read_to_string(std::env::var_os("TEXTS")?).expect("a file");
    Some(file.lines().map(|line| serde_json::from_str(line).expect("a JSON string")).collect())
}

fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn whatever_runs_was_reported_and_no_verdict_let_it_slip() {
    adapter::hide_caught_panics();
    let programs = usize::try_from(number("PROGRAMS", PROGRAMS as u64)).unwrap();
    let seed = number("SEED", 1);
    let mut tally = Tally::default();
    let mut oracle = Oracle::default();
    let named = named_texts();
    let programs = named.as_ref().map_or(programs, Vec::len);
    let seeds: Vec<u64> = (seed..).take(programs).collect();
    let mut running = Duration::ZERO;
    let begun = Instant::now();
    for seeds in seeds.chunks(if named.is_some() { programs.max(1) } else { ROUND }) {
        let texts = match &named {
            Some(texts) => texts.clone(),
            None => seeds.iter().map(|seed| program(*seed)).collect(),
        };
        let started = Instant::now();
        let outcomes = sandbox::run(&texts);
        running += started.elapsed();
        for ((seed, text), outcome) in seeds.iter().zip(&texts).zip(&outcomes) {
            tally.take(*seed, text, outcome, &mut oracle);
        }
    }
    println!("{:?}, {running:?} of them to run the programs", begun.elapsed());
    println!(
        "{} programs: {} understood ({} of them ran something), {} could be allowed, {} ran something, {} changed files",
        tally.programs,
        tally.understood,
        tally.understood_and_ran,
        tally.allowable,
        tally.ran_something,
        tally.changed_files
    );
    assert!(tally.faults.is_empty(), "{}", tally.report());
    // What never runs and is never understood proves nothing.
    if programs >= 1000 {
        assert!(tally.ran_something * 2 > programs, "most programs start nothing");
        assert!(tally.understood_and_ran * 40 > programs, "hardly any program is understood");
        assert!(tally.allowable * 50 > programs, "hardly any program can be allowed");
    }
}
