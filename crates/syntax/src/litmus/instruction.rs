//! One instruction: a mnemonic and its operands.
//!
//! Tests of `X86` write the destination first (Intel), tests of `X86_64` last (AT&T), as herd7 and litmus7 read them.
//! Two mnemonics are written both ways in tests of `X86_64`; there the memory operand tells which is which.

use weir_ir::{Diagnostic, Span, Value, nearest};

use super::Refused;
use super::header::Architecture;
use super::mnemonic::{self, Operation};
use super::parser::Parser;
use super::place::register_name;
use super::register::RegisterName;
use super::token::{Kind, Token};
use super::tree::{CellName, Constant, Instruction, Memory, Operand, OperandKind};
use crate::parsing::{Descent, Parse};

/// Reads an instruction.
pub(super) fn read(parser: &mut Parser<'_, '_>, architecture: Architecture) -> Parse<Instruction> {
    let start = parser.token();
    let lock = parser.is_keyword("lock").then(|| parser.bump());
    if lock.is_some() {
        // Assemblers take `lock; inc (x)`, and the tools print it so.
        parser.eat(Kind::Semicolon);
    }
    let (operation, suffix) = operation(parser)?;
    let target = if operation.is_jump() { Some(label(parser)?) } else { None };
    let operands = if target.is_none() { operands(parser)? } else { Vec::new() };
    let span = parser.since(start);
    let is_locked = lock.is_some();
    let mut instruction = Instruction { operation, is_locked, suffix, operands, target, span };
    let checked = check(&mut instruction, lock.map(|lock| lock.span), architecture);
    checked.map_err(|error| parser.error(*error))?;
    Ok(instruction)
}

/// Checks the operands, and puts the destination first.
fn check(instruction: &mut Instruction, lock: Option<Span>, architecture: Architecture) -> Result<(), Refused> {
    check_arity(instruction)?;
    put_destination_first(instruction, architecture);
    check_operands(instruction, architecture)?;
    lock.map_or(Ok(()), |lock| check_lock(instruction, lock))
}

fn operation(parser: &mut Parser<'_, '_>) -> Parse<(Operation, Option<u32>)> {
    let token = parser.expect_as(Kind::Name, "an instruction")?;
    let name = parser.text(token);
    mnemonic::lookup(name).ok_or_else(|| parser.error(unknown_instruction(name, token.span)))
}

fn unknown_instruction(name: &str, span: Span) -> Diagnostic {
    if mnemonic::is_beyond_tso(name) {
        let message = format!("`{name}` is not supported: the memory model covers only ordinary loads and stores");
        return Diagnostic::error("unsupported-instruction", message, span)
            .help("non-temporal stores, cache control and string moves are not modelled; use ordinary instructions");
    }
    let error = Diagnostic::error("unknown-instruction", format!("unknown instruction `{name}`"), span);
    let lower = name.to_ascii_lowercase();
    match nearest(&lower, mnemonic::known_names()) {
        Some(near) => error.help(format!("did you mean `{}`?", as_written(near, name))),
        None => error.help("supported are moves, arithmetic, comparisons, jumps, exchanges, fences and `LOCK`"),
    }
}

/// A suggestion in the case of what was written.
fn as_written(near: &str, name: &str) -> String {
    if name.chars().any(|c| c.is_ascii_lowercase()) { near.to_owned() } else { near.to_ascii_uppercase() }
}

fn label(parser: &mut Parser<'_, '_>) -> Parse<(String, Span)> {
    let token = parser.expect_as(Kind::Name, "the label to jump to")?;
    Ok((parser.text(token).to_owned(), token.span))
}

fn operands(parser: &mut Parser<'_, '_>) -> Parse<Vec<Operand>> {
    let mut operands = Vec::new();
    if matches!(parser.peek(), Kind::Bar | Kind::Semicolon | Kind::End) {
        return Ok(operands);
    }
    loop {
        operands.push(operand(parser)?);
        if !parser.eat(Kind::Comma) {
            return Ok(operands);
        }
    }
}

