//! No file, however damaged, makes the reader panic or hang. `WEIR_FUZZ_ROUNDS=100000` tries more.

use std::time::{Duration, Instant};

use weir_ir::Interrupt;
use weir_testkit::Rng;

use crate::compiler::{Folder, gcc};

/// A lock-free stack, which fuzzing starts from, too.
const CODE: &str = include_str!("../../../../fuzz/seeds/stack.c");

/// Ends some time after it began.
struct Deadline(Instant);

impl Interrupt for Deadline {
    fn is_over(&self) -> bool {
        self.0.elapsed() > Duration::from_secs(2)
    }
}

fn read(bytes: &[u8]) -> bool {
    let options = weir_x86::Options {
        threads: vec!["push(&nodes[1])".into(), "pop(0)".into()],
        init: vec!["setup(4)".into()],
        properties: vec!["forbid top == 1 && pop at code.c:19".into()],
        ..Default::default()
    };
    let files = |path: &str| weir_x86::SourceFile { name: path.to_owned(), text: None };
    let began = Instant::now();
    let result = weir_x86::read("damaged.o", bytes, &options, &files, &Deadline(began));
    assert!(began.elapsed() < Duration::from_secs(20), "it took {:?}", began.elapsed());
    result.is_ok()
}

#[test]
fn damaged_files_are_refused_or_read() {
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", CODE);
    gcc(&folder, &["-g", "-O1", "-c", "code.c", "-o", "code.o"]);
    gcc(&folder, &["-O2", "-fcommon", "-c", "code.c", "-o", "plain.o"]);
    let rounds = std::env::var("WEIR_FUZZ_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    let mut rng = Rng::new(rounds);
    let (mut read_anyway, mut refused) = (0, 0);
    for name in ["code.o", "plain.o"] {
        let whole = folder.read(name);
        assert!(name != "code.o" || read(&whole), "the file as it is");
        for _ in 0..rounds {
            let mut bytes = whole.clone();
            match rng.below(4) {
                0 => bytes.truncate(rng.below(bytes.len())),
                1 => {
                    let (start, length) = (rng.below(bytes.len()), rng.below(64));
                    bytes.drain(start..(start + length).min(whole.len()));
                }
                _ => {
                    for _ in 0..rng.between(1, 12) {
                        let at = rng.below(bytes.len());
                        bytes[at] = *rng.pick(&[0, 1, 0x7F, 0x80, 0xFF, rng.clone().bits() as u8]);
                    }
                }
            }
            if read(&bytes) { read_anyway += 1 } else { refused += 1 }
        }
    }
    assert!(read_anyway > 0 && refused > 0, "{read_anyway} read, {refused} refused: the damage is of one kind only");
}

/// Fuzzing found it: the code of an inlined call begins in the file, and is nearly as long as the address space.
#[test]
fn code_that_ends_nowhere_is_none() {
    const ENDLESS: &[u8] = include_bytes!("../../../../fuzz/seeds/compiled/endless-code.o");
    read(ENDLESS);
}

/// `mine` is the only symbol of its type; its value is its place among the thread-local variables.
#[test]
fn a_thread_local_variable_that_lies_nowhere_is_none() {
    const THREAD_LOCAL: u8 = 6;
    let Some(folder) = Folder::with_gcc() else { return };
    folder.write("code.c", CODE);
    gcc(&folder, &["-g", "-O1", "-c", "code.c", "-o", "code.o"]);
    let mut bytes = folder.read("code.o");
    let size = 4u64.to_le_bytes();
    let is_symbol = |entry: &[u8]| entry[4] & 0xF == THREAD_LOCAL && entry[8..16] == [0; 8] && entry[16..] == size;
    let places: Vec<usize> = (0..bytes.len() - 24).step_by(4).filter(|&at| is_symbol(&bytes[at..at + 24])).collect();
    assert!(!places.is_empty(), "the symbol is not found");
    for place in places {
        bytes[place + 8..place + 16].fill(0xFF);
    }
    assert!(read(&bytes), "nothing asks for it by name");
}
