//! Proof by running: bash programs are generated, analysed, and run with every program start recorded; whatever
//! ran must be what the analysis said, and no verdict may have let it through that should not.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod adapter;
mod bounds;
mod campaign;
mod carriers;
mod corpus;
mod driver;
mod generator;
mod hiding;
mod known_cases;
mod minimiser;
mod mutation;
mod oracle;
mod random;
mod recorder;
mod sandbox;
mod spelling;
mod tools;
