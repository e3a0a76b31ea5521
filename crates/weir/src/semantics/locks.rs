//! Is the global lock always released?
//!
//! While a thread holds it, stores of the others cannot leave their buffers; if it is held forever, they pile up, and
//! nothing that rests on drained configurations is certain. A thread releases it if its steps in between form no cycle
//! and never wait for others. Only the text is examined, so the answer may be no although the lock is always released.

use weir_ir::{Body, Edge, Expr, Hindrance, Instruction, LocId, Program};

/// The most steps that a thread makes from taking the lock to releasing it; 0 if no thread takes it. None if that may
/// take forever.
pub(crate) fn longest_section(program: &Program) -> Option<usize> {
    let mut longest = 0;
    for thread in program.running_threads() {
        let body = program.body(thread);
        let mut walk = Walk { program, body, known: vec![Visit::Not; body.locations.len()] };
        for edge in body.edges().iter().filter(|edge| matches!(edge.instruction, Instruction::Lock)) {
            longest = longest.max(1 + walk.steps_from(edge.to)?);
        }
    }
    Some(longest)
}

fn gives_back(edge: &Edge) -> bool {
    matches!(edge.instruction, Instruction::Unlock)
}

#[derive(Clone, Copy)]
enum Visit {
    Not,
    /// On the way to the location that is looked at now.
    UnderWay,
    Done(usize),
}

struct Walk<'a> {
    program: &'a Program,
    body: &'a Body,
    known: Vec<Visit>,
}

