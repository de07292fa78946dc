"""Tests of the installed wheel: python -m unittest discover -s tests."""

import contextlib
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
import unittest
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from unittest import mock

import addrspec
from addrspec import _engine
from addrspec._details import details as read_details
from addrspec._abi import MAX_ADDRESS

NATIVE = addrspec.engine() == "native"

# An environment in which nobody can make a cache directory, not even root.
WITHOUT_CACHE = {**os.environ, "HOME": os.devnull, "XDG_CACHE_HOME": os.devnull + "/cache"}


class Checks(unittest.TestCase):
    def test_facts(self):
        facts = addrspec.check("Info+x@Gmial.com")
        self.assertEqual(
            facts.to_dict(),
            {
                "email": "Info+x@Gmial.com",
                "valid": True,
                "normalized": "info+x@gmial.com",
                "local_part": "Info+x",
                "alias": True,
                "ascii": True,
                "role": "General",
                "gibberish": False,
                "gibberish_score": 0,
                "domain": "gmial.com",
                "mx": None,
                "disposable": False,
                "public": False,
                "relay": False,
                "typo": True,
                "typo_suggestion": "gmail.com",
            },
        )
        for name, value in facts.to_dict().items():
            self.assertEqual(getattr(facts, name), value, name)
        self.assertIn(b'"mx":null', facts.json)
        for address in "jane@[192.0.2.1]", "jane":  # no domain to look up
            self.assertIs(addrspec.check(address).mx, False)
            self.assertIs(addrspec.check(address).to_dict()["mx"], False)
        self.assertEqual(addrspec.check("a@gmial.com", full_suggestion=True).typo_suggestion, "a@gmail.com")

    def test_details(self):
        details = addrspec.explain("j.doe+x@googlemail.com").details
        self.assertIsNone(details.refusal)
        self.assertEqual((details.canonical, details.canonical_rule), ("jdoe@gmail.com", "gmail"))
        self.assertEqual((details.provider_evidence.entry, details.provider_evidence.kind), ("googlemail.com", "public"))
        self.assertEqual(details.versions, addrspec.versions())
        self.assertEqual(addrspec.explain("info-uk@example.org").details.role_evidence.word, "info")
        typo = addrspec.explain("a@gmial.com").details.typo_evidence
        self.assertEqual((typo.target, typo.edits[0].kind, typo.edits[0].at), ("gmail.com", "transposition", 2))
        self.assertEqual((details.form, details.exchange), ((), None))
        self.assertEqual(addrspec.explain('"a b"@printer.local').details.form, ("quoted", "unknown_tld", "special_use"))
        refusal = addrspec.explain("jane.@example.org").details.refusal
        self.assertEqual((refusal.code, refusal.offset), ("local_part_ends_with_dot", 4))
        self.assertIsNone(refusal.suggestion)
        self.assertEqual(addrspec.explain("jane@example,org").details.refusal.suggestion, "jane@example.org")

    def test_exchange_of_a_host_with_dns(self):
        values = json.loads(addrspec.explain("jane@example.org").json)["details"]
        values["exchange"] = {"class": "own", "provider": None, "entry": None, "host": "mx.example.org", "address_record": None}
        self.assertEqual(read_details(values).exchange, addrspec.Exchange("own", None, None, "mx.example.org", None))

    def test_policies_of_the_vectors(self):
        with open(os.environ["ADDRSPEC_POLICIES"], encoding="utf-8") as file:
            cases = [json.loads(line) for line in file]
        self.assertGreater(len(cases), 80)
        for case in cases:
            found = {"mx": case["mx"], "address_record": case["address"], "disposable": case["disposable"], "exchanges": case.get("exchanges", ())} if "email" in case else {}
            with self.subTest(case=case):
                if case.get("error"):
                    with self.assertRaises(addrspec.PolicyRefused) as refused:
                        addrspec.verdict("jane@example.org", case["policy"])
                    for error in refused.exception, pickle.loads(pickle.dumps(refused.exception)):
                        self.assertEqual([str(error), error.place, error.offset], [case["error"], case["place"], case["offset"]])
                    continue
                for policy in self.forms(case["policy"]):
                    self.assertEqual(vars(addrspec.verdict(case["email"], policy, **found)), case["verdict"])

    @staticmethod
    def forms(text):
        return text, text.encode(), json.loads(text)

    def test_addresses_and_exchanges(self):
        policy = {"block": {"addresses": ["j.doe@gmail.com"], "exchanges": ["*.burner.example"]}}
        addresses = ["JDoe+x@googlemail.com", "jane@example.org", "x" * 5000, b"x" * MAX_ADDRESS, "(a comment)jd.oe@gmail.com"] * 300
        self.assertEqual([v.reason for v in addrspec.verdict_many(addresses, policy)], ["address", None, "invalid", "invalid", "address"] * 300)
        for exchanges, reason in ((["mx.burner.example"], "exchange"), (iter(["a.burner.example", "*"]), None), ((), None)):
            self.assertEqual(addrspec.verdict("jane@example.org", policy, mx=True, exchanges=exchanges).reason, reason)
        with self.assertRaisesRegex(TypeError, "not one name"):
            addrspec.verdict("jane@example.org", policy, exchanges="mx.burner.example")
        for wrong in ["mx.burner.example\0", "mx.example.org"], ["mx.example"] * 9000:
            with self.assertRaisesRegex(ValueError, "names of at most 64 KiB"):
                addrspec.verdict("jane@example.org", policy, exchanges=wrong)

    def test_verdict_many(self):
        policy = {"block": {"reasons": ["disposable"]}, "review": {"reasons": ["role"]}}
        addresses = ["jane@example.org", "info@example.org", "a@mailinator.com", "", b"x" * MAX_ADDRESS] * 500
        got = addrspec.verdict_many(addresses, policy)
        self.assertEqual([v.action for v in got], ["allow", "review", "block", "block", "block"] * 500)
        self.assertEqual(got[:5], [addrspec.verdict(address, policy) for address in addresses[:5]])
        self.assertEqual(got[2], addrspec.Verdict("block", "disposable", "block.reasons[0]"))
        self.assertEqual(addrspec.verdict_many([], policy), [])
        with self.assertRaises(addrspec.PolicyRefused):
            addrspec.verdict_many([], {"block": {"reasons": ["disposible"]}})

    def test_more_policies_than_an_instance_has(self):
        checker = addrspec.Checker(instances=1)
        policies = [{"block": {"domains": [f"d{n}.example"]}} for n in range(40)]
        for _ in range(2):
            for n, policy in enumerate(policies):
                with self.assertRaises(addrspec.PolicyRefused):
                    checker.verdict("a@d0.example", "7")
                self.assertEqual(checker.verdict(f"a@d{n}.example", policy).action, "block")
                self.assertEqual(checker.verdict(f"a@d{n + 1}.example", policy).action, "allow")

    def test_policies_at_the_same_time(self):
        checker = addrspec.Checker(instances=2)

        def decide(n):
            policy = {"block" if n % 2 else "review": {"domains": ["both.example"]}}
            return {checker.verdict("a@both.example", policy).action for _ in range(50)}

        with ThreadPoolExecutor(8) as threads:
            self.assertEqual(list(threads.map(decide, range(16))), [{"review"}, {"block"}] * 8)

    def test_wrong_policies(self):
        for policy, why in {
            "": "line 1, column 1: ",
            "x" * 3_000_000: "the document: it has more than 2665536 bytes",
            " " * 2 * MAX_ADDRESS: "line 1, column 2097153: ",
            "\ud800": "line 1, column 1: ",
        }.items():
            with self.assertRaises(addrspec.PolicyRefused) as refused:
                addrspec.verdict("jane@example.org", policy)
            self.assertTrue(str(refused.exception).startswith(why), str(refused.exception))
        for policy in None, 7, ["block"]:
            with self.assertRaises(TypeError):
                addrspec.verdict("jane@example.org", policy)

    def test_same_values(self):
        self.assertEqual(addrspec.check("a@example.org"), addrspec.check(b"a@example.org"))
        self.assertEqual(hash(addrspec.check("a@example.org")), hash(addrspec.check(b"a@example.org")))
        self.assertNotEqual(addrspec.check("a@example.org"), addrspec.check("b@example.org"))
        self.assertEqual(pickle.loads(pickle.dumps(addrspec.check("a@example.org"))).email, "a@example.org")

    def test_hostile_bytes(self):
        self.assertEqual(addrspec.check(b"\xff\x00@x").email, "\ufffd\x00@x")
        self.assertFalse(addrspec.check("\ud800@example.org").valid)
        self.assertFalse(addrspec.check("").valid)
        self.assertFalse(addrspec.check(b"\x01" * MAX_ADDRESS).valid)
        many = addrspec.check_many([b"\x01" * MAX_ADDRESS, "", "a@example.org", b"x" * (MAX_ADDRESS - 4)] * 2)
        self.assertEqual([facts.valid for facts in many], [False, False, True, False] * 2)

    def test_random_bytes(self):
        source = random.Random(7)
        addresses = [source.randbytes(source.randrange(40)) for _ in range(2000)]
        self.assertEqual(addrspec.check_many(addresses), [addrspec.check(address) for address in addresses])
        self.assertEqual(
            [facts.json for facts in addrspec.explain_many(addresses)], [addrspec.explain(address).json for address in addresses]
        )

    def test_nothing_of_the_address_in_texts(self):
        facts = addrspec.explain("jane.secret@gmial.com")
        for text in (repr(facts), str(facts), repr(facts.details)):
            self.assertNotIn("secret", text)


