//! The code of a thread as a graph: points, and the ways on from each.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use weir_ir::Value;

use crate::heap::Site;
use crate::known::State;
use crate::ops::{E, Lifted, Op};

/// A point of the code.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) context: usize,
    pub(crate) address: u64,
    pub(crate) lifted: Rc<Lifted>,
    /// What is known before the instruction.
    pub(crate) state: State,
}

/// Where control goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Node(usize),
    /// The thread ends.
    End,
    /// An assertion fails.
    Fail,
}

/// One way on from an instruction.
#[derive(Clone, Debug)]
pub(crate) struct Exit {
    /// When it is taken; `None` if always.
    pub(crate) condition: Option<E>,
    /// What happens on the way: the result of a function that is not in the file.
    pub(crate) effects: Vec<Op>,
    pub(crate) to: Target,
}

/// The code of a thread.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) arguments: Vec<Value>,
    pub(crate) nodes: Vec<Node>,
    /// For each context, where the calls return to that led there, the last call first.
    pub(crate) callers: Vec<Vec<u64>>,
    /// The ways on from each node.
    pub(crate) exits: Vec<Vec<Exit>>,
    /// Loads from tables of jumps, by point and operation, and all they can load.
    pub(crate) tables: HashMap<(usize, usize), Entries>,
    /// Calls that allocate memory.
    pub(crate) sites: Vec<Site>,
    /// Whether it calls or jumps to an address that is only known at run time.
    pub(crate) calls_pointers: bool,
    /// Whether it frees memory.
    pub(crate) frees: bool,
}

/// The values at the addresses that a load can access.
pub(crate) type Entries = BTreeMap<Value, Value>;
