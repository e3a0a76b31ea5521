//! Fields do not overlap, cells are found by their addresses, and as few bits are used as the ranges need.

use weir_testkit::random::{self, Config};
use weir_testkit::{Rng, dump};

use super::*;

/// No two fields share a bit, and none crosses a word.
fn apart(words: usize, fields: &[Field]) {
    let mut taken = vec![0u64; words];
    for field in fields {
        assert_eq!(field.bits() >> field.shift, field.mask);
        assert_eq!(taken[field.word as usize] & field.bits(), 0);
        taken[field.word as usize] |= field.bits();
    }
}

#[test]
fn fields_do_not_overlap_or_cross_words() {
    let mut packer = Packer::default();
    for width in [3, 60, 64, 1, 33, 0, 31, 7] {
        packer.reserve(width);
    }
    let (words, fields) = packer.pack();
    apart(words, &fields);
    assert_eq!(words, 4);
}

#[test]
fn fields_have_the_widths_that_were_asked_for() {
    let mut rng = Rng::new(2);
    for _ in 0..300 {
        let widths: Vec<u32> = (0..rng.below(40)).map(|_| rng.below(65) as u32).collect();
        let mut packer = Packer::default();
        let numbers: Vec<usize> = widths.iter().map(|&width| packer.reserve(width)).collect();
        assert!(numbers.iter().copied().eq(0..widths.len()));
        let (words, fields) = packer.pack();
        apart(words, &fields);
        for (field, width) in fields.iter().zip(&widths) {
            assert_eq!((field.mask.count_ones(), field.mask.trailing_ones()), (*width, *width));
        }
        // Widest first is within 11/9 of the best where all words stay open, and no word that is needed stays empty.
        let bits: u32 = widths.iter().sum();
        assert!(words >= 1 && words as u32 >= bits.div_ceil(64), "{widths:?}");
        assert!(words as u32 <= (bits.div_ceil(64) * 3).div_ceil(2) + 1, "{words} words for {widths:?}");
    }
}

#[test]
fn covering_needs_every_address() {
    assert!(covers(&[1, 2, 3], Range { low: 1, high: 3 }));
    assert!(!covers(&[1, 3], Range { low: 1, high: 3 }));
    assert!(!covers(&[], Range::FULL));
    let addresses = [-3, -1, 0, 1, 4, 5];
    for low in -5..7 {
        for high in low..7 {
            let all = (low..=high).all(|address| addresses.contains(&address));
            assert_eq!(covers(&addresses, Range { low, high }), all, "{low} to {high}");
        }
    }
}

#[test]
fn cells_are_found_by_their_addresses() {
    let addresses = [Address::MIN, Address::MIN + 1, -7, -1, 0, 1, 2, 9, Address::MAX - 1, Address::MAX];
    let cell = |&address| Cell { address, initial: 0, range: None, width: None, storage: Storage::Constant };
    let cells = Cells::new(addresses.iter().map(cell).collect());
    assert_eq!(cells.extents.len(), 5);
    assert_eq!(cells.iter().map(|cell| cell.address).collect::<Vec<_>>(), addresses);
    let near = (-10..12).chain([Address::MIN + 2, Address::MIN + 3, Address::MAX - 2]).chain(addresses);
    for address in near {
        let place = addresses.iter().position(|&known| known == address);
        let expected = place.map_or(Target::Heap(address), |number| Target::Cell(number as u32));
        assert_eq!(cells.target(address), expected, "{address}");
        if let Target::Cell(number) = expected {
            assert_eq!(cells.cell(number).address, address);
        }
    }
}

/// What random programs need has room, and no more than that.
#[test]
fn layouts_of_random_programs_have_room_for_all() {
    for seed in 0..150 {
        let config = [Config::wild_data(), Config::locking(), Config::cyclic()][seed as usize % 3].clone();
        let program = random::program(seed, &config);
        let ranges = Ranges::of(&program);
        let touched: Vec<Range> = program
            .thread_ids()
            .flat_map(|thread| (0..program.body(thread).edges().len()).map(move |edge| (thread, edge)))
            .flat_map(|(thread, edge)| ranges.addresses_of(thread, weir_ir::EdgeId::new(edge)).iter().copied())
            .collect();
        let threads = program.threads.iter().map(|thread| (thread.body.locations.len(), vec![3, 64])).collect();
        let requirements = Requirements {
            threads,
            buffers: vec![true; program.threads.len()],
            lock: true,
            monitor: seed % 2 == 0,
            addresses: touched.clone(),
        };
        for undeclared in [Undeclared::Fields, Undeclared::Interned] {
            let layout = Layout::new(&program, &ranges, &requirements, undeclared);
            let mut fields: Vec<Field> = Vec::new();
            for (location, slots) in &layout.threads {
                fields.push(*location);
                fields.extend(slots);
            }
            for ((location, _), thread) in layout.threads.iter().zip(&program.threads) {
                let last = thread.body.locations.len() as u64 - 1;
                assert_eq!(location.mask, last.checked_ilog2().map_or(0, |bits| (2 << bits) - 1));
            }
            fields
                .extend(layout.buffers.iter().flatten().chain(&layout.lock).chain(&layout.heap).chain(&layout.monitor));
            assert_eq!((layout.lock.is_some(), layout.monitor.is_some()), (true, seed % 2 == 0));
            let cells: Vec<&Cell> = layout.cells.iter().collect();
            assert!(cells.is_sorted_by(|left, right| left.address < right.address));
            for cell in &cells {
                assert_eq!(cell.initial, program.initial_value(cell.address));
                assert_eq!(cell.range, program.shared_at(cell.address).and_then(|(shared, _)| shared.range));
                match cell.storage {
                    Storage::Field(field) => {
                        assert!(ranges.may_be_written(cell.address));
                        fields.push(field);
                    }
                    Storage::Constant => assert!(!ranges.may_be_written(cell.address)),
                }
            }
            apart(layout.words, &fields);
            let is_cell = |address| matches!(layout.cells.target(address), Target::Cell(_));
            assert!(program.shared.iter().flat_map(|shared| shared.addresses()).all(is_cell));
            // What has no place of its own has the interned map.
            let has_place = |range: &Range| range.extent() < 8 && (range.low..=range.high).all(is_cell);
            let all_have = touched.iter().all(has_place);
            assert!(all_have || layout.heap.is_some() || undeclared == Undeclared::Fields, "{}", dump(&program));
            assert!(!all_have || layout.heap.is_none() || undeclared == Undeclared::Interned, "{}", dump(&program));
        }
    }
}
