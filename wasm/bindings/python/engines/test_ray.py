"""Tests of addrspec.ray on a Ray of this machine, whose workers are processes."""

import logging
import unittest

import pyarrow as pa
import ray

import addrspec
from addrspec._arrow import facts_type
from addrspec.ray import with_facts, with_verdict

from rate import POLICY, compare

ROWS = 1_000_000
BAD = [None, "", "no address", 'a"b\n@c', "x" * ((1 << 20) + 1), "josé@bücher.example"]


class Ray(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        logging.getLogger("ray").setLevel(logging.ERROR)
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=1 << 30)
        ray.data.DataContext.get_current().enable_progress_bars = False

    @classmethod
    def tearDownClass(cls):
        ray.shutdown()

    def test_bad_rows_stay_rows(self):
        dataset = ray.data.from_arrow(pa.table({"id": range(len(BAD)), "email": pa.array(BAD)}))
        rows = sorted(with_facts(dataset, "email", prefix="e_", canonical=True).take_all(), key=lambda row: row["id"])
        for row, facts in zip(rows, addrspec.check_arrow(pa.array(BAD), canonical=True).to_pylist()):
            for field in facts_type(canonical=True):
                self.assertEqual(row["e_" + field.name], facts and facts[field.name], field.name)

    def test_verdicts(self):
        policy = {"block": {"reasons": ["typo"]}, "review": {"domains": ["xn--bcher-kva.example"]}}
        dataset = ray.data.from_arrow(pa.table({"id": range(len(BAD)), "email": pa.array(BAD)}))
        rows = sorted(with_verdict(dataset, "email", policy, prefix="v_").take_all(), key=lambda row: row["id"])
        got = [tuple(row["v_" + name] for name in ("action", "reason", "rule")) for row in rows]
        invalid = ("block", "invalid", None)
        self.assertEqual(got, [(None, None, None), *[invalid] * 4, ("review", "domain", "review.domains[0]")])
        with self.assertRaisesRegex(addrspec.PolicyRefused, r"^block\.reasons\[0\]: "):
            with_verdict(dataset, "email", {"block": {"reasons": ["disposible"]}})

    def test_million_rows(self):
        table = with_facts(_generated(), "email", prefix="e_")
        self.assertEqual(table.count(), ROWS)
        self.assertEqual(table.sum("e_valid"), ROWS)
        self.assertEqual(table.sum("e_typo"), ROWS)

    def test_names(self):
        with self.assertRaisesRegex(Exception, "has a column email"):
            with_facts(ray.data.from_arrow(pa.table({"email": ["a"]})), "email").take_all()

    def test_rate(self):
        dataset = _generated().materialize()
        nothing = lambda batch: batch  # noqa: E731
        compare(
            "Ray",
            ROWS,
            lambda: dataset.map_batches(nothing, batch_format="pyarrow").materialize(),
            lambda: with_facts(dataset, "email", prefix="e_").materialize(),
            lambda: with_verdict(dataset, "email", POLICY).materialize(),
        )


def _generated():
    """Addresses that differ, in batches of Arrow."""

    def address(batch):
        return pa.table({"email": pa.array([f"jane{n}@gmial.com" for n in batch.column("id").to_pylist()])})

    return ray.data.range(ROWS).map_batches(address, batch_format="pyarrow", batch_size=10_000)


if __name__ == "__main__":
    unittest.main()
