#!/usr/bin/env python3
"""Checks what weir_check.py, which lies beside it, leaves out: all other kinds of certificates that Weir saves.

    weir translate ticket.weir --to json > ticket.json
    python3 weir_check_more.py ticket.json proof [--text ticket.weir] [--model sc] [--property 1]
`copies` and `configurations` need no more than that; `fences` needs `--for robust` or `--for safe`, and `--places` with
what `weir translate --to json --pass places` prints; `chance` needs `--question almost-sure`, `almost-never` or
`probability` (with `--repeated yes`, `--updates` and `--stickiness` as for `weir prob`), and its target is what the
properties forbid or ask for. Written from docs/evidence.md with nothing but the standard library of Python.
"""
import sys
sys.dont_write_bytecode = True
import weir_check
from kinds import chance, configurations, copies, fences
weir_check.OTHERS.update(chance=chance.check_chance, configurations=configurations.check_configurations,
                         copies=copies.check_copies, fences=fences.check_fences)
if __name__ == "__main__":
    sys.exit(weir_check.main(["--for", "--places", "--question", "--repeated", "--updates", "--stickiness"]))
