#!/usr/bin/env python3
"""Checks evidence saved by Weir: runs (`--witness`) and closed sets of states (`--certificate`).

    weir translate sb.weir --to json > sb.json
    python3 weir_check.py sb.json run.json [--text sb.weir] [--model tso] [--property 1] [--property robust]

Written from docs/evidence.md, with the standard library of Python and nothing else. Program, memory model and
properties are what the command line names; the file must be about just these.

Exit status: 0 accepted, 1 refused, 2 bad usage or malformed input, 3 a kind of evidence that this checker cannot check.
"""
import argparse, hashlib, json, sys, zlib

LOW64 = (1 << 64) - 1


class Refused(Exception):
    """The evidence does not show what is asked."""


class Unsupported(Exception):
    """This checker cannot tell."""


def need(condition, reason):
    if not condition:
        raise Refused(reason)


# ---- expressions ----

def wrap(value):
    value &= LOW64
    return value - (1 << 64) if value >> 63 else value


def divide(a, b):
    return 0 if b == 0 else wrap(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))


UNARY = {"-": lambda a: wrap(-a), "!": lambda a: int(a == 0), "~": lambda a: ~a}
BINARY = {
    "+": lambda a, b: wrap(a + b), "-": lambda a, b: wrap(a - b), "*": lambda a, b: wrap(a * b),
    "/": divide, "%": lambda a, b: 0 if b == 0 else wrap(a - b * divide(a, b)),
    "<<": lambda a, b: wrap(a << (b & 63)), ">>": lambda a, b: a >> (b & 63),
    "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
    "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b), "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b), ">": lambda a, b: int(a > b), ">=": lambda a, b: int(a >= b),
    "&&": lambda a, b: int(a != 0 and b != 0), "||": lambda a, b: int(a != 0 or b != 0),
}
FETCH = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^"}
LEAVES = ("reg", "at", "register", "cell")


def evaluate(expression, leaf):
    if isinstance(expression, int):
        return expression
    if expression[0] in LEAVES:
        return leaf(expression)
    operands = [evaluate(operand, leaf) for operand in expression[1:]]
    return UNARY[expression[0]](*operands) if len(operands) == 1 else BINARY[expression[0]](*operands)


# ---- the program ----

class Program:
    def __init__(self, data):
        self.shared, self.threads, self.properties = data["shared"], data["threads"], data["properties"]
        if data["format"] != 1 or any(thread["runs"] != "once" for thread in self.threads):
            raise Unsupported("threads that do not run exactly once")
        self.cells = {}
        for block in self.shared:
            for offset, initial in enumerate(block["initial"]):
                name = f"{block['name']}[{offset}]" if block["is_array"] else block["name"]
                self.cells[block["address"] + offset] = (name, initial, block.get("range"), block.get("bits"))
        for thread in self.threads:
            thread["out"] = [[] for _ in thread["locations"]]
            for number, edge in enumerate(thread["edges"]):
                if edge["do"][0] in ("call", "return", "spawn"):
                    raise Unsupported("procedures and spawned threads")
                thread["out"][edge["from"]].append((number, edge))

    def initial(self, address):
        return self.cells[address][1] if address in self.cells else 0

    def name(self, address):
        return self.cells[address][0] if address in self.cells else f"mem[{address}]"

    def fitted(self, address, value):
        """What a store of the value leaves in the cell; None if the value does not fit."""
        _, _, bounds, bits = self.cells.get(address, (None, 0, None, None))
        if bounds and not bounds[0] <= value <= bounds[1]:
            return None
        return value & ((1 << bits) - 1) if bits else value

    def is_done(self, thread, location):
        return not self.threads[thread]["out"][location] and location != self.threads[thread].get("failed")


# ---- states and steps ----
# A state is [threads, memory, lock]: for each thread [location, registers, queue, waiting], where registers is a map,
# queue a tuple of (address, value), and waiting a map from addresses to (newest, {older: count, or None for any number}).

