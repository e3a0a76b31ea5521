//! Large rows of words, on large pages where the system has them.
//!
//! A set of states is looked up at random, and with pages of 4 KiB most look-ups also miss the translation cache. How
//! much large pages save has not been measured by itself. What the
//! rows hold is nobody's business here.

use memmap2::MmapMut;

/// Below this many bytes, a large page would waste more than it saves.
const LARGE: usize = 4 << 20;

/// A row of words, zero at first.
pub(crate) enum Pages {
    Plain(Vec<u64>),
    Mapped(MmapMut),
}

impl Pages {
    /// `len` words, all zero.
    pub(crate) fn zeroed(len: usize) -> Self {
        let bytes = len * size_of::<u64>();
        let mapped = if bytes < LARGE { None } else { map(bytes) };
        mapped.map_or_else(|| Self::Plain(vec![0; len]), Self::Mapped)
    }

    /// The words.
    #[inline]
    pub(crate) fn words(&self) -> &[u64] {
        match self {
            Self::Plain(words) => words,
            Self::Mapped(map) => bytemuck::cast_slice(map),
        }
    }

    /// The words, to be changed.
    #[inline]
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Plain(words) => words,
            Self::Mapped(map) => bytemuck::cast_slice_mut(map),
        }
    }
}

#[cfg(target_os = "linux")]
fn map(bytes: usize) -> Option<MmapMut> {
    let map = MmapMut::map_anon(bytes).ok()?;
    // Only advice: without large pages the map works as well, more slowly.
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(map)
}

#[cfg(not(target_os = "linux"))]
fn map(_bytes: usize) -> Option<MmapMut> {
    None
}
