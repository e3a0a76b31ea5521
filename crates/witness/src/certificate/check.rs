//! Whether a certificate is one.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

use weir_ir::{
    Address, Edge, EdgeId, Gather, Instruction, Interrupt, LocId, Multiplicity, Poll, Program, PropertyId,
    PropertyKind, Range, RegId, StateAtom, StateExpr, ThreadId, Uninterrupted, Value,
};

use super::collapse::{Opinion, opinion};
use super::fault::Fault;
use super::steps::Interpreter;
use super::{
    AbstractBuffer, AbstractState, AbstractThread, Buffering, Certificate, ClosedSet, ListedRegisters, PackedStates,
};
use crate::run::{Goal, Model};

/// Why something is no certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CertificateError {
    /// The state where it fails, by its place in the certificate, if it is about one.
    pub state: Option<usize>,
    /// What is wrong with it.
    pub fault: Fault,
    message: String,
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(state) = self.state {
            write!(f, "state {}: ", state + 1)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for CertificateError {}

impl CertificateError {
    /// About this state, or none in particular.
    pub(super) fn new(program: &Program, state: Option<usize>, fault: Fault) -> Self {
        Self { state, message: explain(program, &fault), fault }
    }
}

/// Checks that the goals of the certificate cannot be reached.
///
/// # Errors
/// If it does not show that; the error says where it fails.
pub fn check_certificate(program: &Program, certificate: &Certificate) -> Result<(), CertificateError> {
    check_certificate_until(program, certificate, &Uninterrupted)
}

/// As [`check_certificate`], unless it is interrupted: then nothing is known about the certificate.
///
/// # Errors
/// As [`check_certificate`], or [`Fault::Interrupted`].
pub fn check_certificate_until(
    program: &Program,
    certificate: &Certificate,
    interrupt: &dyn Interrupt,
) -> Result<(), CertificateError> {
    let claim = Claim { model: certificate.model, buffering: certificate.buffering, goals: &certificate.goals };
    let states: HashSet<&AbstractState> = certificate.states.iter().collect();
    let mut checker = Checker::new(program, claim, states)?;
    for (number, state) in certificate.states.iter().enumerate() {
        checker.note(state).map_err(|fault| checker.error(Some(number), fault))?;
    }
    checker.begin()?;
    checker.check(certificate.states.iter(), interrupt)
}

/// As [`check_certificate_until`], for states in the form in which files hold them.
///
/// # Errors
/// As [`check_certificate_until`].
pub fn check_closed_set(program: &Program, set: &ClosedSet, interrupt: &dyn Interrupt) -> Result<(), CertificateError> {
    let claim = Claim { model: set.model, buffering: set.buffering, goals: &set.goals };
    let mut checker = Checker::new(program, claim, &set.states)?;
    checker.list(set.states.listed()).map_err(|fault| checker.error(None, fault))?;
    checker.begin()?;
    match opinion(&checker, interrupt).map_err(|fault| checker.error(None, fault))? {
        Opinion::Accepted => {}
        Opinion::Open => checker.check(set.states.iter(), interrupt)?,
    }
    checker.can_still_happen(interrupt)
}

/// What a property is judged by: a state, however it is represented.
pub(super) trait Observed {
    fn thread(&self, place: usize) -> &AbstractThread;
    fn threads(&self) -> usize;
    /// The value of a cell, unless that is the initial one.
    fn cell(&self, address: Address) -> Option<Value>;
}

impl Observed for AbstractState {
    fn thread(&self, place: usize) -> &AbstractThread {
        &self.threads[place]
    }

    fn threads(&self) -> usize {
        self.threads.len()
    }

    fn cell(&self, address: Address) -> Option<Value> {
        self.memory.get(&address).copied()
    }
}

/// States per look at the interrupt: each has the steps of all its threads to check.
pub(super) const PERIOD: u32 = 16;

/// What a set of states is claimed to show.
#[derive(Clone, Copy)]
pub(super) struct Claim<'a> {
    pub(super) model: Model,
    pub(super) buffering: Buffering,
    pub(super) goals: &'a [Goal],
}

