//! Flow analyses over the automata of threads and procedures: what follows what, which loops there are,
//! which registers still matter, and which values can turn up.
//!
//! All of them are iterative, since the input decides how long a body is, and all of them expect a
//! program that [`validate`](crate::validate()) has no errors for. None needs to know the memory model:
//! what they claim holds for every run under SC and under TSO.

mod blocking;
mod cfg;
mod components;
mod entered;
pub mod limits;
mod liveness;
mod loops;
mod operands;
mod ranges;
mod regions;
mod register_set;
#[cfg(test)]
pub(crate) mod testing;
mod waiting;
mod webs;
mod worklist;

pub use blocking::{ends_alone, never_blocks, never_ends};
pub use cfg::{Cfg, targets};
pub use components::{Graph, for_each_component, strongly_connected_components};
pub use entered::{EnteredLocation, entered_locations};
pub use liveness::{Liveness, live_registers, observed_registers};
pub use loops::Loops;
pub(crate) use ranges::{BodyRanges, Env, eval};
pub use ranges::{Moment, Ranges, possible_values, values_of_binary, values_of_unary};
pub use regions::{Region, leavable_regions};
pub use register_set::RegisterSet;
pub use waiting::{WaitingLoop, waiting_loops, waits};
pub use webs::Webs;
pub(crate) use worklist::Worklist;
