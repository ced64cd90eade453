//! An analysis ends, for any text, in time and memory that its length bounds.

use std::time::{Duration, Instant};

use toolgate::permission::shell;

use crate::adapter;
use crate::corpus::shape;
use crate::generator;
use crate::mutation::mutated;
use crate::random::Random;

/// Far more than any analysis takes, so that a busy machine does not count; what is quadratic takes longer.
const PATIENCE: Duration = Duration::from_secs(20);

#[track_caller]
fn is_read(text: &str) {
    let begun = Instant::now();
    let analysis = shell::analyse(text);
    let size = adapter::size(&analysis);
    assert!(size <= 40 * text.len() + 64, "{size} bytes held of {} in {:?}", text.len(), start(text));
    analysis.leaves();
    let taken = begun.elapsed();
    assert!(taken < PATIENCE, "{taken:?} for {} bytes: {:?}", text.len(), start(text));
}

fn start(text: &str) -> String {
    text.chars().take(200).collect()
}

#[test]
fn any_mutated_text_is_read() {
    adapter::hide_caught_panics();
    let programs = std::env::var("FUZZ").map_or(20_000, |text| text.parse().expect("a number"));
    for seed in 0..programs {
        let random = &mut Random::new(seed ^ 0x5eed_0000);
        let mut text = if random.chance(50) { generator::program(random) } else { shape(random).to_owned() };
        for _ in 0..random.below(6) {
            text = mutated(&text, random);
        }
        is_read(&text);
    }
}

/// Each begins something that may lie within another one of its kind, or is long when it is repeated.
const OPENERS: &[&str] = &[
    "$(",
    "`",
    "(",
    "{ ",
    "((",
    "$((",
    "${x:-",
    "\"$(",
    "\"${x:-",
    "<(",
    "if ",
    "while ",
    "case a in a) ",
    "[[ ( ",
    "f() { ",
    "$'",
    "'",
    "\"",
    "\\",
    "<<E\n",
    "<<E ",
    "a=(",
    "a[",
    "x=",
    "! ",
    "time ",
    "coproc ",
    "then ",
    "{a,",
    "{1..",
    "#",
    "|",
    "&&",
    ";",
    "&",
    ">",
    "<",
    "\n",
    "\\\n",
    "p1 && ",
    "p1 | ",
    "p1; ",
    "\"a\" ",
    "a ",
    "eval ",
    "sh -c ",
    "env ",
    "timeout 5 ",
    "$x",
    "`echo \\",
    "\r\n",
    "\u{0}",
    "é",
    "$[",
    "?(",
    "@(",
    "!(",
    "[[ -n a && ",
    "for x in ",
    "function f ",
    "case ",
    "${!",
    "${#",
];

#[test]
fn deep_and_long_texts_are_read() {
    adapter::hide_caught_panics();
    for opener in OPENERS {
        for times in [40, 2000, 200_000 / opener.len()] {
            is_read(&opener.repeat(times));
            is_read(&format!("{}p1", opener.repeat(times)));
        }
    }
    for (open, close) in
        [("(", ")"), ("$(", ")"), ("{ ", "; }"), ("((", "))"), ("${x:-", "}"), ("if p1; then ", "; fi")]
    {
        for times in [10, 100, 1000, 30_000] {
            is_read(&format!("{}p1{}", open.repeat(times), close.repeat(times)));
        }
    }
}
