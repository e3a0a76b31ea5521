//! Accesses of compiled code and of litmus tests that are not modelled: no answer relies on what comes of them, and no
//! evidence does.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::certificate::Proof;
use crate::compiled::has_gcc;
use crate::support::{Ran, scratch, weir};

/// What `setup(1)` leaves in `where` is the address of a cell of another size than the access of `part`.
const CODE: &str = "long whole; int half; int *where; long done;
    void setup(int is_whole) { where = is_whole ? (int *)&whole : &half; }
    void part(void) { *where = 1; done = 1; }
    long look(void) { return whole; }
";

/// Code, compiled into a folder of its own.
struct Code {
    folder: PathBuf,
}

impl Code {
    fn compiled(folder: &str) -> Option<Self> {
        if !has_gcc() {
            return None;
        }
        let folder = scratch(folder);
        std::fs::write(folder.join("sizes.c"), CODE).expect("a file");
        let output = Command::new("gcc").args(["-g", "-O1", "-c", "sizes.c"]).current_dir(&folder).output();
        assert!(output.expect("gcc runs").status.success());
        Some(Self { folder })
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().expect("UTF-8").to_owned()
    }

    /// Asks about both threads, after this preparation.
    fn ask(&self, command: &[&str], init: &str) -> Ran {
        let object = self.path("sizes.o");
        weir(&[command, &["--thread", "part()", "--thread", "look()", "--init", init, &object]].concat())
    }

    /// Evidence about a property, after this preparation.
    fn replay(&self, init: &str, property: &str, evidence: &str) -> Ran {
        let [object, evidence] = [self.path("sizes.o"), self.path(evidence)];
        let threads = ["--thread", "part()", "--thread", "look()", "--init", init];
        weir(&[&["replay", "--property", property], &threads[..], &CLAIMS, &[&object, &evidence]].concat())
    }

    /// What evidence says that it is about.
    fn metadata(&self, init: &str) -> Value {
        let path = self.path("shown.json");
        let shown = self.ask(&[&["check", "--goal", "1", "--witness", &path], &CLAIMS[..]].concat(), init);
        assert_eq!(shown.status, Some(1), "{shown:?}");
        let text = std::fs::read_to_string(path).expect("a witness");
        serde_json::from_str::<Value>(&text).expect("JSON")["metadata"].clone()
    }
}

/// The first is violated before the model ends, and the second holds up to there.
const CLAIMS: [&str; 4] = ["--claim", "forbid whole == 0", "--claim", "forbid done == 2"];

const MESSAGE: &str = "mixed sizes: `part` accesses 4 bytes at a computed address that is not that of a variable of this \
                       size";

#[test]
fn an_access_of_another_size_than_its_cell_is_neither_a_violation_nor_fine() {
    let Some(code) = Code::compiled("limit-answers") else { return };
    let asked = |command: &[&str], init: &str| code.ask(&[command, &["--format", "json"]].concat(), init).json();
    let forbid = ["--claim", "forbid done == 2"];
    let object = code.path("sizes.o");
    let commands: [&[&str]; 10] = [
        &["check"],
        &["check", "--goal", "1", forbid[0], forbid[1]],
        &["reach"],
        &["robust"],
        &["robust", "--of", "states"],
        &["fences"],
        &["fences", "--remove"],
        &["prob", "--target", "done == 1"],
        &["prob", "--target", "done == 1", "--question", "simulate", "--runs", "10"],
        &["prob", "--target", "done == 1", "--compare", &object],
    ];
    for command in commands {
        let answer = asked(command, "setup(1)");
        assert_eq!(answer["verdict"], "error", "{command:?}: {answer}");
        assert_eq!(answer["diagnostics"][0]["message"], MESSAGE, "{command:?}: {answer}");
        assert_eq!(answer["diagnostics"][0]["line"], 3, "{command:?}: {answer}");
        assert_ne!(asked(command, "setup(0)")["verdict"], "error", "{command:?}");
    }
    // What a run shows before it gets there stays shown.
    let shown = ["check", "--goal", "1", "--claim", "forbid whole == 0"];
    assert_eq!(asked(&shown, "setup(1)")["verdict"], "unsafe");
}

