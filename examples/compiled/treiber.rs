//! The stack of `treiber.c` in Rust. Each thread pushes a node of its own and pops one.
//!
//! expect check: safe
//! expect robust: robust

#![allow(non_upper_case_globals)] // The variables are called as in C.

use core::ptr::null_mut;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU32};

pub struct Node {
    next: AtomicPtr<Node>,
    value: AtomicU32,
}

#[unsafe(no_mangle)]
pub static nodes: [Node; 2] = [const { Node { next: AtomicPtr::new(null_mut()), value: AtomicU32::new(0) } }; 2];
#[unsafe(no_mangle)]
pub static top: AtomicPtr<Node> = AtomicPtr::new(null_mut());

fn push(node: &Node) {
    let mut old = top.load(Relaxed);
    loop {
        node.next.store(old, Relaxed);
        match top.compare_exchange_weak(old, core::ptr::from_ref(node).cast_mut(), Release, Relaxed) {
            Ok(_) => return,
            Err(now) => old = now,
        }
    }
}

fn pop() -> Option<&'static Node> {
    let mut old = top.load(Acquire);
    loop {
        // SAFETY: nodes are static.
        let node = unsafe { old.as_ref() }?;
        match top.compare_exchange_weak(old, node.next.load(Relaxed), Acquire, Acquire) {
            Ok(_) => return Some(node),
            Err(now) => old = now,
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn worker(mine: &Node, value: u32) {
    mine.value.store(value, Relaxed);
    push(mine);
    let Some(node) = pop() else { panic!() };
    assert!(node.value.load(Relaxed) != 0);
}