def initial_state(program):
    threads = [[t["entry"], dict.fromkeys(range(len(t["registers"])), 0), (), {}] for t in program.threads]
    return [threads, {}, None]


def copied(state):
    return [[list(own[:1]) + [dict(own[1]), own[2], own[3]] for own in state[0]], dict(state[1]), state[2]]


def is_empty(own):
    return not own[2] and not own[3]


def put(program, memory, address, value):
    if value == program.initial(address):
        memory.pop(address, None)
    else:
        memory[address] = value


def stored(buffers, own, address, value):
    """The queue and the waiting stores of a buffer after one more store."""
    kind, bound = buffers
    if kind == "fifo" or (kind == "coherence" and not own[3] and len(own[2]) < bound):
        return own[2] + ((address, value),), own[3]
    waiting = dict(own[3])
    if kind == "coherence":
        older = dict(waiting[address][1]) if address in waiting else {}
        waiting[address] = (value, {**older, value: None} if address in waiting else {value: None})
    elif address in waiting:
        newest, older = waiting[address]
        count = older.get(newest, 0)
        waiting[address] = (value, {**older, newest: None if count is None or count >= bound else count + 1})
    else:
        waiting[address] = (value, {})
    return own[2], waiting


def flushes(program, state, thread):
    """All flushes of a thread: (address, value, state)."""
    own, found = state[0][thread], []
    if state[2] not in (None, thread):
        return found
    if own[2]:
        found.append((own[2][0], own[2][1:], own[3]))
    else:
        for address, (newest, older) in own[3].items():
            rest = {other: entry for other, entry in own[3].items() if other != address}
            found.append(((address, newest), (), rest))
            for value, count in older.items():
                left = {other: many for other, many in older.items() if other != value}
                if count is None or count > 1:
                    left[value] = None if count is None else count - 1
                found.append(((address, value), (), {**rest, address: (newest, left)}))
    result = []
    for (address, value), queue, waiting in found:
        after = copied(state)
        after[0][thread][2:] = [queue, waiting]
        put(program, after[1], address, value)
        result.append((address, value, after))
    return result


def newest(program, state, own, address):
    if address in own[3]:
        return own[3][address][0]
    for queued, value in reversed(own[2]):
        if queued == address:
            return value
    return state[1].get(address, program.initial(address))


