//! Formatting keeps programs and comments, and has nothing to add to its own work.

use crate::dump::{messages, whole};
use crate::examples::examples;
use weir_ir::Source;
use weir_syntax::weir::{Options, format, parse};

fn formatted(text: &str) -> String {
    format(&Source::new("test.weir", text)).unwrap_or_else(|errors| panic!("{text}\n{}", messages(text, &errors)))
}

fn check(text: &str, expected: &str) {
    assert_eq!(formatted(text), expected);
    assert_eq!(formatted(expected), expected, "formatting again changes it");
}

#[test]
fn one_statement_a_line_four_spaces_a_block() {
    check(
        "shared x,y[2]:0..7={1,2},z@100;const N=- 5;thread W(i)[N+7]weight 2{x=1;loop{y[i]=- x+~3*z;break;}}",
        "shared x, y[2]: 0..7 = {1, 2}, z @ 100;
const N = -5;
thread W(i)[N + 7] weight 2 {
    x = 1;
    loop {
        y[i] = -x + ~3 * z;
        break;
    }
}
",
    );
}

#[test]
fn operators_calls_and_brackets() {
    check(
        "thread T{let r=any 0 .. 3,s;r+=cas( x ,1,2);*p=&x;r=* p**q&(&x)&&! r;r=mem [ 1 ];f ( 1 ,- 2 );r=fetch_add (x,1);spawn T ;return ;assert(r);}",
        "thread T {
    let r = any 0..3, s;
    r += cas(x, 1, 2);
    *p = &x;
    r = *p * *q & (&x) && !r;
    r = mem[1];
    f(1, -2);
    r = fetch_add(x, 1);
    spawn T;
    return;
    assert (r);
}
",
    );
    check(
        "forbid W at a&&W[ 1 ] . r==mem[ &y+3 ]||count ( W at f . b )>=2;forbid deadlock;exists T at end&-1==1;thread A[ * ]{skip;}cost f . l=3;",
        "forbid W at a && W[1].r == mem[&y + 3] || count(W at f.b) >= 2;
forbid deadlock;
exists T at end & -1 == 1;
thread A[*] {
    skip;
}
cost f.l = 3;
",
    );
}

#[test]
fn blocks() {
    check(
        "thread T{if a{skip;}else if b{ }else{fence;}while x==1{\n}choose{skip;}or{}\nor{fence;}atomic{}{ let q; }}proc f(a,b){}",
        "thread T {
    if a {
        skip;
    } else if b { } else {
        fence;
    }
    while x == 1 { }
    choose {
        skip;
    } or { } or {
        fence;
    }
    atomic { }
    {
        let q;
    }
}
proc f(a, b) { }
",
    );
}

#[test]
fn labels_stand_out() {
    check(
        "thread T{a:b:skip;loop{c:skip;}d:}",
        "thread T {\na:\nb:\n    skip;\n    loop {\n    c:\n        skip;\n    }\nd:\n}\n",
    );
}

#[test]
fn comments_and_single_blank_lines_stay() {
    check(
        "// head


/* one */ thread T { // opens

  // own
  x = 1;// behind
  y = 22; /* too */


  a: // label
  skip; } /* end */
// last",
        "// head

/* one */ thread T { // opens
    // own
    x = 1;  // behind
    y = 22; /* too */

a: // label
    skip;
} /* end */
// last
",
    );
}

#[test]
fn comments_behind_code_keep_their_column_if_there_is_room() {
    let text = "shared x;          // first\nshared flag[2];    // second\n                   // and more\nshared y;\n";
    check(text, text);
}

#[test]
fn comments_inside_statements() {
    check(
        "thread T { x = /* why */ 1; if a /* b */ { } // c\nelse { } y = 1 + // one\n 2; }",
        "thread T {
    x = /* why */ 1;
    if a /* b */ { } // c
    else { }
    y = 1 + // one
        2;
}
",
    );
    check(
        "/* two\n     lines   \n*/\nshared x; /* three\n lines */ shared y;",
        "/* two\n     lines\n*/\nshared x;\n/* three\n lines */ shared y;\n",
    );
}

#[test]
fn statements_over_several_lines_are_joined_if_they_fit() {
    check("forbid a\n  == b;", "forbid a == b;\n");
    let long = format!("forbid {}\n    || a == {};\n", "a".repeat(60), "b".repeat(60));
    check(&long, &long);
    check(&long.replace("    ||", "||"), &long);
}

#[test]
fn files_with_syntax_errors_are_refused() {
    let errors = format(&Source::new("test.weir", "thread T { skip }")).unwrap_err();
    assert_eq!(errors[0].code, "missing-semicolon");
    // What only has no meaning can still be formatted.
    assert_eq!(formatted("thread T{x=y;}"), "thread T {\n    x = y;\n}\n");
}

#[test]
fn formatting_the_examples_changes_nothing_but_blanks() {
    for (path, text) in examples() {
        let once = formatted(&text);
        assert_eq!(formatted(&once), once, "{}", path.display());
        let read =
            |text: &str| parse(&Source::new("example", text), &Options::default()).map(|parsed| whole(&parsed.program));
        assert_eq!(read(&text), read(&once), "{}", path.display());
    }
}
