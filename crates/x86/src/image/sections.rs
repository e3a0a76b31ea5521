//! The sections with debugging information of a file, decompressed and with relocations applied.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::ZlibDecoder;
use object::elf;
use object::{CompressedData, CompressionFormat, Object, ObjectSection, Relocation};

use super::{DebugSections, Elf, MOST_BYTES, malformed};
use crate::refusal::Refusal;

/// Reads them. Damaged relocations only cost names and lines.
pub(super) fn read(
    file: &Elf<'_>,
    target: &impl Fn(&Relocation) -> Option<(u32, u64)>,
) -> Result<DebugSections, Refusal> {
    let mut sections = DebugSections::default();
    let mut total = 0_u64;
    for section in file.sections() {
        let Ok(name) = section.name() else { continue };
        // An older form of compression has names of its own.
        let Some(name) = name.strip_prefix(".debug_").or_else(|| name.strip_prefix(".zdebug_")) else { continue };
        let data = section.compressed_data().map_err(|error| malformed("", &error))?;
        total = total.saturating_add(data.uncompressed_size);
        if total > 4 * MOST_BYTES {
            break;
        }
        let Some(content) = content(data) else {
            sections.is_unread = true;
            continue;
        };
        let mut bytes = content.into_owned();
        for (offset, relocation) in section.relocations() {
            let Some((kind, symbol)) = target(&relocation) else { continue };
            let size = match kind {
                kind if kind == elf::R_X86_64_64.0 => 8,
                kind if kind == elf::R_X86_64_32.0 => 4,
                _ => continue,
            };
            let value = symbol.wrapping_add_signed(relocation.addend());
            let Ok(start) = usize::try_from(offset) else { continue };
            if let Some(bytes) = start.checked_add(size).and_then(|end| bytes.get_mut(start..end)) {
                bytes.copy_from_slice(&value.to_le_bytes()[..size]);
            }
        }
        sections.contents.insert(format!(".debug_{name}"), bytes);
    }
    Ok(sections)
}

/// The content of a section, if its compression is supported and it is not damaged.
fn content(data: CompressedData<'_>) -> Option<Cow<'_, [u8]>> {
    match data.format {
        CompressionFormat::None => Some(Cow::Borrowed(data.data)),
        CompressionFormat::Zlib => {
            let mut content = Vec::new();
            ZlibDecoder::new(data.data).take(data.uncompressed_size).read_to_end(&mut content).ok()?;
            Some(Cow::Owned(content))
        }
        _ => None,
    }
}
