"""Tests that the function for Ray gives the facts of core.

The Go test passes the golden vectors and generated addresses, each terminated by a zero
byte, in the file ADDRSPEC_ADDRESSES, and the results of core in ADDRSPEC_RESULTS.
"""

import json
import os
import unittest
from pathlib import Path

import pyarrow as pa
import ray

import addrspec.ray


def addresses():
    return Path(os.environ["ADDRSPEC_ADDRESSES"]).read_bytes().split(b"\0")[:-1]


def results():
    lines = Path(os.environ["ADDRSPEC_RESULTS"]).read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


class Same(unittest.TestCase):
    def test_ray(self):
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=256 << 20)
        self.addCleanup(ray.shutdown)
        given = addresses()
        table = pa.table({"n": range(len(given)), "given": pa.array(given, pa.binary())})
        rows = addrspec.ray.with_facts(ray.data.from_arrow(table), "given").take_all()
        self.require_same({row.pop("n"): row for row in rows if row.pop("given") is not None})

    def require_same(self, got):
        want = results()
        self.assertEqual(len(got), len(want))
        different = [n for n, facts in enumerate(want) if got[n] != facts]
        self.assertEqual(different, [], "the facts about these addresses, by number, differ from those of core")


if __name__ == "__main__":
    unittest.main()