def execute(program, buffers, state, thread, edge, choices):
    """Where an edge leads: pairs of what it did and the state after it."""
    own, code = state[0][thread], edge["do"]
    kind, locked_out = code[0], state[2] not in (None, thread)

    def value_of(expression, registers=own[1]):
        def leaf(found):
            need(found[1] in registers, "the value of a register is needed that the state does not tell")
            return registers[found[1]]
        return evaluate(expression, leaf)

    def going(change=None, **did):
        after = copied(state)
        after[0][thread][0] = edge["to"]
        if change:
            change(after, after[0][thread])
        return [(did, after)]

    def setting(register, value):
        return lambda _, mine: mine[1].__setitem__(register, value) if register is not None else None

    if kind in ("skip", "terminate"):
        return going()
    if kind == "assign":
        value = value_of(code[2])
        return going(setting(code[1], value), value=value)
    if kind == "havoc":
        return [pair for value in choices(code[1], code[2], code[3], edge["to"])
                for pair in going(setting(code[1], value), value=value, choice=value)]
    if kind == "assume":
        return going() if value_of(code[1]) else []
    if kind == "assert":
        if value_of(code[1]):
            return going()
        return going(lambda _, mine: mine.__setitem__(0, program.threads[thread]["failed"]))
    if kind == "fence":
        return going() if is_empty(own) else []
    if kind == "membarrier":
        return going() if all(map(is_empty, state[0])) else []
    if kind in ("lock", "unlock"):
        before, after = (None, thread) if kind == "lock" else (thread, None)
        possible = state[2] == before and is_empty(own)
        return going(lambda all_, _: all_.__setitem__(2, after)) if possible else []
    if kind == "store":
        address, value = value_of(code[1]), value_of(code[2])
        value = program.fitted(address, value)
        if value is None or (buffers[0] == "none" and locked_out):
            return []
        if buffers[0] == "none":
            return going(lambda all_, _: put(program, all_[1], address, value), address=address, value=value)
        buffer = stored(buffers, own, address, value)
        return going(lambda _, mine: mine.__setitem__(slice(2, 4), buffer), address=address, value=value)
    if locked_out:
        return []
    if kind == "load":
        address = value_of(code[2])
        value = newest(program, state, own, address)
        return going(setting(code[1], value), address=address, value=value)
    if kind in ("snapshot", "await"):
        addresses = [value_of(address) for _, address in code[1]]
        loads = [(address, newest(program, state, own, address)) for address in addresses]
        found = {register: value for (register, _), (_, value) in zip(code[1], loads)}
        holds = kind == "snapshot" or value_of(code[2], {**own[1], **found})
        return going(lambda _, mine: mine[1].update(found), loads=loads) if holds else []
    if kind == "rmw" and is_empty(own):
        address = value_of(code[2])
        old, operation = state[1].get(address, program.initial(address)), code[3]
        result, written = old, value_of(operation[-1])
        if operation[0] in ("cas", "cmpxchg"):
            written = written if value_of(operation[1]) == old else None
            result = int(written is not None) if operation[0] == "cas" else old
        elif operation[0] != "xchg":
            written = BINARY[FETCH[operation[0]]](old, written)
        final = None if written is None else program.fitted(address, written)
        if written is not None and final is None:
            return []

        def change(all_, mine):
            setting(code[1], result)(all_, mine)
            if final is not None:
                put(program, all_[1], address, final)
        return going(change, address=address, value=final, read=old)
    return []


def shows(program, state, goal, can_step=None):
    """Whether a state shows a goal; for deadlocks, given whether a step is possible."""
    kind, subject = goal
    if kind == "assertion":
        return state[0][subject][0] == program.threads[subject].get("failed")
    item = program.properties[subject]
    is_final = all(program.is_done(thread, own[0]) for thread, own in enumerate(state[0]))
    if item["kind"] == "deadlock":
        return can_step is False and not is_final
    if item["kind"] in ("stuck", "live"):
        raise Unsupported(f"`{item['kind']}` is about what can still happen")
    if not all(map(is_empty, state[0])) or (item["kind"] in ("exists", "always") and not is_final):
        return False

    def leaf(atom):
        if atom[0] == "at":
            return int(state[0][atom[1]][0] in atom[2])
        if atom[0] == "register":
            need(atom[2] in state[0][atom[1]][1], "a property needs a register that the state does not tell")
            return state[0][atom[1]][1][atom[2]]
        return state[1].get(atom[1], program.initial(atom[1]))
    return (evaluate(item["condition"], leaf) != 0) == (item["kind"] != "always")


# ---- runs ----

ACTIONS = ("load", "snapshot", "await", "store", "fence", "membarrier", "rmw", "lock", "unlock")


