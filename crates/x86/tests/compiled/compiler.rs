//! A folder of its own to compile in.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A folder that is removed in the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// A new folder, if there is a compiler to use it with.
    pub(crate) fn with_gcc() -> Option<Self> {
        if !cfg!(target_arch = "x86_64")
            || !Command::new("gcc").arg("--version").output().is_ok_and(|out| out.status.success())
        {
            eprintln!("skipped: there is no gcc for x86-64 here");
            return None;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("weir-x86-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder for temporary files");
        Some(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("a file that can be written");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).expect("a file that was written")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the compiler.
pub(crate) fn gcc(folder: &Folder, arguments: &[&str]) {
    let output =
        Command::new("gcc").args(["-w"]).args(arguments).current_dir(folder.path()).output().expect("gcc runs");
    assert!(output.status.success(), "gcc {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a program that was compiled; what it prints.
pub(crate) fn run(folder: &Folder, name: &str) -> String {
    let output = Command::new(folder.path().join(name)).output().expect("it runs");
    assert!(output.status.success(), "{name} fails: {:?}", output.status);
    String::from_utf8(output.stdout).expect("numbers")
}
