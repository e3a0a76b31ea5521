//! Every two-thread program with up to two instructions a thread over two cells: exhaustive where it is cheap.
//!
//! All ordered pairs of threads are there, so each program comes with its mirror image: an engine that treats the
//! first thread differently from the second is caught, too.

use weir_ir::{Address, BinaryRmw, Expr, Instruction, Program, PropertyKind, Rmw, StateExpr, UnaryOp, Value};

use crate::sketch::{
    all_of, cell, cell_value, equal, exchange, load, program, register_of, rmw, snapshot, store, straight,
};

const CELLS: [(&str, Address); 2] = [("x", 1), ("y", 2)];
const VALUES: [Value; 2] = [1, 2];

/// Which instructions the programs are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alphabet {
    /// Stores, loads, fences, exchanges: 17,689 programs.
    Core,
    /// Also `fetch_add` and `cas`: 58,081 programs.
    Extended,
    /// Stores, loads, fences, and loads of both cells in one step: 5,329 programs.
    Snapshots,
}

/// One instruction, by name. What it reads goes to a register of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Letter {
    Store(usize, Value),
    Load(usize),
    /// Both cells.
    Snapshot,
    Fence,
    Exchange(usize, Value),
    FetchAdd(usize),
    CompareAndSwap(usize),
}

/// All programs over the alphabet, with a name such as `x=1;r=y | y=1;r=x`.
pub fn programs(alphabet: Alphabet) -> impl Iterator<Item = (String, Program)> {
    let threads = threads(&letters(alphabet));
    let count = threads.len();
    let pairs = (0..count).flat_map(move |left| (0..count).map(move |right| (left, right)));
    pairs.map(move |(left, right)| build(&threads[left], &threads[right]))
}

fn letters(alphabet: Alphabet) -> Vec<Letter> {
    let cells = || 0..CELLS.len();
    let with_values = || cells().flat_map(|cell| VALUES.map(|value| (cell, value)));
    let mut letters: Vec<Letter> = with_values().map(|(cell, value)| Letter::Store(cell, value)).collect();
    letters.extend(cells().map(Letter::Load));
    letters.push(Letter::Fence);
    if alphabet == Alphabet::Snapshots {
        letters.push(Letter::Snapshot);
        return letters;
    }
    letters.extend(with_values().map(|(cell, value)| Letter::Exchange(cell, value)));
    if alphabet == Alphabet::Extended {
        letters.extend(cells().map(Letter::FetchAdd));
        letters.extend(cells().map(Letter::CompareAndSwap));
    }
    letters
}

/// All sequences of up to two letters.
fn threads(letters: &[Letter]) -> Vec<Vec<Letter>> {
    let ones = letters.iter().map(|&only| vec![only]);
    let twos = letters.iter().flat_map(|&first| letters.iter().map(move |&second| vec![first, second]));
    std::iter::once(Vec::new()).chain(ones).chain(twos).collect()
}

fn build(left: &[Letter], right: &[Letter]) -> (String, Program) {
    let shared = CELLS.map(|(name, address)| cell(name, address)).to_vec();
    let bodies = [left, right].map(instructions);
    let threads = vec![straight("P0", bodies[0].clone()), straight("P1", bodies[1].clone())];
    (format!("{} | {}", name(left), name(right)), program(shared, threads, properties(&[left, right])))
}

fn instructions(letters: &[Letter]) -> Vec<Instruction> {
    // Registers are numbered over the letters that read, so that none is left unused.
    let mut registers = 0..;
    letters.iter().map(|letter| letter.instruction(&mut || registers.next().unwrap_or(0))).collect()
}

/// For each set of reads: some final state has just these at 0. And for each pair of values: memory ends so.
fn properties(threads: &[&[Letter]; 2]) -> Vec<PropertyKind> {
    let reads = |letters: &[Letter]| letters.iter().map(|letter| letter.reads()).sum::<u32>();
    let all_reads: Vec<StateExpr> = (0..2)
        .flat_map(|thread| (0..reads(threads[thread as usize])).map(move |register| register_of(thread, register)))
        .collect();
    let exactly = |zeros: u32| {
        let is_zero = |read: usize| zeros >> read & 1 == 1;
        let not_zero = |read: &StateExpr| Expr::unary(UnaryOp::Not, equal(read.clone(), 0));
        let reads = all_reads.iter().enumerate();
        all_of(reads.map(|(index, read)| if is_zero(index) { equal(read.clone(), 0) } else { not_zero(read) }))
    };
    let memory = |x, y| all_of([equal(cell_value(CELLS[0].1), x), equal(cell_value(CELLS[1].1), y)]);
    let outcomes = (0..1 << all_reads.len()).map(exactly).map(PropertyKind::Exists);
    let memories = (0..3).flat_map(|x| (0..3).map(move |y| (x, y))).map(|(x, y)| PropertyKind::Exists(memory(x, y)));
    outcomes.chain(memories).chain([PropertyKind::ForbidDeadlock]).collect()
}

