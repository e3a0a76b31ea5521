//! Accesses at computed addresses: to cells of their size, of another size, and where there is no memory.

use weir_ir::ThreadId;
use weir_testkit::{Goal, Model, explore};
use weir_x86::{Compiled, Options, limited};

use crate::compiler::{Folder, gcc};

const CODE: &str = "\
long whole = -1; int half, other; void *where;
void setup(int which) { where = which == 0 ? (void *)&half : which == 1 ? (void *)&whole : (void *)0; }
int load(void) { return *(int *)where; }
void store(void) { *(int *)where = 7; }
int exchange(void) { return __atomic_exchange_n((int *)where, 7, __ATOMIC_SEQ_CST); }
void change(void) { where = &whole; }
long look(void) { return whole; }
const char text[] = \"text\"; void *place = (void *)text;
void constant(void) { *(char *)place = 1; }
";

/// Whether the thread with the access fails, and whether it fails where the model ends.
fn fails(folder: &Folder, threads: &[&str], init: &str) -> (bool, bool) {
    let files = |path: &str| weir_x86::SourceFile { name: path.to_owned(), text: None };
    let options = Options {
        threads: threads.iter().map(|&thread| thread.to_owned()).collect(),
        init: vec![init.to_owned()],
        ..Options::default()
    };
    let compiled = weir_x86::read("code.o", &folder.read("code.o"), &options, &files, &weir_ir::Uninterrupted);
    let Compiled { program, limits, .. } = compiled.expect("it can be read");
    assert!(limits.iter().all(|limit| limit.diagnostic(&program).message.starts_with("mixed sizes: ")));
    let fails = |program| {
        let found = explore(program, Model::Tso, 100_000).expect("supported");
        assert!(found.complete);
        found.goals.contains_key(&Goal::Assertion(ThreadId(0)))
    };
    let places: Vec<_> = limits.iter().map(|limit| (limit.thread, limit.edge)).collect();
    (fails(&program), fails(&limited(&program, &places)))
}

#[test]
fn an_access_in_another_size_than_its_cell_ends_the_model_and_not_the_program() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", CODE);
    for level in ["-O0", "-O2"] {
        gcc(&folder, &["-g", level, "-c", "code.c", "-o", "code.o"]);
        for access in ["load()", "store()", "exchange()"] {
            let fails = |other: &str, init: &str| fails(&folder, &[access, other], init);
            assert_eq!(fails("look()", "setup(0)"), (false, false), "{access} of a cell of its size at {level}");
            assert_eq!(fails("look()", "setup(1)"), (true, true), "{access} of a part at {level}");
            assert_eq!(fails("look()", "setup(2)"), (true, false), "{access} of no memory at {level}");
            assert_eq!(fails("change()", "setup(0)"), (true, true), "{access} of either at {level}");
        }
        assert_eq!(fails(&folder, &["constant()"], "setup(0)"), (true, false), "a store to a constant at {level}");
    }
}