/// A set of states, to look up where steps lead.
pub(super) trait States {
    fn has(&self, state: &AbstractState) -> bool;
    fn count(&self) -> usize;

    /// Whether what can still happen is checked afterwards.
    fn decides_liveness(&self) -> bool;
}

impl States for HashSet<&AbstractState> {
    fn has(&self, state: &AbstractState) -> bool {
        self.contains(state)
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn decides_liveness(&self) -> bool {
        false
    }
}

impl States for &PackedStates {
    fn has(&self, state: &AbstractState) -> bool {
        self.contains(state)
    }

    fn count(&self) -> usize {
        self.len()
    }

    fn decides_liveness(&self) -> bool {
        true
    }
}

pub(super) struct Checker<'a, S> {
    pub(super) program: &'a Program,
    claim: Claim<'a>,
    /// The threads that run.
    pub(super) threads: Vec<ThreadId>,
    pub(super) states: S,
    /// Which registers the states tell, for each place of a thread.
    listed: BTreeMap<(usize, LocId), BTreeSet<RegId>>,
}

impl<'a, S: States> Checker<'a, S> {
    pub(super) fn new(program: &'a Program, claim: Claim<'a>, states: S) -> Result<Self, CertificateError> {
        let runs = |thread: &ThreadId| program.thread(*thread).multiplicity != Multiplicity::Spawned;
        let checker = Self::of(program, claim, program.thread_ids().filter(runs).collect(), states);
        let unsupported = |thread: &ThreadId| program.thread(*thread).multiplicity == Multiplicity::Arbitrary;
        if checker.threads.iter().any(unsupported) {
            return Err(checker.error(None, Fault::Unsupported));
        }
        Ok(checker)
    }

    /// For states of these threads.
    pub(super) fn of(program: &'a Program, claim: Claim<'a>, threads: Vec<ThreadId>, states: S) -> Self {
        Self { program, claim, threads, states, listed: BTreeMap::new() }
    }

    /// Checks what is about no state in particular.
    fn begin(&self) -> Result<(), CertificateError> {
        self.goals_can_be_checked()?;
        self.holds_the_start()
    }

    /// Checks all states, which are those of the set.
    pub(super) fn check(
        &self,
        states: impl Iterator<Item = impl Borrow<AbstractState>>,
        interrupt: &dyn Interrupt,
    ) -> Result<(), CertificateError> {
        let poll = Poll::every(PERIOD, interrupt);
        let mut seen = 0;
        for (number, state) in states.enumerate() {
            if poll.is_over() {
                return Err(self.error(None, Fault::Interrupted));
            }
            let (state, here) = (state.borrow(), |fault| self.error(Some(number), fault));
            self.is_of_the_model(state).map_err(here)?;
            self.shows_no_goal(state).map_err(here)?;
            self.stays_inside(state).map_err(here)?;
            seen += 1;
        }
        // Every state that can be looked up must have been checked.
        if seen >= self.states.count() { Ok(()) } else { Err(self.error(Some(seen), Fault::Malformed)) }
    }

    /// Without buffers, no store waits.
    fn is_of_the_model(&self, state: &AbstractState) -> Result<(), Fault> {
        let is_empty = state.threads.iter().all(|own| own.buffer.is_empty());
        if is_empty || self.claim.model == Model::Tso { Ok(()) } else { Err(Fault::Malformed) }
    }

    /// Notes which registers states record, as listed.
    pub(super) fn list(&mut self, listed: &ListedRegisters) -> Result<(), Fault> {
        if listed.len() != self.threads.len() {
            return Err(Fault::Malformed);
        }
        for (place, (locations, &thread)) in listed.iter().zip(&self.threads).enumerate() {
            let body = self.program.body(thread);
            let fits = |registers: &Vec<RegId>| {
                let is_ascending = registers.windows(2).all(|pair| pair[0] < pair[1]);
                is_ascending && registers.iter().all(|register| register.index() < body.registers.len())
            };
            if locations.len() != body.locations.len() || !locations.iter().all(fits) {
                return Err(Fault::Malformed);
            }
            let rows = locations.iter().enumerate();
            self.listed.extend(rows.map(|(at, row)| ((place, LocId::new(at)), row.iter().copied().gather())));
        }
        Ok(())
    }

