//! Fields of bits, patches and tests of several fields at once.

use weir_testkit::Rng;

use super::*;

#[test]
fn fields_hold_their_range_and_refuse_the_rest() {
    let field = Field { word: 1, shift: 60, mask: 0xF, low: -3 };
    let mut state = Packed::<2>::ZERO;
    assert!(state.set(field, 12));
    assert_eq!(state.get(field), 12);
    assert!(!state.set(field, 13));
    assert!(!state.set(field, -4));
    assert_eq!(state.get(field), 12);
    assert_eq!(state.0, [0, 0xF << 60]);
}

#[test]
fn a_full_word_holds_every_value() {
    let field = Field { word: 0, shift: 0, mask: u64::MAX, low: Value::MIN };
    let mut state = Packed::<1>::ZERO;
    for value in [Value::MIN, -1, 0, Value::MAX] {
        assert!(state.set(field, value));
        assert_eq!(state.get(field), value);
    }
    assert_eq!(width(Range::FULL), 64);
    assert_eq!(width(Range::single(5)), 0);
    assert_eq!(width(Range { low: 0, high: 4 }), 3);
}

#[test]
fn the_width_tells_all_values_apart_and_is_the_least() {
    for low in [-5, 0, 3] {
        for extent in 0..40 {
            let bits = width(Range { low, high: low + extent });
            assert!(1 << bits > extent && (bits == 0 || 1 << (bits - 1) <= extent), "{extent}: {bits}");
        }
    }
}

#[test]
fn patches_clear_then_set() {
    let (a, b) = (Field { word: 0, shift: 0, mask: 3, low: 0 }, Field { word: 0, shift: 2, mask: 3, low: 0 });
    let mut patch = Patch::default();
    patch.clear(a);
    patch.put(b, 2);
    assert_eq!(patch.apply(&Packed([0b1_0111])).0, [0b1_1000]);
}

/// Some fields of two words, next to each other.
fn fields() -> Vec<Field> {
    let in_word = |word| {
        [(0, 0x7), (3, 0x1), (4, 0xFFFF), (20, 0x3F), (62, 0x3)].map(|(shift, mask)| Field {
            word,
            shift,
            mask,
            low: 10,
        })
    };
    [in_word(0), in_word(1)].concat()
}

/// The same as setting fields one after the other, and nothing else changes.
#[test]
fn patches_are_like_single_changes() {
    let (mut rng, fields) = (Rng::new(9), fields());
    for _ in 0..500 {
        let start = Packed([rng.bits(), rng.bits(), rng.bits()]);
        let (mut patch, mut expected) = (Patch::default(), start);
        for _ in 0..rng.below(7) {
            let field = *rng.pick(&fields);
            let raw = if rng.chance(30) { 0 } else { rng.bits() & field.mask };
            if raw == 0 {
                patch.clear(field);
            } else {
                patch.put(field, raw);
            }
            expected.set_raw(field, raw);
        }
        assert_eq!(patch.apply(&start), expected);
    }
}

#[test]
fn a_change_of_one_field_leaves_the_others() {
    let (mut rng, fields) = (Rng::new(4), fields());
    for _ in 0..300 {
        let start = Packed([rng.bits(), rng.bits()]);
        let at = rng.below(fields.len());
        let value = 10 + (rng.bits() & fields[at].mask) as Value;
        let mut state = start;
        assert!(state.set(fields[at], value));
        for (other, &field) in fields.iter().enumerate() {
            assert_eq!(state.get(field), if other == at { value } else { start.get(field) });
        }
        assert!(!state.set(fields[at], 11 + fields[at].mask as Value));
        assert!(!state.set(fields[at], 9));
    }
}

#[test]
fn a_test_for_zero_looks_at_its_fields_and_no_others() {
    let fields = fields();
    let tested = [fields[1], fields[3], fields[6]];
    let test = ZeroTest::new(tested);
    for &field in &fields {
        for bit in (0..64).map(|bit| 1 << bit).filter(|bit| field.mask & bit != 0) {
            let mut state = Packed::<2>::ZERO;
            state.set_raw(field, bit);
            assert_eq!(test.holds(&state), !tested.contains(&field));
        }
    }
    assert!(ZeroTest::new([]).holds(&Packed([u64::MAX])));
}

#[test]
fn words_make_a_state() {
    let state: Packed<4> = FlatState::from_words(&[1, 2]);
    assert_eq!((state.0, state.words()), ([1, 2, 0, 0], &[1, 2, 0, 0][..]));
    let field = Field { word: 0, shift: 4, mask: 0xF, low: 0 };
    assert_eq!((field.based_at(7).low, field.bits()), (7, 0xF0));
}
