//! `weir fmt` and `weir translate` on files and standard input.

use crate::support::{program, sample, scratch, weir, weir_with_input, write};

const UGLY: &str = "shared x;   thread P{x=1;// why\n}\n";

fn formatted() -> String {
    let ran = weir_with_input(&["fmt", "-"], UGLY.as_bytes());
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    ran.stdout
}

#[test]
fn what_is_read_is_never_overwritten() {
    let directory = scratch("overwrite");
    let text = "shared x; thread P { x = 1; } forbid x == 2;\n";
    let file = write(&directory, "a.weir", text);
    let link = directory.join("link");
    std::fs::hard_link(&file, &link).expect("a link can be made");
    let link = link.to_str().expect("UTF-8").to_owned();
    let (new, costs) = (directory.join("new"), write(&directory, "costs", "store 2\n"));
    let new = new.to_str().expect("UTF-8");
    for (arguments, names) in [
        (vec!["check", &file, "--certificate", &file], "`--certificate` would overwrite"),
        (vec!["reach", &file, "--certificate", &link], "`--certificate` would overwrite"),
        (vec!["robust", &file, "--witness", &file], "`--witness` would overwrite"),
        (vec!["check", &file, "--svg", &link], "`--svg` would overwrite"),
        (vec!["check", &file, "--svg", new, "--witness", new], "`--witness` and `--svg` both name"),
        (vec!["prob", &file, "--curve", &file], "`--curve` would overwrite"),
        (vec!["prob", &file, "--costs", &costs, "--curve", &costs], "`--curve` would overwrite"),
        (vec!["prob", &file, "--compare", &link, "--curve", &link], "`--curve` would overwrite"),
    ] {
        let ran = weir(&arguments);
        assert_eq!(ran.status, Some(2), "{arguments:?}: {ran:?}");
        assert!(ran.stderr.contains(names), "{arguments:?}: {}", ran.stderr);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(".", directory.join("here")).expect("a link can be made");
        let again = directory.join("here/new");
        let ran = weir(&["check", &file, "--svg", new, "--witness", again.to_str().expect("UTF-8")]);
        assert!(ran.status == Some(2) && ran.stderr.contains("both name"), "{ran:?}");
    }
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), text);
    assert_eq!(weir(&["check", &file, "--certificate", "/dev/null"]).status, Some(0));
    #[cfg(target_os = "linux")]
    {
        let input = || std::fs::File::open(&file).expect("it is there");
        let mut command = program();
        let output =
            command.args(["check", "-", "--witness", &file]).stdin(input()).output().expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains("`--witness` would overwrite"), "{output:?}");
        assert_eq!(std::fs::read_to_string(&file).expect("it is there"), text);
        let output = program().args(["check", "-", "--certificate", new]).stdin(input()).output();
        assert_eq!(output.expect("the program starts").status.code(), Some(0));
    }
}

#[test]
fn formatting_rewrites_a_file_once() {
    let directory = scratch("fmt");
    let file = write(&directory, "a.weir", UGLY);
    assert_eq!(weir(&["fmt", "--check", &file]).status, Some(1));
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), UGLY, "--check changes nothing");
    let ran = weir(&["fmt", &file]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), ""));
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), formatted());
    assert_eq!(weir(&["fmt", "--check", &file]).status, Some(0));
    assert_eq!(weir(&["fmt", &file]).stderr, "", "nothing is left to do");
    let left: Vec<_> = std::fs::read_dir(&directory).expect("it is there").collect();
    assert_eq!(left.len(), 1, "no other file is left behind: {left:?}");
}

#[test]
fn check_lists_what_is_not_formatted() {
    let directory = scratch("fmt-check");
    let good = write(&directory, "good.weir", formatted());
    let bad = write(&directory, "bad.weir", UGLY);
    let broken = write(&directory, "broken.weir", "thread {");
    let ran = weir(&["fmt", "--check", &good, &bad]);
    assert_eq!((ran.status, ran.stdout), (Some(1), format!("{bad}: not formatted\n")));
    let ran = weir(&["fmt", "--check", &good, &bad, &broken]);
    assert_eq!(ran.status, Some(2), "a file with errors counts more: {ran:?}");
}