    /// Notes which registers the state records.
    fn note(&mut self, state: &AbstractState) -> Result<(), Fault> {
        if state.threads.len() != self.threads.len() {
            return Err(Fault::Malformed);
        }
        for (place, own) in state.threads.iter().enumerate() {
            let body = self.program.body(self.threads[place]);
            let fits = |register: &RegId| register.index() < body.registers.len();
            if own.location.index() >= body.locations.len() || !own.registers.keys().all(fits) {
                return Err(Fault::Malformed);
            }
            let listed: BTreeSet<RegId> = own.registers.keys().copied().gather();
            if *self.listed.entry((place, own.location)).or_insert_with(|| listed.clone()) != listed {
                return Err(Fault::Registers(self.threads[place], own.location));
            }
        }
        Ok(())
    }

    pub(super) fn error(&self, state: Option<usize>, fault: Fault) -> CertificateError {
        CertificateError::new(self.program, state, fault)
    }

    fn goals_can_be_checked(&self) -> Result<(), CertificateError> {
        if self.claim.goals.is_empty() {
            return Err(self.error(None, Fault::UnknownGoal));
        }
        let fault = self.claim.goals.iter().find_map(|goal| match goal {
            Goal::Property(property) => match self.program.properties.get(property.index()).map(|found| &found.kind) {
                Some(kind) if kind.is_liveness() && !self.states.decides_liveness() => Some(Fault::Liveness),
                Some(_) => None,
                None => Some(Fault::UnknownGoal),
            },
            Goal::Assertion(thread) if thread.index() < self.program.threads.len() => None,
            Goal::Assertion(_) | Goal::NotRobust => Some(Fault::UnknownGoal),
        });
        fault.map_or(Ok(()), |fault| Err(self.error(None, fault)))
    }

    pub(super) fn holds_the_start(&self) -> Result<(), CertificateError> {
        if self.covers(self.start()) { Ok(()) } else { Err(self.error(None, Fault::NoStart)) }
    }

    /// The initial state.
    pub(super) fn start(&self) -> AbstractState {
        let start = |thread: &ThreadId| {
            let body = self.program.body(*thread);
            let registers = (0..body.registers.len()).map(|register| (RegId::new(register), 0)).gather();
            AbstractThread { location: body.entry, registers, buffer: AbstractBuffer::default() }
        };
        let threads = self.threads.iter().map(start).collect();
        AbstractState { threads, memory: BTreeMap::new(), lock_holder: None }
    }

    /// Whether a state of the certificate stands for this one: it agrees in all that it records.
    pub(super) fn covers(&self, state: AbstractState) -> bool {
        self.recorded(state).is_some_and(|state| self.states.has(&state))
    }

    /// The part of this state that states of the certificate record.
    pub(super) fn recorded(&self, mut state: AbstractState) -> Option<AbstractState> {
        for (place, own) in state.threads.iter_mut().enumerate() {
            let listed = self.listed.get(&(place, own.location))?;
            own.registers.retain(|register, _| listed.contains(register));
        }
        Some(state)
    }

    /// Whether states record this register at a place of a thread.
    pub(super) fn records(&self, at: (usize, LocId), register: RegId) -> bool {
        self.listed.get(&at).is_some_and(|listed| listed.contains(&register))
    }

    pub(super) fn model(&self) -> Model {
        self.claim.model
    }

    pub(super) fn buffering(&self) -> Buffering {
        self.claim.buffering
    }

    /// The goals that are about what can still happen.
    pub(super) fn liveness_goals(&self) -> impl Iterator<Item = (Goal, PropertyId)> {
        self.claim.goals.iter().filter_map(|&goal| match goal {
            Goal::Property(property) if self.kind(property).is_liveness() => Some((goal, property)),
            _ => None,
        })
    }

    pub(super) fn kind(&self, property: PropertyId) -> &PropertyKind {
        &self.program.properties[property.index()].kind
    }