fn operand(parser: &mut Parser<'_, '_>) -> Parse<Operand> {
    if parser.text(parser.token()).eq_ignore_ascii_case("%cs") && parser.peek_ahead(1) == Kind::Colon {
        parser.bump();
        parser.bump();
    }
    let start = parser.token();
    let kind = match start.kind {
        Kind::Immediate(value) => immediate(parser, Constant::Number(value)),
        Kind::ImmediateName => {
            let name = parser.text(start).trim_start_matches('$').to_owned();
            immediate(parser, Constant::Address(CellName { name, index: None }))
        }
        Kind::Number(value) if !matches!(parser.peek_ahead(1), Kind::LeftParen | Kind::LeftBracket) => {
            immediate(parser, Constant::Number(value))
        }
        Kind::Number(offset) => {
            parser.bump();
            OperandKind::Memory(memory(parser, offset)?)
        }
        Kind::LeftParen | Kind::LeftBracket => OperandKind::Memory(memory(parser, 0)?),
        _ => match register_name(parser, start) {
            Some(register) => {
                parser.bump();
                OperandKind::Register(register)
            }
            None => return Err(parser.error(no_operand(parser, start))),
        },
    };
    Ok(Operand { kind, span: parser.since(start) })
}

fn immediate(parser: &mut Parser<'_, '_>, constant: Constant) -> OperandKind {
    parser.bump();
    OperandKind::Immediate(constant)
}

fn no_operand(parser: &Parser<'_, '_>, token: Token) -> Diagnostic {
    let error = parser.unexpected("an operand: a register, a cell such as `[x]`, or a number such as `$1`");
    if token.kind == Kind::Name {
        let name = parser.text(token);
        if ["BYTE", "WORD", "DWORD", "QWORD", "PTR"].iter().any(|size| name.eq_ignore_ascii_case(size)) {
            let help = "leave out the size: it follows from the registers, or from the instruction's suffix (`MOVL`)";
            return error.help(help);
        }
        return error.help(format!("to read the cell `{name}`, write `[{name}]` or `({name})`"));
    }
    error
}

/// `[x]`, `(%rax)`, `(%rax,%rbx,4)`; the offset before it was read.
fn memory(parser: &mut Parser<'_, '_>, offset: Value) -> Parse<Memory> {
    let open = parser.bump();
    let close = if open.kind == Kind::LeftParen { Kind::RightParen } else { Kind::RightBracket };
    let token = parser.token();
    let memory = match register_name(parser, token) {
        Some(base) => {
            parser.bump();
            let index = scaled_index(parser)?;
            Memory::Computed { base, offset, index }
        }
        None if token.kind == Kind::Name && offset == 0 => {
            parser.bump();
            Memory::Cell(parser.text(token).to_owned())
        }
        None => return Err(parser.error(no_address(parser))),
    };
    parser.expect(close)?;
    Ok(memory)
}

fn scaled_index(parser: &mut Parser<'_, '_>) -> Parse<Option<(RegisterName, Value)>> {
    if !parser.eat(Kind::Comma) {
        return Ok(None);
    }
    let Some(index) = register_name(parser, parser.token()) else { return parser.expected("a register") };
    parser.bump();
    if !parser.eat(Kind::Comma) {
        return Ok(Some((index, 1)));
    }
    match parser.peek() {
        Kind::Number(scale @ (0 | 1 | 2 | 4 | 8)) => {
            parser.bump();
            Ok(Some((index, scale)))
        }
        _ => parser.expected("1, 2, 4 or 8"),
    }
}

fn no_address(parser: &Parser<'_, '_>) -> Diagnostic {
    let token = parser.token();
    if token.kind == Kind::Name {
        let message = format!("mixed sizes: this access starts in the middle of `{}`", parser.text(token));
        let help = "Weir models whole cells; access array elements through a register, as in `4(%rax)`";
        return Diagnostic::error("mixed-size", message, token.span).help(help);
    }
    let error = parser.unexpected("a cell or a register");
    match parser.peek() {
        Kind::Number(_) => error.help("cells have names; numbers are not addresses in a litmus test"),
        _ => error,
    }
}

fn check_arity(instruction: &Instruction) -> Result<(), Refused> {
    let (wanted, found) = (instruction.operation.arity(), instruction.operands.len());
    // Long forms of `NOP` have an operand that nothing looks at.
    if wanted == found || instruction.operation == Operation::Nothing && found == 1 {
        return Ok(());
    }
    let plural = if wanted == 1 { "" } else { "s" };
    let message = format!("this instruction takes {wanted} operand{plural}, but has {found}");
    Err(Diagnostic::error("wrong-operands", message, instruction.span).into())
}

