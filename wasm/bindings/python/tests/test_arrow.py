"""Tests of check_arrow with pyarrow."""

import unittest

import pyarrow as pa

import addrspec
from addrspec._instance import MAX_ADDRESS

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

    def test_errors(self):
        for array, text in ((["a@b"], "not list"), (pa.array([1]), "not int64"), (pa.array([b"abc"], pa.binary(3)), "not fixed_size_binary")):
            with self.assertRaisesRegex(TypeError, text):
                addrspec.check_arrow(array)


if __name__ == "__main__":
    unittest.main()
