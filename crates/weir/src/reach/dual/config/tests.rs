//! Configurations and their order, against the definitions: permutations of equal threads, subwords between own
//! messages.

use weir_testkit::Rng;

use super::*;

/// Two groups (threads 0 and 1 are equal, 2 is itself), two cells with three and two values, one snapshot of both.
fn shape() -> Shape {
    Shape::new(vec![vec![0, 1], vec![2]], &[3, 2], &[vec![(0, 1), (1, 0)]]).expect("few messages")
}

/// A configuration as plain data.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Naive {
    lock: Option<usize>,
    locals: Vec<u16>,
    memory: Vec<u16>,
    buffers: Vec<Vec<Message>>,
}

impl Naive {
    fn drawn(shape: &Shape, rng: &mut Rng) -> Self {
        let open = rng.chance(40);
        let lock = rng.chance(40).then(|| rng.below(3));
        let mut locals: Vec<u16> = (0..3).map(|_| rng.below(2) as u16).collect();
        let messages = [(0, 0, false), (0, 1, false), (1, 0, false), (0, 1, true), (0, 2, true), (1, 1, true)];
        let mut buffers: Vec<Vec<Message>> = (0..3).map(|_| Vec::new()).collect();
        for buffer in &mut buffers {
            for _ in 0..rng.below(4) {
                let (cell, value, own) = *rng.pick(&messages);
                // An own message is the newest to its cell.
                if !own || shape.own(buffer, cell).is_none() {
                    buffer.push(shape.message(cell, value, own));
                }
            }
            if rng.chance(10) {
                buffer.extend(shape.about(&[(0, 1), (1, 0)]));
            }
        }
        for thread in 0..3 {
            if open && rng.chance(40) && lock != Some(thread) {
                locals[thread] = ANY;
                buffers[thread].clear();
            }
        }
        let memory = [3, 2].map(|count| if rng.chance(30) { ANY } else { rng.below(count) as u16 }).to_vec();
        Self { lock, locals, memory, buffers }
    }

    fn config(&self, shape: &Shape) -> Config {
        let lock = self.lock.map_or(FREE, |thread| thread as u16 + 1);
        let mut config = Config::new(shape, lock, &self.locals, &self.memory);
        for (thread, buffer) in self.buffers.iter().enumerate() {
            for (position, &message) in buffer.iter().enumerate() {
                config.insert(shape, thread, position, message);
            }
        }
        config
    }

    fn of(view: View<'_>) -> Self {
        let lock = usize::from(view.lock()).checked_sub(1);
        Self {
            lock,
            locals: (0..3).map(|thread| view.local(thread)).collect(),
            memory: view.memory().to_vec(),
            buffers: (0..3).map(|thread| view.buffer(thread).to_vec()).collect(),
        }
    }

    /// With threads 0 and 1 in each other's place.
    fn swapped(&self) -> Self {
        let mut other = self.clone();
        other.locals.swap(0, 1);
        other.buffers.swap(0, 1);
        other.lock = self.lock.map(|thread| if thread < 2 { 1 - thread } else { thread });
        other
    }

    /// Whether this one stands for the other, thread by thread.
    fn is_below(&self, other: &Self) -> bool {
        let memory = self.memory.iter().zip(&other.memory).all(|(small, large)| *small == ANY || small == large);
        let lock = self.lock.is_none() == other.lock.is_none();
        let thread = |at: usize| {
            if self.locals[at] == ANY {
                return other.lock != Some(at) && !other.buffers[at].iter().any(|&message| is_own(message));
            }
            self.locals[at] == other.locals[at]
                && (self.lock == Some(at)) == (other.lock == Some(at))
                && is_subword(&self.buffers[at], &other.buffers[at])
        };
        memory && lock && (0..3).all(thread)
    }
}

/// Whether messages from memory can be left out of the second so that the first is left.
fn is_subword(small: &[Message], large: &[Message]) -> bool {
    let left_out = |set: u32| {
        let stays = |at: &usize| set >> at & 1 == 0;
        let gone = (0..large.len()).filter(|at| !stays(at));
        gone.clone().all(|at| !is_own(large[at]))
            && (0..large.len()).filter(stays).map(|at| large[at]).eq(small.iter().copied())
    };
    (0..1 << large.len()).any(left_out)
}

#[test]
fn what_is_put_in_is_there() {
    let (shape, mut rng) = (shape(), Rng::new(1));
    for _ in 0..500 {
        let naive = Naive::drawn(&shape, &mut rng);
        let mut config = naive.config(&shape);
        let view = config.view(&shape);
        assert_eq!(Naive::of(view), naive);
        assert_eq!(view.messages(), naive.buffers.iter().map(Vec::len).sum::<usize>());
        for thread in 0..3 {
            assert_eq!(view.locked_out(thread), naive.lock.is_some_and(|holder| holder != thread));
        }
        assert_eq!((view.cell(0), view.cell(1)), (naive.memory[0], naive.memory[1]));
        let mut expected = naive.clone();
        if let Some(thread) = (0..3).find(|&thread| !naive.buffers[thread].is_empty()) {
            config.pop(&shape, thread);
            expected.buffers[thread].pop();
        }
        config.set_lock(2);
        config.set_local(2, 7);
        config.set_cell(&shape, 1, 1);
        (expected.lock, expected.locals[2], expected.memory[1]) = (Some(1), 7, 1);
        assert_eq!(Naive::of(config.view(&shape)), expected);
    }
}

