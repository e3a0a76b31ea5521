//! Random automata in Trencher's language do what they say: the text is read and run by the reference interpreter, and
//! the automata it was written from are run as they stand. Both have the same states, one by one.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::{PropertyId, Source, ThreadId};
use weir_testkit::product::{Action, Machine, visit_states};
use weir_testkit::{Goal, Model, Rng, explore};

const STATES: usize = 4;
const REGISTERS: usize = 2;
const LIMIT: usize = 2_000;

#[derive(Clone, Debug)]
enum Expr {
    Number(i64),
    Register(usize),
    Not(Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `^ e n`, with a number or register for `e`.
    Power(Box<Expr>, u32),
}

#[derive(Clone, Debug)]
enum Instruction {
    Read(usize, Expr),
    Write(Expr, Expr),
    Local(usize, Expr),
    Check(Expr),
    Fence,
    Lock,
    Unlock,
    Noop,
}

#[derive(Clone, Debug)]
struct Thread {
    initial: usize,
    last: Option<usize>,
    transitions: Vec<(usize, usize, Instruction)>,
}

const OPERATORS: [&str; 12] = ["==", "!=", "<", "<=", ">", ">=", "&&", "||", "+", "-", "*", "&"];

fn expr(rng: &mut Rng, depth: usize) -> Expr {
    match rng.below(if depth == 0 { 2 } else { 6 }) {
        0 => Expr::Number(*rng.pick(&[0, 1, 2, -1, 3, i64::from(i32::MAX), i64::from(i32::MIN)])),
        1 => Expr::Register(rng.below(REGISTERS)),
        2 => Expr::Not(Box::new(expr(rng, depth - 1))),
        3 if rng.chance(30) => Expr::Power(Box::new(expr(rng, 0)), rng.below(4) as u32),
        _ => {
            let op: &'static str = OPERATORS[rng.below(OPERATORS.len())];
            Expr::Binary(op, Box::new(expr(rng, depth - 1)), Box::new(expr(rng, depth - 1)))
        }
    }
}

fn instruction(rng: &mut Rng) -> Instruction {
    let address = |rng: &mut Rng| if rng.chance(80) { Expr::Number(rng.below(2) as i64) } else { expr(rng, 1) };
    match rng.below(12) {
        0..=2 => Instruction::Read(rng.below(REGISTERS), address(rng)),
        3..=5 => Instruction::Write(expr(rng, 1), address(rng)),
        6 => Instruction::Local(rng.below(REGISTERS), expr(rng, 2)),
        7 | 8 => Instruction::Check(expr(rng, 2)),
        9 => Instruction::Fence,
        10 => rng.pick(&[Instruction::Lock, Instruction::Unlock]).clone(),
        _ => Instruction::Noop,
    }
}

/// Mostly from one state to a later one.
fn thread(rng: &mut Rng) -> Thread {
    let mut transitions = Vec::new();
    for from in 0..STATES - 1 {
        for _ in 0..rng.between(1, 2) {
            let to = if rng.chance(15) { rng.below(STATES) } else { rng.between(from + 1, STATES - 1) };
            transitions.push((from, to, instruction(rng)));
        }
    }
    Thread { initial: 0, last: rng.chance(70).then(|| rng.below(STATES)), transitions }
}

fn text_of(expr: &Expr) -> String {
    match expr {
        Expr::Number(value) => value.to_string(),
        Expr::Register(register) => format!("r{register}"),
        Expr::Not(inner) => format!("! {}", text_of(inner)),
        Expr::Binary(op, left, right) => format!("{op} {} {}", text_of(left), text_of(right)),
        Expr::Power(base, count) => format!("^ {} {count}", text_of(base)),
    }
}

fn text(threads: &[Thread], rng: &mut Rng) -> String {
    let mut text = String::from("# random\nmemory_size 100\n");
    for (at, thread) in threads.iter().enumerate() {
        text += &format!("thread t{at}\ninitial s{}\n", thread.initial);
        for (from, to, instruction) in &thread.transitions {
            let line = match instruction {
                Instruction::Read(register, address) => format!("read r{register} {}", text_of(address)),
                Instruction::Write(value, address) => format!("write {} {}", text_of(value), text_of(address)),
                Instruction::Local(register, value) => format!("local r{register} {}", text_of(value)),
                Instruction::Check(holds) => format!("check {}", text_of(holds)),
                Instruction::Fence => "mfence".to_string(),
                Instruction::Lock => "lock".to_string(),
                Instruction::Unlock => "unlock".to_string(),
                Instruction::Noop => "noop".to_string(),
            };
            // The language has no lines.
            let line = if rng.chance(20) { line.replace(' ', "\n  ") } else { line };
            text += &format!("transition s{from} s{to} {line}\n");
            if rng.chance(10) {
                text += "# a remark\n";
            }
        }
        text += &thread.last.map_or(String::new(), |last| format!("final s{last}\n"));
        text += "end\n";
    }
    text
}

fn eval(expr: &Expr, registers: &[i64]) -> i64 {
    match expr {
        Expr::Number(value) => *value,
        Expr::Register(register) => registers[*register],
        Expr::Not(inner) => i64::from(eval(inner, registers) == 0),
        Expr::Power(base, count) => eval(base, registers).wrapping_pow(*count),
        Expr::Binary(op, left, right) => {
            let (a, b) = (eval(left, registers), eval(right, registers));
            match *op {
                "+" => a.wrapping_add(b),
                "-" => a.wrapping_sub(b),
                "*" => a.wrapping_mul(b),
                "&" => a & b,
                _ => i64::from(match *op {
                    "==" => a == b,
                    "!=" => a != b,
                    "<" => a < b,
                    "<=" => a <= b,
                    ">" => a > b,
                    ">=" => a >= b,
                    "&&" => a != 0 && b != 0,
                    _ => a != 0 || b != 0,
                }),
            }
        }
    }
}

struct Automata<'t>(&'t [Thread]);

