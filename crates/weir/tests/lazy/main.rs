//! The lazy engine agrees with the reference interpreter, in both of its forms.

mod compare;
mod families;
mod files;
mod pass;
mod random;
mod tiny;
