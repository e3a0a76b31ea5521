//! An explicit-state model checker for BTOR2 (Niemetz, Preiner, Wolf, Biere, 2018), for files of few input bits: every
//! reachable state, with every value of the inputs. Written from the definition of the format, and slow.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

/// What was reached.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explored {
    /// Whether every reachable state was visited.
    pub complete: bool,
    /// How many states were visited.
    pub states: usize,
    /// The symbols of the `bad` lines that some state satisfies.
    pub bad: BTreeSet<String>,
}

/// The most bits of all inputs together.
const MOST_INPUT_BITS: u32 = 16;

/// Visits the reachable states of a file, at most `limit` of them.
///
/// # Errors
/// What is wrong with the file, or that it has too many input bits.
pub fn explore(text: &str, limit: usize) -> Result<Explored, String> {
    let system = System::parse(text)?;
    let bits: u32 = system.inputs.iter().map(|(_, width)| width).sum();
    if bits > MOST_INPUT_BITS {
        return Err(format!("{bits} bits of input"));
    }
    let initial = system.initial()?;
    let mut explored = Explored { complete: true, states: 1, bad: BTreeSet::new() };
    let mut visited = HashSet::from([initial.clone()]);
    let mut open = vec![initial];
    while let Some(state) = open.pop() {
        for inputs in 0..1u64 << bits {
            let values = system.evaluate(&state, inputs);
            for (node, symbol) in &system.bad {
                if bits_of(&values, *node)? != 0 {
                    explored.bad.insert(symbol.clone());
                }
            }
            let next: Vec<Value> = system
                .states
                .iter()
                .map(|state| value_of(&values, state.next.unwrap_or(state.line)).cloned())
                .collect::<Result<_, String>>()?;
            if visited.contains(&next) {
                continue;
            }
            if visited.len() >= limit {
                explored.complete = false;
                return Ok(explored);
            }
            visited.insert(next.clone());
            explored.states += 1;
            open.push(next);
        }
    }
    Ok(explored)
}

/// What a line stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Value {
    Bits(u64),
    /// The elements that differ from the one that all others are.
    Array(Rc<BTreeMap<u64, u64>>, u64),
}

#[derive(Clone, Copy, Debug)]
enum Sort {
    Bits(u32),
    Array,
}

struct StateLine {
    line: usize,
    sort: Sort,
    init: Option<usize>,
    next: Option<usize>,
}

struct Operator {
    line: usize,
    name: String,
    width: u32,
    operands: Vec<u64>,
}

#[derive(Default)]
struct System {
    sorts: BTreeMap<usize, Sort>,
    /// The widths of all lines that are bit vectors.
    widths: BTreeMap<usize, u32>,
    constants: BTreeMap<usize, u64>,
    inputs: Vec<(usize, u32)>,
    states: Vec<StateLine>,
    operators: Vec<Operator>,
    bad: Vec<(usize, String)>,
    lines: usize,
}

impl System {
    fn parse(text: &str) -> Result<Self, String> {
        let mut system = Self::default();
        for line in text.lines().filter(|line| !line.trim_start().starts_with(';') && !line.trim().is_empty()) {
            system.line(line).ok_or_else(|| format!("cannot read `{line}`"))?;
        }
        Ok(system)
    }

