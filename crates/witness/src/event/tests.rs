use super::*;

/// What an effect says of itself: name, cells, value read, value written, value in memory, registers.
type Facts = (&'static str, Vec<Address>, Option<Value>, Option<Value>, Option<(Address, Value)>, Vec<(RegId, Value)>);

fn facts(effect: &Effect) -> Facts {
    let (addresses, registers) = (effect.addresses().collect(), effect.registers().collect());
    (effect.name(), addresses, effect.read(), effect.written(), effect.memory_write(), registers)
}

#[test]
fn every_effect_tells_what_it_did() {
    let (r, s) = (RegId(0), RegId(1));
    let loaded = |register, address, value| Loaded { register, address, value, from: ReadFrom::Memory };
    let rmw = |register, written| Effect::ReadModifyWrite { register, address: 1, read: 5, written };
    let store = |buffered| Effect::Store { address: 1, value: 7, buffered };
    let cases: Vec<(Effect, Facts)> = vec![
        (Effect::Skip, ("skip", vec![], None, None, None, vec![])),
        (Effect::Load(loaded(r, 1, 5)), ("load", vec![1], Some(5), None, None, vec![(r, 5)])),
        (
            Effect::Snapshot(vec![loaded(s, 2, 6), loaded(r, 1, 5)]),
            ("snapshot", vec![2, 1], None, None, None, vec![(s, 6), (r, 5)]),
        ),
        (store(true), ("store", vec![1], None, Some(7), None, vec![])),
        (store(false), ("store", vec![1], None, Some(7), Some((1, 7)), vec![])),
        (
            Effect::Flush { address: 1, value: 7, store: StepId(0) },
            ("flush", vec![1], None, Some(7), Some((1, 7)), vec![]),
        ),
        (Effect::Fence, ("fence", vec![], None, None, None, vec![])),
        (Effect::Membarrier, ("membarrier", vec![], None, None, None, vec![])),
        (Effect::Assign { register: s, value: 3 }, ("assign", vec![], None, None, None, vec![(s, 3)])),
        (Effect::Assume, ("assume", vec![], None, None, None, vec![])),
        (Effect::Assert { holds: true }, ("assert", vec![], None, None, None, vec![])),
        (rmw(Some((r, 1)), Some(8)), ("rmw", vec![1], Some(5), Some(8), Some((1, 8)), vec![(r, 1)])),
        (rmw(None, None), ("rmw", vec![1], Some(5), None, None, vec![])),
        (Effect::Lock, ("lock", vec![], None, None, None, vec![])),
        (Effect::Unlock, ("unlock", vec![], None, None, None, vec![])),
        (Effect::Havoc { register: r, value: -2 }, ("havoc", vec![], None, None, None, vec![(r, -2)])),
        (Effect::Terminate, ("terminate", vec![], None, None, None, vec![])),
    ];
    for (effect, expected) in cases {
        assert_eq!(facts(&effect), expected);
        assert_eq!(effect.address(), expected.1.first().copied().filter(|_| expected.1.len() == 1));
        let loads = effect.loads().iter().map(|loaded| loaded.address).collect::<Vec<_>>();
        assert_eq!(loads, if effect.name() == "rmw" || effect.written().is_some() { vec![] } else { expected.1 });
    }
    assert_eq!((StepId::new(4).index(), StepId::new(4).number()), (4, 5));
}
