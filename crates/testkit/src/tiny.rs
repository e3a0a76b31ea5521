//! Every two-thread program with up to two instructions a thread over two cells: exhaustive where it is cheap.
//!
//! All ordered pairs of threads are there, so each program comes with its mirror image: an engine that treats the
//! first thread differently from the second is caught, too.

use std::collections::BTreeSet;

use weir_ir::{
    Address, BinaryOp, BinaryRmw, Expr, Instruction, Program, PropertyKind, RegId, Rmw, StateExpr, UnaryOp, Value,
};

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
    /// Stores, loads, fences and membarriers: 5,329 programs.
    Membarriers,
    /// Stores, loads, fences, and waits until a cell is 1, or both are equal: 12,321 programs.
    Awaits,
}

/// One instruction, by name. What it reads goes to a register of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Letter {
    Store(usize, Value),
    Load(usize),
    /// Both cells.
    Snapshot,
    Fence,
    Membarrier,
    /// Until the cell is 1.
    Await(usize),
    /// Until both cells are equal.
    AwaitBoth,
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

/// One program of each class that differ only in the names of cells and values and in the order of threads. Which one
/// it is changes from class to class, so that no cell, value or thread is always the first.
pub fn programs_up_to_renaming(alphabet: Alphabet) -> impl Iterator<Item = (String, Program)> {
    let threads = threads(&letters(alphabet));
    let mut seen = BTreeSet::new();
    let mut chosen: Vec<[Vec<Letter>; 2]> = Vec::new();
    for left in &threads {
        for right in &threads {
            let renamings = renamings(alphabet, [left, right]);
            if seen.insert(renamings.iter().map(|[left, right]| key(left, right)).min()) {
                chosen.push(renamings[chosen.len() % renamings.len()].clone());
            }
        }
    }
    chosen.into_iter().map(|[left, right]| build(&left, &right))
}

/// The pair under all names of cells and values, in both orders.
fn renamings(alphabet: Alphabet, pair: [&[Letter]; 2]) -> Vec<[Vec<Letter>; 2]> {
    // Where values are added and compared, they are not just names.
    let values = if matches!(alphabet, Alphabet::Extended | Alphabet::Awaits) { 1 } else { 2 };
    let mut all = Vec::new();
    for swaps_cells in [false, true] {
        for swaps_values in [false, true].into_iter().take(values) {
            let renamed = |letters: &[Letter]| -> Vec<Letter> {
                letters.iter().map(|letter| letter.renamed(swaps_cells, swaps_values)).collect()
            };
            let [left, right] = pair.map(renamed);
            all.push([right.clone(), left.clone()]);
            all.push([left, right]);
        }
    }
    all
}

fn key(left: &[Letter], right: &[Letter]) -> String {
    format!("{} | {}", name(left), name(right))
}

