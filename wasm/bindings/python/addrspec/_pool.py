"""Instances for threads that check at the same time."""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import contextmanager
from typing import Iterator, List, Optional

from ._engine import NATIVE, Instance


class Pool:
    """At most size instances with the same lists, which start when they are needed."""

    def __init__(self, size: int, lists: Optional[bytes]):
        self._size, self.lists = size, lists
        self._own: Optional[Instance] = None
        self.reset()
        _pools.add(self)

    def reset(self) -> None:
        """Forgets the instances, which are another process's after a fork."""
        self._idle: List[Instance] = []
        self._slots = threading.BoundedSemaphore(self._size)

    @contextmanager
    def instance(self) -> Iterator[Instance]:
        """Lends an instance, and waits for one if all are in use.

        After an exception the instance is thrown away: its memory may be inconsistent.
        """
        with self._slots:
            instance = self._take()
            yield instance
            self._idle.append(instance)  # list.append and list.pop are atomic

    def check(self, address: bytes, flags: int) -> bytes:
        """Returns the result for an address, a JSON object.

        The native engine keeps the interpreter's lock meanwhile, so that one instance more is
        enough for all threads, and lending one would take as long as the check.
        """
        if not NATIVE:
            with self.instance() as instance:
                return instance.check(address, flags)
        if self._own is None:
            self._own = Instance(self.lists)
        return self._own.check(address, flags)

    def _take(self) -> Instance:
        try:
            return self._idle.pop()
        except IndexError:
            return Instance(self.lists)


_pools: "weakref.WeakSet[Pool]" = weakref.WeakSet()


def _reset_all() -> None:
    for pool in list(_pools):
        pool.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)
