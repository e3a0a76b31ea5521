//! Symmetry reduction: a system up to the order of symmetric threads.
//!
//! Of each orbit (states that differ only in which of the symmetric threads is where) one representative is visited:
//! the one in which symmetric threads are in ascending order. Buffers are compared by their content, not by their
//! numbers, so the representative is the same in every search.

use std::cmp::Ordering;

use weir_ir::Value;
use weir_witness::Goal;

use crate::semantics::machine::{Machine, MemoryModel, System};
use crate::semantics::state::{Field, Packed};
use crate::semantics::{StepCode, TransitionSystem};

/// A system, and its groups of symmetric threads.
pub(crate) struct Symmetric<'a, M, const N: usize> {
    inner: System<'a, M, N>,
    groups: Vec<Vec<Member>>,
}

/// Where the state of one thread is.
struct Member {
    position: usize,
    /// Its location and registers; as many as the others of its group have.
    fields: Vec<Field>,
    buffer: Option<Field>,
}

impl<'a, M: MemoryModel, const N: usize> Symmetric<'a, M, N> {
    pub(crate) fn new(machine: &'a Machine, groups: &[Vec<usize>]) -> Self {
        let member = |&position: &usize| {
            let (location, slots) = &machine.layout.threads[position];
            let fields = [*location].into_iter().chain(slots.iter().copied()).collect();
            Member { position, fields, buffer: machine.layout.buffers[position] }
        };
        let groups = groups.iter().map(|group| group.iter().map(member).collect()).collect();
        Self { inner: System::new(machine), groups }
    }

    /// The representative of the orbit of a state.
    fn representative(&self, state: &Packed<N>) -> Packed<N> {
        let mut state = *state;
        for group in &self.groups {
            for end in 1..group.len() {
                let mut at = end;
                while at > 0 && self.compare(&state, &group[at - 1], &group[at]) == Ordering::Greater {
                    self.swap(&mut state, &group[at - 1], &group[at]);
                    at -= 1;
                }
            }
        }
        state
    }

    fn compare(&self, state: &Packed<N>, left: &Member, right: &Member) -> Ordering {
        let fields = left.fields.iter().zip(&right.fields);
        let by_fields =
            fields.map(|(left, right)| state.raw(*left).cmp(&state.raw(*right))).find(|order| order.is_ne());
        by_fields
            .unwrap_or_else(|| self.compare_buffers(state, left, right))
            .then_with(|| self.holds_lock(state, left).cmp(&self.holds_lock(state, right)))
    }

    fn compare_buffers(&self, state: &Packed<N>, left: &Member, right: &Member) -> Ordering {
        let number = |member: &Member| member.buffer.map_or(0, |field| state.raw(field));
        let (left, right) = (number(left), number(right));
        if left == right {
            return Ordering::Equal;
        }
        M::compare_buffers(self.inner.machine, left, right)
    }

    fn holds_lock(&self, state: &Packed<N>, member: &Member) -> bool {
        self.inner.machine.layout.lock.is_some_and(|lock| state.raw(lock) == member.position as u64 + 1)
    }

    fn swap(&self, state: &mut Packed<N>, left: &Member, right: &Member) {
        let (left_holds, right_holds) = (self.holds_lock(state, left), self.holds_lock(state, right));
        let buffers = left.buffer.iter().zip(&right.buffer);
        for (&one, &other) in left.fields.iter().zip(&right.fields).chain(buffers) {
            let (first, second) = (state.raw(one), state.raw(other));
            state.set_raw(one, second);
            state.set_raw(other, first);
        }
        if let Some(lock) = self.inner.machine.layout.lock
            && left_holds != right_holds
        {
            let holder = if left_holds { right } else { left };
            state.set_raw(lock, holder.position as u64 + 1);
        }
    }

    /// A run of the program itself that does what this one does up to the order of threads.
    pub(crate) fn unpermuted(&self, run: &[StepCode]) -> Option<Vec<StepCode>> {
        let (mut canonical, mut state) = (self.initial(), self.inner.initial());
        let mut unpermuted = Vec::new();
        for &expected in run {
            canonical = find(self, &canonical, |step, next| (step == expected).then_some(*next))?;
            let same = |step, next: &Packed<N>| (self.representative(next) == canonical).then_some((step, *next));
            let (step, next) = find(&self.inner, &state, same)?;
            unpermuted.push(step);
            state = next;
        }
        Some(unpermuted)
    }
}

/// The first successor that `pick` takes.
fn find<T: TransitionSystem, R>(
    system: &T,
    from: &T::State,
    mut pick: impl FnMut(StepCode, &T::State) -> Option<R>,
) -> Option<R> {
    let mut found = None;
    system.each_successor(from, &mut |step, next| {
        if found.is_none() {
            found = pick(step, &next);
        }
        found.is_none()
    });
    found
}

impl<M: MemoryModel, const N: usize> TransitionSystem for Symmetric<'_, M, N> {
    type State = Packed<N>;

    fn initial(&self) -> Packed<N> {
        self.representative(&self.inner.initial())
    }

    #[inline]
    fn successors(&self, from: &Packed<N>, emit: &mut impl FnMut(StepCode, Packed<N>) -> bool) {
        if self.groups.is_empty() {
            self.inner.successors(from, emit);
        } else {
            self.inner.successors(from, &mut |step, next| emit(step, self.representative(&next)));
        }
    }

    #[inline]
    fn goal(&self, state: &Packed<N>) -> Option<Goal> {
        self.inner.goal(state)
    }

    fn deadlock_goal(&self, state: &Packed<N>) -> Option<Goal> {
        self.inner.deadlock_goal(state)
    }

    fn words(&self) -> usize {
        self.inner.words()
    }

    fn step_count(&self) -> usize {
        self.inner.step_count()
    }

    fn thread_of(&self, step: StepCode) -> usize {
        self.inner.thread_of(step)
    }

    fn canonical_form(&self, state: &Packed<N>) -> Vec<Value> {
        self.inner.canonical_form(state)
    }

    fn side_bytes(&self) -> u64 {
        self.inner.side_bytes()
    }
}
