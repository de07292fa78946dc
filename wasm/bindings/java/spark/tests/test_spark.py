"""Tests the built jar on a real cluster: a master and two executors, each a process.

The Go test names the jars (ADDRSPEC_JARS), the golden vectors and generated addresses,
each terminated by a zero byte (ADDRSPEC_ADDRESSES), and the results of core
(ADDRSPEC_RESULTS). Python only drives Spark: the rows do not leave the JVM.
"""

import json
import os
import time
import unittest
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

ROWS = 1_000_000
LONGEST = 1 << 20
FACTS = (
    "email STRING, valid BOOLEAN, normalized STRING, local_part STRING, alias BOOLEAN, ascii BOOLEAN, role STRING, "
    "gibberish BOOLEAN, gibberish_score DOUBLE, domain STRING, mx BOOLEAN, disposable BOOLEAN, public BOOLEAN, "
    "relay BOOLEAN, typo BOOLEAN, typo_suggestion STRING"
)


def addresses():
    return Path(os.environ["ADDRSPEC_ADDRESSES"]).read_bytes().split(b"\0")[:-1]


def results():
    lines = Path(os.environ["ADDRSPEC_RESULTS"]).read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


class Spark(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.spark = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.jars", os.environ["ADDRSPEC_JARS"])
            .config("spark.executor.extraJavaOptions", os.environ.get("ADDRSPEC_JAVA_OPTIONS", ""))
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .getOrCreate()
        )
        cls.spark.sparkContext.setLogLevel("OFF")
        cls.spark.udf.registerJavaFunction("addrspec_check", "io.github.addrspec.spark.AddrspecCheck", FACTS)
        cls.spark.udf.registerJavaFunction("nothing", "NoOp", "STRING")
        # Addresses that differ; the rows in between are null.
        email = F.when(F.col("id") % 100 > 0, F.concat(F.lit("jane.doe"), "id", F.lit("@gmial.com")))
        cls.spark.range(0, ROWS, 1, 8).withColumn("email", email).createOrReplaceTempView("people")

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()

    def test_same_facts_as_core(self):
        rows = [(n, bytearray(address)) for n, address in enumerate(addresses())]
        self.spark.createDataFrame(rows, "n INT, email BINARY").repartition(8).createOrReplaceTempView("given")
        got = {row["n"]: row["f"].asDict() for row in self.spark.sql("SELECT n, addrspec_check(email) f FROM given").collect()}
        want = results()
        self.assertEqual(len(got), len(want))
        self.assertGreater(len(want), 40_000)
        different = [n for n, facts in enumerate(want) if got[n] != facts]
        self.assertEqual(different, [], "the facts about these addresses, by number, differ from those of core")

    def test_text_is_checked_as_its_bytes(self):
        given = [a.decode() for a in addresses() if is_text(a)][:20_000]
        self.spark.createDataFrame(list(enumerate(given)), "n INT, email STRING").createOrReplaceTempView("texts")
        differ = "SELECT count(*) c FROM texts WHERE addrspec_check(email) IS DISTINCT FROM addrspec_check(CAST(email AS BINARY))"
        self.assertEqual(self.spark.sql(differ).first()["c"], 0)

    def test_bad_rows_stay_rows(self):
        bad = [None, "", "no address", "x" * (LONGEST + 1), "é" * (LONGEST // 2 + 1), "x" * LONGEST, "josé@bücher.example"]
        self.spark.createDataFrame(list(enumerate(bad)), "n INT, email STRING").createOrReplaceTempView("bad")
        for column in ("email", "CAST(email AS BINARY)"):
            rows = self.spark.sql(f"SELECT addrspec_check({column}) f FROM bad ORDER BY n").collect()
            facts = [row["f"] and row["f"].asDict() for row in rows]
            too_long = dict.fromkeys(facts[1]) | {"valid": False}
            self.assertIsNone(facts[0])
            self.assertEqual([f["valid"] for f in facts[1:]], [False] * 5 + [True])
            self.assertEqual(facts[3:5], [too_long, too_long])
            self.assertEqual(facts[5]["email"], bad[5])
        self.assertFalse(self.spark.sql("SELECT addrspec_check(x'ff4078').valid v").first()["v"])

    def test_wrong_type(self):
        with self.assertRaisesRegex(Exception, "the address must be a STRING or BINARY, not Integer"):
            self.spark.sql("SELECT addrspec_check(CAST(id AS INT)) FROM people").collect()

    def test_a_million_rows(self):
        counted = self.spark.sql(
            "SELECT count(*) rows, count(f) facts, sum(int(f.valid)) valid, sum(int(f.typo)) typo, count(DISTINCT f.email) emails, "
            "count_if(f.typo_suggestion = 'gmail.com') suggestions FROM (SELECT addrspec_check(email) f FROM people)"
        ).first()
        some = ROWS * 99 // 100
        self.assertEqual(counted.asDict(), {"rows": ROWS, "facts": some, "valid": some, "typo": some, "emails": some, "suggestions": some})

    def test_rate(self):
        self.seconds("addrspec_check(email)")  # loads code
        nothing, facts = self.seconds("nothing(email)"), self.seconds("addrspec_check(email)")
        print(f"Spark SQL: {ROWS:,} rows; no-op {ROWS / nothing:,.0f} rows/s, facts {ROWS / facts:,.0f} rows/s", flush=True)

    def seconds(self, what):
        start = time.perf_counter()
        self.spark.sql(f"SELECT {what} FROM people").write.format("noop").mode("overwrite").save()
        return time.perf_counter() - start


def is_text(address):
    try:
        return bool(address.decode())
    except UnicodeDecodeError:
        return False


if __name__ == "__main__":
    unittest.main()
