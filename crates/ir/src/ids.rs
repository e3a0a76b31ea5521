//! Typed indices. A bare `usize` never crosses a module boundary.

/// Declares a typed index over `u32`.
macro_rules! index {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// The index of the `index`-th item of a list.
            ///
            /// # Panics
            /// If the list has more than `u32::MAX` items, which no program that fits memory has.
            #[inline]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than u32::MAX items"))
            }

            /// The position in the list.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

index!(
    /// A thread of a program: its place in [`Program::threads`](crate::Program::threads).
    ThreadId
);
index!(
    /// A procedure: its place in [`Program::procedures`](crate::Program::procedures).
    ProcId
);
index!(
    /// A register of one body: its place in [`Body::registers`](crate::Body::registers).
    RegId
);
index!(
    /// A control point of one body: its place in [`Body::locations`](crate::Body::locations).
    LocId
);
index!(
    /// An edge of one body: its place in [`Body::edges`](crate::Body::edges).
    EdgeId
);
index!(
    /// A property: its place in [`Program::properties`](crate::Program::properties).
    PropertyId
);
index!(
    /// A control state of a net: its place in [`Net::controls`](crate::net::Net::controls).
    ControlId
);
index!(
    /// A place of a net: its place in [`Net::places`](crate::net::Net::places).
    PlaceId
);
index!(
    /// A transition of a net: its place in [`Net::transitions`](crate::net::Net::transitions).
    NetTransitionId
);

/// The only control state of a net that has no control.
impl Default for ControlId {
    fn default() -> Self {
        Self(0)
    }
}