fn letters(alphabet: Alphabet) -> Vec<Letter> {
    let cells = || 0..CELLS.len();
    let with_values = || cells().flat_map(|cell| VALUES.map(|value| (cell, value)));
    let mut letters: Vec<Letter> = with_values().map(|(cell, value)| Letter::Store(cell, value)).collect();
    letters.extend(cells().map(Letter::Load));
    letters.push(Letter::Fence);
    let special = match alphabet {
        Alphabet::Snapshots => vec![Letter::Snapshot],
        Alphabet::Membarriers => vec![Letter::Membarrier],
        Alphabet::Awaits => vec![Letter::Await(0), Letter::Await(1), Letter::AwaitBoth],
        Alphabet::Core | Alphabet::Extended => Vec::new(),
    };
    if !special.is_empty() {
        letters.extend(special);
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
    /// With cells, with values, or with both in each other's place.
    fn renamed(self, swaps_cells: bool, swaps_values: bool) -> Self {
        let at = |cell: usize| if swaps_cells { 1 - cell } else { cell };
        let put = |value: Value| if swaps_values { VALUES[0] + VALUES[1] - value } else { value };
        match self {
            Letter::Store(cell, value) => Letter::Store(at(cell), put(value)),
            Letter::Exchange(cell, value) => Letter::Exchange(at(cell), put(value)),
            Letter::Load(cell) => Letter::Load(at(cell)),
            Letter::FetchAdd(cell) => Letter::FetchAdd(at(cell)),
            Letter::CompareAndSwap(cell) => Letter::CompareAndSwap(at(cell)),
            Letter::Await(cell) => Letter::Await(at(cell)),
            // Both cells: the renamed one would differ in the order of its registers alone.
            Letter::Snapshot | Letter::AwaitBoth | Letter::Fence | Letter::Membarrier => self,
        }
    }

    /// How many cells it reads.
    fn reads(self) -> u32 {
        match self {
            Letter::Store(..) | Letter::Fence | Letter::Membarrier => 0,
            Letter::Snapshot | Letter::AwaitBoth => 2,
            Letter::Load(_)
            | Letter::Await(_)
            | Letter::Exchange(..)
            | Letter::FetchAdd(_)
            | Letter::CompareAndSwap(_) => 1,
        }
    }

    fn name(self) -> String {
        match self {
            Letter::Store(cell, value) => format!("{}={value}", CELLS[cell].0),
            Letter::Load(cell) => format!("r={}", CELLS[cell].0),
            Letter::Snapshot => format!("r,s={},{}", CELLS[0].0, CELLS[1].0),
            Letter::Fence => "fence".to_owned(),
            Letter::Membarrier => "membarrier".to_owned(),
            Letter::Await(cell) => format!("await r={} if r==1", CELLS[cell].0),
            Letter::AwaitBoth => "await r,s=x,y if r==s".to_owned(),
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
            Letter::Membarrier => Instruction::Membarrier,
            Letter::Await(cell) => {
                let register = RegId(register());
                let condition = Expr::binary(BinaryOp::Equal, Expr::Leaf(register), one());
                Instruction::Await { loads: vec![(register, Expr::Const(CELLS[cell].1))], condition }
            }
            Letter::AwaitBoth => {
                let loads = CELLS.map(|(_, address)| (RegId(register()), Expr::Const(address)));
                let condition = Expr::binary(BinaryOp::Equal, Expr::Leaf(loads[0].0), Expr::Leaf(loads[1].0));
                Instruction::Await { loads: loads.to_vec(), condition }
            }
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
    use super::*;
    use crate::reference::{Goal, Model, explore};

    #[test]
    fn there_are_as_many_programs_as_pairs_of_sequences() {
        // 11 core letters make 1 + 11 + 121 threads; 15 extended ones 1 + 15 + 225.
        let names: BTreeSet<String> = programs(Alphabet::Core).map(|(name, _)| name).collect();
        assert_eq!(names.len(), 133 * 133);
        assert_eq!(programs(Alphabet::Extended).count(), 241 * 241);
        assert_eq!(programs(Alphabet::Snapshots).count(), 73 * 73);
        assert_eq!(programs(Alphabet::Membarriers).count(), 73 * 73);
        assert_eq!(programs(Alphabet::Awaits).count(), 111 * 111);
    }

    /// Every program has one that stands for it, and only one.
    #[test]
    fn there_is_one_program_of_each_class() {
        let chosen: BTreeSet<String> = programs_up_to_renaming(Alphabet::Core).map(|(name, _)| name).collect();
        let threads = threads(&letters(Alphabet::Core));
        for left in &threads {
            for right in &threads {
                let class: BTreeSet<String> =
                    renamings(Alphabet::Core, [left, right]).iter().map(|[left, right]| key(left, right)).collect();
                assert_eq!(class.intersection(&chosen).count(), 1, "{}", key(left, right));
            }
        }
        assert_eq!((chosen.len(), programs_up_to_renaming(Alphabet::Snapshots).count()), (2301, 770));
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
