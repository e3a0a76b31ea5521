"""Certificates of kind `chance`: a probability, in exact fractions."""
import fractions, zlib
import weir_check as base
from kinds.counts import running
from weir_check import Unsupported, need
ONE = 1 << 62
class Chain:  # the Markov chain of a program, and the numbers of each configuration
    def __init__(self, program, goals, data, body):
        self.program, self.listed, self.record = program, data["registers"], data["chance"]
        need(not running(program)[1] and not program.is_dynamic, "programs of this kind have no such proof")
        need(len(self.listed) == len(program.names), "other threads")
        packed = zlib.decompress(body)
        self.rows = base.rows_of(data, packed)
        self.targets, self.deadlock = self.alternatives(goals), False
        for goal in goals: self.deadlock |= program.kind(goal) == "deadlock"
        sticky = self.record.get("stickiness")
        self.lasts = [None, *range(len(program.names))] if sticky else [None]
        self.factor = fractions.Fraction(*sticky) if sticky else 1
        self.updates, _, odds = self.record["updates"].partition(":")
        need((self.updates == "geometric") == bool(odds), "unknown updates")
        need(self.updates in ("uniform", "single", "geometric"), "unknown updates")
        self.odds = fractions.Fraction(odds or 0)
        need(0 <= self.odds < 1 and self.factor > 0, "odds that are none")
        numbers = packed[data["bytes"]:]
        need(len(numbers) == 16 * len(self.rows) * len(self.lasts), "the number of bounds differs")
        each = [int.from_bytes(numbers[at:at + 8], "little") for at in range(0, len(numbers), 8)]
        self.low, self.high = each[::2], [min(number, ONE) for number in each[1::2]]
        need(all(low <= ONE for low in self.low), "a probability above 1")
    def alternatives(self, goals):  # the conditions of the target, and whether each counts in drained states only
        found = []
        ends = [["at", at, [place for place in range(len(thread["locations"])) if self.program.is_done(at, place)]]
                for at, thread in enumerate(self.program.threads)]
        for goal in goals:
            kind = self.program.kind(goal)
            if kind in ("stuck", "robust"): raise Unsupported(f"`{kind}` as a target")
            if kind in ("live", "deadlock"): continue
            if kind == "assertion": condition = ["at", goal[1], [self.program.threads[goal[1]]["failed"]]]
            else: condition = self.program.properties[goal[1]]["condition"]
            if kind == "always": condition = ["!", condition]
            if kind in ("exists", "always"):
                for end in ends: condition = ["&&", end, condition]
            work = [condition]
            while work:
                part = work.pop()
                if isinstance(part, list) and part[0] == "||": work += part[1:]
                else: found.append((part, speaks_of_cells(part)))
        return found
    def is_target(self, state):
        is_drained = all(map(base.is_empty, state[0]))
        if any((is_drained or not cells) and base.holds(self.program, state, part) for part, cells in self.targets):
            return True
        if not self.deadlock: return False
        least = lambda _, low, high, __: [low] if low <= high else []
        can_step = any(base.steps(self.program, ("fifo", 0), state, thread, least) for thread in range(len(state[0])))
        return base.shows(self.program, state, ("deadlock", None), can_step)
    def after_update(self, state):  # pairs of a state and its share
        if self.updates == "single": return self.after_one_buffer(state)
        ended, level = {}, {shape(state): [state, fractions.Fraction(1)]}
        while level:
            further = {}
            for key, (now, share) in level.items():
                ways = [after for thread in range(len(now[0])) for _, after in base.flushes(self.program, now, thread)]
                stays = share if not ways or self.updates == "uniform" else share * (1 - self.odds)
                ended.setdefault(key, [now, 0])[1] += stays
                passed = share if self.updates == "uniform" else share * self.odds / max(len(ways), 1)
                for after in ways: further.setdefault(shape(after), [after, 0])[1] += passed
            level = further
        total = sum(share for _, share in ended.values())
        return [(now, share / total) for now, share in ended.values()]
    def after_one_buffer(self, state):
        able = [thread for thread in range(len(state[0])) if list(base.flushes(self.program, state, thread))]
        lengths = {thread: len(state[0][thread][2]) for thread in able}
        found = [] if able else [(state, fractions.Fraction(1))]
        for thread, length in lengths.items():
            now, share = state, fractions.Fraction(length, sum(lengths.values()) * (length + 1))
            for _ in range(length + 1):
                found.append((now, share))
                now = next((after for _, after in base.flushes(self.program, now, thread)), None)
        return found
    def moves(self, state, last):  # pairs of a configuration (its row, and who stepped last) and a probability
        able = {}
        for thread, own in enumerate(state[0]):
            def choices(register, low, high, to):
                need(register not in self.listed[thread][to] or high - low < 1 << 16, "a choice of too many values")
                return range(low, (high if register in self.listed[thread][to] else min(low, high)) + 1)
            ways = [base.execute(self.program, ("fifo", 0), state, thread, edge, choices)
                    for edge in self.program.threads[thread]["out"][own[0]]]
            if any(ways): able[thread] = [[after for _, after in way] for way in ways if way]
        weights = {thread: self.program.threads[thread].get("weight", 1) * (self.factor if thread == last else 1)
                   for thread in able}
        for thread, ways in able.items():
            share = fractions.Fraction(weights[thread]) / sum(weights.values()) / len(ways)
            for way in ways:
                for now in way:
                    for after, part in self.after_update(now):
                        yield self.place(after, thread), share / len(way) * part
        if not able: yield from ((self.place(after, last), part) for after, part in self.after_update(state))
    def place(self, state, last):  # of a configuration; None if it is not listed
        number = self.rows.get(base.pack(self.listed, state))
        which = self.lasts.index(last) if len(self.lasts) > 1 else 0
        return None if number is None else number * len(self.lasts) + which
    def check(self):
        count, repeated = len(self.low), self.record.get("repeated", False)
        follow, leaves, is_target = [[] for _ in range(count)], [False] * count, [False] * count
        for row, number in self.rows.items():
            state = base.unpack(self.listed, row)
            is_fit = base.pack(self.listed, state) == row and not any(own[3] for own in state[0])
            need(is_fit, f"state {number + 1} is not in canonical form")
            shown = self.is_target(state)
            for at, last in enumerate(self.lasts, number * len(self.lasts)):
                low, high, is_target[at] = self.low[at], self.high[at], shown
                if shown and not repeated:
                    need(high == ONE, f"state {number + 1} shows the target")
                    continue
                if low == 0 and high == ONE: continue
                least = most = 0
                for to, share in self.moves(state, last):
                    least += share * (0 if to is None else self.low[to])
                    most += share * (ONE if to is None else self.high[to])
                    if to is None or self.low[to] == 0: leaves[at] = True
                    if to is not None: follow[at].append(to)
                need(low <= least and (high == ONE or high >= most), f"state {number + 1}: a number does not follow")
        inside = [0 < low and (repeated or not shown) for low, shown in zip(self.low, is_target)]
        between = [is_in and (not repeated or low < ONE) for is_in, low in zip(inside, self.low)]
        certain = [repeated and low == ONE for low in self.low]
        ends = [one or (low == ONE if repeated else shown) for one, low, shown in zip(leaves, self.low, is_target)]
        def need_reach(some, found):
            need(all(at in found for at, one in enumerate(some) if one), "some runs may never settle it")
        need_reach(between, can_reach(follow, ends, between))
        if not repeated: return
        need_reach(certain, can_reach(follow, is_target, certain))
        alive = can_reach(follow, is_target, [True] * count)
        lost = can_reach(follow, [high == 0 and at not in alive for at, high in enumerate(self.high)], [True] * count)
        need_reach([shown and high < ONE for shown, high in zip(is_target, self.high)], lost)
