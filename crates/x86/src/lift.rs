//! The meaning of each instruction, as operations.
//!
//! What is not supported is refused by name; nothing is approximated. What the processor leaves undefined (some flags)
//! stays undefined, and whoever looks at it is refused.

mod arithmetic;
mod bits;
mod flags;
mod memory;
mod operand;
mod string;
mod vector;

use iced_x86::{Code, ConditionCode, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};
use weir_ir::BinaryOp;

use crate::ops::{E, Lifted, Next, Op, Reg, Shape, Test, binary, constant, not, register, signed, test};
use crate::refusal::Refusal;

/// The longest instruction, in bytes.
pub(crate) const LONGEST: usize = 15;

/// Decodes the instruction at an address.
pub(crate) fn decode(code: &[u8], address: u64) -> Option<Instruction> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let instruction = decoder.decode();
    (!instruction.is_invalid()).then_some(instruction)
}

/// The meaning of an instruction.
pub(crate) fn lift(instruction: &Instruction) -> Result<Lifted, Refusal> {
    let mut lifter = Lifter { instruction, ops: Vec::new(), owned: 0, shape: Shape::Single };
    let next = lifter.lift().map_err(|refusal| refusal.at(instruction.ip()))?;
    Ok(Lifted { ops: lifter.ops, next, end: instruction.next_ip(), shape: lifter.shape })
}

/// Translates one instruction.
struct Lifter<'i> {
    instruction: &'i Instruction,
    ops: Vec<Op>,
    /// How many registers of its own it has used.
    owned: u8,
    shape: Shape,
}

