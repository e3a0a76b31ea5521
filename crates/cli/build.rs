//! Asks the linker for a smaller binary that starts faster, where linker and system can do that.
//!
//! Much generic code is the same for several types: some linkers (among them the one that comes with Rust on Linux) can
//! fold functions with the same code into one. And a program at a fixed address needs no relocations, which are a
//! twentieth of the file and have to be applied at each start.
//!
//! Each flag is tried on a program that does nothing. Where it does not work, the binary is linked without it.

use std::path::Path;
use std::process::{Command, Stdio};

const FLAGS: [&str; 2] = ["-no-pie", "-Wl,--icf=all"];

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is_gnu_linux = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    // Builds for tests should not wait for this.
    if variable("PROFILE") == "release" && is_gnu_linux {
        FLAGS.into_iter().filter(|flag| works(flag)).for_each(|flag| println!("cargo:rustc-link-arg-bins={flag}"));
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Whether a program can be linked with this flag, as the binary will be.
fn works(flag: &str) -> bool {
    let folder = variable("OUT_DIR");
    let source = Path::new(&folder).join("nothing.rs");
    if std::fs::write(&source, "fn main() {}").is_err() {
        return false;
    }
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.args(["--target", &variable("TARGET"), "--out-dir", &folder]).arg(&source);
    rustc.args(["-C", &format!("link-arg={flag}")]);
    let linker = variable("RUSTC_LINKER");
    if !linker.is_empty() {
        rustc.args(["-C", &format!("linker={linker}")]);
    }
    rustc.args(variable("CARGO_ENCODED_RUSTFLAGS").split('\x1f').filter(|flag| !flag.is_empty()));
    let status = rustc.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
