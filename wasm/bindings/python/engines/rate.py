"""Rows a second of functions on rows, beside the engine's own function that does nothing."""

import time


#: A policy of ten rules, whose verdict the rates include.
POLICY = {
    "block": {"reasons": ["disposable", "gibberish>=0.8", "non_ascii"]},
    "review": {"reasons": ["typo", "role", "relay", "public", "alias", "unknown_tld", "quoted"]},
}


def compare(engine, rows, nothing, facts, verdict):
    """Runs each after a first run of all, which loads code, and prints the rates."""
    functions = {"no-op": nothing, "facts": facts, "verdict": verdict}
    for function in functions.values():
        function()
    rates = ", ".join(f"{name} {rows / _seconds(function):,.0f} rows/s" for name, function in functions.items())
    print(f"{engine}: {rows:,} rows; {rates}", flush=True)


def _seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