/// The steps of this run are possible, and its last one is the assertion that ends the model.
#[test]
fn a_run_to_where_the_model_ends_is_no_evidence() {
    let Some(code) = Code::compiled("limit-run") else { return };
    let step = |edge: usize, action: &str| json!({"thread": "part", "edge": edge, "action": action});
    let forged = |init: &str, steps: usize| {
        let mut metadata = code.metadata(init);
        metadata["specification"] = json!([{"assertion": {"thread": "part"}}]);
        let steps = [step(0, "load"), step(1, "local"), step(2, "local")][..steps].to_vec();
        let file = json!({"format": 2, "metadata": metadata, "steps": steps, "cycle": []});
        std::fs::write(code.path("forged.json"), file.to_string()).expect("a file");
        code.replay(init, "part", "forged.json")
    };
    let ran = forged("setup(1)", 3);
    assert!(ran.status == Some(2) && ran.stderr.contains(MESSAGE), "{ran:?}");
    let ran = forged("setup(1)", 2);
    assert!(ran.status == Some(1) && !ran.stderr.contains(MESSAGE), "it ends before: {ran:?}");
    let ran = forged("setup(0)", 3);
    assert!(ran.status == Some(1) && !ran.stderr.contains(MESSAGE), "no assertion fails: {ran:?}");
    // A run that shows something else is evidence, whatever others do.
    code.metadata("setup(1)");
    let shown = code.replay("setup(1)", "1", "shown.json");
    assert_eq!(shown.status, Some(0), "{shown:?}");
}

/// The automaton does no more than the code does before the model ends, and that can be proved.
#[test]
fn a_proof_about_runs_that_end_with_the_model_is_no_evidence() {
    let Some(code) = Code::compiled("limit-proof") else { return };
    for init in ["setup(0)", "setup(1)"] {
        let [model, path] = [code.path("model.weir"), code.path("proof.json")];
        let translated = code.ask(&[&["translate", "--to", "weir"], &CLAIMS[..]].concat(), init);
        std::fs::write(&model, translated.stdout).expect("a file");
        let proved = weir(&["reach", "-q", "--goal", "2", "--certificate", &path, &model]);
        assert_eq!(proved.status, Some(0), "{proved:?}");
        let mut proof = Proof::read(&path);
        let specification = proof.line["metadata"]["specification"].clone();
        proof.line["metadata"] = code.metadata(init);
        proof.line["metadata"]["specification"] = specification;
        proof.write(&path);
        let ran = code.replay(init, "2", "proof.json");
        match init {
            "setup(0)" => assert_eq!(ran.status, Some(0), "{ran:?}"),
            _ => assert!(ran.status == Some(2) && ran.stderr.contains(MESSAGE), "{ran:?}"),
        }
    }
}

#[test]
fn evidence_about_another_preparation_names_the_option() {
    let Some(code) = Code::compiled("limit-options") else { return };
    code.metadata("setup(1)");
    let ran = code.replay("setup(0)", "1", "shown.json");
    let message = "no: the file was made with `--init 'setup(1)'`, but here it is `--init 'setup(0)'`";
    assert!(ran.status == Some(1) && ran.stdout.contains(message), "{ran:?}");
    let ran = weir(&["replay", "--thread", "part()", &code.path("sizes.o"), &code.path("shown.json")]);
    let message = "`--claim 'forbid done == 2'`, but here it is no `--claim`";
    assert!(ran.status == Some(1) && ran.stdout.contains(message), "{ran:?}");
}

/// The processor loads from any address. A litmus test models cells only.
#[test]
fn an_access_of_a_litmus_test_to_no_cell_of_its_size_is_neither_a_violation_nor_fine() {
    let folder = scratch("limit-litmus");
    let path = folder.join("mixed.litmus");
    let path = path.to_str().expect("UTF-8");
    let commands: [&[&str]; 6] = [
        &["check"],
        &["check", "--goal", "1"],
        &["reach"],
        &["robust"],
        &["fences"],
        &["prob", "--question", "almost-never"],
    ];
    for (cell, is_modelled) in [("x", true), ("y", false)] {
        let text = format!(
            "X86_64 mixed\n{{ uint64_t x=0; uint32_t y=0; uint64_t *p={cell}; }}\n\
             P0               | P1          ;\nmovq (p),%rax    | movl $1,(y) ;\nmovq (%rax),%rbx |             ;\n\
             exists (0:rbx=1)\n"
        );
        std::fs::write(path, text).expect("a file");
        for command in commands {
            let answer = weir(&[command, &["--format", "json", path]].concat()).json();
            assert_eq!(answer["verdict"] != "error", is_modelled, "{command:?} on {cell}: {answer}");
            if !is_modelled {
                let message = "this instruction can access an address that is not a cell of its size";
                assert_eq!(answer["diagnostics"][0]["message"], message, "{command:?}: {answer}");
            }
        }
    }
}
