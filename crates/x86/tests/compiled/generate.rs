//! Random functions in C: arithmetic of all sizes, branches, loops, calls, pointers to locals, atomics.

use weir_testkit::Rng;

/// Global variables that functions read, with their sizes in bytes.
pub(crate) const INPUTS: [(&str, u32); 6] =
    [("i8a", 1), ("i16a", 2), ("i32a", 4), ("i32b", 4), ("i64a", 8), ("i64b", 8)];

/// Global variables that functions write.
pub(crate) const OUTPUTS: [(&str, u32); 5] = [("o8", 1), ("o16", 2), ("o32", 4), ("o64", 8), ("at", 4)];

pub(crate) fn type_of(size: u32) -> &'static str {
    match size {
        1 => "unsigned char",
        2 => "unsigned short",
        4 => "unsigned int",
        _ => "unsigned long",
    }
}

/// Declarations of the global variables.
pub(crate) fn header() -> String {
    let variables = INPUTS.iter().chain(&OUTPUTS);
    variables.map(|(name, size)| format!("extern {} {name};\n", type_of(*size))).collect()
}

/// Functions `f0`, `f1`, …, with the variables they use.
pub(crate) fn functions(rng: &mut Rng, count: usize) -> String {
    let mut code = String::from("#include <stdatomic.h>\n#include <stdint.h>\n#include \"shared.h\"\n");
    code += "#ifndef EXTERNAL_INPUTS\n";
    INPUTS.iter().for_each(|(name, size)| code += &format!("{} {name};\n", type_of(*size)));
    code += "#endif\n";
    OUTPUTS.iter().for_each(|(name, size)| code += &format!("{} {name};\n", type_of(*size)));
    code += "struct pair { unsigned int a; unsigned short b; unsigned char c; long d; };\n";
    for number in 0..count {
        code += &format!("// function {number}\n{}", function(rng, number));
    }
    code + "// function end\n"
}

/// The text of one function.
pub(crate) fn source_of(code: &str, number: usize) -> &str {
    let start = code.find(&format!("// function {number}\n")).unwrap_or(0);
    let rest = &code[start..];
    let end = rest[3..].find("// function").map_or(rest.len(), |end| end + 3);
    &rest[..end]
}

const TYPES: [&str; 8] =
    ["unsigned char", "signed char", "unsigned short", "short", "unsigned int", "int", "unsigned long", "long"];

struct Scope {
    names: Vec<String>,
    helper: String,
    loops: u32,
}

fn function(rng: &mut Rng, number: usize) -> String {
    let helper = format!("h{number}");
    let mut scope = Scope { names: vec!["a".into(), "b".into()], helper: String::new(), loops: 0 };
    let mut text = format!(
        "static __attribute__((noinline)) {} {helper}({} a, {} b, struct pair *p) {{\n",
        rng.pick(&TYPES),
        rng.pick(&TYPES),
        rng.pick(&TYPES)
    );
    text += &block(rng, &mut scope, 2, 2);
    text += &format!("p->{} = {};\n", rng.pick(&["a", "b", "c", "d"]), expression(rng, &scope, 2));
    text += &format!("return {};\n}}\n", expression(rng, &scope, 3));
    let mut scope = Scope { names: INPUTS.iter().map(|(name, _)| (*name).to_owned()).collect(), helper, loops: 0 };
    text += &format!("void f{number}(void) {{\nstruct pair s = {{ 1, 2, 3, 4 }};\n");
    for at in 0..rng.between(2, 4) {
        text += &format!("{} v{at} = {};\n", rng.pick(&TYPES), expression(rng, &scope, 2));
        scope.names.push(format!("v{at}"));
    }
    text += &block(rng, &mut scope, 5, 2);
    for (name, _) in &OUTPUTS[..4] {
        text += &format!("{name} = {};\n", expression(rng, &scope, 3));
    }
    text += "o64 += s.a + s.b * 3 + s.c * 5 + s.d * 7;\n}\n";
    text
}

fn block(rng: &mut Rng, scope: &mut Scope, length: usize, depth: u32) -> String {
    (0..rng.between(1, length)).map(|_| statement(rng, scope, depth)).collect()
}