/// The destination first, whatever the syntax.
fn put_destination_first(instruction: &mut Instruction, architecture: Architecture) {
    let [_, second] = instruction.operands.as_slice() else { return };
    let is_memory = |operand: &Operand| matches!(operand.kind, OperandKind::Memory(_));
    let swap = match (instruction.operation, architecture) {
        // herd7 wants the destination first here even in `X86_64`; assemblers last. The memory operand is it.
        (Operation::CompareExchange | Operation::ExchangeAdd, Architecture::X86_64) => is_memory(second),
        // … and here it is the source.
        (Operation::MoveIf(_), Architecture::X86_64) => !is_memory(second),
        (_, Architecture::X86_64) => true,
        (_, Architecture::X86) => false,
    };
    if swap {
        instruction.operands.reverse();
    }
}

fn check_operands(instruction: &Instruction, architecture: Architecture) -> Result<(), Refused> {
    let is_memory = |operand: &&Operand| matches!(operand.kind, OperandKind::Memory(_));
    let fail = |message: &str, span: Span, help: &str| {
        Err(Diagnostic::error("wrong-operands", message, span).help(help).into())
    };
    let (operation, operands) = (instruction.operation, &instruction.operands);
    if operands.iter().filter(is_memory).count() > 1 {
        return fail(
            "an x86 instruction can have at most one memory operand",
            instruction.span,
            "load it into a register first",
        );
    }
    let Some(destination) = operands.first() else { return Ok(()) };
    let reads_only = matches!(operation, Operation::Compare(_) | Operation::Read);
    if matches!(destination.kind, OperandKind::Immediate(_)) && !reads_only {
        let order = match architecture {
            Architecture::X86 => "in `X86` tests the destination comes first: `MOV [x],$1`",
            Architecture::X86_64 => "in `X86_64` tests the destination comes last: `movl $1,(x)`",
        };
        return fail("a number cannot be the destination", destination.span, order);
    }
    let Some(source) = operands.get(1) else { return Ok(()) };
    let source_is_register = matches!(source.kind, OperandKind::Register(_));
    match operation {
        Operation::CompareExchange | Operation::ExchangeAdd if !source_is_register || !is_memory(&destination) => fail(
            "this instruction takes a cell and a register",
            instruction.span,
            "write it as in `LOCK CMPXCHG [x],EBX`",
        ),
        Operation::Exchange | Operation::UnlockedExchange if matches!(source.kind, OperandKind::Immediate(_)) => {
            fail("a number cannot be an operand of an exchange", source.span, "load it into a register first")
        }
        Operation::MoveIf(_) | Operation::LoadAddress if !matches!(destination.kind, OperandKind::Register(_)) => {
            fail("the destination must be a register", destination.span, "write the result to memory with `MOV`")
        }
        Operation::LoadAddress if !is_memory(&source) => {
            fail("the source must be a memory operand", source.span, "write it as in `LEA EAX,[x]`")
        }
        Operation::Shift(_) if !matches!(source.kind, OperandKind::Immediate(Constant::Number(_))) => {
            fail("the shift count must be a constant", source.span, "write a number, as in `SHL EAX,$1`")
        }
        _ => Ok(()),
    }
}

fn check_lock(instruction: &Instruction, lock: Span) -> Result<(), Refused> {
    let has_memory = instruction.operands.iter().any(|operand| matches!(operand.kind, OperandKind::Memory(_)));
    let destination_is_memory =
        instruction.operands.first().is_some_and(|operand| matches!(operand.kind, OperandKind::Memory(_)));
    let exchange = instruction.operation == Operation::Exchange && has_memory;
    if instruction.operation.is_lockable() && (destination_is_memory || exchange) {
        return Ok(());
    }
    let message = "`LOCK` cannot be applied to this instruction";
    Err(Diagnostic::error("wrong-lock", message, lock)
        .also(instruction.span, "this is not a read-modify-write of a cell")
        .help(
            "`LOCK` needs `ADD`, `INC`, `XADD`, `CMPXCHG` or the like, with a cell as destination; for a fence, write `MFENCE`",
        )
        .into())
}
