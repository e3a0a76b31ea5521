//! What is looked for in expressions is found wherever an expression can stand: calls, names, uses.

use weir_ir::Source;
use weir_syntax::weir::{Options, parse};

use crate::dump::{errors, warnings};

/// Where an expression can stand in a body that has registers `r` and `s`, cells `x` and `a[2]`, and a procedure `g`.
const STATEMENTS: [&str; 29] = [
    "let t = @;",
    "let t = 1, u = @;",
    "r = @;",
    "r += @;",
    "x = @;",
    "x -= @;",
    "a[@] = 1;",
    "mem[@] = 1;",
    "*(@) = 1;",
    "a[@] ^= 1;",
    "r, s = a[@], x;",
    "r, s = x, mem[@];",
    "g(@);",
    "cas(x, @, 1);",
    "cmpxchg(x, 1, @);",
    "xchg(a[@], 1);",
    "fetch_add(mem[@], 1);",
    "assume @;",
    "assert @;",
    "if @ { skip; }",
    "if r == 1 { skip; } else if @ { skip; }",
    "if r == 1 { skip; } else { r = @; }",
    "if r == 1 { r = @; }",
    "while @ { skip; }",
    "while r == 1 { r = @; }",
    "loop { r = @; if r == 1 { break; } }",
    "choose { r = @; } or { skip; }",
    "choose { skip; } or { r = @; }",
    "{ { r = @; } }",
];

/// What can be around an expression.
const EXPRESSIONS: [&str; 18] = [
    "@",
    "(@)",
    "-(@)",
    "!(@)",
    "~(@)",
    "(@) + 1",
    "1 - (@)",
    "(@) == r",
    "r < (@)",
    "(@) && r",
    "r || (@)",
    "a[@]",
    "mem[@]",
    "*(@)",
    "&a[@]",
    "g(@)",
    "cas(x, 0, @)",
    "xchg(a[@], 1)",
];

const AROUND: &str = "shared x, a[2]; proc g(v) { return v; } ";

/// Every statement with every expression around a part, in one thread: the text, and where the part is.
fn each(part: &str, mut check: impl FnMut(&str, usize)) {
    for statement in STATEMENTS {
        for expression in EXPRESSIONS {
            let text = statement.replace('@', expression).replace('@', part);
            check(&text, text.find(part).expect("it is in there"));
        }
    }
}

#[test]
fn calls_of_what_locks_are_found_in_atomic_blocks() {
    let before = format!("{AROUND}proc f() {{ lock; unlock; return 0; }} thread T {{ let r, s; atomic {{ ");
    let expected = |at: usize| {
        format!(
            "1:{} nested-lock: `f` uses the lock, which the enclosing `atomic` block already holds",
            before.len() + at + 1
        )
    };
    each("f()", |statement, at| {
        let text = format!("{before}{statement} }} }}");
        assert!(errors(&text).lines().any(|line| line == expected(at)), "{text}\n{}", errors(&text));
    });
}

#[test]
fn names_that_are_not_there_are_reported_where_they_stand() {
    let before = format!("{AROUND}thread T {{ let r, s; ");
    each("nobody", |statement, at| {
        let text = format!("{before}{statement} }}");
        let place = format!("1:{} ", before.len() + at + 1);
        let reported: Vec<String> = errors(&text).lines().map(str::to_owned).collect();
        // An element of an array whose index is in error may be reported as well.
        assert!(reported.iter().any(|line| line.starts_with(&place)), "{text}\n{reported:?}");
    });
}

/// Cells, constants and procedures that are used in one place only are used.
#[test]
fn one_use_is_enough_wherever_it_is() {
    for (declaration, use_of_it) in
        [("shared only;", "only"), ("const ONLY = 1;", "ONLY"), ("proc only() { return 1; }", "only()")]
    {
        let mut unused = 0;
        each(use_of_it, |statement, _| {
            let text =
                format!("{AROUND}{declaration} thread T {{ let r, s; {statement} }} thread U {{ x = g(a[1]); }}");
            // Constant indices may be beyond the array, constant conditions have branches that nobody takes.
            if parse(&Source::new("test.weir", &*text), &Options::default()).is_ok() {
                let said = warnings(&text);
                assert!(!said.contains("unused-c") && !said.contains("unused-p"), "{text}\n{said}");
                unused += 1;
            }
        });
        assert!(unused > 400, "{unused} of {declaration}");
        let text = format!("{AROUND}{declaration} thread T {{ x = g(a[1]); }}");
        assert!(warnings(&text).contains("unused-"), "{text}");
    }
}

#[test]
fn a_register_in_its_own_initializer_is_reported_where_it_stands() {
    for expression in EXPRESSIONS {
        let before = format!("{AROUND}thread T {{ let r; let t = ");
        let initializer = expression.replace('@', "t");
        let at = before.len() + expression.find('@').expect("a hole") + 1;
        let text = format!("{before}{initializer}; }}");
        let expected = format!("1:{at} unknown-name: `t` is used in its own initializer before it is declared");
        assert_eq!(errors(&text), expected, "{text}");
    }
}

#[test]
fn constants_that_are_defined_by_themselves_are_found_through_every_operator() {
    for expression in EXPRESSIONS.into_iter().filter(|text| !text.contains(['[', '*', 'x', 'g', 'r'])) {
        for other in ["B", "-B", "B + 1", "1 * B", "!(2 - (~B))"] {
            let text =
                format!("const A = {}; const B = {}; thread T {{ let r = A; }}", other, expression.replace('@', "A"));
            let expected = "1:7 constant-cycle: the constant `A` is defined in terms of itself";
            assert_eq!(errors(&text), expected, "{text}");
        }
    }
}

/// The values of constants, by every operator, are those of Rust.
#[test]
fn constants_are_computed_as_registers_would_be() {
    type Op = (&'static str, fn(i64, i64) -> i64);
    let operators: [Op; 18] = [
        ("+", i64::wrapping_add),
        ("-", i64::wrapping_sub),
        ("*", i64::wrapping_mul),
        ("/", |left, right| if right == 0 { 0 } else { left.wrapping_div(right) }),
        ("%", |left, right| if right == 0 { 0 } else { left.wrapping_rem(right) }),
        ("&", |left, right| left & right),
        ("|", |left, right| left | right),
        ("^", |left, right| left ^ right),
        ("<<", |left, right| left.wrapping_shl(right as u32)),
        (">>", |left, right| left.wrapping_shr(right as u32)),
        ("==", |left, right| (left == right).into()),
        ("!=", |left, right| (left != right).into()),
        ("<", |left, right| (left < right).into()),
        ("<=", |left, right| (left <= right).into()),
        (">", |left, right| (left > right).into()),
        (">=", |left, right| (left >= right).into()),
        ("&&", |left, right| (left != 0 && right != 0).into()),
        ("||", |left, right| (left != 0 || right != 0).into()),
    ];
    let values = [0, 1, 2, 3, 7, -1, -2, i64::MAX, i64::MIN];
    for (symbol, apply) in operators {
        for left in values {
            for right in values {
                let text = format!("const A = ({left}) {symbol} ({right}); thread T {{ let r = A; }}");
                let program = crate::dump::program(&text);
                assert_eq!(program.constants, [("A".to_owned(), apply(left, right))], "{text}");
            }
        }
    }
}
