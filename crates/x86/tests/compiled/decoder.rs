//! The decoder against one of another make, on random bytes: how long an instruction is, and its explicit operands.
//! `WEIR_DECODED=1000000` tries a million.

use std::collections::BTreeMap;

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};
use weir_testkit::Rng;
use yaxpeax_arch::LengthedInstruction;
use yaxpeax_x86::long_mode::{InstDecoder, Operand};

/// An operand as both can say it.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Plain {
    Register(String),
    /// Base, index, scale, displacement.
    Memory(String, String, u32, i64),
    Immediate(u64),
}

/// A register as the manual of AMD writes it.
fn register(which: Register) -> String {
    let name = if which == Register::None { String::new() } else { format!("{which:?}").to_lowercase() };
    match name.strip_prefix('r').and_then(|rest| rest.strip_suffix('l')) {
        Some(number) => format!("r{number}b"),
        None => name,
    }
}

/// Instructions whose operands are compared: what Weir translates. Others have operands that one of the decoders leaves
/// unsaid.
const COMPARED: [&str; 51] = [
    "mov",
    "movzx",
    "movsx",
    "movsxd",
    "lea",
    "push",
    "pop",
    "add",
    "sub",
    "adc",
    "sbb",
    "and",
    "or",
    "xor",
    "cmp",
    "test",
    "inc",
    "dec",
    "neg",
    "not",
    "shl",
    "sal",
    "shr",
    "sar",
    "rol",
    "ror",
    "bt",
    "bts",
    "btr",
    "btc",
    "imul",
    "mul",
    "div",
    "idiv",
    "xchg",
    "xadd",
    "cmpxchg",
    "cmpxchg8b",
    "cmpxchg16b",
    "jmp",
    "call",
    "movups",
    "movaps",
    "movupd",
    "movapd",
    "movdqu",
    "movdqa",
    "pxor",
    "xorps",
    "movd",
    "movq",
];

fn is_compared(instruction: &Instruction) -> bool {
    let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
    let is_conditional = name.starts_with("cmov") || name.starts_with("set") && !name.starts_with("setss");
    COMPARED.contains(&name.as_str()) || is_conditional || instruction.is_jcc_short_or_near()
}

/// Where the other decoder is known to differ, and the processor's manual says otherwise: of two REX prefixes only the last
/// one counts, and only directly before the opcode; `movsxd` without one writes 32 bits; the register of a bit test with a
/// constant is of the instruction's size; `push` and `pop` of a register are of 64 bits in their long form, too, and REX.W
/// prevails over the prefix for 16 bits. (The first three can be seen in the
/// comparison with the processor, too.) Moves to segment registers are refused in any case.
fn is_known_difference(instruction: &Instruction, bytes: &[u8]) -> bool {
    let is_rex = |byte: &u8| byte & 0xF0 == 0x40;
    let prefixes = bytes
        .iter()
        .take_while(|byte| is_rex(byte) || [0x64, 0x65, 0x66, 0x67, 0xF0, 0xF2, 0xF3].contains(byte))
        .count();
    let rex = bytes[..prefixes].iter().filter(|byte| is_rex(byte)).count();
    let is_last = prefixes > 0 && is_rex(&bytes[prefixes - 1]);
    let is_narrow_extension = instruction.mnemonic() == Mnemonic::Movsxd && instruction.op_register(0).size() < 8;
    let is_bit_test = matches!(instruction.mnemonic(), Mnemonic::Bt | Mnemonic::Bts | Mnemonic::Btr | Mnemonic::Btc)
        && instruction.op_kind(0) == OpKind::Register;
    let is_stack = matches!(instruction.mnemonic(), Mnemonic::Push | Mnemonic::Pop)
        && instruction.op0_kind() == OpKind::Register
        && (bytes[..prefixes].iter().any(|prefix| [0x64, 0x65, 0x66].contains(prefix))
            || bytes[prefixes] & 0xF0 != 0x50);
    let is_segment = (0..instruction.op_count()).any(|operand| instruction.op_register(operand).is_segment_register());
    rex > 1 || rex == 1 && !is_last || is_narrow_extension || is_bit_test || is_stack || is_segment
}

fn ours(instruction: &Instruction, operand: u32) -> Option<Plain> {
    Some(match instruction.op_kind(operand) {
        OpKind::Register => Plain::Register(register(instruction.op_register(operand))),
        OpKind::Memory => {
            let index = register(instruction.memory_index());
            let scale = if index.is_empty() { 1 } else { instruction.memory_index_scale() };
            // The address of what is relative to the instruction is absolute here; there it is a distance.
            let displacement = match instruction.is_ip_rel_memory_operand() {
                true => instruction.ip_rel_memory_address().wrapping_sub(instruction.next_ip()),
                false => instruction.memory_displacement64(),
            };
            // As many bits as both keep.
            let displacement = i64::from(displacement as i32);
            Plain::Memory(register(instruction.memory_base()), index, scale, displacement)
        }
        OpKind::NearBranch64 => Plain::Immediate(instruction.near_branch64().wrapping_sub(instruction.next_ip())),
        OpKind::Immediate8 | OpKind::Immediate8_2nd => Plain::Immediate(instruction.immediate(operand) & 0xFF),
        OpKind::Immediate8to16
        | OpKind::Immediate8to32
        | OpKind::Immediate8to64
        | OpKind::Immediate16
        | OpKind::Immediate32
        | OpKind::Immediate32to64
        | OpKind::Immediate64 => Plain::Immediate(instruction.immediate(operand)),
        _ => return None,
    })
}

