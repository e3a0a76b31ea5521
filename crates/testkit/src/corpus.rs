//! Programs from elsewhere with known answers, beside the repository and no part of it.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A folder of the corpus (`../shared/corpus`), if it is there. If it is not, that is said once on standard error, past
/// the test harness, which would keep it to itself: a test that checks nothing must be seen.
pub fn corpus(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let is_new = REPORTED.lock().is_ok_and(|mut reported| reported.insert(folder.to_owned()));
    if is_new {
        let _ = writeln!(std::io::stderr(), "skipped: the corpus is not here (../shared/corpus/{folder})");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_nothing() {
        assert_eq!(corpus("no such folder"), None);
        assert_eq!(corpus("no such folder"), None);
    }
}
