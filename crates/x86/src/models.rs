//! What functions do that are not in the file, or that the user does not want to look into.

use std::collections::BTreeMap;

use weir_ir::Value;

/// What a function does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Nothing; it returns this.
    Returns(Value),
    /// A full fence.
    Fence,
    /// A fence on behalf of all threads.
    Membarrier,
    /// An assertion fails.
    Fails,
}

/// What functions do, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Models {
    given: BTreeMap<String, Outcome>,
}

impl Models {
    pub(crate) fn new(given: BTreeMap<String, Outcome>) -> Self {
        Self { given }
    }

    /// What the user said about a function.
    pub(crate) fn given(&self, name: &str) -> Option<Outcome> {
        self.given.get(name).cloned()
    }

    /// What a function does that is not in the file.
    pub(crate) fn outcome(&self, name: &str) -> Option<Outcome> {
        self.given(name).or_else(|| built_in(name))
    }
}

fn built_in(name: &str) -> Option<Outcome> {
    let is_panic = |name: &str| {
        ["core::panicking::", "std::panicking::", "alloc::alloc::handle_alloc_error", "core::slice::index::slice_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
            || name.starts_with("core::option::") && name.contains("failed")
            || name.starts_with("core::result::") && name.contains("failed")
    };
    match name {
        "abort" | "__assert_fail" | "__assert" | "__assert_rtn" | "__stack_chk_fail" | "rust_begin_unwind" => {
            Some(Outcome::Fails)
        }
        "sched_yield" | "thrd_yield" | "usleep" | "nanosleep" | "std::thread::yield_now" => Some(Outcome::Returns(0)),
        name if is_panic(name) => Some(Outcome::Fails),
        _ => None,
    }
}

/// Reads what a function does: `nothing`, `fail`, `fence`, `membarrier`, or a number that it returns.
pub fn parse_outcome(text: &str) -> Option<Outcome> {
    match text.trim() {
        "nothing" => Some(Outcome::Returns(0)),
        "fail" => Some(Outcome::Fails),
        "fence" => Some(Outcome::Fence),
        "membarrier" => Some(Outcome::Membarrier),
        number => number.parse().ok().map(Outcome::Returns),
    }
}
