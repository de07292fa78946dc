"""Tests of addrspec.spark on a real cluster: a master and two executors, each a process."""

import os
import signal
import sys
import tempfile
import unittest

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import addrspec
from addrspec._arrow import facts_type
from addrspec.spark import canonical, facts, verdict, with_facts, with_verdict

from rate import POLICY, compare

ROWS = 1_000_000
BAD = [None, "", "no address", 'a"b\n@c', "x" * ((1 << 20) + 1), "josé@bücher.example"]


def generated(spark, rows):
    """Addresses that differ, some of them bad."""
    number = F.col("id").cast("string")
    kinds = [F.concat(F.lit(a), number, F.lit(b)) for a, b in (("jane.doe", "@example.org"), ("info+", "@gmial.com"), ("x..", "@y.example"))]
    return spark.range(0, rows, 1, 8).withColumn("email", F.element_at(F.array(*kinds, F.lit(None)), (F.col("id") % 4 + 1).cast("int")))


class Spark(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.spark = (
            SparkSession.builder.master("local-cluster[2,1,1024]")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.memory", "1g")
            .config("spark.sql.execution.arrow.maxRecordsPerBatch", "10000")
            .getOrCreate()
        )
        cls.spark.sparkContext.setLogLevel("ERROR")

    @classmethod
    def tearDownClass(cls):
        cls.spark.stop()

    def test_executors(self):
        """Both executors check rows, each in a Python process of its own."""
        frame = generated(self.spark, 80_000)
        pids = frame.mapInArrow(_pids, "pid long").distinct().count()
        self.assertGreaterEqual(pids, 2)

    def test_bad_rows_stay_rows(self):
        frame = self.spark.createDataFrame([(n, email) for n, email in enumerate(BAD)], "id int, email string")
        got = [row["facts"] and row["facts"].asDict() for row in frame.select("id", facts("email").alias("facts")).orderBy("id").collect()]
        self.assertEqual(got, addrspec.check_arrow(pa.array(BAD)).to_pylist())
        binary = frame.select(facts(F.col("email").cast("binary")).alias("facts"), "id").orderBy("id").collect()
        self.assertEqual([row["facts"] and row["facts"].asDict() for row in binary], got)

    def test_canonical(self):
        frame = self.spark.createDataFrame(list(enumerate([*BAD, "J.Doe+x@googlemail.com"])), "id int, email string")
        for column in ("email", F.col("email").cast("binary")):
            rows = frame.select("id", canonical(column).alias("c")).orderBy("id").collect()
            self.assertEqual([row["c"] for row in rows], [None] * 5 + ["josé@bücher.example", "jdoe@gmail.com"])

    def test_columns(self):
        frame = with_facts(generated(self.spark, 1000), "email", prefix="e_").orderBy("id")
        self.assertEqual(frame.columns, ["id", "email"] + ["e_" + field.name for field in facts_type()])
        rows = frame.collect()
        want = addrspec.check_arrow(pa.array([row["email"] for row in rows]))
        for field in facts_type():
            self.assertEqual([row["e_" + field.name] for row in rows], [facts and facts[field.name] for facts in want.to_pylist()])
        with self.assertRaisesRegex(ValueError, "email"):
            with_facts(frame, "email")
        plan = frame._jdf.queryExecution().optimizedPlan().toString()
        self.assertEqual(plan.count("ArrowEvalPython"), 1, "a row is checked once, not once for each column: " + plan)

    def test_sql(self):
        self.spark.udf.register("addrspec", facts)
        row = self.spark.sql("select addrspec('jane@gmial.com').typo_suggestion as s").first()
        self.assertEqual(row["s"], "gmail.com")

    def test_verdicts(self):
        """One query with two policies that disagree, one of them of 10,000 domains."""
        domains = {"block": {"domains": [f"d{n}.example" for n in range(9_999)] + ["example.org"]}}
        reasons = {"review": {"reasons": ["alias", "typo"]}}
        frame = with_verdict(generated(self.spark, 80_000), "email", domains).withColumn("v", verdict(reasons)("email"))
        counted = frame.groupBy("action", "rule", "v").count().collect()
        got = {(row["action"], row["rule"], row["v"] and tuple(row["v"])): row["count"] for row in counted}
        self.assertEqual(
            got,
            {
                ("block", "block.domains[9999]", ("allow", None, None)): 20_000,
                ("allow", None, ("review", "alias", "review.reasons[0]")): 20_000,
                ("block", None, ("block", "invalid", None)): 20_000,
                (None, None, None): 20_000,
            },
        )
        plan = with_verdict(generated(self.spark, 8), "email", reasons)._jdf.queryExecution().optimizedPlan().toString()
        self.assertEqual(plan.count("ArrowEvalPython"), 1, "a row is decided once, not once for each column: " + plan)

    def test_verdicts_of_bad_rows(self):
        frame = self.spark.createDataFrame([(n, email) for n, email in enumerate(BAD)], "id int, email string")
        decide = verdict({"review": {"domains": ["xn--bcher-kva.example"]}})
        want = [None, *[("block", "invalid", None)] * 4, ("review", "domain", "review.domains[0]")]
        for column in ("email", F.col("email").cast("binary")):
            rows = frame.select("id", decide(column).alias("v")).orderBy("id").collect()
            self.assertEqual([row["v"] and tuple(row["v"]) for row in rows], want)

    def test_wrong_policy(self):
        """It is refused in the driver, before any task, with its place."""
        for use in (verdict, lambda policy: with_verdict(self.spark.range(1), "id", policy)):
            with self.assertRaisesRegex(addrspec.PolicyRefused, r"^block\.reasons\[0\]: "):
                use({"block": {"reasons": ["disposible"]}})

    def test_verdict_in_sql(self):
        policy = {"block": {"reasons": ["typo"]}}
        decide = verdict(policy)
        policy["block"]["reasons"][0] = "role"  # the function keeps what it was made with
        self.spark.udf.register("signup", decide)
        row = self.spark.sql("select signup('jane@gmial.com') as v").first()
        self.assertEqual(tuple(row["v"]), ("block", "typo", "block.reasons[0]"))

    def test_million_rows(self):
        frame = generated(self.spark, ROWS).select("id", "email", facts("email").alias("f"))
        counted = frame.select(
            F.count("*").alias("rows"), F.count("f").alias("some"), F.sum(F.col("f.valid").cast("int")).alias("valid"),
            F.sum(F.col("f.typo").cast("int")).alias("typo"), F.sum(F.col("f.alias").cast("int")).alias("alias"),
        ).first()
        quarter = ROWS // 4
        self.assertEqual(counted.asDict(), {"rows": ROWS, "some": 3 * quarter, "valid": 2 * quarter, "typo": quarter, "alias": quarter})
        sample = frame.where("id % 1000 < 4").orderBy("id").collect()
        want = addrspec.check_arrow(pa.array([row["email"] for row in sample])).to_pylist()
        self.assertEqual([row["f"] and row["f"].asDict() for row in sample], want)

    def test_killed_worker(self):
        """Spark repeats the task of a Python worker that is killed: no row is lost or twice."""
        flag = os.path.join(tempfile.gettempdir(), f"addrspec-killed-{os.getpid()}")
        got = generated(self.spark, 80_000).mapInArrow(lambda batches: _killed_once(batches, flag), "email string").select(facts("email").alias("f"))
        try:
            self.assertEqual(got.count(), 80_000)
            self.assertEqual(got.where("f.valid").count(), 40_000)
            self.assertTrue(os.path.exists(flag), "no worker was killed")
        finally:
            os.path.exists(flag) and os.unlink(flag)

    def test_rate(self):
        frame = generated(self.spark, ROWS)
        nothing = F.arrow_udf(lambda column: column, "string")
        compare("Spark", ROWS, *(lambda what=what: _run(frame.select(what("email"))) for what in (nothing, facts, verdict(POLICY))))


def _run(frame):
    frame.write.format("noop").mode("overwrite").save()


def _pids(batches):
    import os

    import addrspec

    for batch in batches:
        addrspec.check_arrow(batch.column("email"))
    yield pa.RecordBatch.from_pydict({"pid": [os.getpid()]})


def _killed_once(batches, flag):
    """Passes batches on. The first worker to do so is killed after its first batch."""
    for n, batch in enumerate(batches):
        yield batch.select(["email"])
        if n == 0:
            try:
                os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
                os.kill(os.getpid(), signal.SIGKILL)
            except FileExistsError:
                pass


if __name__ == "__main__":
    unittest.main()
