//! The binary's entry.

fn main() {}
