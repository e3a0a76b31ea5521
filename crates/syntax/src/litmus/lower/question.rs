//! The question of a test over the states of its program.

use std::collections::BTreeSet;

use weir_ir::sort::sort_by;
use weir_ir::{BinaryOp, Diagnostic, Expr, PropertyKind, Span, StateAtom, StateExpr, ThreadId, Value};

use super::super::header::Architecture;
use super::super::register::{Base, Part, RegisterName};
use super::super::tree::{Atom, CellName, Comparand, Constant, Place, Proposition, Quantifier, Question, Test};
use super::super::types::Type;
use super::super::{Observable, Refused, number_text};
use super::bits::{all, any, binary, not, signed, unsigned};
use super::cells::{Cells, cell_text};
use super::initial::{InitialRegisters, no_such_thread};
use super::registers::read;
use super::thread::Lowered;

/// What is needed to say what a place holds in a state.
pub(super) struct View<'a> {
    pub(super) test: &'a Test,
    pub(super) cells: &'a Cells,
    pub(super) initial: &'a InitialRegisters,
    pub(super) threads: &'a [Lowered],
}

/// A place as it is shown: its value in a state, and how its bits are read.
struct Shown {
    value: StateExpr,
    kind: Type,
}

/// The registers of a thread that a question looks at.
pub(super) fn observed_registers(question: &Question, thread: usize) -> BTreeSet<Base> {
    let mut found = BTreeSet::new();
    let mut note = |place: &Place| {
        if let Place::Register(number, name) = place
            && *number == thread
        {
            found.insert(name.base.clone());
        }
    };
    question.locations.iter().for_each(|(place, _)| note(place));
    for proposition in question.filter.iter().chain([&question.condition]) {
        for_each_place(proposition, &mut |place, _| note(place));
    }
    found
}

fn for_each_place(proposition: &Proposition, visit: &mut impl FnMut(&Place, Span)) {
    match proposition {
        Proposition::Atom(atom) => {
            visit(&atom.left, atom.span);
            if let Comparand::Place(place) = &atom.right {
                visit(place, atom.span);
            }
        }
        Proposition::Not(inner) => for_each_place(inner, visit),
        Proposition::And(parts) | Proposition::Or(parts) => {
            parts.iter().for_each(|part| for_each_place(part, visit));
        }
        Proposition::Implies(left, right) => {
            for_each_place(left, visit);
            for_each_place(right, visit);
        }
    }
}

/// What the program must be asked so that the answer is the test's.
pub(super) fn property(quantifier: Quantifier, condition: &StateExpr, filter: Option<&StateExpr>) -> PropertyKind {
    let (condition, filter) = (condition.clone(), filter.cloned());
    let met = |condition| match filter.clone() {
        Some(filter) => all(vec![filter, condition]),
        None => condition,
    };
    match quantifier {
        Quantifier::Exists => PropertyKind::Exists(met(condition)),
        Quantifier::NotExists => PropertyKind::Always(not(met(condition))),
        Quantifier::Forall => PropertyKind::Always(match filter {
            Some(filter) => any(vec![not(filter), condition]),
            None => condition,
        }),
    }
}

