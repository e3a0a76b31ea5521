//! A copy of the workspace in which all chosen mutants are written side by side, each behind its switch (mutant
//! schemata: Untch, Offutt, Harrold, 1993). It is compiled once, however many mutants there are.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::mutant::{Mutant, SWITCH};

const SWITCH_MODULE: &str = include_str!("switch.rs.txt");

/// Where the copy is.
pub(crate) struct Tree {
    /// The workspace that is copied.
    pub(crate) original: PathBuf,
    /// The copy. Its target directory is beside it.
    pub(crate) root: PathBuf,
    /// The files that have mutants, or had before those that do not compile were taken out.
    mutated: BTreeSet<String>,
}

/// The file that the switch is declared in.
const LIBRARY: &str = "crates/ir/src/lib.rs";

/// Where each mutant is in the files of the copy: its number, and its bytes there.
pub(crate) type Places = BTreeMap<String, Vec<(usize, Range<usize>)>>;

impl Tree {
    /// Copies all that git knows or would know of, but for what [`Tree::instrument`] writes: a file that ends up as it
    /// was is not compiled again.
    pub(crate) fn copy(original: &Path, to: &Path, mutants: &[Option<Mutant>]) -> io::Result<Self> {
        let mutated: BTreeSet<String> = mutants.iter().flatten().map(|mutant| mutant.file.clone()).collect();
        let is_written = |file: &str| file == LIBRARY || mutated.contains(file);
        let listed = Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
            .current_dir(original)
            .output()?;
        if !listed.status.success() {
            return Err(io::Error::other("`git ls-files` failed: mutants are made of a git checkout"));
        }
        let root = to.join("tree");
        for file in String::from_utf8_lossy(&listed.stdout).split('\0').filter(|file| !file.is_empty()) {
            let (from, to) = (original.join(file), root.join(file));
            if !from.is_file() || is_written(file) {
                continue;
            }
            fs::create_dir_all(to.parent().unwrap_or(&root))?;
            write_if_changed(&to, &fs::read(from)?)?;
        }
        let (shared, link) = (original.join("../shared"), to.join("shared"));
        if shared.is_dir() && !link.exists() {
            std::os::unix::fs::symlink(fs::canonicalize(shared)?, link)?;
        }
        Ok(Self { original: original.to_owned(), root, mutated })
    }

    /// Writes the mutants into the copy, except those that are `None`, and tells where they are.
    pub(crate) fn instrument(&self, mutants: &[Option<Mutant>]) -> io::Result<Places> {
        let mut files: BTreeMap<&str, Vec<(usize, &Mutant)>> =
            self.mutated.iter().map(|file| (&**file, Vec::new())).collect();
        for (number, mutant) in mutants.iter().enumerate() {
            if let Some(mutant) = mutant {
                files.entry(&mutant.file).or_default().push((number, mutant));
            }
        }
        let ir = self.root.join("crates/ir/src");
        write_if_changed(&ir.join("mutant_switch.rs"), SWITCH_MODULE.as_bytes())?;
        let mut places = Places::new();
        for (file, mut mutants) in files {
            mutants.sort_by_key(|(_, mutant)| mutant.range.start);
            let text = fs::read_to_string(self.original.join(file))?;
            let switch = if file.starts_with("crates/ir/") { "crate" } else { "::weir_ir" };
            let (text, placed) = written(&text, &mutants, switch);
            write_if_changed(&self.root.join(file), text.as_bytes())?;
            places.insert(file.to_owned(), placed);
        }
        let library = fs::read_to_string(self.original.join(LIBRARY))?;
        write_if_changed(
            &self.root.join(LIBRARY),
            format!("{library}\n#[allow(missing_docs)]\npub mod mutant_switch;\n").as_bytes(),
        )?;
        Ok(places)
    }
}

/// The text with all these mutants, which are in order and do not overlap.
fn written(text: &str, mutants: &[(usize, &Mutant)], switch: &str) -> (String, Vec<(usize, Range<usize>)>) {
    let (mut out, mut at) = (String::new(), 0);
    let mut placed = Vec::new();
    for &(number, mutant) in mutants {
        out.push_str(&text[at..mutant.range.start]);
        let start = out.len();
        out.push_str(&mutant.template.replace(SWITCH, &format!("{switch}::mutant_switch::on({number})")));
        placed.push((number, start..out.len()));
        at = mutant.range.end;
    }
    out.push_str(&text[at..]);
    (out, placed)
}

/// Leaves the file as it is, with its time, if it says the same: then nothing is compiled again.
fn write_if_changed(path: &Path, content: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::mutants;

    #[test]
    fn mutants_are_written_beside_each_other() {
        let text = "fn f(a: u32, b: u32) -> u32 { let c = a < b; g(c); a.min(b) }";
        let all = mutants("crates/weir/src/x.rs", text).expect("Rust");
        let chosen: Vec<_> = ["a < b → a <= b", "without g(c);", "min → max in a.min(b)"]
            .iter()
            .map(|change| all.iter().find(|mutant| mutant.change == *change).expect("it is found"))
            .enumerate()
            .collect();
        let (written, placed) = written(text, &chosen, "crate");
        assert_eq!(
            written,
            "fn f(a: u32, b: u32) -> u32 { let c = (if crate::mutant_switch::on(0) { a <= b } else { a < b }); \
             if !crate::mutant_switch::on(1) { g(c); } \
             (if crate::mutant_switch::on(2) { a.max(b) } else { a.min(b) }) }"
        );
        assert!(written[placed[1].1.clone()].starts_with("if !crate"));
    }
}