def shape(state): return tuple(own[2] for own in state[0]), tuple(sorted(state[1].items()))
def speaks_of_cells(part): return isinstance(part, list) and (part[0] == "cell" or any(map(speaks_of_cells, part)))
def can_reach(follow, ends, through):  # from where an end can be reached through these
    before = [[] for _ in follow]
    for at, afters in enumerate(follow):
        for to in afters if through[at] else (): before[to].append(at)
    found = set(work := [at for at, is_end in enumerate(ends) if is_end])
    for at in work: work += [one for one in before[at] if one not in found and not found.add(one)]
    return found
def check_chance(program, model, asked, data, body):
    record, question = data["chance"], program.options["question"]
    if question is None: raise Unsupported("a probability without `--question`")
    need(model == "tso" and data["threads"] == program.names, "about another model or other threads")
    need(isinstance(record["target"], str), "a target that is none")
    need(not data["metadata"]["specification"], "the target takes the place of properties")
    odds = [program.options["repeated"] or "no", program.options["updates"] or "uniform"]
    sticky = program.options["stickiness"] and list(map(int, program.options["stickiness"].split("/")))
    need(odds == ["yes" if record.get("repeated") else "no", record["updates"]], "about other odds")
    need(sticky == record.get("stickiness"), "about another stickiness")
    proof = Chain(program, asked, data, body)
    proof.check()
    at = proof.place(program.start(), None)
    shown = (0, ONE) if at is None else (proof.low[at], proof.high[at])
    need(shown == (record["lower"], record["upper"]), "another interval than it says")
    wanted = {"almost-sure": (ONE, ONE), "almost-never": (0, 0), "probability": shown}.get(question)
    need(shown == wanted, "it does not prove that")
    return f"a probability from {shown[0] / ONE} to {shown[1] / ONE}"
