//! Finds the mutants of a file: every place where one of the operators below applies.
//!
//! The operators imitate slips of a programmer: a comparison off by one, a condition forgotten, a case dropped from a
//! `match`, a statement or an early return left out, `min` for `max`, a result that is always the same. What is inside
//! macros is left alone, except `matches!`; so are constants, patterns, types and tests.

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, Pat, ReturnType, Signature, Stmt, Token, Type};

use crate::mutant::{Mutant, one_line};

/// All mutants of a file.
///
/// # Errors
/// If it is no Rust.
pub(crate) fn mutants(file: &str, text: &str) -> syn::Result<Vec<Mutant>> {
    let tree = syn::parse_file(text)?;
    let mut finder = Finder { file, text, around: Vec::new(), found: Vec::new(), known: BTreeMap::new() };
    finder.visit_file(&tree);
    Ok(finder.found)
}

struct Finder<'a> {
    file: &'a str,
    text: &'a str,
    /// The names of the modules, types and functions around.
    around: Vec<String>,
    found: Vec<Mutant>,
    /// How often each change was seen in each function.
    known: BTreeMap<(String, String), usize>,
}

/// Operators and what each is mistaken for.
const OPERATORS: [(&str, &str); 30] = [
    ("<", "<="),
    ("<=", "<"),
    (">", ">="),
    (">=", ">"),
    ("==", "!="),
    ("!=", "=="),
    ("&&", "||"),
    ("||", "&&"),
    ("+", "-"),
    ("-", "+"),
    ("*", "+"),
    ("/", "*"),
    ("%", "/"),
    ("<<", ">>"),
    (">>", "<<"),
    ("&", "|"),
    ("|", "&"),
    ("^", "|"),
    ("+=", "-="),
    ("-=", "+="),
    ("*=", "+="),
    ("/=", "*="),
    ("%=", "/="),
    ("&=", "|="),
    ("|=", "&="),
    ("^=", "|="),
    ("<<=", ">>="),
    (">>=", "<<="),
    ("==", "<="),
    ("!=", "<"),
];

/// Methods and what each is mistaken for.
const METHODS: [(&str, &str); 26] = [
    ("min", "max"),
    ("max", "min"),
    ("any", "all"),
    ("all", "any"),
    ("is_some", "is_none"),
    ("is_none", "is_some"),
    ("is_some_and", "is_none_or"),
    ("is_none_or", "is_some_and"),
    ("first", "last"),
    ("last", "first"),
    ("front", "back"),
    ("back", "front"),
    ("push_front", "push_back"),
    ("push_back", "push_front"),
    ("pop_front", "pop_back"),
    ("pop_back", "pop_front"),
    ("position", "rposition"),
    ("find", "rfind"),
    ("min_by_key", "max_by_key"),
    ("max_by_key", "min_by_key"),
    ("wrapping_add", "wrapping_sub"),
    ("wrapping_sub", "wrapping_add"),
    ("checked_add", "checked_sub"),
    ("saturating_sub", "saturating_add"),
    ("starts_with", "ends_with"),
    ("to_le_bytes", "to_be_bytes"),
];

/// Methods whose closure is a condition.
const CONDITIONAL: [&str; 10] =
    ["filter", "retain", "any", "all", "find", "position", "take_while", "skip_while", "is_some_and", "is_none_or"];

fn bytes(span: Span) -> Range<usize> {
    span.byte_range()
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let of_cfg = |list: &syn::MetaList| {
            list.tokens.to_string().split(|c: char| !c.is_alphanumeric()).any(|word| word == "test")
        };
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg") && attribute.meta.require_list().is_ok_and(of_cfg)
    })
}

/// Whether a condition binds names with `let`.
fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn is_assignment(operator: &syn::BinOp) -> bool {
    use syn::BinOp::*;
    let is_arithmetic = matches!(operator, AddAssign(_) | SubAssign(_) | MulAssign(_) | DivAssign(_) | RemAssign(_));
    is_arithmetic
        || matches!(operator, BitXorAssign(_) | BitAndAssign(_) | BitOrAssign(_) | ShlAssign(_) | ShrAssign(_))
}