impl Lifter<'_> {
    fn lift(&mut self) -> Result<Next, Refusal> {
        let instruction = self.instruction;
        if let Some(next) = self.string()? {
            return Ok(next);
        }
        if instruction.has_repne_prefix() || instruction.has_rep_prefix() && !is_rep_harmless(instruction) {
            return Err(self.unsupported());
        }
        if let Some(next) = self.control()? {
            return Ok(next);
        }
        let is_done = self.moves()?
            || self.arithmetic()?
            || self.multiply()?
            || self.scan()?
            || self.atomic()?
            || self.vector()?
            || self.rest()?;
        if is_done { Ok(Next::Fall) } else { Err(self.unsupported()) }
    }

    /// An instruction that is not supported, or not in this form.
    fn unsupported(&self) -> Refusal {
        let name = format!("{:?}", self.instruction.mnemonic()).to_lowercase();
        let refusal =
            Refusal::new("unsupported-instruction", format!("the instruction `{name}` is not supported in this form"));
        let features = self.instruction.cpuid_features().iter().map(|feature| format!("{feature:?}"));
        let is_vector = |feature: String| ["SSE", "AVX", "MMX", "FPU"].iter().any(|set| feature.starts_with(set));
        refusal.help(if features.into_iter().any(is_vector) {
            "compile for plain x86-64 without vector code (`-O1`, or `-O2 -fno-tree-vectorize -mno-avx`)"
        } else {
            "put it in a function of its own (not inlined), and say what that does: `--function NAME=nothing`, or the \
             number that it returns"
        })
    }

    /// Instructions that end a basic block.
    fn control(&mut self) -> Result<Option<Next>, Refusal> {
        let instruction = self.instruction;
        let near = instruction.near_branch_target();
        let is_near = matches!(instruction.op0_kind(), OpKind::NearBranch64);
        Ok(Some(match instruction.mnemonic() {
            Mnemonic::Jmp if is_near => Next::Jump(near),
            Mnemonic::Jmp => Next::JumpTo(self.read(0)?),
            Mnemonic::Call if is_near => Next::Call(constant(near as i64)),
            Mnemonic::Call => Next::Call(self.read(0)?),
            Mnemonic::Ret if instruction.op_count() == 0 => Next::Return,
            Mnemonic::Ud2 | Mnemonic::Ud1 | Mnemonic::Ud0 | Mnemonic::Int3 | Mnemonic::Hlt => Next::Trap,
            _ if instruction.is_jcc_short_or_near() => Next::Branch(self.condition()?, near),
            _ => return Ok(None),
        }))
    }

    /// The condition of a conditional instruction.
    fn condition(&self) -> Result<E, Refusal> {
        Ok(match self.instruction.condition_code() {
            ConditionCode::o => test(Test::Overflow),
            ConditionCode::no => not(test(Test::Overflow)),
            ConditionCode::b => test(Test::Below),
            ConditionCode::ae => not(test(Test::Below)),
            ConditionCode::e => test(Test::Equal),
            ConditionCode::ne => not(test(Test::Equal)),
            ConditionCode::be => test(Test::BelowOrEqual),
            ConditionCode::a => not(test(Test::BelowOrEqual)),
            ConditionCode::s => test(Test::Sign),
            ConditionCode::ns => not(test(Test::Sign)),
            ConditionCode::p => test(Test::Parity),
            ConditionCode::np => not(test(Test::Parity)),
            ConditionCode::l => test(Test::Less),
            ConditionCode::ge => not(test(Test::Less)),
            ConditionCode::le => test(Test::LessOrEqual),
            ConditionCode::g => not(test(Test::LessOrEqual)),
            _ => return Err(self.unsupported()),
        })
    }

    /// Moves of all kinds.
    fn moves(&mut self) -> Result<bool, Refusal> {
        let instruction = self.instruction;
        match instruction.mnemonic() {
            Mnemonic::Mov | Mnemonic::Movzx => {
                let value = self.read(1)?;
                self.write(0, value)?;
            }
            Mnemonic::Movsx | Mnemonic::Movsxd => {
                let (from, to) = (self.size(1)?, self.size(0)?);
                let value = self.read(1)?;
                self.write(0, crate::ops::cut(signed(value, from), to))?;
            }
            Mnemonic::Lea => {
                let address = self.effective_address()?;
                let size = self.size(0)?;
                self.write(0, crate::ops::cut(address, size))?;
            }
            Mnemonic::Push => {
                if self.size(0)? == 2 {
                    return Ok(false);
                }
                let value = self.read(0)?;
                // An immediate is extended with its sign.
                let value = if self.is_immediate(0) { constant(instruction.immediate(0) as i64) } else { value };
                self.push(value);
            }
            Mnemonic::Pop => {
                if self.size(0)? != 8 {
                    return Ok(false);
                }
                let value = self.own();
                self.ops.push(Op::Load { to: value, address: register(Reg::SP), size: 8 });
                self.ops.push(Op::Set(Reg::SP, binary(BinaryOp::Add, register(Reg::SP), constant(8))));
                self.write(0, register(value))?;
            }
            Mnemonic::Leave => {
                let frame = register(Reg::BP);
                self.ops.push(Op::Set(Reg::SP, binary(BinaryOp::Add, frame.clone(), constant(8))));
                self.ops.push(Op::Load { to: Reg::BP, address: frame, size: 8 });
            }
            Mnemonic::Cdqe => self.ops.push(Op::Set(Reg::AX, signed(register(Reg::AX), 4))),
            Mnemonic::Cwde => {
                let value = crate::ops::cut(signed(register(Reg::AX), 2), 4);
                self.ops.push(Op::Set(Reg::AX, value));
            }
            Mnemonic::Cbw => {
                let value = crate::ops::cut(signed(register(Reg::AX), 1), 2);
                self.write_part(Reg::AX, 2, value);
            }
            Mnemonic::Cqo | Mnemonic::Cdq | Mnemonic::Cwd => {
                let size = match instruction.mnemonic() {
                    Mnemonic::Cqo => 8,
                    Mnemonic::Cdq => 4,
                    _ => 2,
                };
                let sign = binary(BinaryOp::ShiftRight, signed(register(Reg::AX), size), constant(63));
                self.write_part(Reg::DX, size, crate::ops::cut(sign, size));
            }
            mnemonic if is_conditional_move(mnemonic) => {
                let value = self.read(1)?;
                let condition = self.condition()?;
                let size = self.size(0)?;
                let (reg, merged) = self.merged(0, value)?;
                // A register of 32 bits is written in any case, which clears its upper half.
                if size == 4 {
                    self.ops.push(Op::Set(reg, crate::ops::cut(register(reg), 4)));
                }
                self.ops.push(Op::SetIf(condition, reg, merged));
            }
            mnemonic if is_set(mnemonic) => {
                let condition = self.condition()?;
                self.write(0, condition)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn push(&mut self, value: E) {
        let below = binary(BinaryOp::Subtract, register(Reg::SP), constant(8));
        self.ops.push(Op::Store { address: below.clone(), value, size: 8 });
        self.ops.push(Op::Set(Reg::SP, below));
    }

    /// What does nothing, or only orders accesses.
    fn rest(&mut self) -> Result<bool, Refusal> {
        match self.instruction.mnemonic() {
            Mnemonic::Mfence => self.ops.push(Op::Fence),
            // Loads are never reordered with loads, nor stores with stores; stores that would be are refused.
            Mnemonic::Lfence | Mnemonic::Sfence => {}
            Mnemonic::Nop
            | Mnemonic::Fnop
            | Mnemonic::Endbr64
            | Mnemonic::Pause
            | Mnemonic::Prefetcht0
            | Mnemonic::Prefetcht1
            | Mnemonic::Prefetcht2
            | Mnemonic::Prefetchnta
            | Mnemonic::Prefetchw => {}
            mnemonic => {
                return match mnemonic {
                    Mnemonic::Movnti
                    | Mnemonic::Movntdq
                    | Mnemonic::Movntps
                    | Mnemonic::Movntpd
                    | Mnemonic::Movntq
                    | Mnemonic::Maskmovdqu => Err(Refusal::new(
                        "non-temporal-store",
                        "non-temporal stores do not follow the order of store buffers, and are not supported",
                    )
                    .help("use ordinary stores")),
                    _ => Ok(false),
                };
            }
        }
        Ok(true)
    }
}

/// Whether a repeat prefix means nothing: on returns, jumps, and where it selects another instruction.
fn is_rep_harmless(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        Mnemonic::Ret | Mnemonic::Jmp | Mnemonic::Call | Mnemonic::Nop | Mnemonic::Pause | Mnemonic::Endbr64
    ) || instruction.code() == Code::Pause
}

fn is_conditional_move(mnemonic: Mnemonic) -> bool {
    matches!(
        mnemonic,
        Mnemonic::Cmovo
            | Mnemonic::Cmovno
            | Mnemonic::Cmovb
            | Mnemonic::Cmovae
            | Mnemonic::Cmove
            | Mnemonic::Cmovne
            | Mnemonic::Cmovbe
            | Mnemonic::Cmova
            | Mnemonic::Cmovs
            | Mnemonic::Cmovns
            | Mnemonic::Cmovp
            | Mnemonic::Cmovnp
            | Mnemonic::Cmovl
            | Mnemonic::Cmovge
            | Mnemonic::Cmovle
            | Mnemonic::Cmovg
    )
}

fn is_set(mnemonic: Mnemonic) -> bool {
    matches!(
        mnemonic,
        Mnemonic::Seto
            | Mnemonic::Setno
            | Mnemonic::Setb
            | Mnemonic::Setae
            | Mnemonic::Sete
            | Mnemonic::Setne
            | Mnemonic::Setbe
            | Mnemonic::Seta
            | Mnemonic::Sets
            | Mnemonic::Setns
            | Mnemonic::Setp
            | Mnemonic::Setnp
            | Mnemonic::Setl
            | Mnemonic::Setge
            | Mnemonic::Setle
            | Mnemonic::Setg
    )
}