    fn line(&mut self, text: &str) -> Option<()> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let number = |at: usize| -> Option<usize> { words.get(at)?.parse().ok() };
        let line = number(0)?;
        if line <= self.lines {
            return None;
        }
        self.lines = line;
        match *words.get(1)? {
            "sort" if words.get(2) == Some(&"bitvec") => {
                let width = words.get(3)?.parse().ok()?;
                self.sorts.insert(line, Sort::Bits(width));
            }
            "sort" => {
                self.sorts.insert(line, Sort::Array);
            }
            "init" => self.state(number(3)?)?.init = Some(number(4)?),
            "next" => self.state(number(3)?)?.next = Some(number(4)?),
            "bad" => self.bad.push((number(2)?, (*words.get(3)?).to_owned())),
            name => self.node(line, name, &words)?,
        }
        Some(())
    }

    fn state(&mut self, line: usize) -> Option<&mut StateLine> {
        self.states.iter_mut().find(|state| state.line == line)
    }

    fn node(&mut self, line: usize, name: &str, words: &[&str]) -> Option<()> {
        let sort = *self.sorts.get(&words.get(2)?.parse().ok()?)?;
        let width = match sort {
            Sort::Bits(width) => width,
            Sort::Array => 0,
        };
        if width > 64 {
            return None;
        }
        self.widths.insert(line, width);
        match name {
            "input" => self.inputs.push((line, width)),
            "state" => self.states.push(StateLine { line, sort, init: None, next: None }),
            "constd" => {
                self.constants.insert(line, cut(words.get(3)?.parse().ok()?, width));
            }
            "const" => {
                self.constants.insert(line, u64::from_str_radix(words.get(3)?, 2).ok()?);
            }
            _ => {
                let operands = words[3..].iter().map(|word| word.parse().ok()).collect::<Option<Vec<u64>>>()?;
                self.operators.push(Operator { line, name: name.to_owned(), width, operands });
            }
        }
        Some(())
    }

    /// The state in which everything begins. All states must be initialised.
    fn initial(&self) -> Result<Vec<Value>, String> {
        let mut state: Vec<Value> = self.states.iter().map(|_| Value::Bits(0)).collect();
        for at in 0..self.states.len() {
            let line = &self.states[at];
            let values = self.evaluate(&state, 0);
            let init = line.init.ok_or_else(|| format!("state {} has no initial value", line.line))?;
            state[at] = match (line.sort, value_of(&values, init)?.clone()) {
                (Sort::Array, Value::Bits(all)) => Value::Array(Rc::default(), all),
                (_, value) => value,
            };
        }
        Ok(state)
    }

    /// The values of all lines. Before all states are initialised, some have none.
    fn evaluate(&self, state: &[Value], inputs: u64) -> Vec<Option<Value>> {
        let mut values: Vec<Option<Value>> = vec![None; self.lines + 1];
        for (line, value) in &self.constants {
            values[*line] = Some(Value::Bits(*value));
        }
        let mut rest = inputs;
        for (line, width) in &self.inputs {
            values[*line] = Some(Value::Bits(cut(rest as i64, *width)));
            rest >>= width;
        }
        for (line, value) in self.states.iter().zip(state) {
            values[line.line] = Some(value.clone());
        }
        for operator in &self.operators {
            values[operator.line] = self.apply(operator, &values);
        }
        values
    }

    fn apply(&self, operator: &Operator, values: &[Option<Value>]) -> Option<Value> {
        let Operator { name, width, operands, .. } = operator;
        let argument = |at: usize| -> Option<&Value> { values.get(*operands.get(at)? as usize)?.as_ref() };
        let bits = |at: usize| match argument(at) {
            Some(Value::Bits(bits)) => Some(*bits),
            _ => None,
        };
        let of = |at: usize| operands.get(at).and_then(|line| self.widths.get(&(*line as usize))).copied().unwrap_or(0);
        let signed = |at: usize| Some(extended(bits(at)?, of(at)));
        let result = match name.as_str() {
            "ite" => return if bits(0)? != 0 { argument(1).cloned() } else { argument(2).cloned() },
            "read" => {
                let Value::Array(elements, other) = argument(0)? else { return None };
                elements.get(&bits(1)?).copied().unwrap_or(*other)
            }
            "write" => {
                let Value::Array(elements, other) = argument(0)? else { return None };
                let mut elements = BTreeMap::clone(elements);
                let (index, value) = (bits(1)?, bits(2)?);
                if value == *other {
                    elements.remove(&index);
                } else {
                    elements.insert(index, value);
                }
                return Some(Value::Array(Rc::new(elements), *other));
            }
            "not" => cut(!(bits(0)? as i64), *width),
            "neg" => cut(signed(0)?.wrapping_neg(), *width),
            "redor" => u64::from(bits(0)? != 0),
            "sext" => cut(signed(0)?, *width),
            "uext" => bits(0)?,
            "slice" => cut((bits(0)? >> operands.get(2)?) as i64, *width),
            "and" => bits(0)? & bits(1)?,
            "or" => bits(0)? | bits(1)?,
            "xor" => bits(0)? ^ bits(1)?,
            "add" => cut(signed(0)?.wrapping_add(signed(1)?), *width),
            "sub" => cut(signed(0)?.wrapping_sub(signed(1)?), *width),
            "mul" => cut(signed(0)?.wrapping_mul(signed(1)?), *width),
            // Division by zero as in SMT-LIB.
            "sdiv" if signed(1)? == 0 => cut(if signed(0)? < 0 { 1 } else { -1 }, *width),
            "sdiv" => cut(signed(0)?.wrapping_div(signed(1)?), *width),
            "srem" if signed(1)? == 0 => bits(0)?,
            "srem" => cut(signed(0)?.wrapping_rem(signed(1)?), *width),
            "sll" if bits(1)? >= u64::from(*width) => 0,
            "sll" => cut((bits(0)? << bits(1)?) as i64, *width),
            "sra" => cut(signed(0)? >> bits(1)?.min(63), *width),
            "eq" => u64::from(argument(0)? == argument(1)?),
            "neq" => u64::from(argument(0)? != argument(1)?),
            "slt" => u64::from(signed(0)? < signed(1)?),
            "slte" => u64::from(signed(0)? <= signed(1)?),
            "sgt" => u64::from(signed(0)? > signed(1)?),
            "sgte" => u64::from(signed(0)? >= signed(1)?),
            _ => return None,
        };
        Some(Value::Bits(result))
    }
}