class Errors(unittest.TestCase):
    def requires(self, kind, text, function, *args):
        with self.assertRaises(kind) as caught:
            function(*args)
        self.assertIn(text, str(caught.exception))
        self.assertNotIn("secret", str(caught.exception))

    def test_arguments(self):
        self.requires(TypeError, "address must be str or bytes, not int", addrspec.check, 3)
        self.requires(TypeError, "address must be str or bytes, not NoneType", addrspec.explain, None)
        self.requires(TypeError, "addresses[1] must be str or bytes, not list", addrspec.check_many, ["secret@x", ["secret@x"]])
        self.requires(TypeError, "addresses must be an iterable of addresses, not NoneType", addrspec.check_many, None)
        self.requires(TypeError, "use check", addrspec.check_many, "secret@example.org")
        self.requires(ValueError, "address has 1048577 bytes", addrspec.check, "secret" + "x" * (MAX_ADDRESS - 5))
        self.requires(ValueError, "addresses[0] has", addrspec.check_many, ["é" * MAX_ADDRESS])
        self.requires(ValueError, "instances must be at least 1", lambda: addrspec.Checker(instances=0))

    def test_lists(self):
        self.requires(addrspec.ListsRefused, "damaged", addrspec.Checker, b"no lists")
        checker = addrspec.Checker()
        before = checker.versions()
        self.requires(addrspec.ListsRefused, "larger than 4 MiB", checker.set_lists, bytes((4 << 20) + 1))
        self.requires(TypeError, "blob must be bytes, not str", checker.set_lists, "lists.blob")
        self.assertEqual(checker.versions(), before)

    @unittest.skipIf(NATIVE, "the C library has tests of its faults")
    @unittest.skipUnless("ADDRSPEC_FRAGILE" in os.environ, "ADDRSPEC_FRAGILE names no module")
    def test_after_a_trap(self):
        with module_of("ADDRSPEC_FRAGILE"):
            checker = addrspec.Checker(instances=1)
            for bad, text in (("!", "the module stopped"), ("?", "returned -3"), ("#", "more than its output has")):
                self.requires(RuntimeError, text, checker.check, bad + "secret")
                self.assertTrue(checker.check("jane@example.org").valid)
                self.assertTrue(checker.check_many(["jane@example.org"])[0].valid)

    @unittest.skipIf(NATIVE, "the module is compiled in")
    @unittest.skipUnless("ADDRSPEC_OLDER" in os.environ, "ADDRSPEC_OLDER names no module")
    def test_module_of_another_version(self):
        with module_of("ADDRSPEC_OLDER"):
            self.requires(RuntimeError, "interface version 1.2, this package supports 2", addrspec.Checker(instances=1).check, "a@b.example")


