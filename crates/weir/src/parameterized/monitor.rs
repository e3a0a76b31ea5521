//! The monitor that looks for attacks: what an attacker does.
//!
//! As in [`robust`](mod@crate::robust), nobody notices what an attacker does between two loads from memory, so it is
//! done at once; and what helpers do between the first delayed store and the first load from memory may as well come
//! before the store. So an attack begins, if the lock is free, with all steps up to and including the first load from
//! memory, and from then on the attacker is only seen where it is about to load from memory again.

use std::collections::{BTreeMap, HashSet};

use weir_ir::{Address, Edge, Gather, Instruction};

use super::state::{Access, Control, Delaying, Local, Path, Phase};
use super::step::{Code, MOST_CHOICES, Next, TooManyChoices, eval};

impl Code<'_> {
    /// The thread begins to delay with this edge, if it is a store past which a load can come.
    pub(super) fn begin(
        &self,
        control: &Control,
        local: &Local,
        edge: &Edge,
        visit: &mut dyn FnMut(Next),
    ) -> Result<(), TooManyChoices> {
        let Instruction::Store { address, value } = &edge.instruction else { return Ok(()) };
        let (address, value) = (eval(local, address), eval(local, value));
        let leads_to_load = self.load_ahead[local.thread.index()][edge.to.index()];
        if !self.is_monitored || control.is_locked || !leads_to_load || !self.program.admits(address, value) {
            return Ok(());
        }
        let overlay = BTreeMap::from([(address, self.program.stored(address, value))]);
        let attacker = self.moved(local.clone(), edge.to);
        for delaying in self.before_loads(Delaying { attacker, address, overlay })? {
            self.load_from_memory(control, &delaying, visit)?;
        }
        Ok(())
    }

    /// Where an attacker gets without loading from memory: all states in which it is about to.
    fn before_loads(&self, delaying: Delaying) -> Result<Vec<Delaying>, TooManyChoices> {
        let (mut seen, mut open) = (HashSet::from([delaying.clone()]), vec![delaying]);
        let mut loading = Vec::new();
        while let Some(delaying) = open.pop() {
            let mut may_load = false;
            for (_, edge) in self.program.body(delaying.attacker.thread).edges_from(delaying.attacker.location) {
                if !from_memory(&delaying, edge).is_empty() {
                    may_load = true;
                    continue;
                }
                for next in self.delay(&delaying, edge)? {
                    let leads_to_load = self.load_ahead[next.attacker.thread.index()][next.attacker.location.index()];
                    if leads_to_load && seen.insert(next.clone()) {
                        open.push(next);
                    }
                }
                if seen.len() as u64 > MOST_CHOICES {
                    return Err(TooManyChoices);
                }
            }
            if may_load {
                loading.push(delaying);
            }
        }
        Ok(loading)
    }

    /// A step of the attacker that does not load from memory.
    fn delay(&self, delaying: &Delaying, edge: &Edge) -> Result<Vec<Delaying>, TooManyChoices> {
        let attacker = &delaying.attacker;
        match &edge.instruction {
            instruction if instruction.is_local() => {
                let next = self.locally(attacker, edge)?.into_iter();
                Ok(next.map(|attacker| Delaying { attacker, ..delaying.clone() }).collect())
            }
            Instruction::Store { address, value } => {
                let (address, value) = (eval(attacker, address), eval(attacker, value));
                let mut next = delaying.clone();
                next.overlay.insert(address, self.program.stored(address, value));
                next.attacker = self.moved(next.attacker, edge.to);
                Ok(if self.program.admits(address, value) { vec![next] } else { Vec::new() })
            }
            instruction if instruction.is_load() => {
                let mut next = attacker.clone();
                let goes_on =
                    self.load(&mut next, instruction, &|address| delaying.overlay.get(&address).copied().unwrap_or(0));
                let attacker = self.moved(next, edge.to);
                Ok(if goes_on { vec![Delaying { attacker, ..delaying.clone() }] } else { Vec::new() })
            }
            // What needs an empty buffer.
            _ => Ok(Vec::new()),
        }
    }

    /// The attacker loads from memory: this may be the attack's load, or one on the way to it.
    pub(super) fn load_from_memory(
        &self,
        control: &Control,
        delaying: &Delaying,
        visit: &mut dyn FnMut(Next),
    ) -> Result<(), TooManyChoices> {
        if control.is_locked {
            return Ok(());
        }
        let attacker = &delaying.attacker;
        for (_, edge) in self.program.body(attacker.thread).edges_from(attacker.location) {
            let loaded = from_memory(delaying, edge);
            let newest = |address: Address| {
                delaying.overlay.get(&address).copied().unwrap_or_else(|| self.cell(control, address))
            };
            let mut next = attacker.clone();
            if loaded.is_empty() || !self.load(&mut next, &edge.instruction, &newest) {
                continue;
            }
            let on_path = loaded.into_iter().map(|address| (address, Access::Load)).gather();
            let path = Path { address: delaying.address, on_path, in_section: BTreeMap::new() };
            visit((Control { phase: Phase::Path(path), ..control.clone() }, None));
            if self.load_ahead[attacker.thread.index()][edge.to.index()] {
                let attacker = self.moved(next, edge.to);
                for delaying in self.before_loads(Delaying { attacker, ..delaying.clone() })? {
                    visit((Control { phase: Phase::Delaying(delaying), ..control.clone() }, None));
                }
            }
        }
        Ok(())
    }
}

/// The addresses of which the step would load from memory, if it is a load.
fn from_memory(delaying: &Delaying, edge: &Edge) -> Vec<Address> {
    if !edge.instruction.is_load() {
        return Vec::new();
    }
    let addresses = edge.instruction.accesses().map(|address| eval(&delaying.attacker, address));
    addresses.filter(|address| !delaying.overlay.contains_key(address)).collect()
}