#[test]
fn the_order_is_that_of_the_definition() {
    let (shape, mut rng) = (shape(), Rng::new(2));
    let mut below = 0;
    for _ in 0..6000 {
        let large = Naive::drawn(&shape, &mut rng);
        let mut small = if rng.chance(70) { large.clone() } else { Naive::drawn(&shape, &mut rng) };
        // Something less, and something else.
        for buffer in &mut small.buffers {
            if !buffer.is_empty() && rng.chance(30) {
                buffer.remove(rng.below(buffer.len()));
            }
        }
        if rng.chance(30) {
            small.memory[rng.below(2)] = ANY;
        }
        if rng.chance(20) {
            let thread = rng.below(3);
            if small.lock != Some(thread) {
                small.locals[thread] = ANY;
                small.buffers[thread].clear();
            }
        }
        if rng.chance(50) {
            small = small.swapped();
        }
        let expected = small.is_below(&large) || small.swapped().is_below(&large);
        // Equal threads stand in order, those that can be anywhere last.
        let (mut one, mut other) = (small.config(&shape), large.config(&shape));
        one.sort(&shape);
        other.sort(&shape);
        assert_eq!(is_below(&shape, one.view(&shape), other.view(&shape)), expected, "{small:?} {large:?}");
        below += u64::from(expected);
        for (left, right) in small.buffers.iter().zip(&large.buffers) {
            assert_eq!(is_buffer_below(left, right), is_subword(left, right), "{left:?} {right:?}");
        }
    }
    assert!((1000..5000).contains(&below), "{below} of 6000");
}

#[test]
fn sorting_puts_equal_threads_in_one_order() {
    let (shape, mut rng) = (shape(), Rng::new(3));
    let mut moved = 0;
    for _ in 0..1000 {
        let naive = Naive::drawn(&shape, &mut rng);
        let (mut one, mut other) = (naive.config(&shape), naive.swapped().config(&shape));
        let order = one.sort(&shape);
        other.sort(&shape);
        assert_eq!(one, other, "{naive:?}");
        let sorted = Naive::of(one.view(&shape));
        assert!(sorted == naive || sorted == naive.swapped());
        moved += u64::from(order.is_some());
        for (now, before) in order.into_iter().flatten().enumerate() {
            assert_eq!(sorted.buffers[now], naive.buffers[before]);
            assert_eq!((sorted.lock == Some(now)), (naive.lock == Some(before)));
        }
    }
    assert!((100..900).contains(&moved));
}

#[test]
fn what_memory_says_anyway_is_stripped_from_the_end() {
    let (shape, mut rng) = (shape(), Rng::new(4));
    let mut count = 0;
    for _ in 0..2000 {
        let naive = Naive::drawn(&shape, &mut rng);
        let mut expected = naive.clone();
        let mut gone = Vec::new();
        for thread in 0..3 {
            let is_free = naive.lock.is_none_or(|holder| holder == thread);
            while let Some(&last) = expected.buffers[thread].last() {
                let parts = shape.parts(last);
                let holds = parts.iter().all(|&(cell, value)| naive.memory[usize::from(cell)] == value);
                if !is_free || is_own(last) || !holds {
                    break;
                }
                expected.buffers[thread].pop();
                gone.push((thread, last));
            }
        }
        let (mut config, mut stripped) = (naive.config(&shape), Vec::new());
        config.strip(&shape, |thread, message| stripped.push((thread, message)));
        assert_eq!((Naive::of(config.view(&shape)), &stripped), (expected, &gone));
        count += gone.len();
    }
    assert!(count > 300);
}

#[test]
fn messages_have_numbers_of_their_own() {
    let shape = shape();
    let mut seen = std::collections::BTreeSet::new();
    for (cell, count) in [(0, 3), (1, 2)] {
        for value in 0..count {
            for own in [false, true] {
                let message = shape.message(cell, value, own);
                assert!(seen.insert(message));
                assert_eq!((shape.cell(message), shape.value(message), is_own(message)), (cell, value, own));
                assert_eq!(shape.parts(message), [(cell, value)]);
            }
        }
    }
    let several = shape.about(&[(0, 1), (1, 0)]).expect("a snapshot");
    assert!(seen.insert(several) && !is_own(several));
    assert_eq!(shape.parts(several), [(0, 1), (1, 0)]);
    assert_eq!((shape.about(&[]), shape.about(&[(0, 0), (1, 0)])), (None, None));
    assert_eq!(shape.about(&[(1, 1)]), Some(shape.message(1, 1, false)));
    assert_eq!((shape.threads, shape.cells), (3, 2));
}

#[test]
fn too_many_messages_have_no_numbers() {
    let groups = || vec![vec![0]];
    assert!(Shape::new(groups(), &[MOST_MESSAGES - 1], &[]).is_some());
    assert!(Shape::new(groups(), &[MOST_MESSAGES], &[]).is_none());
    let snapshot: Vec<(Cell, Val)> = (0..9).map(|cell| (cell, 0)).collect();
    assert!(Shape::new(groups(), &[1; 9], &[snapshot[..8].to_vec()]).is_some());
    assert!(Shape::new(groups(), &[1; 9], &[snapshot]).is_none());
}

#[test]
fn parts_of_a_snapshot_are_all_with_two_or_more_cells() {
    let parts = parts_of_several(&[(0, 1), (1, 2), (2, 0)]).expect("few");
    let expected: [&[(Cell, Val)]; 4] =
        [&[(0, 1), (1, 2)], &[(0, 1), (2, 0)], &[(1, 2), (2, 0)], &[(0, 1), (1, 2), (2, 0)]];
    assert_eq!(parts, expected);
}
