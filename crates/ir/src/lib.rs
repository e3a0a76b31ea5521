//! Programs as Weir sees them: threads as control-flow automata over registers and shared cells, with
//! the span of source that each part came from; validation, printing of parts, flow analyses. Petri nets are beside
//! programs, in [`net`].
//!
//! This crate depends on nothing of Weir's, reads no text and does no IO.

mod builder;
mod comments;
mod diagnostic;
mod display;
mod expr;
mod fixed_limit;
pub mod flow;
mod gather;
mod ids;
mod instruction;
mod interrupt;
mod link;
mod lint;
pub mod net;
mod program;
pub mod sort;
mod span;
mod validate;

pub use builder::BodyBuilder;
pub use comments::Comments;
pub use diagnostic::{Diagnostic, Label, Severity, nearest};
pub use display::{body_instruction_text, body_place_name, expr_text};
pub use expr::{BinaryOp, Expr, UnaryOp, Value};
pub use fixed_limit::FixedLimit;
pub use gather::Gather;
pub use ids::{ControlId, EdgeId, LocId, NetTransitionId, PlaceId, ProcId, PropertyId, RegId, ThreadId};
pub use instruction::Hindrance;
pub use interrupt::{Interrupt, Poll, Uninterrupted};
pub use link::spawn_constant;
pub use lint::{lint, lint_until};
pub use program::{
    Address, BinaryRmw, Body, CostRule, CostSubject, Edge, Frame, Instruction, Location, Multiplicity, Procedure,
    Program, Property, PropertyKind, Range, RegExpr, Register, Rmw, Shared, StateAtom, StateExpr, Thread, Width,
};
pub use span::{LineColumn, Source, Span};
pub use validate::{MAX_EXPRESSION_DEPTH, validate};
