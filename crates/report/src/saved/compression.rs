//! The bytes of a set of states, compressed by zlib (RFC 1950), for which every language has a library.

use std::io::Read;

use flate2::Compression;
use flate2::read::{ZlibDecoder, ZlibEncoder};
use weir_ir::Interrupt;

use super::mismatch::{Mismatch, Rejection};

/// How many bytes are decompressed between two checks of the limits.
const CHUNK: usize = 1 << 20;

/// The bytes, compressed.
pub(super) fn compress(bytes: &[u8]) -> Vec<u8> {
    let mut compressed = Vec::new();
    let mut encoder = ZlibEncoder::new(bytes, Compression::default());
    encoder.read_to_end(&mut compressed).expect("memory can be read");
    compressed
}

/// The bytes before they were compressed; there must be `length` of them, and nothing else.
pub(super) fn decompress(bytes: &[u8], length: u64, interrupt: &dyn Interrupt) -> Result<Vec<u8>, Rejection> {
    let wrong = |reason: &str| Rejection::Mismatch(Mismatch::whole(reason));
    let mut decoder = ZlibDecoder::new(bytes);
    let mut found = Vec::new();
    loop {
        if interrupt.is_over() {
            return Err(Rejection::Interrupted);
        }
        // One byte more than expected, so that extra data is noticed.
        let room = length.saturating_add(1).saturating_sub(found.len() as u64).min(CHUNK as u64);
        let before = found.len();
        let mut part = decoder.by_ref().take(room);
        part.read_to_end(&mut found).map_err(|_| wrong("the compressed states are malformed"))?;
        if found.len() == before {
            break;
        }
    }
    if found.len() as u64 != length {
        return Err(wrong("the number of bytes that the states take differs from the number in the file"));
    }
    if decoder.total_in() != bytes.len() as u64 {
        return Err(wrong("there is data after the states"));
    }
    Ok(found)
}
