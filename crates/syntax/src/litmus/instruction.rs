//! One instruction: a mnemonic and its operands.
//!
//! Tests of `X86` write the destination first (Intel), tests of `X86_64` last (AT&T), as herd7 and litmus7 read them.
//! Two mnemonics are written both ways in tests of `X86_64`; there the memory operand tells which is which.

use weir_ir::{Diagnostic, Span, Value, nearest};

use super::Refused;
use super::cursor::Cursor;
use super::header::Architecture;
use super::mnemonic::{self, Operation};
use super::place::register_name;
use super::register::RegisterName;
use super::token::{Kind, Token};
use super::tree::{CellName, Constant, Instruction, Memory, Operand, OperandKind};

/// Reads an instruction.
pub(super) fn read(cursor: &mut Cursor<'_>, architecture: Architecture) -> Result<Instruction, Refused> {
    let start = cursor.peek();
    let lock = cursor.is_word("lock").then(|| cursor.next());
    if lock.is_some() {
        // Assemblers take `lock; inc (x)`, and the tools print it so.
        cursor.eat(Kind::Semicolon);
    }
    let (operation, suffix) = operation(cursor)?;
    let target = if operation.is_jump() { Some(label(cursor)?) } else { None };
    let operands = if target.is_none() { operands(cursor)? } else { Vec::new() };
    let span = cursor.since(start);
    let is_locked = lock.is_some();
    let mut instruction = Instruction { operation, is_locked, suffix, operands, target, span };
    check_arity(&instruction)?;
    put_destination_first(&mut instruction, architecture);
    check_operands(&instruction, architecture)?;
    if let Some(lock) = lock {
        check_lock(&instruction, lock.span)?;
    }
    Ok(instruction)
}

fn operation(cursor: &mut Cursor<'_>) -> Result<(Operation, Option<u32>), Refused> {
    let token = cursor.expect(Kind::Name, "an instruction")?;
    let name = cursor.text(token);
    mnemonic::lookup(name).ok_or_else(|| unknown_instruction(name, token.span).into())
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

fn label(cursor: &mut Cursor<'_>) -> Result<(String, Span), Refused> {
    let token = cursor.expect(Kind::Name, "the label to jump to")?;
    Ok((cursor.text(token).to_owned(), token.span))
}

fn operands(cursor: &mut Cursor<'_>) -> Result<Vec<Operand>, Refused> {
    let mut operands = Vec::new();
    if matches!(cursor.peek().kind, Kind::Bar | Kind::Semicolon | Kind::End) {
        return Ok(operands);
    }
    loop {
        operands.push(operand(cursor)?);
        if !cursor.eat(Kind::Comma) {
            return Ok(operands);
        }
    }
}

fn operand(cursor: &mut Cursor<'_>) -> Result<Operand, Refused> {
    if cursor.text(cursor.peek()).eq_ignore_ascii_case("%cs") && cursor.ahead(1).kind == Kind::Colon {
        cursor.next();
        cursor.next();
    }
    let start = cursor.peek();
    let kind = match start.kind {
        Kind::Immediate(value) => immediate(cursor, Constant::Number(value)),
        Kind::ImmediateName => {
            let name = cursor.text(start).trim_start_matches('$').to_owned();
            immediate(cursor, Constant::Address(CellName { name, index: None }))
        }
        Kind::Number(value) if !matches!(cursor.ahead(1).kind, Kind::LeftParen | Kind::LeftBracket) => {
            immediate(cursor, Constant::Number(value))
        }
        Kind::Number(offset) => {
            cursor.next();
            OperandKind::Memory(memory(cursor, offset)?)
        }
        Kind::LeftParen | Kind::LeftBracket => OperandKind::Memory(memory(cursor, 0)?),
        _ => match register_name(cursor, start) {
            Some(register) => {
                cursor.next();
                OperandKind::Register(register)
            }
            None => return Err(no_operand(cursor, start).into()),
        },
    };
    Ok(Operand { kind, span: cursor.since(start) })
}

fn immediate(cursor: &mut Cursor<'_>, constant: Constant) -> OperandKind {
    cursor.next();
    OperandKind::Immediate(constant)
}

fn no_operand(cursor: &Cursor<'_>, token: Token) -> Diagnostic {
    let error = cursor.expected("an operand: a register, a cell such as `[x]`, or a number such as `$1`");
    if token.kind == Kind::Name {
        let name = cursor.text(token);
        if ["BYTE", "WORD", "DWORD", "QWORD", "PTR"].iter().any(|size| name.eq_ignore_ascii_case(size)) {
            let help = "leave out the size: it follows from the registers, or from the instruction's suffix (`MOVL`)";
            return error.help(help);
        }
        return error.help(format!("to read the cell `{name}`, write `[{name}]` or `({name})`"));
    }
    error
}

/// `[x]`, `(%rax)`, `(%rax,%rbx,4)`; the offset before it was read.
fn memory(cursor: &mut Cursor<'_>, offset: Value) -> Result<Memory, Refused> {
    let open = cursor.next();
    let (close, text) =
        if open.kind == Kind::LeftParen { (Kind::RightParen, "`)`") } else { (Kind::RightBracket, "`]`") };
    let token = cursor.peek();
    let memory = match register_name(cursor, token) {
        Some(base) => {
            cursor.next();
            let index = scaled_index(cursor)?;
            Memory::Computed { base, offset, index }
        }
        None if token.kind == Kind::Name && offset == 0 => {
            cursor.next();
            Memory::Cell(cursor.text(token).to_owned())
        }
        None => return Err(no_address(cursor).into()),
    };
    cursor.expect(close, text)?;
    Ok(memory)
}

fn scaled_index(cursor: &mut Cursor<'_>) -> Result<Option<(RegisterName, Value)>, Refused> {
    if !cursor.eat(Kind::Comma) {
        return Ok(None);
    }
    let index = register_name(cursor, cursor.peek()).ok_or_else(|| cursor.expected("a register"))?;
    cursor.next();
    if !cursor.eat(Kind::Comma) {
        return Ok(Some((index, 1)));
    }
    match cursor.peek().kind {
        Kind::Number(scale @ (0 | 1 | 2 | 4 | 8)) => {
            cursor.next();
            Ok(Some((index, scale)))
        }
        _ => Err(cursor.expected("1, 2, 4 or 8").into()),
    }
}

fn no_address(cursor: &Cursor<'_>) -> Diagnostic {
    let token = cursor.peek();
    if token.kind == Kind::Name {
        let message = format!("mixed sizes: this access starts in the middle of `{}`", cursor.text(token));
        let help = "Weir models whole cells; access array elements through a register, as in `4(%rax)`";
        return Diagnostic::error("mixed-size", message, token.span).help(help);
    }
    let error = cursor.expected("a cell or a register");
    match cursor.peek().kind {
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
