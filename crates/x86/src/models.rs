//! What functions do that are not in the file, or that the user does not want to look into.

use std::collections::BTreeMap;

use weir_ir::{Gather, Value};

use crate::image::{Image, demangled, without_parameters};

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
    /// Returns new memory.
    Allocates(Size),
    /// Frees the memory that the first argument points to.
    Frees,
    /// Asks the system for what the first argument says.
    System,
    /// Copies as many bytes as the third argument says from where the second points to where the first does.
    Copies,
    /// Sets as many bytes as the third argument says to the second.
    Sets,
    /// Returns the address of a thread-local variable, by what the first argument points to.
    FindsLocal,
}

/// Which arguments say how many bytes are allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// The first.
    First,
    /// The second.
    Second,
    /// The first times the second.
    Product,
}

impl Outcome {
    /// As users write it.
    pub(crate) fn word(&self) -> String {
        match self {
            Self::Returns(0) => "nothing".into(),
            Self::Returns(value) => value.to_string(),
            Self::Fence => "fence".into(),
            Self::Membarrier => "membarrier".into(),
            Self::Fails => "fail".into(),
            Self::Allocates(Size::Product) => "calloc".into(),
            Self::Allocates(_) => "malloc".into(),
            Self::Frees => "free".into(),
            Self::System => "syscall".into(),
            Self::Copies => "memcpy".into(),
            Self::Sets => "memset".into(),
            Self::FindsLocal => "__tls_get_addr".into(),
        }
    }
}

/// What functions do, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Models {
    given: BTreeMap<String, Outcome>,
}

impl Models {
    /// Those that the user has given. Names may be those of the file, too.
    pub(crate) fn new(given: BTreeMap<String, Outcome>) -> Self {
        Self { given: given.into_iter().map(|(name, outcome)| (demangled(&name), outcome)).gather() }
    }

    /// What the user said about a function.
    pub(crate) fn given(&self, name: &str) -> Option<Outcome> {
        self.given.get(name).or_else(|| self.given.get(without_parameters(name))).cloned()
    }

    /// Whether some function that the code may call allocates memory.
    pub(crate) fn can_allocate(&self, image: &Image) -> bool {
        let names = image.externals.values().chain(image.symbols.iter().map(|symbol| &symbol.name));
        names.into_iter().any(|name| matches!(self.outcome(name), Some(Outcome::Allocates(_))))
    }

    /// What a function does that is not in the file.
    pub(crate) fn outcome(&self, name: &str) -> Option<Outcome> {
        self.given(name).or_else(|| built_in(name))
    }
}

/// What a function does that Weir knows.
pub(crate) fn built_in(name: &str) -> Option<Outcome> {
    let is_panic = |name: &str| {
        [
            "core::panicking::",
            "std::panicking::",
            "alloc::alloc::handle_alloc_error",
            "alloc::raw_vec::handle_error",
            "alloc::raw_vec::capacity_overflow",
            "core::slice::index::slice_",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix))
            || name.starts_with("core::option::") && name.contains("failed")
            || name.starts_with("core::result::") && name.contains("failed")
    };
    match name {
        "abort" | "__assert_fail" | "__assert" | "__assert_rtn" | "__stack_chk_fail" | "rust_begin_unwind"
        | "std::terminate()" => Some(Outcome::Fails),
        name if name.starts_with("std::__glibcxx_assert_fail(") => Some(Outcome::Fails),
        "sched_yield" | "thrd_yield" | "usleep" | "nanosleep" | "std::thread::yield_now" => Some(Outcome::Returns(0)),
        "std::thread::functions::yield_now" | "__rustc::__rust_no_alloc_shim_is_unstable_v2" => {
            Some(Outcome::Returns(0))
        }
        "malloc"
        | "operator new(unsigned long)"
        | "operator new[](unsigned long)"
        | "__rustc::__rust_alloc"
        | "__rustc::__rust_alloc_zeroed"
        | "__rust_alloc"
        | "__rust_alloc_zeroed" => Some(Outcome::Allocates(Size::First)),
        "calloc" => Some(Outcome::Allocates(Size::Product)),
        "aligned_alloc" => Some(Outcome::Allocates(Size::Second)),
        "free"
        | "operator delete(void*)"
        | "operator delete(void*, unsigned long)"
        | "operator delete[](void*)"
        | "operator delete[](void*, unsigned long)"
        | "__rustc::__rust_dealloc"
        | "__rust_dealloc" => Some(Outcome::Frees),
        "syscall" => Some(Outcome::System),
        "memcpy" | "memmove" => Some(Outcome::Copies),
        "memset" => Some(Outcome::Sets),
        "__tls_get_addr" => Some(Outcome::FindsLocal),
        name if is_panic(name) => Some(Outcome::Fails),
        _ => None,
    }
}

/// What a system call does, by its number and first argument; `None` if it is not supported.
pub(crate) fn system_call(number: Value, argument: Option<Value>) -> Option<Outcome> {
    /// Numbers of system calls.
    const YIELD: Value = 24;
    const FUTEX: Value = 202;
    const MEMBARRIER: Value = 324;
    match (number, argument) {
        // To wake up at once, or nobody, is allowed.
        (YIELD | FUTEX, _) => Some(Outcome::Returns(0)),
        // What is supported: all that is below.
        (MEMBARRIER, Some(0)) => Some(Outcome::Returns(0x1F)),
        // Global, global expedited, private expedited.
        (MEMBARRIER, Some(1 | 2 | 8)) => Some(Outcome::Membarrier),
        // Registrations.
        (MEMBARRIER, Some(4 | 16)) => Some(Outcome::Returns(0)),
        _ => None,
    }
}

/// Whether a function makes threads wait for each other, as far as its name tells.
pub(crate) fn is_lock(name: &str) -> bool {
    ["pthread_mutex_", "pthread_rwlock_", "pthread_spin_", "pthread_cond_", "pthread_barrier_", "mtx_", "cnd_", "sem_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || name.contains("mutex::") && name.contains("lock")
}

/// Reads what a function does: `nothing`, `fail`, `fence`, `membarrier`, `malloc`, `calloc`, `free`, or a number that it
/// returns.
pub fn parse_outcome(text: &str) -> Option<Outcome> {
    match text.trim() {
        "nothing" => Some(Outcome::Returns(0)),
        "fail" => Some(Outcome::Fails),
        "fence" => Some(Outcome::Fence),
        "membarrier" => Some(Outcome::Membarrier),
        "malloc" => Some(Outcome::Allocates(Size::First)),
        "calloc" => Some(Outcome::Allocates(Size::Product)),
        "free" => Some(Outcome::Frees),
        number => number.parse().ok().map(Outcome::Returns),
    }
}