    /// Every step from the state leads to a state of the certificate; and if deadlocks are ruled out, there is a step.
    pub(super) fn stays_inside(&self, state: &AbstractState) -> Result<(), Fault> {
        let (mut can_step, mut leaving) = (false, None);
        self.steps(state, &mut |thread, edge, next| {
            can_step = true;
            let is_inside = self.covers(next);
            if !is_inside {
                leaving = Some((thread, edge));
            }
            is_inside
        })?;
        if let Some((thread, edge)) = leaving {
            return Err(Fault::Leaves(thread, edge));
        }
        match self.deadlock() {
            Some(goal) if !can_step && !self.all_done(state) => Err(Fault::ShowsGoal(goal)),
            _ => Ok(()),
        }
    }

    /// Where all steps from the state lead, until `visit` says that this is enough.
    pub(super) fn steps(
        &self,
        state: &AbstractState,
        visit: &mut impl FnMut(ThreadId, Option<EdgeId>, AbstractState) -> bool,
    ) -> Result<(), Fault> {
        let mut goes_on = true;
        for place in 0..self.threads.len() {
            self.steps_of(place, state, &mut |thread, edge, next| {
                goes_on = visit(thread, edge, next);
                goes_on
            })?;
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    /// Where the steps of one thread lead, until `visit` says that this is enough.
    pub(super) fn steps_of(
        &self,
        place: usize,
        state: &AbstractState,
        visit: &mut impl FnMut(ThreadId, Option<EdgeId>, AbstractState) -> bool,
    ) -> Result<(), Fault> {
        let thread = self.threads[place];
        let interpreter = self.interpreter(state, thread, place);
        if !interpreter.flushes().into_iter().all(|next| visit(thread, None, next)) {
            return Ok(());
        }
        for (id, edge) in self.program.body(thread).edges_from(state.threads[place].location) {
            let choices = |register, range| self.choices((place, edge.to), register, range);
            let next = interpreter.execute(edge, choices).map_err(|fault| match fault {
                // More values than there are states: not all can be covered.
                Fault::Malformed => Fault::Leaves(thread, Some(id)),
                fault => fault,
            })?;
            let mut landed = self.landed(edge, next, thread, place).into_iter();
            if !landed.all(|next| visit(thread, Some(id), next)) {
                return Ok(());
            }
        }
        Ok(())
    }

    pub(super) fn interpreter<'s>(
        &'s self,
        state: &'s AbstractState,
        thread: ThreadId,
        place: usize,
    ) -> Interpreter<'s> {
        Interpreter { program: self.program, buffering: self.claim.buffering, state, thread, place }
    }

    /// Without buffers a store is flushed at once, and waits if it cannot be.
    pub(super) fn landed(
        &self,
        edge: &Edge,
        next: Vec<AbstractState>,
        thread: ThreadId,
        place: usize,
    ) -> Vec<AbstractState> {
        if self.claim.model == Model::Tso || !matches!(edge.instruction, Instruction::Store { .. }) {
            return next;
        }
        next.iter().flat_map(|state| self.interpreter(state, thread, place).flushes()).collect()
    }

    /// The goal that there is no deadlock, if it is one.
    pub(super) fn deadlock(&self) -> Option<Goal> {
        self.claim.goals.iter().copied().find(
            |goal| matches!(goal, Goal::Property(property) if self.kind(*property) == &PropertyKind::ForbidDeadlock),
        )
    }

    pub(super) fn all_done(&self, state: &impl Observed) -> bool {
        let is_done = |place: usize| self.program.body(self.threads[place]).is_done(state.thread(place).location);
        (0..state.threads().min(self.threads.len())).all(is_done)
    }

    /// The values to try: one is enough if the register is not listed there.
    pub(super) fn choices(&self, to: (usize, LocId), register: RegId, range: Range) -> Result<Vec<Value>, Fault> {
        if self.listed.get(&to).is_some_and(|listed| !listed.contains(&register)) {
            return Ok(vec![range.low]);
        }
        if range.extent() >= self.states.count() as u64 {
            return Err(Fault::Malformed);
        }
        Ok((range.low..=range.high).collect())
    }

