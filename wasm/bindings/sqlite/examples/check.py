"""Prints results for addresses, with Python's sqlite3 and the extension:

    python3 check.py EXTENSION [-0] [-1] [-d] [-l LISTS] [ADDRESS...]

Without addresses it reads them from standard input, one a line, or with -0 each terminated
by a zero byte. With -1 each address takes a query of its own, with -d results have details.
"""

import argparse
import sqlite3
import sys


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("extension")
    parser.add_argument("-0", dest="zero", action="store_true")
    parser.add_argument("-1", dest="single", action="store_true")
    parser.add_argument("-d", dest="details", action="store_true")
    parser.add_argument("-l", dest="lists")
    parser.add_argument("addresses", nargs="*")
    options = parser.parse_intermixed_args()

    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(options.extension)
    db.enable_load_extension(False)
    db.text_factory = bytes
    if options.lists:
        with open(options.lists, "rb") as file:
            db.execute("SELECT addrspec_lists(?)", [file.read()]).fetchone()

    # As bytes, since an address need not be UTF-8.
    rows = ([address] for address in read(options))
    if options.single:
        results = (db.execute("SELECT addrspec(?, ?)", [address, options.details]).fetchone() for [address] in rows)
    else:
        db.execute("CREATE TABLE addresses (address)")
        db.executemany("INSERT INTO addresses VALUES (?)", rows)
        results = db.execute("SELECT addrspec(address, ?) FROM addresses ORDER BY rowid", [options.details])
    for [result] in results:
        sys.stdout.buffer.write(result + b"\n")


def read(options: argparse.Namespace) -> list[bytes]:
    if options.addresses:
        return [address.encode() for address in options.addresses]
    text = sys.stdin.buffer.read()
    if options.zero:
        return text.split(b"\0")[:-1]
    return [line.removesuffix(b"\n").removesuffix(b"\r") for line in text.splitlines(keepends=True)]


main()