/// The state and the registers.
type Local = (usize, Vec<i64>);

impl Machine for Automata<'_> {
    type Local = Local;

    fn initial(&self) -> Vec<Local> {
        self.0.iter().map(|thread| (thread.initial, vec![0; REGISTERS])).collect()
    }

    fn initial_value(&self, _: i64) -> i64 {
        0
    }

    fn actions<'a>(&'a self, thread: usize, (at, registers): &Local) -> Vec<Action<'a, Local>> {
        let leaving = self.0[thread].transitions.iter().filter(|(from, ..)| from == at);
        leaving.filter_map(|(_, to, instruction)| action(*to, instruction, registers.clone())).collect()
    }
}

fn action<'a>(to: usize, instruction: &'a Instruction, mut registers: Vec<i64>) -> Option<Action<'a, Local>> {
    Some(match instruction {
        Instruction::Read(register, address) => {
            let address = eval(address, &registers);
            let then = move |values: &[i64]| {
                let mut registers = registers;
                registers[*register] = values[0];
                (to, registers)
            };
            Action::Load(vec![address], Box::new(then))
        }
        Instruction::Write(value, address) => {
            Action::Store(eval(address, &registers), eval(value, &registers), (to, registers))
        }
        Instruction::Local(register, value) => {
            registers[*register] = eval(value, &registers);
            Action::Local((to, registers))
        }
        Instruction::Check(holds) => {
            (eval(holds, &registers) != 0).then_some(())?;
            Action::Local((to, registers))
        }
        Instruction::Fence => Action::Fence((to, registers)),
        Instruction::Lock => Action::Lock((to, registers)),
        Instruction::Unlock => Action::Unlock((to, registers)),
        Instruction::Noop => Action::Local((to, registers)),
    })
}

/// Final states: memory, and the registers that the text names, by thread.
type Finals = BTreeSet<(BTreeMap<i64, i64>, Vec<BTreeMap<String, i64>>)>;

#[derive(PartialEq, Eq, Debug)]
struct Found {
    states: usize,
    /// The least number of steps to all states marked `final` at once.
    meeting: Option<usize>,
    finals: Finals,
}