def check_run(program, model, goal, data):
    buffers = ("fifo" if model == "tso" else "none", 0)
    names = [thread["name"] for thread in program.threads]
    state, events, lines = initial_state(program), [], [[] for _ in names]
    for number, step in enumerate(data["steps"], 1):
        def claim(condition, what):
            need(condition, f"step {number}: {what}")
        claim(step["thread"] in names, "no such thread")
        thread, label = names.index(step["thread"]), None
        if step["action"] == "flush":
            found = flushes(program, state, thread) if buffers[0] == "fifo" else []
            claim("edge" not in step and "choice" not in step and len(found) == 1, "no such flush")
            did, line = {"address": found[0][0], "value": found[0][1]}, lines[thread].pop(0)
            state = found[0][2]
        else:
            claim(0 <= step.get("edge", -1) < len(program.threads[thread]["edges"]), "no such edge")
            edge = program.threads[thread]["edges"][step["edge"]]
            claim(edge["from"] == state[0][thread][0], "the thread is elsewhere")
            choose = lambda _, low, high, __: [step["choice"]] if low <= step.get("choice", low - 1) <= high else []
            after = execute(program, buffers, state, thread, edge, choose)
            claim(len(after) == 1, "the step is not possible")
            (did, state), line = after[0], edge["line"]
            labels = program.threads[thread]["locations"][edge["from"]]
            label = labels[0] if labels else None
            kind = edge["do"][0]
            claim(step["action"] == (kind if kind in ACTIONS else "local"), "another action")
            if kind == "store":
                lines[thread].append(line)
        facts = {"cell": program.name(did["address"]) if "address" in did else None, "value": did.get("value"),
                 "read": did.get("read"), "choice": did.get("choice"), "label": label, "line": line,
                 "loads": [{"cell": program.name(a), "value": v} for a, v in did.get("loads", [])]}
        for field, fact in facts.items():
            claim(field not in step or step[field] == fact, f"{field} is {fact}")
        unknown = set(step) - set(facts) - {"thread", "action", "edge", "text"}
        claim(not unknown, f"unknown field {unknown}")
        events.append((thread, step["action"], did, line))
    if goal == ("robust", None):
        need(all(map(is_empty, state[0])), "the last state is not drained")
        check_cycle(program, names, events, data.get("cycle", []))
        return
    possible = any(flushes(program, state, t) or any(
        execute(program, buffers, state, t, edge, lambda _, low, high, __: [low] if low <= high else [])
        for _, edge in program.threads[t]["out"][own[0]]) for t, own in enumerate(state[0]))
    need(shows(program, state, goal, possible), "the last state does not show the property")
    if data.get("cycle"):
        check_cycle(program, names, events, data["cycle"])


def check_cycle(program, names, events, cycle):
    """Whether the events of the cycle happen before each other as they say, around the circle."""
    need(cycle, "the file shows no cycle")
    writes, reads, section = {}, {}, {}  # (cell) -> steps in store order; (step, cell) -> step read from; step -> lock
    pending, held, sections = [[] for _ in names], None, 0
    for number, (thread, action, did, _) in enumerate(events, 1):
        loads = [did["address"]] if action in ("load", "rmw") else [address for address, _ in did.get("loads", [])]
        for address in loads:
            own = [step for step, cell in pending[thread] if cell == address]
            reads[number, address] = own[-1] if own else (writes.get(address) or [0])[-1]
        if action == "store" and "address" in did:
            pending[thread].append((number, did["address"]))
        if action == "flush":
            step, address = pending[thread].pop(0)
            writes.setdefault(address, []).append(step)
        if action == "rmw" and did["value"] is not None:
            writes.setdefault(did["address"], []).append(number)
        if action == "lock":
            held, sections = thread, sections + 1
        section[number] = ("lock", sections) if held == thread else ("step", number)
        if action == "unlock":
            held = None
    for own in pending:  # Stores that still wait land after the end.
        for step, address in own:
            writes.setdefault(address, []).append(step)
    place = {(step, cell): at for cell, steps in writes.items() for at, step in enumerate(steps)}
    for number, entry in enumerate(cycle):
        after = cycle[(number + 1) % len(cycle)]
        (a, x), (b, y) = ((item["step"], item.get("cell")) for item in (entry, after))
        need(1 <= a <= len(events) and 1 <= b <= len(events), "the cycle names a step that does not exist")
        thread, action, did, line = events[a - 1]
        action = "load" if action in ("snapshot", "await") else action
        cells = {program.name(c): c for c in [did.get("address")] + [c for c, _ in did.get("loads", [])] if c is not None}
        need((entry["thread"], entry["action"], entry["line"]) == (names[thread], action, line)
             and action not in ("local", "flush") and (x in cells if cells else x is None)
             and not set(entry) - {"step", "thread", "action", "cell", "line", "relation"}, "a false event in the cycle")
        cell = cells.get(x)
        holds = {
            "program-order": events[b - 1][0] == thread and a < b,
            "store-order": x == y and (a, cell) in place and place.get((b, cell), -1) > place[a, cell],
            "source": x == y and reads.get((b, cell)) == a,
            "conflict": x == y and (a, cell) in reads and (b, cell) in place and a != b
            and place[b, cell] > place.get((reads[a, cell], cell), -1),
            "section": section[a] == section[b],
        }
        need(holds.get(entry["relation"]), "events of the cycle are not related as the file says")


