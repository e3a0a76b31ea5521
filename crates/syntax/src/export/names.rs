//! Identifiers that a target language accepts: `Worker[0]` becomes `Worker_0`, a keyword gets a number. A name that is
//! fine stays as it is. The same names in the same order always give the same identifiers.

use std::collections::{BTreeMap, BTreeSet};

use weir_ir::Gather;

/// The identifiers of one scope.
#[derive(Debug)]
pub(crate) struct Names<'o> {
    /// The scope around this one, whose names are taken too.
    outer: Option<&'o Names<'o>>,
    taken: BTreeSet<String>,
    /// Where to go on counting for each stem, so that many equal names take linear time.
    next: BTreeMap<String, usize>,
    /// What was renamed, as `(name, identifier)`.
    renamed: Vec<(String, String)>,
}

/// A name that is longer is cut: some tools have fixed buffers.
const LONGEST: usize = 64;

impl<'o> Names<'o> {
    /// A scope in which none of these can be used.
    pub(crate) fn new<'w>(reserved: impl IntoIterator<Item = &'w str>) -> Self {
        let taken = reserved.into_iter().map(str::to_owned).gather();
        Self { outer: None, taken, next: BTreeMap::new(), renamed: Vec::new() }
    }

    /// Makes sure that an identifier is not given to anything else.
    pub(crate) fn reserve(&mut self, identifier: &str) {
        self.taken.insert(identifier.to_owned());
    }

    /// A scope within this one.
    pub(crate) fn inner<'i>(&'i self) -> Names<'i>
    where
        'o: 'i,
    {
        Names { outer: Some(self), taken: BTreeSet::new(), next: BTreeMap::new(), renamed: Vec::new() }
    }

    fn is_taken(&self, identifier: &str) -> bool {
        self.taken.contains(identifier) || self.outer.is_some_and(|outer| outer.is_taken(identifier))
    }

    /// An identifier for something that the program calls `name`.
    pub(crate) fn identifier(&mut self, name: &str) -> String {
        let identifier = self.unused(&cleaned(name));
        if identifier != name {
            self.renamed.push((name.to_owned(), identifier.clone()));
        }
        identifier
    }

    /// An identifier for something that the program does not name.
    pub(crate) fn unused(&mut self, wanted: &str) -> String {
        if !self.is_taken(wanted) {
            self.taken.insert(wanted.to_owned());
            return wanted.to_owned();
        }
        let mut number = self.next.get(wanted).copied().unwrap_or(2);
        loop {
            let identifier = format!("{wanted}_{number}");
            number += 1;
            if !self.is_taken(&identifier) {
                self.taken.insert(identifier.clone());
                self.next.insert(wanted.to_owned(), number);
                return identifier;
            }
        }
    }

    /// What has another name in the export than in the program, in order.
    pub(crate) fn renamed(&self) -> &[(String, String)] {
        &self.renamed
    }
}

/// The name with underscores for what is not allowed.
pub(crate) fn cleaned(name: &str) -> String {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let replaced: String = name.chars().map(|character| if is_allowed(character) { character } else { '_' }).collect();
    let cut = &replaced[..replaced.len().min(LONGEST)];
    // Identifiers that begin with an underscore belong to the implementation in all of these languages.
    let trimmed = if is_fine(name) { cut.trim_start_matches('_') } else { cut.trim_matches('_') };
    match trimmed.chars().next() {
        None => "n".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("n{trimmed}"),
        Some(_) => trimmed.to_owned(),
    }
}

/// Whether every character of the name is allowed.
fn is_fine(name: &str) -> bool {
    name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_unless_they_cannot() {
        let mut names = Names::new(["int"]);
        let given: Vec<String> = ["x", "int", "Worker[1]", "Worker_1", "_t", "f.r", "", "0", "x", "_"]
            .map(|name| names.identifier(name))
            .into();
        assert_eq!(given, ["x", "int_2", "Worker_1", "Worker_1_2", "t", "f_r", "n", "n0", "x_2", "n_2"]);
        let renamed: Vec<&str> = names.renamed().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(renamed, ["int", "Worker[1]", "Worker_1", "_t", "f.r", "", "0", "x", "_"]);
    }

    #[test]
    fn an_inner_scope_hides_nothing() {
        let mut outer = Names::new([]);
        assert_eq!(outer.identifier("x"), "x");
        let mut inner = outer.inner();
        assert_eq!(inner.identifier("x"), "x_2");
        assert_eq!(inner.renamed().len(), 1);
        assert_eq!(outer.identifier("x"), "x_2");
    }

    #[test]
    fn long_names_are_cut() {
        let mut names = Names::new([]);
        let long = "a".repeat(1000);
        assert_eq!(names.identifier(&long).len(), LONGEST);
        assert_eq!(names.identifier(&long).len(), LONGEST + 2);
    }
}