    pub(super) fn shows_no_goal(&self, state: &impl Observed) -> Result<(), Fault> {
        for &goal in self.claim.goals {
            let shown = match goal {
                Goal::Assertion(thread) => {
                    let failed = self.program.body(thread).failed;
                    self.place(thread).is_some_and(|place| failed == Some(state.thread(place).location))
                }
                Goal::Property(property) => self.shows(state, property)?,
                Goal::NotRobust => false,
            };
            if shown {
                return Err(Fault::ShowsGoal(goal));
            }
        }
        Ok(())
    }

    fn shows(&self, state: &impl Observed, property: PropertyId) -> Result<bool, Fault> {
        if !(0..state.threads()).all(|place| state.thread(place).buffer.is_empty()) {
            return Ok(false);
        }
        Ok(match &self.program.properties[property.index()].kind {
            PropertyKind::Forbid(condition) => self.holds(state, condition)?,
            PropertyKind::Exists(condition) => self.all_done(state) && self.holds(state, condition)?,
            PropertyKind::Always(condition) => self.all_done(state) && !self.holds(state, condition)?,
            // A deadlock is the absence of steps; the others are about what can still happen.
            PropertyKind::ForbidDeadlock | PropertyKind::ForbidStuck | PropertyKind::Live(_) => false,
        })
    }

    pub(super) fn holds(&self, state: &impl Observed, condition: &StateExpr) -> Result<bool, Fault> {
        let mut unknown = None;
        let value = condition.eval(&mut |atom| match atom {
            StateAtom::At { thread, locations } => {
                Value::from(self.place(*thread).is_some_and(|place| locations.contains(&state.thread(place).location)))
            }
            StateAtom::Register { thread, register } => match self.place(*thread) {
                None => 0,
                Some(place) => state.thread(place).registers.get(register).copied().unwrap_or_else(|| {
                    unknown = Some(Fault::UnknownRegister(*thread, *register));
                    0
                }),
            },
            StateAtom::Cell(address) => state.cell(*address).unwrap_or_else(|| self.program.initial_value(*address)),
        });
        unknown.map_or(Ok(value != 0), Err)
    }

    pub(super) fn place(&self, thread: ThreadId) -> Option<usize> {
        self.threads.iter().position(|&running| running == thread)
    }
}

/// In words.
fn explain(program: &Program, fault: &Fault) -> String {
    let name = |thread: &ThreadId| &program.thread(*thread).name;
    match fault {
        Fault::Malformed => "its threads, places, registers or buffers do not match the program".to_owned(),
        Fault::Registers(thread, _) => {
            format!("at one place of {}, different states list different registers", name(thread))
        }
        Fault::NoStart => "the initial state is not among the states".to_owned(),
        Fault::Leaves(thread, None) => format!("a flush of {} leads to a state that is missing", name(thread)),
        Fault::Leaves(thread, Some(edge)) => {
            let text = program.instruction_text(*thread, *edge);
            format!("`{text}` of {} leads to a state that is missing", name(thread))
        }
        Fault::UnknownRegister(thread, register) => {
            let register = &program.body(*thread).registers[register.index()].name;
            format!("the value of `{register}` of {} is needed, but missing", name(thread))
        }
        Fault::ShowsGoal(_) => "it violates a property that the certificate claims to prove".to_owned(),
        Fault::Enters => "a step leads to a minimal state from a state that is above none".to_owned(),
        Fault::Misses(_) => "a state that violates a property is above no minimal state".to_owned(),
        Fault::HoldsTheStart => "the initial state is above a minimal one".to_owned(),
        Fault::Unsuitable(_) => "such a proof cannot be about this property".to_owned(),
        Fault::Liveness => "an over-approximation cannot show what can still happen".to_owned(),
        Fault::UnknownGoal => "it names no property of the program".to_owned(),
        Fault::NoFailedLocation => "a thread has assertions, but no place for failed ones".to_owned(),
        Fault::Interrupted => "checking was interrupted".to_owned(),
        Fault::Unsupported => "recursion, `spawn` and `[*]` cannot be checked".to_owned(),
    }
}
