//! Reading programs of Memorax and Trencher: what is right is read, what is wrong is reported with its place, and no
//! text makes a reader panic. What the programs do is tested with the engine, in `crates/weir/tests/foreign`.

mod automata;
mod fuzz;
mod meaning;
mod rmm_errors;
mod rmm_steps;
mod support;
mod trencher_errors;