impl Finder<'_> {
    fn source(&self, range: &Range<usize>) -> &str {
        &self.text[range.clone()]
    }

    fn add(&mut self, range: Range<usize>, change: String, template: String) {
        let function = self.around.join("::");
        let repeat = self.known.entry((function.clone(), change.clone())).or_default();
        let line = self.text[..range.start].matches('\n').count() + 1;
        let file = self.file.to_owned();
        self.found.push(Mutant { file, line, function, change, repeat: *repeat, range, template });
        *repeat += 1;
    }

    /// One expression instead of another.
    fn replace(&mut self, range: Range<usize>, with: &str) {
        let old = self.source(&range).to_owned();
        let change = format!("{} → {}", one_line(&old), one_line(with));
        self.add(range, change, format!("(if @ {{ {with} }} else {{ {old} }})"));
    }

    /// A condition that always or never holds.
    fn constant(&mut self, condition: &Expr, values: &[bool]) {
        if !has_let(condition) && !matches!(condition, Expr::Lit(_)) {
            let range = bytes(condition.span());
            values.iter().for_each(|value| self.replace(range.clone(), &value.to_string()));
        }
    }

    fn omit(&mut self, statement: &Stmt) {
        let range = bytes(statement.span());
        let old = self.source(&range).to_owned();
        self.add(range, format!("without {}", one_line(&old)), format!("if !@ {{ {old} }}"));
    }

    fn function(&mut self, signature: &Signature, block: &Block) {
        if signature.constness.is_some() {
            return;
        }
        self.around.push(signature.ident.to_string());
        for result in simple_results(&signature.output) {
            let at = bytes(block.brace_token.span.open()).end;
            let keyword = if result.is_empty() { "return".to_owned() } else { format!("return {result}") };
            self.add(at..at, format!("{keyword} at once"), format!(" if @ {{ {keyword}; }} "));
        }
        self.visit_block(block);
        self.around.pop();
    }

    fn within(&mut self, name: String, visit: impl FnOnce(&mut Self)) {
        self.around.push(name);
        visit(self);
        self.around.pop();
    }

    /// Lets the last case of a `match`, which takes everything, have what the arm would have taken.
    fn drop_arm(&mut self, arm: &syn::Arm) {
        let pattern = bytes(arm.pat.span());
        let change = format!("without the case {}", one_line(self.source(&pattern)));
        match &arm.guard {
            None => self.add(pattern.end..pattern.end, change, " if !@ ".to_owned()),
            Some((_, guard)) if !has_let(guard) => {
                let range = bytes(guard.span());
                let template = format!("(!@ && ({}))", self.source(&range));
                self.add(range, change, template);
            }
            Some(_) => {}
        }
    }
}

/// Results that a function of this type might always give.
fn simple_results(output: &ReturnType) -> Vec<&'static str> {
    let ReturnType::Type(_, output) = output else { return vec![""] };
    let Type::Path(path) = &**output else { return Vec::new() };
    let Some(last) = path.path.segments.last() else { return Vec::new() };
    match last.ident.to_string().as_str() {
        "bool" => vec!["true", "false"],
        "Option" => vec!["None"],
        "Vec" => vec!["Vec::new()"],
        "String" => vec!["String::new()"],
        "usize" | "u128" | "u64" | "u32" | "u8" | "i64" | "i128" | "Value" => vec!["0", "1"],
        _ => Vec::new(),
    }
}

/// The inside of `matches!(…)`.
struct Matches {
    value: Expr,
    pattern: Pat,
    guard: Option<Expr>,
}

