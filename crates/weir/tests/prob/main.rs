//! Probabilistic Total Store Order, checked: against a naive enumeration in exact fractions, against simulation,
//! against figures worked out by hand, and against the paper's example.

mod chains;
mod corners;
mod endless;
mod held;
mod known;
mod limits;
mod lumped;
mod naive;
mod odds;
mod simulation;
mod targets;
