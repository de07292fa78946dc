"""Rows a second of addrspec.duckdb, beside a function that does nothing."""

import unittest

import duckdb
from rate import POLICY, compare

import addrspec
import addrspec.duckdb

ROWS = 1_000_000


class Rate(unittest.TestCase):
    def test_a_million_rows(self):
        connection = duckdb.connect()
        self.addCleanup(connection.close)
        addrspec.duckdb.register(connection)
        addrspec.duckdb.register_verdict(connection, POLICY)
        connection.create_function("nothing", lambda column: column, ["VARCHAR"], "VARCHAR", type="arrow", null_handling="special")
        connection.execute(
            f"CREATE TABLE people AS SELECT CASE i % 100 WHEN 0 THEN NULL ELSE 'jane.doe' || i || '@gmial.com' END AS email FROM range({ROWS}) r(i)"
        )

        def count(what):
            return connection.execute(f"SELECT count({what}) FROM people").fetchone()[0]

        self.assertEqual(count("addrspec_check(email).typo_suggestion"), ROWS * 99 // 100)
        self.assertEqual(count("nullif(addrspec_verdict(email).action, 'allow')"), ROWS * 99 // 100)
        compare("DuckDB", ROWS, *(lambda what=what: count(f"{what}(email)") for what in ("nothing", "addrspec_check", "addrspec_verdict")))


if __name__ == "__main__":
    unittest.main()
