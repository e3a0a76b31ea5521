"""Certificates of kind `configurations`: a minimal basis in the load-buffer view."""
import collections, itertools, json
import weir_check as base
from kinds.counts import demanded, named, running
from weir_check import Unsupported, evaluate, need
# A configuration is a pair: of each thread its place, class (None if open) and messages; and what memory holds. A
# message is ("own", address, value), or from memory: ("memory", ((address, value), ...)).
class Local:  # a thread by itself
    def __init__(self, program, place, classes, values):
        self.program, self.thread, self.values = program, program.threads[place], values
        self.classes, self.listed, self.class_of = classes, {}, {}
        self.holds = [any(one.get("holds", False) for one in states) for states in classes]
        for number, states in enumerate(classes):
            for one in states:
                registers = dict(map(tuple, one.get("registers", [])))
                listed = self.listed.setdefault(one["at"], tuple(registers))
                need(set(registers) == set(listed) and one.get("holds", False) == self.holds[number], "no class")
                key = self.key(one["at"], registers, self.holds[number])
                need(key not in self.class_of, "a state is in two classes")
                self.class_of[key] = number
        self.start = self.find(self.thread["entry"], dict.fromkeys(range(len(self.thread["registers"])), 0), False)
    def key(self, at, registers, holds):
        return at, tuple(base.recorded(registers, register) for register in self.listed[at]), holds
    def find(self, at, registers, holds):
        number = self.class_of.get(self.key(at, registers, holds)) if at in self.listed else None
        return need(number is not None, f"a state of {self.thread['name']} is missing") or number
    def known(self, address): return self.values.setdefault(address, {self.program.cell(address)[1]})
    def moves(self):  # where each leads, what it does, and from where
        found = set()
        for (at, kept, holds), number in list(self.class_of.items()):
            registers = dict(zip(self.listed[at], kept))
            for edge in self.thread["out"][at]:
                for label, more, to, after in self.follow(edge, registers, holds):
                    target = self.find(to, {**registers, **more}, after)
                    is_idle = label[0] in ("silent", "load", "fence", "membarrier") or label[0] == "rmw" and \
                        label[2] == label[3]
                    if target != number or not is_idle: found.add((target, label, number))
        self.all_moves = sorted(found)
        self.into = collections.defaultdict(list)
        for target, label, number in self.all_moves: self.into[target].append((label, number))
        self.stores = sorted({label[1:] for _, label, _ in found if label[0] == "store"})
    def follow(self, edge, registers, holds):  # label, registers set, location, does it hold the lock
        kind, *code = edge["do"]
        def value_of(expression, own=registers): return evaluate(expression, lambda leaf: base.recorded(own, leaf[1]))
        if kind in ("skip", "terminate") or kind == "assume" and value_of(code[0]):
            yield ("silent",), {}, edge["to"], holds
        elif kind == "assert":
            yield ("silent",), {}, edge["to"] if value_of(code[0]) else self.thread["failed"], holds
        elif kind in ("fence", "membarrier"): yield (kind,), {}, edge["to"], holds
        elif kind == "assign": yield ("silent",), {code[0]: value_of(code[1])}, edge["to"], holds
        elif kind == "havoc":
            is_listed = code[0] in self.listed.get(edge["to"], ())
            for value in range(code[1], (code[2] if is_listed else min(code[1:])) + 1):
                yield ("silent",), {code[0]: value}, edge["to"], holds
        elif kind in ("lock", "unlock") and holds == (kind == "unlock"): yield (kind,), {}, edge["to"], not holds
        elif kind == "store":
            address, value = value_of(code[0]), self.program.fitted(value_of(code[0]), value_of(code[1]))
            if value is not None:
                self.known(address).add(value)
                yield ("store", address, value), {}, edge["to"], holds
        elif kind in ("load", "snapshot", "await"):
            loads = [code] if kind == "load" else code[0]
            cells = sorted({value_of(address) for _, address in loads})
            for values in itertools.product(*(sorted(self.known(cell)) for cell in cells)):
                found = dict(zip(cells, values))
                more = {register: found[value_of(address)] for register, address in loads}
                if kind != "await" or value_of(code[1], {**registers, **more}):
                    yield ("load", tuple(sorted(found.items()))), more, edge["to"], holds
        elif kind == "rmw":
            for old in sorted(self.known(address := value_of(code[1]))):
                done = self.read_modify_write(code[2], address, old, value_of)
                if done is None: continue
                self.known(address).add(done[0])
                yield ("rmw", address, old, done[0]), {} if code[0] is None else {code[0]: done[1]}, edge["to"], holds
        elif kind not in ("assume", "lock", "unlock"): raise Unsupported(f"`{kind}`")
    def read_modify_write(self, operation, address, old, value_of):  # what memory holds then, and the result
        name, *operands = operation
        written = value_of(operands[-1])
        if name in ("cas", "cmpxchg"): written = written if value_of(operands[0]) == old else None
        elif name != "xchg": written = base.BINARY[base.FETCH[name]](old, written)
        result = int(written is not None) if name == "cas" else old
        new = old if written is None else self.program.fitted(address, written)
        return None if new is None else (new, result)
    def explains(self, number, messages):  # can it have come there with these own messages and no others
        own = [message[1:] for message in messages if message[0] == "own"]
        seen, work = set(), [(number, len(own))]
        while work:
            now = number, waiting = work.pop()
            if not waiting: return True
            if now in seen: continue
            seen.add(now)
            made = dict(own[:waiting])
            for label, before in self.into[number]:
                is_seen = label[0] == "load" and all(made.get(cell, value) == value for cell, value in label[1])
                if label[0] == "silent" or is_seen: work.append((before, waiting))
                elif label[0] == "store":
                    if own[waiting - 1] == label[1:]: work.append((before, waiting - 1))
                    elif label[1] in dict(own[waiting:]): work.append((before, waiting))
        return False
