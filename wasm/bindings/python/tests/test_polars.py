"""Tests of addrspec.polars with Polars itself."""

import doctest
import unittest
from unittest import mock

import polars as pl

import addrspec
import addrspec.polars
from addrspec._abi import MAX_ADDRESS

ADDRESSES = ["jane@gmial.com", None, "", "josé@bücher.example", "no address", 'a"b\n@c']
COLUMNS = [f"jane{n}@gmial.com" if n % 3 else None for n in range(30_000)]


def facts(address):
    return None if address is None else addrspec.check(address).to_dict()


def load_tests(loader, tests, pattern):
    """Adds the example of the module's page."""
    return unittest.TestSuite([tests, doctest.DocTestSuite(addrspec.polars)])


class Polars(unittest.TestCase):
    def values(self, column, expression=None):
        frame = pl.DataFrame({"email": column})
        return frame.select(addrspec.polars.check("email") if expression is None else expression)["email"].to_list()

    def test_same_facts(self):
        self.assertEqual(self.values(pl.Series(ADDRESSES)), [facts(address) for address in ADDRESSES])

    def test_types(self):
        addresses = ["jane@gmial.com", None, "jane@gmial.com"]
        for column in (
            pl.Series(addresses, dtype=pl.Categorical),
            pl.Series(addresses, dtype=pl.Enum(["jane@gmial.com"])),
            pl.Series([address and address.encode() for address in addresses], dtype=pl.Binary),
        ):
            with self.subTest(column.dtype):
                self.assertEqual(self.values(column), [facts(address) for address in addresses])
        self.assertEqual(self.values(pl.Series([None, None])), [None, None])
        self.assertEqual(self.values(pl.Series([b"\xff@x"]))[0]["email"], "\ufffd@x")

    def test_wrong_types(self):
        with self.assertRaisesRegex(TypeError, "addresses must be the name of a column or an expression, not int"):
            addrspec.polars.check(3)
        with self.assertRaisesRegex(Exception, "array must have texts or bytes, not int64"):
            self.values(pl.Series([1]))

    def test_bad_rows_stay_rows(self):
        got = self.values(pl.Series(["x" * (MAX_ADDRESS + 1), "a@b.example"]))
        self.assertEqual({k: v for k, v in got[0].items() if v is not None}, {"valid": False})
        self.assertEqual(got[1], facts("a@b.example"))

    def test_lazy_and_streaming(self):
        lazy = pl.DataFrame({"email": COLUMNS}).lazy().with_columns(addrspec.polars.check("email").alias("facts"))
        query = lazy.filter(pl.col("facts").struct.field("typo")).select(pl.len(), pl.col("email").n_unique())
        for engine in ("in-memory", "streaming"):
            with self.subTest(engine):
                self.assertEqual(query.collect(engine=engine).rows(), [(20_000, 20_000)])
                self.assertEqual(lazy.collect(engine=engine).schema, lazy.collect_schema())

    def test_verdicts(self):
        policy = {"block": {"reasons": ["typo"]}, "review": {"domains": ["xn--bcher-kva.example"]}}
        want = [address if address is None else vars(addrspec.verdict(address, policy)) for address in ADDRESSES]
        expression = addrspec.polars.verdict("email", policy)
        policy["block"]["reasons"][0] = "role"  # the expression keeps what it was made with
        for column in (pl.Series(ADDRESSES), pl.Series(ADDRESSES, dtype=pl.Categorical), pl.Series(ADDRESSES).cast(pl.Binary)):
            with self.subTest(column.dtype):
                self.assertEqual(self.values(column, expression), want)
        self.assertEqual([verdict and verdict["action"] for verdict in want], ["block", None, "block", "review", "block", "block"])
        too_long = pl.Series(["x" * (MAX_ADDRESS + 1), "a@b.example"])
        self.assertEqual([verdict["action"] for verdict in self.values(too_long, expression)], ["block", "allow"])
        self.assertEqual(self.values(pl.Series([], dtype=pl.String), expression), [])

    def test_wrong_policy(self):
        """It is refused when the expression is made, not when a query runs."""
        with self.assertRaisesRegex(addrspec.PolicyRefused, r"^review\.domains\[1\]: "):
            addrspec.polars.verdict("email", {"review": {"domains": ["a.example", "a.*.example"]}})
        with self.assertRaisesRegex(TypeError, "policy must be a dict or the text of one, not list"):
            addrspec.polars.verdict("email", ["block"])

    def test_two_policies_lazy_and_streaming(self):
        checker = addrspec.Checker(instances=1)
        verdicts = {action: addrspec.polars.verdict("email", {action: {"reasons": ["typo"]}}, checker=checker) for action in ("block", "review")}
        lazy = pl.DataFrame({"email": COLUMNS}).lazy().with_columns(**verdicts)
        query = lazy.select(pl.col(action).struct.field("action").alias(action) for action in verdicts).group_by(pl.all()).len().sort("block", nulls_last=True)
        for engine in ("in-memory", "streaming"):
            with self.subTest(engine):
                self.assertEqual(query.collect(engine=engine).rows(), [("block", "review", 20_000), (None, None, 10_000)])
                self.assertEqual(lazy.collect(engine=engine).schema, lazy.collect_schema())

    def test_several_arrays(self):
        with mock.patch("addrspec.polars._ROWS", 7000):
            got = self.values(pl.Series(COLUMNS), addrspec.polars.check(pl.col("email")).struct.field("email"))
        self.assertEqual(got, COLUMNS)

    def test_no_rows(self):
        self.assertEqual(self.values(pl.Series([], dtype=pl.String)), [])

    def test_options(self):
        expression = addrspec.polars.check("email", full_suggestion=True, canonical=True, checker=addrspec.Checker(instances=1))
        self.assertEqual(self.values(pl.Series(["a@gmial.com"]), expression)[0]["typo_suggestion"], "a@gmail.com")
        self.assertEqual(self.values(pl.Series(["a.b+c@gmail.com"]), expression)[0]["canonical"], "ab@gmail.com")


if __name__ == "__main__":
    unittest.main()
