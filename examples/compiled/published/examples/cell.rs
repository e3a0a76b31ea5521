//! crossbeam-utils: an `AtomicCell` of three words, which is a seqlock.
//!
//! expect check: safe
//! expect robust: robust

use crossbeam_utils::atomic::AtomicCell;

static CELL: AtomicCell<[u64; 3]> = AtomicCell::new([0; 3]);

#[unsafe(no_mangle)]
pub extern "C" fn store(value: u64) {
    CELL.store([value; 3]);
}

#[unsafe(no_mangle)]
pub extern "C" fn load() {
    let [first, second, third] = CELL.load();
    assert!(first == second && second == third);
}
