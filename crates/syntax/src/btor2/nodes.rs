//! Lines of a BTOR2 file: sorts, constants and operators, each with its number.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use weir_ir::{Range, Value};

/// The number of a line.
pub(super) type Id = usize;

/// A bit vector: a value with a sign, or a truth value (one bit, no sign).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Node {
    pub(super) id: Id,
    pub(super) width: u32,
    pub(super) is_truth: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Sort {
    Bits(u32),
    Array(u32, u32),
}

/// A file under construction.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    text: String,
    last: Id,
    sorts: BTreeMap<Sort, Id>,
    constants: BTreeMap<(u32, Value), Id>,
}

/// The bits that hold every value of a range, with a sign.
pub(super) fn width_of(range: Range) -> u32 {
    let bits = |value: Value| 65 - if value < 0 { (!value).leading_zeros() } else { value.leading_zeros() };
    bits(range.low).max(bits(range.high))
}

impl Nodes {
    pub(super) fn into_text(self) -> String {
        self.text
    }

    pub(super) fn comment(&mut self, text: &str) {
        let _ = writeln!(self.text, "; {text}");
    }

    /// One line; returns its number.
    pub(super) fn line(&mut self, rest: &str) -> Id {
        self.last += 1;
        let _ = writeln!(self.text, "{} {rest}", self.last);
        self.last
    }

    pub(super) fn bits(&mut self, width: u32) -> Id {
        self.sort(Sort::Bits(width))
    }

    pub(super) fn array(&mut self, index: u32, element: u32) -> Id {
        self.sort(Sort::Array(index, element))
    }

    fn sort(&mut self, sort: Sort) -> Id {
        if let Some(id) = self.sorts.get(&sort) {
            return *id;
        }
        let id = match sort {
            Sort::Bits(width) => self.line(&format!("sort bitvec {width}")),
            Sort::Array(index, element) => {
                let (index, element) = (self.bits(index), self.bits(element));
                self.line(&format!("sort array {index} {element}"))
            }
        };
        self.sorts.insert(sort, id);
        id
    }

    /// A constant of this width.
    pub(super) fn constant(&mut self, value: Value, width: u32) -> Node {
        let node = |id| Node { id, width, is_truth: false };
        if let Some(id) = self.constants.get(&(width, value)) {
            return node(*id);
        }
        let sort = self.bits(width);
        let id = if value >= 0 {
            self.line(&format!("constd {sort} {value}"))
        } else {
            let bits: String =
                (0..width).rev().map(|bit| if value >> bit.min(63) & 1 == 1 { '1' } else { '0' }).collect();
            self.line(&format!("const {sort} {bits}"))
        };
        self.constants.insert((width, value), id);
        node(id)
    }

    /// A constant of the least width.
    pub(super) fn number(&mut self, value: Value) -> Node {
        self.constant(value, width_of(Range::single(value)))
    }

    pub(super) fn truth_constant(&mut self, holds: bool) -> Node {
        let node = self.constant(Value::from(holds), 1);
        Node { is_truth: true, ..node }
    }

    /// An operator on nodes of one width, with a result of the same width.
    pub(super) fn op(&mut self, name: &str, width: u32, operands: &[Node]) -> Node {
        let sort = self.bits(width);
        let operands: Vec<String> = operands.iter().map(|node| node.id.to_string()).collect();
        let id = self.line(&format!("{name} {sort} {}", operands.join(" ")));
        Node { id, width, is_truth: false }
    }

    /// An operator whose result is a truth value.
    pub(super) fn test(&mut self, name: &str, operands: &[Node]) -> Node {
        Node { is_truth: true, ..self.op(name, 1, operands) }
    }

    /// The same value in this many bits. Its value must fit.
    pub(super) fn sized(&mut self, node: Node, width: u32) -> Node {
        let node = self.value(node);
        let sort = self.bits(width);
        let id = match width.cmp(&node.width) {
            std::cmp::Ordering::Equal => return node,
            std::cmp::Ordering::Greater => self.line(&format!("sext {sort} {} {}", node.id, width - node.width)),
            std::cmp::Ordering::Less => self.line(&format!("slice {sort} {} {} 0", node.id, width - 1)),
        };
        Node { id, width, is_truth: false }
    }

    /// The low bits, as a value without a sign.
    pub(super) fn low_bits(&mut self, node: Node, bits: u32) -> Node {
        let node = self.value(node);
        if node.width <= bits {
            // With a sign bit in front it is negative or not; the low bits are those of the extended value.
            let wide = self.sized(node, bits + 1);
            return self.low_bits(wide, bits);
        }
        let sort = self.bits(bits);
        let id = self.line(&format!("slice {sort} {} {} 0", node.id, bits - 1));
        let sort = self.bits(bits + 1);
        let id = self.line(&format!("uext {sort} {id} 1"));
        Node { id, width: bits + 1, is_truth: false }
    }

    /// A truth value as 0 or 1.
    pub(super) fn value(&mut self, node: Node) -> Node {
        if !node.is_truth {
            return node;
        }
        let sort = self.bits(2);
        let id = self.line(&format!("uext {sort} {} 1", node.id));
        Node { id, width: 2, is_truth: false }
    }

    /// Whether a value is not 0.
    pub(super) fn truth(&mut self, node: Node) -> Node {
        if node.is_truth { node } else { self.test("redor", &[node]) }
    }

    pub(super) fn and(&mut self, nodes: &[Node]) -> Option<Node> {
        self.joined("and", nodes)
    }

    pub(super) fn or(&mut self, nodes: &[Node]) -> Option<Node> {
        self.joined("or", nodes)
    }

    fn joined(&mut self, name: &str, nodes: &[Node]) -> Option<Node> {
        let (&first, rest) = nodes.split_first()?;
        Some(rest.iter().fold(first, |joined, &node| self.test(name, &[joined, node])))
    }

    pub(super) fn not(&mut self, node: Node) -> Node {
        self.test("not", &[node])
    }

    /// One or the other value, of the same width.
    pub(super) fn choice(&mut self, condition: Node, then: Node, otherwise: Node) -> Node {
        let is_truth = then.is_truth;
        Node { is_truth, ..self.op("ite", then.width, &[condition, then, otherwise]) }
    }

    /// Whether a value has this constant value.
    pub(super) fn equals(&mut self, node: Node, value: Value) -> Node {
        let constant = self.constant(value, node.width);
        self.test("eq", &[node, constant])
    }
}