fn value_of(values: &[Option<Value>], line: usize) -> Result<&Value, String> {
    values.get(line).and_then(Option::as_ref).ok_or_else(|| format!("line {line} has no value"))
}

fn bits_of(values: &[Option<Value>], line: usize) -> Result<u64, String> {
    match value_of(values, line)? {
        Value::Bits(bits) => Ok(*bits),
        Value::Array(..) => Err(format!("line {line} is an array")),
    }
}

/// The low bits.
fn cut(value: i64, width: u32) -> u64 {
    if width >= 64 { value as u64 } else { value as u64 & ((1 << width) - 1) }
}

/// The value with its sign.
fn extended(bits: u64, width: u32) -> i64 {
    let unused = 64 - width.clamp(1, 64);
    ((bits << unused) as i64) >> unused
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter of three bits that stops at 5, or starts over if the input says so.
    const COUNTER: &str = "\
1 sort bitvec 3
2 sort bitvec 1
3 input 2 again
4 constd 1 0
5 state 1 counter
6 init 1 5 4
7 constd 1 1
8 add 1 5 7
9 constd 1 5
10 eq 2 5 9
11 ite 1 10 5 8
12 ite 1 3 4 11
13 next 1 5 12
14 bad 10 five
15 constd 1 6
16 eq 2 5 15
17 bad 16 six
";

    #[test]
    fn a_counter_reaches_what_it_can() {
        let explored = explore(COUNTER, 100).expect("a file");
        assert_eq!((explored.complete, explored.states), (true, 6));
        assert_eq!(explored.bad, BTreeSet::from(["five".to_owned()]));
        assert!(!explore(COUNTER, 3).expect("a file").complete);
    }

    #[test]
    fn arrays_are_read_and_written() {
        let text = "1 sort bitvec 2\n2 sort bitvec 1\n3 sort array 1 1\n4 constd 1 0\n5 state 3 memory\n6 init 3 5 4\n\
                    7 input 1 index\n8 constd 1 3\n9 write 3 5 7 8\n10 next 3 5 9\n11 read 1 5 8\n12 eq 2 11 8\n\
                    13 bad 12 last\n";
        let explored = explore(text, 100).expect("a file");
        assert_eq!((explored.states, explored.bad.len()), (16, 1));
    }

    #[test]
    fn what_is_no_file_is_refused() {
        for text in ["1 sort bitvec 1\n1 input 1", "1 sort bitvec 1\n2 state 1 x", "hello", "1 input 7"] {
            assert!(explore(text, 10).is_err(), "{text}");
        }
    }
}
