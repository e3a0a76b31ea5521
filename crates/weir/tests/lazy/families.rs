//! The families of the thesis.