impl View<'_> {
    fn is_upper(&self) -> bool {
        self.test.header.architecture == Architecture::X86
    }

    /// A condition as an expression over states.
    pub(super) fn condition(&self, proposition: &Proposition) -> Result<StateExpr, Refused> {
        let parts = |parts: &[Proposition]| parts.iter().map(|part| self.condition(part)).collect::<Result<_, _>>();
        Ok(match proposition {
            Proposition::Atom(atom) => self.atom(&atom.left, &atom.right, atom.span)?,
            Proposition::Not(inner) => not(self.condition(inner)?),
            Proposition::And(list) => all(parts(list)?),
            Proposition::Or(list) => any(parts(list)?),
            Proposition::Implies(left, right) => any(vec![not(self.condition(left)?), self.condition(right)?]),
        })
    }

    fn atom(&self, left: &Place, right: &Comparand, span: Span) -> Result<StateExpr, Refused> {
        if let Comparand::Elements(values) = right {
            let Place::Cell(name) = left else { return Err(no_array("a register", span).into()) };
            let elements = self.cells.elements(name).ok_or_else(|| no_array(&cell_text(name), span))?;
            if elements.len() != values.len() {
                let message = format!("{} values for {} elements", values.len(), elements.len());
                return Err(Diagnostic::error("wrong-array", message, span).help("give one value per element").into());
            }
            let pairs = elements.into_iter().zip(values);
            let equal = pairs.map(|(cell, value)| self.equals(&Place::Cell(cell), value, span));
            return Ok(all(equal.collect::<Result<_, _>>()?));
        }
        match right {
            Comparand::Place(place) => {
                Ok(binary(BinaryOp::Equal, self.shown(left, span)?.value, self.shown(place, span)?.value))
            }
            Comparand::Constant(constant) => self.equals(left, constant, span),
            Comparand::Elements(_) => Ok(Expr::Const(0)),
        }
    }

    fn equals(&self, place: &Place, constant: &Constant, span: Span) -> Result<StateExpr, Refused> {
        if let Constant::Address(name) = constant {
            self.check_cell(name, span)?;
        }
        let Shown { value, kind } = self.shown(place, span)?;
        let expected: Value = as_shown::<()>(Expr::Const(self.cells.value(constant)), kind).constant().unwrap_or(0);
        Ok(binary(BinaryOp::Equal, value, Expr::Const(expected)))
    }

    fn check_cell(&self, name: &CellName, span: Span) -> Result<(), Refused> {
        match self.cells.find(name) {
            Some(_) => Ok(()),
            None => {
                let message = format!("there is no cell `{}`", cell_text(name));
                let error = Diagnostic::error("unknown-cell", message, span);
                Err(error.help("elements are numbered from 0; declare an array as in `int x[2]`").into())
            }
        }
    }

    /// What is shown of a place.
    fn shown(&self, place: &Place, span: Span) -> Result<Shown, Refused> {
        match place {
            Place::Cell(name) => {
                self.check_cell(name, span)?;
                if self.cells.elements(name).is_some() {
                    let message = format!("`{}` is an array", name.name);
                    let help = format!("name an element, as in `{}[0]`", name.name);
                    return Err(Diagnostic::error("wrong-array", message, span).help(help).into());
                }
                let cell = self.cells.find(name);
                let (address, kind) = cell.map_or((0, Type::signed(4)), |cell| (cell.address, cell.kind));
                let value = Expr::Leaf(StateAtom::Cell(address));
                Ok(Shown { value: if kind.is_signed { value } else { unsigned(value, kind.size) }, kind })
            }
            Place::Register(number, name) => {
                let position = self.test.threads.iter().position(|column| column.number == *number);
                let position = position.ok_or_else(|| no_such_thread(self.test, *number, span))?;
                Ok(self.shown_register(position, name))
            }
        }
    }

    fn shown_register(&self, position: usize, name: &RegisterName) -> Shown {
        let (lowered, number) = (&self.threads[position], self.test.threads[position].number);
        let thread = ThreadId::new(position);
        let storage = lowered.registers.storage(&name.base);
        let leaf = |register| Expr::Leaf(StateAtom::Register { thread, register });
        let declared = self.initial.declared(number, &name.base);
        // Registers are ints, as litmus7 prints them, unless more was written or a type says otherwise.
        let widest = lowered.usage.widest_write.get(&name.base).copied().unwrap_or(0);
        let (part, kind) = match (name.part, declared) {
            (Some(part @ (Part::Word | Part::Low | Part::High)), _) => (part, Type::signed(part.size())),
            (_, Some(kind)) => (Part::of_size(kind.size), kind),
            (Some(Part::Long), None) => (Part::Long, Type::signed(4)),
            (Some(Part::Quad) | None, None) if widest > 4 => (Part::Quad, Type::signed(8)),
            (Some(Part::Quad) | None, None) => (Part::Long, Type::signed(4)),
        };
        if let Base::Flag(_) = name.base {
            return Shown { value: read(storage, Part::Quad, leaf), kind: Type::signed(8) };
        }
        let value = read(storage, part, leaf);
        Shown { value: if kind.is_signed { value } else { unsigned(value, kind.size) }, kind }
    }

    /// What the condition and `locations` mention: registers by thread, then cells by name.
    pub(super) fn observed(&self) -> Result<Vec<Observable>, Refused> {
        let question = &self.test.question;
        let mut places: Vec<(Place, Span)> = question.locations.clone();
        for_each_place(&question.condition, &mut |place, span| places.push((place.clone(), span)));
        let mut all: Vec<(Place, Span)> = Vec::new();
        for (place, span) in places {
            match &place {
                Place::Cell(name) => match self.cells.elements(name) {
                    Some(elements) => all.extend(elements.into_iter().map(|cell| (Place::Cell(cell), span))),
                    None => all.push((place, span)),
                },
                Place::Register(..) => all.push((place, span)),
            }
        }
        sort_by(&mut all, |left, right| left.0.cmp(&right.0));
        all.dedup_by(|left, right| left.0 == right.0);
        all.iter().map(|(place, span)| self.observable(place, *span)).collect()
    }

    fn observable(&self, place: &Place, span: Span) -> Result<Observable, Refused> {
        let Shown { value, kind } = self.shown(place, span)?;
        let is_unsigned = kind.is_wide_unsigned();
        Ok(match place {
            Place::Cell(name) => Observable { name: cell_text(name), is_cell: true, value, is_unsigned },
            Place::Register(..) => Observable { name: self.place_text(place), is_cell: false, value, is_unsigned },
        })
    }

    /// A place as results of the herd tools name it.
    fn place_text(&self, place: &Place) -> String {
        match place {
            Place::Register(number, name) => format!("{number}:{}", name.text(self.is_upper())),
            Place::Cell(name) if name.index.is_some() => cell_text(name),
            Place::Cell(name) => format!("[{}]", name.name),
        }
    }

    /// A condition as the herd tools print it.
    pub(super) fn text(&self, proposition: &Proposition) -> String {
        self.text_within(proposition, Level::Top)
    }

    fn text_within(&self, proposition: &Proposition, above: Level) -> String {
        let join = |parts: &[Proposition], level, operator: &str| {
            let parts: Vec<String> = parts.iter().map(|part| self.text_within(part, level)).collect();
            parts.join(operator)
        };
        let (text, needs_parentheses) = match proposition {
            Proposition::Atom(atom) => (self.atom_text(atom), false),
            Proposition::Not(inner) => (format!("not ({})", self.text(inner)), false),
            Proposition::And(parts) if parts.is_empty() => ("true".to_owned(), false),
            Proposition::Or(parts) if parts.is_empty() => ("false".to_owned(), false),
            Proposition::And(parts) => (join(parts, Level::And, " /\\ "), above == Level::Implies),
            Proposition::Or(parts) => (join(parts, Level::Or, " \\/ "), matches!(above, Level::And | Level::Implies)),
            Proposition::Implies(left, right) => {
                let sides = [self.text_within(left, Level::Implies), self.text_within(right, Level::Implies)];
                (sides.join(" => "), above != Level::Top)
            }
        };
        if needs_parentheses { format!("({text})") } else { text }
    }

    fn atom_text(&self, Atom { left, right, span }: &Atom) -> String {
        let is_unsigned = self.shown(left, *span).is_ok_and(|shown| shown.kind.is_wide_unsigned());
        let constant = |constant: &Constant| match constant {
            Constant::Number(number) => number_text(*number, is_unsigned),
            Constant::Address(name) => cell_text(name),
        };
        let right = match right {
            Comparand::Constant(value) => constant(value),
            Comparand::Place(place) => self.place_text(place),
            Comparand::Elements(values) => {
                let values: Vec<String> = values.iter().map(constant).collect();
                format!("{{{}}}", values.join(","))
            }
        };
        format!("{}={right}", self.place_text(left))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Top,
    And,
    Or,
    Implies,
}

/// A value of a type as it is shown.
fn as_shown<L>(value: Expr<L>, kind: Type) -> Expr<L> {
    if kind.is_signed { signed(value, kind.size) } else { unsigned(value, kind.size) }
}

fn no_array(what: &str, span: Span) -> Diagnostic {
    Diagnostic::error("wrong-array", format!("{what} is not an array"), span).help("compare it with a single value")
}