# ---- closed sets ----

def number(row, at):
    result = shift = 0
    while True:
        byte = row[at]
        result |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return result, at


def signed(value):
    return value >> 1 if value % 2 == 0 else -(value >> 1) - 1


def encoded(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value):
    return encoded(value * 2 if value >= 0 else -value * 2 - 1)


def pack(registers, state):
    """The row of a state, which tells the listed registers and no others."""
    parts = []
    for (location, values, queue, waiting), listed in zip(state[0], registers):
        parts += [encoded(location)] + [zigzag(values[register]) for register in listed[location]]
        parts += [encoded(len(queue))] + [zigzag(part) for store in queue for part in store] + [encoded(len(waiting))]
        for address, (latest, older) in sorted(waiting.items()):
            parts += [zigzag(address), zigzag(latest), encoded(len(older))]
            for value, count in sorted(older.items()):
                parts += [zigzag(value), encoded(0 if count is None else count + 1)]
    parts.append(encoded(len(state[1])))
    parts += [zigzag(part) for cell in sorted(state[1].items()) for part in cell]
    return b"".join(parts) + encoded(0 if state[2] is None else state[2] + 1)


def unpack(registers, row):
    at = 0

    def take():
        nonlocal at
        value, at = number(row, at)
        return value
    threads = []
    for listed in registers:
        location = take()
        values = {register: signed(take()) for register in listed[location]}
        queue = tuple((signed(take()), signed(take())) for _ in range(take()))
        waiting = {}
        for _ in range(take()):
            address, latest = signed(take()), signed(take())
            older = {}
            for _ in range(take()):
                value, count = signed(take()), take()
                older[value] = count - 1 if count else None
            waiting[address] = (latest, older)
        threads.append([location, values, queue, waiting])
    memory = {}
    for _ in range(take()):
        address = signed(take())
        memory[address] = signed(take())
    holder = take()
    return [threads, memory, holder - 1 if holder else None]


def rows_of(data, body):
    unpacked, at, row = zlib.decompress(body), 0, b""
    need(len(unpacked) == data["bytes"], "another number of bytes")
    for _ in range(data["states"]):
        shared, at = number(unpacked, at)
        length, at = number(unpacked, at)
        row = row[:shared] + unpacked[at:at + length]
        at += length
        yield row
    need(at == len(unpacked), "something follows the states")


def check_states(program, model, goals, data, body):
    registers, kind = data["registers"], data["buffers"]
    buffers = (kind, 0) if isinstance(kind, str) else next(iter(kind.items()))
    need((buffers[0] == "none") == (model == "sc"), "the states have the buffers of another memory model")
    need(buffers[0] in ("none", "fifo", "coherence", "multiset"), "unknown buffers")
    rows = set(rows_of(data, body))

    def covered(state):
        return pack(registers, state) in rows

    def choices_for(thread):
        def choices(register, low, high, to):
            if register not in registers[thread][to]:
                return [low] if low <= high else []
            need(high - low < len(rows), "not all values of a choice are covered")
            return range(low, high + 1)
        return choices
    need(covered(initial_state(program)), "the initial state is missing")
    wants_deadlock = [goal for goal in goals if goal[0] == "property" and
                      program.properties[goal[1]]["kind"] == "deadlock"]
    for row in rows:
        state = unpack(registers, row)
        need(pack(registers, state) == row, "a state is not in its only form")
        need(model == "tso" or all(map(is_empty, state[0])), "a store waits under SC")
        can_step = False
        for thread, own in enumerate(state[0]):
            after = [each[2] for each in flushes(program, state, thread)]
            for _, edge in program.threads[thread]["out"][own[0]]:
                after += [each[1] for each in execute(program, buffers, state, thread, edge, choices_for(thread))]
            need(all(map(covered, after)), f"a step of {program.threads[thread]['name']} leaves the set")
            can_step = can_step or bool(after)
        for goal in goals:
            if goal not in wants_deadlock:
                need(not shows(program, state, goal), "a state shows a property")
        for goal in wants_deadlock:
            need(not shows(program, state, goal, can_step), "a state is a deadlock")
    return len(rows)


