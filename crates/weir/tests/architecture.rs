//! The architecture, checked: folders of a crate do not import each other in a circle, and crates depend downwards
//! only.
//!
//! A folder here is a module directly below the root of a crate, with everything in it. Tests may import what they
//! like.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates from the bottom up: each may depend on those of earlier rows only. Nothing but tests depends on
/// `weir-testkit`.
const LAYERS: [&[&str]; 5] = [
    &["weir-ir", "weir-alloc"],
    &["weir-syntax", "weir-witness", "weir-x86"],
    &["weir"],
    &["weir-report"],
    &["weir-cli"],
];

/// Crates that depend on nothing above `weir-ir`, and that no other crate depends on.
const APART: [&str; 3] = ["weir-testkit", "weir-mutants", "weir-bench"];

#[test]
fn crates_depend_downwards() {
    let layer = |name: &str| LAYERS.iter().position(|layer| layer.contains(&name));
    for (name, folder) in crates() {
        let highest = layer(&name).or_else(|| APART.contains(&name.as_str()).then_some(1));
        let highest = highest.unwrap_or_else(|| panic!("{name} has no place in LAYERS"));
        for dependency in dependencies(&folder) {
            let is_below = layer(&dependency).is_some_and(|below| below < highest);
            assert!(is_below, "{name} must not depend on {dependency}: see LAYERS");
        }
    }
}

#[test]
fn folders_do_not_import_each_other_in_a_circle() {
    for (name, folder) in crates() {
        let imports = imports(&folder.join("src"));
        if let Some(circle) = circle(&imports) {
            let listed: Vec<String> = circle
                .iter()
                .map(|&(from, to)| format!("  {from} -> {to}\n    {}\n", imports[from][to].join("\n    ")))
                .collect();
            panic!("folders of {name} import each other in a circle:\n{}", listed.concat());
        }
    }
}

/// The root of a crate is on top of all its modules: it re-exports their names for users of the crate. A module that
/// imports a name from the root instead of the module that defines it points upwards.
#[test]
fn modules_import_names_from_where_they_are_defined() {
    let mut upwards = Vec::new();
    for (_, folder) in crates() {
        let src = folder.join("src");
        let reexports = reexports(&src);
        let mut files = Vec::new();
        rust_files(&src, &mut files);
        for file in files.iter().filter(|file| !module(&src, file).is_empty()) {
            let text = fs::read_to_string(file).expect("a source file");
            for (line, name) in imported(&text, module(&src, file).len()) {
                if name.starts_with(char::is_uppercase)
                    && let Some(defined_in) = reexports.get(&name)
                {
                    upwards.push(format!("{}:{line}: import it as crate::{defined_in}::{name}", file.display()));
                }
            }
        }
    }
    assert!(upwards.is_empty(), "names imported from the root of their crate:\n{}", upwards.join("\n"));
}

/// All crates of the workspace, with their folders.
fn crates() -> BTreeMap<String, PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = fs::read_dir(all).expect("the crates").map(|entry| entry.expect("a folder").path());
    let manifests = folders.filter(|folder| folder.join("Cargo.toml").exists());
    manifests.map(|folder| (name(&manifest(&folder)), folder)).collect()
}

fn manifest(folder: &Path) -> String {
    fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest")
}

fn name(manifest: &str) -> String {
    let line = manifest.lines().find_map(|line| line.strip_prefix("name = ")).expect("a name");
    line.trim_matches('"').to_owned()
}

/// The crates of ours that a crate depends on, not counting its tests.
fn dependencies(folder: &Path) -> Vec<String> {
    let manifest = manifest(folder);
    let section = manifest.lines().skip_while(|line| line.trim() != "[dependencies]").skip(1);
    let names = section.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split(['.', ' ', '=']).next());
    names.filter(|name| *name == "weir" || name.starts_with("weir-")).map(str::to_owned).collect()
}

/// For each folder, the folders it imports, and where.
type Imports = BTreeMap<String, BTreeMap<String, Vec<String>>>;

fn imports(src: &Path) -> Imports {
    let mut files = Vec::new();
    rust_files(src, &mut files);
    let folders: BTreeSet<String> = files.iter().filter_map(|file| module(src, file).into_iter().next()).collect();
    let reexports = reexports(src);
    let mut imports = Imports::new();
    for file in &files {
        let module = module(src, file);
        let Some(own) = module.first() else { continue };
        let text = fs::read_to_string(file).expect("a source file");
        for (line, item) in imported(&text, module.len()) {
            let folder = if folders.contains(&item) { Some(&item) } else { reexports.get(&item) };
            if let Some(folder) = folder.filter(|folder| *folder != own) {
                let place = format!("{}:{line}", file.strip_prefix(src).unwrap_or(file).display());
                imports.entry(own.clone()).or_default().entry(folder.clone()).or_default().push(place);
            }
        }
    }
    imports
}