fn expected(threads: &[Thread], model: Model) -> Option<Found> {
    let automata = Automata(threads);
    let mut found = Found { states: 0, meeting: None, finals: Finals::new() };
    let is_end = |thread: &Thread, at: usize| thread.transitions.iter().all(|(from, ..)| *from != at);
    let named = |(thread, (_, registers)): (&Thread, &Local)| {
        let names = (0..REGISTERS).filter(|register| mentions(thread, *register));
        names.map(|register| (format!("r{register}"), registers[register])).collect()
    };
    let is_whole = visit_states(&automata, model, LIMIT, &mut |state, depth, _| {
        found.states += 1;
        let places = || threads.iter().zip(&state.locals);
        let is_marked = threads.iter().any(|thread| thread.last.is_some());
        let meets = places().all(|(thread, local)| thread.last.is_none_or(|last| last == local.0));
        if state.is_drained() && is_marked && meets {
            found.meeting.get_or_insert(depth);
        }
        if state.is_drained() && places().all(|(thread, local)| is_end(thread, local.0)) {
            found.finals.insert((state.memory.clone(), places().map(named).collect()));
        }
    });
    is_whole.then_some(found)
}

fn mentions(thread: &Thread, register: usize) -> bool {
    fn within(expr: &Expr, register: usize) -> bool {
        match expr {
            Expr::Number(_) => false,
            Expr::Register(named) => *named == register,
            Expr::Not(inner) => within(inner, register),
            // To the power of 0 is 1, whatever it is; but the register is named all the same.
            Expr::Power(inner, _) => within(inner, register),
            Expr::Binary(_, left, right) => within(left, register) || within(right, register),
        }
    }
    thread.transitions.iter().any(|(_, _, instruction)| match instruction {
        Instruction::Read(to, expr) | Instruction::Local(to, expr) => *to == register || within(expr, register),
        Instruction::Write(value, address) => within(value, register) || within(address, register),
        Instruction::Check(holds) => within(holds, register),
        _ => false,
    })
}

fn found(program: &weir_ir::Program, model: Model) -> Found {
    let outcome = explore(program, model, 2 * LIMIT).expect("supported");
    assert!(outcome.complete);
    let finals = outcome.final_states.iter().map(|state| {
        let registers = |thread: ThreadId| {
            let body = program.body(thread);
            let value = |at: usize| state.registers[&thread][&weir_ir::RegId::new(at)];
            body.registers.iter().enumerate().map(|(at, register)| (register.name.clone(), value(at))).collect()
        };
        (state.memory.clone(), program.thread_ids().map(registers).collect())
    });
    let meeting = outcome.goals.get(&Goal::Property(PropertyId(0))).copied();
    Found { states: outcome.states, meeting, finals: finals.collect() }
}

#[test]
fn random_automata_do_what_they_say() {
    let rounds = std::env::var("WEIR_SEEDS").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(600);
    let (mut compared, mut met, mut ended) = (0, 0, 0);
    for seed in 0..rounds {
        let mut rng = Rng::new(seed);
        let threads: Vec<Thread> = (0..rng.between(1, 2)).map(|_| thread(&mut rng)).collect();
        let text = text(&threads, &mut rng);
        let parsed = weir_syntax::trencher::parse(&Source::new("random.txt", text.as_str()));
        let program = parsed.unwrap_or_else(|errors| panic!("{errors:#?}\n{text}")).program;
        assert_eq!(weir_ir::validate(&program), [], "{text}");
        for model in Model::ALL {
            let Some(expected) = expected(&threads, model) else { continue };
            assert_eq!(found(&program, model), expected, "seed {seed} {model:?}\n{text}");
            compared += 1;
            met += usize::from(expected.meeting.is_some());
            ended += usize::from(!expected.finals.is_empty());
        }
    }
    assert!(compared > rounds as usize, "only {compared} of {rounds} programs were compared");
    assert!(4 * met > compared && 4 * ended > compared, "{met} meetings and {ended} ends in {compared} programs");
}
