//! Maps and sets from iterators, with little code.
//!
//! `collect` into a `BTreeMap` or `BTreeSet` sorts all elements first, with a sort of some kilobytes that is compiled
//! for each type of element: all of them together were a tenth of the binary, and of the time that it takes to build.
//! Where few elements are collected, inserting them one by one is just as fast.

/// See [`gather`](Self::gather).
pub trait Gather: Iterator + Sized {
    /// [`collect`](Iterator::collect) into a map or a set, for few elements: they are inserted one by one.
    fn gather<C: Default + Extend<Self::Item>>(self) -> C {
        let mut collection = C::default();
        collection.extend(self);
        collection
    }
}

impl<I: Iterator> Gather for I {}
