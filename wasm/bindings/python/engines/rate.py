"""Rows a second of a function on rows, beside the engine's own function that does nothing."""

import time


def compare(engine, rows, nothing, facts):
    """Runs both after a first run of each, which loads code, and prints the rates."""
    nothing()
    facts()
    rates = [rows / _seconds(nothing), rows / _seconds(facts)]
    print(f"{engine}: {rows:,} rows; no-op {rates[0]:,.0f} rows/s, facts {rates[1]:,.0f} rows/s ({100 * rates[1] / rates[0]:.0f} %)", flush=True)


def _seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
