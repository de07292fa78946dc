"""The module, compiled by wasmtime, and the calls of its interface (wasm/ABI.md)."""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from importlib.resources import files
from typing import Any, Iterator, List, Optional, Sequence, Tuple

from wasmtime import Config, Engine, Instance as Wasm, Module, Store, Trap, WasmtimeError

from ._abi import MAX_ADDRESS, ListsRefused, PolicyRefused

ABI_MAJOR = 2

_REPORTS = 4  # in bulk, each result comes with its report

# How many bytes of addresses one call takes: with so many the cost of the call no
# longer matters, and the results are still in the processor's cache.
_BULK = 16 << 10

_length = struct.Struct("<I")
_subject = struct.Struct("<3I")  # facts, more facts, found
_report = struct.Struct("<24I")
_lengths = struct.Struct("<2I")  # of a JSON and of the texts of its report
_VALID, _DISPOSABLE = 1, 1 << 5
_UNSIGNED = 0xFFFFFFFF  # an i32 is signed; & _UNSIGNED makes it unsigned


_lock = threading.Lock()
_compiled: Optional[Tuple[Engine, Module]] = None


def compiled() -> Tuple[Engine, Module]:
    """Returns the module of this package, which the first call compiles."""
    global _compiled
    with _lock:
        if _compiled is None:
            engine = _engine()
            _compiled = engine, Module(engine, files(__package__).joinpath("addrspec.wasm").read_bytes())
        return _compiled


def _engine() -> Engine:
    """Returns an engine that keeps machine code in the user's cache directory.

    Compiling takes 2.5 s of processor time, loading the code 0.1 s. wasmtime's cache
    has the module and wasmtime's version in its keys.
    """
    try:
        config = _config()
        config.cache = True
        return Engine(config)
    except WasmtimeError:
        return Engine(_config())  # there is no such directory: compile at each start


def _config() -> Config:
    """Returns a configuration without threads for compiling.

    wasmtime's threads do not survive a fork: a child of a process that has compiled
    anything would wait for them for ever.
    """
    config = Config()
    config.parallel_compilation = False
    if _addresses_are_limited():
        config.memory_reservation = config.memory_reservation_for_growth = 0
        config.memory_guard_size = 1 << 16  # in place of 32 MiB on each side
    return config


