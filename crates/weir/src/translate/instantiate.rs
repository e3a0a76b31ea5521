//! Instances of a program with arbitrarily many threads: the program with a fixed number of copies of each.

use weir_ir::{
    BinaryOp, Expr, LocId, Multiplicity, Program, Property, PropertyId, PropertyKind, StateAtom, StateExpr, Thread,
    ThreadId, Value,
};
use weir_witness::{Run, Step};

use super::Translation;

/// An instance of a program.
#[derive(Clone, Debug)]
pub struct Instance {
    program: Program,
    /// For each thread of the instance, which thread of the program it is a copy of.
    origins: Vec<ThreadId>,
    copies: Vec<(String, u32)>,
    /// For each property of the program, those of the instance.
    properties: Vec<Vec<PropertyId>>,
}

impl Instance {
    /// The threads of which the program has arbitrarily many, by name, and how many copies this instance has of each.
    pub fn copies(&self) -> &[(String, u32)] {
        &self.copies
    }

    /// How many copies there are altogether.
    pub fn total(&self) -> u32 {
        self.copies.iter().map(|(_, number)| number).sum()
    }

    /// The thread of the program that a thread of the instance is a copy of.
    pub fn origin(&self, thread: ThreadId) -> ThreadId {
        self.origins[thread.index()]
    }

    /// What a property of the program states about the instance: one property, or one for each copy.
    pub fn properties_of(&self, property: PropertyId) -> &[PropertyId] {
        &self.properties[property.index()]
    }

    /// The program, if it is needed no longer as an instance.
    pub fn into_program(self) -> Program {
        self.program
    }
}

impl Translation for Instance {
    fn program(&self) -> &Program {
        &self.program
    }

    /// Copies cannot be told apart in the original, so several threads of the run may become one.
    fn map_back(&self, _original: &Program, run: &Run) -> Run {
        let steps = run.steps.iter().map(|step| Step { thread: self.origin(step.thread), ..*step });
        Run { model: run.model, steps: steps.collect() }
    }
}

/// The threads of which there are arbitrarily many.
pub fn templates(program: &Program) -> impl Iterator<Item = ThreadId> {
    program.thread_ids().filter(|&thread| program.thread(thread).multiplicity == Multiplicity::Arbitrary)
}

/// The instance with these numbers of copies, in the order of [`templates`]; none of those that are not listed. Nothing
/// in the program may start threads.
pub fn instantiate(program: &Program, numbers: &[u32]) -> Instance {
    let mut threads: Vec<Thread> = Vec::new();
    let (mut origins, mut copies) = (Vec::new(), Vec::new());
    let mut images: Vec<Vec<ThreadId>> = Vec::new();
    let mut numbers = numbers.iter();
    for id in program.thread_ids() {
        let thread = program.thread(id);
        let first = threads.len();
        if thread.multiplicity == Multiplicity::Arbitrary {
            let number = numbers.next().copied().unwrap_or(0);
            threads.extend((0..number).map(|number| copy(thread, number)));
            copies.push((thread.name.clone(), number));
        } else {
            threads.push(thread.clone());
        }
        images.push((first..threads.len()).map(ThreadId::new).collect());
        // A thread of which there is no copy stays, as one that nobody starts.
        if threads.len() == first {
            threads.push(Thread { multiplicity: Multiplicity::Spawned, ..thread.clone() });
        }
        origins.resize(threads.len(), id);
    }
    let mut properties: Vec<Property> = Vec::new();
    let mut stated = Vec::new();
    for property in &program.properties {
        let first = properties.len();
        properties.extend(instances_of(property, program, &images));
        stated.push((first..properties.len()).map(PropertyId::new).collect());
    }
    // The same names as on the command line, so that evidence says which instance it is about.
    let numbers = copies.iter().map(|(name, number)| (format!("{name}[*]"), Value::from(*number)));
    let constants = program.constants.iter().cloned().chain(numbers).collect();
    let made = Program { threads, properties, constants, ..program.clone() };
    Instance { program: made, origins, copies, properties: stated }
}

fn copy(thread: &Thread, number: u32) -> Thread {
    Thread {
        name: format!("{}[{number}]", thread.name),
        family: (thread.name.clone(), Some(number)),
        multiplicity: Multiplicity::One,
        ..thread.clone()
    }
}

/// What a property states about the instance. `live T at label` is about each copy of `T`, and about none if there is
/// none.
fn instances_of(property: &Property, program: &Program, images: &[Vec<ThreadId>]) -> Vec<Property> {
    let with = |kind| Property { kind, span: property.span };
    let place = match &property.kind {
        PropertyKind::Live(condition) => place_of_a_template(condition, program),
        _ => None,
    };
    let Some((template, locations)) = place else {
        let observed = |condition: &StateExpr| condition.map(&mut |atom| observed(atom, images));
        return vec![with(property.kind.map_condition(observed))];
    };
    let copies = &images[template.index()];
    if copies.is_empty() {
        return vec![with(PropertyKind::Live(Expr::Const(1)))];
    }
    let at = |&thread: &ThreadId| Expr::Leaf(StateAtom::At { thread, locations: locations.to_vec() });
    copies.iter().map(|thread| with(PropertyKind::Live(at(thread)))).collect()
}

/// The thread and its locations if a condition says nothing but that some copy is at a place.
fn place_of_a_template<'c>(condition: &'c StateExpr, program: &Program) -> Option<(ThreadId, &'c [LocId])> {
    let Expr::Binary(BinaryOp::NotEqual, atom, zero) = condition else { return None };
    let (Expr::Leaf(StateAtom::At { thread, locations }), Expr::Const(0)) = (&**atom, &**zero) else { return None };
    (program.thread(*thread).multiplicity == Multiplicity::Arbitrary).then_some((*thread, locations.as_slice()))
}

/// What an atom of a property observes in the instance. A number of copies is the sum over all of them.
fn observed(atom: &StateAtom, images: &[Vec<ThreadId>]) -> StateExpr {
    match atom {
        StateAtom::Cell(address) => Expr::Leaf(StateAtom::Cell(*address)),
        // Only a thread of which there is one can be asked for its registers.
        StateAtom::Register { thread, register } => images[thread.index()]
            .first()
            .map_or(Expr::Const(0), |&thread| Expr::Leaf(StateAtom::Register { thread, register: *register })),
        StateAtom::At { thread, locations } => {
            let at = |&thread: &ThreadId| Expr::Leaf(StateAtom::At { thread, locations: locations.clone() });
            let sum = |sum: StateExpr, one| Expr::binary(BinaryOp::Add, sum, one);
            images[thread.index()].iter().map(at).reduce(sum).unwrap_or(Expr::Const(0))
        }
    }
}
