//! The small trusted part of Weir: replays a run step by step under SC or TSO, builds its
//! happens-before graph, renders it. It shares no code with the engines, only `weir-ir`.

mod run;

pub use run::{Action, Goal, Model, Run, Step};
