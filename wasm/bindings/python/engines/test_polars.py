"""Rows a second of addrspec.polars, beside a function that does nothing."""

import unittest

import polars as pl
from rate import POLICY, compare

import addrspec.polars

ROWS = 1_000_000


class Rate(unittest.TestCase):
    def test_a_million_rows(self):
        people = pl.DataFrame({"email": [f"jane.doe{n}@gmial.com" if n % 100 else None for n in range(ROWS)]})
        nothing = pl.col("email").map_batches(lambda column: column, return_dtype=pl.String, is_elementwise=True)
        facts, verdict = addrspec.polars.check("email"), addrspec.polars.verdict("email", POLICY)
        self.assertEqual(people.select(facts.struct.field("typo").sum()).item(), ROWS * 99 // 100)
        self.assertEqual(people.select((verdict.struct.field("action") == "review").sum()).item(), ROWS * 99 // 100)
        compare("Polars", ROWS, *(lambda what=what: people.select(what) for what in (nothing, facts, verdict)))


if __name__ == "__main__":
    unittest.main()
