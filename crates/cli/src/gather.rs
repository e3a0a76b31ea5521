//! Which tests are meant: files, folders with all that is in them, and lists of files.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::error::Error;
use crate::input::{PROGRAM_LIMIT, is_stdin, read_text};
use crate::limits::MAX_FOLDER_DEPTH;

/// A file to read, or why there is none.
pub(crate) type Found = (PathBuf, Result<(), Error>);

/// The litmus tests that the command line names, in its order; within a folder by name. A list may name tests outside
/// its folder only if `follow` is set.
pub(crate) fn litmus_tests(named: &[PathBuf], follow: bool) -> Vec<Found> {
    let mut gathering = Gathering { follow, ..Gathering::default() };
    // The next one last.
    let mut open: Vec<Named> =
        named.iter().rev().map(|path| Named { path: path.clone(), depth: 0, within: None }).collect();
    while let Some(next) = open.pop() {
        let (mut inner, within) = gathering.visit(&next);
        inner.reverse();
        let depth = next.depth + 1;
        open.extend(inner.into_iter().map(|path| Named { path, depth, within: within.clone() }));
    }
    if let (true, Some(first)) = (gathering.found.is_empty(), named.first()) {
        // Lists that are empty, or name only each other.
        let error = Error::input_with_help("the list names no litmus tests", "list one file per line");
        gathering.found.push((first.clone(), Err(error)));
    }
    gathering.found
}

/// A file or a folder that was named.
struct Named {
    path: PathBuf,
    depth: usize,
    /// If a list named it, or a folder around it: the folder that it must not lead out of.
    within: Option<Rc<Path>>,
}

#[derive(Default)]
struct Gathering {
    found: Vec<Found>,
    /// Lists that were read: one that names itself is read once.
    lists: HashSet<PathBuf>,
    follow: bool,
}

impl Gathering {
    /// Notes a file; what a folder or a list holds is still to be visited, and must not lead out of the folder that is
    /// returned with it.
    fn visit(&mut self, Named { path, depth, within }: &Named) -> (Vec<PathBuf>, Option<Rc<Path>>) {
        let leads_outside = |folder: &Rc<Path>| !fs::canonicalize(path).is_ok_and(|real| real.starts_with(folder));
        let inner = if is_stdin(path) && *depth == 0 {
            Ok(None)
        } else if within.as_ref().is_some_and(leads_outside) {
            Err(Error::input_with_help("this leads outside the folder of the list", FOLLOW))
        } else if path.is_dir() {
            folder(path, *depth).map(|inner| Some((inner, within.clone())))
        } else if is_list(path) {
            self.list(path).map(Some)
        } else {
            Ok(None)
        };
        match inner {
            Ok(Some(inner)) => return inner,
            Ok(None) => self.found.push((path.clone(), Ok(()))),
            Err(error) => self.found.push((path.clone(), Err(error))),
        }
        (Vec::new(), None)
    }

    fn list(&mut self, path: &Path) -> Result<(Vec<PathBuf>, Option<Rc<Path>>), Error> {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !self.lists.insert(real) {
            return Ok((Vec::new(), None));
        }
        let text = read_text(path, PROGRAM_LIMIT)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let real = fs::canonicalize(Path::new(".").join(folder)).unwrap_or_else(|_| folder.to_owned());
        let names = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
        let mut inner = Vec::new();
        for (number, name) in (1..).zip(names).filter(|(_, name)| !name.is_empty()) {
            let named = folder.join(name);
            match self.refuse(&named, &real) {
                None => inner.push(named),
                // The line is not quoted: the list may be any file, whose content should not be shown.
                Some((reason, help)) => {
                    let error = Error::input_with_help(format!("line {number} of the list {reason}"), help);
                    self.found.push((path.to_owned(), Err(error)));
                }
            }
        }
        Ok((inner, (!self.follow).then(|| real.into())))
    }

    /// Why a list must not name this, if so, and a way out.
    fn refuse(&self, named: &Path, folder: &Path) -> Option<(&'static str, &'static str)> {
        let Ok(real) = fs::canonicalize(named) else {
            return Some(("names no file or folder", "list one litmus test per line, relative to the list"));
        };
        if !self.follow && !real.starts_with(folder) {
            let reason = "names a file outside the folder of the list";
            return Some((reason, FOLLOW));
        }
        let is_known = named.is_dir() || is_list(named) || is_test(named);
        (!is_known).then_some(("names a file that does not end in `.litmus`", "rename the test, or name it explicitly"))
    }
}

/// What to do about a list that leads out of its folder.
const FOLLOW: &str = "if you trust the list, allow it with `--follow`";

fn is_test(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("litmus"))
}

/// `@all` lists tests, as the tools that generate them write it.
fn is_list(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('@'))
}

/// The tests and folders in a folder. Links to folders are not followed, so this terminates.
fn folder(path: &Path, depth: usize) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |error: std::io::Error| Error::input(format!("cannot read the folder: {error}"));
    if depth > MAX_FOLDER_DEPTH {
        return Err(Error::input(format!("folders are nested more than {MAX_FOLDER_DEPTH} deep")));
    }
    let mut inner = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let is_folder = entry.file_type().map_err(unreadable)?.is_dir();
        let name = entry.path();
        if is_folder || is_test(&name) && name.is_file() {
            inner.push(name);
        }
    }
    if inner.is_empty() && depth == 0 {
        let help = "litmus tests end in `.litmus`; name any other file explicitly";
        return Err(Error::input_with_help("this folder contains no litmus tests", help));
    }
    inner.sort_unstable();
    Ok(inner)
}
