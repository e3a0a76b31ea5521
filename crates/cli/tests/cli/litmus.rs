//! `weir litmus` on files, folders and lists, at any number of workers.

use crate::support::{root, scratch, weir, write};

const OK: &str = "X86 good\n{ }\n P0 ;\n MOV [x],$1 ;\nforall (x=1)\n";
const NO: &str = "X86 wrong\n{ }\n P0 ;\n MOV [x],$1 ;\nforall (x=2)\n";

#[test]
fn folders_are_searched_and_lists_are_followed() {
    let folder = scratch("litmus-gather");
    std::fs::create_dir_all(folder.join("deep/er")).expect("writable");
    write(&folder, "b.litmus", OK);
    write(&folder, "deep/er/a.litmus", OK);
    write(&folder, "notes.txt", "no test");
    let list = write(&folder, "@all", "# tests\nb.litmus # again\ndeep/er\n\n@all\n@more\n");
    write(&folder, "@more", "notes.litmus\n");
    write(&folder, "notes.litmus", NO);
    let whole = weir(&["litmus", "-q", folder.to_str().expect("UTF-8")]);
    assert_eq!((whole.status, whole.stdout.as_str()), (Some(1), "3 tests under TSO: 2 ok, 1 no\n"));
    let listed = weir(&["litmus", "--format", "json", &list]);
    let files: Vec<String> = listed
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["file"].to_string())
        .collect();
    assert_eq!(files.len(), 3, "{files:?}");
    assert!(
        files[0].ends_with("b.litmus\"") && files[1].ends_with("a.litmus\"") && files[2].ends_with("notes.litmus\"")
    );
    let empty = scratch("litmus-empty");
    let nothing = weir(&["litmus", empty.to_str().expect("UTF-8")]);
    assert_eq!(nothing.status, Some(2));
    assert!(nothing.stderr.contains("this folder contains no litmus tests"), "{}", nothing.stderr);
}

#[test]
fn lists_stay_in_their_folder_and_nothing_of_them_is_shown() {
    let folder = scratch("litmus-list");
    std::fs::create_dir_all(folder.join("inner")).expect("writable");
    write(&folder, "secret.litmus", "X86 secret\n{ token=hunter2; }\n");
    write(&folder, "inner/good.litmus", OK);
    write(&folder, "inner/notes", "token=hunter2");
    let list = write(&folder, "inner/@all", "../secret.litmus\nhunter2.litmus\nnotes\ngood.litmus\n");
    let ran = weir(&["litmus", &list]);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    let said = ran.stdout.clone() + &ran.stderr;
    assert!(!said.contains("hunter2"), "{said}");
    for line in [
        "line 1 of the list names a file outside the folder of the list",
        "with `--follow`",
        "line 2 of the list names no file or folder",
        "line 3 of the list names a file that does not end in `.litmus`",
        "1 ok",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let good = write(&folder, "good.litmus", OK);
    let list = write(&folder, "inner/@two", format!("../good.litmus\n{good}\n"));
    assert_eq!(weir(&["litmus", "-q", &list]).status, Some(2));
    let followed = weir(&["litmus", "-q", "--follow", &list]);
    assert_eq!((followed.status, followed.stdout.as_str()), (Some(0), "2 tests under TSO: 2 ok\n"));
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_folder_of_a_list() {
    let folder = scratch("litmus-links");
    std::fs::create_dir_all(folder.join("inner/sub")).expect("writable");
    let secret = write(&folder, "secret.litmus", "X86 secret\n{ token=hunter2; }\n");
    write(&folder, "inner/sub/good.litmus", OK);
    std::os::unix::fs::symlink(&secret, folder.join("inner/sub/link.litmus")).expect("a link can be made");
    let list = write(&folder, "inner/@all", "sub\n");
    let ran = weir(&["litmus", &list]);
    let said = ran.stdout.clone() + &ran.stderr;
    assert_eq!(ran.status, Some(2), "{said}");
    assert!(said.contains("leads outside the folder of the list") && said.contains("1 ok"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
    // Who names the folder means what is in it.
    let named = weir(&["litmus", folder.join("inner/sub").to_str().expect("UTF-8")]);
    assert!(!named.stderr.contains("leads outside"), "{named:?}");
}

#[cfg(unix)]
#[test]
fn a_list_that_never_ends_keeps_to_the_time_limit() {
    let folder = scratch("litmus-pipe");
    let pipe = folder.join("@pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "every Unix has `mkfifo`");
    let ran = weir(&["litmus", "--timeout", "300ms", pipe.to_str().expect("UTF-8")]);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.took < std::time::Duration::from_secs(20), "{ran:?}");
}

#[test]
fn the_gravest_status_counts() {
    let folder = scratch("litmus-status");
    let good = write(&folder, "good.litmus", OK);
    let wrong = write(&folder, "wrong.litmus", NO);
    let bad = write(&folder, "bad.litmus", "X86 bad\n{");
    let endless = write(&folder, "endless.litmus", "X86 e\n{ }\n P0 ;\n L: MOV [x],$1 ;\n JMP L ;\nexists (x=1)");
    let status = |files: &[&str]| weir(&[&["litmus", "-q", "--states", "50"], files].concat()).status;
    assert_eq!(status(&[&good]), Some(0));
    assert_eq!(status(&[&good, &endless]), Some(3));
    assert_eq!(status(&[&good, &endless, &wrong]), Some(1));
    assert_eq!(status(&[&bad, &good, &endless, &wrong]), Some(2));
}

#[test]
fn answers_are_the_same_at_any_number_of_workers() {
    let folder = root().join("tests/litmus");
    let run = |jobs: &str, format: &str| {
        let ran = weir(&["litmus", "--jobs", jobs, "--format", format, "-v", folder.to_str().expect("UTF-8")]);
        ran.assert_no_bug();
        ran.stdout
    };
    let first = run("1", "text");
    assert!(first.contains("SB+mfences"));
    assert_eq!(first, run("2", "text"));
    assert_eq!(first, run("7", "text"));
}

#[test]
fn other_commands_take_litmus_tests() {
    let test = root().join("tests/litmus/sb.litmus");
    let test = test.to_str().expect("UTF-8");
    assert_eq!(weir(&["reach", "-q", test]).status, Some(1));
    assert_eq!(weir(&["reach", "-q", "--model", "sc", test]).status, Some(0));
    for form in ["weir", "dot", "trencher"] {
        assert_eq!(weir(&["translate", test, "--to", form]).status, Some(0), "{form}");
    }
    let defined = weir(&["reach", "-D", "N=1", test]);
    assert_eq!(defined.status, Some(2));
    assert!(defined.stderr.contains("only `.weir` programs have constants"), "{}", defined.stderr);
    let folder = scratch("litmus-witness");
    let saved = folder.join("run.json");
    let saved = saved.to_str().expect("UTF-8");
    assert_eq!(weir(&["reach", "-q", "--witness", saved, test]).status, Some(1));
    assert_eq!(weir(&["replay", "-q", test, saved]).status, Some(0));
}
