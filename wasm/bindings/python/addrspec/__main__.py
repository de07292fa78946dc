"""python -m addrspec: prints the facts about addresses, one line of JSON for each."""

from __future__ import annotations

import argparse
import os
import sys
from itertools import islice
from typing import BinaryIO, Iterable, Iterator, List, Optional

from . import Checker, __version__
from ._abi import MAX_ADDRESS

_CHUNK = 1000  # addresses at a time


def main(args: Optional[List[str]] = None) -> int:
    options = _parser().parse_args(args)
    try:
        _run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or exit prints an error
        return 1
    except KeyboardInterrupt:
        return 130
    except (OSError, ValueError) as error:
        print(f"addrspec: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m addrspec",
        description="Checks email addresses offline and prints one line of JSON for each.",
        epilog="Without addresses it reads them from standard input, one a line. mx is null: nothing is looked up.",
    )
    parser.add_argument("addresses", nargs="*", metavar="ADDRESS")
    parser.add_argument("-0", "--null", action="store_true", help="addresses in the input end with a zero byte")
    parser.add_argument("-d", "--details", action="store_true", help="results have the member details: why they are so")
    parser.add_argument("-l", "--lists", metavar="FILE", help="use these lists (lists.blob); verify their signature before")
    parser.add_argument("--version", action="version", version=f"addrspec {__version__}")
    return parser


def _run(options: argparse.Namespace) -> None:
    checker = Checker(instances=1)
    if options.lists:
        with open(options.lists, "rb") as file:
            checker.set_lists(file.read())
    addresses = iter(_addresses(options))
    while chunk := list(islice(addresses, _CHUNK)):
        results = checker.explain_many(chunk) if options.details else checker.check_many(chunk)
        sys.stdout.buffer.write(b"".join(facts.json + b"\n" for facts in results))
        sys.stdout.buffer.flush()


def _addresses(options: argparse.Namespace) -> Iterable[bytes]:
    if options.addresses:
        return (os.fsencode(address) for address in options.addresses)
    return filter(None, _input(sys.stdin.buffer, options.null))


def _input(stream: BinaryIO, null: bool) -> Iterator[bytes]:
    """Yields the addresses in a stream, without their ends."""
    end, rest = (b"\0" if null else b"\n"), b""
    while chunk := stream.read1(1 << 16):  # type: ignore[attr-defined]
        *whole, rest = (rest + chunk).split(end)
        yield from whole if null else (line.removesuffix(b"\r") for line in whole)
        if len(rest) > MAX_ADDRESS + 1:
            raise ValueError("the input has an address over 1 MiB; the longest valid one has 254 bytes")
    yield rest if null else rest.removesuffix(b"\r")


if __name__ == "__main__":
    sys.exit(main())
