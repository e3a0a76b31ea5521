//! Expressions whose value is known before the program runs.

use std::collections::HashMap;

use weir_ir::flow::strongly_connected_components;
use weir_ir::{BinaryOp, Diagnostic, RegId, Span, Value};

use super::super::ast::{Expr, ExprKind, File, Name, RangeExpr, Replication, ThreadDecl};
use super::super::sink::Sink;
use super::Options;
use super::elements::element_address;
use super::name_errors::{listed, report_unknown};
use super::names::{Global, Globals, Used};

/// Evaluates constant expressions.
pub(super) struct Constants<'c, 'a> {
    pub(super) globals: &'c Globals<'a>,
    /// The number of a replicated thread, under its name.
    pub(super) parameter: Option<(&'a str, Value)>,
    /// Registers that can be named here: only to say that they are not constant.
    pub(super) registers: Option<&'c HashMap<&'a str, (RegId, Span)>>,
    pub(super) sink: &'c mut Sink,
    pub(super) used: &'c mut Used,
}

impl Constants<'_, '_> {
    /// The value; `None` if it is in error, which is then reported.
    pub(super) fn value(&mut self, expression: &Expr) -> Option<Value> {
        match &expression.kind {
            ExprKind::Number(value) => Some(*value),
            ExprKind::Malformed => None,
            ExprKind::Name(name) => self.name(*name),
            ExprKind::AddressOf(name, index) => self.address(*name, index.as_deref(), expression.span),
            ExprKind::Unary(op, operand) => Some(op.apply(self.value(operand)?)),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                warn_of_zero(*op, right?, expression.span, self.sink);
                Some(op.apply(left?, right?))
            }
            _ => {
                self.not_constant(expression.span, "this is only known at run time");
                None
            }
        }
    }

    /// The two ends of a range that holds at least one value.
    pub(super) fn range(&mut self, range: &RangeExpr) -> Option<weir_ir::Range> {
        let (low, high) = (self.value(&range.low), self.value(&range.high));
        let (low, high) = (low?, high?);
        if low > high {
            let error = Diagnostic::error("empty-range", format!("the range {low}..{high} is empty"), range.span);
            self.sink.error(error.help("a range is written `low..high`, and both ends are included"));
            return None;
        }
        Some(weir_ir::Range { low, high })
    }

    fn name(&mut self, name: Name) -> Option<Value> {
        if let Some((_, value)) = self.parameter.filter(|&(parameter, _)| parameter == name.text) {
            return Some(value);
        }
        if self.registers.is_some_and(|registers| registers.contains_key(name.text)) {
            self.not_constant(name.span, &format!("`{}` is a register", name.text));
            return None;
        }
        match self.globals.get(name.text) {
            Some(Global::Constant(at)) => {
                mark(&mut self.used.constants, at);
                self.globals.constants.get(at).and_then(|&(_, value)| value)
            }
            Some(other) => {
                let why = format!("`{}` is {}", name.text, other.describe());
                self.not_constant(name.span, &why);
                None
            }
            None => {
                let globals = self.globals;
                let known = || globals.names(|global| matches!(global, Global::Constant(_)));
                let declare = format!("declare it: `const {} = 1;`", name.text);
                report_unknown(self.sink, "constant", name, known, &declare);
                None
            }
        }
    }

    fn address(&mut self, name: Name, index: Option<&Expr>, span: Span) -> Option<Value> {
        let Some(Global::Shared(at)) = self.globals.get(name.text) else {
            let globals = self.globals;
            let known = || globals.names(|global| matches!(global, Global::Shared(_)));
            let declare = format!("declare it: `shared {};`", name.text);
            report_unknown(self.sink, "shared cell", name, known, &declare);
            return None;
        };
        mark(&mut self.used.shared, at);
        let Some(shared) = self.globals.shared.get(at) else {
            self.not_constant(span, "addresses are assigned only after constants and sizes are known");
            return None;
        };
        let Some(index) = index else { return Some(shared.address) };
        let value = self.value(index)?;
        element_address(shared, name, value, index.span, self.sink)
    }

    fn not_constant(&mut self, span: Span, why: &str) {
        let error = Diagnostic::error("not-constant", "expected a constant", span).label(why);
        self.sink.error(error.help("constants consist of numbers, `const` names and operators"));
    }
}

