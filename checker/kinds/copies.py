"""Certificates of kind `copies`: every number of copies, by counting them."""
import collections, copy, itertools, zlib
import weir_check as base
from kinds.counts import demanded, named, running
from weir_check import Unsupported, evaluate, need
class Copies:
    def __init__(self, program, model, data, body):
        self.program, self.listed, self.model = program, data["registers"], model
        self.once, self.templates = running(program)
        need(len(self.listed) == len(program.names), "other threads")
        program.ahead = [base.loads_ahead(thread) for thread in program.threads]
        self.rows = base.rows_of(data, packed := zlib.decompress(body))
        need(len(packed) == data["bytes"], "there are more bytes than states")
        self.shared = [base.unpack(self.listed, row) for row in self.rows]
        self.locals = [(one["of"], one["at"], tuple(map(tuple, one.get("registers", []))), one.get("holds", False),
                        one.get("on_path", False)) for one in data.get("copies", [])]
        self.number = {local: number for number, local in enumerate(self.locals)}
        self.slots = {of: self.with_slot(of) for of in self.templates}
        self.fresh = {self.number[self.local(of, self.start(of), False)] for of in self.templates}
        self.beside = [set(numbers) for numbers in data.get("beside", [])]
        self.minimal = [[] for _ in self.rows]
        need(len(self.number) == len(self.locals) and len(self.beside) == len(self.rows), "lists that do not fit")
        for of, at, registers, *_ in self.locals:
            need(of in self.templates and [register for register, _ in registers] == self.listed[of][at], "no copy")
        for number, copies in data.get("minimal", []):
            need(not self.fresh & set(copies), "copies that have not moved cannot be missing")
            self.minimal[number].append(collections.Counter(copies))
        for row, state in zip(self.rows, self.shared): need(self.is_sound(row, state), "a shared state is none")
    def start(self, of): return self.program.start()[0][of]
    def with_slot(self, of):  # the program with one more place, for the copy that moves
        program = copy.copy(self.program)
        for name in ("threads", "names", "ahead"):
            setattr(program, name, getattr(program, name) + [getattr(program, name)[of]])
        return program
    def local(self, of, own, holds):
        kept = tuple((register, own[1][register]) for register in self.listed[of][own[0]])
        return of, own[0], kept, holds, bool(own[2])
    def is_sound(self, row, state):  # whether it is in canonical form, and has no copy but an attacker
        unmoved = all(base.pack([self.listed[of]], [[state[0][of]], {}, None])
                      == base.pack([self.listed[of]], [[self.start(of)], {}, None])
                      for of in self.templates if not state[0][of][2] or state[0][of][2][0][1] > 1)
        is_fit = base.pack(self.listed, state) == row and unmoved
        return is_fit and (self.model == "tso" or all(map(base.is_empty, state[0])))
    def fits(self, number, local): return not self.locals[local][3] or self.shared[number][2] == self.locals[local][0]
    def can_occur(self, number, copies):
        is_fit = all(local in self.beside[number] and self.fits(number, local) for local in copies)
        return is_fit and sum(self.locals[local][3] * count for local, count in copies.items()) <= 1
    def is_above(self, number, copies):  # whether it is above a minimal one, but for fresh copies
        return any(all(copies[local] >= many for local, many in low.items()) for low in self.minimal[number])
    def steps(self, number, local=None):  # of a copy, or of the others: the shared state and the copy afterwards
        state, somebody = base.copied(self.shared[number]), len(self.program.names) + 1
        holder, program = state[2], self.program if local is None else self.slots[self.locals[local][0]]
        movers, slot, holds = range(len(self.program.names)), len(self.program.names), False
        if local is not None:
            of, at, registers, holds, on_path = self.locals[local]
            state[0].append([at, dict(registers), ((0, 2),) if on_path else (), {}, (), True])
            movers = [slot]
        if holder in self.templates: state[2] = slot if holds else somebody
        for thread in movers:
            place = thread if local is None else of
            if local is None and place in self.templates and not state[0][place][2]: continue
            def choices(register, low, high, to):
                is_listed = register in self.listed[place][to]
                need(not is_listed or high - low < len(self.rows) + len(self.locals), "a choice is not covered")
                return range(low, (high if is_listed else min(low, high)) + 1)
            codes = {edge["do"][0] for edge in program.threads[thread]["out"][state[0][thread][0]]}
            need(not codes & {"call", "return", "spawn"}, "no proof for programs with procedures and `spawn`")
            for after in (base.monitored if self.model == "tso" else base.steps)(
                    program, ("overlay" if self.model == "tso" else "none", 0), state, thread, choices):
                moved, holds_now = None, after[2] == slot
                if local is not None:
                    own = after[0].pop()
                    if own[2] and own[2][0][1] < 2: after[0][of] = own
                    else: moved = self.number.get(self.local(of, own, holds_now))
                    need(own[2] and own[2][0][1] < 2 or moved is not None, "a state of a copy is missing")
                after[2] = holder if after[2] == somebody else of if holds_now else after[2]
                to = self.rows.get(base.pack(self.listed, after))
                need(to is not None, f"shared state {number + 1}: a step leads to one that is missing")
                yield to, moved
    def stays(self, local, to, mover, moved):  # whether another copy can still be there
        is_moving = any(one is not None and self.locals[one][3] for one in (mover, moved))
        return not self.locals[local][3] or self.fits(to, local) and not is_moving
    def check_closed(self):
        first = self.rows.get(base.pack(self.listed, self.program.start()))
        need(first is not None and self.fresh <= self.beside[first], "the start is missing")
        need(not self.is_above(first, collections.Counter()), "the start is said to be impossible")
        self.before = [set() for _ in self.rows]
        for number in range(len(self.shared)):
            present = [local for local in self.beside[number] if self.fits(number, local)]
            for mover in [None, *present]:
                for to, moved in self.steps(number, mover):
                    self.before[to].add((number, mover, moved))
                    still = {local for local in present if self.stays(local, to, mover, moved)}
                    still |= set() if moved is None else {moved}
                    need(still <= self.beside[to], f"shared state {to + 1}: a copy is missing beside it")
    def check_impossible(self):
        for to, lows in enumerate(self.minimal):
            for low, (number, mover, moved) in itertools.product(lows, self.before[to]):
                rest = low - collections.Counter(() if moved is None else [moved])
                copies = rest + collections.Counter(() if mover is None else [mover])
                need(not self.can_occur(number, copies) or self.is_above(number, copies),
                     f"shared state {to + 1}: a step leads to what is said to be impossible")
    def check_goals(self, goals):
        need(self.model == "tso" or ("robust", None) not in goals, "it cannot prove this")
        for number, state in enumerate(self.shared):
            shown = [()] if base.shows(self.program, state, ("robust", None), True) else []
            if all(map(base.is_empty, state[0])):
                shown += [copies for goal in goals for copies in self.showing(number, state, goal)]
            for copies in map(collections.Counter, shown):
                need(not self.can_occur(number, copies) or self.is_above(number, copies),
                     f"shared state {number + 1} can show a property")
    def showing(self, number, state, goal):  # copies beside which it shows a goal
        kind, present = self.program.kind(goal), [one for one in self.beside[number] if self.fits(number, one)]
        if kind == "robust": return
        if kind == "assertion":
            failed = self.program.threads[goal[1]].get("failed")
            if goal[1] in self.once and state[0][goal[1]][0] == failed: yield ()
            yield from ((one,) for one in present if self.locals[one][:2] == (goal[1], failed))
            return
        if kind != "forbid": raise Unsupported(f"`{kind}` for any number of copies")
        condition = self.program.properties[goal[1]]["condition"]
        kinds = [(self.locals[one][0], {self.locals[one][1]}) for one in present]
        for numbers, sets in demanded(self.templates, condition, kinds):
            def leaf(atom):
                if atom[0] == "at" and atom[1] in self.templates: return numbers[atom[1], tuple(atom[2])]
                if atom[0] == "cell": return state[1].get(atom[1], self.program.cell(atom[1])[1])
                own = state[0][atom[1]]
                return int(own[0] in atom[2]) if atom[0] == "at" else base.recorded(own[1], atom[2])
            if evaluate(condition, leaf): yield from ([present[kind] for kind in chosen] for chosen in sets)
def check_copies(program, model, asked, data, body):
    goals, proof = named(program, asked, data), Copies(program, model, data, body)
    proof.check_closed()
    proof.check_goals(goals)
    proof.check_impossible()
    return f"{len(proof.shared)} shared states with {len(proof.locals)} states of copies"
