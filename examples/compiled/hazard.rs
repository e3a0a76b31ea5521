//! The hazard pointer of `hazard.c` in Rust: the reader announces which object it uses, and looks again; the writer
//! replaces the object, and frees the old one unless it is announced. Both sides store and then load.
//!
//! expect check: safe
//! expect robust: robust

use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicPtr};

pub struct Object {
    is_freed: AtomicBool,
}

static OBJECTS: [Object; 2] = [const { Object { is_freed: AtomicBool::new(false) } }; 2];
static CURRENT: AtomicPtr<Object> = AtomicPtr::new((&raw const OBJECTS[0]).cast_mut());
static HAZARD: AtomicPtr<Object> = AtomicPtr::new(null_mut());

#[unsafe(no_mangle)]
pub extern "C" fn reader() {
    let mut object = CURRENT.load(Acquire);
    loop {
        HAZARD.store(object, SeqCst);
        let again = CURRENT.load(SeqCst);
        if again == object {
            break;
        }
        object = again;
    }
    // SAFETY: objects are static.
    assert!(!unsafe { &*object }.is_freed.load(Relaxed));
    HAZARD.store(null_mut(), Release);
}

#[unsafe(no_mangle)]
pub extern "C" fn writer() {
    let old = CURRENT.swap((&raw const OBJECTS[1]).cast_mut(), SeqCst);
    if HAZARD.load(SeqCst) != old {
        // SAFETY: objects are static.
        unsafe { &*old }.is_freed.store(true, Relaxed);
    }
}
