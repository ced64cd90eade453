//! What programs do with the words that they get: pure tables, each with the manual that it comes from.

#[cfg_attr(
    not(test),
    expect(
        dead_code,
        unused_imports,
        reason = "the analysis of compound commands is what asks for what is carried"
    )
)]
pub(crate) mod carriers;
pub(crate) mod descent;
pub(crate) mod kind;
mod programs;
pub mod read_only;
