//! States as rows of bytes (docs/evidence.md): a part for each thread, then a part for memory and the lock.

use std::collections::BTreeMap;

use weir_ir::{Address, LocId, RegId, ThreadId, Value};

use super::{AbstractBuffer, AbstractState, AbstractThread, Waiting};

/// Which registers states record: for each thread that runs, for each of its locations, in ascending order.
pub type ListedRegisters = Vec<Vec<Vec<RegId>>>;

/// What belongs to no thread.
pub(super) struct Shared {
    pub(super) memory: BTreeMap<Address, Value>,
    pub(super) lock_holder: Option<ThreadId>,
}

/// Writes a number, seven bits per byte, the lowest first; all bytes but the last have their highest bit set.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub(super) fn get(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        let bits = u64::from(byte & 0x7f);
        if shift > 63 || (shift == 63 && bits > 1) {
            return None;
        }
        number |= bits << shift;
        if byte < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
}

/// Values of either sign: 0, -1, 1, -2, … become 0, 1, 2, 3, …
fn put_value(bytes: &mut Vec<u8>, value: Value) {
    put(bytes, ((value << 1) ^ (value >> 63)) as u64);
}

fn get_value(bytes: &[u8], at: &mut usize) -> Option<Value> {
    let number = get(bytes, at)?;
    Some((number >> 1) as i64 ^ -((number & 1) as i64))
}

/// Appends the row of a state; `None` if it does not have these threads and locations, or does not record a listed
/// register.
pub(super) fn encode(listed: &ListedRegisters, state: &AbstractState, to: &mut Vec<u8>) -> Option<()> {
    let begin = to.len();
    let encoded = (|| {
        if state.threads.len() != listed.len() {
            return None;
        }
        for (own, listed) in state.threads.iter().zip(listed) {
            encode_thread(listed, own, to)?;
        }
        encode_shared(&state.memory, state.lock_holder, to);
        Some(())
    })();
    if encoded.is_none() {
        to.truncate(begin);
    }
    encoded
}

/// Appends the part of a thread, of which registers are listed for each location.
pub(super) fn encode_thread(listed: &[Vec<RegId>], own: &AbstractThread, to: &mut Vec<u8>) -> Option<()> {
    put(to, u64::from(own.location.0));
    for register in listed.get(own.location.index())? {
        put_value(to, *own.registers.get(register)?);
    }
    put_buffer(to, &own.buffer);
    Some(())
}

/// Appends the part of memory and the lock.
pub(super) fn encode_shared(memory: &BTreeMap<Address, Value>, lock_holder: Option<ThreadId>, to: &mut Vec<u8>) {
    put(to, memory.len() as u64);
    for (&address, &value) in memory {
        put_value(to, address);
        put_value(to, value);
    }
    put(to, lock_holder.map_or(0, |holder| u64::from(holder.0) + 1));
}

fn put_buffer(to: &mut Vec<u8>, buffer: &AbstractBuffer) {
    put(to, buffer.queue.len() as u64);
    for &(address, value) in &buffer.queue {
        put_value(to, address);
        put_value(to, value);
    }
    put(to, buffer.waiting.len() as u64);
    for (&address, waiting) in &buffer.waiting {
        put_value(to, address);
        put_value(to, waiting.newest);
        put(to, waiting.older.len() as u64);
        for (&value, &count) in &waiting.older {
            put_value(to, value);
            put(to, count.map_or(0, |count| u64::from(count) + 1));
        }
    }
}

/// The state of a row.
pub(super) fn decode(listed: &ListedRegisters, row: &[u8]) -> Option<AbstractState> {
    let mut at = 0;
    let mut threads = Vec::with_capacity(listed.len());
    for listed in listed {
        threads.push(get_thread(listed, row, &mut at)?);
    }
    let Shared { memory, lock_holder } = get_shared(row, &mut at)?;
    (at == row.len()).then_some(AbstractState { threads, memory, lock_holder })
}

/// The thread of a part, if the part is what [`encode_thread`] would write.
pub(super) fn decode_thread(listed: &[Vec<RegId>], part: &[u8]) -> Option<AbstractThread> {
    let thread = get_thread(listed, part, &mut 0)?;
    let mut again = Vec::with_capacity(part.len());
    encode_thread(listed, &thread, &mut again)?;
    (again == part).then_some(thread)
}

/// Memory and the lock, if the part is what [`encode_shared`] would write.
pub(super) fn decode_shared(part: &[u8]) -> Option<Shared> {
    let shared = get_shared(part, &mut 0)?;
    let mut again = Vec::with_capacity(part.len());
    encode_shared(&shared.memory, shared.lock_holder, &mut again);
    (again == part).then_some(shared)
}

fn get_thread(listed: &[Vec<RegId>], row: &[u8], at: &mut usize) -> Option<AbstractThread> {
    let location = LocId(u32::try_from(get(row, at)?).ok()?);
    let mut registers = BTreeMap::new();
    for &register in listed.get(location.index())? {
        registers.insert(register, get_value(row, at)?);
    }
    Some(AbstractThread { location, registers, buffer: get_buffer(row, at)? })
}

fn get_shared(row: &[u8], at: &mut usize) -> Option<Shared> {
    let mut memory = BTreeMap::new();
    for _ in 0..get(row, at)? {
        memory.insert(get_value(row, at)?, get_value(row, at)?);
    }
    let holder = get(row, at)?.checked_sub(1).map(u32::try_from);
    Some(Shared { memory, lock_holder: holder.transpose().ok()?.map(ThreadId) })
}

fn get_buffer(row: &[u8], at: &mut usize) -> Option<AbstractBuffer> {
    let mut buffer = AbstractBuffer::default();
    for _ in 0..get(row, at)? {
        buffer.queue.push((get_value(row, at)?, get_value(row, at)?));
    }
    for _ in 0..get(row, at)? {
        let (address, newest) = (get_value(row, at)?, get_value(row, at)?);
        let mut older = BTreeMap::new();
        for _ in 0..get(row, at)? {
            let (value, count) = (get_value(row, at)?, get(row, at)?.checked_sub(1));
            older.insert(value, count.map(u32::try_from).transpose().ok()?);
        }
        buffer.waiting.insert(address, Waiting { newest, older });
    }
    Some(buffer)
}

/// Moves past the part of a thread without decoding it.
pub(super) fn skip_thread(listed: &[Vec<RegId>], row: &[u8], at: &mut usize) -> Option<()> {
    let location = usize::try_from(get(row, at)?).ok()?;
    skip(row, at, listed.get(location)?.len() as u64)?;
    let queued = get(row, at)?;
    skip(row, at, queued.checked_mul(2)?)?;
    for _ in 0..get(row, at)? {
        skip(row, at, 2)?;
        let older = get(row, at)?;
        skip(row, at, older.checked_mul(2)?)?;
    }
    Some(())
}

/// Moves past so many numbers.
fn skip(row: &[u8], at: &mut usize, count: u64) -> Option<()> {
    for _ in 0..count {
        while row.get(*at)? & 0x80 != 0 {
            *at += 1;
        }
        *at += 1;
    }
    Some(())
}