#[test]
fn a_file_with_errors_is_left_alone() {
    let directory = scratch("fmt-errors");
    let file = write(&directory, "broken.weir", "thread P { x = ; }");
    let ran = weir(&["fmt", &file]);
    ran.assert_no_bug();
    assert_eq!(ran.status, Some(2));
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), "thread P { x = ; }");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_survive_formatting() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let directory = scratch("fmt-links");
    let file = write(&directory, "a.weir", UGLY);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).expect("it is ours");
    let link = directory.join("link.weir");
    symlink("a.weir", &link).expect("links can be made");
    assert_eq!(weir(&["fmt", link.to_str().expect("the path is UTF-8")]).status, Some(0));
    assert!(std::fs::symlink_metadata(&link).expect("it is there").is_symlink());
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), formatted());
    assert_eq!(std::fs::metadata(&file).expect("it is there").permissions().mode() & 0o777, 0o640);
}

#[test]
fn what_is_translated_to_weir_gives_the_same_answer() {
    for name in ["peterson", "fenced", "rmw"] {
        let text = weir(&["translate", "--to", "weir", &sample(name)]).stdout;
        for model in ["sc", "tso"] {
            let before = weir(&["reach", "--format", "json", "--model", model, &sample(name)]).json();
            let after = weir_with_input(&["reach", "--format", "json", "--model", model, "-"], text.as_bytes()).json();
            assert_eq!(before["verdict"], after["verdict"], "{name} under {model}:\n{text}");
            assert_eq!(before["states"], after["states"], "{name} under {model}:\n{text}");
        }
    }
}

#[test]
fn every_form_is_printed() {
    let dot = weir(&["translate", "--to", "dot", &sample("fenced")]);
    assert_eq!(dot.status, Some(0));
    assert!(dot.stdout.starts_with("digraph"), "{}", dot.stdout);
    let trencher = weir(&["translate", "--to", "trencher", &sample("fenced")]);
    assert_eq!(trencher.status, Some(0), "{trencher:?}");
    assert!(trencher.stdout.contains("mfence"), "{}", trencher.stdout);
    let json = weir(&["translate", "--to", "dot", "--format", "json", &sample("fenced")]).json();
    assert_eq!(json["text"], dot.stdout.as_str());
}

#[test]
fn exports_are_printed_for_the_tools_that_read_them() {
    for (to, tool, part) in [("promela", "spin", "proctype P0()"), ("c", "hardware", "int main(int argc, char **argv)")]
    {
        let ran = weir(&["translate", "--to", to, "--for", tool, &sample("fenced")]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(ran.stdout.contains(part), "{}", ran.stdout);
        assert_eq!(ran.stdout, weir(&["translate", "--to", to, &sample("fenced")]).stdout);
    }
    for (tool, part) in [("cbmc", "__CPROVER_atomic_begin()"), ("esbmc", "__ESBMC_atomic_begin()")] {
        let ran = weir(&["translate", "--to", "c", "--for", tool, &sample("fenced")]);
        assert!(ran.status == Some(0) && ran.stdout.contains(part), "{ran:?}");
    }
    let btor2 = weir(&["translate", "--to", "btor2", &sample("fenced")]);
    assert!(btor2.status == Some(0) && btor2.stdout.contains(" property_1\n"), "{btor2:?}");
    let test = weir(&["translate", "--to", "litmus", &sample("fenced")]);
    assert!(test.status == Some(0) && test.stdout.starts_with("X86_64 fenced\n"), "{test:?}");
    let refused = weir(&["translate", "--to", "litmus", &sample("peterson")]);
    assert!(refused.status == Some(2) && refused.stderr.contains("cannot be exported to a litmus test"), "{refused:?}");
    let wrong = weir(&["translate", "--to", "promela", "--for", "hardware", &sample("fenced")]);
    assert_eq!(wrong.status, Some(2));
    assert!(wrong.stderr.contains("`--for hardware` needs `--to c`"), "{}", wrong.stderr);
    // What a tool cannot check is left out, and said so.
    assert!(weir(&["translate", "--to", "c", &sample("fenced")]).stderr.contains("is not exported"));
}

#[test]
fn what_a_language_cannot_say_is_refused_with_the_place() {
    let ran = weir_with_input(&["translate", "--to", "trencher", "-"], b"shared x = 1;\nthread P { x = 2; }\n");
    ran.assert_no_bug();
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("<stdin>:1:"), "{}", ran.stderr);
}
