//! The robustness check agrees with the definition: a program is robust if every run under TSO that ends drained has
//! the trace of a run under SC.

mod collected;
mod copies;
mod corpus;
mod every_number;
mod every_number_corpus;
mod fences;
mod limits;
mod litmus;
mod loops;
mod numbers;
mod printed;
mod random;
mod reference;
mod shapes;
mod states;
mod tiny;
mod triangles;
mod witness;
