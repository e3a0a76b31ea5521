"""Certificates of kind `fences`: the cheapest fences."""
import collections, hashlib, json
import weir_check as base
from kinds.counts import named
from weir_check import Unsupported, need
def compact(data): return (json.dumps(data, separators=(",", ":"), ensure_ascii=False) + "\n").encode()
def check_fences(program, model, asked, data, body):
    aim, record = program.options["for"], data["fences"]
    if program.options["places"] is None or aim not in ("robust", "safe"):
        raise Unsupported("fences without `--for` and `--places`")
    if record.get("remove"): raise Unsupported("which fences of a program are needed")
    wanted = {("robust", None)} if aim == "robust" else {goal for goal in asked if program.kind(goal) != "exists"}
    goals = named(program, wanted, data)
    searched = json.loads(open(program.options["places"], "rb").read())
    places = searched.pop("places")
    need(record["places"] == places, "about other places, or other costs")
    need(model == "tso" and all(0 <= place < len(places) for place in record["chosen"]), "there is no such place")
    digests = {"automaton_sha256": hashlib.sha256(compact(searched)).hexdigest()}
    stopping = []
    for run in record["demands"]:
        base.check(base.Program(json.loads(compact(searched))), digests, model, set(goals), compact(run))
        stops = stopped_after(run["steps"])
        stopping.append({number for number, place in enumerate(places) if stops & set(map(tuple, place["after"]))})
    counted_places, least = set(), 0
    for bound in record["bounds"]:
        runs = set(bound["runs"])
        need(all(0 <= run < len(stopping) for run in runs), "there is no such run")
        mine = set().union(*(stopping[run] for run in runs))
        need(not mine & counted_places, "two bounds count the same places")
        counted_places, least = counted_places | mine, least + bound["least"]
        check_bound(bound, {run: stopping[run] for run in runs}, [place["cost"] for place in places])
    cost = sum(places[place]["cost"] for place in set(record["chosen"]))
    need(least >= cost, "cheaper fences are not ruled out")
    if any(program.kind(goal) == "stuck" for goal in goals): raise Unsupported("`forbid stuck` of programs with fences")
    fenced = with_fences(searched, {tuple(step) for place in set(record["chosen"]) for step in places[place]["after"]})
    digests = {"automaton_sha256": hashlib.sha256(compact(fenced)).hexdigest()}
    shown = base.check(base.Program(fenced), digests, model, set(goals), body)
    return f"fences that cost {cost}, no cheaper ones by {len(stopping)} runs, and of the program with them {shown}"
def stopped_after(steps):  # the steps after which a fence would stop the run: pairs of a thread and an edge
    waiting, last, found = collections.Counter(), {}, set()
    for step in steps:
        thread = step["thread"]
        waiting[thread] += {"flush": -1, "store": 1}.get(step["action"], 0)
        if step["action"] == "flush": continue
        if waiting[thread] > (step["action"] == "store") and thread in last: found.add((thread, last[thread]))
        last[thread] = step["edge"]
    return found
def check_bound(bound, stopping, costs):
    open_cases = [(frozenset(), frozenset())]  # what the set contains, and what is ruled out
    for step in bound["steps"]:
        need(open_cases and len(step) == 1, "a bound has too many steps")
        contained, ruled_out = open_cases.pop()
        if "cases" in step:
            ways = sorted(stopping[step["cases"]] - ruled_out)
            cases = [(contained | {way}, ruled_out | set(ways[:at])) for at, way in enumerate(ways)]
            open_cases += reversed(cases)
            continue
        spent = collections.Counter()
        for run, amount in step["amounts"]:
            need(amount >= 0 and not stopping[run] & contained, "an amount for a run that is stopped already")
            for place in stopping[run] - ruled_out: spent[place] += amount
        need(all(amount <= costs[place] for place, amount in spent.items()), "amounts beyond what a place costs")
        total = sum(costs[place] for place in contained) + sum(amount for _, amount in step["amounts"])
        need(total >= bound["least"], "amounts that do not add up")
    need(not open_cases, "a bound has too few steps")
def with_fences(searched, steps):  # the program with a fence after each of these steps
    fenced = json.loads(compact(searched))
    for at, thread in enumerate(fenced["threads"]):
        waits = []
        for number in sorted(edge for name, edge in steps if name == thread["name"]):
            edge, wait = thread["edges"][number], len(thread["locations"])
            thread["locations"].append([])
            thread["edges"].append({"from": wait, "to": edge["to"], "line": edge["line"], "do": ["fence"]})
            waits.append((wait, edge["to"]))
            edge["to"] = wait
        def widen(part):
            if not isinstance(part, list): return
            if part[0] == "at" and part[1] == at: part[2] += [wait for wait, to in waits if to in part[2]]
            elif part[0] not in ("at", "register", "cell"): list(map(widen, part))
        for one in fenced["properties"]: widen(one.get("condition"))
    return fenced
