#!/usr/bin/env python3
"""Checks email addresses with addrspec.wasm and wasmtime.

    pip install wasmtime
    python3 addrspec.py addrspec.wasm [-0] [-d] [-l LISTS] [ADDRESS...]

It prints one line of JSON for each address: its arguments or, without any, the
lines of standard input. With -0, addresses in the input end with a zero byte
instead; with -d, results have the member details; with -l, the lists are those of a
newer lists.blob, whose signature minisign verifies. wasm/ABI.md specifies the interface.
"""

import os
import struct
import sys
from pathlib import Path

from wasmtime import Config, Engine, Instance, Module, Store, WasmtimeError

ABI_MAJOR = 1
FULL_SUGGESTION = 1  # flag: typo_suggestion is the whole corrected address
DETAILS = 2  # flag: the result has the member details, the evidence for it (interface 1.1)
UNSIGNED = 0xFFFFFFFF  # an i32 is signed; & UNSIGNED converts it to unsigned


class ListsRefused(Exception):
    """The module refused a blob of lists and still uses the previous ones."""


class Checker:
    """One instance of the module. Only one thread may use it at a time."""

    def __init__(self, engine: Engine, module: Module):
        self.engine, self.module, self.lists = engine, module, None
        self.start()

    def start(self) -> None:
        self.store = Store(self.engine)
        self.exports = Instance(self.store, self.module, []).exports(self.store)  # no imports
        version = self.call("addrspec_abi_version") & UNSIGNED
        if version >> 16 != ABI_MAJOR:
            raise RuntimeError(f"addrspec.wasm has interface version {version >> 16}, not {ABI_MAJOR}")
        self.memory = self.exports["memory"]
        self.into = self.call("addrspec_in_ptr") & UNSIGNED
        self.capacity = self.call("addrspec_in_cap") & UNSIGNED
        self.out = self.call("addrspec_out_ptr") & UNSIGNED
        if self.lists is not None:
            self.install(self.lists)

    def call(self, name: str, *params: int) -> int:
        return self.exports[name](self.store, *params)

    def check(self, address: bytes, flags: int = 0) -> bytes:
        """Returns the result for an address, a JSON object. Pass the bytes unchanged."""
        if len(address) > self.capacity:
            raise ValueError("the address is longer than the input buffer")
        try:
            self.memory.write(self.store, address, self.into)
            length = self.call("addrspec_check", len(address), flags)
            if length < 0:
                raise RuntimeError(f"addrspec_check returned {length}")
            return bytes(self.memory.read(self.store, self.out, self.out + length))
        except Exception:
            self.start()  # discard the instance that failed
            raise


    def set_lists(self, blob: bytes) -> None:
        """Replaces the lists; raises ListsRefused, and keeps them, if the module refuses blob."""
        try:
            self.install(blob)
        except ListsRefused:
            raise
        except Exception:
            self.start()  # discard the instance that failed
            raise
        self.lists = blob  # also of the next instance

    def install(self, blob: bytes) -> None:
        for at in range(0, len(blob), self.capacity):
            piece = blob[at : at + self.capacity]
            self.memory.write(self.store, piece, self.into)
            self.take(len(piece))
        self.take(0)

    def take(self, length: int) -> None:
        """Passes a piece of lists from the input; 0 installs them."""
        code = self.call("addrspec_lists", length)
        if code == -4:
            report = self.call("addrspec_report_ptr") & UNSIGNED
            words = self.memory.read(self.store, report, report + 13 * 4)
            at, size = struct.unpack_from("<2I", words, 11 * 4)  # the sentence
            raise ListsRefused(self.memory.read(self.store, self.out + at, self.out + at + size).decode())
        if code == -5:
            raise ListsRefused("the lists are larger than 4 MiB")
        if code < 0:
            raise RuntimeError(f"addrspec_lists returned {code}")


def caching_engine() -> Engine:
    """Returns an engine that keeps machine code in the user's cache folder.

    Compiling the module takes 2.5 s of CPU time, loading the code 0.1 s.
    """
    config = Config()
    try:
        config.cache = True
    except WasmtimeError:
        pass  # there is no such folder: compile at each start
    return Engine(config)


def split(stream, end: bytes):
    """Splits a byte stream at each end."""
    rest = b""
    while chunk := stream.read1(1 << 16):
        *whole, rest = (rest + chunk).split(end)
        yield from whole
    yield rest


def main(file: str, *args: str) -> None:
    engine = caching_engine()
    checker = Checker(engine, Module.from_file(engine, file))
    rest, zero, flags = list(args), False, 0
    while rest[:1] and rest[0] in ("-0", "-d", "-l"):
        option = rest.pop(0)
        if option == "-l":
            checker.set_lists(Path(rest.pop(0)).read_bytes())
        zero, flags = zero or option == "-0", flags | (DETAILS if option == "-d" else 0)
    given = [os.fsencode(a) for a in rest]
    for address in given or split(sys.stdin.buffer, b"\0" if zero else b"\n"):
        if not zero:
            address = address.removesuffix(b"\r")
        if address:
            sys.stdout.buffer.write(checker.check(address, flags) + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
