#!/usr/bin/env python3
"""Checks evidence saved by Weir: runs (`--witness`) and closed sets of states (`--certificate`).

    weir translate sb.weir --to json > sb.json
    python3 weir_check.py sb.json run.json [--text sb.weir] [--model tso] [--property 1] [--property robust]
Written from docs/evidence.md with nothing but the standard library of Python. The question comes from the command line.
Exit status: 0 accepted, 1 refused, 2 bad usage or malformed input, 3 a kind of evidence that is not checked here.
"""
import argparse, hashlib, json, sys, zlib
class Refused(Exception): """The evidence does not answer the question."""
class Unsupported(Exception): """This checker cannot tell."""
def need(condition, reason):
    if not condition: raise Refused(reason)
# ---- expressions: 64-bit integers that wrap around ----
def wrap(value): return (value + (1 << 63)) % (1 << 64) - (1 << 63)
def divide(a, b): return 0 if b == 0 else wrap(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))
UNARY = {"-": lambda a: wrap(-a), "!": lambda a: int(a == 0), "~": lambda a: ~a}
BINARY = {
    "+": lambda a, b: wrap(a + b), "-": lambda a, b: wrap(a - b), "*": lambda a, b: wrap(a * b), "/": divide,
    "%": lambda a, b: 0 if b == 0 else wrap(a - b * divide(a, b)), "<<": lambda a, b: wrap(a << (b & 63)),
    ">>": lambda a, b: a >> (b & 63), "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
    "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b), "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b), ">": lambda a, b: int(a > b), ">=": lambda a, b: int(a >= b),
    "&&": lambda a, b: int(a != 0 and b != 0), "||": lambda a, b: int(a != 0 or b != 0)}