fn name(letters: &[Letter]) -> String {
    letters.iter().map(|letter| letter.name()).collect::<Vec<_>>().join(";")
}

impl Letter {
    /// How many cells it reads.
    fn reads(self) -> u32 {
        match self {
            Letter::Store(..) | Letter::Fence => 0,
            Letter::Snapshot => 2,
            Letter::Load(_) | Letter::Exchange(..) | Letter::FetchAdd(_) | Letter::CompareAndSwap(_) => 1,
        }
    }

    fn name(self) -> String {
        match self {
            Letter::Store(cell, value) => format!("{}={value}", CELLS[cell].0),
            Letter::Load(cell) => format!("r={}", CELLS[cell].0),
            Letter::Snapshot => format!("r,s={},{}", CELLS[0].0, CELLS[1].0),
            Letter::Fence => "fence".to_owned(),
            Letter::Exchange(cell, value) => format!("r=xchg({},{value})", CELLS[cell].0),
            Letter::FetchAdd(cell) => format!("r=fetch_add({},1)", CELLS[cell].0),
            Letter::CompareAndSwap(cell) => format!("r=cas({},0,1)", CELLS[cell].0),
        }
    }

    fn instruction(self, register: &mut impl FnMut() -> u32) -> Instruction {
        let one = || Expr::Const(1);
        match self {
            Letter::Store(cell, value) => store(CELLS[cell].1, value),
            Letter::Load(cell) => load(register(), CELLS[cell].1),
            Letter::Snapshot => snapshot(CELLS.map(|(_, address)| (register(), address))),
            Letter::Fence => Instruction::Fence,
            Letter::Exchange(cell, value) => exchange(register(), CELLS[cell].1, value),
            Letter::FetchAdd(cell) => rmw(register(), CELLS[cell].1, Rmw::Fetch(BinaryRmw::Add, one())),
            Letter::CompareAndSwap(cell) => {
                let operation = Rmw::CompareAndSwap { expected: Expr::Const(0), new: one() };
                rmw(register(), CELLS[cell].1, operation)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::reference::{Goal, Model, explore};

    #[test]
    fn there_are_as_many_programs_as_pairs_of_sequences() {
        // 11 core letters make 1 + 11 + 121 threads; 15 extended ones 1 + 15 + 225.
        let names: BTreeSet<String> = programs(Alphabet::Core).map(|(name, _)| name).collect();
        assert_eq!(names.len(), 133 * 133);
        assert_eq!(programs(Alphabet::Extended).count(), 241 * 241);
        assert_eq!(programs(Alphabet::Snapshots).count(), 73 * 73);
    }

    #[test]
    fn two_reads_of_zero_are_new_under_tso_just_in_store_buffering() {
        // The last of the four sets of reads is "both are 0".
        let both_zero = Goal::Property(weir_ir::PropertyId(3));
        let relaxed = |(_, program): &(String, Program)| {
            let shows = |model| explore(program, model, 1000).unwrap().goals.contains_key(&both_zero);
            shows(Model::Tso) && !shows(Model::Sc)
        };
        let two_reads = programs(Alphabet::Core).filter(|(name, _)| name.matches("r=").count() == 2);
        let found: BTreeSet<String> = two_reads.filter(relaxed).map(|(name, _)| name).collect();
        assert_eq!(found, store_buffering_shapes());
    }

    /// Each thread stores to one cell and then reads the other. It is enough that one of the two delays its store:
    /// so one read may be an exchange, but not both.
    fn store_buffering_shapes() -> BTreeSet<String> {
        let stores = |cell: &str| VALUES.map(|value| format!("{cell}={value}"));
        let exchanges = |cell: &str| VALUES.map(|value| format!("r=xchg({cell},{value})"));
        let thread = |own: &str, reads: &[String]| -> Vec<String> {
            let with_reads = |store: String| reads.iter().map(move |read| format!("{store};{read}"));
            stores(own).into_iter().flat_map(with_reads).collect()
        };
        let mut shapes = BTreeSet::new();
        for (left, right) in [("x", "y"), ("y", "x")] {
            let loading = thread(left, &[format!("r={right}")]);
            let answers = [vec![format!("r={left}")], exchanges(left).to_vec()].concat();
            for loading in &loading {
                for answering in thread(right, &answers) {
                    shapes.extend([format!("{loading} | {answering}"), format!("{answering} | {loading}")]);
                }
            }
        }
        shapes
    }
}
