//! Registers share bits exactly where they never hold anything at the same time.

use weir_ir::flow::{Ranges, live_registers, observed_registers};
use weir_ir::{Edge, Expr, Instruction, Location, Register, Span, ThreadId};
use weir_testkit::random::{self, Config};

use super::*;

#[test]
fn registers_that_are_live_together_have_slots_of_their_own() {
    let (mut shared, mut registers) = (0, 0);
    for seed in 0..200 {
        let config = [Config::wild_data(), Config::acyclic(), Config::cyclic()][seed as usize % 3].clone();
        let mut program = random::program(seed, &config);
        program.properties.clear();
        let ranges = Ranges::of(&program);
        for thread in program.thread_ids() {
            let body = program.body(thread);
            let live = live_registers(body, &observed_registers(&program, thread));
            let slots = Slots::shared(body, &live, |loc, reg| ranges.register_at(thread, loc, reg));
            registers += body.registers.len();
            shared += body.registers.len() - slots.widths.len();
            for loc in body.location_ids() {
                let here: Vec<_> = live.at(loc).iter().collect();
                for &reg in &here {
                    let Some(range) = ranges.register_at(thread, loc, reg) else { continue };
                    let (slot, kept) = slots.of_register[reg.index()].expect("it is live");
                    assert!(kept.contains(range.low) && kept.contains(range.high));
                    assert!(slots.widths[slot] >= width(kept));
                    let rivals = here.iter().filter(|&&other| other != reg);
                    for rival in rivals.filter_map(|rival| slots.of_register[rival.index()]) {
                        assert_ne!(rival.0, slot, "seed {seed}");
                    }
                }
            }
            let separate = Slots::separate(body, |reg| ranges.register(thread, reg));
            assert!(separate.of_register.iter().enumerate().all(|(reg, slot)| slot.is_some_and(|it| it.0 == reg)));
            assert!(
                (0..separate.widths.len())
                    .all(|reg| { separate.widths[reg] == width(ranges.register(thread, RegId::new(reg))) })
            );
        }
    }
    assert!(shared * 4 > registers, "{shared} of {registers} slots saved");
}

/// `r0 = 1; assume r0; r1 = 1; assume r1; …`: one after the other.
fn one_after_the_other(count: usize) -> (Body, Vec<Range>) {
    let mut edges = Vec::new();
    for at in 0..count {
        let register = RegId::new(at);
        let instructions = [
            Instruction::Assign { register, value: Expr::Const(at as i64) },
            Instruction::Assume(Expr::Leaf(register)),
        ];
        for (step, instruction) in instructions.into_iter().enumerate() {
            let from = 2 * at + step;
            edges.push(Edge { from: LocId::new(from), to: LocId::new(from + 1), instruction, span: Span::default() });
        }
    }
    let register =
        |at| Register { name: format!("r{at}"), is_temporary: false, is_thread_local: false, span: Span::default() };
    let locations = vec![Location::default(); 2 * count + 1];
    let body = Body::new((0..count).map(register).collect(), locations, LocId(0), None, edges);
    (body, (0..count).map(|at| Range { low: 0, high: at as i64 }).collect())
}

#[test]
fn registers_used_one_after_the_other_share_one_slot_of_the_greatest_width() {
    let (body, ranges) = one_after_the_other(6);
    let live = live_registers(&body, &RegisterSet::new());
    let slots = Slots::shared(&body, &live, |_, reg| Some(ranges[reg.index()]));
    assert_eq!(slots.widths, [3]);
    assert!(slots.of_register.iter().all(|slot| slot.is_some_and(|(slot, _)| slot == 0)));
    // One that no location can have a value of is kept nowhere.
    let never = Slots::shared(&body, &live, |_, reg| (reg != RegId(5)).then(|| ranges[reg.index()]));
    assert_eq!((never.of_register[5], never.widths.as_slice()), (None, &[3][..]));
}

#[test]
fn very_many_registers_have_a_slot_each() {
    for (count, slots) in [(MOST_SHARING, 1), (MOST_SHARING + 1, MOST_SHARING + 1)] {
        let (body, ranges) = one_after_the_other(count);
        let live = live_registers(&body, &RegisterSet::new());
        let made = Slots::shared(&body, &live, |_, reg| Some(ranges[reg.index()]));
        assert_eq!(made.widths.len(), slots);
        assert_eq!(made.of_register.len(), count);
    }
    let _ = ThreadId(0);
}
