"""Checks of addresses, for any number of threads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, List, Optional, Tuple, Union

from ._arrow import check_arrow, verdict_arrow
from ._details import Versions, versions
from ._facts import Explained, Facts
from ._abi import DETAILS, FULL_SUGGESTION, MAX_ADDRESS
from ._policy import Policy, Verdict, document, found, names, verdict
from ._pool import Pool

Address = Union[str, bytes]


class Checker:
    """Checks addresses with its own lists. Any number of threads may use it.

    instances is how many threads check many at the same time; each instance takes 12 MB
    of address space and 3 MB of memory. None means one for each processor.
    """

    def __init__(self, lists: Optional[bytes] = None, *, instances: Optional[int] = None):
        if instances is not None and instances < 1:
            raise ValueError(f"instances must be at least 1, not {instances}")
        self._size = instances or os.cpu_count() or 1
        self._pool = Pool(self._size, None)
        if lists is not None:
            self.set_lists(lists)

    def check(self, address: Address, *, full_suggestion: bool = False) -> Facts:
        """Returns the facts about an address. An invalid one is a result, not an error."""
        return Facts(self._pool.check(_bytes(address), FULL_SUGGESTION if full_suggestion else 0))

    def explain(self, address: Address, *, full_suggestion: bool = False) -> Explained:
        """Returns the facts and why they are so."""
        return Explained(self._pool.check(_bytes(address), DETAILS | (FULL_SUGGESTION if full_suggestion else 0)))

    def check_many(self, addresses: Iterable[Address], *, full_suggestion: bool = False) -> List[Facts]:
        """Returns the facts about many addresses, in their order.

        With wasmtime an address takes a fifth of the time that check takes. The native engine releases the lock meanwhile.
        """
        return list(map(Facts, self._check_many(addresses, FULL_SUGGESTION if full_suggestion else 0)))

    def explain_many(self, addresses: Iterable[Address], *, full_suggestion: bool = False) -> List[Explained]:
        """Returns the facts about many addresses and why they are so, in their order."""
        flags = DETAILS | (FULL_SUGGESTION if full_suggestion else 0)
        return list(map(Explained, self._check_many(addresses, flags)))

    def verdict(
        self,
        address: Address,
        policy: Policy,
        *,
        mx: Optional[bool] = None,
        address_record: Optional[bool] = None,
        disposable: bool = False,
        exchanges: Iterable[str] = (),
    ) -> Verdict:
        """Returns the verdict of a policy, a dict or its JSON text, on an address.

        Pass what you have looked up: whether the domain has MX records, whether it has an
        address record to which mail goes without them, whether its exchanges are of
        throw-away services, and their names in lower case, with "*" for those that are left
        out. A reason or an entry that needs what is missing is skipped. Raises
        PolicyRefused, which has the place, if the document is no policy.
        """
        given, text, looked_up = _bytes(address), document(policy), (found(mx, address_record), disposable, names(exchanges))
        with self._pool.instance() as instance:
            return verdict(instance.verdicts(text, [given], *looked_up)[0])

    def verdict_many(self, addresses: Iterable[Address], policy: Policy) -> List[Verdict]:
        """Returns the verdicts of a policy on many addresses, in their order, without lookups.

        Without addresses it only verifies the policy.
        """
        return list(map(verdict, self._verdict_many(addresses, document(policy))))

    def check_arrow(self, array: Any, *, full_suggestion: bool = False, canonical: bool = False) -> Any:
        """Returns the facts about a pyarrow array of addresses, as an array of structs.

        array has texts or bytes, in any of Arrow's layouts. The result has a row for each of its
        rows: null for a null, and one with valid false and all else null for an address over 1 MiB.
        mx is null, for nothing here asks DNS, and false if there is no domain to look up. canonical adds
        one more field, that of the details, which takes longer. A ChunkedArray gives a ChunkedArray.
        """
        return check_arrow(self, array, full_suggestion, canonical)

    def verdict_arrow(self, array: Any, policy: Policy) -> Any:
        """Returns the verdicts of a policy on a pyarrow array of addresses, without lookups.

        array is as for check_arrow. The result is an array of structs of action, reason and rule:
        null for a null, and block with the reason invalid for an address over 1 MiB. Raises
        PolicyRefused, which has the place, before any row if the document is no policy.
        """
        return verdict_arrow(self, array, policy)

    def _check_many(self, addresses: Iterable[Address], flags: int) -> List[bytes]:
        given = _all_bytes(addresses)
        with self._pool.instance() as instance:
            return instance.check_many(given, flags)

    def _verdict_many(self, addresses: Iterable[Address], policy: bytes) -> List[bytes]:
        given = _all_bytes(addresses)
        with self._pool.instance() as instance:
            return instance.verdicts(policy, given, 0, False, b"")

    def _arrow(self, rows: Any, flags: int, policy: Optional[bytes]) -> Any:
        with self._pool.instance() as instance:
            return instance.arrow(rows, flags, policy)

    def versions(self) -> Versions:
        """Returns the versions of the checks, the lists and the model."""
        with self._pool.instance() as instance:
            return versions(json.loads(instance.info()))

    def set_lists(self, blob: bytes) -> None:
        """Replaces the lists, or raises ListsRefused and keeps those before."""
        if not isinstance(blob, bytes):
            raise TypeError(f"blob must be bytes, not {type(blob).__name__}")
        pool = Pool(self._size, blob)
        with pool.instance():
            self._pool = pool  # the module has taken them over

    def __reduce__(self) -> Tuple[Any, ...]:
        """For pickle: the other process makes instances of its own, with the same lists."""
        return _restored, (self._size, self._pool.lists)


def _restored(size: int, lists: Optional[bytes]) -> Checker:
    return Checker(lists, instances=size)


def _all_bytes(addresses: Iterable[Address]) -> List[bytes]:
    if isinstance(addresses, (str, bytes)):
        raise TypeError("addresses must be an iterable of addresses, not one address: use check")
    if not isinstance(addresses, Iterable):
        raise TypeError(f"addresses must be an iterable of addresses, not {type(addresses).__name__}")
    return [_bytes(address, n) for n, address in enumerate(addresses)]


def _bytes(address: Address, index: Optional[int] = None) -> bytes:
    """Returns the bytes of an address, or raises an error that does not repeat it."""
    if isinstance(address, str):
        # A lone surrogate has no UTF-8; the module sees bytes that are not UTF-8.
        address = address.encode("utf-8", "surrogatepass")
    elif not isinstance(address, bytes):
        raise TypeError(f"{_name(index)} must be str or bytes, not {type(address).__name__}")
    if len(address) > MAX_ADDRESS:
        raise ValueError(f"{_name(index)} has {len(address)} bytes; the longest input has {MAX_ADDRESS}")
    return address


def _name(index: Optional[int]) -> str:
    return "address" if index is None else f"addresses[{index}]"