def is_within(small, large):  # the second with more messages from memory
    at = 0
    for message in large:
        if at < len(small) and small[at] == message: at += 1
        elif message[0] == "own": return False
    return at == len(small)
def pairs_up(ones, others, fits):  # whether each of the ones has a partner of its own
    partner = {}
    def find(one, tried):
        for other in others:
            if other in tried or not fits(one, other): continue
            tried.add(other)
            if other not in partner or find(partner[other], tried):
                partner[other] = one
                return True
        return False
    return all(find(one, set()) for one in ones)
class Backward:
    def __init__(self, program, data):
        self.program, (self.single, self.templates) = program, running(program)
        need(len(data["classes"]) == len(program.names), "other threads")
        self.values, size = {}, -1
        self.locals = [Local(program, place, states, self.values) for place, states in enumerate(data["classes"])]
        while size != sum(map(len, self.values.values())):
            size = sum(map(len, self.values.values()))
            for local in self.locals: local.moves()
        code = [json.dumps([thread["entry"], thread.get("failed"), [[edge["from"], edge["to"], edge["do"]]
                for edge in thread["edges"]], data["classes"][place]]) for place, thread in enumerate(program.threads)]
        alike = collections.defaultdict(list)
        for at, place in enumerate(self.single): alike[code[place]].append(at)
        self.groups, self.by_mark = list(alike.values()), collections.defaultdict(list)
        self.listed = [self.read(entry) for entry in data.get("configurations", [])]
        for entry in self.listed: self.by_mark[self.mark(*entry)].append(entry)
    def read(self, entry):
        def message(parts):
            if not parts or isinstance(parts[0], list):
                parts = tuple(map(tuple, parts))
                need(parts and sorted(dict(parts).items()) == list(parts), "a message that is none")
                return "memory", parts
            return ("own", *parts[:2]) if parts[2] else ("memory", (tuple(parts[:2]),))
        def view(place, one):
            messages, number = tuple(map(message, one.get("messages", []))), one.get("class")
            own = [message[1] for message in messages if message[0] == "own"]
            is_copy = place in self.templates
            is_class = number is not None and 0 <= number < len(self.locals[place].classes)
            need(is_class or number is None and not is_copy and not messages, "a thread in no class")
            need(len(set(own)) == len(own), "two newest messages about a cell")
            need(not is_copy or not self.is_fresh((place, number, messages)), "a copy that has not moved")
            return place, number, messages
        need(len(entry["threads"]) == len(self.single), "other threads")
        need(all(one["of"] in self.templates for one in entry.get("copies", [])), "no copy")
        views = list(map(view, self.single, entry["threads"]))
        views += [view(one["of"], one) for one in entry.get("copies", [])]
        return tuple(views), dict(map(tuple, entry.get("memory", [])))
    def is_fresh(self, view): return view[0] in self.templates and view[1:] == (self.locals[view[0]].start, ())
    def holds_lock(self, view): return view[1] is not None and self.locals[view[0]].holds[view[1]]
    def own(self, view): return tuple(message for message in view[2] if message[0] == "own")
    def mark(self, views, _, chosen=None):
        copies = views[len(self.single):] if chosen is None else chosen
        return (tuple(tuple(sorted(self.own(views[at]) for at in group)) for group in self.groups),
                tuple(sorted((view[0], view[1], self.own(view)) for view in copies)))
    def contains(self, views, memory):  # whether the set does
        copies = views[len(self.single):]
        return any(self.covers(known, (views, memory)) for count in range(len(copies) + 1)
                   for chosen in set(itertools.combinations(copies, count))
                   for known in self.by_mark.get(self.mark(views, memory, chosen), ()))
    def covers(self, small, large):
        (ones, known), (others, memory) = small, large
        def stands(one, other):
            one, other = ones[one], others[other]
            if one[1] is None: return not self.holds_lock(other) and not self.own(other)
            return one[0:2] == (one[0], other[1]) and is_within(one[2], other[2])
        def is_copy_of(one, other): return ones[one][0] == others[other][0] and stands(one, other)
        if any(memory.get(address) != value for address, value in known.items()): return False
        if not all(pairs_up(group, group, stands) for group in self.groups): return False
        first = len(self.single)
        if sum(map(self.holds_lock, ones[first:])) != sum(map(self.holds_lock, others[first:])): return False
        return pairs_up(range(first, len(ones)), range(first, len(others)), is_copy_of)
    def locked_out(self, views, at): return any(self.holds_lock(view) for view in views[:at] + views[at + 1:])
    def memory_before(self, views, memory, at, label):  # None if the step cannot have led here
        kind, holders = label[0], [other for other, view in enumerate(views) if self.holds_lock(view)]
        if kind in ("store", "rmw"):
            if memory.get(label[1], label[-1]) != label[-1] or self.locked_out(views, at): return None
            rest = {address: value for address, value in memory.items() if address != label[1]}
            return {**rest, label[1]: label[2]} if kind == "rmw" else rest
        is_possible = {"lock": holders == [at], "unlock": not holders}.get(kind, True)
        return memory if is_possible else None
    def before(self, views, memory):  # all configurations that may not be outside
        for at, (place, number, messages) in enumerate(views):
            local = self.locals[place]
            for target, label, start in local.all_moves if number is None else ():
                if not local.holds[target] and (old := self.memory_before(views, memory, at, label)) is not None:
                    yield put(views, at, start, ()), old
            for label, start in local.into[number] if number is not None else ():
                for left, old in self.undo(views, memory, at, label): yield put(views, at, start, left), old
            if messages and messages[-1][0] == "memory" and not self.locked_out(views, at):
                if all(memory.get(address, value) == value for address, value in messages[-1][1]):
                    yield put(views, at, number, messages[:-1]), {**memory, **dict(messages[-1][1])}
        for place in self.templates:  # a copy that is not listed
            for target, label, start in self.locals[place].all_moves:
                if label[0] in ("store", "rmw", "unlock") and not self.locals[place].holds[target]:
                    more = views + ((place, None, ()),)
                    if (old := self.memory_before(more, memory, len(views), label)) is not None:
                        yield put(more, len(views), start, ()), old
    def undo(self, views, memory, at, label):  # the messages and memory before a step
        (place, number, messages), kind = views[at], label[0]
        old = self.memory_before(views, memory, at, label)
        if kind == "load": yield from ((left, memory) for left in self.unload(place, number, messages, label[1]))
        elif old is None: return
        elif kind == "silent": yield messages, old
        elif kind == "membarrier":
            if not any(view[2] for view in views): yield messages, old
        elif kind != "store":
            if not messages: yield messages, old
        elif not messages or messages[-1] == ("own", *label[1:]):
            left = messages[:-1]
            yield left, old
            for position in range(1, len(left) + 1):
                for address, value in self.locals[place].stores:
                    if address == label[1]: yield left[:position] + (("own", address, value),) + left[position:], old
    def unload(self, place, number, messages, parts):
        work = [messages]
        while work:
            now = work.pop()
            own = dict(message[1:] for message in now if message[0] == "own")
            if any(own.get(address, value) != value for address, value in parts): continue
            sent = tuple((address, value) for address, value in parts if address not in own)
            if not sent:
                yield now
                continue
            for address, value in self.locals[place].stores:
                more = (("own", address, value), *now)
                if address not in own and self.locals[place].explains(number, more): work.append(more)
            yield now if now[:1] == (("memory", sent),) else (("memory", sent), *now)
    def is_plausible(self, views):
        return all(number is None or self.locals[place].explains(number, messages) for place, number, messages in views)
    def stripped(self, views, memory):
        for at, (place, number, messages) in enumerate(views):
            while messages and messages[-1][0] == "memory" and not self.locked_out(views, at) and all(
                    memory.get(address) == value for address, value in messages[-1][1]): messages = messages[:-1]
            views = put(views, at, number, messages)
        return tuple(view for view in views if not self.is_fresh(view)), memory
    def check_closed(self):
        start = tuple((place, self.locals[place].start, ()) for place in self.single)
        need(not self.contains(start, {address: self.program.cell(address)[1] for address in self.values}),
             "it contains the start")
        for number, entry in enumerate(self.listed, 1):
            for views, memory in self.before(*entry):
                need(not self.is_plausible(views) or self.contains(*self.stripped(views, memory)),
                     f"configuration {number} can be entered from outside")
    # Whether it contains all that shows a goal.
    def check_goal(self, goal):
        kind, threads = self.program.kind(goal), range(len(self.program.names))
        ends = [["at", thread, [at for at in range(len(self.program.threads[thread]["locations"]))
                                if self.program.is_done(thread, at)]] for thread in threads]
        if kind == "assertion": condition = ["at", goal[1], [self.program.threads[goal[1]]["failed"]]]
        else: condition = self.program.properties[goal[1]].get("condition") if goal[0] == "property" else None
        if kind in ("exists", "always") and not self.templates:
            condition = condition if kind == "exists" else ["!", condition]
            for end in ends: condition = ["&&", end, condition]
        elif kind not in ("forbid", "assertion"): raise Unsupported(f"`{kind}` by configurations")
        all_kinds = [(place, number) for place in self.templates for number in range(len(self.locals[place].classes))]
        places = [(place, {one["at"] for one in self.locals[place].classes[number]}) for place, number in all_kinds]
        for numbers, sets in demanded(self.templates, condition, places):
            for chosen in sets:
                copies = tuple((*all_kinds[kind], ()) for kind in chosen)
                self.cover(condition, numbers, [(place, None, ()) for place in self.single], copies, {})
    def cover(self, condition, numbers, singles, copies, memory, fixed=0):
        views = (*singles, *copies)
        value = self.partial(condition, numbers, views, memory, fixed)
        holders, cells = sum(map(self.holds_lock, views)), sorted(self.values)
        if value == 0 or holders > 1: return
        is_decided = fixed >= len(singles) or holders or not any(any(local.holds) for local in self.locals)
        further = [(place, number, ()) for place in self.templates if not holders
                   for number, holds in enumerate(self.locals[place].holds) if holds]
        if value is not None and is_decided:
            if all(self.contains(*case) for case in [(views, memory), *(((*views, one), memory) for one in further)]):
                return
        need(fixed < len(singles) + len(cells), "it does not contain all that shows a property")
        if fixed < len(singles):
            place = singles[fixed][0]
            for number in range(len(self.locals[place].classes)):
                self.cover(condition, numbers, put(singles, fixed, number, ()), copies, memory, fixed + 1)
        else:
            cell = cells[fixed - len(singles)]
            for held in self.values[cell]:
                self.cover(condition, numbers, singles, copies, {**memory, cell: held}, fixed + 1)
    def partial(self, part, numbers, views, memory, fixed):  # the value of a condition, if it is known
        if isinstance(part, int): return part
        if part[0] == "cell":
            return memory.get(part[1]) if part[1] in self.values else self.program.cell(part[1])[1]
        if part[0] in ("at", "register"):
            if part[1] in self.templates: return numbers[part[1], tuple(part[2])]
            at = self.single.index(part[1])
            if at >= fixed: return None
            states = self.locals[part[1]].classes[views[at][1]]
            found = {int(one["at"] in part[2]) if part[0] == "at" else
                     base.recorded(dict(map(tuple, one.get("registers", []))), part[2]) for one in states}
            return need(len(found) == 1, "a class has states that a property tells apart") or found.pop()
        operands = [self.partial(operand, numbers, views, memory, fixed) for operand in part[1:]]
        if None not in operands: return evaluate([part[0], *operands], None)
        if part[0] == "&&" and 0 in operands: return 0
        return 1 if part[0] == "||" and any(operands) else None
def put(views, at, number, messages): return (*views[:at], (views[at][0], number, messages), *views[at + 1:])
def check_configurations(program, model, asked, data, body):
    goals, proof = named(program, asked, data), Backward(program, data)
    need(model == "tso" and not body, "it is about TSO, and nothing follows the line")
    for goal in goals: proof.check_goal(goal)
    proof.check_closed()
    return f"a minimal basis of {len(proof.listed)} configurations"
