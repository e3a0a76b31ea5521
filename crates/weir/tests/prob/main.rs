//! Probabilistic Total Store Order, checked: against a naive enumeration in exact fractions, against simulation, against figures worked out by
//! hand, and against the paper's example.

mod corners;
mod enumeration;
mod known;
mod simulation;
mod targets;
