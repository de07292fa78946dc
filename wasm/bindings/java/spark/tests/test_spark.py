"""Tests the built jar on a real cluster: a master and two executors, each a process.

The Go test names the jars (ADDRSPEC_JARS), the golden vectors and generated addresses,
each terminated by a zero byte (ADDRSPEC_ADDRESSES), and the results of core
(ADDRSPEC_RESULTS), and the vectors of policies (ADDRSPEC_POLICIES). Python only drives Spark: the rows do not leave the JVM.
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
VERDICT = "action STRING, reason STRING, rule STRING"
POLICY = """'{"block": {"reasons": ["disposable", "typo"]}, "review": {"domains": ["bücher.example"]}}'"""


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
        cls.spark.udf.registerJavaFunction("addrspec_canonical", "io.github.addrspec.spark.AddrspecCanonical", "STRING")
        cls.spark.udf.registerJavaFunction("addrspec_verdict", "io.github.addrspec.spark.AddrspecVerdict", VERDICT)
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

    def test_canonical(self):
        given = [None, "no address", "x" * (LONGEST + 1), "josé@bücher.example", "J.Doe+x@googlemail.com"]
        self.spark.createDataFrame(list(enumerate(given)), "n INT, email STRING").createOrReplaceTempView("mailboxes")
        for column in ("email", "CAST(email AS BINARY)"):
            rows = self.spark.sql(f"SELECT addrspec_canonical({column}) c FROM mailboxes ORDER BY n").collect()
            self.assertEqual([row["c"] for row in rows], [None, None, None, "josé@bücher.example", "jdoe@gmail.com"])

    def test_verdicts_of_the_vectors(self):
        """Each row has a policy of its own, and its verdict without lookups."""
        cases = [json.loads(line) for line in Path(os.environ["ADDRSPEC_POLICIES"]).read_text(encoding="utf-8").splitlines()]
        cases = [c for c in cases if "error" not in c and c["mx"] is None and c["address"] is None and not c["disposable"] and not c.get("exchanges")]
        self.assertGreater(len(cases), 40)
        rows = [(n, c["policy"], c["email"]) for n, c in enumerate(cases)]
        self.spark.createDataFrame(rows, "n INT, policy STRING, email STRING").repartition(8).createOrReplaceTempView("cases")
        got = {row["n"]: row["v"].asDict() for row in self.spark.sql("SELECT n, addrspec_verdict(email, policy) v FROM cases").collect()}
        self.assertEqual([got[n] for n in range(len(cases))], [c["verdict"] for c in cases])

    def test_verdicts_of_bad_rows(self):
        bad = [None, "", "no address", "x" * (LONGEST + 1), "é" * (LONGEST // 2 + 1), "x" * LONGEST, "josé@bücher.example"]
        self.spark.createDataFrame(list(enumerate(bad)), "n INT, email STRING").createOrReplaceTempView("bad")
        want = [None, *[("block", "invalid", None)] * 5, ("review", "domain", "review.domains[0]")]
        for column in ("email", "CAST(email AS BINARY)"):
            rows = self.spark.sql(f"SELECT addrspec_verdict({column}, {POLICY}) v FROM bad ORDER BY n").collect()
            self.assertEqual([row["v"] and tuple(row["v"]) for row in rows], want)
        self.assertIsNone(self.spark.sql("SELECT addrspec_verdict('a@b.example', CAST(NULL AS STRING)) v").first()["v"])

    def test_wrong_policy(self):
        why = r'block\.reasons\[0\]: "typpo" is no reason; did you mean "typo"\?'
        with self.assertRaisesRegex(Exception, why):
            self.spark.sql("""SELECT addrspec_verdict(email, '{"block": {"reasons": ["typpo"]}}') FROM people""").collect()

    def test_wrong_type(self):
        for call in "addrspec_check(CAST(id AS INT))", f"addrspec_verdict(CAST(id AS INT), {POLICY})":
            with self.assertRaisesRegex(Exception, "the address must be a STRING or BINARY, not Integer"):
                self.spark.sql(f"SELECT {call} FROM people").collect()

    def test_a_million_rows(self):
        counted = self.spark.sql(
            "SELECT count(*) rows, count(f) facts, sum(int(f.valid)) valid, sum(int(f.typo)) typo, count(DISTINCT f.email) emails, "
            "count_if(f.typo_suggestion = 'gmail.com') suggestions FROM (SELECT addrspec_check(email) f FROM people)"
        ).first()
        some = ROWS * 99 // 100
        self.assertEqual(counted.asDict(), {"rows": ROWS, "facts": some, "valid": some, "typo": some, "emails": some, "suggestions": some})

    def test_rate(self):
        self.seconds("addrspec_check(email)")  # loads code
        domains = ",".join(f'"customer-{n}.example"' for n in range(10_000))
        large = """'{"block": {"domains": [%s]}}'""" % domains
        calls = {"no-op": "nothing(email)", "facts": "addrspec_check(email)", "verdicts": f"addrspec_verdict(email, {POLICY})",
                 "verdicts by 10,000 domains": f"addrspec_verdict(email, {large})"}
        rates = (f"{name} {ROWS / self.seconds(call):,.0f} rows/s" for name, call in calls.items())
        print(f"Spark SQL: {ROWS:,} rows; " + ", ".join(rates), flush=True)

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