/// All source files, but for those of tests.
fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if stem == "tests" || stem == "testing" {
            continue;
        }
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The module of a file, from the root of its crate: empty for the root itself.
fn module(src: &Path, file: &Path) -> Vec<String> {
    let path = file.strip_prefix(src).unwrap_or(file).with_extension("");
    let mut parts: Vec<String> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if parts.last().is_some_and(|last| last == "mod" || last == "lib" || last == "main") {
        parts.pop();
    }
    parts
}

/// The names that the root of a crate takes from its modules, with the module.
fn reexports(src: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let Ok(text) = fs::read_to_string(src.join("lib.rs")) else { return found };
    for statement in text.split(';').filter_map(|statement| statement.trim().strip_prefix("pub use ")) {
        let Some((module, names)) = statement.split_once("::") else { continue };
        for name in names.split(|character: char| !character.is_alphanumeric() && character != '_') {
            found.insert(name.to_owned(), module.to_owned());
        }
    }
    found
}

/// What a file imports from the root of its crate, with the lines: whatever follows `crate::`, or as many `super::` as
/// it takes from a module of this depth.
fn imported(text: &str, depth: usize) -> Vec<(usize, String)> {
    let supers = "super::".repeat(depth);
    let mut found = Vec::new();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let starts = |root: &'static str, at: usize| code[at..].starts_with(root);
    for (at, _) in code.char_indices().filter(|&(at, _)| starts("crate::", at) || code[at..].starts_with(&supers)) {
        let before = &code[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let is_comment = before[line_start..].trim_start().starts_with("//");
        if is_comment || before.ends_with(|character: char| character.is_alphanumeric() || "_$:".contains(character)) {
            continue;
        }
        let length = if starts("crate::", at) { "crate::".len() } else { supers.len() };
        let line = before.matches('\n').count() + 1;
        found.extend(first_names(&code[at + length..]).into_iter().map(|name| (line, name)));
    }
    found
}

/// The first names of a path, or of each path of a group: `a` of `a::b`; `a` and `c` of `{a::b, c}`.
fn first_names(path: &str) -> Vec<String> {
    let name = |path: &str| -> String {
        path.trim_start().chars().take_while(|character| character.is_alphanumeric() || *character == '_').collect()
    };
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let (mut names, mut level, mut start) = (Vec::new(), 0, 0);
    for (at, character) in group.char_indices() {
        match character {
            '{' => level += 1,
            '}' if level > 0 => level -= 1,
            ',' | '}' if level == 0 => {
                names.push(name(&group[start..at]));
                start = at + 1;
                if character == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Some circle, as the imports that form it.
fn circle(imports: &Imports) -> Option<Vec<(&str, &str)>> {
    imports.keys().find_map(|start| {
        let mut came: BTreeMap<&str, &str> = BTreeMap::new();
        let mut open = vec![start.as_str()];
        while let Some(folder) = open.pop() {
            for to in imports.get(folder).into_iter().flat_map(|folders| folders.keys()) {
                if came.contains_key(to.as_str()) {
                    continue;
                }
                came.insert(to, folder);
                open.push(to);
            }
        }
        came.contains_key(start.as_str()).then(|| {
            let mut circle = vec![(came[start.as_str()], start.as_str())];
            while circle[circle.len() - 1].0 != start {
                let last = circle[circle.len() - 1].0;
                circle.push((came[last], last));
            }
            circle.reverse();
            circle
        })
    })
}

#[test]
fn imports_are_read_as_they_are_written() {
    let names = |text: &str, depth| imported(text, depth).into_iter().map(|(_, name)| name).collect::<Vec<_>>();
    assert_eq!(names("use crate::a::{b, c};\nuse crate::{d::e, f};", 2), ["a", "d", "f"]);
    assert_eq!(names("// crate::a\n/// [b](crate::b)\nuse super::c;\nuse super::super::d;", 2), ["d"]);
    assert_eq!(names("let x = crate::a::b();\nuse weir_crate::c;\nuse super::d;", 1), ["a", "d"]);
    let mut imports = Imports::new();
    for (from, to) in [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")] {
        imports.entry(from.into()).or_default().entry(to.into()).or_default().push("here".into());
    }
    assert_eq!(circle(&imports), Some(vec![("a", "b"), ("b", "c"), ("c", "a")]));
    imports.remove("b");
    assert_eq!(circle(&imports), None);
}
