"""Tests of addrspec.duckdb with DuckDB itself."""

import doctest
import tempfile
import unittest
from pathlib import Path

import duckdb
import pyarrow as pa

import addrspec
import addrspec.duckdb
from addrspec._abi import MAX_ADDRESS

ADDRESSES = ["jane@gmial.com", None, "", "josé@bücher.example", "no address", 'a"b\n@c']


def facts(address):
    return None if address is None else addrspec.check(address).to_dict()


def load_tests(loader, tests, pattern):
    """Adds the example of the module's page."""
    return unittest.TestSuite([tests, doctest.DocTestSuite(addrspec.duckdb)])


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
        addrspec.duckdb.register(self.connection, "fixed", full_suggestion=True, canonical=True, checker=addrspec.Checker(instances=1))
        self.assertEqual(self.values("SELECT fixed('a@gmial.com').typo_suggestion"), ["a@gmail.com"])
        self.assertEqual(self.values("SELECT fixed('a.b+c@gmail.com').canonical"), ["ab@gmail.com"])

    def test_verdicts(self):
        policy = {"block": {"reasons": ["typo"]}, "review": {"domains": ["xn--bcher-kva.example"]}}
        want = [address if address is None else vars(addrspec.verdict(address, policy)) for address in ADDRESSES]
        addrspec.duckdb.register_verdict(self.connection, policy)
        policy["block"]["reasons"][0] = "role"  # the functions keep what they were registered with
        self.assertEqual(self.values("SELECT addrspec_verdict(email) FROM given", pa.array(ADDRESSES)), want)
        self.assertEqual(self.values("SELECT addrspec_verdict_blob(encode(email)) FROM given", pa.array(ADDRESSES)), want)
        self.assertEqual([verdict and verdict["action"] for verdict in want], ["block", None, "block", "review", "block", "block"])
        too_long = pa.array(["x" * (MAX_ADDRESS + 1), "a@b.example"])
        self.assertEqual(self.values("SELECT addrspec_verdict(email).action FROM given", too_long), ["block", "allow"])

    def test_wrong_policy(self):
        """It is refused when it is registered, and no function is added."""
        with self.assertRaisesRegex(addrspec.PolicyRefused, r"^review\.domains\[1\]: "):
            addrspec.duckdb.register_verdict(self.connection, {"review": {"domains": ["a.example", "a.*.example"]}})
        with self.assertRaisesRegex(duckdb.CatalogException, "addrspec_verdict does not exist"):
            self.values("SELECT addrspec_verdict('a@b.example')")

    def test_two_policies_in_threads(self):
        """A query with two policies that disagree, in several threads with fewer instances."""
        checker = addrspec.Checker(instances=1)
        for action in ("block", "review"):
            addrspec.duckdb.register_verdict(self.connection, {action: {"domains": ["a.example"]}}, f"v_{action}", checker=checker)
        self.connection.execute("SET threads = 4")
        self.connection.execute("CREATE TABLE t AS SELECT 'jane' || i || CASE i % 2 WHEN 0 THEN '@a.example' ELSE '@b.example' END AS email FROM range(300_000) r(i)")
        got = self.connection.execute("SELECT v_block(email) AS b, v_review(email) AS r, count(*) FROM t GROUP BY ALL ORDER BY b").fetchall()
        allow = {"action": "allow", "reason": None, "rule": None}
        block, review = ({"action": action, "reason": "domain", "rule": f"{action}.domains[0]"} for action in ("block", "review"))
        self.assertEqual(got, [(allow, allow, 150_000), (block, review, 150_000)])

    def test_no_rows(self):
        self.assertEqual(self.values("SELECT addrspec_check(email) FROM given", pa.array([], pa.string())), [])


if __name__ == "__main__":
    unittest.main()