def module_of(variable):
    """Makes new checkers use the module in the file that the variable names."""
    with open(os.environ[variable], "rb") as file:
        wasm = file.read()
    from addrspec import _wasmtime

    engine, _ = _wasmtime.compiled()
    module = (engine, _wasmtime.Module(engine, wasm))
    return mock.patch("addrspec._wasmtime.compiled", lambda: module)


class Processes(unittest.TestCase):
    def test_threads(self):
        addresses = [f"jane{n}@example.org" for n in range(400)]
        want = [addrspec.check(address) for address in addresses]
        for checker in (addrspec.Checker(instances=1), addrspec.Checker(instances=3)):
            with ThreadPoolExecutor(8) as threads:
                for got in threads.map(lambda _: checker.check_many(addresses), range(20)):
                    self.assertEqual(got, want)
                self.assertEqual(list(threads.map(checker.check, addresses)), want)

    def test_lists_change_while_threads_check(self):
        checker, stop = addrspec.Checker(instances=2), threading.Event()

        def check():
            while not stop.is_set():
                self.assertTrue(checker.check("jane@example.org").valid)

        with ThreadPoolExecutor(3) as threads:
            checks = [threads.submit(check) for _ in range(3)]
            for _ in range(5):
                with self.assertRaises(addrspec.ListsRefused):
                    checker.set_lists(b"damaged")
            stop.set()
            for done in checks:
                done.result()

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_fork(self):
        """A child checks even if all instances were in use when it was made."""
        checker = addrspec.Checker(instances=1)
        with checker._pool.instance():
            child = os.fork()
            if child == 0:
                os._exit(0 if checker.check("jane@example.org").valid and addrspec.check("a@b.example").valid else 1)
            self.assertEqual(_wait(child), 0)
        self.assertTrue(checker.check("jane@example.org").valid)

    @unittest.skipIf(NATIVE, "nothing is compiled")
    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_fork_after_compiling(self):
        """A child compiles the module even if the parent, which forks, compiled something."""
        program = (
            "import os, signal, wasmtime, addrspec\n"
            "wasmtime.Module(wasmtime.Engine(), '(module (func (export \"f\")))')\n"
            "child = os.fork()\n"
            "signal.alarm(60)\n"
            "if child == 0: os._exit(0 if addrspec.check('a@b.example').valid else 1)\n"
            "raise SystemExit(os.waitpid(child, 0)[1])"
        )
        subprocess.run([sys.executable, "-c", program], env=WITHOUT_CACHE, timeout=70, check=True)

    def test_other_processes(self):
        """The functions and a Checker can be passed to another process."""
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            self.assertTrue(pool.submit(addrspec.check, "a@b.example").result().valid)
            self.assertEqual(pool.submit(addrspec.explain, "@").result().details.refusal.code, "local_part_missing")
            self.assertTrue(pool.submit(addrspec.Checker(instances=1).check, "a@b.example").result().valid)

    def test_without_a_cache_directory(self):
        program = "import addrspec; print(addrspec.check('a@b.example').valid)"
        self.assertEqual(subprocess.check_output([sys.executable, "-c", program], env=WITHOUT_CACHE), b"True\n")

    def test_command(self):
        def run(*args, given=b"", code=0):
            done = subprocess.run([sys.executable, "-m", "addrspec", *args], input=given, capture_output=True)
            self.assertEqual(done.returncode, code, done.stderr)
            return done.stdout, done.stderr

        self.assertEqual(run("--version")[0].decode().split(), ["addrspec", addrspec.__version__])
        self.assertIn(b"standard input", run("--help")[0])
        self.assertEqual(run(given=b"\n\r\na@b.example")[0], addrspec.check("a@b.example").json + b"\n")
        self.assertEqual(run("-0", given=b"a\n@b\x00")[0], addrspec.check("a\n@b").json + b"\n")
        self.assertIn(b"over 1 MiB", run(given=b"secret" * MAX_ADDRESS, code=1)[1])
        self.assertIn(b"No such file", run("-l", "missing.blob", code=1)[1])
        self.assertNotIn(b"Traceback", run("-l", os.devnull, code=1)[1])

    def test_reader_ends(self):
        process = subprocess.Popen([sys.executable, "-m", "addrspec"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.close()
        with contextlib.suppress(BrokenPipeError), process.stdin:
            process.stdin.write(b"a@b.example\n" * 100_000)
        self.assertEqual(process.wait(), 1)
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()


def _wait(child):
    """Returns the exit status of a child; it is killed after a minute."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


if __name__ == "__main__":
    unittest.main()
