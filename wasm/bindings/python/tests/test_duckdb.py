"""Tests of addrspec.duckdb with DuckDB itself."""

import tempfile
import unittest
from pathlib import Path

import duckdb
import pyarrow as pa

import addrspec
import addrspec.duckdb
from addrspec._instance import MAX_ADDRESS

ADDRESSES = ["jane@gmial.com", None, "", "josé@bücher.example", "no address", 'a"b\n@c']


def facts(address):
    return None if address is None else addrspec.check(address).to_dict()


class DuckDB(unittest.TestCase):
    def setUp(self):
        self.connection = duckdb.connect()
        addrspec.duckdb.register(self.connection)
        self.addCleanup(self.connection.close)

    def values(self, query, column=None):
        if column is not None:
            self.connection.register("given", pa.table({"email": column}))
        return [row[0] for row in self.connection.execute(query).fetchall()]

    def test_same_facts(self):
        got = self.values("SELECT addrspec_check(email) FROM given", pa.array(ADDRESSES))
        self.assertEqual(got, [facts(address) for address in ADDRESSES])

    def test_bytes(self):
        addresses = [b"\xff@x", None, b"a@b.example"]
        got = self.values("SELECT addrspec_check_blob(email) FROM given", pa.array(addresses, pa.binary()))
        self.assertEqual(got, [facts(address) for address in addresses])

    def test_bad_rows_stay_rows(self):
        column = pa.array(["x" * (MAX_ADDRESS + 1), "a@b.example"])
        got = self.values("SELECT addrspec_check(email) FROM given", column)
        self.assertEqual({k: v for k, v in got[0].items() if v is not None}, {"valid": False})
        self.assertEqual(got[1], facts("a@b.example"))

    def test_many_rows_in_threads(self):
        """A table in many row groups, which DuckDB reads in parallel, and a filter on a fact."""
        count = 300_000
        self.connection.execute("SET threads = 4")
        self.connection.execute(
            f"CREATE TABLE t AS SELECT i, CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN 'jane' || i || '@gmial.com' ELSE 'jane' || i END AS email FROM range({count}) r(i)"
        )
        query = "SELECT count(*), count(f), count(*) FILTER (f.valid), count(*) FILTER (f.email = email) FROM (SELECT email, addrspec_check(email) AS f FROM t)"
        got = self.connection.execute(query).fetchone()
        self.assertEqual(got, (count, count * 2 // 3, count // 3, count * 2 // 3))
        where = "SELECT count(*) FROM t WHERE addrspec_check(email).typo_suggestion = 'gmail.com'"
        self.assertEqual(self.values(where), [count // 3])

    def test_files(self):
        """From a CSV file to a Parquet file, with the facts as columns."""
        with tempfile.TemporaryDirectory() as directory:
            csv, parquet = Path(directory, "a.csv"), Path(directory, "a.parquet")
            csv.write_text("email\njane@gmial.com\ninfo@example.org\n")
            self.connection.execute(f"COPY (SELECT unnest(addrspec_check(email)) FROM '{csv}') TO '{parquet}'")
            self.assertEqual(self.values(f"SELECT role FROM '{parquet}'"), [None, "General"])

    def test_options(self):
        addrspec.duckdb.register(self.connection, "fixed", full_suggestion=True, checker=addrspec.Checker(instances=1))
        self.assertEqual(self.values("SELECT fixed('a@gmial.com').typo_suggestion"), ["a@gmail.com"])

    def test_no_rows(self):
        self.assertEqual(self.values("SELECT addrspec_check(email) FROM given", pa.array([], pa.string())), [])


if __name__ == "__main__":
    unittest.main()