FULL, FETCH = (-(1 << 63), (1 << 63) - 1), {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
def evaluate(expression, leaf):
    if isinstance(expression, int): return expression
    if expression[0] in ("reg", "at", "register", "cell"): return leaf(expression)
    operands = [evaluate(operand, leaf) for operand in expression[1:]]
    return (UNARY if len(operands) == 1 else BINARY)[expression[0]](*operands)
def recorded(registers, register):
    return need(register in registers, "a step needs a register that the state does not record") or registers[register]
# ---- the program ----
class Program:
    def __init__(self, data):
        self.threads, self.properties, self.regions = data["threads"], data["properties"], data.get("regions", [])
        self.names, self.cells = [thread["name"] for thread in self.threads], {}
        codes = {edge["do"][0] for thread in self.threads for edge in thread["edges"]}
        self.is_dynamic = codes & {"call", "spawn"} or any(thread["runs"] != "once" for thread in self.threads)
        for block in data["shared"]:
            for offset, initial in enumerate(block["initial"]):
                name = f"{block['name']}[{offset}]" if block["is_array"] else block["name"]
                self.cells[block["address"] + offset] = (name, initial, block.get("range", FULL), block.get("bits"))
        for thread in self.threads:
            thread["out"] = [[] for _ in thread["locations"]]
            for edge in thread["edges"]: thread["out"][edge["from"]].append(edge)
    def cell(self, address):  # name, initial value, range and number of bits
        return self.cells.get(address, (f"mem[{address}]", 0, FULL, None))
    def fitted(self, address, value):  # what a store of the value leaves in the cell; None if it does not fit
        _, _, (low, high), bits = self.cell(address)
        return None if not low <= value <= high else value & ((1 << bits) - 1) if bits else value
    def is_done(self, thread, location):
        return not self.threads[thread]["out"][location] and location != self.threads[thread].get("failed")
    def kind(self, goal): return self.properties[goal[1]]["kind"] if goal[0] == "property" else goal[0]
    def start(self):
        # A state is [threads, memory but for initial values, lock], a thread [location, registers, queue of stores,
        # {address: (newest, {older: count or None})}, calls of (where to go on, register, saved), has it started].
        zeros = lambda thread: dict.fromkeys(range(len(thread["registers"])), 0)
        return [[[t["entry"], zeros(t), (), {}, (), t["runs"] == "once"] for t in self.threads], {}, None]
    def startable(self, state, name):  # the threads that `spawn` of this one can still start
        return [at for at, thread in enumerate(self.threads) if thread["runs"] == "spawned" and not state[0][at][5]
                and name in (thread["name"], thread["name"].rpartition("[")[0])]
# ---- steps ----
def copied(state): return [[[own[0], dict(own[1]), *own[2:]] for own in state[0]], dict(state[1]), state[2]]
def is_empty(own): return not own[2] and not own[3]
def put(program, state, address, value):
    state[1][address] = value
    if value == program.cell(address)[1]: del state[1][address]
def newest(program, state, own, address):
    values = [value for cell, value in own[2] if cell == address] or [state[1].get(address, program.cell(address)[1])]
    return own[3][address][0] if address in own[3] else values[-1]
def longer(buffers, own, address, value):  # the queue and the waiting stores of a buffer after one more store
    kind, bound = buffers
    if kind == "fifo" or (kind == "coherence" and not own[3] and len(own[2]) < bound):
        return own[2] + ((address, value),), own[3]
    latest, older = own[3].get(address, (None, {}))
    if kind == "coherence": older = {**older, value: None}
    elif kind == "multiset" and address in own[3]:
        older = {**older, latest: None if (count := older.get(latest, 0)) is None or count >= bound else count + 1}
    return own[2], {**own[3], address: (value, older)}
def flushes(program, state, thread):  # all flushes of a thread: what they do, and the state after them
    own = state[0][thread]
    found = [(own[2][0], own[2][1:], own[3])] if own[2] else []
    for address, (latest, older) in () if own[2] else own[3].items():
        rest = {other: entry for other, entry in own[3].items() if other != address}
        found.append(((address, latest), (), rest))
        for value, count in older.items():
            left = {other: many for other, many in {**older, value: count and count - 1}.items() if many != 0}
            found.append(((address, value), (), {**rest, address: (latest, left)}))
    for (address, value), queue, waiting in found if state[2] in (None, thread) else ():
        (after := copied(state))[0][thread][2:4] = [queue, waiting]
        put(program, after, address, value)
        yield {"address": address, "value": value}, after
def execute(program, buffers, state, thread, edge, choices):  # where an edge leads: what it did, and the state after
    own, (kind, *code) = state[0][thread], edge["do"]
    locked_out, result = state[2] not in (None, thread), []
    def value_of(expression, registers=own[1]): return evaluate(expression, lambda leaf: recorded(registers, leaf[1]))
    def go(registers=(), to=edge["to"], **did):
        result.append((did, after := copied(state)))
        after[0][thread][:2] = [to, {**own[1], **dict(registers)}]
        return after
    if not own[5]: return result
    if kind in ("skip", "terminate") or (kind == "assume" and value_of(code[0])): go()
    elif kind == "fence" and is_empty(own) or kind == "membarrier" and all(map(is_empty, state[0])): go()
    elif kind == "assert": go(to=edge["to"] if value_of(code[0]) else program.threads[thread]["failed"])
    elif kind == "assign": go({code[0]: (value := value_of(code[1]))}, value=value)
    elif kind == "havoc":
        for value in choices(*code, edge["to"]): go({code[0]: value}, value=value, choice=value)
    elif kind in ("lock", "unlock") and is_empty(own) and state[2] == (None if kind == "lock" else thread):
        go()[2] = thread if kind == "lock" else None
    elif kind == "call":
        _, entry, parameters, kept = next(one for one in program.threads[thread]["frames"] if one[0] == code[0])
        entered = {**dict.fromkeys(kept, 0), **dict(zip(parameters, map(value_of, code[1])))}
        go(entered, entry)[0][thread][4] += ((edge["to"], code[2], {register: own[1][register] for register in kept}),)
    elif kind == "return" and own[4]:
        (to, register, saved), value = own[4][-1], value_of(code[0])
        go({**saved, **({} if register is None else {register: value})}, to, value=value)[0][thread][4] = own[4][:-1]
    elif kind == "spawn" and (new := program.startable(state, program.names[code[0]])):
        go(starts=program.names[new[0]])[0][new[0]][5] = True
    elif kind == "store":
        value = program.fitted(address := value_of(code[0]), value_of(code[1]))
        if value is not None and buffers[0] != "none":
            go(address=address, value=value)[0][thread][2:4] = longer(buffers, own, address, value)
        elif value is not None and not locked_out: put(program, go(address=address, value=value), address, value)
    elif kind == "load" and not locked_out:
        value = newest(program, state, own, address := value_of(code[1]))
        go({code[0]: value}, address=address, value=value)
    elif kind in ("snapshot", "await") and not locked_out:
        loads = [(cell := value_of(address), newest(program, state, own, cell)) for _, address in code[0]]
        found = {register: value for (register, _), (_, value) in zip(code[0], loads)}
        if kind == "snapshot" or value_of(code[1], {**own[1], **found}): go(found, loads=loads)
    elif kind == "rmw" and is_empty(own) and not locked_out:
        register, address, (name, *operands) = code[0], value_of(code[1]), code[2]
        old, written = newest(program, state, own, value_of(code[1])), value_of(operands[-1])
        if name in ("cas", "cmpxchg"): written = written if value_of(operands[0]) == old else None
        elif name != "xchg": written = BINARY[FETCH[name]](old, written)
        final = None if written is None else program.fitted(address, written)
        value = int(written is not None) if name == "cas" else old
        if written is None or final is not None:
            after = go({} if register is None else {register: value}, address=address, value=final, read=old)
            put(program, after, address, old if final is None else final)
    return result
def steps(program, buffers, state, thread, choices):
    edges = program.threads[thread]["out"][state[0][thread][0]]
    found = [done for edge in edges for done in execute(program, buffers, state, thread, edge, choices)]
    return [after for _, after in [*flushes(program, state, thread), *found]]
def accessed(did): return [did["address"]] if "address" in did else [cell for cell, _ in did.get("loads", [])]
# ---- properties: a goal is ("property", number), ("assertion", thread) or ("robust", None) ----
def holds(program, state, condition):
    def leaf(atom):
        if atom[0] == "cell": return state[1].get(atom[1], program.cell(atom[1])[1])
        location, registers, *_, runs = state[0][atom[1]]
        return int(runs and location in atom[2]) if atom[0] == "at" else recorded(registers, atom[2])
    return evaluate(condition, leaf) != 0
def shows(program, state, goal, can_step):  # whether a state shows a goal, given whether a step is possible
    kind, is_drained = program.kind(goal), all(map(is_empty, state[0]))
    is_done = all(program.is_done(thread, own[0]) or not own[5] for thread, own in enumerate(state[0]))
    if kind == "assertion": return state[0][goal[1]][0] == program.threads[goal[1]].get("failed")
    if kind == "deadlock": return not can_step and not is_done
    if kind == "robust":  # whether an attack has succeeded
        ends = [own[3].get(own[2][0][0], (0,))[0] & 3 for own in state[0] if own[2] and own[2][0][1] == 1]
        return state[2] is None and any(ends)
    is_judged = kind in ("forbid", "exists", "always") and is_drained and (kind == "forbid" or is_done)
    return is_judged and holds(program, state, program.properties[goal[1]]["condition"]) == (kind != "always")
# ---- runs ----
def check_run(program, model, goal, data):
    if program.kind(goal) in ("stuck", "live"): raise Unsupported("runs after which something can no longer happen")
    buffers, state, events = ("fifo" if model == "tso" else "none", 0), program.start(), []
    waiting = [[] for _ in program.names]
    for number, step in enumerate(data["steps"], 1):
        def claim(condition, what): need(condition, f"step {number}: {what}")
        thread, label = program.names.index(step["thread"]), None
        if step["action"] == "flush":
            claim("edge" not in step and waiting[thread], "no such flush")
            found, line = list(flushes(program, state, thread)), waiting[thread].pop(0)
        else:
            edges = program.threads[thread]["edges"]
            edge, kind, line = edges[step["edge"]], edges[step["edge"]]["do"][0], edges[step["edge"]]["line"]
            claim(step["edge"] >= 0 and edge["from"] == state[0][thread][0], "the thread is elsewhere")
            label = next(iter(program.threads[thread]["locations"][edge["from"]]), None)
            action = "local" if kind in ("skip", "terminate", "assign", "havoc", "assume", "assert") else kind
            claim(step["action"] == action, "it is a different action")
            choose = lambda _, low, high, __: [step["choice"]] if low <= step.get("choice", low - 1) <= high else []
            found = execute(program, buffers, state, thread, edge, choose)
            waiting[thread] += [line] if kind == "store" and model == "tso" else []
        claim(len(found) == 1, "it is not possible")
        did, state = found[0]
        facts = {**did, "cell": program.cell(did["address"])[0] if "address" in did else None, "label": label,
                 "line": line, "address": None,
                 "loads": [{"cell": program.cell(cell)[0], "value": value} for cell, value in did.get("loads", [])]}
        wrong = [field for field in set(step) - {"thread", "action", "edge", "text"} if step[field] != facts.get(field)]
        claim(not wrong, f"wrong fields: {', '.join(sorted(wrong))}")
        events.append((thread, step["action"], did, line))
    if goal[0] == "robust" or data.get("cycle"): check_cycle(program, events, model == "tso" and data.get("cycle"))
    least = lambda _, low, high, __: [low] if low <= high else []
    can_step = any(steps(program, buffers, state, thread, least) for thread in range(len(state[0])))
    ways = [edge["do"] for at, own in enumerate(state[0]) if own[5] for edge in program.threads[at]["out"][own[0]]]
    can_step |= any(do[0] == "spawn" and not program.startable(state, program.names[do[1]]) for do in ways)
    is_shown = all(map(is_empty, state[0])) if goal[0] == "robust" else shows(program, state, goal, can_step)
    need(is_shown, "the last state does not show the property")
def check_cycle(program, events, cycle):  # whether each event happens before the next one, in a circle
    need(cycle, "the file shows no cycle")
    order, source, section = {}, {}, {}  # steps that write a cell, in order; (step, cell) -> step read; step -> section
    pending, holder = [[] for _ in program.names], None
    for number, (thread, action, did, _) in enumerate(events, 1):
        for cell in accessed(did) if action in ("load", "rmw", "snapshot", "await") else ():
            source[number, cell] = ([at for at, waits in pending[thread] if waits == cell] or order.get(cell, [0]))[-1]
        if action == "store": pending[thread].append((number, did["address"]))
        step, cell = pending[thread].pop(0) if action == "flush" else (number, did.get("address"))
        if action == "flush" or action == "rmw" and did["value"] is not None: order.setdefault(cell, []).append(step)
        holder = (thread, number) if action == "lock" else holder
        section[number] = holder if holder and holder[0] == thread else (None, number)
        holder = None if action == "unlock" else holder
    for step, cell in sum(pending, []): order.setdefault(cell, []).append(step)  # What waits lands after the end.
    place = {(step, cell): at for cell, written in order.items() for at, step in enumerate(written)}
    for entry, after in zip(cycle, cycle[1:] + cycle[:1]):
        a, b = entry["step"], after["step"]
        need(0 < a <= len(events) and 0 < b <= len(events), "the cycle names a step that does not exist")
        thread, action, did, line = events[a - 1]
        cells = {program.cell(cell)[0]: cell for cell in accessed(did)}
        fact = (program.names[thread], "load" if action in ("snapshot", "await") else action, line)
        need((entry["thread"], entry["action"], entry["line"]) == fact and action not in ("local", "flush")
             and (entry.get("cell") in cells or not cells and "cell" not in entry) and
             set(entry) <= {"step", "thread", "action", "cell", "line", "relation"}, "a false event in the cycle")
        cell = cells.get(entry.get("cell"))
        same, at, then = entry.get("cell") == after.get("cell"), place.get((a, cell)), place.get((b, cell), -1)
        need({"program-order": events[b - 1][0] == thread and a < b,
              "store-order": same and at is not None and then > at,
              "source": same and source.get((b, cell)) == a,
              "conflict": same and (a, cell) in source and a != b and then > place.get((source[a, cell], cell), -1),
              "start": did.get("starts") == program.names[events[b - 1][0]],
              "section": section[a] == section[b]}.get(entry["relation"]), "a false relation in the cycle")
# ---- attacks: what the monitor remembers is where buffers are otherwise ----
DRAINS, LOADS = ("fence", "membarrier", "rmw", "lock", "unlock"), ("load", "snapshot", "await")
def loads_ahead(thread):  # locations from which edges lead to a load, past nothing that drains the buffer
    edges = [(edge["from"], edge["to"], edge["do"][0]) for edge in thread["edges"]]
    before, found = None, {start for start, _, kind in edges if kind in LOADS}
    while before != found:
        before, found = found, found | {start for start, to, kind in edges if kind not in DRAINS and to in found}
    return found
def monitored(program, buffers, state, thread, choices):  # the steps of the monitored program
    attacker = next((at for at, own in enumerate(state[0]) if own[2] and own[2][0][1] < 2), None)
    first, mark = state[0][attacker][2][0] if attacker is not None else (None, None)
    own, found, bare = state[0][thread], [], [[[*one[:2], (), {}, *one[4:]] for one in state[0]], *state[1:]]
    for edge in program.threads[thread]["out"][own[0]] if (attacker, mark) != (thread, 1) else ():
        kind, is_first = edge["do"][0], attacker is None and edge["do"][0] == "store" and state[2] != thread
        delayed = execute(program, buffers, state, thread, edge, choices) if is_first or attacker == thread else ()
        for did, after in delayed:
            if is_first: after[0][thread][2] = ((did["address"], 0),)
            if after[0][thread][0] in program.ahead[thread]: found.append(after)
            if kind in LOADS and (levels := {cell: (1, {}) for cell in accessed(did) if cell not in own[3]}):
                found.append(copied(after))
                found[-1][0][thread][:4] = [*program.start()[0][thread][:2], ((first, 1),), levels]
        is_possible = attacker is None or attacker != thread and kind != "membarrier"
        for did, after in execute(program, ("none", 0), bare, thread, edge, choices) if is_possible else ():
            for new, old in zip(after[0], state[0]): new[2:4] = old[2:4]
            if mark != 1 or helps(after[0], attacker, thread, state[2] == thread, kind, did): found.append(after)
    return found
def helps(threads, attacker, thread, in_section, kind, did):  # whether the path goes on with a step; raises levels
    own, level = threads[thread], 2 if kind == "store" or kind == "rmw" and did["value"] is not None else 1
    levels = {cell: (value & 3, value >> 2) for cell, (value, _) in threads[attacker][3].items()}
    if not own[2] and any(levels.get(cell, (0, 0))[0] >= 3 - level for cell in accessed(did)):
        own[2], levels = ((0, 2),), {cell: (max(both), 0) for cell, both in levels.items()}
    levels |= {cell: (max(path, level), section) if own[2] else (path, max(section, level))
               for cell in accessed(did) for path, section in [levels.get(cell, (0, 0))]}
    threads[attacker][3] = {cell: (path + 4 * section, {}) for cell, (path, section) in levels.items()}
    return own[2] or kind == "lock" or in_section and kind != "unlock"
# ---- closed sets ----
def number_at(row, at):
    higher, after = number_at(row, at + 1) if row[at] > 127 else (0, at + 1)
    return row[at] & 127 | higher << 7, after
def encoded(value): return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + encoded(value >> 7)
def zigzag(value): return encoded(value * 2 if value >= 0 else -value * 2 - 1)
def pack(listed, state):  # the row of a state, which records the listed registers and no others
    row = []
    for (location, registers, queue, waiting, *_), lists in zip(state[0], listed):
        row += [encoded(location)] + [zigzag(recorded(registers, register)) for register in lists[location]]
        row += [encoded(len(queue))] + [zigzag(part) for store in queue for part in store] + [encoded(len(waiting))]
        for address, (latest, older) in sorted(waiting.items()):
            row += [zigzag(address), zigzag(latest), encoded(len(older))]
            for old, count in sorted(older.items()): row += [zigzag(old), encoded(0 if count is None else count + 1)]
    row += [encoded(len(state[1]))] + [zigzag(part) for cell in sorted(state[1].items()) for part in cell]
    return b"".join(row) + encoded(0 if state[2] is None else state[2] + 1)
def unpack(listed, row):
    at, threads = 0, []
    def take(is_signed=True):
        nonlocal at
        value, at = number_at(row, at)
        return value if not is_signed else value >> 1 if value % 2 == 0 else -(value >> 1) - 1
    def several(read): return [read() for _ in range(take(False))]
    for lists in listed:
        location = take(False)
        registers = {register: take() for register in lists[location]}
        queue = tuple(several(lambda: (take(), take())))
        older = lambda: (take(), None if (count := take(False)) == 0 else count - 1)
        waiting = several(lambda: (take(), (take(), dict(several(older)))))
        threads.append([location, registers, queue, dict(waiting), (), True])
    return [threads, dict(several(lambda: (take(), take()))), holder - 1 if (holder := take(False)) else None]
def rows_of(data, packed):  # the rows of the states, with their numbers
    at, row, rows = 0, b"", {}
    for number in range(data["states"]):
        (shared, at), (length, at) = (first := number_at(packed, at)), number_at(packed, first[1])
        row, at = row[:shared] + packed[at:at + length], at + length
        rows[row] = number
    need(len(rows) == data["states"] and at == data["bytes"], "the number of states or bytes differs")
    return rows
def check_states(program, model, goals, data, body):
    if program.is_dynamic: raise Unsupported("closed sets with procedures, `spawn` or any number of copies")
    is_monitored, listed = data["kind"] == "attacks", data["registers"]
    kind = "overlay" if is_monitored else data["buffers"]
    buffers = (kind, 0) if isinstance(kind, str) else next(iter(kind.items()))
    kinds = ("overlay",) if is_monitored else ("none",) if model == "sc" else ("fifo", "coherence", "multiset")
    program.ahead = [loads_ahead(thread) for thread in program.threads]
    need((goals == [("robust", None)]) == is_monitored == (("robust", None) in goals), "states cannot prove this")
    need(len(listed) == len(program.names) and buffers[0] in kinds, "other threads, or the wrong buffers")
    rows = rows_of(data, packed := zlib.decompress(body))
    need(len(packed) == data["bytes"], "there are more bytes than states")
    need(pack(listed, program.start()) in rows, "the initial state is missing")
    live = [goal for goal in goals if program.kind(goal) in ("stuck", "live")]
    need(not live or buffers[0] in ("none", "fifo"), "only exact buffers show what can still happen")
    graph, states = [[] for _ in rows], []
    for row, number in rows.items():
        state, can_step = unpack(listed, row), False
        is_fit = pack(listed, state) == row and (model == "tso" or all(map(is_empty, state[0])))
        need(is_fit, f"state {number + 1} is not in canonical form, or a store waits under SC")
        for thread, name in enumerate(program.names):
            def choices(register, low, high, to):
                need(register not in listed[thread][to] or high - low < len(rows), "a choice is not covered")
                return range(low, (high if register in listed[thread][to] else min(low, high)) + 1)
            for after in (monitored if is_monitored else steps)(program, buffers, state, thread, choices):
                to, can_step = rows.get(pack(listed, after)), True
                need(to is not None, f"state {number + 1}: a step of {name} leaves the set")
                if live: graph[to].append(number)
        need(not any(shows(program, state, goal, can_step) for goal in goals), f"state {number + 1} shows a property")
        states += [state] if live else []
    for goal in live: check_live(program, goal, graph, states)
    return len(rows)
def check_live(program, goal, before, states):  # whether from each state one outside the region, or as wanted, follows
    wanted = program.properties[goal[1]].get("condition")
    def is_wanted(state, region):
        if wanted is None: return state[0][region[0]][0] not in region[1]
        return ("cell" not in json.dumps(wanted) or all(map(is_empty, state[0]))) and holds(program, state, wanted)
    for region in program.regions if wanted is None else [None]:
        seen = set(work := [number for number, state in enumerate(states) if is_wanted(state, region)])
        for number in work: work += [one for one in before[number] if one not in seen and not seen.add(one)]
        need(len(seen) == len(states), "from some state the condition cannot be reached any more")
# ---- the question ----
def asked_goals(program, names):
    assertions = {thread["name"]: ("assertion", at) for at, thread in enumerate(program.threads) if "failed" in thread}
    goals = {str(number + 1): ("property", number) for number in range(len(program.properties))} | assertions
    return {({"robust": ("robust", None)} | goals)[name] for name in names or list(goals) or ["robust"]}
def named_goals(program, metadata):
    for item in metadata["specification"]:
        if item == "not-robust": yield ("robust", None)
        elif "property" in item:
            number, text = item["property"]["number"] - 1, item["property"]["text"]
            need(0 <= number and program.properties[number]["text"] == text, "about another property")
            yield ("property", number)
        else: yield ("assertion", program.names.index(item["assertion"]["thread"]))
OTHERS = {}  # kinds of certificates that other files check, each with a function
def check(program, digests, model, asked, evidence):  # what it shows; `asked` is None for a part of a certificate
    line, _, body = evidence.partition(b"\n")
    metadata = (data := json.loads(evidence if line == b"{" else line))["metadata"]
    need(data["format"] == 2 and digests.items() <= metadata["program"].items(), "about another program")
    need(metadata["model"] == model, "about another memory model")
    named = list(named_goals(program, metadata))
    if data.get("kind") in OTHERS: return OTHERS[data["kind"]](program, model, asked, data, body)
    if "steps" in data:
        need(asked is not None and len(named) == 1 and named[0] in asked, "about another property")
        return check_run(program, model, named[0], data) or f"a run of {len(data['steps'])} steps"
    is_named = named and (asked is None or set(named) == asked)
    need(is_named and data["threads"] == program.names, "about other properties or threads")
    if data["kind"] in ("states", "attacks"):
        return f"a closed set of {check_states(program, model, named, data, body)} states"
    if data["kind"] != "parts" or asked is None: raise Unsupported(f"certificates of kind `{data['kind']}`")
    shown, proved, at = [], set(), 0
    for length in data["parts"]:
        part, at = body[at:at + length], at + length
        shown.append(check(program, digests, model, None, part))
        proved.update(named_goals(program, json.loads(part.partition(b"\n")[0])["metadata"]))
    need(at == len(body) and proved == asked, "the parts are about other properties")
    return " and ".join(shown)
def main(more=()):  # `more` are names of options that others ask for
    sys.setrecursionlimit(20_000)
    parser = argparse.ArgumentParser(description="Checks runs and certificates saved by Weir.")
    helps = {"program": "what `weir translate --to json` prints", "evidence": "what Weir saved", "--text": "its text"}
    for name, text in (helps | dict.fromkeys(more)).items(): parser.add_argument(name, help=text)
    parser.add_argument("--model", choices=("tso", "sc"), default="tso")
    parser.add_argument("--property", action="append", help="a number, the name of a thread, or `robust`")
    files = {"automaton_sha256": (options := parser.parse_args()).program, "text_sha256": options.text}
    try:
        digests = {name: hashlib.sha256(open(path, "rb").read()).hexdigest() for name, path in files.items() if path}
        program, evidence = Program(json.loads(open(options.program, "rb").read())), open(options.evidence, "rb").read()
        asked, program.options = asked_goals(program, options.property), vars(options)
        return print("accepted:", check(program, digests, options.model, asked, evidence))
    except (Refused, Unsupported, LookupError, TypeError, ValueError, AttributeError, OSError, zlib.error) as error:
        status = {Refused: 1, Unsupported: 3}.get(type(error), 2)
        print({1: "refused:", 2: f"malformed: {type(error).__name__}:", 3: "not checked here:"}[status], error)
        return status
if __name__ == "__main__": sys.exit(main())