impl Parse for Matches {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let value = input.parse()?;
        input.parse::<Token![,]>()?;
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        let guard = if input.parse::<Option<Token![if]>>()?.is_some() { Some(input.parse()?) } else { None };
        input.parse::<Option<Token![,]>>()?;
        Ok(Self { value, pattern, guard })
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_path_arguments(&mut self, _: &'ast syn::PathArguments) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            self.within(module.ident.to_string(), |finder| visit::visit_item_mod(finder, module));
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if is_test(&item.attrs) {
            return;
        }
        let name = match &*item.self_ty {
            Type::Path(path) => path.path.segments.last().map_or(String::new(), |last| last.ident.to_string()),
            _ => String::new(),
        };
        self.within(name, |finder| visit::visit_item_impl(finder, item));
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(expression, Some(_)) = statement {
            let has_effect = |expression: &Expr| match expression {
                Expr::Try(inner) => matches!(*inner.expr, Expr::Call(_) | Expr::MethodCall(_)),
                Expr::Binary(binary) => is_assignment(&binary.op),
                Expr::Call(_) | Expr::MethodCall(_) | Expr::Assign(_) => true,
                Expr::Break(_) | Expr::Continue(_) | Expr::Return(_) => true,
                _ => false,
            };
            if has_effect(expression) {
                self.omit(statement);
            }
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let operator = self.source(&bytes(binary.op.span())).to_owned();
        if !has_let(&binary.left) && !has_let(&binary.right) {
            let range = bytes(binary.span());
            let (left, right) = (bytes(binary.left.span()), bytes(binary.right.span()));
            for (_, other) in OPERATORS.into_iter().filter(|(known, _)| *known == operator) {
                let with = format!("{} {other} {}", self.source(&left), self.source(&right));
                if is_assignment(&binary.op) {
                    let old = self.source(&range).to_owned();
                    let change = format!("{} → {}", one_line(&old), one_line(&with));
                    self.add(range.clone(), change, format!("if @ {{ {with} }} else {{ {old} }}"));
                } else {
                    self.replace(range.clone(), &with);
                }
            }
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        if matches!(unary.op, syn::UnOp::Not(_) | syn::UnOp::Neg(_)) {
            let inner = self.source(&bytes(unary.expr.span())).to_owned();
            self.replace(bytes(unary.span()), &inner);
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_lit(&mut self, literal: &'ast syn::ExprLit) {
        let range = bytes(literal.span());
        match &literal.lit {
            syn::Lit::Bool(value) => self.replace(range, &(!value.value).to_string()),
            syn::Lit::Int(value) => {
                if let Ok(number) = value.base10_parse::<u64>() {
                    let others = if number == 1 { vec![0, 2] } else { vec![number.wrapping_add(1)] };
                    for other in others {
                        self.replace(range.clone(), &format!("{other}{}", value.suffix()));
                    }
                }
            }
            _ => {}
        }
    }

    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.constant(&branch.cond, &[true, false]);
        visit::visit_expr_if(self, branch);
    }

    fn visit_expr_while(&mut self, repeated: &'ast syn::ExprWhile) {
        self.constant(&repeated.cond, &[false]);
        visit::visit_expr_while(self, repeated);
    }

    fn visit_expr_match(&mut self, choice: &'ast syn::ExprMatch) {
        let takes_all = |arm: &syn::Arm| arm.guard.is_none() && matches!(arm.pat, Pat::Wild(_) | Pat::Ident(_));
        if let Some((last, others)) = choice.arms.split_last()
            && takes_all(last)
        {
            others.iter().for_each(|arm| self.drop_arm(arm));
        }
        for (_, guard) in choice.arms.iter().filter_map(|arm| arm.guard.as_ref()) {
            self.constant(guard, &[true]);
        }
        visit::visit_expr_match(self, choice);
    }

    fn visit_expr_range(&mut self, range: &'ast syn::ExprRange) {
        if let Some(end) = &range.end {
            let with = match range.limits {
                syn::RangeLimits::HalfOpen(_) => "+ 1",
                syn::RangeLimits::Closed(_) => "- 1",
            };
            let at = bytes(end.span());
            let with = format!("({}) {with}", self.source(&at));
            self.replace(at, &with);
        }
        visit::visit_expr_range(self, range);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let name = call.method.to_string();
        if let Some((_, other)) = METHODS.into_iter().find(|(known, _)| *known == name) {
            let (range, ident) = (bytes(call.span()), bytes(call.method.span()));
            let with = format!("{}{other}{}", &self.text[range.start..ident.start], &self.text[ident.end..range.end]);
            let old = self.source(&range).to_owned();
            let change = format!("{name} → {other} in {}", one_line(&old));
            self.add(range, change, format!("(if @ {{ {with} }} else {{ {old} }})"));
        }
        if CONDITIONAL.contains(&name.as_str()) {
            for argument in &call.args {
                if let Expr::Closure(closure) = argument
                    && !matches!(*closure.body, Expr::Block(_))
                {
                    self.constant(&closure.body, &[true, false]);
                }
            }
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_macro(&mut self, call: &'ast syn::ExprMacro) {
        if !call.mac.path.is_ident("matches") {
            return;
        }
        let Ok(Matches { value, pattern, guard }) = call.mac.parse_body::<Matches>() else { return };
        let range = bytes(call.span());
        let value = self.source(&bytes(value.span())).to_owned();
        let end = guard.as_ref().map_or(String::new(), |guard| format!(" if {}", self.source(&bytes(guard.span()))));
        if let Pat::Or(or) = &pattern {
            for dropped in 0..or.cases.len() {
                let kept = or.cases.iter().enumerate().filter(|(case, _)| *case != dropped);
                let kept: Vec<String> = kept.map(|(_, case)| self.source(&bytes(case.span())).to_owned()).collect();
                self.replace(range.clone(), &format!("matches!({value}, {}{end})", kept.join(" | ")));
            }
        }
        if let Some(guard) = &guard {
            let pattern = self.source(&bytes(pattern.span())).to_owned();
            if !has_let(guard) {
                self.replace(range, &format!("matches!({value}, {pattern})"));
            }
        }
    }
}