# ---- the question ----

def asked_goals(program, names):
    assertions = [("assertion", t) for t, thread in enumerate(program.threads) if "failed" in thread]
    everything = [("property", p) for p in range(len(program.properties))] + assertions
    goals = []
    for name in names or ([] if everything else ["robust"]):
        if name == "robust":
            goals.append(("robust", None))
        elif name.isdigit() and 1 <= int(name) <= len(program.properties):
            goals.append(("property", int(name) - 1))
        else:
            named = [goal for goal in assertions if program.threads[goal[1]]["name"] == name]
            if not named:
                raise ValueError(f"there is no property `{name}`")
            goals += named
    return goals if names or not everything else everything


def named_goal(program, item):
    if item == "not-robust":
        return ("robust", None)
    if "property" in item:
        goal, text = item["property"]["number"] - 1, item["property"]["text"]
        need(0 <= goal < len(program.properties) and program.properties[goal]["text"] == text, "another property")
        return ("property", goal)
    names = [thread["name"] for thread in program.threads]
    need(item["assertion"]["thread"] in names, "another thread")
    return ("assertion", names.index(item["assertion"]["thread"]))


def check(options):
    with open(options.program, "rb") as file:
        automaton = file.read()
    with open(options.evidence, "rb") as file:
        evidence = file.read()
    program = Program(json.loads(automaton))
    line, _, body = evidence.partition(b"\n")
    try:
        data = json.loads(line)
    except ValueError:
        data, body = json.loads(evidence), b""
    need(data["format"] == 2, "another format")
    metadata = data["metadata"]
    need(hashlib.sha256(automaton).hexdigest() == metadata["program"]["automaton_sha256"], "about another program")
    if options.text:
        with open(options.text, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        need(digest == metadata["program"]["text_sha256"], "about another text")
    need(metadata["model"] == options.model, "about another memory model")
    asked = asked_goals(program, options.property)
    named = [named_goal(program, item) for item in metadata["specification"]]
    if "steps" in data:
        need(len(named) == 1 and named[0] in asked, "about another property")
        check_run(program, options.model, named[0], data)
        return f"a run of {len(data['steps'])} steps"
    if data["kind"] != "states":
        raise Unsupported(f"certificates of kind `{data['kind']}`")
    need(named and set(named) == set(asked), "about other properties")
    need(data["threads"] == [thread["name"] for thread in program.threads], "about other threads")
    if ("robust", None) in named:
        raise Refused("states do not show robustness")
    return f"a closed set of {check_states(program, options.model, named, data, body)} states"


def main():
    sys.setrecursionlimit(20_000)
    parser = argparse.ArgumentParser(description="Checks runs and certificates saved by Weir.")
    parser.add_argument("program", help="what `weir translate --to json` prints")
    parser.add_argument("evidence", help="a file saved by `--witness` or `--certificate`")
    parser.add_argument("--text", help="the text of the program, to compare its digest")
    parser.add_argument("--model", choices=("tso", "sc"), default="tso")
    parser.add_argument("--property", action="append", help="a number, the name of a thread, or `robust`")
    try:
        print("accepted:", check(parser.parse_args()))
    except Refused as error:
        print("refused:", error)
        return 1
    except Unsupported as error:
        print("cannot be checked here:", error)
        return 3
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OSError, zlib.error) as error:
        print(f"malformed: {type(error).__name__}: {error}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
