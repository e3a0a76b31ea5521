//! Types of C that declare cells and registers: how many bytes, and whether negative values exist.

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Type {
    /// Bytes.
    pub(super) size: u32,
    pub(super) is_signed: bool,
}

impl Type {
    pub(super) fn signed(size: u32) -> Self {
        Self { size, is_signed: true }
    }

    /// Whether values of it can be beyond the greatest of signed 64 bits.
    pub(super) fn is_wide_unsigned(self) -> bool {
        self.size == 8 && !self.is_signed
    }
}

/// The type of this name, given the size of an address in bytes.
pub(super) fn lookup(name: &str, address_size: u32) -> Option<Type> {
    let (size, is_signed) = match name {
        "char" | "int8_t" => (1, true),
        "uint8_t" => (1, false),
        "short" | "int16_t" => (2, true),
        "ushort" | "uint16_t" => (2, false),
        "int" | "int32_t" => (4, true),
        "uint" | "unsigned" | "uint32_t" => (4, false),
        "int64_t" => (8, true),
        "uint64_t" => (8, false),
        "long" | "intptr_t" | "intmach_t" => (address_size, true),
        "ulong" | "uintptr_t" | "uintmach_t" => (address_size, false),
        _ => return None,
    };
    Some(Type { size, is_signed })
}
