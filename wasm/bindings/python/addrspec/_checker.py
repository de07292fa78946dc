"""Checks of addresses, for any number of threads."""

from __future__ import annotations

import os
from typing import Iterable, List, Optional, Union

from ._facts import Facts
from ._instance import DETAILS, FULL_SUGGESTION, MAX_ADDRESS
from ._pool import Pool

Address = Union[str, bytes]


class Checker:
    """Checks addresses with its own lists. Any number of threads may use it.

    instances is how many threads check at the same time; each instance takes 10 MB
    of address space and 2 MB of memory. None means one for each processor.
    """

    def __init__(self, lists: Optional[bytes] = None, *, instances: Optional[int] = None):
        self._size = instances or os.cpu_count() or 1
        self._pool = Pool(self._size, None)
        if lists is not None:
            self.set_lists(lists)

    def check(self, address: Address, *, full_suggestion: bool = False) -> Facts:
        """Returns the facts about an address. An invalid one is a result, not an error."""
        return Facts(self._check(address, FULL_SUGGESTION if full_suggestion else 0))

    def explain(self, address: Address, *, full_suggestion: bool = False) -> Facts:
        """Returns the facts and why they are so."""
        return Facts(self._check(address, DETAILS | (FULL_SUGGESTION if full_suggestion else 0)))

    def check_many(self, addresses: Iterable[Address], *, full_suggestion: bool = False) -> List[Facts]:
        """Returns the facts about many addresses, in their order, in few calls."""
        if isinstance(addresses, (str, bytes)):
            raise TypeError("addresses must be an iterable of addresses, not one address: use check")
        given = [_bytes(address) for address in addresses]
        with self._pool.instance() as instance:
            return [Facts(result) for result in instance.check_many(given, FULL_SUGGESTION if full_suggestion else 0)]

    def _check(self, address: Address, flags: int) -> bytes:
        given = _bytes(address)
        with self._pool.instance() as instance:
            return instance.check(given, flags)

    def set_lists(self, blob: bytes) -> None:
        """Replaces the lists, or raises ListsRefused and keeps those before."""
        pool = Pool(self._size, blob)
        with pool.instance():
            self._pool = pool  # the module has taken them over


def _bytes(address: Address) -> bytes:
    """Returns the bytes of an address, or raises an error that does not repeat it."""
    if isinstance(address, str):
        # A lone surrogate has no UTF-8; the module sees bytes that are not UTF-8.
        address = address.encode("utf-8", "surrogatepass")
    elif not isinstance(address, bytes):
        raise TypeError(f"address must be str or bytes, not {type(address).__name__}")
    if len(address) > MAX_ADDRESS:
        raise ValueError(f"address has {len(address)} bytes; the longest input has {MAX_ADDRESS}")
    return address