def _addresses_are_limited() -> bool:
    """Whether a limit such as ulimit -v leaves no room for the 4 GiB that wasmtime reserves for each instance.

    Without them each access of the module is compared with the size of its memory.
    """
    try:
        import resource
    except ImportError:  # Windows
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _unlock() -> None:
    """Frees the lock in the child of a process that was compiling in another thread."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unlock)


class Instance:
    """An instance of the module. One thread may use it at a time.

    After an error other than ListsRefused and PolicyRefused it must not be used again.
    """

    def __init__(self, lists: Optional[bytes]):
        engine, module = compiled()
        self._store = Store(engine)
        exports = Wasm(self._store, module, []).exports(self._store)  # no imports

        def get(name: str) -> int:
            return self._call(exports[name]) & _UNSIGNED

        version = get("addrspec_abi_version")
        if version >> 16 != ABI_MAJOR:
            raise RuntimeError(f"the module has interface version {version >> 16}.{version & 0xFFFF}, this package supports {ABI_MAJOR}")
        self._memory: Any = exports["memory"]
        self._in, self._out = get("addrspec_in_ptr"), get("addrspec_out_ptr")
        self._capacity = get("addrspec_out_cap")
        if get("addrspec_in_cap") < MAX_ADDRESS:
            raise RuntimeError("the module takes less than 1 MiB of input, which its interface promises")
        self._report = get("addrspec_report_ptr")
        self._check: Any = exports["addrspec_check"]
        self._info: Any = exports["addrspec_info"]
        self._lists: Any = exports["addrspec_lists"]
        self._many: Any = exports["addrspec_check_many"]
        self._load: Any = exports["addrspec_load_policy"]
        self._verdict: Any = exports["addrspec_decide"]
        self._policy: Optional[bytes] = None  # the last one, which the module does not evict
        self._handle = 0
        if lists is not None:
            self.set_lists(lists)

    def check(self, address: bytes, flags: int) -> bytes:
        """Returns the result for an address, a JSON object."""
        self._write(address)
        return self._read(self._succeed(self._check, len(address), flags))

    def check_many(self, addresses: Sequence[bytes], flags: int) -> List[bytes]:
        """Returns the results for addresses, in their order."""
        results: List[bytes] = []
        while len(results) < len(addresses):
            records = _records(addresses, len(results))
            if records:
                results += self._check_records(records, flags)
            else:  # no room for the length of the address
                results.append(self.check(addresses[len(results)], flags))
        return results

    def _check_records(self, records: bytes, flags: int) -> List[bytes]:
        """Returns the results for the first of the records, as many as the module checked."""
        self._write(records)
        results = _split(self._read(self._succeed(self._many, len(records), flags)))
        if not results:
            raise RuntimeError("addrspec_check_many checked no address")
        return results

    def verdicts(self, policy: bytes, addresses: Sequence[bytes], found: int, disposable: bool, exchanges: bytes) -> List[bytes]:
        """Returns the verdicts of a policy on addresses, JSON objects in their order.

        found is what was looked up for all of them, disposable whether their exchanges
        belong to throw-away services, and exchanges their names with spaces between.
        """
        names = b"".join(map(_record, exchanges.split()))
        if policy != self._policy:
            self._handle = self._pass(self._load, policy)
            self._policy = policy
        verdicts: List[bytes] = []
        while len(verdicts) < len(addresses):
            records = _records(addresses, len(verdicts))
            if not records:  # no room for its length: it is not valid
                verdicts += self._decide(_subject.pack(0, 0, 0) + 3 * _record(b""))
                continue
            self._write(records)
            reports = self._read(self._succeed(self._many, len(records), _REPORTS))
            verdicts += self._decide(b"".join(_subjects(reports, addresses, len(verdicts), found, disposable, names)))
        return verdicts

    def _decide(self, subjects: bytes) -> List[bytes]:
        self._write(subjects)
        verdicts = _split(self._read(self._succeed(self._verdict, self._handle, len(subjects))))
        if not verdicts:
            raise RuntimeError("addrspec_decide decided about no address")
        return verdicts

    def info(self) -> bytes:
        """Returns the versions that determine the results, a JSON object."""
        return self._read(self._succeed(self._info))

    def set_lists(self, blob: bytes) -> None:
        """Replaces the lists, or raises ListsRefused and keeps them."""
        self._pass(self._lists, blob)

    def _pass(self, function: Any, document: bytes) -> int:
        """Passes a document in pieces and an empty one, for which it returns what the module does."""
        for at in range(0, len(document), MAX_ADDRESS):
            self._pass_piece(function, document[at : at + MAX_ADDRESS])
        return self._pass_piece(function, b"")

    def _pass_piece(self, function: Any, piece: bytes) -> int:
        self._write(piece)
        result = self._call(function, len(piece))
        if result == -4:
            raise ListsRefused(self._sentence())
        if result == -5:
            raise ListsRefused("the lists are larger than 4 MiB")
        if result == -7:
            raise PolicyRefused(self._sentence(), self._words(12, 1)[0])
        if result < 0:
            raise RuntimeError(f"the module returned {result}")
        return result

    def _sentence(self) -> str:
        """Returns the sentence of the report, words 17 and 18."""
        at, length = self._words(17, 2)
        return self._read(at + length)[at:].decode()

    def _words(self, first: int, count: int) -> Tuple[int, ...]:
        """Returns words of the report."""
        return struct.unpack_from(f"<{count}I", ctypes.string_at(self._base() + self._report, _report.size), 4 * first)

    def _succeed(self, function: Any, *params: int) -> int:
        result = self._call(function, *params)
        if result < 0:
            raise RuntimeError(f"the module returned {result}")
        return result

    def _call(self, function: Any, *params: int) -> int:
        try:
            result: int = function(self._store, *params)
        except (Trap, WasmtimeError) as error:
            raise RuntimeError("the module stopped, a defect of addrspec; the next check starts it again") from error
        return result

    # wasmtime's Memory.read and write copy twice and build a type for each length,
    # which takes longer than the check. The lengths here are within the module's
    # buffers, which are within its memory.

    def _base(self) -> int:
        """Returns where the memory is now: any call may move it."""
        return ctypes.addressof(self._memory.data_ptr(self._store).contents)

    def _write(self, data: bytes) -> None:
        ctypes.memmove(self._base() + self._in, data, len(data))

    def _read(self, length: int) -> bytes:
        if length > self._capacity:
            raise RuntimeError(f"the module returned {length}, more than its output has")
        return ctypes.string_at(self._base() + self._out, length)


def value(facts: Any, name: str) -> Any:
    """Returns a fact."""
    return facts._values()[name]


def _records(addresses: Sequence[bytes], first: int) -> bytes:
    """Returns addresses from first on, each after its length, as one call takes."""
    parts: List[bytes] = []
    size = 0
    for n in range(first, len(addresses)):
        address = addresses[n]
        size += 4 + len(address)
        if size > MAX_ADDRESS or (parts and size > _BULK):
            break
        parts += (_length.pack(len(address)), address)
    return b"".join(parts)


def _split(output: bytes) -> List[bytes]:
    """Returns the results in an output of addrspec_check_many."""
    results: List[bytes] = []
    at, end = 0, len(output)
    while at < end:
        start = at + 4
        at = start + int.from_bytes(output[at:start], "little")
        results.append(output[start:at])
    return results


def _record(text: bytes) -> bytes:
    return _length.pack(len(text)) + text


def _subjects(output: bytes, addresses: Sequence[bytes], n: int, found: int, disposable: bool, names: bytes) -> Iterator[bytes]:
    """Yields what addrspec_decide takes of each result in an output with reports, the first that of addresses[n]."""
    at, end = 0, len(output)
    while at < end:
        lengths, start = _lengths.unpack_from(output, at), at + _lengths.size + _report.size
        words = _report.unpack_from(output, at + _lengths.size)
        host = output[start + words[9] : start + words[9] + words[10]]
        texts = _record(host) + _record(addresses[n] if words[0] & _VALID else b"") + _record(names)
        yield _subject.pack(words[0] | (_DISPOSABLE if disposable else 0), words[1], found) + texts
        at, n = start + sum(lengths), n + 1
