"""Tests of check_arrow with pyarrow."""

import json
import random
import unittest
from unittest import mock

import pyarrow as pa

import addrspec
from addrspec._abi import MAX_ADDRESS

ADDRESSES = ["jane@gmial.com", None, "", "josé@bücher.example", "no address", 'a"b\n@c']


def rows(addresses):
    return [None if address is None else addrspec.check(address).to_dict() for address in addresses]


class Arrow(unittest.TestCase):
    def test_layouts(self):
        texts = pa.array(ADDRESSES)
        layouts = [texts, texts.cast(pa.large_string()), texts.cast(pa.binary()), texts.cast(pa.large_binary())]
        layouts += [texts.cast(pa.string_view()), pa.array([a and a.encode() for a in ADDRESSES], pa.binary_view())]
        layouts += [texts.dictionary_encode(), texts.cast(pa.binary()).dictionary_encode()]
        for array in layouts:
            with self.subTest(str(array.type)):
                result = addrspec.check_arrow(array)
                result.validate(full=True)
                self.assertEqual(result.to_pylist(), rows(ADDRESSES))
                self.assertEqual(addrspec.check_arrow(array.slice(1, 3)).to_pylist(), rows(ADDRESSES[1:4]))

    def test_chunks(self):
        chunked = pa.chunked_array([ADDRESSES, [], ADDRESSES[::-1]], pa.string())
        result = addrspec.check_arrow(chunked)
        self.assertEqual(result.to_pylist(), rows(ADDRESSES + ADDRESSES[::-1]))
        self.assertEqual(len(addrspec.check_arrow(pa.chunked_array([], pa.string()))), 0)

    def test_sizes(self):
        for size in (0, 1, 16383, 16384, 16385, 40000):
            addresses = [f"jane{n}@example.org" for n in range(size)]
            result = addrspec.check_arrow(pa.array(addresses, pa.string()))
            self.assertEqual(result.field("email").to_pylist(), addresses)
            self.assertEqual(result.type, addrspec.check_arrow(pa.array(["a"])).type)

    def test_nulls(self):
        for array in (pa.nulls(3), pa.nulls(3, pa.string())):
            result = addrspec.check_arrow(array)
            self.assertEqual((result.null_count, len(result)), (3, 3))
        self.assertEqual(addrspec.check_arrow(pa.array(["a@b.example", None])).field("valid").to_pylist(), [True, None])

    def test_bad_rows_stay_rows(self):
        result = addrspec.check_arrow(pa.array([b"\xff\xfe", b"x" * (MAX_ADDRESS + 1), b"a@b.example", None, b"\x01" * MAX_ADDRESS]))
        values = result.to_pylist()
        self.assertEqual(values[0]["email"], "\ufffd\ufffd")
        self.assertEqual({k: v for k, v in values[1].items() if v is not None}, {"valid": False})
        self.assertTrue(values[2]["valid"])
        self.assertIsNone(values[3])
        self.assertFalse(values[4]["valid"])

    def test_values_that_look_like_others(self):
        """The reader of JSON must not take texts for dates or numbers."""
        addresses = ["2026-11-23T00:00:00Z", "12", "null", "true", "1e5@example.org"]
        self.assertEqual(addrspec.check_arrow(pa.array(addresses)).field("email").to_pylist(), addresses)

    def test_suggestion(self):
        result = addrspec.check_arrow(pa.array(["a@gmial.com"]), full_suggestion=True)
        self.assertEqual(result.field("typo_suggestion").to_pylist(), ["a@gmail.com"])

    def test_canonical(self):
        """It is that of explain, after the 16 facts, for texts that look like others too."""
        addresses = [*ADDRESSES, "J.Doe+x@googlemail.com", '"a\\"b"@example.org', "2026-11-23@example.org", '"},"canonical":1"@a.example', "x" * (MAX_ADDRESS + 1)]
        for array in (pa.array(addresses), pa.array(addresses).cast(pa.binary()), pa.chunked_array([addresses[:3], addresses[3:]])):
            result = addrspec.check_arrow(array, canonical=True)
            result.validate(full=True)
            for address, row in zip(addresses[:-1], result.to_pylist()):
                self.assertEqual(row, address if address is None else {**addrspec.check(address).to_dict(), "canonical": addrspec.explain(address).details.canonical})
            self.assertEqual({k: v for k, v in result[-1].as_py().items() if v is not None}, {"valid": False})
        self.assertEqual(result[6].as_py()["canonical"], "jdoe@gmail.com")
        self.assertEqual(addrspec.check_arrow(pa.array([], pa.string()), canonical=True).type[16].name, "canonical")

    def test_verdicts(self):
        """Each row has the verdict of verdict_many, in every layout and in slices of several sizes."""
        policy = {"block": {"reasons": ["typo"]}, "review": {"reasons": ["non_ascii"], "domains": ["example.org"]}}
        texts = pa.array([*ADDRESSES, "a@example.org", "a@sub.example.org"])
        want = [address if address is None else vars(addrspec.verdict(address, policy)) for address in texts.to_pylist()]
        self.assertEqual([verdict and verdict["rule"] for verdict in want], ["block.reasons[0]", None, None, "review.reasons[0]", None, None, "review.domains[0]", None])
        for array in (texts, texts.cast(pa.large_binary()), texts.cast(pa.string_view()), texts.dictionary_encode()):
            with self.subTest(str(array.type)):
                result = addrspec.verdict_arrow(array, policy)
                result.validate(full=True)
                self.assertEqual(result.to_pylist(), want)
                self.assertEqual(addrspec.verdict_arrow(array.slice(1, 3), policy).to_pylist(), want[1:4])
        with mock.patch("addrspec._arrow._ROWS", 3):
            self.assertEqual(addrspec.verdict_arrow(texts, policy).to_pylist(), want)
            self.assertEqual(addrspec.verdict_arrow(pa.chunked_array([texts, texts[:0], texts]), policy).to_pylist(), want * 2)

    def test_verdicts_of_bad_rows(self):
        rows = [b"\xff\xfe", b"x" * (MAX_ADDRESS + 1), b"a@b.example", None, b"\x01" * MAX_ADDRESS]
        block = {"action": "block", "reason": "invalid", "rule": None}
        result = addrspec.verdict_arrow(pa.array(rows), "{}")
        self.assertEqual(result.to_pylist(), [block, block, {"action": "allow", "reason": None, "rule": None}, None, block])
        self.assertEqual(addrspec.verdict_arrow(pa.nulls(3), "{}").null_count, 3)

    def test_verdicts_of_a_wrong_policy(self):
        """The error comes with or without rows."""
        for array in (pa.array([], pa.string()), pa.nulls(1), pa.chunked_array([], pa.string()), pa.array(ADDRESSES)):
            with self.assertRaisesRegex(addrspec.PolicyRefused, r'^block\.reasons\[0\]: "disposible" is no reason; did you mean "disposable"\?'):
                addrspec.verdict_arrow(array, {"block": {"reasons": ["disposible"]}})
        with self.assertRaisesRegex(TypeError, "array must have texts or bytes, not int64"):
            addrspec.verdict_arrow(pa.array([1]), "{}")

    def test_more_than_fits(self):
        with mock.patch("addrspec._arrow._MOST", 100):
            for array in (pa.array(["x" * 101]), pa.array(["x" * 60, "x" * 60]), pa.array(["x" * 60] * 2).dictionary_encode()):
                with self.assertRaisesRegex(ValueError, "has room for 100: pass a ChunkedArray"):
                    addrspec.check_arrow(array)
            chunked = pa.chunked_array([["x" * 60], ["x" * 60]])
            self.assertEqual(len(addrspec.check_arrow(chunked)), 2)

    def test_large_rows(self):
        """Rows of some megabytes are checked a few at a time."""
        addresses = [b"\x01" * MAX_ADDRESS, b"a@b.example", None] * 6
        with mock.patch("addrspec._arrow._BYTES", MAX_ADDRESS // 2):
            result = addrspec.check_arrow(pa.array(addresses))
        result.validate(full=True)
        self.assertEqual(result.field("valid").to_pylist(), [False, True, None] * 6)

    def test_dictionary_of_a_slice(self):
        array = pa.array(["jane@gmial.com", None, "info@example.org"] * 3).dictionary_encode().slice(2, 5)
        self.assertEqual(addrspec.check_arrow(array).to_pylist(), rows(array.to_pylist()))
        with_null = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array([None, "a@b.example"]))
        self.assertEqual(addrspec.check_arrow(with_null).to_pylist(), rows([None, "a@b.example", None]))

    def test_random_bytes(self):
        """The flags and texts of each row are those of json.loads."""
        source = random.Random(8)
        alphabet = [b'"', b"\\", b"\n", b"\xff", b"\x00", b",", b'"valid":true', b'"typo":true', "é\u2028".encode(), b"a@b.example"]
        addresses = [b"".join(source.choices(alphabet, k=source.randrange(6))) for _ in range(3000)]
        got = addrspec.check_arrow(pa.array(addresses)).to_pylist()
        for address, row, facts in zip(addresses, got, addrspec.check_many(addresses)):
            want = json.loads(facts.json)
            self.assertEqual(row, want)
            self.assertEqual({name: getattr(facts, name) for name in want}, want, address)

    def test_errors(self):
        for array, text in ((["a@b"], "not list"), (pa.array([1]), "not int64"), (pa.array([b"abc"], pa.binary(3)), "not fixed_size_binary"), (pa.array([["a@b"]]), "not list"), (pa.array([1]).dictionary_encode(), "not int64")):
            with self.assertRaisesRegex(TypeError, text):
                addrspec.check_arrow(array)


if __name__ == "__main__":
    unittest.main()
