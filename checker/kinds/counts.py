"""What certificates about any number of copies have in common."""
import itertools
import weir_check as base
from weir_check import Unsupported, need
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
def running(program):  # the threads that run, of which some may be there in any number
    need(all(thread["runs"] != "spawned" for thread in program.threads), "programs with `spawn` have no such proof")
    templates = [at for at, thread in enumerate(program.threads) if thread["runs"] == "arbitrary"]
    return [at for at in range(len(program.threads)) if at not in templates], templates
def named(program, asked, data):  # the goals that it is about
    goals = list(base.named_goals(program, data["metadata"]))
    need(goals and (asked is None or set(goals) == asked), "about other properties")
    need(data["threads"] == program.names, "about other threads")
    return goals
# ---- conditions about numbers of copies ----
def counted(templates, condition, is_truth=True):  # the numbers that it speaks of, with what each is compared with
    if isinstance(condition, int) or condition[0] == "cell": return []
    if condition[0] in ("at", "register"):
        if condition[1] not in templates: return []
        if condition[0] == "register" or not is_truth: raise Unsupported("a condition that computes with copies")
        return [((condition[1], tuple(condition[2])), 0)]
    operator, *operands = condition
    for one, other in (operands, operands[::-1]) if operator in COMPARISONS else ():
        if isinstance(other, int) and not isinstance(one, int) and one[0] == "at" and one[1] in templates:
            need(other < 8, "a condition compares a number of copies with a constant above 7")
            return [((one[1], tuple(one[2])), other)]
    return [found for one in operands for found in counted(templates, one, operator in ("&&", "||", "!"))]
def demanded(templates, condition, kinds):
    # Ways to fix the numbers, each with sets of copies of which one is among any that have these numbers. `kinds` are
    # what a copy can be: its thread and its possible places.
    found = counted(templates, condition)
    enough, counts = max([1] + [bound + 1 for _, bound in found]), sorted({count for count, _ in found})
    for numbers in itertools.product(range(enough + 1), repeat=len(counts)):
        sets = {()}
        for (thread, places), number in zip(counts, numbers):
            fits = [kind for kind, (of, at) in enumerate(kinds) if of == thread and not at.isdisjoint(places)]
            short, sets = sets, set()
            while short:
                chosen = short.pop()
                if sum(kind in fits for kind in chosen) >= number: sets.add(chosen)
                else: short |= {tuple(sorted((*chosen, kind))) for kind in fits}
        yield dict(zip(counts, numbers)), sets
