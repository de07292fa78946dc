"""Rows a second of addrspec.polars, beside a function that does nothing."""

import unittest

import polars as pl
from rate import compare

import addrspec.polars

ROWS = 1_000_000


class Rate(unittest.TestCase):
    def test_a_million_rows(self):
        people = pl.DataFrame({"email": [f"jane.doe{n}@gmial.com" if n % 100 else None for n in range(ROWS)]})
        nothing = pl.col("email").map_batches(lambda column: column, return_dtype=pl.String, is_elementwise=True)
        facts = addrspec.polars.check("email")
        self.assertEqual(people.select(facts.struct.field("typo").sum()).item(), ROWS * 99 // 100)
        compare("Polars", ROWS, lambda: people.select(nothing), lambda: people.select(facts))


if __name__ == "__main__":
    unittest.main()