fn statement(rng: &mut Rng, scope: &mut Scope, depth: u32) -> String {
    let locals: Vec<String> = scope.names.iter().filter(|name| !name.starts_with('i')).cloned().collect();
    let target = rng.pick(&locals).clone();
    match rng.below(if depth > 0 { 9 } else { 4 }) {
        0 | 1 => format!("{target} = {};\n", expression(rng, scope, 3)),
        2 => format!("{target} {}= {};\n", rng.pick(&["+", "-", "*", "&", "|", "^"]), expression(rng, scope, 2)),
        3 if scope.helper.is_empty() => format!("{target}++;\n"),
        3 => {
            let (first, second) = (expression(rng, scope, 2), expression(rng, scope, 2));
            format!("{target} = {}({first}, {second}, &s);\n", scope.helper)
        }
        4 | 5 => {
            let condition = condition(rng, scope);
            let then = block(rng, scope, 2, depth - 1);
            let otherwise = block(rng, scope, 2, depth - 1);
            format!("if ({condition}) {{\n{then}}} else {{\n{otherwise}}}\n")
        }
        6 => {
            scope.loops += 1;
            let counter = format!("n{}", scope.loops);
            let bound = format!("({} & 7)", expression(rng, scope, 1));
            let inner = block(rng, scope, 2, depth - 1);
            let escape =
                if rng.chance(30) { format!("if ({}) break;\n", condition(rng, scope)) } else { String::new() };
            format!("{{ int {counter} = 0, m = {bound}; while ({counter} < m) {{\n{inner}{escape}{counter}++;\n}} }}\n")
        }
        7 => atomic(rng, scope, &target),
        _ => {
            let cases: String = (0..rng.between(2, 9))
                .map(|at| {
                    format!("case {at}: {target} += {};\n{}", expression(rng, scope, 1), rng.pick(&["break;\n", ""]))
                })
                .collect();
            format!(
                "switch ({} & {}) {{\n{cases}default: {target} ^= 1;\n}}\n",
                expression(rng, scope, 2),
                rng.pick(&[7, 15])
            )
        }
    }
}

fn atomic(rng: &mut Rng, scope: &Scope, target: &str) -> String {
    let value = expression(rng, scope, 1);
    let order = "__ATOMIC_SEQ_CST";
    let name = *rng.pick(&["add", "sub", "and", "or", "xor"]);
    match rng.below(5) {
        0 => format!("{target} = __atomic_fetch_{name}(&at, {value}, {order});\n"),
        1 => format!("__atomic_fetch_{name}(&at, {value}, {order});\n"),
        2 => format!("{target} = __atomic_exchange_n(&at, {value}, {order});\n"),
        3 => format!("__atomic_store_n(&at, {value}, {order});\n"),
        _ => format!(
            "{{ unsigned int e = {}; {target} = __atomic_compare_exchange_n(&at, &e, {value}, 0, {order}, {order}) + e; }}\n",
            rng.pick(&["at", "0", "at + 1"])
        ),
    }
}

fn condition(rng: &mut Rng, scope: &Scope) -> String {
    let operator = *rng.pick(&["<", "<=", ">", ">=", "==", "!="]);
    let simple = format!("{} {operator} {}", expression(rng, scope, 2), expression(rng, scope, 2));
    match rng.below(4) {
        0 => format!("({simple}) && {}", expression(rng, scope, 1)),
        1 => format!("({simple}) || !{}", expression(rng, scope, 1)),
        _ => simple,
    }
}

fn expression(rng: &mut Rng, scope: &Scope, depth: u32) -> String {
    if depth == 0 || rng.chance(15) {
        return match rng.below(3) {
            0 => format!("{}", rng.below(300) as i64 - 100),
            1 => format!("0x{:x}UL", rng.bits() >> rng.below(64)),
            _ => rng.pick(&scope.names).clone(),
        };
    }
    let (left, right) = (expression(rng, scope, depth - 1), expression(rng, scope, depth - 1));
    match rng.below(12) {
        0..=5 => format!("({left} {} {right})", rng.pick(&["+", "-", "*", "&", "|", "^"])),
        6 => format!("((unsigned {}){left} {} (({right}) & 15))", rng.pick(&["int", "long"]), rng.pick(&["<<", ">>"])),
        7 => format!("(({}){left} >> (({right}) & {}))", rng.pick(&["long", "int"]), rng.pick(&["31", "7"])),
        8 => format!(
            "(({0}){left} {2} (({0})({right}) | {1}))",
            rng.pick(&["unsigned int", "unsigned long"]),
            1,
            rng.pick(&["/", "%"])
        ),
        9 => format!("((int)(short){left} {} ((int)(unsigned char)({right}) + 1))", rng.pick(&["/", "%"])),
        10 => format!("(({}) ? {left} : {right})", condition_of(rng, scope)),
        _ => format!("({})({left}{})", rng.pick(&TYPES), rng.pick(&["", " + 1", " * 3", " ^ -1"])),
    }
}

fn condition_of(rng: &mut Rng, scope: &Scope) -> String {
    let operator = *rng.pick(&["<", "<=", ">", ">=", "==", "!="]);
    format!("{} {operator} {}", rng.pick(&scope.names), rng.below(200) as i64 - 50)
}