/// Warns that a division which is computed at once gives 0.
pub(super) fn warn_of_zero(op: BinaryOp, divisor: Value, span: Span, sink: &mut Sink) {
    if divisor == 0 && matches!(op, BinaryOp::Divide | BinaryOp::Remainder) {
        sink.warning(Diagnostic::warning("division-by-zero", "division by zero; the result is 0", span));
    }
}

/// Sets a flag of a list that may be shorter when names are in error.
pub(super) fn mark(flags: &mut [bool], at: usize) {
    if let Some(flag) = flags.get_mut(at) {
        *flag = true;
    }
}

/// Gives every `const` its value: what the options say, else what is written. Constants may use each
/// other in any order, but not in a circle.
pub(super) fn evaluate<'a>(
    file: &'a File<'a>,
    options: &Options,
    globals: &mut Globals<'a>,
    used: &mut Used,
    sink: &mut Sink,
) {
    globals.constants = file.constants.iter().map(|constant| (constant.name, None)).collect();
    used.constants = vec![false; file.constants.len()];
    refuse_unknown_definitions(file, options, sink);
    globals.given_copies = file.threads.iter().map(|thread| given_copies(thread, options)).collect();
    for at in order(file, globals, sink) {
        let constant = &file.constants[at];
        let written = Constants { globals, parameter: None, registers: None, sink, used }.value(&constant.value);
        let given = options.defines.iter().rev().find(|(name, _)| name == constant.name.text);
        globals.constants[at].1 = given.map(|&(_, value)| value).or(written);
    }
}

/// The name under which the options give the number of copies of a thread of which there are arbitrarily many.
pub(super) fn number_of_copies(thread: &ThreadDecl) -> Option<String> {
    matches!(thread.replication, Some(Replication::Arbitrary(_))).then(|| format!("{}[*]", thread.name.text))
}

/// The number of copies that the options give of such a thread.
fn given_copies(thread: &ThreadDecl, options: &Options) -> Option<(String, Value)> {
    let wanted = number_of_copies(thread)?;
    options.defines.iter().rev().find(|(name, _)| *name == wanted).cloned()
}

fn refuse_unknown_definitions(file: &File, options: &Options, sink: &mut Sink) {
    let constants = file.constants.iter().map(|constant| constant.name.text.to_owned());
    let known: Vec<String> = constants.chain(file.threads.iter().filter_map(number_of_copies)).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    // All of these have no place in the source, so they go into one message.
    let unknown: Vec<&str> =
        options.defines.iter().map(|(name, _)| name.as_str()).filter(|name| !known.contains(name)).collect();
    if unknown.is_empty() {
        return;
    }
    let message = format!("the program has no constant {} to define", listed(&unknown));
    let error = Diagnostic::error("unknown-define", message, Span::default());
    sink.error(error.help(if known.is_empty() {
        "the program declares no constants; declare one as in `const N = 4;`".to_string()
    } else {
        format!("the constants are: {}", listed(&known))
    }));
}

/// The constants, each after those it uses. Those on a circle are reported and left out.
fn order<'a>(file: &'a File<'a>, globals: &Globals<'a>, sink: &mut Sink) -> Vec<usize> {
    let uses: Vec<Vec<usize>> = file.constants.iter().map(|constant| constants_in(&constant.value, globals)).collect();
    let mut order = Vec::new();
    for group in strongly_connected_components(&uses) {
        let first = group[0];
        if group.len() == 1 && !uses[first].contains(&first) {
            order.push(first);
            continue;
        }
        let name = file.constants[first].name;
        let message = format!("the constant `{}` is defined in terms of itself", name.text);
        let mut error = Diagnostic::error("constant-cycle", message, name.span);
        for &other in group.iter().skip(1).take(3) {
            error = error.also(file.constants[other].name.span, "through this one");
        }
        sink.error(error.help("give one of them a number"));
    }
    order
}

/// The constants that an expression names.
fn constants_in(expression: &Expr, globals: &Globals) -> Vec<usize> {
    let (mut open, mut found) = (vec![expression], Vec::new());
    while let Some(next) = open.pop() {
        match &next.kind {
            ExprKind::Name(name) => {
                if let Some(Global::Constant(at)) = globals.get(name.text) {
                    found.push(at);
                }
            }
            ExprKind::Unary(_, operand) => open.push(operand),
            ExprKind::Binary(_, left, right) => open.extend([&**left, &**right]),
            _ => {}
        }
    }
    found
}