fn theirs(operand: &Operand) -> Option<Plain> {
    let memory = |base: &str, index: &str, scale: u8, displacement: i32| {
        Plain::Memory(base.into(), index.into(), u32::from(scale), displacement.into())
    };
    Some(match *operand {
        Operand::Register { reg } => Plain::Register(reg.name().to_owned()),
        Operand::ImmediateI8 { imm } => Plain::Immediate(imm as u64),
        Operand::ImmediateU8 { imm } => Plain::Immediate(imm.into()),
        Operand::ImmediateI16 { imm } => Plain::Immediate(imm as u64),
        Operand::ImmediateU16 { imm } => Plain::Immediate(imm.into()),
        Operand::ImmediateI32 { imm } => Plain::Immediate(imm as u64),
        Operand::ImmediateU32 { imm } => Plain::Immediate(imm.into()),
        Operand::ImmediateI64 { imm } => Plain::Immediate(imm as u64),
        Operand::ImmediateU64 { imm } => Plain::Immediate(imm),
        Operand::AbsoluteU32 { addr } => memory("", "", 1, addr as i32),
        Operand::AbsoluteU64 { addr } => memory("", "", 1, addr as i32),
        Operand::MemDeref { base } => memory(base.name(), "", 1, 0),
        Operand::Disp { base, disp } => memory(base.name(), "", 1, disp),
        Operand::MemIndexScale { index, scale } => memory("", index.name(), scale, 0),
        Operand::MemIndexScaleDisp { index, scale, disp } => memory("", index.name(), scale, disp),
        Operand::MemBaseIndexScale { base, index, scale } => memory(base.name(), index.name(), scale, 0),
        Operand::MemBaseIndexScaleDisp { base, index, scale, disp } => memory(base.name(), index.name(), scale, disp),
        _ => return None,
    })
}

/// Whether two operands are the same, with immediates compared in the bits that the instruction uses.
fn agree(one: &Plain, other: &Plain, size: usize) -> bool {
    match (one, other) {
        (Plain::Immediate(one), Plain::Immediate(other)) => {
            let mask = u64::MAX >> (64 - 8 * size.clamp(1, 8));
            one & mask == other & mask
        }
        _ => one == other,
    }
}

/// How many bits of an immediate matter.
fn size_of(instruction: &Instruction, operand: u32) -> usize {
    match instruction.op_kind(operand) {
        OpKind::Immediate8 | OpKind::Immediate8_2nd => 1,
        OpKind::Immediate16 | OpKind::Immediate8to16 => 2,
        OpKind::Immediate32 | OpKind::Immediate8to32 => 4,
        _ => 8,
    }
}

#[test]
fn decoders_of_two_makes_agree() {
    let count: usize = std::env::var("WEIR_DECODED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000);
    let mut rng = Rng::new(5);
    let other = InstDecoder::default();
    let (mut both, mut operands) = (0, 0);
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for _ in 0..count {
        let mut bytes: Vec<u8> = (0..15).map(|_| rng.bits() as u8).collect();
        // Random bytes seldom begin with what compilers emit.
        match rng.below(6) {
            0 => bytes[0] = *rng.pick(&[0xF0, 0x66, 0xF2, 0xF3]),
            1 => bytes[0] = 0x48 | rng.below(8) as u8,
            2 => bytes[0] = 0x0F,
            3 => bytes[..2].copy_from_slice(&[0x40 | rng.below(16) as u8, 0x0F]),
            _ => {}
        }
        let mut decoder = Decoder::with_ip(64, &bytes, 0x1000, DecoderOptions::NONE);
        let mine = decoder.decode();
        if mine.is_invalid() {
            continue;
        }
        let Ok(theirs_whole) = other.decode_slice(&bytes) else {
            *unknown.entry(format!("{:?}", mine.mnemonic())).or_default() += 1;
            continue;
        };
        both += 1;
        let length = theirs_whole.len().to_const() as usize;
        if length != mine.len() {
            wrong.push(format!("{mine:?} {:?} {bytes:02x?}: {} and {length} bytes", mine.mnemonic(), mine.len()));
            continue;
        }
        if !is_compared(&mine) || is_known_difference(&mine, &bytes) {
            continue;
        }
        // The order of these two says nothing.
        let is_swapped = mine.mnemonic() == Mnemonic::Xchg
            && ours(&mine, 0) != theirs(&theirs_whole.operand(0))
            && ours(&mine, 0) == theirs(&theirs_whole.operand(1));
        let count = mine.op_count().min(theirs_whole.operand_count().into());
        for operand in 0..count {
            let pair = (ours(&mine, operand), theirs(&theirs_whole.operand(operand as u8 ^ u8::from(is_swapped))));
            let (Some(one), Some(two)) = pair else { continue };
            operands += 1;
            if !agree(&one, &two, size_of(&mine, operand)) {
                wrong.push(format!("{:?} {:02x?}: {one:?} and {two:?}", mine.mnemonic(), &bytes[..length]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {both}: {:#?}", wrong.len(), &wrong[..wrong.len().min(60)]);
    // Nearly all of these are moves to and from registers that user code cannot access, and prefixes without effect.
    assert!(unknown.values().sum::<usize>() * 50 < both, "the other one refuses {unknown:?}");
    assert!(both > count / 4 && operands > both / 2, "{both} instructions, {operands} operands");
}
