//! Thread-local variables, in every form that compilers give them.

use std::collections::BTreeSet;

use weir_ir::{ThreadId, Value};
use weir_testkit::{FinalState, Model, explore};
use weir_x86::Options;

use crate::compiler::{Folder, gcc};
use crate::read;

const CODE: &str = "
__thread int mine = 5, other;
static __thread long own[3] = { 1, 2, 3 };
__thread char last = 9;
int *shared, x;
int count(int n) { mine += n; other = mine; return mine + other; }
long sum(int n) { own[1] += n; own[n & 1]++; return own[0] + 10 * own[1] + 100 * own[2] + 1000 * last; }
void publish(void) { shared = &mine; }
int look(void) { int *there = __atomic_load_n(&shared, __ATOMIC_ACQUIRE); return there ? *there : -1; }
int show(int n) { mine = n; __atomic_store_n(&shared, &mine, __ATOMIC_RELEASE); return 0; }
";

/// What the first thread returns.
fn results(folder: &Folder, threads: &[&str], init: &[&str]) -> BTreeSet<Value> {
    let options = Options {
        threads: (1..).zip(threads).map(|(number, call)| format!("t{number}={call}")).collect(),
        init: init.iter().map(|&call| call.to_owned()).collect(),
        properties: vec!["always t1.result >= 0".to_owned()],
        ..Options::default()
    };
    let program = read("code.o", &folder.read("code.o"), &options);
    let found = explore(&program, Model::Tso, 100_000).expect("supported");
    assert!(found.complete && found.goals.len() <= 1, "{threads:?}");
    let register = program.body(ThreadId(0)).register("rax").expect("it is observed");
    let result = |last: &FinalState| {
        let value = last.registers[&ThreadId(0)].get(&register).copied().unwrap_or(0);
        Value::from(value as i32)
    };
    found.final_states.iter().map(result).collect()
}

/// Threads, preparation, and what the first thread returns.
type Expected<'e> = (&'e [&'e str], &'e [&'e str], &'e [Value]);

#[test]
fn each_thread_has_its_own_variables() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", CODE);
    let models = ["-ftls-model=local-exec", "-ftls-model=initial-exec", "-ftls-model=local-dynamic", "-fPIC"];
    for model in models {
        for level in ["-O0", "-O2"] {
            let pic = if model == "-ftls-model=local-exec" { "-fPIE" } else { "-fPIC" };
            gcc(&folder, &["-g", level, pic, model, "-c", "code.c", "-o", "code.o"]);
            let expected: [Expected<'_>; 5] = [
                (&["count(2)"], &[], &[14]),
                // Neither another thread nor what prepares memory has the same.
                (&["count(2)", "count(40)"], &["count(1)"], &[14]),
                (&["sum(1)", "sum(2)"], &[], &[1 + 40 + 300 + 9000]),
                // But it can be given away.
                (&["look()", "show(8)"], &[], &[-1, 8]),
                (&["look()"], &["publish()"], &[5]),
            ];
            for (threads, init, expected) in expected {
                let found = results(&folder, threads, init);
                assert_eq!(found, expected.iter().copied().collect(), "{threads:?} with {model} at {level}");
            }
        }
    }
    gcc(&folder, &["-O1", "-nostdlib", "-static", "-Wl,-e,count", "code.c", "-o", "code.o"]);
    assert_eq!(results(&folder, &["count(2)", "count(3)"], &[]), [14].into());
    assert_eq!(results(&folder, &["sum(1)", "sum(2)"], &[]), [9341].into());
}
