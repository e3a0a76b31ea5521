//! Answers as graphs for Graphviz.

mod graph;
mod render;

pub(crate) use render::render;