impl Walk<'_> {
    /// The most steps from a location up to giving the lock back. Without recursion: a section is as long as its author
    /// likes.
    fn steps_from(&mut self, start: LocId) -> Option<usize> {
        let body = self.body;
        let mut path = vec![start];
        while let Some(&location) = path.last() {
            match self.known[location.index()] {
                Visit::Not => {
                    self.known[location.index()] = Visit::UnderWay;
                    if !self.never_blocks(location) {
                        return None;
                    }
                    for (_, edge) in body.edges_from(location).filter(|(_, edge)| !gives_back(edge)) {
                        match self.known[edge.to.index()] {
                            Visit::Not => path.push(edge.to),
                            // A cycle.
                            Visit::UnderWay => return None,
                            Visit::Done(_) => {}
                        }
                    }
                }
                // All that follows is known by now.
                Visit::UnderWay => {
                    self.known[location.index()] = Visit::Done(self.most_steps(location));
                    path.pop();
                }
                Visit::Done(_) => {
                    path.pop();
                }
            }
        }
        Some(self.done(start))
    }

    /// The most steps from a location, given those from its successors.
    fn most_steps(&self, location: LocId) -> usize {
        let steps = |edge: &Edge| if gives_back(edge) { 1 } else { 1 + self.done(edge.to) };
        self.body.edges_from(location).map(|(_, edge)| steps(edge)).max().unwrap_or(0)
    }

    fn done(&self, location: LocId) -> usize {
        if let Visit::Done(steps) = self.known[location.index()] { steps } else { 0 }
    }

    /// Whether a thread that holds the lock can go on from here, once its own stores have left its buffer.
    fn never_blocks(&self, location: LocId) -> bool {
        let instructions: Vec<&Instruction> =
            self.body.edges_from(location).map(|(_, edge)| &edge.instruction).collect();
        match instructions[..] {
            [Instruction::Assume(one), Instruction::Assume(other)] => one.is_opposite_of(other),
            [] => false,
            _ => instructions.iter().all(|instruction| self.goes_on(instruction)),
        }
    }

    fn goes_on(&self, instruction: &Instruction) -> bool {
        match (instruction.hindrance(), instruction) {
            // A thread that ends here, as it does if an assertion fails, keeps the lock; and a membarrier waits for
            // stores of others, which wait for the lock.
            (_, Instruction::Assert(_) | Instruction::Terminate | Instruction::Membarrier) => false,
            (_, Instruction::Store { address: Expr::Const(address), value: Expr::Const(value) }) => {
                self.program.admits(*address, *value)
            }
            (Hindrance::Nothing | Hindrance::NotHeld, _) => true,
            (Hindrance::Range, _) => self.program.shared.iter().all(|shared| shared.range.is_none()),
            (Hindrance::Condition | Hindrance::Held | Hindrance::Elsewhere, _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::longest_section;

    fn read(text: &str) -> weir_ir::Program {
        let source = weir_ir::Source::new("test.weir", text.to_owned());
        let parsed = weir_syntax::weir::parse(&source, &weir_syntax::weir::Options::default());
        parsed.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program
    }

    /// The longest section of a program with this thread beside one that only stores.
    fn longest(thread: &str) -> Option<usize> {
        let text = format!("shared x, y: 0..3, z[2]; thread P {{ x = 1; }} thread L {{ {thread} }} forbid x == 9;");
        longest_section(&read(&text))
    }

    #[test]
    fn sections_are_as_long_as_their_longest_way() {
        for (thread, steps) in [
            ("skip;", 0),
            ("lock; unlock;", 2),
            ("loop { lock; skip; unlock; }", 3),
            ("lock; let a = x; x = 1; fence; unlock; lock; unlock;", 5),
            ("lock; unlock; lock; skip; skip; skip; unlock;", 5),
            ("let r = 1; lock; if r == 1 { skip; skip; } else { skip; } unlock;", 5),
            ("let r = 1; lock; if r == 1 { skip; } else { skip; skip; skip; } unlock;", 6),
            ("let r = 1; lock; if r == 1 { unlock; } else { skip; unlock; }", 4),
            ("let a, b; lock; a, b = x, x; unlock;", 3),
            ("let r; lock; r = any 0..3; unlock;", 3),
            ("lock; choose { skip; } or { skip; skip; } unlock;", 4),
            ("lock; y = 3; unlock;", 3),
            ("atomic { x = 2; x = 3; }", 4),
        ] {
            assert_eq!(longest(thread), Some(steps), "{thread}");
        }
    }

    #[test]
    fn what_may_wait_go_round_or_end_is_no_section() {
        for thread in [
            "lock;",
            "lock; skip;",
            "lock; loop { skip; }",
            "let r = 1; lock; while r == 1 { r = x; } unlock;",
            "let r = 1; lock; assume r == 1; unlock;",
            "let r = 1; lock; choose { assume r == 1; } or { assume r == 2; } unlock;",
            "let r = 1; lock; choose { assume r == 2; } or { assume r == 1; } unlock;",
            "let r = 1; lock; choose { assume r != 1; } or { assume r == 2; } unlock;",
            "let r = 1; lock; choose { assume r == 2; } or { assume r != 1; } unlock;",
            "let r = 1; lock; choose { assume r < 1; } or { assume r > 1; } unlock;",
            "let r = 1; lock; choose { assume r > 1; } or { assume r < 1; } unlock;",
            "let r = 1; lock; choose { skip; } or { assume r < 1; } unlock;",
            "let r = 1; lock; assert r == 1; unlock;",
            "lock; lock; unlock;",
            "lock; y = 4; unlock;",
            "let r = 1; lock; y = r; unlock;",
            "let r; lock; r = cas(y, 0, 1); unlock;",
            "let r = 1; lock; if r == 1 { unlock; } else { skip; }",
            "lock; unlock; lock; skip;",
        ] {
            assert_eq!(longest(thread), None, "{thread}");
        }
    }

    #[test]
    fn every_thread_that_runs_counts_and_no_other() {
        let with = |second: &str| {
            let text = format!("shared x; thread P {{ lock; unlock; }} thread Q {{ {second} }} forbid x == 9;");
            longest_section(&read(&text))
        };
        assert_eq!(with("lock; skip; unlock;"), Some(3));
        assert_eq!(with("lock; loop { skip; }"), None);
        // Where no cell has a range, a store cannot wait, whatever it stores.
        assert_eq!(with("let r = 5; lock; x = r; r = cas(x, 0, 1); unlock;"), Some(4));
    }

    /// A section is as long as its author likes.
    #[test]
    fn long_sections_do_not_overflow_the_stack() {
        assert_eq!(longest(&format!("lock; {} unlock;", "skip; ".repeat(200_000))), Some(200_002));
    }
}
