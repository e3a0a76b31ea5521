//! Names of registers, and which bits of which register they mean.

/// A part of a general register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Part {
    /// All 64 bits: `rax`.
    Quad,
    /// The low 32: `eax`.
    Long,
    /// The low 16: `ax`.
    Word,
    /// The low 8: `al`.
    Low,
    /// The next 8: `ah`.
    High,
}

impl Part {
    /// Bytes.
    pub(super) fn size(self) -> u32 {
        match self {
            Self::Quad => 8,
            Self::Long => 4,
            Self::Word => 2,
            Self::Low | Self::High => 1,
        }
    }

    /// The low part of this many bytes.
    pub(super) fn of_size(size: u32) -> Self {
        match size {
            1 => Self::Low,
            2 => Self::Word,
            4 => Self::Long,
            _ => Self::Quad,
        }
    }
}

/// A flag that comparisons and arithmetic set and conditional instructions read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Flag {
    Zero,
    Sign,
    Carry,
    Overflow,
}

/// Something a thread keeps to itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Base {
    /// `rax` and its parts, by the processor's number.
    General(u8),
    Flag(Flag),
    /// The instruction pointer and the code segment: no instruction here changes them.
    Fixed(&'static str),
    /// `%name`: a register whose name the test does not care about.
    Symbolic(String),
}

/// A register as it is written.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct RegisterName {
    pub(super) base: Base,
    /// Which part. `None` for registers that are as wide as the instruction needs.
    pub(super) part: Option<Part>,
}

/// The names of the sixteen general registers' parts: 64, 32, 16, 8 bits.
const GENERAL: [[&str; 4]; 16] = [
    ["rax", "eax", "ax", "al"],
    ["rbx", "ebx", "bx", "bl"],
    ["rcx", "ecx", "cx", "cl"],
    ["rdx", "edx", "dx", "dl"],
    ["rsi", "esi", "si", "sil"],
    ["rdi", "edi", "di", "dil"],
    ["rbp", "ebp", "bp", "bpl"],
    ["rsp", "esp", "sp", "spl"],
    ["r8", "r8d", "r8w", "r8b"],
    ["r9", "r9d", "r9w", "r9b"],
    ["r10", "r10d", "r10w", "r10b"],
    ["r11", "r11d", "r11w", "r11b"],
    ["r12", "r12d", "r12w", "r12b"],
    ["r13", "r13d", "r13w", "r13b"],
    ["r14", "r14d", "r14w", "r14b"],
    ["r15", "r15d", "r15w", "r15b"],
];

const HIGH: [&str; 4] = ["ah", "bh", "ch", "dh"];

const FIXED: [&str; 3] = ["rip", "eip", "cs"];

const FLAGS: [(&str, Flag); 4] = [("zf", Flag::Zero), ("sf", Flag::Sign), ("cf", Flag::Carry), ("of", Flag::Overflow)];

/// The accumulator.
pub(super) const ACCUMULATOR: u8 = 0;

/// The register of this name, in letters of any case.
pub(super) fn lookup(name: &str) -> Option<RegisterName> {
    let name = name.to_ascii_lowercase();
    let parts = [Part::Quad, Part::Long, Part::Word, Part::Low];
    for (number, names) in (0..).zip(GENERAL) {
        if let Some(column) = names.iter().position(|known| *known == name) {
            return Some(RegisterName { base: Base::General(number), part: Some(parts[column]) });
        }
    }
    if let Some(number) = HIGH.iter().position(|known| *known == name) {
        return Some(RegisterName { base: Base::General(number as u8), part: Some(Part::High) });
    }
    if let Some(fixed) = FIXED.iter().find(|known| **known == name) {
        return Some(RegisterName { base: Base::Fixed(fixed), part: None });
    }
    let flag = FLAGS.iter().find(|(known, _)| *known == name)?.1;
    Some(RegisterName { base: Base::Flag(flag), part: None })
}

impl RegisterName {
    /// Its name as the tools write it in results: `EAX` for X86, `rax` for X86_64, `%a` for one of the test's own.
    pub(super) fn text(&self, is_upper: bool) -> String {
        let name = match (&self.base, self.part) {
            (Base::Symbolic(name), _) => return format!("%{name}"),
            (Base::Fixed(name), _) => name,
            (Base::Flag(flag), _) => FLAGS.iter().find(|(_, known)| known == flag).map_or("", |(name, _)| name),
            (Base::General(number), part) => {
                let names = &GENERAL[usize::from(*number) % GENERAL.len()];
                match part {
                    Some(Part::High) => HIGH[usize::from(*number) % HIGH.len()],
                    Some(Part::Long) => names[1],
                    Some(Part::Word) => names[2],
                    Some(Part::Low) => names[3],
                    Some(Part::Quad) | None => names[0],
                }
            }
        };
        if is_upper { name.to_ascii_uppercase() } else { name.to_owned() }
    }
}
