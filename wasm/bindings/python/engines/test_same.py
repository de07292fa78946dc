"""Tests that the functions for Spark and Ray give the facts of core.

The Go test passes the golden vectors and generated addresses, each terminated by a zero
byte, in the file ADDRSPEC_ADDRESSES, and the results of core in ADDRSPEC_RESULTS.
"""

import json
import os
import sys
import unittest
from pathlib import Path

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

import pyarrow as pa
import ray
from pyspark.sql import SparkSession

import addrspec.ray
import addrspec.spark


def addresses():
    return Path(os.environ["ADDRSPEC_ADDRESSES"]).read_bytes().split(b"\0")[:-1]


def results():
    lines = Path(os.environ["ADDRSPEC_RESULTS"]).read_bytes().split(b"\n")[:-1]
    return [json.loads(line) | {"mx": None} for line in lines]  # nothing here asks DNS


class Same(unittest.TestCase):
    def test_spark(self):
        spark = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false").getOrCreate()
        self.addCleanup(spark.stop)
        rows = [(n, bytearray(address)) for n, address in enumerate(addresses())]
        frame = spark.createDataFrame(rows, "n int, email binary").repartition(8)
        got = frame.select("n", addrspec.spark.facts("email").alias("f")).collect()
        self.require_same({row["n"]: row["f"].asDict() for row in got})

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
